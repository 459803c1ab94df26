"""What a decision cost, by the advice of a solution: in points and in the chance to win the match."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from game.truco.actions import ENVIDO, FALTA_ENVIDO, MAZO, NO_QUIERO, TRUCO, VALE_CUATRO
from game.truco.equity import EquityTable
from game.truco.hand import Decision
from game.truco.spot import Spot
from solver.truco.reading.advice import NEAR, ActionAdvice, Advice, advise
from solver.truco.reading.solution import UTILITIES, Solution

SYMBOLS = ("?!", "?", "??")
"""Marks of a doubtful decision, a mistake and a blunder."""
THRESHOLDS = {"points": (0.12, 0.4, 1.0), "match": (0.005, 0.015, 0.04)}
"""Costs from which a decision gets each of the SYMBOLS, in points or the chance to win the match. At 0-0 a point is
worth about 0.04 of a match."""


class Kind(StrEnum):
    """What a decision was about."""

    ENVIDO_OPEN = "envido_open"
    """Whether to call Envido, on turn or before answering a Truco."""
    ENVIDO_ANSWER = "envido_answer"
    TRUCO_CALL = "truco_call"
    """Whether to call the next Truco level on turn."""
    TRUCO_ANSWER = "truco_answer"
    MAZO = "mazo"
    """Whether to fold on turn."""
    CARD = "card"
    """Which card to play."""


class Loss(NamedTuple):
    """What a decision cost in one unit: points, or the chance to win the match.

    It is measured against the solution's own play at the spot. For an exact solution that is worth as much as the
    best action; a rough one, whose mix is not, cannot blame a player for what it does itself.
    """

    best: int
    """Action that is worth most."""
    best_value: float
    value: float
    """What the chosen action is worth."""
    expected: float
    """What the solution's mix is worth; the best value where it has none."""
    error: float
    """Standard error of expected - value, or a bound of it; 0 where values are stored."""
    near: float
    """Differences up to this count as none."""

    @property
    def cost(self) -> float:
        """How much less the chosen action is worth than the mix; 0 where that cannot be told from nothing."""
        return self._told(self.expected - self.value)

    @property
    def mix_below_best(self) -> float:
        """How much less the mix is worth than the best action, alike: how rough the solution is here."""
        return self._told(self.best_value - self.expected)

    def _told(self, gap: float) -> float:
        return gap if gap > self.near else 0.0


@dataclass(frozen=True)
class Grade:
    """A decision that was judged."""

    spot: Spot
    action: int
    """What was done."""
    kind: Kind
    advice: Advice
    points: Loss | None
    """None where values are not known."""
    match: Loss | None

    def loss(self, unit: str) -> Loss | None:
        """The loss in `points` or `match`."""
        return self.points if unit == "points" else self.match

    @property
    def probability(self) -> float | None:
        """How often the solution does this; None where it has no mix."""
        return next(
            (row.probability for row in self.advice.actions if row.action == _meant(self.spot, self.action)),
            None,
        )


def grade(
    solution: Solution, spot: Spot, action: int, equity: EquityTable, samples: int = 5_000, seed: int = 1
) -> Grade:
    """Judges an action at a spot by the solution's advice there; parameters and errors as `advise`.

    Raises ValueError too for an action that is not legal at the spot.
    """
    if action not in spot.hand.legal_actions():
        raise ValueError("the action is not legal at the spot")
    at = solution.at(spot)
    advice = advise(at, spot, equity, samples, seed)
    points, match = (_loss(advice, _meant(spot, action), unit) for unit in UTILITIES)
    told = {loss.best for loss in (points, match) if loss is not None and loss.cost > 0}
    return Grade(spot, action, kind_of(spot, action, told), advice, points, match)


def symbol(cost: float, thresholds: Sequence[float]) -> str:
    """The mark of a cost: the last of SYMBOLS whose threshold it reaches, or nothing."""
    reached = [mark for mark, least in zip(SYMBOLS, thresholds, strict=True) if cost >= least > 0]
    return reached[-1] if reached else ""


def kind_of(spot: Spot, action: int, better: set[int]) -> Kind:
    """What a decision was about, by what was done and the actions that would have been better, if any.

    Answers are their own kinds. On turn it is the first of Envido, Truco call, mazo that was done or would have been
    better, else the card.
    """
    said = {action, *better}
    if spot.decision is Decision.ANSWER_ENVIDO:
        return Kind.ENVIDO_ANSWER
    if any(ENVIDO <= word <= FALTA_ENVIDO for word in said):
        return Kind.ENVIDO_OPEN
    if spot.decision is Decision.ANSWER_TRUCO:
        return Kind.TRUCO_ANSWER
    if any(TRUCO <= word <= VALE_CUATRO for word in said):
        return Kind.TRUCO_CALL
    return Kind.MAZO if MAZO in said else Kind.CARD


def _meant(spot: Spot, action: int) -> int:
    """Mazo in answer to a Truco is no quiero (R-31), and advice speaks of that."""
    return NO_QUIERO if action == MAZO and spot.decision is Decision.ANSWER_TRUCO else action


def _loss(advice: Advice, action: int, unit: str) -> Loss | None:
    known = {row.action: _value(row, unit) for row in advice.actions}
    values = {done: value for done, value in known.items() if value is not None}
    if action not in values:
        return None
    best = max(values, key=lambda done: values[done][0])
    shares = {
        row.action: row.probability for row in advice.actions if row.probability and row.action in values
    }
    total = sum(shares.values())
    expected, spread = values[best]
    if total:
        expected, spread = (
            sum(share * values[done][part] for done, share in shares.items()) / total for part in (0, 1)
        )
    if advice.samples == 0:
        return Loss(best, values[best][0], values[action][0], expected, 0.0, NEAR[unit])
    # The actions were tried on the same deals, so the error of the difference is smaller than this.
    error = math.hypot(spread, values[action][1])
    return Loss(best, values[best][0], values[action][0], expected, error, 2 * error)


def _value(row: ActionAdvice, unit: str) -> tuple[float, float] | None:
    """Value and standard error (0 where it is stored) in a unit; None where not known."""
    value, error = (
        (row.points, row.points_error) if unit == "points" else (row.match_win, row.match_win_error)
    )
    return None if value is None else (value, error or 0.0)
