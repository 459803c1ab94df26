"""Best responses after exits of the trunk on real cards, and the hand-over from trick 1 to trick 2."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from solver.entry import call
from solver.jit import inner, njit
from solver.truco.vector.response.book import Block, Book, Situation, situation_at
from solver.truco.vector.response.cards.lanes import LANES, is_zero, put1
from solver.truco.vector.response.cards.room import Room
from solver.truco.vector.response.cards.table import Deck


class Kernels(NamedTuple):
    """Entries of the large kernels below trick 1."""

    respond: Any
    third: Any


@inner
def tricks(
    book: Book, deck: Deck, w: Room, kernels: Kernels, block: Block, cards: tuple[int, int],
    counts: tuple[int, int, int], sizes: np.ndarray, gains: np.ndarray,
) -> None:  # fmt: skip
    """Tricks 2 and 3 after real first cards of mano and pie: values of own pairs to the first rows of
    w.second.before.

    counts: own pairs, the other's, own groups in w.pairs; sizes int64 [6] is overwritten; gains float64 [2, 5].
    """
    p = w.pairs
    n, m, groups = counts
    a, b = deck.tier[cards[0]], deck.tier[cards[1]]
    theirs, first = (block.pie, b) if book.own == 0 else (block.mano, a)
    for j in range(m):
        pair = deck.pair_id[deck.tier[p.other[0, j]], deck.tier[p.other[1, j]]]
        p.other[2, j] = book.local[theirs, first, pair]
    root, begin, gl, gf, tie, own = situation_at(book, block, a, b, sizes)
    s = Situation(root, begin, gl, gf, tie, own, sizes)
    call(kernels.respond, (book, s, w, gains, n, m, groups, kernels.third))


@njit(nogil=True, error_model="numpy")
def respond_exits(
    book: Book, deck: Deck, w: Room, kernels: Kernels, block: Block, reach: np.ndarray, firsts: np.ndarray,
    out: np.ndarray,
) -> None:  # fmt: skip
    """Exits of the trunk that share tables: value of every own pair after these pairs of real first cards, to out
    float64 [mano's card, pie's card, pair, LANES].

    reach float64 [tiers or 1, combinations, LANES]: the other's at each exit, by tier of mano's card if the other is
    pie. firsts int64: mano's card x cards + pie's. Calls for other first cards may run at the same time.
    """
    p, own = w.pairs, book.own
    cards, sizes = len(deck.tier), np.zeros(6, np.int64)
    lanes, values = reach.reshape(-1, LANES), out.reshape(-1, LANES)
    for code in firsts:
        a, b = code // cards, code % cards
        theirs = b if own == 0 else a
        row = deck.tier[a] * reach.shape[1] if own == 0 else 0
        n, m = 0, 0
        for low in range(cards):
            for high in range(low + 1, cards):
                if low in (a, b) or high in (a, b):
                    continue
                p.own[0, n], p.own[1, n], p.own_group[n] = low, high, 0
                n += 1
                h = deck.hand_at[theirs, low, high]
                place = 0
                while deck.hands[h, place] != theirs:
                    place += 1
                at = row + deck.combo[h, place]
                if not is_zero(lanes, at):
                    p.other[0, m], p.other[1, m] = low, high
                    put1(p.other_reach, m, lanes, at, deck.share[h, place])
                    m += 1
        if m == 0:
            continue
        tricks(book, deck, w, kernels, block, (a, b), (n, m, 1), sizes, book.gains[block.group])
        for i in range(n):
            pair = deck.pair_at[p.own[0, i], p.own[1, i]]
            put1(values, code * out.shape[2] + pair, w.second.before, i, 1.0)
