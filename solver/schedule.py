"""How variants of CFR weigh their past: one definition, for the flat solver and for the vector engine."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """How regrets and the average strategy forget their past; the exponents are those of the DCFR paper."""

    name: str
    alpha: float
    """Discount exponent of positive regrets; infinity keeps them whole."""
    beta: float
    """Discount exponent of negative regrets; infinity keeps them whole, minus infinity drops them."""
    gamma: float
    """Iteration t has weight t^gamma in the average strategy."""
    predictive: bool = False


CFR = Schedule("CFR", alpha=math.inf, beta=math.inf, gamma=0.0)
CFR_PLUS = Schedule("CFR+", alpha=math.inf, beta=-math.inf, gamma=1.0)
"""Tammelin 2014."""
DCFR = Schedule("DCFR", alpha=1.5, beta=0.0, gamma=2.0)
"""Brown and Sandholm 2019."""
PCFR_PLUS = Schedule("PCFR+", alpha=math.inf, beta=-math.inf, gamma=2.0, predictive=True)
"""Farina, Kroer and Sandholm 2021."""


def discount(exponent: float, t: int) -> float:
    """Factor of regrets of the iterations before t: (t - 1)^e / ((t - 1)^e + 1); 1 or 0 where e is infinite."""
    if math.isinf(exponent):
        return 1.0 if exponent > 0 else 0.0
    power = float(t - 1) ** exponent
    return power / (power + 1.0)
