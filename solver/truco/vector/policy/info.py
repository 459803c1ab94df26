"""What a file of the vector engine is of, and how far it was solved. Needs no numba until its game is built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from game.truco.equity import EquityTable
from game.truco.rules import make_rules

if TYPE_CHECKING:
    from solver.truco.vector.model.game import Game


@dataclass(frozen=True)
class VectorInfo:
    """What a file is of; plain JSON values."""

    rules: dict[str, Any]
    rules_hash: str
    score: tuple[int, int]
    """(mano, pie) at the start of the hand."""
    equity: list[list[float]] | None
    """Match-win probability of the player who is mano at each score; None where the utility is points."""
    contexts: tuple[str, ...]
    values: tuple[str, ...]
    schedule: str
    iterations: int
    seconds: float
    """Spent solving, over all runs, measurements apart."""
    curve: tuple[tuple[int, float, float], ...] = ()
    """Measurements on the way: (iterations, seconds, exploitability at tier level, a lower bound)."""
    trim: float = 0.0
    """Share of its infoset below which an action was dropped from the policy; see VectorSolver.trim."""
    chains: tuple[str, ...] = ("none",) * 4

    @property
    def merges(self) -> str:
        """What the policy forgets, by the names of `Abstraction`."""
        return "; ".join(
            f"{name} {','.join(getattr(self, name))}" for name in ("contexts", "values", "chains")
        )

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
            game.abstraction.contexts, game.abstraction.values, schedule, iterations, seconds, curve,
            chains=game.abstraction.chains,
        )  # fmt: skip

    @staticmethod
    def read(metadata: dict[str, Any]) -> VectorInfo:
        """The description that was written as JSON. Raises TypeError or KeyError if it is none."""
        lists = {name: tuple(metadata[name]) for name in ("score", "contexts", "values")}
        lists["chains"] = tuple(metadata.get("chains", ("none",) * 4))
        lists["curve"] = tuple(tuple(point) for point in metadata.get("curve", ()))
        return VectorInfo(**metadata | lists)

    def game(self) -> Game:
        """The game it was solved in. Raises ValueError if the rules no longer mean what they meant."""
        rules = make_rules("base", dict(self.rules))
        if rules.hash() != self.rules_hash:
            raise ValueError("its rules no longer mean what they meant when it was solved")
        equity = None
        if self.equity is not None:
            values = {(a, b): value for a, row in enumerate(self.equity) for b, value in enumerate(row)}
            equity = EquityTable(len(self.equity), values)
        from solver.truco.vector.model.abstraction import Abstraction
        from solver.truco.vector.model.game import Game

        merges = Abstraction(self.contexts, self.values, self.chains)  # type: ignore[arg-type]
        return Game(rules, self.score, equity, merges)
