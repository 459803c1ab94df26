"""A policy of the vector engine as a solution that advice, tables, plots and duels read like any other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from game.truco.cards import DECK_SIZE
from game.truco.equity import EquityTable
from game.truco.rules import Rules
from game.truco.spot import Spot
from solver.truco.hand.infokey import KEY_VERSION
from solver.truco.reading.solution import NOT_CERTIFIED, SolutionInfo
from solver.truco.reading.strategy import Strategy, book_strategy
from solver.truco.vector.cfr.average import Tables
from solver.truco.vector.policy.certificate import kept_exploitability
from solver.truco.vector.policy.compact import CompactPolicy, load_compact
from solver.truco.vector.policy.cursor import make_book
from solver.truco.vector.policy.files import StoredPolicy, load_policy
from solver.truco.vector.policy.locate import locate
from solver.truco.vector.policy.openspiel_policy import VectorPolicy
from solver.truco.vector.policy.subgame import resolve

if TYPE_CHECKING:
    from solver.truco.reading.questions import Census, Question


@dataclass(frozen=True)
class VectorSolution:
    """Reads a stored policy; see `solver.truco.reading.solution.Solution`. It keeps no values: they are simulated."""

    stored: StoredPolicy
    values: None = None
    complete: bool = True
    remark: str = ""
    exploitability: float | None = None
    """Of the whole policy, exact with real cards; None if it was not certified."""

    @cached_property
    def info(self) -> SolutionInfo:
        """What the policy is of, with what was certified of it as a whole; its value is not in the file."""
        game, info = self.stored.game, self.stored.info
        method = (
            NOT_CERTIFIED if self.exploitability is None else "exact with real cards, of the whole policy"
        )
        return SolutionInfo(
            rules=info.rules,
            rules_hash=info.rules_hash,
            score=info.score,
            utility="points" if info.equity is None else "match",
            equity=info.equity,
            engine="vector",
            algorithm=info.schedule,
            abstraction=info.merges,
            key_version=KEY_VERSION,
            iterations=info.iterations,
            deals=game.holdings.num_deals,
            seed=0,
            seconds=info.seconds,
            mano_value=None,
            mano_value_error=None,
            exploitability=self.exploitability,
            exploitability_method=method,
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

    def counts(self, asked: Sequence[tuple[Question, str]]) -> list[Census] | None:
        """None: hands have to be played."""
        return None

    def at(self, spot: Spot) -> VectorSolution:
        """The solution for a spot: this one."""
        return self

    def worth(self, spot: Spot) -> dict[int, float] | None:
        """Nothing: values have to be simulated."""
        return None


@dataclass(frozen=True)
class CompactSolution(VectorSolution):
    """Trick 1 as stored, and nothing after it until `at` solves it anew for a spot."""

    stored_worth: tuple[np.ndarray, ...] = ()
    """As `CompactPolicy.worth`."""

    def worth(self, spot: Spot) -> dict[int, float] | None:
        """What the actions are worth to the mover in the utility, while no Envido has been accepted in trick 1."""
        place = locate(self.stored.game, spot.hand)
        if place.table < 0:
            return None
        flat = self.stored_worth[place.table].reshape(-1)
        return {
            action: float(flat[place.begin + k * place.stride])
            for k, real in enumerate(place.choices)
            for action in real
        }

    def counts(self, asked: Sequence[tuple[Question, str]]) -> list[Census] | None:
        """Exact counts of decisions before any Envido is accepted; None if others are asked for."""
        from solver.truco.solutions import trunk_census

        full = len(self.rules.deck) == DECK_SIZE
        if not full or not all(trunk_census.covers(question) for question, _ in asked):
            return None
        return trunk_census.count_decisions(self.stored, self.stored_worth, asked)

    def at(self, spot: Spot) -> VectorSolution:
        """The solution with tricks 2 and 3 solved from the ranges of trick 1, where the spot lies there.

        Raises ValueError where the match is over at the score of the solution.
        """
        stored = self.stored
        found = resolve(stored.game, stored.tables, spot.hand)
        if found is None:
            return self
        unit = "points" if stored.info.equity is None else "on the scale -1 to 1"
        remark = (
            f"Tricks 2 and 3 were solved here from the ranges of trick 1: {found.iterations} iterations in "
            f"{found.seconds:.1f} s, best answers of both gain {found.gap:.4f} {unit} together."
        )
        if not found.reached:
            remark += " Trick 1 is never played so: every holding was taken for equally likely."
        tables = Tables(stored.tables.trunk_sums, stored.tables.position_sums, found.sums)
        return VectorSolution(StoredPolicy(stored.info, found.game, tables), None, False, remark)


def compact_solution(compact: CompactPolicy) -> CompactSolution:
    """Reads a compact policy."""
    game = compact.game.part()
    tables = Tables(compact.trunk, compact.position, np.zeros(64, np.float32))
    remark = "Tricks 2 and 3 are not stored; once an Envido is accepted in trick 1, values are not known."
    stored = StoredPolicy(compact.info, game, tables)
    return CompactSolution(stored, None, False, remark, compact.facts.exploitability, tuple(compact.worth))


def load_compact_solution(path: str | os.PathLike[str]) -> CompactSolution:
    """Opens a compact policy. Raises StorageError as `load_compact`."""
    return compact_solution(load_compact(path))


def load_vector_solution(path: str | os.PathLike[str]) -> VectorSolution:
    """Opens a policy file without reading all of its gigabytes, so the checksum is not compared (`truco info` does).

    What `truco exploitability` has kept beside it is read too. Raises StorageError for a file of another kind or a
    damaged header.
    """
    stored = load_policy(path, verify=False)
    return VectorSolution(stored, exploitability=kept_exploitability(Path(path), stored.info))
