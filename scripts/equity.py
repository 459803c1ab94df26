"""`truco equity`: shows, draws and exports the match equity table; solving and checking are in `equity_*`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from scripts import equity_check, equity_solve
from scripts.console import JsonOption, RulesOption, SetOption, chosen_rules, new_app, print_json

if TYPE_CHECKING:
    from game.truco.equity import EquityTable
    from game.truco.rules import Rules
    from solver.truco.match.equity_states import Score, StateValue

View = Literal["mano", "pie", "being-mano", "point"]
ViewOption = Annotated[
    View,
    typer.Option(
        "--view",
        help="mano: chance of the player who is mano. pie: of the one who is pie. being-mano: what being mano is "
        "worth over being pie. point: what one more point is worth.",
    ),
]
SourceOption = Annotated[
    str,
    typer.Option(
        "--equity",
        help="computed (the table that comes with this program), simple, a CSV table, or a folder of states.",
        metavar="computed|simple|FILE|FOLDER",
    ),
]

equity_app = new_app("The match to the target: what every score is worth, and how that was computed.")
equity_app.command("solve", epilog=equity_solve.EXAMPLES)(equity_solve.solve)


class _Shown(NamedTuple):
    """A table, what is known of it, and the states behind it (None where there are only values)."""

    table: EquityTable
    facts: dict[str, str]
    states: dict[Score, StateValue] | None


def view_values(table: EquityTable, view: View) -> list[list[float]]:
    """The table in one view: row = points of the player it is about, column = of the other; probabilities."""
    of = {
        "mano": table.win_probability,
        "pie": table.as_pie,
        "being-mano": table.mano_gain,
        "point": table.point_gain,
    }[view]
    return [[of(own, other) for other in range(table.target)] for own in range(table.target)]


VIEW_TITLES = {
    "mano": "Chance of the player who is mano to win the match (%)",
    "pie": "Chance of the player who is pie to win the match (%)",
    "being-mano": "What being mano instead of pie is worth (percentage points of the match)",
    "point": "What one more point is worth (percentage points of the match, mean of mano and pie)",
}


def _shown(source: str, rules: Rules) -> _Shown:
    """The table that a source names. Raises ValueError saying what is wrong with it."""
    from game.truco.equity import load_equity, table_facts

    if not Path(source).is_dir():
        table = load_equity(source, rules.target)
        return _Shown(table, {"table": table.name} | table_facts(source, rules.target), None)
    from solver.truco.match.equity_states import equity_of, load_states, sweep_facts

    states = load_states(Path(source), rules)
    return _Shown(equity_of(states), sweep_facts(states), states)


def _caption(shown: _Shown) -> str:
    words = {name: text for name, text in shown.facts.items() if name != "rules_hash"}
    return " · ".join(text if name == "table" else f"{name} {text}" for name, text in words.items())


@equity_app.command(
    "show",
    epilog="Examples:  `truco equity show`  ·  `truco equity show --view being-mano`  ·  "
    "`truco equity show --equity results/equity/base --json`",
)
def show_table(
    view: ViewOption = "mano",
    equity: SourceOption = "computed",
    rules: RulesOption = "base",
    set_: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Print the table, one row for each score of the player it is about."""
    shown = _shown(equity, chosen_rules(rules, set_))
    rows = view_values(shown.table, view)
    if json:
        print_json({"view": view, "unit": "probability", **shown.facts, "values": rows})
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    signed = view in ("being-mano", "point")
    listing = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    listing.add_column("own", justify="right")
    for other in range(shown.table.target):
        listing.add_column(str(other), justify="right", no_wrap=True)
    for own, row in enumerate(rows):
        listing.add_row(str(own), *(f"{100 * value:{'+' if signed else ''}.1f}" for value in row))
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 120
    console.print(VIEW_TITLES[view], style="bold")
    console.print("rows: points of that player; columns: points of the other")
    console.print(listing)
    console.print(_caption(shown), style="dim", markup=False)


@equity_app.command(
    "plot", epilog="Examples:  `truco equity plot`  ·  `truco equity plot --view being-mano --out mano.svg`"
)
def plot_table(
    view: ViewOption = "mano",
    equity: SourceOption = "computed",
    rules: RulesOption = "base",
    set_: SetOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Picture to write, .png or .svg; by default truco-equity-VIEW.png.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Draw the table as a heat map."""
    from scripts.survey import check_folder, write_file

    path = out or Path(f"truco-equity-{view}.png")
    if path.suffix not in (".png", ".svg"):
        raise ValueError(f"a picture is .png or .svg, not {path.suffix or 'without a suffix'}: {path}")
    check_folder(path)
    shown = _shown(equity, chosen_rules(rules, set_))
    from scripts.charts import rendered
    from scripts.equity_charts import draw_table

    figure = draw_table(
        view_values(shown.table, view),
        VIEW_TITLES[view],
        _caption(shown),
        view == "being-mano",
        unit="%" if view in ("mano", "pie") else "percentage points",
    )
    write_file(path, rendered(figure, path.suffix[1:]))
    if json:
        print_json({"file": str(path), "view": view, **shown.facts})
    else:
        typer.echo(f"wrote {path}")


@equity_app.command(
    "export",
    epilog="Examples:  `truco equity export`  ·  `truco equity export --equity results/equity/base --out table.csv`",
)
def export(
    equity: SourceOption = "computed",
    rules: RulesOption = "base",
    set_: SetOption = None,
    out: Annotated[Path | None, typer.Option(help="File to write instead of printing.")] = None,
) -> None:
    """Write the table as CSV with its facts in comment lines; `--equity FILE` of other commands reads it."""
    from scripts.survey import check_folder, write_file

    if out is not None:
        check_folder(out)
    text = csv_text(_shown(equity, chosen_rules(rules, set_)))
    if out is None:
        print(text, end="")
    else:
        write_file(out, text.encode())
        typer.echo(f"wrote {out}")


def csv_text(shown: _Shown) -> str:
    """The CSV file: facts as comments, then a row for each score; errors and brackets where states are known."""
    lines = [f"# {name}: {text}" for name, text in shown.facts.items()]
    lines.append("# mano_wins: chance of the player who is mano to win the match")
    columns = ["mano_score", "pie_score", "mano_wins"]
    if shown.states is not None:
        columns += ["standard_error", "engine", "iterations", "deals", "bracket_low", "bracket_high"]
    lines.append(",".join(columns))
    for a in range(shown.table.target):
        for b in range(shown.table.target):
            cells: list[Any] = [a, b, f"{shown.table.win_probability(a, b):.6f}"]
            if shown.states is not None:
                state = shown.states[a, b]
                low, high = state.bracket or ("", "")
                cells += [
                    f"{state.standard_error:.6f}",
                    state.engine,
                    state.iterations,
                    2 * state.pairs,
                    low,
                    high,
                ]
            lines.append(",".join(map(str, cells)))
    return "\n".join(lines) + "\n"


equity_app.command("check", epilog=equity_check.CHECK_EXAMPLES)(equity_check.check)
equity_app.command("exploitability", epilog=equity_check.EXPLOITABILITY_EXAMPLES)(equity_check.exploitability)
