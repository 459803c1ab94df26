"""The rules of a Truco hand as data: presets, switchable fields, hash and TOML loading (spec Part C)."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from game.truco.cards import DECK_SIZE, card_name, parse_cards

_CHOICES: dict[str, tuple[Any, ...]] = {
    "envido": (True, False),
    "envido_reveal": ("values", "buenas", "hands"),
    "raise_right": ("alternate", "any"),
    "envido_after_truco": ("forbid", "allow"),
    "max_envido": (1, 2, 3),
    "falta": ("leader", "malas_buenas"),
    "falta_accept": ("replaces", "adds"),
    "fold_vs_envido": ("round", "both"),
    "first_trick_fold_bonus": (0, 1),
    "hand_size": (1, 2, 3),
}
_TARGETS = "a whole number from 1 to 99"


@dataclass(frozen=True)
class Rules:
    """One set of house rules; the defaults are the preset `base`.

    Raises ValueError naming the field and what it allows.
    """

    target: int = 15
    """Points that win the match (R-1); 15 and 30 are played."""
    envido: bool = True
    """Whether Envido is played at all."""
    envido_reveal: str = "values"
    """What an accepted Envido makes public (A-2): both `values`; `buenas`: mano's value, and pie's only if
    pie wins; or both `hands`."""
    raise_right: str = "alternate"
    """Who may call the next Truco level later (A-5): who accepted (`alternate`), or `any` player on turn."""
    envido_after_truco: str = "forbid"
    """Whether Envido may still be called in trick 1 once a Truco was accepted (A-7)."""
    max_envido: int = 2
    """How often plain Envido may stand in one chain (A-11)."""
    falta: str = "leader"
    """Worth of an accepted Falta (R-22): what the `leader` misses to the target, or `malas_buenas`
    (target 30): while both are below 15, what the leader misses to 15."""
    falta_accept: str = "replaces"
    """Whether an accepted Falta `replaces` the chain before it or `adds` to it (A-12)."""
    fold_vs_envido: str = "round"
    """What mazo in answer to an Envido call pays (A-14): the `round` value, or `both` that and what
    declining pays."""
    first_trick_fold_bonus: int = 0
    """Extra points for mazo on one's own turn while one could still call Envido."""
    deck: tuple[int, ...] = tuple(range(DECK_SIZE))
    """Card indices in play, ascending."""
    hand_size: int = 3
    """Cards dealt to each player."""

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
            if not any(value == choice and type(value) is type(choice) for choice in allowed):
                raise ValueError(f"{name} is {value!r}, allowed: {', '.join(map(str, allowed))}")
        if type(self.target) is not int or not 1 <= self.target <= 99:
            raise ValueError(f"target is {self.target!r}, allowed: {_TARGETS}")
        if self.falta == "malas_buenas" and self.target != 30:
            raise ValueError(f"falta malas_buenas needs target 30, not {self.target}")
        cards = self.deck if isinstance(self.deck, list | tuple) else (None,)
        if not all(type(card) is int and 0 <= card < DECK_SIZE for card in cards):
            raise ValueError(f"deck is {self.deck!r}, allowed: full, or a list of cards")
        deck = tuple(sorted(self.deck))
        if len(set(deck)) != len(deck):
            raise ValueError(f"deck holds a card twice: {' '.join(map(card_name, deck))}")
        if len(deck) < 2 * self.hand_size:
            raise ValueError(f"deck has {len(deck)} cards, two hands of {self.hand_size} need more")
        object.__setattr__(self, "deck", deck)

    def to_dict(self) -> dict[str, Any]:
        """Every field as JSON values; the deck as `full` or a list of short card names."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        full = len(self.deck) == DECK_SIZE
        return values | {"deck": "full" if full else [card_name(card) for card in self.deck]}

    def hash(self) -> str:
        """Sixteen hex digits that name these rules; stable across machines and Python versions.

        Only fields that differ from their default count, so that files outlive a new field whose default leaves
        the game as it was. A default therefore never changes.
        """
        values = self.to_dict()
        defaults = {field.name: field.default for field in fields(self)} | {"deck": "full"}
        changed = {name: value for name, value in values.items() if value != defaults[name]}
        return hashlib.sha256(json.dumps(changed, sort_keys=True).encode()).hexdigest()[:16]

    def name(self) -> str:
        """The preset's name, with `+field=value` for each field that differs from it."""
        values = self.to_dict()
        changes = {
            preset: {key: value for key, value in values.items() if value != rules.to_dict()[key]}
            for preset, rules in PRESETS.items()
        }
        preset = min(changes, key=lambda name: len(changes[name]))
        return preset + "".join(
            f"+{key}={' '.join(value) if isinstance(value, list) else value}"
            for key, value in changes[preset].items()
        )


PRESETS: dict[str, Rules] = {
    "base": Rules(),
    "argentino": Rules(envido_reveal="buenas", fold_vs_envido="both", first_trick_fold_bonus=1),
}
"""`base` is what the rules page says; `argentino` is the usual Argentine table (end of Part C)."""
FIELD_NAMES = tuple(field.name for field in fields(Rules))


def make_rules(preset: str = "base", overrides: Mapping[str, Any] | None = None) -> Rules:
    """The preset with some fields replaced; `deck` may be `full`, a text or a list of short card names.

    Raises ValueError naming an unknown preset or field, or a value that is not allowed.
    """
    if preset not in PRESETS:
        raise ValueError(f"unknown rules {preset!r}, allowed: {', '.join(PRESETS)}")
    changes = dict(overrides or {})
    for name in changes:
        if name not in FIELD_NAMES:
            raise ValueError(f"unknown rules field {name!r}, allowed: {', '.join(FIELD_NAMES)}")
    if "deck" in changes:
        deck = changes["deck"]
        if deck == "full":
            changes["deck"] = tuple(range(DECK_SIZE))
        elif isinstance(deck, str):
            changes["deck"] = parse_cards(deck)
        elif isinstance(deck, list | tuple) and all(isinstance(card, str) for card in deck):
            changes["deck"] = parse_cards(" ".join(deck))
    return replace(PRESETS[preset], **changes)


def parse_field(text: str) -> tuple[str, Any]:
    """Name and value of a `field=value` text, the value in the field's own type.

    Raises ValueError naming an unknown field or a value of another type.
    """
    name, equals, word = text.partition("=")
    name, word = name.strip(), word.strip()
    if not equals or name not in FIELD_NAMES:
        raise ValueError(f"{text!r} is not field=value with a field of {', '.join(FIELD_NAMES)}")
    default = getattr(PRESETS["base"], name)
    if isinstance(default, bool):
        if word.lower() not in ("true", "false", "on", "off"):
            raise ValueError(f"{name} is {word!r}, allowed: true, false")
        return name, word.lower() in ("true", "on")
    if isinstance(default, int):
        if not re.fullmatch(r"[+-]?\d{1,9}", word, re.ASCII):
            allowed = ", ".join(map(str, _CHOICES.get(name, (_TARGETS,))))
            raise ValueError(f"{name} is {word!r}, allowed: {allowed}")
        return name, int(word)
    return name, word


def load_rules(path: Path, overrides: Mapping[str, Any] | None = None) -> Rules:
    """Rules of a TOML file: an optional `preset` (default `base`), any fields on top of it, then the overrides.

    Raises ValueError naming the file and what is wrong in it.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
        return make_rules(values.pop("preset", "base"), values | dict(overrides or {}))
    except OSError as error:
        raise ValueError(f"cannot read rules file {path}: {error.strerror}") from None
    except (ValueError, TypeError) as error:
        raise ValueError(f"rules file {path}: {error}") from None
