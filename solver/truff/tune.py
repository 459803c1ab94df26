"""Fit the rollout policy's weights by the cross-entropy method: sample weights, keep the best quarter."""

from collections.abc import Callable

import numpy as np

from solver.jit import njit
from solver.truff.baseline import rule_bid, rule_mode, rule_play
from solver.truff.bids import MAX_SHORTLIST, shortlist
from solver.truff.engine import (
    BID,
    HAND,
    MODE,
    NUMBER,
    PLAYERS,
    STATE_SIZE,
    TRICK,
    TRICKS,
    TURN,
    UNDECIDED,
    WON,
    choose_mode,
    deal_cards,
    new_rng,
    play,
    points,
    reveal,
)
from solver.truff.policy import Policy, make_policy, policy_play
from solver.truff.search import play_out


@njit
def hero_points(
    starts: np.ndarray,
    cfg: np.ndarray,
    hero_policy: Policy,
    other_policy: Policy,
) -> tuple[float, float]:
    """Mean points of a policy in seat d mod 4 of start d, and how often it makes its contract exactly.

    starts: int64[deals, STATE_SIZE], bids revealed and mode fixed. The other seats are rule-based in every
    second start, else they play the second policy.
    """
    state = np.empty(STATE_SIZE, dtype=np.int64)
    total, made = 0, 0
    for d in range(len(starts)):
        state[:] = starts[d]
        hero = d % 4
        while state[TRICK] < cfg[TRICKS]:
            if state[TURN] == hero:
                card = policy_play(state, cfg, hero_policy)
            elif d // 4 % 2:
                card = rule_play(state, cfg)
            else:
                card = policy_play(state, cfg, other_policy)
            play(state, cfg, card)
        total += points(state, hero)
        made += state[WON + hero] == state[NUMBER + hero]
    return total / len(starts), made / len(starts)


@njit
def rule_bid_starts(cfg: np.ndarray, deals: int, rng: np.ndarray) -> np.ndarray:
    """Random deals int64[deals, STATE_SIZE] with rule-based bids and modes, ready for the opening lead."""
    starts = np.empty((deals, STATE_SIZE), dtype=np.int64)
    bids = np.empty((MAX_SHORTLIST, 3), dtype=np.int64)
    for d in range(deals):
        state = starts[d]
        deal_cards(state, cfg, rng)
        for seat in range(cfg[PLAYERS]):
            count = shortlist(state[HAND + seat], cfg, bids)
            state[BID + seat] = rule_bid(state[HAND + seat], bids, count)
        reveal(state, cfg)
        if state[MODE] == UNDECIDED:
            choose_mode(state, cfg, rule_mode(state))
    return starts


@njit
def play_out_all(starts: np.ndarray, cfg: np.ndarray, policy: Policy) -> float:
    """Mean points of seat 0 when all seats play the policy from each start."""
    state = np.empty(STATE_SIZE, dtype=np.int64)
    total = 0
    for d in range(len(starts)):
        state[:] = starts[d]
        play_out(state, cfg, policy)
        total += points(state, 0)
    return total / len(starts)


def tune_policy(
    start: np.ndarray,
    cfg: np.ndarray,
    generations: int,
    seed: int,
    population: int = 48,
    deals: int = 6000,
    spread: float = 0.4,
    progress: Callable[[int, float, float], None] = lambda generation, points, made: None,
) -> np.ndarray:
    """Weights tuned from `start`; the same arguments give the same weights.

    Each generation plays all candidates on the
    same fresh deals, then moves mean and spread of the sampling distribution to the best quarter's
    (Rubinstein 1999). `progress` gets generation, mean points and exactly made share of the present mean.
    """
    rng = np.random.default_rng(seed)
    mean, deviation = start.copy(), spread * (np.abs(start) + 0.3)
    elite = population // 4
    for generation in range(generations):
        starts = rule_bid_starts(cfg, deals, new_rng(seed * 1000 + generation))
        centre = make_policy(mean)
        candidates = mean + deviation * rng.standard_normal((population, len(mean)))
        candidates[0] = mean
        results = [hero_points(starts, cfg, make_policy(candidate), centre) for candidate in candidates]
        progress(generation, *results[0])
        best = np.argsort([-result[0] for result in results])[:elite]
        mean = 0.3 * mean + 0.7 * candidates[best].mean(axis=0)
        deviation = 0.3 * deviation + 0.7 * candidates[best].std(axis=0) + 0.01
    return mean
