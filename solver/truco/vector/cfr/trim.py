"""Trimming an average strategy: actions with a small share of their infoset are dropped.

An average keeps traces of early iterations in actions that are never right.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from solver.jit import kernel, njit
from solver.truco.vector.model.address import (
    ThirdSpan,
    block_sizes,
    pair_sizes,
    table_at,
    table_rows,
    third_at,
    third_rows,
)
from solver.truco.vector.model.forest import Forest, Lists
from solver.truco.vector.model.game import Game
from solver.truco.vector.model.layout import Groups
from solver.truco.vector.model.positions import PositionTrees, ValueLists
from solver.truco.vector.model.trees import LEAF, TURN


def trim_sums(
    game: Game, trunk: list[np.ndarray], position_sums: np.ndarray, sums: np.ndarray, share: float
) -> None:
    """Sets sums to 0 that are less than `share` of their infoset's; tables of a solver of the game, float32."""
    least = np.float32(share)
    for table in trunk:
        table[table < least * table.sum(axis=0)] = 0
    for number, continuation in enumerate(game.continuations):
        shown = np.array(
            [(m, p) for m, p, winner in game.outcomes() if winner in continuation.winners], np.int64
        )
        starts = game.position_tables[number]
        root = game.position_root[number]
        _trim_position(
            game.positions, game.value_lists, root, starts, shown.reshape(-1, 2), position_sums, least
        )
    if game.layout.entries:
        _trim_tricks(game.layout.trees.forest, game.layout.lists, game.groups, sums, least)


@kernel
def _trim_rows(sums: np.ndarray, begin: int, stride: int, actions: int, least: float) -> None:
    """All holdings of a table, whose rows are as long as its stride."""
    for k in range(begin, begin + stride):
        total = np.float32(0.0)
        for a in range(actions):
            total += sums[k + a * stride]
        for a in range(actions):
            if sums[k + a * stride] < least * total:
                sums[k + a * stride] = np.float32(0.0)


@njit
def _trim_position(
    trees: PositionTrees, v: ValueLists, root: int, starts: np.ndarray, shown: np.ndarray, sums: np.ndarray,
    least: float,
) -> None:  # fmt: skip
    """Tables of a continuation for pairs of value sets, int64 [pairs, 2]; starts [mano's set, pie's set]."""
    sizes = np.zeros(4, np.int64)
    for at in range(len(shown)):
        mano, pie = shown[at, 0], shown[at, 1]
        pair_sizes(v, mano, pie, sizes)
        for node in range(root, root + trees.nodes[root]):
            begin = table_at(trees.place, node, starts[mano, pie], sizes)
            _, stride = table_rows(trees.role[node], trees.stage[node], begin, sizes, 0, 0)
            _trim_rows(sums, begin, stride, trees.actions[node], least)


@njit
def _trim_situation(
    forest: Forest, root: int, begin: int, sizes: np.ndarray, sums: np.ndarray, least: float
) -> None:
    """Tables of one situation."""
    span = ThirdSpan(sizes[4], 0, sizes[5], 0)
    for node in range(root, root + forest.nodes[root]):
        at = table_at(forest.place, node, begin, sizes)
        _, stride = table_rows(forest.role[node], forest.stage[node], at, sizes, 0, 0)
        if forest.actions[node] > 1:
            _trim_rows(sums, at, stride, forest.actions[node], least)
        leaf = forest.child[node, 0] - LEAF
        if forest.kind[node] != TURN or leaf < 0:
            continue
        below, third = table_at(forest.leaf_place, leaf, begin, sizes), forest.leaf_root[leaf]
        for late in range(third, third + forest.nodes[third]):
            if forest.actions[late] > 1:
                at = third_at(forest.third, late, below, span.entries, span.entries2)
                _, stride = third_rows(forest.role[late], forest.stage[late], at, span, 0)
                _trim_rows(sums, at, stride, forest.actions[late], least)


@njit
def _trim_block(
    block: int, forest: Forest, lists: Lists, groups: Groups, sums: np.ndarray, least: float
) -> None:
    """Tables of a block, for all pairs of first cards."""
    tiers = lists.left_count.shape[1]
    sizes = np.zeros(6, np.int64)
    for a in range(tiers):
        for b in range(tiers):
            mano, pie = groups.block_mano[block] * tiers + a, groups.block_pie[block] * tiers + b
            if lists.count[mano] == 0 or lists.count[pie] == 0:
                continue
            gl, gf = (pie, mano) if b < a else (mano, pie)
            block_sizes(lists, gl, gf, a == b, sizes)
            root = groups.root[groups.block_group[block], 2 if a == b else 1 if b < a else 0]
            _trim_situation(forest, root, groups.table[block, a, b], sizes, sums, least)


@njit(parallel=True)
def _trim_tricks(forest: Forest, lists: Lists, groups: Groups, sums: np.ndarray, least: float) -> None:
    """All tables of tricks 2 and 3."""
    for block in prange(len(groups.block_group)):
        _trim_block(block, forest, lists, groups, sums, least)
