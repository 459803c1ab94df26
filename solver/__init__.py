"""Solvers: generic flat-tree CFR, the full-hand engines, and the solutions they write."""

from solver.truco.solution import Solution, load_solution

__all__ = ["Solution", "load_solution"]
