"""Advice at one spot: the solution's mix, what each action is worth for this very hand, how likely the spot is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from game.truco.equity import EquityTable
from game.truco.spot import Spot
from solver.truco.reading.solution import UNREACHED, Solution
from solver.truco.vector.policy.lookup import LookedUp

if TYPE_CHECKING:
    from solver.truco.reading.simulation import Simulated

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


def advise(
    solution: Solution, spot: Spot, equity: EquityTable, samples: int = 5_000, seed: int = 1
) -> Advice:
    """The solution's advice at a spot of its rules.

    Values are simulated for this very hand: the other seat's hand is drawn by how likely the solution is to have
    played the history with it, then both seats play on by the solution. Where the other seat never plays so, every
    hand it can hold counts alike, and there is no mix. A seat that has left the solution's own play gets the mix
    that the solution learnt for the spot, if it met the spot often enough. Values that the solution has stored are
    told instead, without any kernel. Raises ValueError if the spot has other rules than the solution.
    """
    if spot.rules != solution.rules:
        raise ValueError("the spot has other rules than the solution")
    match = solution.info.utility == "match"
    found: LookedUp | Simulated | None = solution.look_up(spot)
    if isinstance(found, LookedUp):
        has_mix = bool(found.mix) and found.other_reach > UNREACHED
        rows = {
            action: _stored_advice(action, share, found.worth, match)
            for action, share in (found.mix if has_mix else {}).items()
        }
    else:
        from solver.truco.reading.simulation import simulate

        found = simulate(solution.strategy, spot, equity, samples, seed)
        learnt = found.known and (found.own_reach > UNREACHED or solution.trusts(found.row))
        has_mix = learnt and found.other_reach > UNREACHED
        rows = _simulated_advice(found, has_mix, int(match), samples)
    listed = [rows.get(action, ActionAdvice(action)) for action in spot.hand.legal_actions()]
    simulated = 0 if isinstance(found, LookedUp) else samples
    return Advice(listed, has_mix, found.own_reach, found.other_reach, simulated)


def _simulated_advice(found: Simulated, has_mix: bool, unit: int, samples: int) -> dict[int, ActionAdvice]:
    """Advice by action; unit: whether 0 points or 1 the match decides what is near the best."""
    n = len(found.actions)
    variances = np.einsum("ukk->uk", found.products) - found.means**2
    errors = np.sqrt(np.maximum(variances, 0.0) / samples)
    near = _near_best(found.means[unit], found.products[unit], n, samples)
    rows = {}
    for i, action in enumerate(found.actions):
        probability = float(found.probabilities[i]) if has_mix else None
        if found.unsolved[i] > MOST_UNSOLVED:
            rows[action] = ActionAdvice(action, probability)
            continue
        rows[action] = ActionAdvice(
            action,
            probability,
            float(found.means[0, i]),
            float(errors[0, i]),
            float((1.0 + found.means[1, i]) / 2.0),
            float(errors[1, i] / 2.0),
            bool(near[i]),
        )
    return rows


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
