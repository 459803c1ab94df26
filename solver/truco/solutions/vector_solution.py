"""A policy of the vector engine as a solution that advice, tables, plots and duels read like any other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from game.truco.equity import EquityTable
from game.truco.rules import Rules
from game.truco.spot import Spot
from solver.truco.reading.solution import SolutionInfo
from solver.truco.reading.strategy import Strategy, book_strategy
from solver.truco.solutions.vector_info import vector_solution_info
from solver.truco.vector.policy.certificate import kept_certificate
from solver.truco.vector.policy.cursor import make_book
from solver.truco.vector.policy.files import StoredPolicy, load_policy

if TYPE_CHECKING:
    from solver.truco.reading.questions import Census, Question
    from solver.truco.vector.policy.lookup import LookedUp
    from solver.truco.vector.policy.openspiel_policy import VectorPolicy


@dataclass(frozen=True)
class VectorSolution:
    """Reads a stored policy; see `solver.truco.reading.solution.Solution`. It keeps no values: they are simulated."""

    stored: StoredPolicy
    complete: bool = True
    remark: str = ""
    exploitability: float | None = None
    """Of the whole policy, exact with real cards; None if it was not certified."""
    values: None = None

    @cached_property
    def info(self) -> SolutionInfo:
        """What the policy is of, with what was certified of it as a whole; its value is not in the file."""
        game = self.stored.game
        return vector_solution_info(self.stored.info, game.holdings.num_deals, self.exploitability)

    @property
    def rules(self) -> Rules:
        """The rules it was solved for."""
        return self.stored.game.rules

    @property
    def equity(self) -> EquityTable | None:
        """Worth of the scores after the hand, None where the utility is points."""
        return self.stored.game.equity

    @cached_property
    def strategy(self) -> Strategy:
        """What kernels play by; tables of tricks 2 and 3 stay in the file. ValueError for a small deck."""
        return book_strategy(make_book(self.stored.game, self.stored.tables))

    @cached_property
    def policy(self) -> VectorPolicy:
        """An OpenSpiel policy over `python_truco` states with these rules."""
        from solver.truco.vector.policy.openspiel_policy import VectorPolicy

        return VectorPolicy(self.stored.game, self.stored.tables)

    def trusts(self, row: int) -> bool:
        """Whether a mix that was learnt is to be believed off the solution's own play."""
        return True

    def counts(self, asked: Sequence[tuple[Question, str]]) -> list[Census] | None:
        """None: hands have to be played."""
        return None

    def at(self, spot: Spot) -> VectorSolution:
        """The solution for a spot: this one."""
        return self

    def look_up(self, spot: Spot) -> LookedUp | None:
        """Nothing: values have to be simulated."""
        return None


def load_vector_solution(path: str | os.PathLike[str]) -> VectorSolution:
    """Opens a policy file without reading all of its gigabytes, so the checksum is not compared (`truco info` does).

    What `truco exploitability` has kept beside it is read too; if it cannot be believed, the remark says why. Raises
    StorageError for a file of another kind or a damaged header.
    """
    stored = load_policy(path, verify=False)
    exploitability, remark = kept_certificate(Path(path), stored.info)
    return VectorSolution(stored, remark=remark, exploitability=exploitability)
