"""First cards of the policy that are answered together, and working memory for trick 1 after an accepted Envido.

Where an accepted Envido comes with few vectors, the lanes are filled by first cards of the policy: those of one tier
meet the same tables, so `copies` of them are answered together, vector x of copy c in lane c x vectors + x.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solver.truco.vector.response.cards.lanes import LANES
from solver.truco.vector.response.cards.room import GROUPS
from solver.truco.vector.response.cards.table import Deck


class Chunks(NamedTuple):
    """First cards of a set of the other's that are answered together, and the pairs left beside them."""

    start: np.ndarray
    """int64 [chunk + 1]: cards from start[c] on, all of one tier."""
    copy: np.ndarray
    """int64 [e]: number of the card of a (hand, card) pair in its chunk."""
    order: np.ndarray
    """int64 [e]: those of a chunk by the cards left, ascending."""
    fresh: np.ndarray
    """bool [e]: whether the cards left differ from those of the entry of `order` before, in the same chunk."""


def make_chunks(deck: Deck, s: int, copies: int) -> Chunks:
    """Of the hands in set s; up to `copies` cards a chunk."""
    tier, sets = deck.tier, deck.sets
    cards = len(tier)
    starts = [0]
    for card in range(1, cards):
        if tier[card] != tier[starts[-1]] or card - starts[-1] == copies:
            starts.append(card)
    starts.append(cards)
    size = int(sets.start[s, cards])
    begin = np.array(starts, np.int64)
    first_card = np.repeat(np.arange(cards), np.diff(sets.start[s]))
    chunk = np.searchsorted(begin, first_card, side="right") - 1
    key = sets.low[s, :size] * cards + sets.high[s, :size]
    order = np.lexsort((key, chunk)).astype(np.int64)
    fresh = np.ones(size, np.bool_)
    fresh[1:] = (key[order][1:] != key[order][:-1]) | (chunk[order][1:] != chunk[order][:-1])
    return Chunks(begin, first_card - begin[chunk], order, fresh)


class Room1(NamedTuple):
    """Working memory for trick 1 of one of the other's sets against own sets g; i an own hand, j one of the other's.
    The row of a node's holding is (node x GROUPS + g) x `stride` + holding.
    """

    stride: int
    reach: np.ndarray
    """Lanes, node, g, j; in pie's exploits after mano's card by (hand, card) of that card."""
    mix: np.ndarray
    """float64 [node x GROUPS + g, 4, j]."""
    line: np.ndarray
    """Lanes, j."""
    folds: np.ndarray
    """Lanes, node, g, i: mass at a fold."""
    value: np.ndarray
    """Lanes, node, g, i: after mano's card."""
    before: np.ndarray
    """Lanes, node, g, i: before it."""
    cards: np.ndarray
    """Lanes, node, g, i: best card, or sums over the other's."""
    single: np.ndarray
    """Lanes, card."""
    pair: np.ndarray
    """Lanes, lower card x cards + higher card."""
    total: np.ndarray
    """Lanes, one row."""
    back: np.ndarray
    """int64 [own pair]: g x stride + place of its value among those of a node."""
    sizes: np.ndarray
    """int64 [4]: sizes of a pair of values, see `pair_sizes`."""
    sizes2: np.ndarray
    """int64 [6]: sizes of a situation, see `block_sizes`."""


def make_room1(nodes: int, own: int, other: int, cards: int) -> Room1:
    """For up to so many own holdings and the other's."""
    stride = max(own, other)
    lanes = lambda size: np.zeros((size, LANES))  # noqa: E731
    rows = nodes * GROUPS * stride
    return Room1(
        stride, lanes(rows), np.zeros((nodes * GROUPS, 4, other)), lanes(other), lanes(rows), lanes(rows),
        lanes(rows), lanes(rows), lanes(cards), lanes(cards * cards), lanes(1), np.zeros(cards * cards, np.int64),
        np.zeros(4, np.int64), np.zeros(6, np.int64),
    )  # fmt: skip


class Task(NamedTuple):
    """One of the other's sets and own sets beside it that meet the same tables, at most GROUPS of them."""

    theirs: int
    owns: np.ndarray
    """int64 [g]."""
    chunks: Chunks
    base: np.ndarray
    """int64 [g]: first row of the values of each own set."""
