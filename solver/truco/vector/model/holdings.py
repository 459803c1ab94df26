"""What a player can hold, as classes: tier triples with Envido values, and what is left of them after a card.

A class is (multiset of three strength tiers, Envido value). Two real hands of a class differ only in suits, which
never matter for payoffs. Tiers are numbered 0 = strongest among those of the deck.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, combinations_with_replacement
from math import comb

import numpy as np

from game.truco.cards import ENVIDO_POINTS, TIERS
from game.truco.rules import Rules


def envido_values(cards: np.ndarray) -> np.ndarray:
    """Envido value (R-20) of each hand of three real cards, int64 [..., 3]."""
    points, suits = np.array(ENVIDO_POINTS)[cards], cards // 10
    best = points.max(axis=-1)
    for a, b in combinations(range(3), 2):
        pair = 20 + points[..., a] + points[..., b]
        best = np.where(suits[..., a] == suits[..., b], np.maximum(best, pair), best)
    return best


def _different(numbers: np.ndarray) -> np.ndarray:
    """The small numbers that occur, ascending, int64; np.unique imports masked arrays, which takes longer."""
    return np.flatnonzero(np.bincount(numbers))


@dataclass(frozen=True)
class Holdings:
    """All hands of a deck and their classes.

    Raises ValueError for hands of another size than three cards.
    """

    rules: Rules

    def __post_init__(self) -> None:
        if self.rules.hand_size != 3:
            raise ValueError(
                f"the vector engine plays hands of 3 cards, not hand_size {self.rules.hand_size}"
            )

    @cached_property
    def deck(self) -> np.ndarray:
        """Real card index of each card position, int64 [cards]."""
        return np.array(self.rules.deck)

    @cached_property
    def card_tier(self) -> np.ndarray:
        """Dense tier of each card position, int64 [cards]."""
        tiers = np.array([TIERS[card] for card in self.rules.deck])
        return np.searchsorted(_different(tiers), tiers)

    @property
    def num_tiers(self) -> int:
        """Number of different strengths in the deck."""
        return int(self.card_tier.max()) + 1

    @cached_property
    def hands(self) -> np.ndarray:
        """Card positions of every hand, ascending, int64 [hands, 3]."""
        return np.array(list(combinations(range(len(self.rules.deck)), 3)))

    @cached_property
    def hand_value(self) -> np.ndarray:
        """Envido value of every hand, int64 [hands]."""
        return envido_values(self.deck[self.hands])

    @cached_property
    def values(self) -> np.ndarray:
        """The Envido values that occur, ascending, int64 [values]."""
        return _different(self.hand_value)

    @cached_property
    def _classes(self) -> tuple[np.ndarray, np.ndarray]:
        keys = self._keys(self.card_tier[self.hands], self.hand_value)
        found = _different(keys)
        index = np.searchsorted(found, keys)
        tiers, values = self.num_tiers, len(self.values)
        digits = [found // values // tiers**2, found // values // tiers % tiers, found // values % tiers]
        return np.column_stack([*digits, found % values]), index

    def _keys(self, tiers: np.ndarray, value: np.ndarray) -> np.ndarray:
        """A number for hands of three tiers [..., 3], in any order, and an Envido value, by which classes ascend."""
        sorted_ = np.sort(tiers, axis=-1).astype(np.int64)
        place = np.searchsorted(self.values, value)
        count = self.num_tiers
        return ((sorted_[..., 0] * count + sorted_[..., 1]) * count + sorted_[..., 2]) * len(
            self.values
        ) + place

    def classes_of(self, cards: np.ndarray) -> np.ndarray:
        """Class of each hand of real cards of the deck, int64 [..., 3] in any order."""
        keys = self._keys(self.card_tier[np.searchsorted(self.deck, cards)], envido_values(cards))
        return np.searchsorted(self._class_keys, keys)

    def tier_of(self, card: int) -> int:
        """Dense tier of a real card of the deck."""
        return int(self.card_tier[np.searchsorted(self.deck, card)])

    @cached_property
    def _class_keys(self) -> np.ndarray:
        return self._keys(self.class_tiers, self.values[self.class_value])

    @property
    def class_tiers(self) -> np.ndarray:
        """Tiers of each class, strongest first, int64 [classes, 3]; classes are sorted by tiers, then value."""
        return self._classes[0][:, :3]

    @property
    def class_value(self) -> np.ndarray:
        """Index into `values` of each class, int64 [classes]."""
        return self._classes[0][:, 3]

    @property
    def hand_class(self) -> np.ndarray:
        """Class of each hand, int64 [hands]."""
        return self._classes[1]

    @property
    def num_classes(self) -> int:
        """Number of classes; 1,476 for the full deck."""
        return len(self._classes[0])

    @cached_property
    def num_deals(self) -> int:
        """Ordered pairs of disjoint hands; 76,767,600 for the full deck."""
        cards = len(self.rules.deck)
        return comb(cards, 3) * comb(cards - 3, 3)

    @cached_property
    def joint(self) -> np.ndarray:
        """Deals of each pair of classes, float64 [classes, classes], exact counts."""
        size, cards = self.num_classes, len(self.rules.deck)
        by_card = np.zeros((size, cards))
        by_pair = np.zeros((size, cards * cards))
        for column in range(3):
            np.add.at(by_card, (self.hand_class, self.hands[:, column]), 1)
        for a, b in combinations(range(3), 2):
            np.add.at(by_pair, (self.hand_class, self.hands[:, a] * cards + self.hands[:, b]), 1)
        total = np.bincount(self.hand_class, minlength=size).astype(float)
        # Inclusion and exclusion over shared cards; hands sharing all three cards are the same hand.
        return np.outer(total, total) - by_card @ by_card.T + by_pair @ by_pair.T - np.diag(total)

    @cached_property
    def class_slot_legal(self) -> np.ndarray:
        """Whether playing the k-th strongest tier is an action of its own, bool [classes, 3].

        Equal tiers are one action, at the first of their places.
        """
        tiers = self.class_tiers
        first = np.ones_like(tiers, dtype=bool)
        first[:, 1:] = tiers[:, 1:] != tiers[:, :-1]
        return first

    @cached_property
    def pair_id(self) -> np.ndarray:
        """Number of the unordered tier pair (p, q), int64 [tiers, tiers], symmetric."""
        tiers = self.num_tiers
        table = np.zeros((tiers, tiers), np.int64)
        for number, (p, q) in enumerate(combinations_with_replacement(range(tiers), 2)):
            table[p, q] = table[q, p] = number
        return table

    @cached_property
    def after(self) -> Remainders:
        """The classes by first card played."""
        return Remainders.of(self)


@dataclass(frozen=True)
class Remainders:
    """(Class, first card) combinations, sorted by the card's tier: what a player holds once trick 1 has seen it."""

    start: np.ndarray
    """int64 [tiers + 1]: combinations of tier a are start[a] : start[a + 1]."""
    cls: np.ndarray
    """Class of each combination, int64 [combinations]."""
    slot: np.ndarray
    """Which of the class's three places was played, int64 [combinations]."""
    pair: np.ndarray
    """Number of the tier pair left, int64 [combinations]."""
    value: np.ndarray
    """Index of the class's Envido value, int64 [combinations]."""
    position: np.ndarray
    """Combination of (class, place), -1 where the place is not an action, int64 [classes, 3]."""

    @staticmethod
    def of(holdings: Holdings) -> Remainders:
        """The combinations of these holdings."""
        tiers, legal = holdings.class_tiers, holdings.class_slot_legal
        cls, slot = np.nonzero(legal)
        order = np.lexsort((slot, cls, tiers[cls, slot]))
        cls, slot = cls[order], slot[order]
        played = tiers[cls, slot]
        others = np.array([[1, 2], [0, 2], [0, 1]])[slot]
        rest = tiers[cls[:, None], others]
        position = np.full(legal.shape, -1)
        position[cls, slot] = np.arange(len(cls))
        return Remainders(
            np.searchsorted(played, np.arange(holdings.num_tiers + 1)),
            cls,
            slot,
            holdings.pair_id[rest[:, 0], rest[:, 1]],
            holdings.class_value[cls],
            position,
        )
