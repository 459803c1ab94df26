"""Advice at one spot: the solution's mix, what each action is worth for this very hand, how likely the spot is."""

from __future__ import annotations

from dataclasses import dataclass

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
from solver.truco.reading.solution import Solution
from solver.truco.reading.strategy import Strategy, begin_hand, follow, has_book, mix
from solver.truco.vector.policy.cursor import CURSOR_SIZE

UNREACHED = 1e-6
"""Probability of the words so far below which a spot counts as never reached."""
NEAR = {"points": 0.05, "match": 0.005}
"""Difference, in points or the chance to win, below which values that are stored count as equal."""
MOST_UNSOLVED = 0.05
"""Share of simulated hands that may leave the solution's table before a value counts as unknown."""


@dataclass(frozen=True)
class ActionAdvice:
    """One legal action; values are None for one that was not simulated or leads out of the solution.

    Stored values are in the solution's utility only and have no errors.
    """

    action: int
    probability: float | None = None
    """Share of the mix; None where the solution has none."""
    points: float | None = None
    """Expected points made minus conceded in the hand."""
    points_error: float | None = None
    match_win: float | None = None
    """Expected match-win probability by the equity table."""
    match_win_error: float | None = None
    """Standard errors of the values."""
    near_best: bool = False
    """Whether its value, in the solution's utility, is within two standard errors of the best action's; errors are
    of the difference, over the same deals. Stored values are near within NEAR."""


@dataclass(frozen=True)
class Advice:
    """What a solution says at a spot."""

    actions: list[ActionAdvice]
    has_mix: bool
    """Whether the solution has learnt a mix for the spot."""
    own_reach: float
    """Probability that the solution itself speaks the seat's words so far, with this hand."""
    other_reach: float
    """The same for the other seat, averaged over the hands it can hold."""
    samples: int
    """Simulated deals; 0 where values are stored."""

    @property
    def reached(self) -> bool:
        """Whether the solution comes to this spot by its own play."""
        return self.own_reach > UNREACHED and self.other_reach > UNREACHED


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


def advise(
    solution: Solution, spot: Spot, equity: EquityTable, samples: int = 5_000, seed: int = 1
) -> Advice:
    """The solution's advice at a spot of its rules.

    Values are simulated for this very hand: the other seat's hand is drawn by how likely the solution is to have
    played the history with it, then both seats play on by the solution. Where the other seat never plays so, every
    hand it can hold counts alike, and there is no mix. A seat that has left the solution's own play gets the mix
    that the solution learnt for the spot, if it met the spot often enough. Values that the solution has stored are
    told instead. Raises ValueError if the spot has other rules than the solution.
    """
    if spot.rules != solution.rules:
        raise ValueError("the spot has other rules than the solution")
    deals = np.array([[*mano, *pie] for mano, pie in map(spot.deal, spot.others)], np.int32)
    sign = 1.0 if spot.seat == MANO else -1.0
    tables = np.stack([utility_table(spot.rules, spot.scores, worth) for worth in (None, equity)])
    reaches = np.empty((len(deals), 2))
    actions, probs = np.empty(MAX_LEGAL, np.int32), np.empty(MAX_LEGAL)
    means, products = np.zeros((2, MAX_LEGAL)), np.zeros((2, MAX_LEGAL, MAX_LEGAL))
    unsolved = np.zeros(MAX_LEGAL)
    stored = solution.worth(spot)
    n, known, row = _advise(
        solution.strategy,
        rules_vector(spot.rules),
        spot.scores,
        spot.seat,
        deals,
        np.array(spot.history, np.int32),
        samples if stored is None else 1,
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
    own_reach, other_reach = float(reaches[0, spot.seat]), float(reaches[:, 1 - spot.seat].mean())
    learnt = known and (own_reach > UNREACHED or solution.trusts(row))
    has_mix = bool(learnt and other_reach > UNREACHED)
    errors = np.sqrt(np.maximum(np.einsum("ukk->uk", products) - means**2, 0.0) / samples)
    unit = int(solution.info.utility == "match")
    near = _near_best(means[unit], products[unit], n, samples)
    rows = {}
    for i in range(n):
        action = int(actions[i])
        probability = float(probs[i]) if has_mix else None
        if stored is not None:
            rows[action] = (
                _stored_advice(action, probability, stored, unit == 1) if has_mix else ActionAdvice(action)
            )
            continue
        if unsolved[i] > MOST_UNSOLVED:
            rows[action] = ActionAdvice(action, probability)
            continue
        rows[action] = ActionAdvice(
            action,
            probability,
            float(means[0, i]),
            float(errors[0, i]),
            float((1.0 + means[1, i]) / 2.0),
            float(errors[1, i] / 2.0),
            bool(near[i]),
        )
    listed = [rows.get(action, ActionAdvice(action)) for action in spot.hand.legal_actions()]
    return Advice(listed, has_mix, own_reach, other_reach, samples if stored is None else 0)


def _stored_advice(
    action: int, probability: float | None, stored: dict[int, float], match: bool
) -> ActionAdvice:
    if action not in stored:
        return ActionAdvice(action, probability)
    value = stored[action]
    # Rounding may carry a lost match just below 0.
    points, match_win = (None, min(max((1.0 + value) / 2.0, 0.0), 1.0)) if match else (value, None)
    near = value >= max(stored.values()) - (2 * NEAR["match"] if match else NEAR["points"])
    return ActionAdvice(action, probability, points, None, match_win, None, near)


def _near_best(means: np.ndarray, products: np.ndarray, n: int, samples: int) -> np.ndarray:
    """Which of n actions are within two standard errors of the best; bool [n]."""
    best = int(np.argmax(means[:n]))
    gaps = means[best] - means[:n]
    squares = np.diag(products)
    second = squares[best] + squares[:n] - 2.0 * products[best, :n]
    return gaps <= 2.0 * np.sqrt(np.maximum(second - gaps**2, 0.0) / samples)
