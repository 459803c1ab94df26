"""Draws what a survey found: stacked mixes, lines of Truco calls, heat maps; the figures of `truco plot`."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from game.truco.hand import PLAYER_NAMES
from scripts.survey import ORDER, STRENGTH_NOTE, UNSOLVED_NOTE, Survey, action_label, heading
from solver.truco.reading.questions import ACTIONS, RARE, Census

COLOURS = {
    "quiero": "#009E73",
    "no_quiero": "#E69F00",
    "envido": "#56B4E9",
    "real_envido": "#0072B2",
    "falta_envido": "#CC79A7",
    "truco": "#D55E00",
    "play": "#DDDDDD",
    "mazo": "#000000",
}
"""One colour for each action of the census in every picture: Okabe-Ito, with light grey for playing a card."""
_NEVER: dict[str, Any] = {"facecolor": "white", "edgecolor": "#BBBBBB", "hatch": "/////", "linewidth": 0.0}
_RARE: dict[str, Any] = {"facecolor": "none", "edgecolor": "white", "hatch": "....", "linewidth": 0.0}
_LINES: dict[int, dict[str, Any]] = {
    0: {"linestyle": "-", "marker": "o", "label": "leading the trick"},
    1: {"linestyle": "--", "marker": "s", "markerfacecolor": "white", "label": "after the other's card"},
}
_WIDTH = 12.0  # inches
_FOOTER_LETTERS = 190  # that fit in the width
_STYLE: Any = {
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "figure.labelsize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "hatch.linewidth": 0.8,
    "svg.hashsalt": "truco",
}


def rendered(figure: Figure, suffix: str) -> bytes:
    """The picture as `png` or `svg`; the same figure gives the same bytes."""
    picture = io.BytesIO()
    with mpl.rc_context(_STYLE):
        figure.savefig(picture, format=suffix, dpi=150, metadata={"Date": None} if suffix == "svg" else None)
    return picture.getvalue()


@mpl.rc_context(_STYLE)
def draw_stacks(survey: Survey, title: str) -> Figure:
    """Stacked shares of the actions by Envido value or strength, a panel for each question that is reached."""
    shown = [census for census in survey.censuses if census.seen.any()] or survey.censuses
    places = _places(shown)
    rows, columns = (1 + max(place[i] for place in places) for i in (0, 1))
    figure, grid = _new_figure(rows, columns, 3.3 if columns == 1 else 2.0)
    for place in set(np.ndindex(rows, columns)) - set(places):
        grid[place].set_axis_off()
    for place, census in zip(places, shown, strict=True):
        _draw_stack(grid[place], census)
        grid[place].set_title(heading(census), loc="left")
    figure.supylabel("share of decisions (%)")
    _finish(figure, grid, survey, title, _stack_legend(shown))
    return figure


def _places(censuses: list[Census]) -> list[tuple[int, int]]:
    """Row and column of each panel: seats side by side where both answer several questions."""
    if len(censuses) <= 2:
        return [(i, 0) for i in range(len(censuses))]
    if len({census.question.seat for census in censuses}) == 1:
        return [divmod(i, 2) for i in range(len(censuses))]
    names = list(dict.fromkeys(census.question.name for census in censuses))
    return [(names.index(census.question.name), census.question.seat) for census in censuses]


def _draw_stack(axes: Axes, census: Census) -> None:
    frame = census.frame()
    centres, width = _own_hand_axis(axes, census)
    bottom = np.zeros(len(frame))
    for name in _stacked(census):
        shares = 100 * frame[name].fillna(0.0).to_numpy()
        axes.bar(centres, shares, width, bottom, color=COLOURS[name], linewidth=0.0)
        bottom += shares
    axes.bar(centres[census.seen == 0], 100, width, **_NEVER)
    axes.bar(centres[(census.seen > 0) & (census.seen < RARE)], 100, width, **_RARE)
    axes.set_ylim(0, 100)
    axes.set_yticks([0, 25, 50, 75, 100])


def _stacked(census: Census) -> list[str]:
    return [name for name in ORDER if name in census.actions()]


def _stack_legend(censuses: Sequence[Census]) -> list[Patch]:
    """Every action drawn, from the top of the stacks, and what the hatches mean."""
    labels: dict[str, list[str]] = {name: [] for name in ORDER}
    for census in censuses:
        for name in _stacked(census):
            labels[name].append(action_label(census.question, name))
    patches = [
        Patch(color=COLOURS[name], label=", ".join(dict.fromkeys(labels[name])))
        for name in reversed(ORDER)
        if labels[name]
    ]
    return patches + _gap_legend(censuses, "#888888")


def _gap_legend(censuses: Sequence[Census], under_dots: str) -> list[Patch]:
    seen = np.concatenate([census.seen for census in censuses])
    patches = []
    if ((seen > 0) & (seen < RARE)).any():
        patches.append(Patch(**_RARE | {"facecolor": under_dots}, label=f"rare: under {RARE} decisions"))
    if (seen == 0).any():
        unsolved = any(((census.seen == 0) & (census.unknown > 0)).any() for census in censuses)
        patches.append(Patch(**_NEVER, label="never reached" + (", or unsolved" if unsolved else "")))
    return patches


@mpl.rc_context(_STYLE)
def draw_truco(survey: Survey) -> Figure:
    """Share of Truco calls by strength or Envido value, a row for each seat and a column for each trick."""
    seats = sorted({census.question.seat for census in survey.censuses})
    tricks = sorted({census.question.trick for census in survey.censuses})
    figure, grid = _new_figure(len(seats), len(tricks), 3.0)
    for census in survey.censuses:
        question = census.question
        axes = grid[seats.index(question.seat), tricks.index(question.trick)]
        centres, _ = _own_hand_axis(axes, census)
        shares = 100 * census.frame()["truco"].to_numpy()
        # No line across places that no hand can have; places never reached are nan and break it themselves.
        steps = np.diff(centres)
        breaks = np.flatnonzero(steps > 1.01 * steps.min()) + 1
        line = [np.insert(values, breaks, np.nan) for values in (centres, shares)]
        axes.plot(*line, color=COLOURS["truco"], **_LINES[question.on_table])
        rare = (census.seen > 0) & (census.seen < RARE)
        axes.plot(centres[rare], shares[rare], "x", color="black", markersize=9)
        axes.set_ylim(-3, 103)
        axes.set_title(f"{PLAYER_NAMES[question.seat].capitalize()}, trick {question.trick + 1}", loc="left")
        axes.grid(axis="y", color="#EEEEEE")
    figure.supylabel("share of own turns on which Truco is called (%)")
    legend = [Line2D([], [], color=COLOURS["truco"], **style) for style in _LINES.values()]
    legend.append(Line2D([], [], linestyle="", label="(gap: never reached, or no such hand)"))
    if any(((census.seen > 0) & (census.seen < RARE)).any() for census in survey.censuses):
        legend.append(
            Line2D([], [], color="black", marker="x", linestyle="", label=f"rare: under {RARE} decisions")
        )
    _finish(figure, grid, survey, "Truco calls on the own turn, no Truco called yet", legend)
    return figure


@mpl.rc_context(_STYLE)
def draw_heatmap(survey: Survey, action: str) -> Figure:
    """Share of one action of the census by Envido value and strength, a panel for each question.

    Raises ValueError if the action can be taken at none of the decisions.
    """
    possible = [name for name in ACTIONS if any(name in census.actions() for census in survey.censuses)]
    if action not in possible:
        raise ValueError(f"action {action} is never possible there, allowed: {', '.join(possible) or 'none'}")
    rows = len(survey.censuses)
    figure, grid = _new_figure(rows, 1, 3.6)
    for axes, census in zip(grid[:, 0], survey.censuses, strict=True):
        centres, width = _own_hand_axis(axes, census)
        floors = census.labels["strength"]
        shades = mpl.colormaps["cividis"](census.frame()[action].fillna(0.0))
        for kept, style in (
            (census.seen > 0, {"color": shades[census.seen > 0], "edgecolor": "white", "linewidth": 0.5}),
            (census.seen == 0, _NEVER),
            ((census.seen > 0) & (census.seen < RARE), _RARE),
        ):
            axes.bar(centres[kept], 0.1, width, floors[kept], **style)
        axes.set_ylim(0, 1)
        axes.set_yticks(np.arange(0, 1.05, 0.2))
        axes.set_title(heading(census), loc="left")
    figure.supylabel("strength")
    scale = mpl.cm.ScalarMappable(mpl.colors.Normalize(0, 100), "cividis")
    figure.colorbar(scale, ax=list(grid[:, 0]), label="share of decisions (%)", pad=0.01, aspect=15 * rows)
    legend = [
        *_gap_legend(survey.censuses, "#444444"),
        Patch(facecolor="white", edgecolor="#CCCCCC", label="blank: no such hand"),
    ]
    labels = {action_label(census.question, action) for census in survey.censuses}
    label = labels.pop() if len(labels) == 1 else "a raise"
    _finish(figure, grid, survey, f"How often {label} is chosen, by own Envido value and strength", legend)
    return figure


def _new_figure(rows: int, columns: int, height: float) -> tuple[Figure, Any]:
    """A figure and its panels, Axes [rows, columns], each `height` inches high."""
    figure = Figure(figsize=(_WIDTH, height * rows + 0.9), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def _own_hand_axis(axes: Axes, census: Census) -> tuple[np.ndarray, float]:
    """Sets up the horizontal axis; returns the centre of each row of the census and the width of a bar.

    Envido values 8-19 never occur: the axis has a gap there and is not to scale.
    """
    if "envido_value" not in census.labels:
        axes.set_xlim(0, 1)
        axes.set_xticks(np.arange(0, 1.05, 0.1))
        axes.set_xlabel("strength")
        return census.labels["strength"] + 0.05, 0.094
    values = np.unique(census.labels["envido_value"])
    place = axes.get_subplotspec()
    assert place is not None
    grid_columns = place.get_gridspec().ncols
    axes.set_xlim(-0.6, 22.6)
    axes.set_xticks(_envido_places(values), values, fontsize=8 if grid_columns < 3 else 6)
    axes.set_xlabel("own Envido value")
    axes.text(
        8, 0.5, "8-19 never occur", {"fontsize": 7, "color": "#999999"}, rotation=90, ha="center", va="center",
        transform=axes.get_xaxis_transform(),
    )  # fmt: skip
    return _envido_places(census.labels["envido_value"]), 0.9


def _envido_places(values: np.ndarray) -> np.ndarray:
    return np.where(values < 8, values, values - 11).astype(np.float64)


def _finish(figure: Figure, grid: Any, survey: Survey, title: str, legend: Sequence[Any]) -> None:
    """Adds title, legend above the panels and the footer that says what the picture rests on."""
    for upper, lower in zip(grid[:-1].flat, grid[1:].flat, strict=True):
        if upper.get_xlabel() == lower.get_xlabel():
            upper.set_xlabel("")
    for axes in grid.flat:
        for patch in axes.patches:
            patch.set_in_layout(False)  # bars keep inside their panel; measuring each takes seconds
    # The second line of the title keeps room for the legend.
    figure.suptitle(f"{title}\n", x=0.005, ha="left", fontsize=12, fontweight="bold", linespacing=1.6)
    top = 1 - 0.26 / figure.get_figheight()
    figure.legend(handles=legend, loc="upper left", bbox_to_anchor=(0, top), ncols=len(legend), frameon=False)
    notes = [survey.caption()]
    if any("strength" in census.labels for census in survey.censuses):
        notes.append(STRENGTH_NOTE)
    if any(census.unknown.any() for census in survey.censuses):
        notes.append(UNSOLVED_NOTE)
    notes += [heading(census) for census in survey.censuses if not census.seen.any()]
    footer = "\n".join(line for note in notes for line in textwrap.wrap(note, _FOOTER_LETTERS))
    figure.supxlabel(footer, x=0.005, ha="left", fontsize=7, color="#555555")
