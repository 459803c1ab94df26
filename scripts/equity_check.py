"""`truco equity check` and `truco equity exploitability`: how far a finished table is to be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scripts.console import (
    JsonOption,
    RulesOption,
    SetOption,
    chosen_rules,
    parse_score,
    print_json,
    progress,
)
from scripts.equity_solve import DEFAULT_ITERATIONS, sweep_settings

if TYPE_CHECKING:
    from game.truco.rules import Rules
    from solver.truco.match.equity_states import Score, StateValue
    from solver.truco.solutions.quick_solution import QuickSolution

CHECK_EXAMPLES = (
    "Examples:  `truco equity check --equity results/equity/base`  ·  `truco equity check --equity "
    "results/equity/base --strategies out/strategies --matches 200000 --again 13-13 --again 14-10 --json`"
)
EXPLOITABILITY_EXAMPLES = (
    "Examples:  `truco equity exploitability --equity results/equity/base --strategies out/strategies "
    "--least 12`"
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
    from solver.truco.match.equity_states import accumulated_error, exceptions, load_states, sweep_facts
    from solver.truco.match.equity_sweep import solve_again

    often = iterations or DEFAULT_ITERATIONS.get(engine, (1, 1))[1]
    merges = (contexts, values, chains)
    settings = sweep_settings(engine, often, None, 60_000, seed, merges, False)
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
                    "difference": other.value - state.value,
                    "z": (other.value - state.value) / error if error else None,
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
        print(f"  {row['from']} to {row['to']}: {row['rise']:+.4f} (z {_z(row)})")
    for row in found["again"]:
        print(
            f"second solve at {row['score']}: {row['second']:.4f}, table {row['table']:.4f}, z {_z(row)}, "
            f"{row['iterations']} iterations"
        )
    if strategies is not None:
        row = found["matches"]
        print(
            f"{row['played']:,} matches: first mano wins {row['first_mano_wins']:.2%} ± {row['standard_error']:.2%}, "
            f"z {_z(row)}; {row['hands_per_match']:.1f} hands a match"
        )


def _z(row: dict[str, Any]) -> str:
    return "unknown" if row["z"] is None else f"{row['z']:+.1f}"


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
) -> dict[str, float | None]:
    """Plays matches by the kept strategies; raises ValueError for one that is missing or of other rules."""
    from solver.truco.match.equity_states import accumulated_error
    from solver.truco.match.selfplay import play_matches

    tables = {score: _strategy(rules, folder, score).table for score in states}
    wins, hands = play_matches(rules, tables, pairs, seed)
    means = wins.mean(axis=1)
    error = float(means.std(ddof=1) / len(means) ** 0.5)
    mean, value = float(means.mean()), states[0, 0].value
    spread = (error**2 + accumulated_error(states) ** 2) ** 0.5
    return {
        "played": 2 * pairs,
        "first_mano_wins": mean,
        "standard_error": error,
        "z": (mean - value) / spread if spread else None,
        "hands_per_match": hands / (2 * pairs),
    }


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
    from solver.truco.match.equity_states import load_states

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
