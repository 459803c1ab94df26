"""Real cards: all hands of a deck, those that a value shown leaves, and sums over hands that share no card."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np

from solver.jit import njit
from solver.truco.vector.model.game import Game


class Sets(NamedTuple):
    """Real hands by set s of Envido values, i of a set; and its (hand, card) pairs e by card, rests ascending."""

    count: np.ndarray  # type: ignore[assignment]
    """int64 [s]."""
    hand: np.ndarray
    """int64 [s, i]."""
    row: np.ndarray
    """int64 [s, i]: place of the class in ValueLists.cls."""
    index: np.ndarray  # type: ignore[assignment]
    """int64 [s, h]: i of a hand, -1 if not in the set."""
    start: np.ndarray
    """int64 [s, cards + 1]."""
    low: np.ndarray
    """int64 [s, e]: the other two cards, low and high; i of the hand and place of the card."""
    high: np.ndarray
    member: np.ndarray
    place: np.ndarray
    combo_place: np.ndarray
    """int64 [s, e]: place of the combination among those of its tier in ValueLists."""


class Deck(NamedTuple):
    """All real hands h of a deck; cards are numbered from the strongest tier to the weakest, hands are ascending."""

    tier: np.ndarray
    """int64 [cards]: ascending."""
    hands: np.ndarray
    """int64 [h, 3]."""
    cls: np.ndarray
    """int64 [h]: class."""
    value: np.ndarray
    """int64 [h]: index of the Envido value."""
    by_value: np.ndarray
    """int64 [h]: hands by ascending value."""
    slot: np.ndarray
    """int64 [h, 3]: first place of an equal tier, which is the action of playing that card."""
    share: np.ndarray
    """float64 [h, 3]: 1 / cards of that tier in the hand."""
    combo: np.ndarray
    """int64 [h, 3]: (class, first card) combination of playing each card."""
    hand_at: np.ndarray
    """int64 [cards, cards, cards]: h of any three cards, -1 where two are equal."""
    pair_at: np.ndarray
    """int64 [cards, cards]: number of any two cards, 0 where they are equal."""
    pair_id: np.ndarray
    """int64 [tiers, tiers]: as in Holdings."""
    sets: Sets


def make_deck(game: Game) -> Deck:
    """The deck of a game and the sets of its values."""
    holdings = game.holdings
    order = np.argsort(holdings.card_tier, kind="stable")
    rank = np.argsort(order)
    tier = holdings.card_tier[order].astype(np.int64)
    cards = len(tier)
    hands = np.array(list(combinations(range(cards), 3)), np.int64)
    hand_at = np.full((cards, cards, cards), -1, np.int64)
    for column in permutations(range(3)):
        hand_at[hands[:, column[0]], hands[:, column[1]], hands[:, column[2]]] = np.arange(len(hands))
    found = np.sort(rank[holdings.hands], axis=1)
    cls = np.empty(len(hands), np.int64)
    cls[hand_at[found[:, 0], found[:, 1], found[:, 2]]] = holdings.hand_class
    equal = tier[hands][:, :, None] == tier[hands][:, None, :]
    slot = equal.argmax(axis=2).astype(np.int64)
    combo = holdings.after.position[cls[:, None], slot].astype(np.int64)
    value = holdings.class_value[cls].astype(np.int64)
    pair_at = np.zeros((cards, cards), np.int64)
    for number, (p, q) in enumerate(combinations(range(cards), 2)):
        pair_at[p, q] = pair_at[q, p] = number
    sets = _make_sets(game, tier, hands, cls, combo)
    return Deck(
        tier, hands, cls, value, np.argsort(value, kind="stable").astype(np.int64), slot, 1.0 / equal.sum(axis=2),
        combo, hand_at, pair_at, holdings.pair_id, sets,
    )  # fmt: skip


def _make_sets(game: Game, tier: np.ndarray, hands: np.ndarray, cls: np.ndarray, combo: np.ndarray) -> Sets:
    lists, known = game.value_lists, game.value_sets
    value = game.holdings.class_value[cls]
    members = [np.flatnonzero(np.isin(value, values)) for values in known]
    width, n = max(map(len, members)), len(known)
    ints = lambda *shape: np.zeros(shape, np.int64)  # noqa: E731
    sets = Sets(
        ints(n), ints(n, width), ints(n, width), np.full((n, len(hands)), -1), ints(n, len(tier) + 1),
        *(ints(n, 3 * width) for _ in range(5)),
    )  # fmt: skip
    for s, part in enumerate(members):
        size = len(part)
        sets.count[s] = size
        sets.hand[s, :size] = part
        sets.row[s, :size] = np.searchsorted(lists.cls[s, : lists.count[s]], cls[part])
        sets.index[s, part] = np.arange(int(size))
        card = hands[part].reshape(-1)
        low = hands[part][:, [1, 0, 0]].reshape(-1)
        high = hands[part][:, [2, 2, 1]].reshape(-1)
        order = np.lexsort((high, low, card))
        sets.start[s] = np.searchsorted(card[order], np.arange(len(tier) + 1))
        for column, values in (
            (sets.low, low), (sets.high, high), (sets.member, np.repeat(np.arange(size), 3)),
            (sets.place, np.tile(np.arange(3), size)),
        ):  # fmt: skip
            column[s, : 3 * size] = values[order]
        combos = combo[part].reshape(-1)[order]
        for t in range(game.holdings.num_tiers):
            here = np.flatnonzero(tier[card[order]] == t)
            there = lists.combo[s, t, : lists.combo_count[s, t]]
            sets.combo_place[s, here] = np.searchsorted(there, combos[here])
    return sets


@njit
def _add(
    hands: np.ndarray, h: int, r: float, single: np.ndarray, pair: np.ndarray, total: np.ndarray, which: int
) -> None:
    """Adds the reach of a hand to the sums of row `which`."""
    total[which] += r
    for i in range(3):
        single[which, hands[h, i]] += r
        for j in range(i + 1, 3):
            pair[which, hands[h, i], hands[h, j]] += r


@njit
def split_mass(deck: Deck, reach: np.ndarray, own: int) -> np.ndarray:
    """Sums of reach [h] over the other's hands disjoint from each own hand where (mano, pie) wins the Envido: [2, h].

    `own` is 0 for mano, 1 for pie.
    """
    cards, hands, size = len(deck.tier), deck.hands, len(deck.hands)
    out = np.zeros((2, size))
    single = np.zeros((2, cards))
    pair = np.zeros((2, cards, cards))
    total, both = np.zeros(2), np.zeros(2)
    for h in range(size):
        if reach[h] != 0.0:
            _add(hands, h, reach[h], single, pair, total, 0)
    # Row 1 grows by value: what has a lower value than own (own pie), or at most own value (own mano).
    first = 0
    while first < size:
        last = first
        value = deck.value[deck.by_value[first]]
        while last < size and deck.value[deck.by_value[last]] == value:
            last += 1
        for done in range(2):
            if done == own:
                for at in range(first, last):
                    h = deck.by_value[at]
                    if reach[h] != 0.0:
                        _add(hands, h, reach[h], single, pair, total, 1)
                continue
            for at in range(first, last):
                h = deck.by_value[at]
                for which in range(2):
                    m = total[which]
                    for i in range(3):
                        m -= single[which, hands[h, i]]
                        for j in range(i + 1, 3):
                            m += pair[which, hands[h, i], hands[h, j]]
                    if which == 0 or own == 0:
                        m -= reach[h]
                    both[which] = m
                # Mano wins where pie holds at most his value.
                out[0, h] = both[1] if own == 0 else both[0] - both[1]
                out[1, h] = both[0] - both[1] if own == 0 else both[1]
        first = last
    return out
