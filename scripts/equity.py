"""`truco equity`: computes the match equity table, shows, draws and exports it, and checks it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from scripts.console import (
    JsonOption,
    RulesOption,
    SetOption,
    chosen_rules,
    new_app,
    parse_score,
    print_json,
    progress,
)

if TYPE_CHECKING:
    from game.truco.equity import EquityTable
    from game.truco.rules import Rules
    from solver.truco.match.equity_sweep import Progress, Score, StateValue, SweepSettings
    from solver.truco.solutions.quick_solution import QuickSolution

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
_DEFAULT_ITERATIONS = {"quick": (320, 640), "vector": (100, 100)}


@equity_app.command(
    "solve",
    epilog="Examples:  `truco equity solve`  ·  `truco equity solve --workers 4 --keep out/strategies`  ·  "
    "`truco equity solve --set target=3 --iterations 20 --pairs 500 --out out/tiny`",
)
def solve(
    rules: RulesOption = "base",
    set_: SetOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the states' files, results/equity/RULES by default.", show_default=False
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Worker processes, by default as many as cores.", show_default=False),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="Solve on this dask.distributed cluster instead.", metavar="ADDRESS"),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            help="quick: sampled, an hour or two; vector: every deal, far too long away from the end of the match.",
            metavar="quick|vector",
        ),
    ] = "quick",
    iterations: Annotated[
        int | None,
        typer.Option(min=1, help="Iterations a state; 320 quick, 100 vector.", show_default=False),
    ] = None,
    late: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Iterations where somebody needs one or two points; twice as many in quick mode.",
            show_default=False,
        ),
    ] = None,
    pairs: Annotated[
        int, typer.Option(min=2, help="quick: deals that measure the value, each twice.")
    ] = 60_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed; that of a state follows from it.")] = 1,
    contexts: Annotated[
        str | None, typer.Option(help="vector: as in `truco solve`.", metavar="C,C,C,C")
    ] = None,
    values: Annotated[
        str | None, typer.Option(help="vector: as in `truco solve`.", metavar="V,V,V,V")
    ] = None,
    chains: Annotated[
        str | None, typer.Option(help="vector: as in `truco solve`.", metavar="A,A,A,A")
    ] = None,
    certify: Annotated[
        bool, typer.Option("--certify", help="vector: best responses with real cards, for a bracket.")
    ] = False,
    keep: Annotated[
        Path | None,
        typer.Option(help="Keep the strategy of every score in this folder (4 MB each).", show_default=False),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Solve the hand at every score, backwards from the last one, and keep each value as a small file.

    An interrupted sweep goes on where it was. The result does not depend on the number of workers.
    """
    from solver.truco.match.equity_sweep import accumulated_error, sweep

    chosen = chosen_rules(rules, set_)
    plain, double = _DEFAULT_ITERATIONS.get(engine, (1, 1))
    often = iterations or plain
    merges = {"contexts": contexts, "values": values, "chains": chains}
    settings = _settings(engine, often, late or (often * double // plain), pairs, seed, merges, certify)
    _check_rules(chosen, settings)
    folder = out or states_folder(chosen)
    for wanted in (folder, keep):
        if wanted is not None:
            wanted.mkdir(parents=True, exist_ok=True)
    start = _cluster(cluster) if cluster else _processes(workers or os.cpu_count() or 1)
    with progress(f"equity {chosen.name()}") as update:

        def show(at: Progress) -> None:
            note = f"diagonal {at.diagonal}, " if at.diagonal >= 0 else ""
            update(at.share, f"{note}{at.done} of {at.total} states, {at.running} running")

        try:
            states = sweep(chosen, folder, settings, start, keep, show, _tell)
        except BrokenExecutor:
            raise ValueError(
                f"worker processes die again and again (out of memory?); finished states are in {folder}"
            ) from None
    first = states[0, 0]
    measured = all(state.ends for state in states.values())
    error = accumulated_error(states) if measured else None
    seconds = sum(state.seconds for state in states.values())
    if json:
        print_json(
            {"folder": str(folder), "states": len(states), "value": first.value, "error": error, "seconds": seconds}
        )  # fmt: skip
        return
    spread = "" if error is None else f" ± {error:.2%} (sampling, accumulated over the match)"
    print(f"{folder}: {len(states)} states, {seconds / 60:.0f} worker minutes")
    print(f"at 0-0 mano wins {first.value:.2%}{spread}")


def _settings(
    engine: str,
    iterations: int,
    late: int | None,
    pairs: int,
    seed: int,
    merges: dict[str, str | None],
    certify: bool,
) -> SweepSettings:
    """Settings of the options; raises ValueError for options of the other engine or values out of range."""
    from solver.truco.match.equity_sweep import SweepSettings

    words = {name: tuple(text.split(",")) for name, text in merges.items() if text}
    if engine == "quick" and (words or certify):
        raise ValueError("--contexts, --values, --chains and --certify are choices of --engine vector")
    return SweepSettings(engine, iterations, late or iterations, pairs, seed, **words, certify=certify)


def states_folder(rules: Rules) -> Path:
    """Where the states of a sweep are kept by default, relative to the working folder."""
    return Path("results") / "equity" / rules.name()


def _check_rules(rules: Rules, settings: SweepSettings) -> None:
    """Raises ValueError for rules that the engine does not play, before workers start."""
    if settings.engine == "quick":
        from solver.truco.hand.engine import rules_vector

        rules_vector(rules)


def _tell(line: str) -> None:
    print(f"note: {line}", file=sys.stderr)


def _processes(workers: int) -> Callable[[], Executor]:
    """Makes a pool of fresh processes with one numba thread each."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    os.environ["NUMBA_NUM_THREADS"] = "1"  # read by the workers when they import numba
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    context = multiprocessing.get_context("spawn")
    return lambda: ProcessPoolExecutor(workers, mp_context=context)


def _cluster(address: str) -> Callable[[], Executor]:
    """Connects to a dask.distributed cluster, whose scheduler moves the work of workers that die."""
    try:
        from distributed import Client
    except ImportError:
        raise ValueError(
            "--cluster needs the package distributed: pip install truco-theory[cluster]"
        ) from None
    try:
        client = Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ValueError(f"no dask scheduler at {address}: {error}") from None
    return lambda: client.get_executor(pure=False)


# ---- the table as people see it


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
    from solver.truco.match.equity_sweep import equity_of, load_states

    states = load_states(Path(source), rules)
    return _Shown(equity_of(states), sweep_facts(states), states)


def sweep_facts(states: dict[Score, StateValue]) -> dict[str, str]:
    """What a table of these states is and how good, as words for headers and captions."""
    from solver.truco.match.equity_sweep import accumulated_error

    first = next(iter(states.values()))
    engines = sorted({state.engine for state in states.values()})
    fewest, most = (pick(state.iterations for state in states.values()) for pick in (min, max))
    worst = max(state.standard_error for state in states.values())
    facts = {
        "rules": first.rules,
        "rules_hash": first.rules_hash,
        "engine": f"{' and '.join(engines)}, {f'{fewest} to ' if fewest < most else ''}{most} iterations a state",
        "accuracy": f"standard error of a state at most {worst:.4f} given the later ones",
    }
    if all(state.ends for state in states.values()):
        facts["accuracy"] += f", of 0-0 with all later ones {accumulated_error(states):.4f}"
    facts["accuracy"] += "; no bracket" if not any(s.bracket for s in states.values()) else ""
    return facts


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
    console.print(_caption(shown), style="dim")


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


# ---- checks


@equity_app.command(
    "check",
    epilog="Examples:  `truco equity check --equity results/equity/base`  ·  `truco equity check --equity "
    "results/equity/base --strategies out/strategies --matches 200000 --again 13-13 --again 14-10 --json`",
)
def check(
    equity: Annotated[
        Path, typer.Option(help="Folder of states of a finished sweep.", metavar="FOLDER", show_default=False)
    ],
    rules: RulesOption = "base",
    set_: SetOption = None,
    strategies: Annotated[
        Path | None,
        typer.Option(help="Folder that `truco equity solve --keep` filled: play whole matches with them."),
    ] = None,
    matches: Annotated[
        int, typer.Option(min=2, help="Sequences of deals to play as matches, each twice.")
    ] = 50_000,
    again: Annotated[
        list[str] | None,
        typer.Option(help="Solve this score once more with other luck; repeat for more.", metavar="A-B"),
    ] = None,
    engine: Annotated[
        str, typer.Option(help="Engine of the second solves.", metavar="quick|vector")
    ] = "quick",
    iterations: Annotated[
        int | None,
        typer.Option(min=1, help="Of the second solves; 640 quick, 100 vector.", show_default=False),
    ] = None,
    contexts: Annotated[
        str | None, typer.Option(help="vector: as in `truco solve`.", metavar="C,C,C,C")
    ] = None,
    values: Annotated[
        str | None, typer.Option(help="vector: as in `truco solve`.", metavar="V,V,V,V")
    ] = None,
    chains: Annotated[
        str | None, typer.Option(help="vector: as in `truco solve`.", metavar="A,A,A,A")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the matches and of the second solves.")] = 1_000,
    json: JsonOption = False,
) -> None:
    """Check a finished table: does it rise with every point, do whole matches and second solves agree with it.

    z is a difference in its standard errors; beyond 3 something is wrong, or the strategies have not converged.
    """
    if not equity.is_dir():
        raise ValueError(f"{equity} is not a folder of states")
    chosen = chosen_rules(rules, set_)
    scores = [parse_score(text, chosen.target) for text in again or []]
    from solver.truco.match.equity_sweep import accumulated_error, exceptions, load_states, solve_again

    often = iterations or _DEFAULT_ITERATIONS.get(engine, (1, 1))[1]
    merges = {"contexts": contexts, "values": values, "chains": chains}
    settings = _settings(engine, often, None, 60_000, seed, merges, False)
    states = load_states(equity, chosen)
    first = states[0, 0]
    found: dict[str, Any] = sweep_facts(states) | {"value": first.value}
    if all(state.ends for state in states.values()):
        found["accumulated_error"] = accumulated_error(states)
    found["exceptions"] = [
        {"from": _score(a), "to": _score(b), "rise": rise, "z": rise / error if error else None}
        for a, b, rise, error in exceptions(states)
    ]
    found["again"] = []
    with progress("second solves") as update:
        for done, score in enumerate(scores):
            update(done / len(scores), _score(score))
            state, other = states[score], solve_again(chosen, states, score, settings)
            error = (state.standard_error**2 + other.standard_error**2) ** 0.5
            found["again"].append(
                {
                    "score": _score(score), "table": state.value, "second": other.value,
                    "difference": other.value - state.value, "z": (other.value - state.value) / error,
                    "iterations": other.iterations,
                }
            )  # fmt: skip
    if strategies is not None:
        found["matches"] = _whole_matches(chosen, states, strategies, matches, seed)
    if json:
        print_json(found)
        return
    print(f"at 0-0 mano wins {first.value:.2%}; {found['accuracy']}")
    print(f"{len(found['exceptions'])} exceptions to rising in mano's points and falling in pie's")
    for row in found["exceptions"]:
        print(f"  {row['from']} to {row['to']}: {row['rise']:+.4f} (z {row['z']:+.1f})")
    for row in found["again"]:
        print(
            f"second solve at {row['score']}: {row['second']:.4f}, table {row['table']:.4f}, z {row['z']:+.1f}, "
            f"{row['iterations']} iterations"
        )
    if strategies is not None:
        row = found["matches"]
        print(
            f"{row['played']:,} matches: first mano wins {row['first_mano_wins']:.2%} ± {row['standard_error']:.2%}, "
            f"z {row['z']:+.1f}; {row['hands_per_match']:.1f} hands a match"
        )


def _score(score: Score) -> str:
    return f"{score[0]}-{score[1]}"


def _strategy(rules: Rules, folder: Path, score: Score) -> QuickSolution:
    """The kept strategy of a score; raises ValueError for one that is missing or of other rules."""
    from solver.truco.match.equity_sweep import kept_strategy
    from solver.truco.solutions.quick_solution import load_quick_solution

    solution = load_quick_solution(kept_strategy(folder, score))
    if solution.rules != rules or solution.info.score != score:
        raise ValueError(f"{kept_strategy(folder, score)} is of other rules or another score")
    return solution


def _whole_matches(
    rules: Rules, states: dict[Score, StateValue], folder: Path, pairs: int, seed: int
) -> dict[str, float]:
    """Plays matches by the kept strategies; raises ValueError for one that is missing or of other rules."""
    from solver.truco.match.equity_sweep import accumulated_error
    from solver.truco.match.selfplay import play_matches

    tables = {score: _strategy(rules, folder, score).table for score in states}
    wins, hands = play_matches(rules, tables, pairs, seed)
    means = wins.mean(axis=1)
    error = float(means.std(ddof=1) / len(means) ** 0.5)
    mean, value = float(means.mean()), states[0, 0].value
    return {
        "played": 2 * pairs,
        "first_mano_wins": mean,
        "standard_error": error,
        "z": (mean - value) / (error**2 + accumulated_error(states) ** 2) ** 0.5,
        "hands_per_match": hands / (2 * pairs),
    }


@equity_app.command(
    "exploitability",
    epilog="Examples:  `truco equity exploitability --equity results/equity/base --strategies out/strategies "
    "--least 12`",
)
def exploitability(
    equity: Annotated[
        Path, typer.Option(help="Folder of states of a finished sweep.", metavar="FOLDER", show_default=False)
    ],
    strategies: Annotated[
        Path,
        typer.Option(
            help="Folder that `truco equity solve --keep` filled.", metavar="FOLDER", show_default=False
        ),
    ],
    rules: RulesOption = "base",
    set_: SetOption = None,
    iterations: Annotated[
        int, typer.Option(min=1, help="Batches of deals that each deviator learns from.")
    ] = 400,
    pairs: Annotated[int, typer.Option(min=2, help="Deals that measure it, each twice.")] = 60_000,
    least: Annotated[
        int,
        typer.Option(min=0, help="Deviate only where both have so many points; elsewhere play as stored."),
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of training and measuring.")] = 1,
    json: JsonOption = False,
) -> None:
    """A lower bound on what a perfect opponent wins against the stored strategies over a whole match.

    At every score an opponent is trained against the frozen strategy; what it wins on new deals is carried backwards.
    A perfect opponent wins at least as much, up to the luck of those deals: it would remember more and train longer.
    """
    if not equity.is_dir():
        raise ValueError(f"{equity} is not a folder of states")
    chosen = chosen_rules(rules, set_)
    if least >= chosen.target:
        raise ValueError(f"--least is {least}, allowed: 0 to {chosen.target - 1}")
    from solver.truco.match.deviator import exploit
    from solver.truco.match.equity_sweep import load_states

    states = load_states(equity, chosen)
    if not all(state.ends for state in states.values()):
        raise ValueError(f"{equity} has states without measured ends of hands (vector engine)")
    with progress(f"deviators {chosen.name()}") as show:
        found = exploit(
            chosen, states, lambda score: _strategy(chosen, strategies, score).table, iterations, pairs, least, seed,
            lambda share, score: show(share, _score(score)),
        )  # fmt: skip
    rows = [
        {
            "score": _score(score),
            "as_mano": value.as_mano, "table_mano": states[score].value, "error_as_mano": value.error_as_mano,
            "as_pie": value.as_pie, "table_pie": 1.0 - states[score].value, "error_as_pie": value.error_as_pie,
            "deviates": value.deviates,
        }
        for score, value in found.items()
        if min(score) >= least
    ]  # fmt: skip
    match = (found[0, 0].as_mano + found[0, 0].as_pie) / 2
    result = {
        "method": "lower bound: trained deviators that remember what the strategies do, measured on new deals",
        "match": match, "least": least, "iterations": iterations, "pairs": pairs, "seed": seed, "states": rows,
    }  # fmt: skip
    if json:
        print_json(result)
        return
    where = "every score" if least == 0 else f"scores where both have {least} points or more"
    print(
        f"a trained opponent wins at least {match:.2%} of matches, up to sampling; 50 % would be a perfect strategy"
    )
    print(f"it deviates at {where}; a perfect opponent wins more. From each such score (mano-pie):")
    for row in rows:
        cells = (
            f"{seat} {row[f'as_{seat}']:.4f} ± {row[f'error_as_{seat}']:.4f} (table {row[f'table_{seat}']:.4f})"
            for seat in ("mano", "pie")
        )
        print(f"  {row['score']:>6}  {'   '.join(cells)}")
