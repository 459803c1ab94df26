"""Action numbers of a Truco hand and their names: 0-39 play that card, 40-48 are words spoken (Part F)."""

from __future__ import annotations

from game.letters import odd_letters
from game.truco.cards import DECK_SIZE, card_name, parse_card

TRUCO, RETRUCO, VALE_CUATRO, ENVIDO, REAL_ENVIDO, FALTA_ENVIDO, QUIERO, NO_QUIERO, MAZO = range(
    DECK_SIZE, DECK_SIZE + 9
)
WORDS = (
    "truco",
    "retruco",
    "vale_cuatro",
    "envido",
    "real_envido",
    "falta_envido",
    "quiero",
    "no_quiero",
    "mazo",
)
"""Names of the actions 40-48, in order."""
NUM_ACTIONS = DECK_SIZE + len(WORDS)


def action_name(action: int) -> str:
    """Short card name for 0-39, else the word spoken (`quiero`)."""
    return card_name(action) if action < DECK_SIZE else WORDS[action - DECK_SIZE]


def parse_action(text: str) -> int:
    """Action number of a card name or a word; case, spaces, hyphens and underscores in words do not matter.

    Raises ValueError naming the text when it is neither.
    """
    word = text.strip().lower().replace("-", "_").replace(" ", "_")
    if word in WORDS:
        return DECK_SIZE + WORDS.index(word)
    try:
        return parse_card(text)
    except ValueError:
        raise ValueError(
            f"unknown action {text!r}{odd_letters(text)}: write a card such as 7O or one of {', '.join(WORDS)}"
        ) from None
