"""Trick 1 once an Envido was accepted: its trees, what may be held by values shown, the hand-over to trick 2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from solver.truco.vector.model.holdings import Holdings
from solver.truco.vector.model.trees import LEAF, NO_CHILD, TURN, TrickTree


class PositionTrees(NamedTuple):
    """The trick trees of all positions end to end, int64.

    `place` counts in four sizes of a pair of value sets: mano's classes, pie's classes, tiers x pie's classes, mano's
    (class, card) combinations; see `address.pair_sizes`.
    """

    kind: np.ndarray
    """[nodes]: TURN or ANSWER; role, stage as in TrickTree."""
    role: np.ndarray
    stage: np.ndarray
    child: np.ndarray
    """[nodes, 3]; node numbers and leaves are those of all trees together."""
    parent: np.ndarray
    """[nodes]: -1 for a root."""
    action: np.ndarray
    """[nodes]: number of the parent's action that leads here."""
    actions: np.ndarray
    """[nodes]: actions of each."""
    nodes: np.ndarray
    """[nodes]: number of nodes of the tree, at each root."""
    place: np.ndarray
    """[nodes, 4]."""
    leaf_group: np.ndarray
    """[leaves]: number of the group of tricks 2 and 3 that follows."""


class PlacedTrees(NamedTuple):
    """The trees of all positions, and of each its root and the size of its tables."""

    trees: PositionTrees
    roots: list[int]
    needs: list[np.ndarray]
    """Entries for a pair of value sets as factors of its four sizes, int64 [4]."""


def place_trees(trees: Sequence[TrickTree], group_of: Callable[[int, int, int], int]) -> PlacedTrees:
    """Lays trees end to end; `group_of` is the group that follows (tree, round value, right to raise) at a leaf."""
    rows: dict[str, list[int]] = {name: [] for name in ("kind", "role", "stage", "actions")}
    child: list[list[int]] = []
    place: list[np.ndarray] = []
    leaf_group: list[int] = []
    roots: list[int] = []
    needs: list[np.ndarray] = []
    for number, tree in enumerate(trees):
        base, total = len(child), np.zeros(4, np.int64)
        roots.append(base)
        for node in range(len(tree.kind)):
            turn, stage, role = tree.kind[node] == TURN, int(tree.stage[node]), int(tree.role[node])
            codes = [int(c) + base if 0 <= c < LEAF else int(c) for c in tree.child[node]]
            if turn and codes[0] >= LEAF:
                level, mask = tree.leaves[codes[0] - LEAF]
                codes[0] = LEAF + len(leaf_group)
                leaf_group.append(group_of(number, level, mask))
            actions = (3 if turn else 2) + int(tree.child[node, 1 if turn else 2] != NO_CHILD)
            here = {"kind": int(tree.kind[node]), "role": role, "stage": stage, "actions": actions}
            for name, value in here.items():
                rows[name].append(value)
            child.append(codes)
            place.append(total.copy())
            total[{(0, 0): 0, (0, 1): 1, (1, 1): 2, (1, 0): 3}[stage, role]] += actions
        needs.append(total)
    size = len(child)
    parent, action = np.full(size, -1), np.zeros(size, np.int64)
    for node, codes in enumerate(child):
        for a, code in enumerate(codes):
            if 0 <= code < LEAF:
                parent[code] = node
                action[code] = 3 if rows["kind"][node] == TURN and a == 1 else a
    nodes = np.zeros(size, np.int64)
    nodes[roots] = np.diff([*roots, size])
    as_array = lambda values: np.array(values, np.int64)  # noqa: E731
    placed = PositionTrees(
        as_array(rows["kind"]), as_array(rows["role"]), as_array(rows["stage"]), as_array(child).reshape(-1, 3),
        parent, action, as_array(rows["actions"]), nodes, as_array(place).reshape(-1, 4), as_array(leaf_group),
    )  # fmt: skip
    return PlacedTrees(placed, roots, needs)


class ValueLists(NamedTuple):
    """Classes and (class, first card) combinations by set of Envido values v; combinations also by first tier."""

    cls: np.ndarray
    """int64 [v, padded]: classes."""
    count: np.ndarray  # type: ignore[assignment]
    """int64 [v]."""
    legal: np.ndarray
    """bool [v, padded, 3]: card places that are actions."""
    combo: np.ndarray
    """int64 [v, tier, k]: combinations (numbers of Remainders)."""
    combo_row: np.ndarray
    """int64 [v, tier, k]: row in `cls` of each."""
    combo_slot: np.ndarray
    """int64 [v, tier, k]: card place."""
    combo_pair: np.ndarray
    """int64 [v, tier, k]: tier pair left."""
    combo_count: np.ndarray
    """int64 [v, tier]."""
    combo_offset: np.ndarray
    """int64 [v, tier]: running sum of combo_count."""


def build_value_lists(holdings: Holdings, sets: Sequence[tuple[int, ...]]) -> ValueLists:
    """What may be held by sets of value indices."""
    tiers, after = holdings.num_tiers, holdings.after
    classes = [np.flatnonzero(np.isin(holdings.class_value, known)) for known in sets]
    played = np.repeat(np.arange(tiers), np.diff(after.start))
    parts = [
        [np.flatnonzero((played == a) & np.isin(after.value, known)) for a in range(tiers)] for known in sets
    ]
    n, width, rest = len(sets), max(map(len, classes)), max(len(part) for row in parts for part in row)
    ints = lambda *shape: np.zeros(shape, np.int64)  # noqa: E731
    lists = ValueLists(
        ints(n, width), ints(n), np.zeros((n, width, 3), np.bool_), ints(n, tiers, rest), ints(n, tiers, rest),
        ints(n, tiers, rest), ints(n, tiers, rest), ints(n, tiers), ints(n, tiers),
    )  # fmt: skip
    for v, members in enumerate(classes):
        lists.cls[v, : len(members)] = members
        lists.count[v] = len(members)
        lists.legal[v, : len(members)] = holdings.class_slot_legal[members]
        for a, part in enumerate(parts[v]):
            size = len(part)
            lists.combo[v, a, :size] = part
            lists.combo_row[v, a, :size] = np.searchsorted(members, after.cls[part])
            lists.combo_slot[v, a, :size] = after.slot[part]
            lists.combo_pair[v, a, :size] = after.pair[part]
            lists.combo_count[v, a] = size
        lists.combo_offset[v] = np.concatenate([[0], np.cumsum(lists.combo_count[v])[:-1]])
    return lists


class HandOver(NamedTuple):
    """Where trick 1 hands over to tricks 2 and 3 after accepted Envidos, by block and first cards.

    A block has for each pair of first cards a matrix [mano's pair, pie's pair] and each player's row of own reach.
    """

    block: np.ndarray
    """int64 [groups, sets, sets]: block of each pair of value sets, -1 where there is none."""
    bucket: np.ndarray
    """int64 [2, groups, sets]: bucket of each set, if known of mano or of pie."""
    start: np.ndarray
    """int64 [blocks, tiers, tiers]: first number of the matrix."""
    reach_start: np.ndarray
    """int64 [2, blocks, tiers, tiers]: first number of own reach, by updated player."""
    local: np.ndarray
    """int64 [bucket, tier, pair id]: place of a tier pair in the holdings list, -1 where it is not."""
    length: np.ndarray
    """int64 [bucket, tier]: length of the list."""


class Store(NamedTuple):
    """A HandOver with what is handed over in one iteration. One tuple: numba passes none in another to threads."""

    block: np.ndarray
    bucket: np.ndarray
    start: np.ndarray
    reach_start: np.ndarray
    local: np.ndarray
    length: np.ndarray
    weights: np.ndarray
    """float32, all matrices: joint weights x the other's reach."""
    payoffs: np.ndarray
    """float32, all matrices: utility of the updated player."""
    reach: np.ndarray
    """float32, all rows: own reach."""
