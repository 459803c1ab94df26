"""`truco table`: how often a solution calls, accepts, raises and folds, and what each choice is worth."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from scripts.console import JsonOption, SetOption, need, print_json
from scripts.solutions import (
    EquityOption,
    SolutionOption,
    WantedRulesOption,
    WantedUtilityOption,
    find_solution,
    given_solution,
    wanted_rules,
    wanted_scores,
)
from scripts.survey import (
    ORDER,
    ROUNDS,
    ROUNDS_BY_HAND,
    STRENGTH_NOTE,
    UNSOLVED_NOTE,
    ScoreOption,
    SeatOption,
    SeedOption,
    Survey,
    ToOption,
    Topic,
    TrickOption,
    action_label,
    check_folder,
    counts_exactly,
    heading,
    take_survey,
    topic_questions,
    write_file,
)

if TYPE_CHECKING:
    import pandas as pd

    from solver.truco.reading.questions import Census

EXAMPLES = (
    "Examples:  `truco table envido`  ·  `truco table truco --seat pie --trick 2`  ·  "
    '`truco table response --to "envido real_envido" --by strength`  ·  '
    "`truco table mazo --rules argentino --out mazo.csv`"
)
Format = Literal["table", "csv", "markdown", "parquet", "json"]
_SUFFIXES: dict[str, Format] = {
    ".txt": "table",
    ".csv": "csv",
    ".md": "markdown",
    ".parquet": "parquet",
    ".json": "json",
}
_FOCUS = {"truco": "truco", "mazo": "mazo"}
_PRINTED_HANDS = 40
_WIDTH = 120


def table(
    topic: Annotated[
        Topic,
        typer.Argument(
            help="envido: own turn while Envido may be opened. truco: own turns with no Truco called yet. "
            "mazo: folding, on turn or to an Envido. response: answers to calls."
        ),
    ],
    seat: SeatOption = None,
    by: Annotated[
        Literal["envido", "strength", "hand"] | None,
        typer.Option(
            help="Rows; by default envido where Envido is at stake, else strength.", show_default=False
        ),
    ] = None,
    to: ToOption = None,
    trick: TrickOption = None,
    rules: WantedRulesOption = None,
    set_: SetOption = None,
    score: ScoreOption = None,
    utility: WantedUtilityOption = None,
    equity: EquityOption = "computed",
    solution: SolutionOption = None,
    format_: Annotated[
        Format | None,
        typer.Option("--format", help="By default what the suffix of --out says, else table."),
    ] = None,
    json: JsonOption = False,
    out: Annotated[Path | None, typer.Option(help="Write this file instead of printing.")] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help=f"Rows of each table; {_PRINTED_HANDS} for a printed table by hand."),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(min=1, help=f"Times every hand is played; {ROUNDS}, or {ROUNDS_BY_HAND} by hand."),
    ] = None,
    seed: SeedOption = 1,
) -> None:
    """Tabulate how often the solution takes each action and what the action is worth.

    Every hand of the seat is dealt equally often and both seats play the solution. Spots that it never reaches say
    so, those with fewer than 30 decisions are marked rare. Where a certified policy of trick 1 comes with this
    program and all decisions asked about lie there, its deals are all counted; --rounds plays a quick solution.
    """
    kind = _chosen_format(format_, json, out)
    need("parquet" if kind == "parquet" else "tables")
    if out is not None:
        check_folder(out)
    given = given_solution(solution)
    chosen = wanted_rules(given, rules, set_)
    questions = topic_questions(topic, seat, to, trick, chosen)
    scores = wanted_scores(given, score, chosen.target)
    found = find_solution(
        given, chosen, scores, utility, equity, shipped=not rounds and counts_exactly(questions)
    )
    survey = take_survey(found, questions, by, rounds, seed)
    if limit is None and by == "hand" and kind == "table" and out is None:
        limit = _PRINTED_HANDS
    if out is None:
        show(kind, survey, topic, limit)
    else:
        write_file(out, content(kind, survey, topic, limit))
        typer.echo(f"wrote {out}")


def _chosen_format(name: Format | None, json: bool, out: Path | None) -> Format:
    if json:
        if name not in (None, "json"):
            raise ValueError(f"--json and --format {name} exclude each other")
        name = "json"
    if name is None and out is not None:
        if out.suffix not in _SUFFIXES:
            raise ValueError(f"{out} has no known suffix ({', '.join(_SUFFIXES)}): add --format")
        name = _SUFFIXES[out.suffix]
    if name == "parquet" and out is None:
        raise ValueError("format parquet needs --out FILE")
    return name or "table"


def tidy_frame(survey: Survey, limit: int | None = None) -> pd.DataFrame:
    """All rows of a survey in one frame at full precision, `limit` of each question.

    Columns: rules, score, utility, engine, iterations, exploitability, seat and question, then those of
    `Census.frame`. Labels of another question's kind of rows, and actions that are not legal, are missing (NaN).
    """
    import numpy as np
    import pandas as pd

    from game.truco.hand import PLAYER_NAMES
    from solver.truco.reading.questions import ACTIONS

    facts = survey.facts()
    frames = []
    for census in survey.censuses:
        frame = census.frame().head(limit or len(census.seen))
        illegal = [name for name in ACTIONS if name not in census.actions()]
        frame[[*illegal, *(f"ev_{name}" for name in illegal)]] = np.nan
        fixed = {
            "rules": facts["rules"],
            "score": "{mano}-{pie}".format(**facts["score"]),
            "utility": facts["utility"],
            "engine": facts["engine"],
            "iterations": facts["iterations"],
            "exploitability": facts["exploitability"] or facts["exploitability_method"],
            "seat": PLAYER_NAMES[census.question.seat],
            "question": census.question.name,
        }
        frames.append(pd.concat([pd.DataFrame(fixed, index=frame.index), frame], axis=1))
    joined = pd.concat(frames, ignore_index=True)
    if "envido_value" in joined:
        joined["envido_value"] = joined["envido_value"].astype("Int64")
    labels = [name for name in ("envido_value", "strength", "hand") if name in joined]
    return joined[[*fixed, *labels, *(name for name in joined if name not in (*fixed, *labels))]]


def _as_json(survey: Survey, topic: str, limit: int | None) -> dict[str, Any]:
    from game.truco.hand import PLAYER_NAMES

    sections = []
    for census in survey.censuses:
        names = census.actions()
        rows = census.frame().head(limit or len(census.seen)).to_dict("records")
        (total,) = census.total().to_dict("records")
        sections.append(
            {
                "seat": PLAYER_NAMES[census.question.seat],
                "question": census.question.name,
                "unsolved": int(census.unknown.sum()),
                "total": _row_as_json(total, [], names),
                "rows": [_row_as_json(row, list(census.labels), names) for row in rows],
            }
        )
    return {"topic": topic, **survey.facts(), "sections": sections}


def _row_as_json(row: dict[Any, Any], labels: list[str], names: list[str]) -> dict[str, Any]:
    return {
        **{name: row[name] for name in (*labels, "decisions", "status")},
        "shares": {name: row[name] for name in names},
        "values": {name: row[f"ev_{name}"] for name in names},
    }


def content(kind: Format, survey: Survey, topic: str, limit: int | None) -> bytes:
    """The survey as a file of this format."""
    if kind == "parquet":
        table_bytes = io.BytesIO()
        tidy_frame(survey, limit).to_parquet(table_bytes, index=False)
        return table_bytes.getvalue()
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        show(kind, survey, topic, limit)
    return text.getvalue().encode()


def show(kind: Format, survey: Survey, topic: str, limit: int | None) -> None:
    """Prints the survey in a text format."""
    if kind == "csv":
        print(tidy_frame(survey, limit).to_csv(index=False), end="")
    elif kind == "markdown":
        _show_markdown(survey, topic, limit)
    elif kind == "json":
        print_json(_as_json(survey, topic, limit))
    else:
        _show_tables(survey, topic, limit)


def _show_tables(survey: Survey, topic: str, limit: int | None) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH
    console.print(survey.caption(), style="bold", markup=False)
    for census in survey.censuses:
        console.print(f"\n[bold]{heading(census)}[/bold]")
        if not census.seen.any():
            continue
        headers, rows, total = _cells(census, topic, limit)
        listing = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
        for i, header in enumerate(headers):
            listing.add_column("\n".join(header.rsplit(maxsplit=1)), justify="right" if i else "left")
        for row in rows:
            listing.add_row(*row, style="" if row[1][-1].isdigit() else "dim")
        listing.add_section()
        listing.add_row(*total, style="bold")
        console.print(listing)
        if len(rows) < len(census.seen):
            console.print(
                f"{len(census.seen) - len(rows):,} more rows: --limit N, or --out FILE", style="dim"
            )
    console.print()
    for note in _notes(survey):
        console.print(note, style="dim", markup=False)


def _show_markdown(survey: Survey, topic: str, limit: int | None) -> None:
    from tabulate import tabulate

    print(survey.caption())
    for census in survey.censuses:
        print(f"\n**{heading(census)}**")
        if census.seen.any():
            headers, rows, total = _cells(census, topic, limit)
            align = ["left"] + ["right"] * (len(headers) - 1)
            print()
            print(tabulate([*rows, total], headers, "pipe", colalign=align, disable_numparse=True))
    print()
    for note in _notes(survey):
        print(f"- {note}")


def _cells(census: Census, topic: str, limit: int | None) -> tuple[list[str], list[list[str]], list[str]]:
    """Heads, rows and the row of totals as text."""
    names = sorted(census.actions(), key=lambda name: (name != _FOCUS.get(topic), ORDER.index(name)))
    labels = [action_label(census.question, name) for name in names]
    (label,) = census.labels
    unit = "win%" if census.match_values else "value"
    headers = [
        {"envido_value": "own Envido", "strength": "strength", "hand": "hand"}[label],
        "decisions",
        *(f"{name} %" for name in labels),
        *(f"{name} {unit}" for name in labels),
    ]
    frame = census.frame().head(limit or len(census.seen)).to_dict("records")
    rows = [[_row_label(row[label]), *_numbers(row, names, census.match_values)] for row in frame]
    (total,) = census.total().to_dict("records")
    return headers, rows, ["all", *_numbers(total, names, census.match_values)]


def _row_label(value: int | float | str) -> str:
    return f"{value:.1f}-{value + 0.1:.1f}" if isinstance(value, float) else str(value)


def _numbers(row: dict[Any, Any], names: list[str], match_values: bool) -> list[str]:
    """Decisions, shares and values as text; nothing but the reason where there are none."""
    if row["decisions"] == 0:
        return [row["status"], *[""] * (2 * len(names))]
    decisions = f"{row['decisions']:,}" + (" rare" if row["status"] == "rare" else "")
    shares = ["·" if row[name] == 0 else f"{row[name]:.1%}"[:-1] for name in names]
    values = [row[f"ev_{name}"] for name in names]
    style = "{:.1%}" if match_values else "{:+.2f}"
    return [decisions, *shares, *("" if value != value else style.format(value) for value in values)]


def _notes(survey: Survey) -> list[str]:
    from solver.truco.reading.questions import RARE

    points = survey.solution.info.utility == "points"
    unit = "own points minus the other's over the whole hand" if points else "chance to win the match"
    notes = [
        "% of the decisions in the row; · never. Value: expected "
        + unit
        + " after that action, both seats playing "
        "this solution; blank where the action is not always allowed. Actions of equal value may be mixed at will.",
        f"rare: fewer than {RARE} decisions, a rough figure; never reached: the solution never comes here.",
    ]
    if any(census.unknown.any() for census in survey.censuses):
        notes.append(UNSOLVED_NOTE)
    if any("strength" in census.labels for census in survey.censuses):
        notes.append(STRENGTH_NOTE)
    if any("hand" in census.labels for census in survey.censuses):
        notes.append(
            "Hands that the solution does not tell apart at a decision share its mix and its values."
        )
    return notes
