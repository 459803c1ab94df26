"""What a file of the vector engine is of, and how far it was solved. Needs no numba until its game is built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from game.truco.equity import EquityTable
from game.truco.rules import Rules, make_rules
from solver.records import read_record
from solver.truco.vector.cfr.schedule import schedule_step
from solver.truco.vector.model.abstraction import Abstraction

if TYPE_CHECKING:
    from solver.truco.vector.model.game import Game


@dataclass(frozen=True)
class VectorInfo:
    """What a file is of; plain JSON values. Raises ValueError naming what is out of range."""

    rules: dict[str, Any]
    rules_hash: str
    score: tuple[int, int]
    """(mano, pie) at the start of the hand."""
    equity: list[list[float]] | None
    """Match-win probability of the player who is mano at each score; None where the utility is points."""
    abstraction: Abstraction
    """What the policy forgets."""
    schedule: str
    iterations: int
    seconds: float
    """Spent solving, over all runs, measurements apart."""
    curve: tuple[tuple[int, float, float], ...] = ()
    """Measurements on the way: (iterations, seconds, exploitability at tier level, a lower bound)."""
    trim: float = 0.0
    """Share of its infoset below which an action was dropped from the policy; see VectorSolver.trim."""

    @staticmethod
    def of(
        game: Game,
        schedule: str,
        iterations: int,
        seconds: float,
        curve: tuple[tuple[int, float, float], ...] = (),
    ) -> VectorInfo:
        """Describes a game and how far it was solved."""
        return VectorInfo(
            game.rules.to_dict(), game.rules.hash(), game.score, game.equity.rows() if game.equity else None,
            game.abstraction, schedule, iterations, seconds, curve,
        )  # fmt: skip

    @staticmethod
    def read(metadata: object) -> VectorInfo:
        """The description that was written as JSON. Raises ValueError naming what is wrong in it."""
        return read_record(VectorInfo, metadata)

    def __post_init__(self) -> None:
        rules = make_rules("base", dict(self.rules))
        if rules.hash() != self.rules_hash:
            raise ValueError("its rules no longer mean what they meant when it was solved")
        if not all(0 <= points < rules.target for points in self.score):
            raise ValueError(f"score is {self.score}, allowed: 0 to {rules.target - 1} each")
        if self.equity is not None:
            if [len(row) for row in self.equity] != [rules.target] * rules.target:
                raise ValueError(f"its equity table is not one of {rules.target} x {rules.target} scores")
            _equity_table(self.equity)
        schedule_step(self.schedule, 1)
        if self.iterations < 0 or self.seconds < 0 or not 0 <= self.trim < 1:
            raise ValueError("iterations, seconds or trim is out of range")

    def make_rules(self) -> Rules:
        """The rules it was solved for."""
        return make_rules("base", dict(self.rules))

    def make_equity(self) -> EquityTable | None:
        """Worth of the scores after the hand, None where the utility is points."""
        return None if self.equity is None else _equity_table(self.equity)

    def game(self) -> Game:
        """The game it was solved in. Raises ValueError if the vector engine does not play its rules."""
        from solver.truco.vector.model.game import Game

        return Game(self.make_rules(), self.score, self.make_equity(), self.abstraction)


def _equity_table(rows: list[list[float]]) -> EquityTable:
    return EquityTable(
        len(rows), {(a, b): value for a, row in enumerate(rows) for b, value in enumerate(row)}
    )
