"""Values of the actions at a spot by simulation: the other's hand is drawn by reach, then both play on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from game.truco.equity import EquityTable
from game.truco.hand import MANO
from game.truco.spot import Spot
from solver.jit import lean, njit
from solver.truco.hand.engine import (
    MAX_LEGAL,
    OVER,
    SCORE,
    STATE_SIZE,
    apply,
    deal,
    legal,
    mover,
    rules_vector,
    utility_table,
)
from solver.truco.hand.table import choose
from solver.truco.reading.solution import UNREACHED
from solver.truco.reading.strategy import Strategy, begin_hand, follow, mix, mix_row
from solver.truco.vector.policy.cursor import CURSOR_SIZE


class Simulated(NamedTuple):
    """What playing on from a spot found; arrays by action, in the order of `actions`."""

    actions: list[int]
    probabilities: np.ndarray
    known: bool
    """Whether the strategy has learnt a mix for the spot."""
    row: int
    """Row of the spot in the strategy's table; -1 if nothing is known."""
    own_reach: float
    other_reach: float
    """As in `Advice`."""
    means: np.ndarray
    """float64 [2, actions]: points, and 2 x match-win probability - 1."""
    products: np.ndarray
    """float64 [2, actions, actions]: means of products of the values of two actions."""
    unsolved: np.ndarray
    """Share of samples in which a seat came to a spot without a mix."""


@njit
def _reaches(
    strategy: Strategy,
    rules: np.ndarray,
    scores: tuple[int, int],
    deals: np.ndarray,
    history: np.ndarray,
    out: np.ndarray,
    actions: np.ndarray,
    probs: np.ndarray,
) -> tuple[int, int]:
    """For each deal (int32 [n, 6]) the probability of each seat's words in the history; out is float64 [n, 2].

    Fills actions and probabilities of the mover after the history. Returns how many there are, and as `mix_row`.
    """
    state = np.empty(STATE_SIZE, np.int32)
    cursor = np.empty(CURSOR_SIZE, np.int64)
    row = n = 0
    for k in range(len(deals) - 1, -1, -1):
        deal(state, deals[k], scores[0], scores[1])
        begin_hand(strategy, cursor, state)
        out[k, 0] = out[k, 1] = 1.0
        # The mover's mix after the history is one in all deals, and asked for in the first of them.
        for step in range(len(history) + (1 if k == 0 else 0)):
            n = legal(state, rules, actions)
            row = mix_row(strategy, cursor, state, rules, actions, n, probs)
            if step == len(history):
                break
            action = history[step]
            chance = 0.0
            for i in range(n):
                if row >= 0 and actions[i] == action:
                    chance = probs[i]
            out[k, mover(state)] *= chance
            follow(strategy, cursor, state, rules, action)
            apply(state, rules, action)
    return n, row


@lean
def _drawn(cumulative: np.ndarray, number: float) -> int:
    """Index that a number of [0, 1) draws by cumulative weights."""
    number *= cumulative[-1]
    low, high = 0, len(cumulative)
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] <= number:
            low = middle + 1
        else:
            high = middle
    return min(low, len(cumulative) - 1)


@lean
def _copy(source: np.ndarray, to: np.ndarray) -> None:
    """What a slice would say, which takes numba a second to compile."""
    for i in range(len(to)):
        to[i] = source[i]


@njit
def _simulate(
    strategy: Strategy,
    rules: np.ndarray,
    scores: tuple[int, int],
    deals: np.ndarray,
    cumulative: np.ndarray,
    history: np.ndarray,
    tried: np.ndarray,
    samples: int,
    utility: np.ndarray,
    rng: np.random.Generator,
    means: np.ndarray,
    products: np.ndarray,
    unsolved: np.ndarray,
) -> None:
    """Plays each action of `tried` on from the same sampled deals, drawn by the cumulative weights.

    Adds up, for each utility table (float64 [tables, target + 1, target + 1]), the utility in `means`, float64
    [tables, actions], and its products between actions in [tables, actions, actions]; and for each action the samples
    in which a seat came to a spot that the table does not have.
    """
    start, state = np.empty(STATE_SIZE, np.int32), np.empty(STATE_SIZE, np.int32)
    actions, probs = np.empty(MAX_LEGAL, np.int32), np.empty(MAX_LEGAL)
    values = np.empty((len(utility), len(tried)))
    before, cursor = np.empty(CURSOR_SIZE, np.int64), np.empty(CURSOR_SIZE, np.int64)
    for _ in range(samples):
        deal(start, deals[_drawn(cumulative, rng.random())], scores[0], scores[1])
        begin_hand(strategy, before, start)
        for action in history:
            follow(strategy, before, start, rules, action)
            apply(start, rules, action)
        for k in range(len(tried)):
            _copy(start, state)
            _copy(before, cursor)
            action, known = tried[k], True
            while True:
                follow(strategy, cursor, state, rules, action)
                apply(state, rules, action)
                if state[OVER] != 0:
                    break
                n = legal(state, rules, actions)
                known &= mix(strategy, cursor, state, rules, actions, n, probs)
                action = actions[choose(probs, n, rng.random())]
            unsolved[k] += 0.0 if known else 1.0
            for u in range(len(utility)):
                values[u, k] = utility[u, state[SCORE], state[SCORE + 1]]
        for u in range(len(utility)):
            for k in range(len(tried)):
                means[u, k] += values[u, k]
                for j in range(len(tried)):
                    products[u, k, j] += values[u, k] * values[u, j]


def simulate(strategy: Strategy, spot: Spot, equity: EquityTable, samples: int, seed: int) -> Simulated:
    """Plays every action on from the same `samples` deals; the same seed gives the same values."""
    deals = np.array([[*mano, *pie] for mano, pie in map(spot.deal, spot.others)], np.int32)
    sign = 1.0 if spot.seat == MANO else -1.0
    utility = sign * np.stack([utility_table(spot.rules, spot.scores, worth) for worth in (None, equity)])
    rules, history = rules_vector(spot.rules), np.array(spot.history, np.int32)
    reaches = np.empty((len(deals), 2))
    actions, probs = np.empty(MAX_LEGAL, np.int32), np.empty(MAX_LEGAL)
    n, row = _reaches(strategy, rules, spot.scores, deals, history, reaches, actions, probs)
    actions, probs = actions[:n], probs[:n]
    weights = reaches[:, 1 - spot.seat]
    if weights.mean() <= UNREACHED:
        weights = np.ones(len(deals))
    means, products, unsolved = np.zeros((2, n)), np.zeros((2, n, n)), np.zeros(n)
    _simulate(
        strategy, rules, spot.scores, deals, np.cumsum(weights), history, actions, samples, utility,
        np.random.default_rng(seed), means, products, unsolved,
    )  # fmt: skip
    # The seat's own words have one probability whatever the other holds: its keys do not depend on that.
    own, other = float(reaches[0, spot.seat]), float(reaches[:, 1 - spot.seat].mean())
    return Simulated(
        actions.tolist(), probs, row >= 0, row, own, other, means / samples, products / samples,
        unsolved / samples,
    )  # fmt: skip
