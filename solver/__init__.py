"""Solvers: generic flat-tree CFR, the full-hand engines, and the solutions they write."""

from solver.numba_setup import prepare_numba

prepare_numba()

from solver.truco.solution import Solution, load_solution  # noqa: E402

__all__ = ["Solution", "load_solution"]
