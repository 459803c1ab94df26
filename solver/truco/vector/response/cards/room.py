"""Working memory of one thread for tricks 2 and 3 on real cards, and what both sides hold there.

`i` is an own pair, `r` an own ordered pair (played card first), `j` a pair of the other's, `e` an ordered one. Lanes
are float64 [rows, LANES]; the row of, say, "node, g, e" is (node x GROUPS + g) x (number of ordered pairs) + e.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solver.truco.vector.cfr.trick3 import MAX_NODES
from solver.truco.vector.model.forest import MAX_TIERS
from solver.truco.vector.response.cards.lanes import LANES

GROUPS = 6
"""Own groups that are answered together at most."""
SUMS = 2 * (MAX_TIERS + 1)
"""Rows of running sums for a group."""


class Pairs(NamedTuple):
    """What both sides may hold after trick 1."""

    tier: np.ndarray
    """int64 [cards]: ascending."""
    own: np.ndarray
    """int64 [2, i]: lower and higher card."""
    own_group: np.ndarray
    """int64 [i]."""
    other: np.ndarray
    """int64 [3, j]: lower and higher card, place in the holdings list."""
    other_reach: np.ndarray
    """Lanes, g, j in steps of half the number of ordered pairs."""
    own_start: np.ndarray
    """int64 [tiers + 1]: ordered pairs by tier of the played card."""
    own_card: np.ndarray
    """int64 [r]: played card; own_rest the other, own_pair its i."""
    own_rest: np.ndarray
    own_pair: np.ndarray
    own_at: np.ndarray
    """int64 [2, i]: the two r of a pair."""
    other_start: np.ndarray
    """int64 [cards + 1]: ordered pairs by played card, the rest ascending."""
    other_rest: np.ndarray
    other_pair: np.ndarray
    """int64 [e]: j."""
    other_slot: np.ndarray
    other_share: np.ndarray
    """float64 [e]: 1/2 where both cards are of one tier, else 1."""
    pair_at: np.ndarray
    """int64 [cards, cards]: j of a pair, lower card first; -1 outside calls."""


class Room2(NamedTuple):
    """For trick 2."""

    reach: np.ndarray
    """Lanes, node, g, e (or j before the card): the other's reach."""
    mix: np.ndarray
    """float64 [node, 3, e]: the other's strategy."""
    line: np.ndarray
    """Lanes, g, j in steps of half the number of ordered pairs."""
    single: np.ndarray
    """Lanes, g, card; zero outside calls."""
    value: np.ndarray
    """Lanes, node, r."""
    before: np.ndarray
    """Lanes, node, i (in steps of r): stage 0."""
    cards: np.ndarray
    """Lanes, node, i: best card, or sums over the other's cards."""
    mass: np.ndarray
    """Lanes, r."""
    sum: np.ndarray
    """Lanes, g."""
    played: np.ndarray
    """Lanes, leaf, g, e: reach where trick 2 is over; the last row is 0."""
    leaf_node: np.ndarray
    """int64 [leaf]."""
    leaf_value: np.ndarray
    """Lanes, leaf, r."""


class Room3(NamedTuple):
    """For trick 3. A column is a tier that the other may have left, a rest one that the exploiter may."""

    place: np.ndarray
    """int64 [cards]: ordered pair of the other's with this rest; -1 outside calls."""
    column: np.ndarray
    """int64 [e]: number of the column; column_tier its tier, column_at its place in the table."""
    column_tier: np.ndarray
    column_at: np.ndarray
    rows: np.ndarray
    """int64 [6, row]: r, entry of c, entry of z (-1: none), split of columns, number of z's tier, g."""
    rest_tier: np.ndarray
    """int64 [2, tiers]: tiers of own cards left and their table places."""
    rest_number: np.ndarray
    """int64 [tiers]."""
    total: np.ndarray
    """Lanes, g, column: reach by tier."""
    factor: np.ndarray
    """float64 [node, column]: the other's strategy along the way in trick 3."""
    share: np.ndarray
    """float64 [column]: that and its action at hand."""
    prefix: np.ndarray
    """Lanes, g, 2, column + 1: running sums over columns."""
    mix: np.ndarray
    """float64 [2 x node + 1 if the second card wins, 3, column or rest]."""
    post: np.ndarray
    """float64 [node, 2, column]: strategy along the way, or values, after the first card of trick 3."""
    halves: np.ndarray
    """Lanes, node, 2, row: masses that lose or win against the own card, at entries of stage 1."""
    entry: np.ndarray
    """int64 [node]: the first node of stage 1 on the way."""
    alive: np.ndarray
    """bool [node, 1 + action]: whether the policy comes to a node of trick 3, and goes on by an action."""
    value: np.ndarray
    """Lanes, node, row."""


class Room(NamedTuple):
    """All of it."""

    pairs: Pairs
    second: Room2
    third: Room3


def make_room(tier: np.ndarray) -> Room:
    """Memory for a deck with these tiers by card; about 90 MB for 40 cards."""
    cards, nodes, rows = len(tier), MAX_NODES, len(tier) * (len(tier) - 1)
    half = rows // 2
    ints = lambda *shape: np.zeros(shape, np.int64)  # noqa: E731
    lanes = lambda size: np.zeros((size, LANES))  # noqa: E731
    pairs = Pairs(
        tier, ints(2, half), ints(half), ints(3, half), lanes(GROUPS * half), ints(MAX_TIERS + 1), ints(rows),
        ints(rows), ints(rows), ints(2, half), ints(cards + 2), ints(rows), ints(rows), ints(rows), np.zeros(rows),
        np.full((cards, cards), -1, np.int64),
    )  # fmt: skip
    # A tree has at most one leaf for each node.
    second = Room2(
        lanes(nodes * GROUPS * rows), np.zeros((nodes, 3, rows)), lanes(GROUPS * half), lanes(GROUPS * cards),
        lanes(nodes * rows), lanes(nodes * rows), lanes(nodes * rows), lanes(rows), lanes(GROUPS),
        lanes(nodes * GROUPS * rows + 1), ints(nodes), lanes(nodes * rows),
    )  # fmt: skip
    third = Room3(
        np.full(cards, -1, np.int64), ints(rows), ints(MAX_TIERS), ints(MAX_TIERS), ints(6, rows),
        ints(2, MAX_TIERS), ints(MAX_TIERS), lanes(GROUPS * MAX_TIERS), np.zeros((nodes, MAX_TIERS)),
        np.zeros(MAX_TIERS), lanes(GROUPS * SUMS), np.zeros((2 * nodes, 3, MAX_TIERS)),
        np.zeros((nodes, 2, MAX_TIERS)), lanes(2 * nodes * rows), ints(nodes), np.zeros((nodes, 4), np.bool_),
        lanes(nodes * rows),
    )  # fmt: skip
    return Room(pairs, second, third)
