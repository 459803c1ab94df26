"""Plays two Truco players against each other: duplicate hands and whole matches, with 95 % intervals."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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

if TYPE_CHECKING:
    from game.truco.rules import Rules
    from solver.truco.reading.duel import Bot, Duel

app = new_app("Play two Truco players against each other.")


@app.command(
    epilog="Examples:  `python -m scripts.match_bots heuristic random`  ·  "
    "`python -m scripts.match_bots my.truco heuristic --hands 500000`  ·  "
    "`python -m scripts.match_bots my.truco base.vector --matches 20000 --json`"
)
def match_bots(
    a: Annotated[
        str,
        typer.Argument(help="random, caller, maniac, heuristic, or a solution or policy file.", metavar="A"),
    ],
    b: Annotated[str, typer.Argument(help="The other player, alike.", metavar="B")],
    hands: Annotated[int, typer.Option(min=0, help="Deals to play as single hands, each twice.")] = 100_000,
    matches: Annotated[
        int, typer.Option(min=0, help="Sequences of deals to play as matches, each twice.")
    ] = 5_000,
    score: Annotated[
        str, typer.Option(help="Score at which single hands start, mano first.", metavar="M-P")
    ] = "0-0",
    rules: RulesOption = "base",
    set_: SetOption = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed; same seed, same result.")] = 1,
    json: JsonOption = False,
) -> None:
    """Play A against B with the luck shared: every deal is played twice, with the seats swapped.

    A pair of plays is the unit of the intervals. A player against itself comes out exactly even.
    A solution plays every score of a match as the score it was solved for.
    """
    if hands == 0 and matches == 0:
        raise ValueError("nothing to play: both --hands and --matches are 0")
    chosen = chosen_rules(rules, set_)
    scores = parse_score(score, chosen.target)
    bots = load_bot(a, chosen), load_bot(b, chosen)

    from solver.truco.reading.duel import duel_hands, duel_matches

    duels: dict[str, Duel] = {}
    if hands:
        duels["hands"] = duel_hands(*bots, chosen, hands, seed, scores)
    if matches:
        duels["matches"] = duel_matches(*bots, chosen, matches, seed)
    if json:
        header = {"a": a, "b": b, "rules": chosen.name(), "score": score, "seed": seed}
        print_json(header | {kind: asdict(duel) for kind, duel in duels.items()})
    else:
        print_duels(a, b, chosen, score, duels)


def load_bot(name: str, rules: Rules) -> Bot:
    """The player of a baseline's name, a solution file or a policy file of the vector engine.

    Raises ValueError if it is neither, if the file is damaged, or if it was solved for other rules.
    """
    from solver.truco.players.baselines import BASELINES
    from solver.truco.reading.duel import baseline_bot, strategy_bot

    if name in BASELINES:
        return baseline_bot(name)
    if not Path(name).exists():
        raise ValueError(f"{name!r} is neither a solution file nor one of {', '.join(BASELINES)}")
    from solver.truco.solutions.load import load_solution

    solution = load_solution(name)
    if solution.rules != rules:
        raise ValueError(f"{name} was solved for rules {solution.rules.name()}, not {rules.name()}")
    if not solution.complete:
        raise ValueError(
            f"{name} keeps trick 1 only and cannot play whole hands; give the policy it was made from"
        )
    return strategy_bot(solution.strategy)


def print_duels(a: str, b: str, rules: Rules, score: str, duels: dict[str, Duel]) -> None:
    """Prints the results as tables for people."""
    from rich.console import Console
    from rich.table import Table

    results = Table(title=f"A = {a} against B = {b}, rules {rules.name()}", title_justify="left")
    for column in ("A's result", "mean", "95 % interval", "mano", "pie", "played"):
        results.add_column(column, justify="left" if column == "A's result" else "right", no_wrap=True)
    if "hands" in duels:
        duel = duels["hands"]
        results.add_row("points per hand", *_result_cells(duel, "{:+.3f}"), f"{duel.hands:,}")
    if "matches" in duels:
        duel = duels["matches"]
        results.add_row("matches won", *_result_cells(duel, "{:.1%}"), f"{2 * duel.pairs:,}")
    # How the players talk is read off whole matches where there are some.
    duel = duels.get("matches") or duels["hands"]
    words = Table(title="Said in 100 hands", title_justify="left")
    for column in ("", "A", "B"):
        words.add_column(column, justify="right" if column else "left")
    for word in duel.words[0]:
        words.add_row(word, *(f"{100 * said[word]:.1f}" for said in duel.words))
    console = Console()
    console.print(results)
    console.print(words)
    if "hands" in duels:
        console.print(f"Single hands start at {score}, mano first.")
    if "matches" in duels:
        console.print(f"A match takes {duel.hands / (2 * duel.pairs):.1f} hands.")
    for name, share in zip("AB", duel.unknown, strict=True):
        if share > 0:
            console.print(f"{name} had learnt no mix for {share:.4%} of its decisions.")


def _result_cells(duel: Duel, form: str) -> list[Any]:
    result = duel.result
    interval = f"{form.format(result.low)} to {form.format(result.high)}"
    return [form.format(result.mean), interval, form.format(duel.as_mano.mean), form.format(duel.as_pie.mean)]


if __name__ == "__main__":
    run(app)
