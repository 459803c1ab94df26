"""The hand of Truco as numba kernels, and policies on its states."""
