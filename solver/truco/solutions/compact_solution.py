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
    from solver.truco.vector.model.game import Game
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
        trunk = np.concatenate([table.reshape(-1) for table in self.compact.trunk()])
        return self._as_stored(self.compact.info.game().part(), trunk, self.compact.positions())

    def _as_stored(self, game: Game, trunk: np.ndarray, position: np.ndarray) -> StoredPolicy:
        from solver.truco.vector.cfr.average import Tables
        from solver.truco.vector.policy.files import StoredPolicy, split_trunk

        tables = split_trunk(trunk, game)
        if len(position) != game.position_entries:
            raise ValueError("the compact policy is damaged: its tables are not those of the game")
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
        """The solution for a spot: this one before an accepted Envido, else one that knows the way there only, with
        tricks 2 and 3 re-solved from the ranges of trick 1 where the spot lies in these.

        Raises ValueError where the match is over at the score of the solution.
        """
        if self.compact.knows(spot.history):
            return self
        from solver.truco.solutions.vector_solution import VectorSolution
        from solver.truco.vector.cfr.average import Tables
        from solver.truco.vector.policy.files import StoredPolicy
        from solver.truco.vector.policy.subgame import resolve

        stored = self._on_the_way(spot)
        found = resolve(stored.game, stored.tables, spot.hand)
        if found is None:
            return VectorSolution(stored, False, self.remark, self.compact.facts.exploitability)
        unit = "points" if stored.info.equity is None else "on the scale -1 to 1"
        remark = (
            f"Tricks 2 and 3 were solved here from the ranges of trick 1: {found.iterations} iterations in "
            f"{found.seconds:.1f} s, best answers of both gain {found.gap:.4f} {unit} together."
        )
        if not found.reached:
            remark += " Trick 1 is never played so: every holding was taken for equally likely."
        tables = Tables(stored.tables.trunk_sums, stored.tables.position_sums, found.sums)
        return VectorSolution(StoredPolicy(stored.info, found.game, tables), False, remark)

    def _on_the_way(self, spot: Spot) -> StoredPolicy:
        """`stored`, with 0 in all tables that the public history of a spot does not pass."""
        from solver.truco.vector.policy.locate import accepted_tables

        game = self.compact.info.game().part()
        trunk, position = self.compact.blank()
        for length in range(len(spot.history)):
            if self.compact.knows(spot.history[:length]):
                self.compact.fill(trunk, self.compact.number(spot.history[:length]))
        first, end = accepted_tables(game, spot.hand)
        self.compact.fill_positions(position, first, end)
        return self._as_stored(game, trunk, position)


def load_compact_solution(path: str | os.PathLike[str]) -> CompactSolution:
    """Opens a compact policy. Raises StorageError as `load_compact`."""
    return CompactSolution(load_compact(path))
