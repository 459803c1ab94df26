"""Cards of Truff: indices, names, bid values and parsing.

A card is the integer ``13 * suit + position``: suits in bidding order (D wajik, C keriting, H hati, S sekop),
positions in trick order (R-2). 0 is 2D, 12 is AD, 13 is 2C, 51 is AS.
"""

import re
from collections.abc import Iterable

from game.letters import odd_letters

RANKS = "23456789TJQKA"
SUITS = "DCHS"
SUIT_SYMBOLS = "♦♣♥♠"
SUIT_NAMES = ("wajik", "keriting", "hati", "sekop")
NO_TRUFF = 4
"""The denomination above the four suits."""
NUM_CARDS = 52
RANKS_PER_SUIT = 13

_BID_VALUES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0, 0, 1)

_SUIT_WORDS = {
    **{letter: suit for suit, letter in enumerate(SUITS)},
    **{symbol: suit for suit, symbol in enumerate(SUIT_SYMBOLS)},
    **{symbol: suit for suit, symbol in enumerate("♢♧♡♤")},
    **{name.upper(): suit for suit, name in enumerate(SUIT_NAMES)},
}
_SUIT_PATTERN = "|".join(sorted(_SUIT_WORDS, key=len, reverse=True))
_CARD = re.compile(rf"(10|[{RANKS}])[\s-]*({_SUIT_PATTERN})\ufe0f?[\s,;]*")


def make_card(suit: int, position: int) -> int:
    """Index of the card at trick-order `position` (0 = two, 12 = ace) of `suit`."""
    return RANKS_PER_SUIT * suit + position


def suit_of(card: int) -> int:
    """Suit 0-3 in bidding order."""
    return card // RANKS_PER_SUIT


def position_of(card: int) -> int:
    """Trick rank 0-12: two lowest, ace highest (R-2)."""
    return card % RANKS_PER_SUIT


def bid_value(card: int) -> int:
    """Value in a bid: ace 1, pips 2-10, and 0 for J, Q, K, which cannot be used (R-3)."""
    return _BID_VALUES[card % RANKS_PER_SUIT]


def card_name(card: int) -> str:
    """Short name, e.g. ``'TH'`` for the ten of hati.

    >>> card_name(0), card_name(51)
    ('2D', 'AS')
    """
    return RANKS[position_of(card)] + SUITS[suit_of(card)]


def card_names(cards: Iterable[int]) -> str:
    """Names in ascending index order, separated by spaces."""
    return " ".join(card_name(card) for card in sorted(cards))


def denomination_name(denomination: int) -> str:
    """``D``, ``C``, ``H``, ``S`` or ``NT``."""
    return "NT" if denomination == NO_TRUFF else SUITS[denomination]


def parse_cards(text: str) -> list[int]:
    """Cards in the order written; ``10H``, ``th``, ``10 hati`` and ``T♥`` all name the ten of hati.

    Raises ValueError at the first thing that is not a card, and for a card named twice.

    >>> parse_cards("2d, 10 hati AS")
    [0, 34, 51]
    """
    cards: list[int] = []
    upper = text.strip().upper()
    at = 0
    while at < len(upper):
        match = _CARD.match(upper, at)
        if match is None:
            word = upper[at:].split()[0]
            raise ValueError(
                f"not a card: {word!r}{odd_letters(word)} (write rank and suit, such as 2D TC KH AS)"
            )
        rank = "T" if match[1] == "10" else match[1]
        card = make_card(_SUIT_WORDS[match[2]], RANKS.index(rank))
        if card in cards:
            raise ValueError(f"card named twice: {card_name(card)}")
        cards.append(card)
        at = match.end()
    return cards


def parse_card(text: str) -> int:
    """The one card that `text` names; ValueError otherwise."""
    cards = parse_cards(text)
    if len(cards) != 1:
        raise ValueError(f"expected one card, got {text!r}")
    return cards[0]


def parse_denomination(text: str) -> int:
    """A suit by letter, symbol or name, or ``NT``; ValueError otherwise."""
    word = text.strip().upper()
    if word in ("NT", "NO TRUFF"):
        return NO_TRUFF
    if word not in _SUIT_WORDS:
        raise ValueError(f"not a denomination: {text!r} (one of D, C, H, S, NT)")
    return _SUIT_WORDS[word]


def pack(ranks: int, suits: int) -> list[int]:
    """The cards of a pack with fewer ranks or suits: the lowest ``ranks - 1`` ranks and the ace of each suit.

    The ace always stays: it is the one card that is lowest in a bid and highest in play.
    """
    positions = [*range(ranks - 1), RANKS_PER_SUIT - 1]
    return [make_card(suit, position) for suit in range(suits) for position in positions]
