"""Regret matching and the update of regrets and averages, for rows of any length and for sixteen holdings at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solver.jit import inner, kernel
from solver.truco.vector.cfr.lanes16 import (
    inverse,
    larger,
    load,
    splat,
    store,
    store_first,
    where_above,
)
from solver.truco.vector.model.forest import at_

LEAST = np.float32(1e-30)
"""Sums of regrets or shares up to this count as none: the reciprocal of a smaller one may overflow."""


class Update(NamedTuple):
    """One player's update in one iteration: the tables and how it weighs, see Step."""

    regrets: np.ndarray
    """float32 [entries and spare]; sums, those of the average strategy, alike."""
    sums: np.ndarray
    own: int
    """The updated player, 0 mano or 1 pie."""
    positive: float
    negative: float
    average: float
    floor: bool


@kernel
def match_regrets(
    regrets: np.ndarray, begin: int, stride: int, actions: int, n: int, mix: np.ndarray, row: int
) -> None:
    """Regret matching over two to four actions; uniform where no regret is positive (above LEAST).

    mix[a x row + k] from regrets[begin + a x stride + k] for k < n; both float32, flat. Actions are written out so
    that the loop over holdings becomes vector instructions.
    """
    zero = np.float32(0.0)
    if actions == 2:
        even = np.float32(0.5)
        for k in range(n):
            p0 = max(regrets[at_(begin + k)], zero)
            p1 = max(regrets[at_(begin + stride + k)], zero)
            total = p0 + p1
            scale = np.float32(1.0) / total if total > LEAST else zero
            spare = zero if total > LEAST else even
            mix[at_(k)] = p0 * scale + spare
            mix[at_(row + k)] = p1 * scale + spare
    elif actions == 3:
        even = np.float32(1.0 / 3.0)
        for k in range(n):
            p0 = max(regrets[at_(begin + k)], zero)
            p1 = max(regrets[at_(begin + stride + k)], zero)
            p2 = max(regrets[at_(begin + 2 * stride + k)], zero)
            total = p0 + p1 + p2
            scale = np.float32(1.0) / total if total > LEAST else zero
            spare = zero if total > LEAST else even
            mix[at_(k)] = p0 * scale + spare
            mix[at_(row + k)] = p1 * scale + spare
            mix[at_(2 * row + k)] = p2 * scale + spare
    else:
        even = np.float32(0.25)
        for k in range(n):
            p0 = max(regrets[at_(begin + k)], zero)
            p1 = max(regrets[at_(begin + stride + k)], zero)
            p2 = max(regrets[at_(begin + 2 * stride + k)], zero)
            p3 = max(regrets[at_(begin + 3 * stride + k)], zero)
            total = p0 + p1 + p2 + p3
            scale = np.float32(1.0) / total if total > LEAST else zero
            spare = zero if total > LEAST else even
            mix[at_(k)] = p0 * scale + spare
            mix[at_(row + k)] = p1 * scale + spare
            mix[at_(2 * row + k)] = p2 * scale + spare
            mix[at_(3 * row + k)] = p3 * scale + spare


@inner(fastmath=True)
def update(
    learn: Update, begin: int, stride: int, actions: int, n: int, gain: np.ndarray, mix: np.ndarray, row: int,
    reach: np.ndarray, own: int, value: np.ndarray,
) -> None:  # fmt: skip
    """Adds the regrets of the gains and the average-strategy weights of the mix, for n holdings of one node.

    Action a of holding k: entry begin + a x stride + k of the tables, gain[a x row + k], mix[a x row + k]; own reach
    is reach[own + k]. All float32; value [n or more] is work space.
    """
    positive, negative, average = (
        np.float32(learn.positive),
        np.float32(learn.negative),
        np.float32(learn.average),
    )
    regrets, sums, zero = learn.regrets, learn.sums, np.float32(0.0)
    lowest = zero if learn.floor else np.float32(-np.inf)
    for k in range(n):
        value[at_(k)] = mix[at_(k)] * gain[at_(k)]
    for a in range(1, actions):
        for k in range(n):
            value[at_(k)] += mix[at_(a * row + k)] * gain[at_(a * row + k)]
    for a in range(actions):
        at, m = begin + a * stride, a * row
        for k in range(n):
            old = regrets[at_(at + k)]
            fresh = max(old, zero) * positive + min(old, zero) * negative + gain[at_(m + k)] - value[at_(k)]
            regrets[at_(at + k)] = max(fresh, lowest)
        for k in range(n):
            sums[at_(at + k)] += average * reach[at_(own + k)] * mix[at_(m + k)]


@inner(fastmath=True)
def match16(
    regrets: np.ndarray, begin: int, stride: int, actions: int, mix: np.ndarray, to: int, row: int
) -> None:
    """match_regrets of two or three actions for 16 holdings; of those that do not exist it makes no sense."""
    zero, least = splat(np.float32(0.0)), splat(LEAST)
    p0 = larger(load(regrets, begin), zero)
    p1 = larger(load(regrets, begin + stride), zero)
    sum_ = p0 + p1
    if actions == 2:
        scale = where_above(sum_, least, inverse(sum_), zero)
        spare = where_above(sum_, least, zero, splat(np.float32(0.5)))
        store(mix, to, p0 * scale + spare)
        store(mix, to + row, p1 * scale + spare)
    else:
        p2 = larger(load(regrets, begin + 2 * stride), zero)
        sum_ = sum_ + p2
        scale = where_above(sum_, least, inverse(sum_), zero)
        spare = where_above(sum_, least, zero, splat(np.float32(1.0 / 3.0)))
        store(mix, to, p0 * scale + spare)
        store(mix, to + row, p1 * scale + spare)
        store(mix, to + 2 * row, p2 * scale + spare)


@inner(fastmath=True)
def update16(
    learn: Update, begin: int, stride: int, actions: int, n: int, gain: np.ndarray, of: int, mix: np.ndarray, to: int,
    row: int, reach: np.ndarray, own: int,
) -> None:  # fmt: skip
    """As `update`, for 16 holdings of which the first n exist: gain[of + a x row + k], mix[to + a x row + k]."""
    zero = splat(np.float32(0.0))
    positive, negative = splat(np.float32(learn.positive)), splat(np.float32(learn.negative))
    weight = splat(np.float32(learn.average)) * load(reach, own)
    value = load(mix, to) * load(gain, of)
    for a in range(1, actions):
        value = value + load(mix, to + a * row) * load(gain, of + a * row)
    for a in range(actions):
        at = begin + a * stride
        old = load(learn.regrets, at)
        above = larger(old, zero)
        fresh = above * positive + (old - above) * negative + load(gain, of + a * row) - value
        if learn.floor:
            fresh = larger(fresh, zero)
        store_first(learn.regrets, at, fresh, n)
        store_first(learn.sums, at, load(learn.sums, at) + weight * load(mix, to + a * row), n)
