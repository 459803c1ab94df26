"""Solvers: generic flat-tree CFR, the full-hand engines, and the solutions they write."""

from solver.kernel_cache import use_kernel_cache

use_kernel_cache()

from solver.truco.solution import Solution, load_solution  # noqa: E402

__all__ = ["Solution", "load_solution"]
