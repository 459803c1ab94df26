"""The canonical text of a spot, safe in URLs: `base.0-0.mano.4B6O7O.envido-quiero-3O-6E.25` (docs/spot-id.md).

One spot has one text, and a text that is read back is the one that is written: the reader takes no other form.
"""

from __future__ import annotations

import re
from typing import Any

from game.truco.actions import action_name
from game.truco.cards import card_name, parse_card
from game.truco.hand import PLAYER_NAMES
from game.truco.rules import PRESETS, Rules, make_rules, parse_field
from game.truco.spot import Spot, parse_history

FORM = "RULES.SCORE.SEAT.CARDS[.HISTORY[.SHOWN]]"
MOST_CHARACTERS = 400
"""More than any spot needs."""
_CARD = re.compile("[0-9]{1,2}[A-Za-z]")
_SCORE = re.compile("([0-9]{1,2})-([0-9]{1,2})")


def format_rules(rules: Rules) -> str:
    """The preset nearest to the rules and each field that differs from it: `argentino~max_envido-3~target-30`."""
    values = rules.to_dict()
    changes = {
        name: {key: value for key, value in values.items() if value != preset.to_dict()[key]}
        for name, preset in PRESETS.items()
    }
    name = min(changes, key=lambda preset: len(changes[preset]))
    return "~".join([name, *(f"{field}-{_value_text(value)}" for field, value in changes[name].items())])


def _value_text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def parse_rules(text: str) -> Rules:
    """Rules of a text as `format_rules` writes it; fields may stand in any order.

    Raises ValueError naming an unknown preset or field, or a value that is not allowed.
    """
    preset, *changes = text.split("~")
    fields: dict[str, Any] = {}
    for change in changes:
        name, dash, value = change.partition("-")
        if not dash:
            raise ValueError(f"rules field {change!r} is not of the form field-value")
        if name == "deck" and value != "full":
            fields[name] = " ".join(card_name(card) for card in _parse_cards(value))
            continue
        fields |= [parse_field(f"{name}={value}")]
    return make_rules(preset, fields)


def format_spot(spot: Spot) -> str:
    """The canonical text of a spot, of the characters A-Z a-z 0-9 - . _ ~ only."""
    parts = [
        format_rules(spot.rules),
        f"{spot.scores[0]}-{spot.scores[1]}",
        PLAYER_NAMES[spot.seat],
        "".join(card_name(card) for card in sorted(spot.cards)),
    ]
    if spot.history:
        parts.append("-".join(action_name(action) for action in spot.history))
    if spot.shown is not None:
        parts.append(str(spot.shown))
    return ".".join(parts)


def parse_spot(text: str) -> Spot:
    """The spot of a canonical text; no player is noted beside the words of its history.

    Raises ValueError naming what is wrong and what is allowed; for a text that means a spot but is not its
    canonical one, naming that.
    """
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"a spot ID has at most {MOST_CHARACTERS} characters, this has {len(text)}")
    parts = text.split(".")
    if not 4 <= len(parts) <= 6:
        raise ValueError(f"spot ID {text!r} is not of the form {FORM}")
    rules_text, score_text, seat_text, cards_text, *rest = parts
    rules = parse_rules(rules_text)
    scores = _parse_score(score_text, rules.target)
    if seat_text not in PLAYER_NAMES:
        raise ValueError(f"seat {seat_text!r} is unknown, allowed: {', '.join(PLAYER_NAMES)}")
    words = tuple(parse_history(rest[0].replace("-", " "))) if rest else ()
    shown = _parse_shown(rest[1]) if len(rest) == 2 else None
    spot = Spot(rules, PLAYER_NAMES.index(seat_text), _parse_cards(cards_text), scores, words, shown)
    canonical = format_spot(spot)
    if canonical != text:
        raise ValueError(f"spot ID {text!r} is not in canonical form, which is {canonical}")
    return spot


def _parse_cards(text: str) -> tuple[int, ...]:
    """Cards of names set side by side, `4B6O7O`."""
    names = _CARD.findall(text)
    if not names or "".join(names) != text:
        raise ValueError(f"cards {text!r} are not names side by side such as 4B6O7O")
    cards: list[int] = []
    for name in names:
        card = parse_card(name)
        if card in cards:
            raise ValueError(f"card {card_name(card)} is given twice")
        cards.append(card)
    return tuple(cards)


def _parse_score(text: str, target: int) -> tuple[int, int]:
    match = _SCORE.fullmatch(text)
    if match is None:
        raise ValueError(f"score {text!r} is not of the form 12-9, mano first")
    scores = int(match[1]), int(match[2])
    if max(scores) >= target:
        raise ValueError(f"score {text} is outside 0-0 to {target - 1}-{target - 1}")
    return scores


def _parse_shown(text: str) -> int:
    if not re.fullmatch("[0-9]{1,2}", text):
        raise ValueError(f"shown value {text!r} is not a number such as 25")
    return int(text)
