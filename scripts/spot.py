"""`truco spot`: the state of the hand that a spot ID means, and the advice there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from scripts.advise import answer, answer_as_json, print_answer
from scripts.console import JsonOption, print_json
from scripts.solutions import EquityOption, SolutionOption, WantedUtilityOption, given_solution

if TYPE_CHECKING:
    from game.truco.spot import Spot

EXAMPLES = (
    "Examples:  `truco spot base.0-0.mano.4B6O7O`  ·  `truco spot base.0-0.pie.4B6O7O.envido --json`  ·  "
    "`truco spot base.12-9.mano.1B3O4O.envido-quiero-3O-6E.25`"
)


def show_spot(
    spot_id: Annotated[
        str, typer.Argument(help="A spot ID, as `truco advise` prints it.", metavar="ID", show_default=False)
    ],
    utility: WantedUtilityOption = None,
    equity: EquityOption = "computed",
    solution: SolutionOption = None,
    samples: Annotated[int, typer.Option(min=100, help="Deals simulated for the values.")] = 5_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 1,
    state: Annotated[bool, typer.Option("--state", help="Show the state alone, ask no solution.")] = False,
    json: JsonOption = False,
) -> None:
    """Show the state of a hand at a spot, and what theory does there."""
    from game.truco.spot_id import parse_spot

    spot = parse_spot(spot_id)
    if state:
        print_json(state_as_json(spot)) if json else print_state(spot)
        return
    given = given_solution(solution)
    answered = answer(given, spot, utility, equity, samples, seed)
    if json:
        print_json(state_as_json(spot) | {"advice": answer_as_json(answered)})
        return
    print_state(spot)
    print_answer(answered)


def state_as_json(spot: Spot) -> dict[str, Any]:
    """Who has what, what was said, what lies on the table and who decides, as JSON values."""
    from game.truco.actions import action_name
    from game.truco.cards import card_name, envido_value
    from game.truco.hand import PLAYER_NAMES
    from game.truco.spot_id import format_spot

    hand = spot.hand
    return {
        "spot": format_spot(spot),
        "rules": spot.rules.name(),
        "seat": PLAYER_NAMES[spot.seat],
        "score": dict(zip(PLAYER_NAMES, spot.scores, strict=True)),
        "score_now": dict(zip(PLAYER_NAMES, hand.scores, strict=True)),
        "cards": [card_name(card) for card in sorted(spot.cards)],
        "held": [card_name(card) for card in hand.held(spot.seat)],
        "envido_value": envido_value(spot.cards),
        "envido_shown": spot.shown,
        "history": [
            {"seat": PLAYER_NAMES[player], "action": action_name(action)} for player, action in hand.history
        ],
        "tricks": [
            {**cards, "winner": winner}
            for cards, winner in zip(
                _cards_of_tricks(spot), [*map(_winner_name, hand.tricks), None], strict=False
            )
        ],
        "round_value": hand.round_value,
        "pending_truco": hand.pending_truco or None,
        "envido": [action_name(call) for call in hand.envido_chain],
        "envido_state": _envido_state(spot),
        "decision": str(spot.decision),
        "legal": [action_name(action) for action in hand.legal_actions()],
        "hands_of_other": len(spot.others),
    }


def _cards_of_tricks(spot: Spot) -> list[dict[str, str | None]]:
    """The cards of mano and pie in each trick begun."""
    from game.truco.cards import DECK_SIZE, card_name
    from game.truco.hand import PLAYER_NAMES

    played = [(who, action) for who, action in spot.hand.history if action < DECK_SIZE]
    tricks = []
    for begin in range(0, len(played), 2):
        cards: dict[str, str | None] = dict.fromkeys(PLAYER_NAMES)
        cards |= {PLAYER_NAMES[who]: card_name(action) for who, action in played[begin : begin + 2]}
        tricks.append(cards)
    return tricks


def _winner_name(winner: int) -> str:
    from game.truco.hand import PARDA, PLAYER_NAMES

    return "parda" if winner == PARDA else PLAYER_NAMES[winner]


def _envido_state(spot: Spot) -> str:
    hand = spot.hand
    if hand.envido_caller is not None:
        return "pending"
    if hand.envido_chain:
        return "accepted" if hand.envido_accepted else "declined"
    return "open" if spot.rules.envido and not hand.tricks else "not called"


def print_state(spot: Spot) -> None:
    """Prints the state in a few lines."""
    from rich.console import Console

    console = Console()
    for line in state_lines(spot):
        console.print(line, highlight=False)


def state_lines(spot: Spot) -> list[str]:
    """The state of the hand, a line a fact."""
    from game.truco.actions import TRUCO, action_name
    from game.truco.cards import card_names, envido_value
    from game.truco.hand import PLAYER_NAMES
    from game.truco.spot_id import format_spot

    hand, seat = spot.hand, PLAYER_NAMES[spot.seat]
    other = PLAYER_NAMES[1 - spot.seat]
    scores = ", ".join(
        f"{name} {before}" + (f" (now {now})" if now != before else "")
        for name, before, now in zip(PLAYER_NAMES, spot.scores, hand.scores, strict=True)
    )
    lines = [
        f"[bold]{format_spot(spot)}[/bold]",
        f"rules      {spot.rules.name()}, to {spot.rules.target}; score {scores}",
        f"you        {seat}: dealt {card_names(sorted(spot.cards))}, Envido {envido_value(spot.cards)}; "
        f"still held {card_names(hand.held(spot.seat))}",
        f"other      {other}: {len(spot.others):,} hands possible"
        + (f", showed Envido {spot.shown}" if spot.shown is not None else ""),
        "calls      "
        + (
            " ".join(f"{PLAYER_NAMES[who][0]}:{action_name(action)}" for who, action in hand.history)
            or "none"
        ),
    ]
    for number, cards in enumerate(_cards_of_tricks(spot), start=1):
        won = _winner_name(hand.tricks[number - 1]) if number <= len(hand.tricks) else "open"
        lies = ", ".join(f"{name} {card}" for name, card in cards.items() if card is not None)
        lines.append(f"trick {number}    {lies}: {won}")
    stakes = f"round worth {hand.round_value}"
    if hand.pending_truco:
        stakes += f", {action_name(TRUCO + hand.pending_truco - 2)} not answered yet"
    if hand.envido_chain:
        stakes += f"; {'+'.join(map(action_name, hand.envido_chain))} {_envido_state(spot)}"
    lines.append(f"at stake   {stakes}")
    lines.append(f"decision   {seat}, {str(spot.decision).replace('_', ' ')}")
    return lines
