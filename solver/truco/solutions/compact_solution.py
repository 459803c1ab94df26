"""A compact policy as a solution: trick 1 as stored, looked up without numba, and the rest re-solved for a spot."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from game.truco.cards import DECK_SIZE
from game.truco.equity import EquityTable
from game.truco.rules import Rules
from game.truco.spot import Spot
from solver.truco.reading.solution import SolutionInfo
from solver.truco.solutions.vector_info import vector_solution_info
from solver.truco.vector.policy.compact import CompactPolicy, load_compact
from solver.truco.vector.policy.lookup import LookedUp, look_up

if TYPE_CHECKING:
    from solver.truco.reading.questions import Census, Question
    from solver.truco.reading.strategy import Strategy
    from solver.truco.solutions.vector_solution import VectorSolution
    from solver.truco.vector.policy.files import StoredPolicy
    from solver.truco.vector.policy.openspiel_policy import VectorPolicy


@dataclass(frozen=True)
class CompactSolution:
    """Reads a compact policy; see `solver.truco.reading.solution.Solution`."""

    compact: CompactPolicy
    values: None = None
    complete: bool = False
    remark: str = (
        "Tricks 2 and 3 are not stored; once an Envido is accepted in trick 1, values are not known."
    )

    @cached_property
    def info(self) -> SolutionInfo:
        """What the policy is of, with what was certified of it as a whole; its value is not in the file."""
        compact = self.compact
        return vector_solution_info(compact.info, compact.holdings.num_deals, compact.facts.exploitability)

    @cached_property
    def rules(self) -> Rules:
        """The rules it was solved for."""
        return self.compact.info.make_rules()

    @cached_property
    def equity(self) -> EquityTable | None:
        """Worth of the scores after the hand, None where the utility is points."""
        return self.compact.info.make_equity()

    @cached_property
    def stored(self) -> StoredPolicy:
        """Trick 1 as whole tables, and no table after it."""
        from solver.truco.vector.cfr.average import Tables
        from solver.truco.vector.policy.files import StoredPolicy

        game = self.compact.info.game().part()
        trunk, position = self.compact.trunk(), self.compact.positions()
        shapes = [game.node_shape(node) for node in game.trunk.nodes]
        if [table.size for table in trunk] != [int(np.prod(shape)) for shape in shapes]:
            raise ValueError("the compact policy is damaged: its tables have other shapes than the game's")
        if len(position) != game.position_entries:
            raise ValueError("the compact policy is damaged: its tables are not those of the game")
        tables = [table.reshape(shape) for table, shape in zip(trunk, shapes, strict=True)]
        return StoredPolicy(self.compact.info, game, Tables(tables, position, np.zeros(64, np.float32)))

    @cached_property
    def _playing(self) -> VectorSolution:
        from solver.truco.solutions.vector_solution import VectorSolution

        return VectorSolution(self.stored, False, self.remark)

    @property
    def strategy(self) -> Strategy:
        """What kernels play by; it knows no mix after trick 1. ValueError for a small deck."""
        return self._playing.strategy

    @property
    def policy(self) -> VectorPolicy:
        """An OpenSpiel policy over `python_truco` states in trick 1."""
        return self._playing.policy

    def trusts(self, row: int) -> bool:
        """Whether a mix that was learnt is to be believed off the solution's own play."""
        return True

    def look_up(self, spot: Spot) -> LookedUp | None:
        """Mix, reaches and worth, in the utility, of the actions while no Envido has been accepted in trick 1."""
        return look_up(self.compact, spot)

    def counts(self, asked: Sequence[tuple[Question, str]]) -> list[Census] | None:
        """Exact counts of decisions before any Envido is accepted; None if others are asked for."""
        from solver.truco.solutions import trunk_census

        full = len(self.rules.deck) == DECK_SIZE
        if not full or not all(trunk_census.covers(question) for question, _ in asked):
            return None
        return trunk_census.count_decisions(self.compact, asked)

    def at(self, spot: Spot) -> CompactSolution | VectorSolution:
        """The solution with tricks 2 and 3 re-solved from the ranges of trick 1, where the spot lies there.

        Raises ValueError where the match is over at the score of the solution.
        """
        if not spot.hand.tricks:
            return self
        from solver.truco.solutions.vector_solution import VectorSolution
        from solver.truco.vector.cfr.average import Tables
        from solver.truco.vector.policy.files import StoredPolicy
        from solver.truco.vector.policy.subgame import resolve

        stored = self.stored
        found = resolve(stored.game, stored.tables, spot.hand)
        assert found is not None
        unit = "points" if stored.info.equity is None else "on the scale -1 to 1"
        remark = (
            f"Tricks 2 and 3 were solved here from the ranges of trick 1: {found.iterations} iterations in "
            f"{found.seconds:.1f} s, best answers of both gain {found.gap:.4f} {unit} together."
        )
        if not found.reached:
            remark += " Trick 1 is never played so: every holding was taken for equally likely."
        tables = Tables(stored.tables.trunk_sums, stored.tables.position_sums, found.sums)
        return VectorSolution(StoredPolicy(stored.info, found.game, tables), False, remark)


def load_compact_solution(path: str | os.PathLike[str]) -> CompactSolution:
    """Opens a compact policy. Raises StorageError as `load_compact`."""
    return CompactSolution(load_compact(path))
