"""Vectors of sixteen float32 in numba kernels against numpy."""

from __future__ import annotations

import numpy as np

from solver.jit import njit
from solver.truco.vector.cfr.lanes16 import (
    inverse,
    lane_sum,
    larger,
    load,
    prefetch,
    splat,
    store,
    store_first,
    transpose,
    where_above,
)


@njit
def _compute(a, b, least, out):
    x, y = load(a, 2), load(b, 3)
    prefetch(a, 2)
    store(out, 0, x + y)
    store(out, 16, x - y)
    store(out, 32, x * y)
    store(out, 48, larger(x, y))
    store(out, 64, where_above(x, splat(least), inverse(y), y))
    z = splat(least)
    z += x
    z *= y
    store(out, 80, z)
    return lane_sum(x)


@njit
def _store_first(values, n, out):
    store_first(out, 1, load(values, 0), n)


@njit
def _transpose(out, matrix):
    transpose(out, 16, matrix, 32)


def test_operations() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=(2, 20)).astype(np.float32) for _ in range(2))
    out = np.zeros(96, np.float32)
    least = np.float32(0.1)
    total = _compute(a, b, least, out)
    x, y = a.ravel()[2:18], b.ravel()[3:19]
    expected = np.concatenate(
        [x + y, x - y, x * y, np.maximum(x, y), np.where(x > least, 1 / y, y), (least + x) * y]
    )
    np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(total, x.sum(), rtol=1e-5)


def test_only_the_first_are_stored() -> None:
    values = np.arange(1, 17, dtype=np.float32)
    for n in range(17):
        out = np.zeros(20, np.float32)
        _store_first(values, n, out)
        np.testing.assert_array_equal(out, [0, *values[:n], *[0] * (19 - n)])


def test_transposition() -> None:
    matrix = np.random.default_rng(1).normal(size=(20, 16)).astype(np.float32)
    out = np.zeros((18, 16), np.float32)
    _transpose(out, matrix)
    np.testing.assert_array_equal(out[1:17], matrix[2:18].T)
    assert not out[0].any()
    assert not out[17].any()
