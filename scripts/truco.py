"""The `truco` command: solve a hand, tabulate and plot the strategy, ask for advice, show rules and files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
from scripts.plots import EXAMPLES as PLOT_EXAMPLES
from scripts.plots import plot
from scripts.solutions import (
    SOLVE_SECONDS,
    EquityOption,
    SolutionOption,
    WantedRulesOption,
    WantedUtilityOption,
    chosen_equity,
    chosen_utility,
    find_solution,
    given_solution,
    kept_path,
    quick_solve,
    wanted_rules,
    wanted_scores,
)
from scripts.tables import EXAMPLES as TABLE_EXAMPLES
from scripts.tables import table
from scripts.vector import (
    COMPACT_EXAMPLES,
    compact,
    exploitability,
    parse_abstraction,
    parse_memory,
    show_vector,
    vector_solve,
)
from scripts.vector import EXAMPLES as EXPLOITABILITY_EXAMPLES

if TYPE_CHECKING:
    from game.truco.spot import Spot
    from solver.truco.reading.advice import Advice
    from solver.truco.reading.solution import Solution
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
    equity: EquityOption = "computed",
    engine: Annotated[
        str,
        typer.Option(
            help="quick: sampled, rough in a minute; vector: every deal, near equilibrium in hours.",
            metavar="quick|vector",
        ),
    ] = "quick",
    time: Annotated[
        str, typer.Option(help="How long to solve, such as 90s, 3m or 1h.")
    ] = f"{SOLVE_SECONDS}s",
    iterations: Annotated[
        int | None,
        typer.Option(min=1, help="Solve for so many iterations instead of --time.", show_default=False),
    ] = None,
    until: Annotated[
        float | None,
        typer.Option(
            help="vector: stop when the exploitability at tier level, a lower bound, is this low.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed; same seed and iterations, same solution.")] = 1,
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
            help="vector: ranges of shown Envido values in tricks 2 and 3, at round value 1 to 4: exact, twelve, "
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
    schedule: Annotated[str, typer.Option(help="vector: weights of iterations, dcfr or cfr+.")] = "dcfr",
    max_memory: Annotated[str, typer.Option(help="vector: refuse to start above this.")] = "16GB",
    trim: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=0.1,
            help="vector: drop actions with less than this share of their infoset in the end.",
        ),
    ] = 0.01,
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
    if engine == "quick" and (contexts or values or chains):
        raise ValueError("--contexts, --values and --chains are choices of --engine vector")
    if engine == "quick" and until is not None:
        raise ValueError("--until is a choice of --engine vector")
    if until is not None and not until > 0:
        raise ValueError(f"--until {until} is not above 0")
    seconds = parse_duration(time)
    chosen = chosen_rules(rules, set_)
    scores = parse_score(score, chosen.target)
    worth = chosen_equity(chosen, equity) if chosen_utility(utility, scores) == "match" else None
    path = out or kept_path(chosen, scores, worth)
    if not path.parent.is_dir():
        if out:
            raise ValueError(f"folder {path.parent} does not exist")
        path.parent.mkdir(parents=True)
    if path.is_dir():
        raise ValueError(f"{path} is a folder, not a file to write")
    if engine == "vector":
        merges = parse_abstraction(contexts, values, chains)
        memory = parse_memory(max_memory)
        info = vector_solve(
            chosen, scores, worth, merges, schedule, seconds, iterations, until, memory, trim, path
        )
        show_vector(info, path, json)
        return
    solution = quick_solve(chosen, scores, worth, seconds, iterations, seed)
    solution.save(path)
    _show_info(solution, path, json)


@app.command(epilog="Examples:  `truco info my.truco`  ·  `truco info my.truco --json`")
def info(
    file: Annotated[Path, typer.Argument(help="A solution or policy file.", metavar="FILE")],
    json: JsonOption = False,
) -> None:
    """Say what a solution file holds and how it was found."""
    from solver.storage import OtherKindError
    from solver.truco.solutions.quick_solution import load_quick_solution

    try:
        solution = load_quick_solution(file)
    except OtherKindError as error:
        from solver.truco.vector.policy.compact import COMPACT, load_compact
        from solver.truco.vector.policy.files import POLICY, load_policy

        if error.kind == POLICY:
            show_vector(load_policy(file).info, file, json)
        elif error.kind == COMPACT:
            compact = load_compact(file)
            show_vector(compact.info, file, json, compact.facts)
        else:
            raise
        return
    _show_info(solution, file, json)


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


@app.command(
    epilog='Examples:  `truco advise "1E 7O 3C"`  ·  `truco advise "7O 6O 4B" --pie --history "envido"`  ·  '
    '`truco advise "4O 3O 1B" --score 12-9 --mano --history "envido quiero 3O 6E" --shown 25`'
)
def advise(
    hand: Annotated[str, typer.Argument(help="Your three dealt cards.", metavar='"1E 7O 3C"')],
    score: Annotated[
        str | None, typer.Option(help="Match score, yours first (0-0 by default).", metavar="YOU-THEY")
    ] = None,
    mano: Annotated[bool, typer.Option("--mano/--pie", help="Whether you are mano or pie.")] = True,
    history: Annotated[
        str, typer.Option(help="All calls and cards so far, both players', in order: envido quiero 7O 3C.")
    ] = "",
    shown: Annotated[
        int | None,
        typer.Option(help="Envido value the other showed, if one was accepted.", show_default=False),
    ] = None,
    rules: WantedRulesOption = None,
    set_: SetOption = None,
    utility: WantedUtilityOption = None,
    equity: EquityOption = "computed",
    solution: SolutionOption = None,
    roll: Annotated[bool, typer.Option("--roll", help="Also draw one action by the mix.")] = False,
    samples: Annotated[int, typer.Option(min=100, help="Deals simulated for the values.")] = 5_000,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, help="Seed of simulation and roll; without, only the roll varies.", show_default=False
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Say what theory does with a hand, at any decision of it, and what each action is worth."""
    from game.truco.cards import parse_cards
    from game.truco.spot import Spot, parse_history

    given = given_solution(solution)
    chosen = wanted_rules(given, rules, set_)
    scores = wanted_scores(given, score, chosen.target)
    if score is not None and not mano:
        scores = scores[::-1]
    seat = 0 if mano else 1
    spot = Spot(chosen, seat, parse_cards(hand), scores, tuple(parse_history(history)), shown)
    found = find_solution(given, chosen, scores, utility, equity, shipped=True).at(spot)
    from solver.truco.reading.advice import advise as advise_at

    worth = found.equity or chosen_equity(chosen, equity)
    advice = advise_at(found, spot, worth, samples, 1 if seed is None else seed)
    if given is None and not (advice.has_mix or found.complete):
        # Where the policy that comes with this program does not go, a quick solution may have been.
        found = find_solution(None, chosen, scores, utility, equity)
        advice = advise_at(found, spot, worth, samples, 1 if seed is None else seed)
    drawn = _draw(advice, seed) if roll else None
    if json:
        print_json(_advice_as_json(found, spot, advice, worth.name, drawn))
    else:
        _print_advice(found, spot, advice, worth.name, drawn)


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


def _draw(advice: Advice, seed: int | None) -> int | None:
    """An action drawn by the mix; None where there is no mix."""
    import random

    if not advice.has_mix:
        return None
    weights = [row.probability or 0.0 for row in advice.actions]
    return random.Random(seed).choices([row.action for row in advice.actions], weights)[0]


def _advice_as_json(
    solution: Solution, spot: Spot, advice: Advice, equity: str, drawn: int | None
) -> dict[str, object]:
    from dataclasses import asdict

    from game.truco.actions import action_name
    from game.truco.cards import card_name, envido_value
    from game.truco.hand import PLAYER_NAMES

    return {
        "rules": spot.rules.name(),
        "rules_hash": spot.rules.hash(),
        "seat": PLAYER_NAMES[spot.seat],
        "hand": [card_name(card) for card in spot.cards],
        "envido_value": envido_value(spot.cards),
        "score": {"mano": spot.scores[0], "pie": spot.scores[1]},
        "history": [action_name(action) for action in spot.history],
        "decision": str(spot.decision),
        "reached": advice.reached,
        "has_mix": advice.has_mix,
        "own_reach": advice.own_reach,
        "other_reach": advice.other_reach,
        "samples": advice.samples,
        "engine": solution.info.engine,
        "iterations": solution.info.iterations,
        "seed": solution.info.seed,
        "utility": solution.info.utility,
        "exploitability": solution.info.exploitability,
        "exploitability_method": solution.info.exploitability_method,
        "equity": equity,
        "remark": solution.remark,
        "actions": [
            {
                **asdict(row),
                "action": action_name(row.action),
            }
            for row in advice.actions
        ],
        "roll": None if drawn is None else action_name(drawn),
    }


def _print_advice(solution: Solution, spot: Spot, advice: Advice, equity: str, drawn: int | None) -> None:
    from rich.console import Console
    from rich.table import Table

    from game.truco.actions import MAZO, action_name
    from game.truco.cards import card_names, envido_value
    from game.truco.hand import PLAYER_NAMES

    console = Console()
    seat = PLAYER_NAMES[spot.seat]
    own, other = spot.scores[spot.seat], spot.scores[1 - spot.seat]
    history = " ".join(map(action_name, spot.history)) or "nothing yet"
    console.print(
        f"[bold]{card_names(spot.cards)}[/bold] as {seat}, Envido {envido_value(spot.cards)}, score {own}-{other}"
    )
    console.print(f"so far: {history}")
    listing = Table()
    for column in ("action", "mix", "", "points", "±", "match win %", "±", "best"):
        listing.add_column(column, justify="left" if column in ("action", "") else "right")
    same = "the same as no_quiero"
    for row in advice.actions:
        name = action_name(row.action)
        mix = "" if row.probability is None else f"{row.probability:.0%}"
        bar = "█" * round(15 * (row.probability or 0.0))
        if row.points is None and row.match_win is None:
            listing.add_row(name, mix, bar or (same if row.action == MAZO else "value not known"))
            continue
        listing.add_row(
            name, mix, bar, _number(row.points, "+.2f"), _number(row.points_error, ".2f"),
            _number(row.match_win, ".1f", 100), _number(row.match_win_error, ".1f", 100),
            "≈" if row.near_best else "",
        )  # fmt: skip
    console.print(listing)
    for line in _advice_notes(solution, spot, advice, equity):
        console.print(line, style="dim")
    if drawn is not None:
        console.print(f"roll: [bold]{action_name(drawn)}[/bold]")


def _number(value: float | None, form: str, scale: float = 1.0) -> str:
    """A value in a cell, nothing where it is not known."""
    return "" if value is None else f"{scale * value:{form}}"


def _advice_notes(solution: Solution, spot: Spot, advice: Advice, equity: str) -> list[str]:
    """What a reader has to know of the table of an advice."""
    from game.truco.hand import PLAYER_NAMES
    from solver.truco.reading.advice import NEAR, UNREACHED

    info = solution.info
    notes = []
    if advice.other_reach <= UNREACHED:
        notes.append(
            f"The solution never reaches this spot: {PLAYER_NAMES[1 - spot.seat]} would not have played so with any "
            "hand. There are no frequencies; values take every hand for equally likely, then play by the solution."
        )
    elif advice.own_reach <= UNREACHED and advice.has_mix:
        notes.append("The solution would not have come here with this hand; the mix is how it would go on.")
    elif not advice.has_mix:
        notes.append("The solution never reaches this spot with this hand, and has learnt no mix for it.")
    if advice.samples and any(
        row.probability and row.probability > 0.05 and row.points is not None and not row.near_best
        for row in advice.actions
    ):
        notes.append(
            "Some of the mix is worth less than the best for this hand: the solution mixes for all hands that it "
            "takes for alike."
        )
    if solution.remark:
        notes.append(solution.remark)
    certified = info.exploitability_method
    if info.exploitability is not None:
        certified = f"{info.exploitability:.3f} ({info.exploitability_method})"
    how, near = f"{advice.samples:,} simulated deals", "two standard errors"
    if advice.samples == 0:
        how = "exact over all deals for hands of these tiers and this Envido, both going on by the policy"
        near = str(NEAR[info.utility])
    notes.append(
        f"points: made minus conceded in the hand, {how}; ≈: within {near} of the best in {info.utility}. match win: "
        f"by the {equity}. Solution: {info.engine}, {info.iterations:,} iterations, rules {spot.rules.name()}, "
        f"utility {info.utility}, exploitability {certified}."
    )
    return notes


if __name__ == "__main__":
    main()
