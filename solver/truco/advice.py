"""Advice at one spot: the solution's mix, what each action is worth for this very hand, how likely the spot is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from game.truco.equity import EquityTable
from game.truco.hand import MANO
from game.truco.spot import Spot
from solver.truco.engine import (
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
from solver.truco.solution import Solution
from solver.truco.table import PolicyTable, choose, table_policy

UNREACHED = 1e-6
"""Probability of the words so far below which a spot counts as never reached."""


@dataclass(frozen=True)
class ActionAdvice:
    """One legal action."""

    action: int
    probability: float | None
    """Share of the mix; None where the solution never reaches the spot."""
    points: float | None
    """Expected points made minus conceded in the hand; None for an action not simulated."""
    points_error: float | None
    """Standard error of `points`."""
    match_win: float | None
    """Expected match-win probability by the equity table."""


@dataclass(frozen=True)
class Advice:
    """What a solution says at a spot."""

    actions: list[ActionAdvice]
    own_reach: float
    """Probability that the solution itself speaks the seat's words so far, with this hand."""
    other_reach: float
    """The same for the other seat, averaged over the hands it can hold."""
    samples: int

    @property
    def reached(self) -> bool:
        """Whether the solution comes to this spot at all."""
        return self.own_reach > UNREACHED and self.other_reach > UNREACHED


@njit(cache=True)
def _reaches(
    table: PolicyTable,
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
    for row in range(len(deals)):
        deal(state, deals[row], scores[0], scores[1])
        out[row] = 1.0
        for action in history:
            who = mover(state)
            n = legal(state, rules, actions)
            known = table_policy(table, state, rules, actions, n, probs)
            chance = 0.0
            for i in range(n):
                if known and actions[i] == action:
                    chance = probs[i]
            out[row, who] *= chance
            apply(state, rules, action)


@njit(cache=True)
def _simulate(
    table: PolicyTable,
    rules: np.ndarray,
    scores: tuple[int, int],
    deals: np.ndarray,
    cumulative: np.ndarray,
    history: np.ndarray,
    tried: np.ndarray,
    samples: int,
    utility: np.ndarray,
    rng: np.random.Generator,
    out: np.ndarray,
) -> None:
    """Plays each action of `tried` on from the same sampled deals, drawn by the cumulative weights.

    `out`, float64 [len(tried), 2, tables], gains the sums of the utility and of its square for each utility table
    (float64 [tables, target + 1, target + 1]).
    """
    start = np.empty(STATE_SIZE, np.int32)
    state = np.empty(STATE_SIZE, np.int32)
    actions = np.empty(MAX_LEGAL, np.int32)
    probs = np.empty(MAX_LEGAL)
    for _ in range(samples):
        row = np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")
        deal(start, deals[min(row, len(deals) - 1)], scores[0], scores[1])
        for action in history:
            apply(start, rules, action)
        for k in range(len(tried)):
            state[:] = start
            apply(state, rules, tried[k])
            while state[OVER] == 0:
                n = legal(state, rules, actions)
                table_policy(table, state, rules, actions, n, probs)
                apply(state, rules, actions[choose(probs, n, rng.random())])
            for u in range(len(utility)):
                value = utility[u, state[SCORE], state[SCORE + 1]]
                out[k, 0, u] += value
                out[k, 1, u] += value * value


@njit(cache=True)
def _advise(
    table: PolicyTable,
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
    sums: np.ndarray,
) -> tuple[int, bool]:
    """Fills `reaches` (of each deal), `actions` and `probs` (at the spot) and `sums` (of each action).

    Returns how many actions there are, and whether the table has the spot. One kernel, since loading several from
    numba's cache takes longer than running them.
    """
    _reaches(table, rules, scores, deals, history, reaches)
    weights = reaches[:, 1 - seat].copy()
    if weights.mean() <= UNREACHED:
        weights[:] = 1.0
    state = np.empty(STATE_SIZE, np.int32)
    deal(state, deals[0], scores[0], scores[1])
    for action in history:
        apply(state, rules, action)
    n = legal(state, rules, actions)
    known = table_policy(table, state, rules, actions, n, probs)
    _simulate(
        table, rules, scores, deals, np.cumsum(weights), history, actions[:n], samples, utility, rng, sums
    )
    return n, known


def advise(
    solution: Solution, spot: Spot, equity: EquityTable, samples: int = 8_000, seed: int = 1
) -> Advice:
    """The solution's advice at a spot of its rules.

    Values are simulated for this very hand: the other seat's hand is drawn by how likely the solution is to have
    played the history with it, then both seats play on by the solution. Where the other seat never plays so,
    every hand it can hold counts alike. Raises ValueError if the spot has other rules than the solution.
    """
    if spot.rules != solution.rules:
        raise ValueError("the spot has other rules than the solution")
    deals = np.array([[*mano, *pie] for mano, pie in map(spot.deal, spot.others)], np.int32)
    sign = 1.0 if spot.seat == MANO else -1.0
    tables = np.stack([utility_table(spot.rules, spot.scores, worth) for worth in (None, equity)])
    reaches = np.empty((len(deals), 2))
    actions, probs = np.empty(MAX_LEGAL, np.int32), np.empty(MAX_LEGAL)
    sums = np.zeros((MAX_LEGAL, 2, 2))
    n, known = _advise(
        solution.table,
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
        sums,
    )
    means = sums[:, 0] / samples
    errors = np.sqrt(np.maximum(sums[:, 1] / samples - means**2, 0.0) / samples)
    # The seat's own words have one probability whatever the other holds: its keys do not depend on that.
    own_reach, other_reach = float(reaches[0, spot.seat]), float(reaches[:, 1 - spot.seat].mean())
    reached = known and own_reach > UNREACHED and other_reach > UNREACHED
    rows = {
        int(actions[i]): ActionAdvice(
            int(actions[i]),
            float(probs[i]) if reached else None,
            float(means[i, 0]),
            float(errors[i, 0]),
            float((1.0 + means[i, 1]) / 2.0),
        )
        for i in range(n)
    }
    listed = [
        rows.get(action, ActionAdvice(action, None, None, None, None)) for action in spot.hand.legal_actions()
    ]
    return Advice(listed, own_reach, other_reach, samples)
