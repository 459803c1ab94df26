"""Labels in the user's language, a catalogue file for each, and the actions that typed words mean in any of them."""

from __future__ import annotations

import os
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = Path(__file__).parent / "languages"
FALLBACK = "en"
LanguageOption = Annotated[
    str | None,
    typer.Option(
        "--lang",
        help="Language: en, es; by default that of the environment, or en.",
        metavar="LANG",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Words:
    """The labels of one language by dotted keys, `play.cards`."""

    language: str
    labels: dict[str, str | list[str]]

    def __call__(self, key: str, **values: object) -> str:
        """The label with its values filled in. KeyError for a key that the catalogue does not have."""
        text = self.labels[key]
        assert isinstance(text, str), key
        return text.format(**values)

    def listed(self, key: str) -> list[str]:
        """The words of a key that has a list."""
        words = self.labels[key]
        assert isinstance(words, list), key
        return words

    def action(self, action: int) -> str:
        """How an action is shown: a card by its short name, else the word."""
        from game.truco.actions import TRUCO, action_name

        name = action_name(action)
        return name if action < TRUCO else self(f"actions.{name}")


def languages() -> list[str]:
    """Codes of the languages there are."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


@cache
def catalogue(language: str) -> Words:
    """The labels of a language. ValueError if there is no such catalogue."""
    if language not in languages():
        raise ValueError(f"language {language!r} is unknown, allowed: {', '.join(languages())}")
    return Words(language, _flat(tomllib.loads((FOLDER / f"{language}.toml").read_text(encoding="utf-8"))))


def _flat(table: dict[str, Any], before: str = "") -> dict[str, str | list[str]]:
    flat: dict[str, str | list[str]] = {}
    for key, value in table.items():
        flat |= _flat(value, f"{before}{key}.") if isinstance(value, dict) else {before + key: value}
    return flat


def chosen_words(language: str | None) -> Words:
    """The language asked for, else that of the environment if there is a catalogue for it, else English."""
    if language is not None:
        return catalogue(language)
    places = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    code = next((place for place in places if place), "")[:2].lower()
    return catalogue(code if code in languages() else FALLBACK)


def plain(text: str) -> str:
    """A typed text without what does not matter: case, accents, underscores, blanks around, marks of speech."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    letters = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return " ".join(letters.replace("_", " ").replace("-", " ").strip("¡!¿.,; \t").split())


@cache
def spoken() -> dict[str, int]:
    """The action of each word that can be typed: names, and labels and other words of every language."""
    from game.truco.actions import TRUCO, WORDS

    meaning: dict[str, int] = {}
    for number, name in enumerate(WORDS):
        for text in {name, *_all_words(f"actions.{name}"), *_all_words(f"said.{name}")}:
            meaning[plain(text)] = TRUCO + number
    return meaning


def meant_command(text: str) -> str | None:
    """`help` or `quit` if a typed text asks for it in any language."""
    # The plain form of a question mark is nothing.
    word = plain(text) or text.strip()
    for command in ("help", "quit"):
        if word in {plain(said) or said for said in _all_words(f"commands.{command}")}:
            return command
    return None


def meant_action(text: str) -> int | None:
    """The action that a text means in any language, a card's too (`7O`, `7 of coins`); None if it means none."""
    from game.truco.cards import parse_card

    word = plain(text)
    if word in spoken():
        return spoken()[word]
    try:
        return parse_card(_card_words(word))
    except ValueError:
        return None


def _card_words(text: str) -> str:
    """`7 of coins` as `7O`; another text as it is."""
    from game.truco.cards import RANKS, SUITS

    parts = text.split()
    if len(parts) != 3 or parts[1] not in _plain_words("cards.of"):
        return text
    ranks = [str(rank) for rank in RANKS if parts[0] in {str(rank), *_plain_words(f"cards.ranks_{rank}")}]
    suits = [suit for suit in SUITS if parts[2] in _plain_words(f"cards.suits_{suit}")]
    return ranks[0] + suits[0] if ranks and suits else text


def _plain_words(key: str) -> set[str]:
    return {plain(word) for word in _all_words(key)}


def _all_words(key: str) -> Iterable[str]:
    """The words of a key in every language, none where the catalogues do not have it."""
    for language in languages():
        value = catalogue(language).labels.get(key, [])
        yield from [value] if isinstance(value, str) else value
