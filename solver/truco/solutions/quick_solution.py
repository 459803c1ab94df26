"""A solution of the quick engine: policy, values and how they were found; the file that keeps it.

A file is a container of `solver.storage` of kind
`truco-solution`; its arrays are those of the PolicyTable plus `values` and `visits`, its metadata the fields of
SolutionInfo. Arrays are memory-mapped when a file is opened.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from game.truco.equity import EquityTable
from game.truco.rules import Rules, make_rules
from solver.records import read_record, shortened
from solver.storage import StorageError, read_arrays, write_arrays
from solver.truco.hand.engine import rules_vector
from solver.truco.hand.infokey import KEY_VERSION
from solver.truco.hand.table import PolicyTable, check_table
from solver.truco.reading.solution import SolutionInfo

if TYPE_CHECKING:
    from game.truco.spot import Spot
    from solver.truco.hand.openspiel_policy import EnginePolicy
    from solver.truco.reading.questions import Census, Question
    from solver.truco.reading.strategy import Strategy
    from solver.truco.vector.policy.lookup import LookedUp

KIND = "truco-solution"
VERSION = 1
MIN_VISITS = 100
"""Sampled visits of an infoset below which its values count as unmeasured."""


@dataclass(frozen=True)
class QuickSolution:
    """A policy of the full hand with the value of each action where it was measured."""

    info: SolutionInfo
    table: PolicyTable
    values: np.ndarray
    """float32, beside `table.probs`: expected utility of the deciding seat after the action, measured on
    MIN_VISITS visits or more; nan where there were fewer."""
    visits: np.ndarray
    """int32 per row: sampled visits behind the values, in proportion to the other seat's reach."""

    @cached_property
    def rules(self) -> Rules:
        """The rules it was solved for."""
        fields = dict(self.info.rules)
        return make_rules("base", fields)

    @cached_property
    def equity(self) -> EquityTable | None:
        """Worth of the scores after the hand, None where the utility is points."""
        rows = self.info.equity
        if rows is None:
            return None
        values = {(a, b): value for a, row in enumerate(rows) for b, value in enumerate(row)}
        return EquityTable(len(rows), values, self.info.equity_name or "solution's own table")

    @cached_property
    def policy(self) -> EnginePolicy:
        """An OpenSpiel policy over `python_truco` states with these rules."""
        from solver.truco.hand.openspiel_policy import table_as_policy

        return table_as_policy(self.rules, self.info.score, self.table)

    @cached_property
    def strategy(self) -> Strategy:
        """What kernels play by."""
        from solver.truco.reading.strategy import table_strategy

        return table_strategy(self.table)

    @property
    def complete(self) -> bool:
        """Whether hands can be played to their end by it."""
        return True

    @property
    def remark(self) -> str:
        """Nothing that its other fields do not say."""
        return ""

    def at(self, spot: Spot) -> QuickSolution:
        """The solution for a spot: this one."""
        return self

    def look_up(self, spot: Spot) -> LookedUp | None:
        """Nothing: values of a spot have to be simulated."""
        return None

    def counts(self, asked: Sequence[tuple[Question, str]]) -> list[Census] | None:
        """None: hands have to be played."""
        return None

    def trusts(self, row: int) -> bool:
        """Whether sampling visited a row (-1: none) often enough to believe its mix off the solution's own play."""
        return row >= 0 and bool(self.visits[row] >= MIN_VISITS)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file, atomically."""
        arrays = {**self.table._asdict(), "values": self.values, "visits": self.visits}
        write_arrays(path, KIND, VERSION, arrays, asdict(self.info))


def load_quick_solution(path: str | os.PathLike[str]) -> QuickSolution:
    """Opens a solution file. Raises StorageError (a ValueError) with the reason if it is damaged, of another kind
    or version, its content makes no sense or its rules do not match their hash, and for a file that cannot be read.
    """
    try:
        arrays, metadata = read_arrays(path, KIND, VERSION)
    except OSError as error:
        raise StorageError(f"cannot read solution {Path(path)}: {error.strerror}") from None
    found = metadata.get("key_version", KEY_VERSION)
    if type(found) is int and found != KEY_VERSION:
        raise StorageError(
            f"{Path(path)}: information key of version {found}, this program has version {KEY_VERSION}"
        )
    try:
        info = read_record(SolutionInfo, metadata)
        if arrays.keys() != {*PolicyTable._fields, "values", "visits"}:
            raise ValueError(f"has arrays {shortened(list(arrays))}")
        values, visits = arrays.pop("values"), arrays.pop("visits")
        solution = QuickSolution(info, PolicyTable(**arrays), values, visits)
        _check(solution)
    except ValueError as error:
        raise StorageError(f"{Path(path)}: not a solution of this program: {error}") from None
    if solution.rules.hash() != info.rules_hash:
        raise StorageError(f"{Path(path)}: its rules no longer mean what they meant when it was solved")
    return solution


def _check(solution: QuickSolution) -> None:
    """Raises ValueError saying what is wrong if it would not be safe, or make no sense, to play by a solution."""
    info, table = solution.info, solution.table
    rules_vector(solution.rules)
    if info.engine != "quick" or info.mano_value is None or info.mano_value_error is None:
        raise ValueError("engine or value is not what the quick engine writes")
    check_table(table)
    for name, array, dtype, like in (
        ("values", solution.values, np.float32, table.probs),
        ("visits", solution.visits, np.int32, table.keys),
    ):
        if array.dtype != dtype or array.shape != like.shape:
            raise ValueError(f"{name} is {array.dtype} {array.shape}, not {np.dtype(dtype)} {like.shape}")
    if np.any(np.isinf(solution.values)):
        raise ValueError("values are not all finite")
    if np.any(solution.visits < 0):
        raise ValueError("visits are not all 0 or more")
