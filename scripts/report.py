"""What a review says, as tables and notes for people in their language, as Markdown, and as JSON for machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from game.truco.actions import action_name
from game.truco.hand import PLAYER_NAMES
from game.truco.record_text import Fault
from game.truco.spot_id import format_rules, format_spot
from scripts.words import Words
from solver.truco.reading.grading import Grade, Loss, symbol
from solver.truco.reading.review import HandReview, KindSummary, Review, Split, summary
from solver.truco.reading.solution import UTILITIES

PERCENT = {"match": 100.0, "points": 1.0}
"""What a value of the unit is multiplied by to be shown."""


@dataclass(frozen=True)
class Section:
    """A table with its heading; cells are texts."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    left: tuple[int, ...] = ()
    """Columns aligned left, beside the first."""
    spots: list[str] | None = None
    """The spot ID of each row."""


@dataclass(frozen=True)
class Report:
    """A review in the user's language."""

    title: str
    sections: list[Section]
    notes: list[str]
    spot: str
    """What a spot is called."""


def make_report(
    review: Review,
    by: str,
    thresholds: Sequence[float],
    top: int,
    equity: str,
    solutions: Sequence[str],
    ignored: Sequence[Fault],
    words: Words,
) -> Report:
    """Worst decisions first, then sums by kind, then luck and play hand by hand, then what has to be known of them.

    `by` is the unit (`points` or `match`) of marks, order and luck; `top` 0 lists every decision that cost something.
    """
    names = review.record.players
    player = names[review.player]
    title = words(
        "review.title", player=player, other=names[1 - review.player], rules=review.record.rules.name()
    )
    notes = _notes(review, by, thresholds, equity, solutions, words)
    notes += [words("review.note_ignored", line=fault.line, reason=fault.reason) for fault in ignored]
    spot = words("review.column_spot")
    if not review.grades():
        return Report(title, [], [words("review.nothing", player=player), *notes], spot)
    sections = [_kinds(review, words), _luck(review, by, words)]
    worst = worst_first(review, by)
    if worst:
        sections.insert(0, _worst(worst, by, thresholds, top, words))
    elif any(grade.loss(by) is not None for _, grade in review.grades()):
        notes.insert(0, words("review.no_cost"))
    return Report(title, sections, notes, spot)


def worst_first(review: Review, by: str) -> list[tuple[HandReview, Grade, Loss]]:
    """Decisions that cost something in the unit, with the loss in it."""
    losses = [(hand, grade, grade.loss(by)) for hand, grade in review.grades()]
    found = [(hand, grade, loss) for hand, grade, loss in losses if loss is not None and loss.cost > 0]
    return sorted(found, key=lambda item: -item[2].cost)


def _worst(
    worst: list[tuple[HandReview, Grade, Loss]], by: str, thresholds: Sequence[float], top: int, words: Words
) -> Section:
    shown = worst[:top] if top else worst
    spots = [format_spot(grade.spot) for _, grade, _ in shown]
    rows = []
    for hand, grade, loss in shown:
        share = "" if grade.probability is None else f"{grade.probability:.0%}"
        costs = [
            "" if other is None else _number(other.cost, unit)
            for unit, other in (("points", grade.points), ("match", grade.match))
        ]
        rows.append(
            [
                symbol(loss.cost, thresholds),
                str(hand.recorded.number),
                words.action(grade.action),
                words.action(loss.best),
                share,
                *costs,
            ]
        )
    columns = ["mark", "hand", "done", "best", "mix", "points", "match"]
    key = "review.worst" if len(shown) == len(worst) else "review.worst_part"
    title = words(key, shown=len(shown), all=len(worst))
    return Section(title, [words(f"review.column_{name}") for name in columns], rows, (2, 3), spots)


def _kinds(review: Review, words: Words) -> Section:
    columns = [words("review.column_kind"), words("review.column_decisions")]
    for unit in UTILITIES:
        columns += [words(f"review.column_{unit}"), words("review.column_rough")]
    points, match = (summary(review, unit) for unit in UTILITIES)
    rows = [
        [words(f"kinds.{p.kind.value}"), str(p.decisions), *_costs([p], "points"), *_costs([m], "match")]
        for p, m in zip(points, match, strict=True)
        if p.decisions
    ]
    decisions = str(len(review.grades()))
    rows.append([words("review.all"), decisions, *_costs(points, "points"), *_costs(match, "match")])
    return Section(words("review.kinds"), columns, rows)


def _costs(kinds: Sequence[KindSummary], unit: str) -> list[str]:
    """Cost of the decisions and what the mix is worth less than the best, over kinds; nothing if not known."""
    if not any(k.judged for k in kinds):
        return ["", ""]
    return [_number(sum(k.cost for k in kinds), unit), _number(sum(k.mix_below_best for k in kinds), unit)]


def _number(value: float, unit: str, sign: str = "") -> str:
    """A value in points, or a chance in percent."""
    return f"{PERCENT[unit] * value:{sign}.{2 if unit == 'points' else 1}f}"


def _luck(review: Review, by: str, words: Words) -> Section:
    columns = ["hand", "score", "result", "luck", "play", "error"]
    rows = []
    for hand in review.hands:
        recorded = hand.recorded
        own, their = recorded.scores[review.player], recorded.scores[1 - review.player]
        cells = _split_cells(hand.split(by), by)
        if hand.won is None:
            cells[0] = words("review.unfinished")
        rows.append([str(recorded.number), f"{own}-{their}", *cells])
    total, count = review.total(by)
    rows.append([words("review.all"), "", *_split_cells(total if count else None, by)])
    title = f"{words('review.luck')}, {words(f'review.unit_{by}')}"
    return Section(title, [words(f"review.column_{name}") for name in columns], rows)


def _split_cells(split: Split | None, unit: str) -> list[str]:
    if split is None:
        return ["", "", "", ""]
    return [*(_number(value, unit, "+") for value in split[:3]), _number(split.error, unit)]


def _notes(
    review: Review, by: str, thresholds: Sequence[float], equity: str, solutions: Sequence[str], words: Words
) -> list[str]:
    player = review.record.players[review.player]
    marks = [f"{PERCENT[by] * cost:g}" for cost in thresholds]
    notes = []
    if review.grades():
        notes += [
            words(
                "review.note_cost",
                unit=words(f"review.unit_{by}"),
                first=marks[0],
                second=marks[1],
                third=marks[2],
            ),
            words("review.note_rough"),
            words(
                "review.note_luck",
                player=player,
                match=review.total("match")[1],
                points=review.total("points")[1],
                all=len(review.hands),
            ),
            words("review.note_luck_points"),
            words("review.note_luck_match", equity=equity),
            *(words("review.note_solution", solution=line) for line in solutions),
        ]
    if review.unknown:
        notes.append(words("review.note_unknown", player=player, hands=review.unknown))
    ungraded = sum(grade.loss(by) is None for _, grade in review.grades())
    if ungraded:
        notes.append(words("review.note_ungraded", decisions=ungraded))
    return notes


def print_report(report: Report) -> None:
    """Prints the report for people."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.print(report.title, style="bold", markup=False, highlight=False)
    for section in report.sections:
        table = Table(title=section.title, title_justify="left")
        for number, column in enumerate(section.columns):
            table.add_column(column, justify="left" if number == 0 or number in section.left else "right")
        for row in section.rows:
            table.add_row(*row)
        console.print(table)
        # Unbroken, to be copied.
        for spot in section.spots or []:
            console.print(spot, markup=False, highlight=False, soft_wrap=True)
    for note in report.notes:
        console.print(note, style="dim", markup=False, highlight=False)


def as_markdown(report: Report) -> str:
    """The report as Markdown."""
    lines = [f"# {_escaped(report.title)}", ""]
    for section in report.sections:
        columns, rows = section.columns, section.rows
        if section.spots is not None:
            rows = [[spot, *row] for spot, row in zip(section.spots, rows, strict=True)]
            columns = [report.spot, *columns]
        left = {0, *section.left} if section.spots is None else {0, *(k + 1 for k in (0, *section.left))}
        lines += [f"## {_escaped(section.title)}", "", _row(columns)]
        lines.append("|" + "|".join("---" if k in left else "---:" for k in range(len(columns))) + "|")
        lines += [*map(_row, rows), ""]
    return "\n".join([*lines, *(f"- {_escaped(note)}" for note in report.notes)]) + "\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_escaped(cell) for cell in cells) + " |"


def _escaped(text: str) -> str:
    for sign in ("\\", "|", "*", "_", "`", "<", "~"):
        text = text.replace(sign, f"\\{sign}")
    return text


def as_json(
    review: Review,
    by: str,
    thresholds: Sequence[float],
    equity: str,
    solutions: Sequence[str],
    samples: int,
    seed: int,
    ignored: Sequence[Fault],
) -> dict[str, Any]:
    """The review as JSON values; probabilities are 0 to 1, decisions stand worst first, then the others in order."""
    order = {id(grade): place for place, (_, grade, _) in enumerate(worst_first(review, by))}
    decisions = sorted(review.grades(), key=lambda item: order.get(id(item[1]), len(order)))
    record = review.record
    return {
        "rules": format_rules(record.rules),
        "players": list(record.players),
        "player": record.players[review.player],
        "by": by,
        "marks": list(thresholds),
        "samples": samples,
        "seed": seed,
        "equity": equity,
        "solutions": list(solutions),
        "hands_without_cards": review.unknown,
        "ignored_lines": [fault._asdict() for fault in ignored],
        "kinds": {
            unit: [row._asdict() | {"kind": row.kind.value} for row in summary(review, unit)]
            for unit in UTILITIES
        },
        "total": {
            unit: {"hands": count, **split._asdict()}
            for unit in UTILITIES
            for split, count in [review.total(unit)]
        },
        "hands": [_hand_as_json(review, hand) for hand in review.hands],
        "decisions": [_grade_as_json(hand, grade, by, thresholds) for hand, grade in decisions],
    }


def _hand_as_json(review: Review, hand: HandReview) -> dict[str, Any]:
    recorded = hand.recorded
    return {
        "number": recorded.number,
        "seat": PLAYER_NAMES[recorded.seat(review.player)],
        "score": [recorded.scores[review.player], recorded.scores[1 - review.player]],
        "won": None if hand.won is None else list(hand.won),
        **{
            unit: None if split is None else split._asdict()
            for unit in UTILITIES
            for split in [hand.split(unit)]
        },
    }


def _grade_as_json(hand: HandReview, grade: Grade, by: str, thresholds: Sequence[float]) -> dict[str, Any]:
    loss = grade.loss(by)
    return {
        "hand": hand.recorded.number,
        "spot": format_spot(grade.spot),
        "kind": grade.kind.value,
        "action": action_name(grade.action),
        "probability": grade.probability,
        "mark": None if loss is None else symbol(loss.cost, thresholds),
        **{
            unit: None
            if known is None
            else {
                "best": action_name(known.best),
                "best_value": known.best_value,
                "value": known.value,
                "mix_value": known.expected,
                "cost": known.cost,
                "error": known.error,
            }
            for unit in UTILITIES
            for known in [grade.loss(unit)]
        },
    }
