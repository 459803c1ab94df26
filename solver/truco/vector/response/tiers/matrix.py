"""Sums over what the policy holds, at tier level: a matrix of weights, lines of it by the other's holding.

The exploiter's holdings are rows of values and columns of the matrix, whose entries are deals x the other's reach
where the matrix begins. Going down a tree multiplies each line by a factor, the other's strategy; going up, the rows
take the best of own actions and sums over the other's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solver.jit import inner
from solver.truco.vector.model.forest import Forest
from solver.truco.vector.model.positions import PositionTrees
from solver.truco.vector.model.trees import NO_CHILD, TERMINAL, TURN, terminal_worth


class Lines(NamedTuple):
    """What the other may hold in a tree."""

    reach: np.ndarray
    """float64 [node, line]: his strategy on the way there."""
    mix: np.ndarray
    """float64 [node, action, line]: his strategy."""
    matrix: np.ndarray
    """float64 [lines of the matrix, columns]."""
    of: np.ndarray
    """int64 [line]: number in the matrix."""
    factor: np.ndarray
    """float64 [lines or more]: working memory."""


class Rows(NamedTuple):
    """Values of the exploiter in a tree."""

    value: np.ndarray
    """float64 [node, rows]."""
    first: int
    """Those meant are `count` rows from here on."""
    count: int  # type: ignore[assignment]
    column: int
    """Column of the matrix of the first."""
    work: np.ndarray
    """float64 [count or more]: working memory."""


@inner(fastmath=True)
def mass(d: Lines, first: int, last: int, factor: np.ndarray, column: int, out: np.ndarray, n: int) -> None:
    """out[:n] = sums of factor [line] x the matrix over lines[first:last], columns from `column` on."""
    for r in range(n):
        out[r] = 0.0
    for i in range(first, last):
        f = factor[i]
        if f != 0.0:
            line = d.matrix[d.of[i]]
            for r in range(n):
                out[r] += f * line[column + r]


@inner(fastmath=True)
def settle(
    trees: Forest | PositionTrees, root: int, node: int, own: int, d: Lines, rows: Rows, gains: np.ndarray
) -> None:
    """Values of a node from its words; those of its cards are in rows.value before.

    own: the exploiter's role in the tree; gains float64 [2, 5]: his utility by (he wins, he loses) and points.
    """
    k = node - root
    mine, turn = trees.role[node] == own, trees.kind[node] == TURN
    to, n = rows.first, rows.count
    out = rows.value[k]
    for a in range(1 if turn else 0, 2 if turn else 3):
        code = trees.child[node, a]
        if code == NO_CHILD:
            continue
        if code <= TERMINAL:
            worth = terminal_worth(code, own, gains)
            for i in range(len(d.of)):
                d.factor[i] = worth * (d.reach[k, i] if mine else d.reach[k, i] * d.mix[k, a, i])
            mass(d, 0, len(d.of), d.factor, rows.column, rows.work, n)
            join(out, to, rows.work, 0, n, a == 0, mine)
        else:
            join(out, to, rows.value[code - root], to, n, a == 0, mine)


@inner(fastmath=True)
def join(out: np.ndarray, to: int, below: np.ndarray, of: int, n: int, fresh: bool, mine: bool) -> None:
    """n values of an option joined to those of a node: the first one is written, of own ones the larger kept, the
    other's added.
    """
    if fresh:
        for r in range(n):
            out[to + r] = below[of + r]
    elif mine:
        for r in range(n):
            out[to + r] = max(out[to + r], below[of + r])
    else:
        for r in range(n):
            out[to + r] += below[of + r]


@inner(fastmath=True)
def descend(trees: Forest | PositionTrees, root: int, node: int, own: int, d: Lines) -> None:
    """The other's reach at a node from its parent's, over the same lines."""
    k, up, a = node - root, trees.parent[node] - root, trees.action[node]
    if trees.role[trees.parent[node]] == own:
        for i in range(len(d.of)):
            d.reach[k, i] = d.reach[up, i]
    else:
        for i in range(len(d.of)):
            d.reach[k, i] = d.reach[up, i] * d.mix[up, a, i]
