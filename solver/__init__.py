"""Solvers: generic flat-tree CFR, the full-hand engines, and the solutions they write."""
