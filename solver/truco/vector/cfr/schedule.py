"""How iterations of the vector engine weigh: a schedule's factors as one small frozen step each."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from solver.schedule import CFR_PLUS, DCFR, discount

_SCHEDULES = {"dcfr": DCFR, "cfr+": replace(CFR_PLUS, gamma=2.0)}
SCHEDULES = tuple(_SCHEDULES)
"""DCFR(1.5, 0, 2), and CFR+ with quadratic averaging."""


class Step(NamedTuple):
    """How one iteration weighs: regrets R <- R x (positive or negative factor) + r, averages S <- S + average x reach
    x strategy; with `floor` negative regrets become 0 (CFR+).
    """

    positive: float
    negative: float
    average: float
    floor: bool


def schedule_step(schedule: str, iteration: int) -> Step:
    """How iteration 1, 2, ... weighs regrets and averages.

    The average's discount ((t - 1) / t)^gamma is written as growing weights t^gamma. Raises ValueError naming an
    unknown schedule.
    """
    found = _SCHEDULES.get(schedule)
    if found is None:
        raise ValueError(f"schedule {schedule!r} is unknown, allowed: {', '.join(SCHEDULES)}")
    return Step(
        discount(found.alpha, iteration), discount(found.beta, iteration), float(iteration) ** found.gamma,
        found.beta == -math.inf,
    )  # fmt: skip
