"""What duels, advice and tables play by: a policy table or the vector engine's tables, behind the same kernels.

A cursor (int64 [CURSOR_SIZE]) follows the hand beside the engine's state: `begin_hand` after the deal, `mix` at a
decision, `follow` before every `engine.apply`. Policy tables make no use of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solver.jit import lean
from solver.truco.hand.table import EMPTY_TABLE, PolicyTable, table_policy
from solver.truco.vector.policy.cursor import EMPTY_BOOK, VectorBook, advance, start_cursor, vector_policy


class Strategy(NamedTuple):
    """A policy table or a book; the other one is empty. Read-only arrays, as memory-mapped ones are: numba compiles
    for one type only.
    """

    table: PolicyTable
    book: VectorBook


def _locked(arrays: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    views = [array.view() for array in arrays]
    for view in views:
        view.flags.writeable = False
    return views


def table_strategy(table: PolicyTable) -> Strategy:
    """Plays by a policy table."""
    return Strategy(PolicyTable(*_locked(table)), VectorBook(*_locked(EMPTY_BOOK)))


def book_strategy(book: VectorBook) -> Strategy:
    """Plays by the tables of the vector engine."""
    return Strategy(PolicyTable(*_locked(EMPTY_TABLE)), VectorBook(*_locked(book)))


NO_STRATEGY = table_strategy(EMPTY_TABLE)
"""Knows no decision."""


@lean
def has_book(strategy: Strategy) -> bool:
    """Whether it plays by the vector engine's tables."""
    return len(strategy.book.tier) > 0


@lean
def begin_hand(strategy: Strategy, cursor: np.ndarray, state: np.ndarray) -> None:
    """Puts the cursor to the begin of a hand just dealt."""
    if has_book(strategy):
        start_cursor(strategy.book, cursor, state)


@lean
def follow(strategy: Strategy, cursor: np.ndarray, state: np.ndarray, rules: np.ndarray, action: int) -> None:
    """Moves the cursor on by an action of either player, with the state as it was before."""
    if has_book(strategy):
        advance(strategy.book, cursor, state, rules, action)


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
    if has_book(strategy):
        return vector_policy(strategy.book, cursor, state, rules, actions, n, out)
    return table_policy(strategy.table, state, rules, actions, n, out)
