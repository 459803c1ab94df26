"""`truco advise`: what theory does with a hand; and the answer at a spot for every command that asks for one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from scripts.console import JsonOption, SetOption, note_compiling, print_json
from scripts.solutions import (
    EquityOption,
    SolutionOption,
    WantedRulesOption,
    WantedUtilityOption,
    chosen_equity,
    find_solution,
    given_solution,
    kept_solution,
    wanted_rules,
    wanted_scores,
)

if TYPE_CHECKING:
    from game.truco.spot import Spot
    from solver.truco.reading.advice import Advice
    from solver.truco.reading.solution import Solution

EXAMPLES = (
    'Examples:  `truco advise "1E 7O 3C"`  ·  `truco advise "7O 6O 4B" --pie --history "envido"`  ·  '
    '`truco advise "4O 3O 1B" --score 12-9 --mano --history "envido quiero 3O 6E" --shown 25`'
)


class Answer(NamedTuple):
    """What a solution says at a spot, and by which equity table the match is judged."""

    solution: Solution
    spot: Spot
    advice: Advice
    equity: str
    """Name of the table."""


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
    from game.truco.actions import action_name
    from game.truco.cards import parse_cards
    from game.truco.spot import Spot, parse_history

    given = given_solution(solution)
    chosen = wanted_rules(given, rules, set_)
    scores = wanted_scores(given, score, chosen.target)
    if score is not None and not mano:
        scores = scores[::-1]
    seat = 0 if mano else 1
    spot = Spot(chosen, seat, parse_cards(hand), scores, tuple(parse_history(history)), shown)
    answered = answer(given, spot, utility, equity, samples, 1 if seed is None else seed)
    drawn = _draw(answered.advice, seed) if roll else None
    if json:
        print_json(answer_as_json(answered) | {"roll": None if drawn is None else action_name(drawn)})
        return
    _print_question(spot)
    print_answer(answered)
    if drawn is not None:
        from rich.console import Console

        Console().print(f"roll: [bold]{action_name(drawn)}[/bold]")


def answer(
    given: Solution | None, spot: Spot, utility: str | None, equity: str, samples: int, seed: int
) -> Answer:
    """What the given solution says, or the one that is there for the spot's rules and score, or is solved now.

    `equity` names a table as in `load_equity`. Raises ValueError as `find_solution`.
    """
    from solver.truco.reading.advice import advise as advise_at

    found = find_solution(given, spot.rules, spot.scores, utility, equity, shipped=True)
    if found.look_up(spot) is None:
        note_compiling()
    found = found.at(spot)
    worth = found.equity or chosen_equity(spot.rules, equity)
    advice = advise_at(found, spot, worth, samples, seed)
    if given is None and not (advice.has_mix or found.complete):
        # Where the policy that comes with this program does not go, a quick solution may have been.
        kept = kept_solution(spot.rules, spot.scores, utility, equity)
        if kept is not None:
            found, advice = kept, advise_at(kept, spot, worth, samples, seed)
        what = (
            "the quick solution kept before answers" if kept else "`truco solve` keeps a rough one that may"
        )
        print(
            f"note: the policy that comes with this program never comes to this spot; {what}", file=sys.stderr
        )
    return Answer(found, spot, advice, worth.name)


def _draw(advice: Advice, seed: int | None) -> int | None:
    """An action drawn by the mix; None where there is no mix."""
    import random

    if not advice.has_mix:
        return None
    weights = [row.probability or 0.0 for row in advice.actions]
    return random.Random(seed).choices([row.action for row in advice.actions], weights)[0]


def answer_as_json(answered: Answer) -> dict[str, object]:
    """An answer as JSON values: the spot with its ID, the solution, and each action's share and values."""
    from dataclasses import asdict

    from game.truco.actions import action_name
    from game.truco.cards import card_name, envido_value
    from game.truco.hand import PLAYER_NAMES
    from game.truco.spot_id import format_spot

    solution, spot, advice, equity = answered
    return {
        "spot": format_spot(spot),
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
    }


def _print_question(spot: Spot) -> None:
    from rich.console import Console

    from game.truco.actions import action_name
    from game.truco.cards import card_names, envido_value
    from game.truco.hand import PLAYER_NAMES
    from game.truco.spot_id import format_spot

    console = Console()
    seat = PLAYER_NAMES[spot.seat]
    own, other = spot.scores[spot.seat], spot.scores[1 - spot.seat]
    history = " ".join(map(action_name, spot.history)) or "nothing yet"
    console.print(
        f"[bold]{card_names(spot.cards)}[/bold] as {seat}, Envido {envido_value(spot.cards)}, score {own}-{other}"
    )
    console.print(f"so far: {history}")
    console.print(f"spot: {format_spot(spot)}", highlight=False, soft_wrap=True)


def print_answer(answered: Answer) -> None:
    """Prints the mix and the values of each action, and what a reader has to know of them."""
    from rich.console import Console
    from rich.table import Table

    from game.truco.actions import MAZO, action_name

    solution, spot, advice, equity = answered
    console = Console()
    cells = {
        "points": [_number(row.points, "+.2f") for row in advice.actions],
        "±": [_number(row.points_error, ".2f") for row in advice.actions],
        "match win %": [_number(row.match_win, ".1f", 100) for row in advice.actions],
        "± %": [_number(row.match_win_error, ".1f", 100) for row in advice.actions],
        "best": ["≈" if row.near_best else "" for row in advice.actions],
    }
    shown = {name: column for name, column in cells.items() if any(column)}
    listing = Table()
    for name in ("action", "mix", "", *shown):
        listing.add_column(name, justify="left" if name in ("action", "") else "right")
    same = "the same as no_quiero"
    for k, row in enumerate(advice.actions):
        mix = "" if row.probability is None else f"{row.probability:.0%}"
        bar = "█" * round(15 * (row.probability or 0.0))
        if row.points is None and row.match_win is None:
            bar = bar or (same if row.action == MAZO else "value not known")
        listing.add_row(action_name(row.action), mix, bar, *(column[k] for column in shown.values()))
    console.print(listing)
    for line in _advice_notes(solution, spot, advice, equity):
        console.print(line, style="dim", markup=False)


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
        values = any(row.points is not None for row in advice.actions)
        notes.append(
            f"The solution never reaches this spot: {PLAYER_NAMES[1 - spot.seat]} would not have played so with any "
            "hand. There are no frequencies"
            + ("; values take every hand for equally likely, then play by the solution." if values else ".")
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
    told = []
    if any(row.points is not None for row in advice.actions):
        told.append(f"points: made minus conceded in the hand, {how}")
    if any(row.match_win is not None for row in advice.actions):
        told.append(f"match win: by the {equity}" + ("" if told else f", {how}"))
    if told:
        told.append(f"≈: within {near} of the best in {info.utility}")
    source = (
        f"Solution: {info.engine}, {info.iterations:,} iterations, rules {spot.rules.name()}, "
        f"utility {info.utility}, exploitability {certified}."
    )
    notes.append(f"{'; '.join(told)}. {source}" if told else source)
    return notes
