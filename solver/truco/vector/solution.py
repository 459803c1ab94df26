"""A policy of the vector engine as a solution that advice, tables, plots and duels read like any other."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property

from game.truco.equity import EquityTable
from game.truco.rules import Rules
from solver.truco.infokey import KEY_VERSION
from solver.truco.solution import SolutionInfo
from solver.truco.strategy import Strategy, book_strategy
from solver.truco.vector.cursor import make_book
from solver.truco.vector.files import StoredPolicy, load_policy
from solver.truco.vector.policy import VectorPolicy


@dataclass(frozen=True)
class VectorSolution:
    """Reads a stored policy; see `solver.truco.playable.Playable`. It keeps no values: they are simulated."""

    stored: StoredPolicy
    values: None = None

    @cached_property
    def info(self) -> SolutionInfo:
        """What the policy is of; its value and exploitability are not in the file."""
        game, info = self.stored.game, self.stored.info
        return SolutionInfo(
            rules=info.rules,
            rules_hash=info.rules_hash,
            score=info.score,
            utility="points" if info.equity is None else "match",
            equity=info.equity,
            engine="vector",
            algorithm=info.schedule,
            abstraction=f"contexts {','.join(info.contexts)}; values {','.join(info.values)}",
            key_version=KEY_VERSION,
            iterations=info.iterations,
            deals=game.holdings.num_deals,
            seed=0,
            seconds=info.seconds,
            mano_value=None,
            mano_value_error=None,
        )

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
        return VectorPolicy(self.stored.game, self.stored.tables)

    def trusts(self, row: int) -> bool:
        """Whether a mix that was learnt is to be believed off the solution's own play."""
        return True


def load_vector_solution(path: str | os.PathLike[str]) -> VectorSolution:
    """Opens a policy file without reading all of its gigabytes, so the checksum is not compared (`truco info` does).

    Raises StorageError for a file of another kind or a damaged header.
    """
    return VectorSolution(load_policy(path, verify=False))
