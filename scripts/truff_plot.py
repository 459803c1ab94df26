"""Pictures of the `truff` command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from game.truff.cards import SUIT_SYMBOLS

if TYPE_CHECKING:
    from solver.truff.advice import BidAdvice

_NAMES = [*SUIT_SYMBOLS, "NT"]
_TRICK_BIDS = 3


def draw_bids(ranked: list[BidAdvice], out: Path) -> None:
    """Draw expected points by denomination and number, and the tricks won with the three best contracts.

    ranked: one advice per contract, best first. out: file whose suffix names the format.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), width_ratios=(3, 2), layout="constrained")
    grid = np.full((5, 13), np.nan)
    for bid in ranked:
        grid[bid.denomination, bid.number - 1] = bid.points
    limit = max(1.0, float(np.nanmax(np.abs(np.clip(grid, -5, 5)))))
    image = left.imshow(grid, cmap="RdBu", vmin=-limit, vmax=limit, aspect="auto", origin="lower")
    for bid in ranked:
        weight = "bold" if bid is ranked[0] else "normal"
        colour = "white" if abs(bid.points) > 0.6 * limit else "black"
        left.text(
            bid.number - 1,
            bid.denomination,
            f"{bid.points:+.1f}",
            ha="center",
            va="center",
            fontsize=9,
            fontweight=weight,
            color=colour,
        )
    best = ranked[0]
    left.add_patch(
        plt.Rectangle((best.number - 1.5, best.denomination - 0.5), 1, 1, fill=False, edgecolor="black", lw=2)
    )
    left.set_xticks(range(13), [str(n) for n in range(1, 14)])
    left.set_yticks(range(5), _NAMES)
    left.set_xlabel("number bid")
    left.set_title("expected points of each contract (blank: the cards cannot show it)", fontsize=10)
    figure.colorbar(image, ax=left, label="points", extend="both" if np.nanmin(grid) < -limit else "neither")

    width = 0.8 / _TRICK_BIDS
    for k, bid in enumerate(ranked[:_TRICK_BIDS]):
        name = f"{bid.number} {_NAMES[bid.denomination]}, made {bid.made:.0%}"
        right.bar(np.arange(len(bid.tricks)) + (k - 1) * width, bid.tricks, width, label=name)
    most = max(i for bid in ranked[:_TRICK_BIDS] for i, share in enumerate(bid.tricks) if share > 0.001)
    right.set_xlim(-0.6, most + 0.6)
    right.set_xticks(range(most + 1))
    right.set_xlabel("tricks won")
    right.set_ylabel("share of deals")
    right.set_title("tricks won with the best contracts", fontsize=10)
    right.legend(frameon=False, fontsize=9)
    figure.savefig(out, dpi=130)
    plt.close(figure)
