"""`truco review`: the decisions of a recorded match, what they cost, and what was luck."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scripts.console import JsonOption, json_text, progress
from scripts.shelf import EachScoreOption, Shelf
from scripts.solutions import EquityOption, SolutionOption, chosen_equity, given_solution
from scripts.words import LanguageOption, chosen_words

if TYPE_CHECKING:
    from game.truco.record import Record
    from game.truco.record_text import Reading
    from solver.truco.reading.review import Review

EXAMPLES = (
    "Examples:  `truco review match.txt`  ·  `truco review match.txt --by points --marks 0.1,0.3,1`  ·  "
    "`truco review match.txt --player Ana --markdown --out review.md`  ·  `truco review match.txt --json`"
)
UNITS = ("match", "points")


def review(
    file: Annotated[Path, typer.Argument(help="A record, as `truco play` writes it.", metavar="FILE")],
    player: Annotated[
        str | None,
        typer.Option(
            help="Whose decisions; by default the first player with known cards.", show_default=False
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="Unit in which decisions are marked and ordered; by default the match, or points if the solution "
            "knows more of those.",
            metavar="match|points",
            show_default=False,
        ),
    ] = None,
    marks: Annotated[
        str | None,
        typer.Option(
            help="Costs from which a decision is ?!, ? and ??: in % of the match (0.5,1.5,4) or points "
            "(0.12,0.4,1).",
            metavar="A,B,C",
            show_default=False,
        ),
    ] = None,
    top: Annotated[
        int, typer.Option(min=0, help="How many of the costliest decisions are listed; 0: all.")
    ] = 20,
    solution: SolutionOption = None,
    each_score: EachScoreOption = False,
    equity: EquityOption = "computed",
    samples: Annotated[int, typer.Option(min=100, help="Deals simulated for the values.")] = 5_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 1,
    json: JsonOption = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Write Markdown.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Write to this file instead of the screen.", metavar="FILE", show_default=False),
    ] = None,
    lang: LanguageOption = None,
) -> None:
    """Judge the decisions of a recorded hand or match: what each cost, worst first, and what was luck."""
    from scripts.report import as_json, as_markdown, make_report, print_report
    from solver.truco.reading.review import review_record

    words = chosen_words(lang)
    if json and markdown:
        raise ValueError("--json and --markdown are two forms of the same, choose one")
    if by not in (None, *UNITS):
        raise ValueError(f"unit {by!r} is unknown, allowed: {', '.join(UNITS)}")
    parse_marks(marks, by or "match")
    if out is not None and not out.absolute().parent.is_dir():
        raise ValueError(f"folder {out.parent} does not exist")
    reading = read_record(file)
    record = reading.record
    judged = chosen_player(record, player)
    shelf = Shelf(record.rules, given_solution(solution), equity, each_score, words)
    worth = chosen_equity(record.rules, equity)
    # Before the progress bar of the review, since a solve has one of its own.
    scores = dict.fromkeys(hand.seat_scores() for hand in record.hands)
    lines = dict.fromkeys(shelf.line(score) for score in scores)
    if sys.stderr.isatty():
        with progress(f"review {file.name}") as update:
            found = review_record(record, judged, shelf.at, worth, samples, seed, update)
    else:
        found = review_record(record, judged, shelf.at, worth, samples, seed)
    by = by or known_unit(found)
    thresholds = parse_marks(marks, by)
    if json:
        value = as_json(found, by, thresholds, worth.name, list(lines), samples, seed, reading.ignored)
        _deliver(json_text(value), out)
        return
    report = make_report(found, by, thresholds, top, worth.name, list(lines), reading.ignored, words)
    if markdown or out is not None:
        _deliver(as_markdown(report), out)
    else:
        print_report(report)


def known_unit(found: Review) -> str:
    """The unit in which more decisions could be judged; the match if as many."""
    judged = {
        unit: sum(grade.loss(unit) is not None for _, grade in found.grades()) for unit in ("match", "points")
    }
    return max(judged, key=lambda unit: judged[unit])


def _deliver(text: str, out: Path | None) -> None:
    if out is None:
        print(text, end="")
    else:
        out.write_text(text, encoding="utf-8")


def parse_marks(text: str | None, unit: str) -> tuple[float, float, float]:
    """Three rising costs above 0, in points or the chance to win; those of the program without a text."""
    from scripts.report import PERCENT
    from solver.truco.reading.grading import THRESHOLDS

    if text is None:
        return THRESHOLDS[unit]
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 3 and all(re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", part) for part in parts):
        first, second, third = (float(part) / PERCENT[unit] for part in parts)
        if 0 < first <= second <= third:
            return first, second, third
    raise ValueError(f"marks {text!r} are not three rising numbers above 0, such as 0.5,1.5,4")


def read_record(file: Path) -> Reading:
    """The record in a file. ValueError with file and line for what is wrong in it."""
    from game.truco.record_text import MOST_CHARACTERS, RecordError, parse_record

    try:
        if file.stat().st_size > 4 * MOST_CHARACTERS:
            raise ValueError(f"{file} is too large for a record")
        return parse_record(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"cannot read record {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{file} is no text in UTF-8") from None
    except RecordError as error:
        raise ValueError(f"{file}, {error}") from None


def chosen_player(record: Record, name: str | None) -> int:
    """Number of a player by name, case aside; without one, the first whose cards are known in some hand."""
    names = [player.casefold() for player in record.players]
    if name is not None:
        if name.casefold() not in names:
            raise ValueError(f"player {name!r} is not in the record, allowed: {', '.join(record.players)}")
        return names.index(name.casefold())
    return next((p for p in (0, 1) if any(hand.cards[p] is not None for hand in record.hands)), 0)
