"""Solving until enough: for a time, a number of iterations, or an exploitability that is measured on the way.

Files are none of its business: what is to be kept is handed to a callable.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from solver.truco.vector.cfr.average import Policy
from solver.truco.vector.cfr.schedule import schedule_step
from solver.truco.vector.cfr.solver import VectorSolver

CHECKPOINT_SECONDS = 600.0
"""At most so much work is lost when the program is killed, besides the iteration it was in."""
FIRST_CHECK = 10
"""Iterations before exploitability is first measured."""

Curve = tuple[tuple[int, float, float], ...]
"""Measurements: (iterations, seconds of solving, exploitability)."""


@dataclass(frozen=True)
class Goal:
    """When to stop: after seconds of this run, or instead after iterations in all; earlier if `until` is reached."""

    seconds: float = 0.0
    iterations: int | None = None
    until: float | None = None
    """Exploitability, as it is measured."""


class Spent(NamedTuple):
    """What solving has taken so far, over all runs."""

    seconds: float = 0.0
    """Measurements apart."""
    curve: Curve = ()


class Progress(NamedTuple):
    """How a run stands after an iteration."""

    share: float
    """Of the goal, without `until`."""
    seconds: float
    """Of this iteration."""
    values: np.ndarray
    """Expected utilities of mano and pie at the current strategies, each when it was updated."""
    curve: Curve


def iterate(solver: VectorSolver, iterations: int, schedule: str = "dcfr") -> np.ndarray:
    """So many more iterations; the utilities of the last one, see VectorSolver.iterate."""
    values = np.zeros(2)
    for _ in range(iterations):
        values = solver.iterate(schedule_step(schedule, solver.iterations + 1))
    return values


def solve(
    solver: VectorSolver,
    schedule: str,
    goal: Goal,
    spent: Spent | None = None,
    measure: Callable[[Policy], float] | None = None,
    keep: Callable[[Spent], None] | None = None,
    show: Callable[[Progress], None] | None = None,
) -> Spent:
    """Iterates until the goal is reached; what it has taken, with that of runs before.

    `measure` tells exploitability, and is needed with `goal.until`: then it is called now and then (`check_is_due`)
    and at the end. `keep` is called every CHECKPOINT_SECONDS and at the end. Raises ValueError for an unknown
    schedule.
    """
    before, curve = spent or Spent()
    begin = last = time.monotonic()
    checking = 0.0  # seconds of this run that went into measuring
    while True:
        now = time.monotonic()
        enough = solver.iterations >= goal.iterations if goal.iterations else now - begin >= goal.seconds
        solving = now - begin - checking
        if goal.until is not None and (
            enough or check_is_due(curve, solver.iterations, goal.until, solving, checking)
        ):
            if not curve or curve[-1][0] < solver.iterations:
                if measure is None:
                    raise TypeError("a goal of exploitability needs something that measures it")
                found = measure(Policy.of(solver))
                curve = (*curve, (solver.iterations, before + solving, found))
                checking += time.monotonic() - now
            enough = enough or curve[-1][2] <= goal.until
        if keep is not None and (enough or time.monotonic() - last >= CHECKPOINT_SECONDS):
            keep(Spent(before + solving, curve))
            last = time.monotonic()
        if enough:
            return Spent(before + solving, curve)
        now = time.monotonic()
        values = iterate(solver, 1, schedule)
        if show is not None:
            done = time.monotonic()
            share = solver.iterations / goal.iterations if goal.iterations else (done - begin) / goal.seconds
            show(Progress(share, done - now, values, curve))


def check_is_due(curve: Curve, iterations: int, until: float, solving: float, checking: float) -> bool:
    """Whether to measure now: when the target may be reached if exploitability falls like 1 / iterations, or after
    half as many iterations again, but never for more than a tenth of the time; seconds of this run.
    """
    if not curve:
        return iterations >= FIRST_CHECK
    before, _, found = curve[-1]
    return 9 * checking <= solving and iterations >= before * min(found / until, 1.5)
