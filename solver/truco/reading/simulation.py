"""Values of the actions at a spot by simulation: the other's hand is drawn by reach, then both play on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from game.truco.equity import EquityTable
from game.truco.hand import MANO
from game.truco.spot import Spot
from solver.jit import njit
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
from solver.truco.hand.infokey import info_key
from solver.truco.hand.table import choose, find_row
from solver.truco.reading.solution import UNREACHED
from solver.truco.reading.strategy import Strategy, begin_hand, follow, has_book, mix
from solver.truco.vector.policy.cursor import CURSOR_SIZE


class Simulated(NamedTuple):
    """What playing on from a spot found; arrays by action, in the order of `actions`."""

    actions: list[int]
    probabilities: np.ndarray
    known: bool
    """Whether the strategy has learnt a mix for the spot."""
    row: int
    """Row of the spot in the strategy's table, -1 if there is none."""
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
) -> None:
    """For each deal (int32 [n, 6]) the probability of each seat's words in the history; out is float64 [n, 2]."""
    state = np.empty(STATE_SIZE, np.int32)
    actions = np.empty(MAX_LEGAL, np.int32)
    probs = np.empty(MAX_LEGAL)
    cursor = np.empty(CURSOR_SIZE, np.int64)
    for row in range(len(deals)):
        deal(state, deals[row], scores[0], scores[1])
        begin_hand(strategy, cursor, state)
        out[row] = 1.0
        for action in history:
            who = mover(state)
            n = legal(state, rules, actions)
            known = mix(strategy, cursor, state, rules, actions, n, probs)
            chance = 0.0
            for i in range(n):
                if known and actions[i] == action:
                    chance = probs[i]
            out[row, who] *= chance
            follow(strategy, cursor, state, rules, action)
            apply(state, rules, action)


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

    Fills, for each utility table (float64 [tables, target + 1, target + 1]), `means` of the utility, float64 [tables,
    actions], and of its products between actions, [tables, actions, actions]; and for each action the share of
    samples in which a seat came to a spot that the table does not have.
    """
    start = np.empty(STATE_SIZE, np.int32)
    state = np.empty(STATE_SIZE, np.int32)
    actions = np.empty(MAX_LEGAL, np.int32)
    probs = np.empty(MAX_LEGAL)
    values = np.empty((len(utility), len(tried)))
    cursors = np.empty((2, CURSOR_SIZE), np.int64)
    before, cursor = cursors[0], cursors[1]
    for _ in range(samples):
        row = np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")
        deal(start, deals[min(row, len(deals) - 1)], scores[0], scores[1])
        begin_hand(strategy, before, start)
        for action in history:
            follow(strategy, before, start, rules, action)
            apply(start, rules, action)
        for k in range(len(tried)):
            state[:], cursor[:] = start, before
            follow(strategy, cursor, state, rules, tried[k])
            apply(state, rules, tried[k])
            known = True
            while state[OVER] == 0:
                n = legal(state, rules, actions)
                known &= mix(strategy, cursor, state, rules, actions, n, probs)
                action = actions[choose(probs, n, rng.random())]
                follow(strategy, cursor, state, rules, action)
                apply(state, rules, action)
            unsolved[k] += 0.0 if known else 1.0
            for u in range(len(utility)):
                values[u, k] = utility[u, state[SCORE], state[SCORE + 1]]
        for u in range(len(utility)):
            for k in range(len(tried)):
                means[u, k] += values[u, k]
                for j in range(len(tried)):
                    products[u, k, j] += values[u, k] * values[u, j]
    means /= samples
    products /= samples
    unsolved /= samples


@njit
def _advise(
    strategy: Strategy,
    rules: np.ndarray,
    scores: tuple[int, int],
    seat: int,
    deals: np.ndarray,
    history: np.ndarray,
    samples: int,
    utility: np.ndarray,
    rng: np.random.Generator,
    reaches: np.ndarray,
    actions: np.ndarray,
    probs: np.ndarray,
    means: np.ndarray,
    products: np.ndarray,
    unsolved: np.ndarray,
) -> tuple[int, bool, int]:
    """Fills `reaches` (of each deal), `actions` and `probs` (at the spot) and what `_simulate` fills.

    Returns how many actions there are, whether the strategy has learnt a mix, and its table's row of the spot or -1.
    One kernel, since loading several from numba's cache takes longer than running them.
    """
    _reaches(strategy, rules, scores, deals, history, reaches)
    weights = reaches[:, 1 - seat].copy()
    if weights.mean() <= UNREACHED:
        weights[:] = 1.0
    state = np.empty(STATE_SIZE, np.int32)
    cursor = np.empty(CURSOR_SIZE, np.int64)
    deal(state, deals[0], scores[0], scores[1])
    begin_hand(strategy, cursor, state)
    for action in history:
        follow(strategy, cursor, state, rules, action)
        apply(state, rules, action)
    n = legal(state, rules, actions)
    known = mix(strategy, cursor, state, rules, actions, n, probs)
    cumulative = np.cumsum(weights)
    tried = actions[:n]
    _simulate(
        strategy,
        rules,
        scores,
        deals,
        cumulative,
        history,
        tried,
        samples,
        utility,
        rng,
        means,
        products,
        unsolved,
    )
    row = -1 if has_book(strategy) else find_row(strategy.table.keys, info_key(state, rules, seat))
    return n, known, row


def simulate(strategy: Strategy, spot: Spot, equity: EquityTable, samples: int, seed: int) -> Simulated:
    """Plays every action on from the same `samples` deals; the same seed gives the same values."""
    deals = np.array([[*mano, *pie] for mano, pie in map(spot.deal, spot.others)], np.int32)
    sign = 1.0 if spot.seat == MANO else -1.0
    tables = np.stack([utility_table(spot.rules, spot.scores, worth) for worth in (None, equity)])
    reaches = np.empty((len(deals), 2))
    actions, probs = np.empty(MAX_LEGAL, np.int32), np.empty(MAX_LEGAL)
    means, products = np.zeros((2, MAX_LEGAL)), np.zeros((2, MAX_LEGAL, MAX_LEGAL))
    unsolved = np.zeros(MAX_LEGAL)
    n, known, row = _advise(
        strategy,
        rules_vector(spot.rules),
        spot.scores,
        spot.seat,
        deals,
        np.array(spot.history, np.int32),
        samples,
        sign * tables,
        np.random.default_rng(seed),
        reaches,
        actions,
        probs,
        means,
        products,
        unsolved,
    )
    # The seat's own words have one probability whatever the other holds: its keys do not depend on that.
    own, other = float(reaches[0, spot.seat]), float(reaches[:, 1 - spot.seat].mean())
    return Simulated(
        actions[:n].tolist(), probs[:n], bool(known), row, own, other, means[:, :n], products[:, :n, :n],
        unsolved[:n],
    )  # fmt: skip
