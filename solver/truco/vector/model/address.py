"""Where the entries of a table lie: sizes of a situation, begin of a node's table, first entry and stride of a row.

The one owner of addresses, for the kernels of all rooms and for plain Python, which calls `f.py_func` and so compiles
nothing. Action k of holding number h is entry first + k x stride + h, where `table_at` and `table_rows` give first
and stride in trick 1 after an accepted Envido and in trick 2, `third_at` and `third_rows` in trick 3. The trunk's
tables are arrays of their own (`Game.node_shape`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solver.jit import kernel
from solver.truco.vector.model.forest import PLACE, Lists
from solver.truco.vector.model.positions import ValueLists

_SPARE = 64


def empty_table(entries: int) -> np.ndarray:
    """A flat table of zeros, float32, and some spare: kernels load rows of 16 that may reach past the last entry."""
    return np.zeros(entries + _SPARE, np.float32)


@kernel
def block_sizes(lists: Lists, gl: int, gf: int, tie: bool, sizes: np.ndarray) -> None:
    """Writes the six sizes of a situation of tricks 2 and 3 (see Forest) to `sizes`, int64 [6].

    gl, gf: numbers of the leader's and the follower's list; tie: whether trick 1 was parda. In plain Python gl and gf
    may be arrays, with sizes [6, ...].
    """
    sizes[0] = lists.count[gl]
    sizes[1] = lists.count[gf]
    sizes[2] = lists.count[gf] * lists.left_count.shape[1]
    sizes[3] = lists.size[gl, 0]
    sizes[4] = lists.size[gl, 0] if tie else lists.size[gf, 2]
    sizes[5] = lists.size[gf, 0] if tie else lists.size[gl, 1]


@kernel
def pair_sizes(v: ValueLists, mano: int, pie: int, sizes: np.ndarray) -> None:
    """Writes the four sizes of trick 1 after an accepted Envido (see PositionTrees) to `sizes`, int64 [4].

    mano, pie: what is known of their values, as numbers of sets.
    """
    last = v.combo_count.shape[1] - 1
    sizes[0] = v.count[mano]
    sizes[1] = v.count[pie]
    sizes[2] = v.count[pie] * v.combo_count.shape[1]
    sizes[3] = v.combo_offset[mano, last] + v.combo_count[mano, last]


@kernel
def table_at(place: np.ndarray, node: int, begin: int, sizes: np.ndarray) -> int:
    """First entry of a node's table: trick 1 after an accepted Envido, trick 2, or trick 3 from a leaf of trick 2.

    place: Forest.place, Forest.leaf_place or PositionTrees.place, int64 [nodes or leaves, sizes]; begin: first entry
    of the situation; sizes: of `block_sizes` or `pair_sizes`.
    """
    at = begin
    for i in range(place.shape[1]):
        at += place[node, i] * sizes[i]
    return at


@kernel
def table_rows(role: int, stage: int, at: int, sizes: np.ndarray, card: int, offset: int) -> tuple[int, int]:
    """(First entry, stride) of the holdings at a node whose table begins at `at`, not in trick 3.

    card: tier that role 0 has played; offset: where his holdings that contain it begin among all his (holding, card),
    Lists.offset or ValueLists.combo_offset. Neither counts in stage 0. Holdings are numbered within the list of role
    1, or in stage 0 of role 0; else among those of role 0 that contain the card.
    """
    if stage == 0:
        return at, sizes[role]
    if role == 1:
        return at + card * sizes[1], sizes[2]
    return at + offset, sizes[3]


class ThirdSpan(NamedTuple):
    """Entries of trick 3 for one pair of cards of trick 2, of its leader and of the other."""

    entries: int
    """Of the leader over all pairs of cards."""
    first: int
    """Of these where those of this pair of cards begin."""
    entries2: int
    second: int


@kernel
def third_span(lists: Lists, gl: int, gf: int, tie: bool, x: int, y: int) -> ThirdSpan:
    """The entries after cards x of the leader of trick 2 and y of the other: pardas if equal, else y is stronger.

    After two pardas the leader of trick 2 leads again; otherwise who has won trick 2 does.
    """
    if tie:
        return ThirdSpan(lists.size[gl, 0], lists.offset[gl, x], lists.size[gf, 0], lists.offset[gf, y])
    return ThirdSpan(
        lists.size[gf, 2],
        lists.offset_weaker[gf, y] + (x - y - 1) * lists.left_count[gf, y],
        lists.size[gl, 1],
        lists.offset_stronger[gl, x] + y * lists.left_count[gl, x],
    )


@kernel
def third_at(third: np.ndarray, node: int, begin: int, entries: int, entries2: int) -> int:
    """First entry of a node's table in trick 3, which begins at `begin` (`table_at` of the leaf of trick 2).

    third: Forest.third; entries, entries2: of ThirdSpan.
    """
    return begin + third[node, PLACE] * entries + third[node, PLACE + 1] * entries2


@kernel
def third_rows(role: int, stage: int, at: int, span: ThirdSpan, wins: int) -> tuple[int, int]:
    """(First entry, stride) of the holdings at a node of trick 3 whose table begins at `at`.

    Holdings are cards left: of the leader (role 0), also when the other moves once the card lies (stage 1), who then
    knows of his own only whether it wins; before, of the other. wins: 1 if the other's card wins; counts there only.
    """
    if role == 1:
        if stage == 0:
            return at + span.second, span.entries2
        return at + wins * span.entries + span.first, 2 * span.entries
    return at + span.first, span.entries
