"""Regret matching and the update of regrets and averages, for rows of any length and for sixteen holdings at once."""

from __future__ import annotations

import numpy as np

from solver.jit import kernel
from solver.truco.vector.cfr.lanes16 import (
    inverse,
    larger,
    load,
    splat,
    store,
    store_first,
    where_above,
)
from solver.truco.vector.cfr.schedule import Step
from solver.truco.vector.model.forest import at_

LEAST = np.float32(1e-30)
"""Sums of regrets or shares up to this count as none: the reciprocal of a smaller one may overflow."""


@kernel
def match_regrets(
    regrets: np.ndarray, begin: int, stride: int, actions: int, n: int, mix: np.ndarray, to: int, row: int
) -> None:
    """Regret matching over two to four actions; uniform where no regret is positive (above LEAST).

    mix[to + a x row + k] from regrets[begin + a x stride + k] for k < n; actions are written out so that the
    loop over holdings becomes vector instructions.
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
            mix[at_(to + k)] = p0 * scale + spare
            mix[at_(to + row + k)] = p1 * scale + spare
    elif actions == 3:
        even = np.float32(1.0 / 3.0)
        for k in range(n):
            p0 = max(regrets[at_(begin + k)], zero)
            p1 = max(regrets[at_(begin + stride + k)], zero)
            p2 = max(regrets[at_(begin + 2 * stride + k)], zero)
            total = p0 + p1 + p2
            scale = np.float32(1.0) / total if total > LEAST else zero
            spare = zero if total > LEAST else even
            mix[at_(to + k)] = p0 * scale + spare
            mix[at_(to + row + k)] = p1 * scale + spare
            mix[at_(to + 2 * row + k)] = p2 * scale + spare
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
            mix[at_(to + k)] = p0 * scale + spare
            mix[at_(to + row + k)] = p1 * scale + spare
            mix[at_(to + 2 * row + k)] = p2 * scale + spare
            mix[at_(to + 3 * row + k)] = p3 * scale + spare


@kernel
def update(
    regrets: np.ndarray, sums: np.ndarray, begin: int, stride: int, actions: int, n: int, gain: np.ndarray, of: int,
    mix: np.ndarray, to: int, row: int, reach: np.ndarray, own: int, step: Step, value: np.ndarray,
) -> None:  # fmt: skip
    """Adds the regrets of the gains and the average-strategy weights of the mix; or trims the average, see Step.

    Action a of holding k: gain[of + a x row + k], mix[to + a x row + k]; own reach[own + k]; value: work space.
    """
    positive, negative, average = (
        np.float32(step.positive),
        np.float32(step.negative),
        np.float32(step.average),
    )
    zero = np.float32(0.0)
    if step.trim > 0.0:
        for k in range(n):
            total = zero
            for a in range(actions):
                total += sums[at_(begin + a * stride + k)]
            for a in range(actions):
                if sums[at_(begin + a * stride + k)] < np.float32(step.trim) * total:
                    sums[at_(begin + a * stride + k)] = zero
        return
    lowest = zero if step.floor else np.float32(-np.inf)
    for k in range(n):
        value[at_(k)] = mix[at_(to + k)] * gain[at_(of + k)]
    for a in range(1, actions):
        for k in range(n):
            value[at_(k)] += mix[at_(to + a * row + k)] * gain[at_(of + a * row + k)]
    for a in range(actions):
        at, m, g = begin + a * stride, to + a * row, of + a * row
        for k in range(n):
            old = regrets[at_(at + k)]
            fresh = max(old, zero) * positive + min(old, zero) * negative + gain[at_(g + k)] - value[at_(k)]
            regrets[at_(at + k)] = max(fresh, lowest)
        for k in range(n):
            sums[at_(at + k)] += average * reach[at_(own + k)] * mix[at_(m + k)]


@kernel
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


@kernel
def update16(
    regrets: np.ndarray, sums: np.ndarray, begin: int, stride: int, actions: int, n: int, gain: np.ndarray, of: int,
    mix: np.ndarray, to: int, row: int, reach: np.ndarray, own: int, step: Step,
) -> None:  # fmt: skip
    """As `update`, for up to 16 holdings of which the first n exist."""
    zero = splat(np.float32(0.0))
    if step.trim > 0.0:
        all_ = zero
        for a in range(actions):
            all_ = all_ + load(sums, begin + a * stride)
        least = all_ * splat(np.float32(step.trim))
        for a in range(actions):
            old = load(sums, begin + a * stride)
            store_first(sums, begin + a * stride, where_above(least, old, zero, old), n)
        return
    positive, negative = splat(np.float32(step.positive)), splat(np.float32(step.negative))
    weight = splat(np.float32(step.average)) * load(reach, own)
    value = load(mix, to) * load(gain, of)
    for a in range(1, actions):
        value = value + load(mix, to + a * row) * load(gain, of + a * row)
    for a in range(actions):
        at = begin + a * stride
        old = load(regrets, at)
        above = larger(old, zero)
        fresh = above * positive + (old - above) * negative + load(gain, of + a * row) - value
        if step.floor:
            fresh = larger(fresh, zero)
        store_first(regrets, at, fresh, n)
        store_first(sums, at, load(sums, at) + weight * load(mix, to + a * row), n)
