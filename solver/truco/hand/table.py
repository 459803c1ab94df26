"""A policy of the full hand as arrays: information keys in order, and the action mix of each.

Actions of a key are numbered by slot: the held cards from the strongest (0-2), the next Truco level (3), Envido,
Real and Falta (4-6), quiero (7), no quiero (8), mazo (9).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from game.truco.actions import ENVIDO, NO_QUIERO, TRUCO
from solver.jit import lean
from solver.truco.hand.engine import mover
from solver.truco.hand.infokey import info_key

NUM_SLOTS = 10
TRUCO_SLOT, ENVIDO_SLOT, QUIERO_SLOT, NO_QUIERO_SLOT, MAZO_SLOT = 3, 4, 7, 8, 9


class PolicyTable(NamedTuple):
    """Action mixes by key; row i has `probs[start[i]:start[i + 1]]`, one for each bit of `slots[i]`."""

    keys: np.ndarray
    """int64 [n], ascending."""
    start: np.ndarray
    """int32 [n + 1]."""
    slots: np.ndarray
    """uint16 [n], bit s set where the action of slot s is legal."""
    probs: np.ndarray
    """float32 [start[n]]; each row sums to 1."""


EMPTY_TABLE = PolicyTable(
    np.empty(0, np.int64), np.zeros(1, np.int32), np.empty(0, np.uint16), np.empty(0, np.float32)
)


_LARGEST_ERROR = 1e-3
"""How far from 1 the probabilities of a row may add up to."""


def check_table(table: PolicyTable) -> None:
    """Raises ValueError saying what is wrong if arrays from a file are not a policy table."""
    n = table.keys.size
    sizes = {"keys": n, "start": n + 1, "slots": n, "probs": table.probs.size}
    for name, array in table._asdict().items():
        dtype = getattr(EMPTY_TABLE, name).dtype
        if array.dtype != dtype or array.shape != (sizes[name],):
            raise ValueError(f"{name} is {array.dtype} {array.shape}, not {dtype} ({sizes[name]},)")
    if n > 0 and (table.keys[0] < 0 or np.any(table.keys[1:] <= table.keys[:-1])):
        raise ValueError("keys are not ascending")
    if np.any(table.slots == 0) or np.any(table.slots >> NUM_SLOTS):
        raise ValueError(f"slots name no action, or one beyond {NUM_SLOTS}")
    ends = np.cumsum(np.bitwise_count(table.slots), dtype=np.int64)
    if table.start[0] != 0 or np.any(table.start[1:] != ends) or len(table.probs) != table.start[-1]:
        raise ValueError("start does not have the place of each row")
    # Not written as `any(probs < 0)`, which nan would pass.
    if not np.all((table.probs >= 0) & (table.probs <= 1)):
        raise ValueError("probs are not all between 0 and 1")
    sums = np.add.reduceat(table.probs, table.start[:-1]) if n else np.ones(0)
    if np.any(np.abs(sums - 1) > _LARGEST_ERROR):
        raise ValueError("the probs of a row do not add up to 1")


@lean
def action_slot(actions: np.ndarray, i: int) -> int:
    """Slot of the i-th action listed by `engine.legal`, which lists held cards first, strongest first."""
    action = actions[i]
    if action < TRUCO:
        return i
    return TRUCO_SLOT if action < ENVIDO else action - ENVIDO + ENVIDO_SLOT


@lean
def choose(probs: np.ndarray, n: int, number: float) -> int:
    """Index below n that a uniform number of [0, 1) picks by the probabilities `probs[:n]`."""
    for i in range(n - 1):
        number -= probs[i]
        if number < 0.0:
            return i
    while n > 1 and probs[n - 1] <= 0.0:  # rounding must not pick what is never played
        n -= 1
    return n - 1


@lean
def find_row(keys: np.ndarray, key: int) -> int:
    """Index of the key in ascending `keys`, -1 if it is not there."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(keys) and keys[low] == key else -1


@lean
def fallback_policy(actions: np.ndarray, n: int, out: np.ndarray) -> None:
    """What is played where a table has no row: decline a call, else play the strongest card."""
    out[:n] = 0.0
    for i in range(n):
        if actions[i] == NO_QUIERO:
            out[i] = 1.0
            return
    out[0] = 1.0


@lean
def table_row(
    table: PolicyTable, state: np.ndarray, rules: np.ndarray, actions: np.ndarray, n: int, out: np.ndarray
) -> int:
    """Writes the table's probabilities of `actions[:n]` to `out[:n]` and returns their row; -1 and the fallback where
    there is none.

    A row for other actions than these, as only a foreign file has it, counts as none.
    """
    row = find_row(table.keys, info_key(state, rules, mover(state)))
    legal_slots = 0
    for i in range(n):
        legal_slots |= 1 << action_slot(actions, i)
    if row < 0 or table.slots[row] != legal_slots:
        fallback_policy(actions, n, out)
        return -1
    # A row lists its legal slots in ascending order, and so does `engine.legal`.
    begin = table.start[row]
    for i in range(n):
        out[i] = table.probs[begin + i]
    return row


@lean
def table_policy(
    table: PolicyTable, state: np.ndarray, rules: np.ndarray, actions: np.ndarray, n: int, out: np.ndarray
) -> bool:
    """As `table_row`; whether there is a row."""
    return table_row(table, state, rules, actions, n, out) >= 0
