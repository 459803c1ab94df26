"""What advice, tables, plots and duels need of a solution, whichever engine found it.

Solvers make solutions, everything else reads them through this interface.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from game.truco.equity import EquityTable
from game.truco.rules import Rules, make_rules
from game.truco.spot import Spot
from solver.records import shortened

if TYPE_CHECKING:
    from solver.truco.reading.questions import Census, Question
    from solver.truco.reading.strategy import Strategy
    from solver.truco.vector.policy.lookup import LookedUp

NOT_CERTIFIED = "not certified"
UNREACHED = 1e-6
"""Probability of the words so far below which a spot counts as never reached."""
UTILITIES = ("points", "match")
ENGINES = ("quick", "vector")


@dataclass(frozen=True)
class SolutionInfo:
    """What a solution is of and how it was found; plain JSON values.

    Scores are (mano, pie) in points at the start of the hand. Values are mano's, in units of the utility: points
    per hand, or 2 x match-win probability - 1. Raises ValueError naming what is out of range.
    """

    rules: dict[str, Any]
    rules_hash: str
    score: tuple[int, int]
    utility: str
    equity: list[list[float]] | None
    """Match-win probability of the player who is mano at each score, for the utility `match`."""
    engine: str
    algorithm: str
    abstraction: str
    key_version: int
    """KEY_VERSION of the information key."""
    iterations: int
    deals: int
    seed: int
    seconds: float
    mano_value: float | None
    """None where it was not measured."""
    mano_value_error: float | None
    """Standard error of the value."""
    exploitability: float | None = None
    exploitability_method: str = NOT_CERTIFIED
    equity_name: str | None = None
    """Where the equity table comes from, for the utility `match`."""

    def __post_init__(self) -> None:
        rules = make_rules("base", self.rules)
        target = rules.target
        if not all(0 <= points < target for points in self.score):
            raise ValueError(f"score is {self.score}, allowed: 0 to {target - 1} each")
        if self.utility not in UTILITIES:
            raise ValueError(f"utility is {shortened(self.utility)}, allowed: {', '.join(UTILITIES)}")
        if (self.utility == "match") != (self.equity is not None):
            raise ValueError("an equity table goes with the utility match, and with no other")
        if self.engine not in ENGINES:
            raise ValueError(f"engine is {shortened(self.engine)}, allowed: {', '.join(ENGINES)}")
        for name in ("iterations", "deals", "seed", "seconds", "mano_value_error"):
            if (getattr(self, name) or 0) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}, allowed: 0 or more")
        if self.equity is not None and [len(row) for row in self.equity] != [target] * target:
            raise ValueError(f"its equity table is not one of {target} x {target} scores")
        for value in (value for row in self.equity or () for value in row):
            if not 0.0 <= value <= 1.0:
                raise ValueError(f"its equity table holds {value}, which is no probability")


class Solution(Protocol):
    """A solution of one hand, whichever engine found it."""

    @property
    def info(self) -> SolutionInfo:
        """What it is of and how it was found."""

    @property
    def rules(self) -> Rules:
        """The rules it was solved for."""

    @property
    def equity(self) -> EquityTable | None:
        """Worth of the scores after the hand, None where the utility is points."""

    @property
    def strategy(self) -> Strategy:
        """What the kernels play by."""

    @property
    def values(self) -> np.ndarray | None:
        """Values beside the probabilities of the strategy's table; None where they have to be simulated."""

    @property
    def complete(self) -> bool:
        """Whether it has a mix wherever its own play leads, so that hands can be played to their end."""

    @property
    def remark(self) -> str:
        """What a reader of its advice has to know, or nothing."""

    def at(self, spot: Spot) -> Solution:
        """The solution for a spot: itself, or with the rest of the hand solved anew."""

    def look_up(self, spot: Spot) -> LookedUp | None:
        """Mix, reaches and exact worth of each action where they are stored; None: hands have to be simulated."""

    def counts(self, asked: Sequence[tuple[Question, str]]) -> list[Census] | None:
        """Exact counts for questions and kinds of rows, as `census.take_census`; None: hands have to be played."""

    def trusts(self, row: int) -> bool:
        """Whether the mix in a row of the strategy's table (-1: none) is to be believed off the own play."""
