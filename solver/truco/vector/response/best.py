"""A best response as both exploiters give it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from solver.truco.vector.response.leaks import Gains, find_gains
from solver.truco.vector.response.trunk import Progress, TrunkResponse


@dataclass(frozen=True)
class BestResponse:
    """What a best-responding player gets against the policy."""

    player: int
    """0 mano, 1 pie."""
    value: float
    """His expected utility: points per hand, or 1 for a match won and -1 for one lost."""
    gains: Gains | None
    """Where he gains over the policy; None unless asked for."""


def run(
    response: TrunkResponse, progress: Progress | None, checkpoint: Path | None, gains: bool
) -> BestResponse:
    """Works out a best response; arguments and errors as of `cards.response.best_response`."""
    values = response.backward(response.leaves(progress, checkpoint))
    value = float(values["node", 0].sum() / response.game.holdings.num_deals)
    return BestResponse(response.own, value, find_gains(response, values) if gains else None)
