"""The Spanish 40-card deck: names, trick strength and Envido counting (R-7, R-8, R-20)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from game.letters import odd_letters

SUITS = "EBOC"
"""Suit letters in index order: espada, basto, oro, copa."""
RANKS = (1, 2, 3, 4, 5, 6, 7, 10, 11, 12)
"""Ranks in index order; there is no 8 and no 9 (R-7)."""
DECK_SIZE = len(SUITS) * len(RANKS)
NUM_TIERS = 14
MAX_ENVIDO = 33
"""Highest Envido value, 7 + 6 + 20 (R-20)."""

_SUIT_NAMES = ("espada", "basto", "oro", "copa")
_NICKNAMES = {"as": 1, "ancho": 1, "sota": 10, "caballo": 11, "rey": 12}
# the four named cards and the split aces and sevens; every other rank is one tier of four cards.
_SPECIAL_TIERS = {"1E": 1, "1B": 2, "7E": 3, "7O": 4, "1C": 7, "1O": 7, "7B": 11, "7C": 11}
_RANK_TIERS = {3: 5, 2: 6, 12: 8, 11: 9, 10: 10, 6: 12, 5: 13, 4: 14}
_WORDS = re.compile(r"([a-z0-9]+)\s+de\s+([a-z]+)")


def card_name(card: int) -> str:
    """Short name of a card index 0-39: rank then suit letter, `9` -> `12E`."""
    return f"{RANKS[card % 10]}{SUITS[card // 10]}"


def card_names(cards: Sequence[int]) -> str:
    """Short names parted by spaces, in the order given."""
    return " ".join(card_name(card) for card in cards)


_INDEX = {card_name(card): card for card in range(DECK_SIZE)}


def parse_card(text: str) -> int:
    """Index 0-39 of a card written `7O`, `7o`, `7 de Oro`, `ancho de espada` or `as de basto`.

    Raises ValueError naming the text when it is not a card.
    """
    word = " ".join(text.split())
    if word.upper() in _INDEX:
        return _INDEX[word.upper()]
    match = _WORDS.fullmatch(word.lower())
    if match:
        rank_word, suit_word = match.groups()
        rank = _NICKNAMES.get(rank_word) or (int(rank_word) if rank_word.isdecimal() else 0)
        suit_word = suit_word.removesuffix("s")
        if rank in RANKS and suit_word in _SUIT_NAMES:
            return _INDEX[f"{rank}{SUITS[_SUIT_NAMES.index(suit_word)]}"]
    raise ValueError(
        f"unknown card {text!r}{odd_letters(word)}: write a rank 1-7, 10, 11 or 12 and a suit letter E, B, O or C, "
        "such as 7O"
    )


def parse_cards(text: str) -> tuple[int, ...]:
    """Card indices of a list parted by spaces or commas, in the order written.

    Raises ValueError naming an unknown or doubled card.
    """
    joined = re.sub(r"\s+de\s+", " de ", text.replace(",", " "), flags=re.IGNORECASE)
    cards: list[int] = []
    for word in re.findall(r"\S+ de \S+|\S+", joined, flags=re.IGNORECASE):
        card = parse_card(word)
        if card in cards:
            raise ValueError(f"card {card_name(card)} is given twice")
        cards.append(card)
    return tuple(cards)


def _tier_of(card: int) -> int:
    return _SPECIAL_TIERS.get(card_name(card)) or _RANK_TIERS[RANKS[card % 10]]


TIERS = tuple(_tier_of(card) for card in range(DECK_SIZE))
"""Strength tier of each card index, 1 = strongest, 14 = weakest (R-8)."""
ENVIDO_POINTS = tuple(RANKS[card % 10] if RANKS[card % 10] <= 7 else 0 for card in range(DECK_SIZE))
"""Envido points of each card index: 1-7 count their rank, 10, 11 and 12 nothing (R-20)."""


def tier(card: int) -> int:
    """Strength tier of a card, 1 = strongest, 14 = weakest; equal tier = equal strength (R-8)."""
    return TIERS[card]


def envido_value(cards: Sequence[int]) -> int:
    """Envido value of 1-3 dealt cards (R-20): best two of a suit + 20, else the highest card (A-9)."""
    pairs = [
        20 + ENVIDO_POINTS[a] + ENVIDO_POINTS[b] for a, b in combinations(cards, 2) if a // 10 == b // 10
    ]
    return max(pairs) if pairs else max(ENVIDO_POINTS[card] for card in cards)
