"""The `truco` command: solve a hand, tabulate and plot the strategy, ask for advice, show rules and files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scripts.advise import EXAMPLES as ADVISE_EXAMPLES
from scripts.advise import advise
from scripts.console import (
    JsonOption,
    RulesOption,
    SetOption,
    chosen_rules,
    new_app,
    parse_score,
    print_json,
    run,
)
from scripts.equity import equity_app
from scripts.kept import cache_app
from scripts.play import EXAMPLES as PLAY_EXAMPLES
from scripts.play import play
from scripts.plots import EXAMPLES as PLOT_EXAMPLES
from scripts.plots import plot
from scripts.review import EXAMPLES as REVIEW_EXAMPLES
from scripts.review import review
from scripts.solutions import (
    SOLVE_SECONDS,
    WantedUtilityOption,
    chosen_equity,
    chosen_utility,
    kept_path,
    quick_solve,
)
from scripts.spot import EXAMPLES as SPOT_EXAMPLES
from scripts.spot import show_spot
from scripts.tables import EXAMPLES as TABLE_EXAMPLES
from scripts.tables import table
from scripts.vector import (
    COMPACT_EXAMPLES,
    compact,
    exploitability,
    parse_memory,
    show_vector,
    vector_solve,
)
from scripts.vector import EXAMPLES as EXPLOITABILITY_EXAMPLES

if TYPE_CHECKING:
    from solver.truco.solutions.quick_solution import QuickSolution

app = new_app(
    "Game theory for two-player Truco: when to call, accept, raise or fold, and what each choice is worth."
)


def main() -> None:
    """Entry point of the console command."""
    run(app)


@app.command(
    epilog="Examples:  `truco solve`  ·  `truco solve --time 3m --score 12-9 --utility match`  ·  "
    "`truco solve --rules argentino --iterations 500 --out argentino.truco`"
)
def solve(
    score: Annotated[str, typer.Option(help="Match score, mano first.", metavar="A-B")] = "0-0",
    rules: RulesOption = "base",
    set_: SetOption = None,
    utility: WantedUtilityOption = None,
    equity: Annotated[
        str | None,
        typer.Option(
            help="match: worth of a score: computed (comes with this program), simple, or a CSV table.",
            metavar="computed|simple|FILE",
            show_default="computed",
        ),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            help="quick: sampled, rough in a minute; vector: every deal, near equilibrium in hours.",
            metavar="quick|vector",
        ),
    ] = "quick",
    time: Annotated[
        str | None,
        typer.Option(help="How long to solve, such as 90s, 3m or 1h.", show_default=f"{SOLVE_SECONDS}s"),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(min=1, help="Solve for so many iterations instead of --time.", show_default=False),
    ] = None,
    until: Annotated[
        float | None,
        typer.Option(
            help="vector: stop when the exploitability at tier level is this low; that is a lower bound and "
            "certifies nothing.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="quick: seed; same seed and iterations, same solution.", show_default="1"),
    ] = None,
    contexts: Annotated[
        str | None,
        typer.Option(
            help="vector: how tricks 2 and 3 tell apart trick-1 calls, at round value 1 to 4: exact, chain, "
            "opening, caller, none.",
            metavar="C,C,C,C",
        ),
    ] = None,
    values: Annotated[
        str | None,
        typer.Option(
            help="vector: buckets of shown Envido values in tricks 2 and 3, at round value 1 to 4: exact, twelve, "
            "eight, five, none, or asked, which goes with chains calls.",
            metavar="V,V,V,V",
        ),
    ] = None,
    chains: Annotated[
        str | None,
        typer.Option(
            help="vector: what of the calls before an accepted Envido is remembered, at round value 1 to 4: exact, "
            "calls, none.",
            metavar="A,A,A,A",
        ),
    ] = None,
    schedule: Annotated[
        str | None,
        typer.Option(help="vector: weights of iterations, dcfr or cfr+.", show_default="dcfr"),
    ] = None,
    max_memory: Annotated[
        str | None, typer.Option(help="vector: refuse to start above this.", show_default="16GB")
    ] = None,
    trim: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=0.1,
            help="vector: drop actions with less than this share of their infoset in the end.",
            show_default="0.01",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File to write instead of the folder of kept solutions.", show_default=False),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Solve one hand at a score and keep the solution for the other commands."""
    if engine not in ("quick", "vector"):
        raise ValueError(f"engine {engine!r} is unknown, allowed: quick, vector")
    if engine == "vector" and out is None:
        raise ValueError("a policy of the vector engine takes gigabytes and needs a file: --out FILE")
    _refuse_other_engine(
        engine,
        quick={"--seed": seed},
        vector={
            "--contexts": contexts, "--values": values, "--chains": chains, "--until": until,
            "--schedule": schedule, "--max-memory": max_memory, "--trim": trim,
        },
    )  # fmt: skip
    if time is not None and iterations is not None:
        raise ValueError("--time and --iterations are two ways to say how long: give one of them")
    if until is not None and not until > 0:
        raise ValueError(f"--until {until} is not above 0")
    seconds = parse_duration(time or f"{SOLVE_SECONDS}s")
    chosen = chosen_rules(rules, set_)
    scores = parse_score(score, chosen.target)
    matters = chosen_utility(utility, scores) == "match"
    if equity is not None and not matters:
        raise ValueError("--equity goes with --utility match")
    worth = chosen_equity(chosen, equity or "computed") if matters else None
    if engine == "vector":
        from solver.truco.vector.cfr.schedule import schedule_step
        from solver.truco.vector.model.abstraction import Abstraction

        weights = schedule or "dcfr"
        schedule_step(weights, 1)
        merges = Abstraction.parse(contexts, values, chains)
        memory = parse_memory(max_memory or "16GB")
    path = out or kept_path(chosen, scores, worth)
    if not path.parent.is_dir():
        if out:
            raise ValueError(f"folder {path.parent} does not exist")
        path.parent.mkdir(parents=True)
    if path.is_dir():
        raise ValueError(f"{path} is a folder, not a file to write")
    if engine == "vector":
        share = 0.01 if trim is None else trim
        from solver.truco.vector.cfr.run import Goal
        from solver.truco.vector.model.game import Game

        goal = Goal(seconds, iterations, until)
        info = vector_solve(Game(chosen, scores, worth, merges), weights, goal, memory, share, path)
        show_vector(info, path, json)
        return
    solution = quick_solve(chosen, scores, worth, seconds, iterations, 1 if seed is None else seed)
    solution.save(path)
    _show_info(solution, path, json)


def _refuse_other_engine(engine: str, **options: dict[str, object]) -> None:
    """Raises ValueError naming the first option given that belongs to another engine."""
    for other, given in options.items():
        for name, value in given.items():
            if other != engine and value is not None:
                raise ValueError(f"{name} is a choice of --engine {other}, not of {engine}")


@app.command(epilog="Examples:  `truco info my.truco`  ·  `truco info my.truco --json`")
def info(
    file: Annotated[Path, typer.Argument(help="A solution or policy file.", metavar="FILE")],
    json: JsonOption = False,
) -> None:
    """Say what a solution file holds and how it was found."""
    from solver.truco.solutions.load import COMPACT, POLICY, kind_of

    kind = kind_of(file)
    if kind == COMPACT:
        from solver.truco.vector.policy.compact import load_compact

        compact = load_compact(file)
        show_vector(compact.info, file, json, compact.facts)
    elif kind == POLICY:
        from solver.truco.vector.policy.files import load_policy

        show_vector(load_policy(file).info, file, json)
    else:
        from solver.truco.solutions.quick_solution import load_quick_solution

        _show_info(load_quick_solution(file), file, json)


@app.command(
    "rules",
    epilog="Examples:  `truco rules`  ·  `truco rules argentino`  ·  `truco rules house.toml --set max_envido=1`",
)
def show_rules(
    name: Annotated[
        str, typer.Argument(help="Preset base or argentino, or a TOML file.", metavar="[NAME|FILE]")
    ] = "base",
    set_: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Show a set of rules, field by field, and how it differs from `base`."""
    from game.truco.rules import PRESETS

    rules = chosen_rules(name, set_)
    fields = rules.to_dict()
    if json:
        print_json({"name": rules.name(), "hash": rules.hash(), "fields": fields})
        return
    from rich.console import Console
    from rich.table import Table

    base = PRESETS["base"].to_dict()
    listing = Table(title=f"rules {rules.name()} ({rules.hash()})", title_justify="left")
    for column in ("field", "value", "base"):
        listing.add_column(column)
    for field, value in fields.items():
        text = " ".join(value) if isinstance(value, list) else str(value)
        listing.add_row(field, text, "" if value == base[field] else str(base[field]))
    Console().print(listing)


app.command("advise", epilog=ADVISE_EXAMPLES)(advise)
app.command("spot", epilog=SPOT_EXAMPLES)(show_spot)
app.command("play", epilog=PLAY_EXAMPLES)(play)
app.command("review", epilog=REVIEW_EXAMPLES)(review)
app.command("table", epilog=TABLE_EXAMPLES)(table)
app.command("plot", epilog=PLOT_EXAMPLES)(plot)
app.command("exploitability", epilog=EXPLOITABILITY_EXAMPLES)(exploitability)
app.add_typer(equity_app, name="equity")
app.add_typer(cache_app, name="cache")

app.command("compact", epilog=COMPACT_EXAMPLES)(compact)


def parse_duration(text: str) -> float:
    """Seconds of a text such as 90s, 3m, 1h or a bare number of seconds; ValueError otherwise."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip())
    seconds = float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]] if match else 0.0
    if seconds <= 0:
        raise ValueError(f"time {text!r} is not a positive duration such as 90s, 3m or 1h")
    return seconds


def _show_info(solution: QuickSolution, path: Path, json: bool) -> None:
    from dataclasses import asdict

    info = solution.info
    if json:
        print_json({"file": str(path), "rows": len(solution.table.keys), **asdict(info)})
        return
    certified = info.exploitability_method
    if info.exploitability is not None:
        certified = f"{info.exploitability:.4f} ({info.exploitability_method})"
    value, error = f"{info.mano_value:+.3f}", f"{info.mano_value_error:.3f}"
    unit = "points a hand" if info.utility == "points" else "on the scale -1 (lost) to 1 (won)"
    for label, text in (
        ("file", f"{path}, {len(solution.table.keys):,} infosets"),
        ("rules", f"{solution.rules.name()} ({info.rules_hash})"),
        ("score", f"mano {info.score[0]}, pie {info.score[1]}; utility {info.utility}"),
        ("engine", f"{info.engine}: {info.algorithm}"),
        (
            "solved",
            f"{info.iterations:,} iterations, {info.deals:,} deals, {info.seconds:.0f} s, seed {info.seed}",
        ),
        ("value", f"mano {value} ± {error} {unit}, when both play this solution"),
        ("exploitability", certified),
    ):
        print(f"{label:15}{text}")


if __name__ == "__main__":
    main()
