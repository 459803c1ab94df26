"""How iterations weigh: DCFR and CFR+ as one small frozen step each."""

from __future__ import annotations

from typing import NamedTuple


class Step(NamedTuple):
    """How one iteration weighs: regrets R <- R x (positive or negative factor) + r, averages S <- S + average x reach
    x strategy; with `floor` negative regrets become 0 (CFR+).
    """

    positive: float
    negative: float
    average: float
    floor: bool


SCHEDULES = ("dcfr", "cfr+")


def schedule_step(schedule: str, iteration: int) -> Step:
    """How iteration 1, 2, ... weighs regrets and averages.

    `dcfr`: DCFR(1.5, 0, 2) of Brown and Sandholm 2019; `cfr+`: CFR+ of Tammelin 2014 with quadratic averaging. The
    average's discount ((t - 1) / t)^2 is written as growing weights t^2. Raises ValueError naming an
    unknown schedule.
    """
    weight = float(iteration) ** 2
    if schedule == "cfr+":
        return Step(1.0, 1.0, weight, True)
    if schedule != "dcfr":
        raise ValueError(f"schedule {schedule!r} is unknown, allowed: {', '.join(SCHEDULES)}")
    power = float(iteration - 1) ** 1.5
    return Step(power / (power + 1.0), 0.5, weight, False)
