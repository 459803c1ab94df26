"""Best responses after exits of the trunk at tier level, in numba, and the exploiter's holdings."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from solver.entry import Entry, call
from solver.jit import njit
from solver.truco.vector.model.holdings import Holdings
from solver.truco.vector.response.book import Block, Book, Situation, situation_at
from solver.truco.vector.response.tiers.trick2 import Held, tricks


class Classes(NamedTuple):
    """Classes and (class, first card) combinations as in Remainders, all int64; and what answers tricks 2 and 3."""

    start: np.ndarray
    """[tiers + 1]: combinations of a tier are start[tier] : start[tier + 1]."""
    cls: np.ndarray
    pair: np.ndarray
    pair_tiers: np.ndarray
    """[pair id, 2]: tiers, strongest first."""
    joint: np.ndarray
    """float64 [mano's class, pie's class]: deals."""
    tricks: Any
    """The Entry of `tricks`."""


def make_classes(holdings: Holdings, book: Book) -> Classes:
    """The classes of these holdings, for an exploiter with this book."""
    tiers, after = holdings.num_tiers, holdings.after
    pairs = np.array([(p, q) for p in range(tiers) for q in range(p, tiers)], np.int64)
    start, cls, pair = (part.astype(np.int64) for part in (after.start, after.cls, after.pair))
    some = Situation(0, 0, 0, 0, False, 0, np.zeros(6, np.int64))
    held = Held(np.zeros((1, 2), np.int64), np.zeros(1, np.int64), np.zeros((1, 1)))
    below = Entry(tricks, book, some, held, np.zeros((2, 5)), np.zeros(1))
    return Classes(start, cls, pair, pairs, np.ascontiguousarray(holdings.joint), below)


@njit(fastmath=True, nogil=True, error_model="numpy")
def respond_exits(
    book: Book, classes: Classes, block: Block, chosen: np.ndarray, reach: np.ndarray, a: int, out: np.ndarray
) -> None:
    """Adds what tricks 2 and 3 are worth to the exploiter after mano's card of tier a, at the chosen exits of the
    trunk (int64), which share a block.

    The other's reach float64 [exits, tiers of mano's card or 1 for mano's, combinations]; out [exits, 1,
    combinations] for mano, [exits, tiers, combinations] for pie. Calls for another tier may run at the same time.
    """
    own, start, cls = book.own, classes.start, classes.cls
    line = a if own == 0 else 0
    for b in range(len(start) - 1):
        mine, theirs = (a, b) if own == 0 else (b, a)
        r0, c0 = start[mine], start[theirs]
        size, many = start[mine + 1] - r0, start[theirs + 1] - c0
        if size == 0 or many == 0:
            continue
        count = book.lists.count[theirs]
        weights = np.zeros((count, len(chosen) * size))
        deals = np.empty(size)
        live = False
        for j in range(many):
            hit = False
            for k in range(len(chosen)):
                hit |= reach[chosen[k], line, c0 + j] > 0.0
            if not hit:
                continue
            live = True
            for i in range(size):
                mano, pie = (cls[r0 + i], cls[c0 + j]) if own == 0 else (cls[c0 + j], cls[r0 + i])
                deals[i] = classes.joint[mano, pie]
            to = weights[book.local[0, theirs, classes.pair[c0 + j]]]
            for k in range(len(chosen)):
                f = reach[chosen[k], line, c0 + j]
                for i in range(size):
                    to[k * size + i] += f * deals[i]
        if not live:
            continue
        pairs = np.empty((len(chosen) * size, 2), np.int64)
        for k in range(len(chosen)):
            for i in range(size):
                pairs[k * size + i] = classes.pair_tiers[classes.pair[r0 + i]]
        value = np.empty(len(pairs))
        sizes = np.zeros(6, np.int64)
        root, begin, gl, gf, tie, role = situation_at(book, block, a, b, sizes)
        s = Situation(root, begin, gl, gf, tie, role, sizes)
        held = Held(pairs, np.arange(count), weights)
        call(classes.tricks, (book, s, held, book.gains[block.group], value))
        for k in range(len(chosen)):
            for i in range(size):
                out[chosen[k], 0 if own == 0 else a, r0 + i] += value[k * size + i]
