"""What duels, advice and tables play by: a policy table or the vector engine's tables, behind the same kernels.

A cursor (int64 [CURSOR_SIZE]) follows the hand beside the engine's state: `begin_hand` after the deal, `mix` at a
decision, `follow` before every `engine.apply`. Policy tables make no use of it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from solver.entry import Entry, call
from solver.jit import inner, lean
from solver.reference import Reference
from solver.truco.hand.engine import MAX_LEGAL, STATE_SIZE
from solver.truco.hand.table import EMPTY_TABLE, PolicyTable, table_row
from solver.truco.vector.policy.cursor import (
    CURSOR_SIZE,
    EMPTY_BOOK,
    VectorBook,
    advance,
    start_cursor,
    vector_policy,
)


class Strategy(NamedTuple):
    """A policy table or a book, the other one is empty; and the two kernels of its kind, called by address.

    All strategies are of one type for numba. Kernels that play by them hold no look-up, which would be compiled anew
    in each and at every place, and of the two kinds only those are compiled that are played by.
    """

    table: Any
    """Reference to a PolicyTable."""
    book: Any
    """Reference to a VectorBook."""
    moves: Any
    """Entry of `_stay` or `_move`."""
    mixes: Any
    """Entry of `_table_mix` or `_book_mix`."""


_BEGIN = -1
"""In place of an action: the hand was just dealt."""


@inner
def _stay(book: VectorBook, cursor: np.ndarray, state: np.ndarray, rules: np.ndarray, action: int) -> None:
    """A policy table needs no cursor."""


@inner
def _move(book: VectorBook, cursor: np.ndarray, state: np.ndarray, rules: np.ndarray, action: int) -> None:
    if action == _BEGIN:
        start_cursor(book, cursor, state)
    else:
        advance(book, cursor, state, rules, action)


@inner
def _table_mix(
    table: PolicyTable,
    book: VectorBook,
    cursor: np.ndarray,
    state: np.ndarray,
    rules: np.ndarray,
    actions: np.ndarray,
    n: int,
    out: np.ndarray,
) -> int:
    return table_row(table, state, rules, actions, n, out)


@inner
def _book_mix(
    table: PolicyTable,
    book: VectorBook,
    cursor: np.ndarray,
    state: np.ndarray,
    rules: np.ndarray,
    actions: np.ndarray,
    n: int,
    out: np.ndarray,
) -> int:
    return 0 if vector_policy(book, cursor, state, rules, actions, n, out) else -1


def _strategy(table: PolicyTable, book: VectorBook, move: Any, mix: Any) -> Strategy:
    one, two = Reference(PolicyTable(*_locked(table))), Reference(VectorBook(*_locked(book)))
    cursor, state = np.zeros(CURSOR_SIZE, np.int64), np.zeros(STATE_SIZE, np.int32)
    actions, probs = np.zeros(MAX_LEGAL, np.int32), np.zeros(MAX_LEGAL)
    moves = Entry(move, two, cursor, state, state, 0)
    return Strategy(one, two, moves, Entry(mix, one, two, cursor, state, state, actions, 0, probs))


def _locked(arrays: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    """Read-only, as memory-mapped arrays are: numba compiles for one type only."""
    views = [array.view() for array in arrays]
    for view in views:
        view.flags.writeable = False
    return views


def table_strategy(table: PolicyTable) -> Strategy:
    """Plays by a policy table."""
    return _strategy(table, EMPTY_BOOK, _stay, _table_mix)


def book_strategy(book: VectorBook) -> Strategy:
    """Plays by the tables of the vector engine."""
    return _strategy(EMPTY_TABLE, book, _move, _book_mix)


@lru_cache(maxsize=1)
def no_strategy() -> Strategy:
    """Knows no decision."""
    return table_strategy(EMPTY_TABLE)


@lean
def begin_hand(strategy: Strategy, cursor: np.ndarray, state: np.ndarray) -> None:
    """Puts the cursor to the begin of a hand just dealt."""
    call(strategy.moves, (strategy.book, cursor, state, state, _BEGIN))


@lean
def follow(strategy: Strategy, cursor: np.ndarray, state: np.ndarray, rules: np.ndarray, action: int) -> None:
    """Moves the cursor on by an action of either player, with the state as it was before."""
    call(strategy.moves, (strategy.book, cursor, state, rules, action))


@lean
def mix_row(
    strategy: Strategy,
    cursor: np.ndarray,
    state: np.ndarray,
    rules: np.ndarray,
    actions: np.ndarray,
    n: int,
    out: np.ndarray,
) -> int:
    """Writes the mover's probabilities of `actions[:n]` to `out[:n]`; -1 where the strategy has learnt none, else the
    row of a policy table, 0 of a book.
    """
    row: int = call(strategy.mixes, (strategy.table, strategy.book, cursor, state, rules, actions, n, out))
    return row


@lean
def mix(
    strategy: Strategy,
    cursor: np.ndarray,
    state: np.ndarray,
    rules: np.ndarray,
    actions: np.ndarray,
    n: int,
    out: np.ndarray,
) -> bool:
    """Writes the mover's probabilities of `actions[:n]` to `out[:n]`; False where the strategy has learnt none."""
    return mix_row(strategy, cursor, state, rules, actions, n, out) >= 0
