"""Solvers: generic flat-tree CFR, the full-hand engines, and the solutions they write."""

from typing import TYPE_CHECKING, Any

from solver.numba_setup import prepare_numba

if TYPE_CHECKING:
    from solver.truco.solution import Solution, load_solution

__all__ = ["Solution", "load_solution"]

prepare_numba()


def __getattr__(name: str) -> Any:
    """Imports the Truco solutions when they are asked for, so that other parts start without them."""
    if name in __all__:
        from solver.truco import solution

        return getattr(solution, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
