"""Opens a file of any kind of solution; the only place that knows all kinds."""

from __future__ import annotations

import os

from solver.storage import OtherKindError
from solver.truco.reading.solution import Solution
from solver.truco.solutions.quick_solution import load_quick_solution


def load_solution(path: str | os.PathLike[str]) -> Solution:
    """Opens a solution of the quick engine or a policy of the vector engine, whole or compact.

    Raises StorageError (a ValueError) with the reason if it is neither or cannot be trusted.
    """
    try:
        return load_quick_solution(path)
    except OtherKindError as error:
        from solver.truco.solutions.vector_solution import load_compact_solution, load_vector_solution
        from solver.truco.vector.policy.compact import COMPACT
        from solver.truco.vector.policy.files import POLICY

        loaders = {POLICY: load_vector_solution, COMPACT: load_compact_solution}
        if error.kind not in loaders:
            raise
        return loaders[error.kind](path)
