"""Solvers: generic flat-tree CFR, the full-hand engines, and the solutions they write."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from solver.truco.reading.solution import Solution
    from solver.truco.solutions.load import load_solution

__all__ = ["Solution", "load_solution"]


def __getattr__(name: str) -> Any:
    """Imports the Truco solutions when they are asked for, so that other parts start without them."""
    if name == "load_solution":
        from solver.truco.solutions.load import load_solution

        return load_solution
    if name == "Solution":
        from solver.truco.reading.solution import Solution

        return Solution
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
