"""Duplicate tournaments: a hero against three equal opponents, the same cards in all seat rotations."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from game.truff.rules import Rules
from solver.jit import njit
from solver.truff.baseline import rule_mode, rule_play
from solver.truff.bidding import RULE_BASED, Bidder, choose_bid, random_net
from solver.truff.bids import CARDS, MAX_SHORTLIST, shortlist
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
    config,
    deal_cards,
    legal_plays,
    new_rng,
    play,
    points,
    random_below,
    random_card,
    reveal,
)
from solver.truff.policy import Policy, policy_play
from solver.truff.search import search_mode, search_play
from solver.truff.simulation import simulated_bid

RANDOM, RULE, ROLLOUT, SEARCH, LEARNED, SIMULATED = range(6)
"""Kinds of bidding (RANDOM, RULE, LEARNED, SIMULATED) and of play (RANDOM, RULE, ROLLOUT, SEARCH)."""
SIMULATED_DEALS = 400
"""Deals that a player of kind SIMULATED simulates for each of its bids."""
PLAYER_KINDS = {
    "random": (RANDOM, RANDOM),
    "rule": (RULE, RULE),
    "rollout": (RULE, ROLLOUT),
    "rollout-learned": (LEARNED, ROLLOUT),
    "rollout-simulated": (SIMULATED, ROLLOUT),
    "search": (RULE, SEARCH),
    "search-learned": (LEARNED, SEARCH),
    "search-simulated": (SIMULATED, SEARCH),
}
"""Players by name: how they bid and how they play."""


@dataclass(frozen=True)
class Duplicate:
    """Results of the hero, float64[deals, rotations]: points, and 1.0 where the contract was made exactly."""

    points: np.ndarray
    made: np.ndarray


def check_player(name: str) -> None:
    """Raise ValueError unless `name` is one of PLAYER_KINDS."""
    if name not in PLAYER_KINDS:
        raise ValueError(f"no player {name!r}; there are {', '.join(PLAYER_KINDS)}")


def mean_and_interval(per_deal: np.ndarray) -> tuple[float, float]:
    """Mean over deals, and half the width of its 95 % interval (deals are independent, rotations are not)."""
    deals = per_deal.mean(axis=1) if per_deal.ndim == 2 else per_deal
    return float(deals.mean()), float(1.96 * deals.std(ddof=1) / len(deals) ** 0.5)


@njit
def lay_bid(hand: int, cfg: np.ndarray, kind: int, policy: Policy, bidder: Bidder, rng: np.ndarray) -> int:
    """The bid cards of a player of this kind."""
    if kind == RANDOM:
        bids = np.empty((MAX_SHORTLIST, 3), dtype=np.int64)
        return bids[random_below(rng, shortlist(hand, cfg, bids)), CARDS]
    if kind == SIMULATED:
        return simulated_bid(hand, cfg, policy, bidder, SIMULATED_DEALS, rng)
    return choose_bid(hand, cfg, bidder, RULE_BASED if kind == RULE else random_net(bidder, rng))


@njit
def play_deal(
    state: np.ndarray,
    cfg: np.ndarray,
    bid_kinds: np.ndarray,
    play_kinds: np.ndarray,
    policy: Policy,
    bidder: Bidder,
    settings: np.ndarray,
    rng: np.ndarray,
) -> None:
    """Bid and play a dealt state to the end; the kinds are per seat."""
    mode_values = np.empty(2, dtype=np.float64)
    for seat in range(cfg[PLAYERS]):
        state[BID + seat] = lay_bid(state[HAND + seat], cfg, bid_kinds[seat], policy, bidder, rng)
    reveal(state, cfg)
    if state[MODE] == UNDECIDED:
        kind = play_kinds[state[TURN]]
        if kind == SEARCH:
            mode = search_mode(state, cfg, policy, bidder, settings, rng, mode_values)
        else:
            mode = random_below(rng, 2) if kind == RANDOM else rule_mode(state)
        choose_mode(state, cfg, mode)
    while state[TRICK] < cfg[TRICKS]:
        kind = play_kinds[state[TURN]]
        if kind == RANDOM:
            card = random_card(rng, legal_plays(state, cfg))
        elif kind == RULE:
            card = rule_play(state, cfg)
        elif kind == ROLLOUT:
            card = policy_play(state, cfg, policy)
        else:
            card = search_play(state, cfg, policy, bidder, settings, rng)
        play(state, cfg, card)


@njit
def _duplicate(
    cfg: np.ndarray,
    hero: tuple[int, int],
    others: tuple[int, int],
    policy: Policy,
    bidder: Bidder,
    settings: np.ndarray,
    rng: np.ndarray,
    hero_points: np.ndarray,
    made: np.ndarray,
) -> None:
    players = cfg[PLAYERS]
    dealt = np.empty(STATE_SIZE, dtype=np.int64)
    state = np.empty(STATE_SIZE, dtype=np.int64)
    bid_kinds = np.empty(players, dtype=np.int64)
    play_kinds = np.empty(players, dtype=np.int64)
    own = rng.copy()
    for d in range(len(hero_points)):
        deal_cards(dealt, cfg, rng)
        own[0] = rng[0] ^ np.uint64(0x5DEECE66D)  # the players' chance does not disturb the cards dealt next
        for seat in range(players):
            bid_kinds[:], play_kinds[:] = others
            bid_kinds[seat], play_kinds[seat] = hero
            state[:] = dealt
            play_deal(state, cfg, bid_kinds, play_kinds, policy, bidder, settings, own)
            hero_points[d, seat] = points(state, seat)
            made[d, seat] = state[WON + seat] == state[NUMBER + seat]


def duplicate(
    hero: str,
    others: str,
    deals: int,
    seed: int,
    rules: Rules,
    policy: Policy,
    bidder: Bidder,
    settings: np.ndarray,
    progress: Callable[[int], None] = lambda done: None,
) -> Duplicate:
    """Play `deals` deals with `hero` in every seat in turn against three of `others` (names of PLAYER_KINDS).

    The same seed deals the same cards whoever plays. Raises ValueError for an unknown player or no deals.
    """
    check_player(hero)
    check_player(others)
    if deals < 2:
        raise ValueError(f"at least 2 deals are needed, not {deals}")
    cfg = config(rules)
    rng = new_rng(seed)
    result = Duplicate(np.zeros((deals, rules.players)), np.zeros((deals, rules.players)))
    for start in range(0, deals, 20):
        part = slice(start, start + 20)
        _duplicate(
            cfg,
            PLAYER_KINDS[hero],
            PLAYER_KINDS[others],
            policy,
            bidder,
            settings,
            rng,
            result.points[part],
            result.made[part],
        )
        progress(min(start + 20, deals))
    return result
