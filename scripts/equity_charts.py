"""Draws equity tables and what moves over the scores as heat maps of own points against the other's."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

_FOOTER_LETTERS = 130


def draw_table(
    rows: Sequence[Sequence[float]],
    title: str,
    caption: str,
    signed: bool = False,
    axes_labels: tuple[str, str] = ("points of that player", "points of the other"),
    unit: str = "%",
) -> Figure:
    """A heat map of shares (row = points of the player it is about), in percent in the cells; nan stays hatched.

    `signed` values are coloured from brown (negative) over white to violet; others on cividis, from 0 to 100 or, if
    they are small, to the largest, with more shades for the smaller ones.
    """
    values = 100 * np.array(rows, np.float64)
    size = len(values)
    figure = Figure(figsize=(9.0, 8.0), layout="constrained")
    axes = figure.subplots()
    if signed:
        widest = float(np.nanmax(np.abs(values))) or 1.0
        scale, colours = mpl.colors.Normalize(-widest, widest), mpl.colormaps["PuOr"]
    else:
        most = float(np.nanmax(values)) if not np.isnan(values).all() else 100.0
        scale = mpl.colors.Normalize(0, 100) if most > 60 else mpl.colors.PowerNorm(0.5, 0, max(most, 1.0))
        colours = mpl.colormaps["cividis"]
    axes.set_facecolor("#EEEEEE")
    image = axes.imshow(values, cmap=colours, norm=scale, origin="lower")
    for own, other in np.ndindex(values.shape):
        value = values[own, other]
        if np.isnan(value):
            axes.text(other, own, "·", ha="center", va="center", color="#888888")
            continue
        red, green, blue, _ = colours(scale(value))
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        text = f"{value:+.1f}" if signed else f"{value:.1f}" if value < 99.95 else "100"
        axes.text(other, own, text, ha="center", va="center", fontsize=7, color="white" if dark else "black")
    axes.set_xticks(range(size))
    axes.set_yticks(range(size))
    axes.set_ylabel(axes_labels[0])
    axes.set_xlabel(axes_labels[1])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    figure.colorbar(image, ax=axes, shrink=0.85, label=unit)
    figure.suptitle("\n".join(textwrap.wrap(title, 90)), x=0.02, ha="left", fontweight="bold", fontsize=11)
    figure.supxlabel(
        "\n".join(textwrap.wrap(caption, _FOOTER_LETTERS)), x=0.02, ha="left", fontsize=7, color="#555555"
    )
    return figure
