"""Opens a file of any kind of solution; the only place that knows all kinds. Imports the room of its kind only."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from game.truco.rules import PRESETS, Rules
from solver.records import shortened
from solver.storage import StorageError, stored_kind

if TYPE_CHECKING:
    from solver.truco.reading.solution import Solution

# As the modules that write them say; those need numba.
QUICK, POLICY, COMPACT = "truco-solution", "truco-vector-policy", "truco-vector-compact"


def shipped_policy(rules: Rules, score: tuple[int, int], utility: str) -> Path | None:
    """The compact policy that comes with this package for rules, score (mano, pie) and utility; None without one."""
    name = next((name for name, preset in PRESETS.items() if preset == rules), None)
    path = Path(__file__).parent.parent / "data" / f"{name}_{score[0]}-{score[1]}.trick1"
    return path if utility == "points" and path.exists() else None


def kind_of(path: str | os.PathLike[str]) -> str:
    """What a file holds, such as QUICK. Raises StorageError if it cannot be read or was not written here."""
    try:
        return stored_kind(path)
    except OSError as error:
        raise StorageError(f"cannot read solution {Path(path)}: {error.strerror}") from None


def load_solution(path: str | os.PathLike[str]) -> Solution:
    """Opens a solution of the quick engine or a policy of the vector engine, whole or compact.

    Raises StorageError (a ValueError) with the reason if it is neither or cannot be trusted.
    """
    kind = kind_of(path)
    if kind == QUICK:
        from solver.truco.solutions.quick_solution import load_quick_solution

        return load_quick_solution(path)
    if kind == POLICY:
        from solver.truco.solutions.vector_solution import load_vector_solution

        return load_vector_solution(path)
    if kind == COMPACT:
        from solver.truco.solutions.compact_solution import load_compact_solution

        return load_compact_solution(path)
    raise StorageError(f"{Path(path)}: holds a {shortened(kind)}, which is no solution")
