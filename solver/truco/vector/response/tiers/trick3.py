"""Best responses in trick 3 at tier level, in numba; see matrix.py for rows and lines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solver.jit import inner
from solver.truco.vector.cfr.average import average_shares
from solver.truco.vector.model.address import ThirdSpan, third_at, third_rows
from solver.truco.vector.model.forest import Forest
from solver.truco.vector.model.trees import NO_CHILD, TERMINAL, TURN, terminal_worth
from solver.truco.vector.response.tiers.matrix import Lines, Rows, descend, join, mass, settle


class Room3(NamedTuple):
    """Working memory for trick 3; the first index is the node's number in its tree."""

    reach: np.ndarray
    """float64 [node, lines]."""
    mix: np.ndarray
    """float64 [node, 3, lines]."""
    value: np.ndarray
    """float64 [node, rows]."""
    late: np.ndarray
    """float64 [node, rows]: after the first card."""
    halves: np.ndarray
    """float64 [node, 2, rows]: masses that lose to the own card or beat it."""
    entry: np.ndarray
    """int64 [node]: node of the first card."""
    path: np.ndarray
    """float64 [node, 2]: the other's strategy since then, by outcome."""
    shown: np.ndarray
    """float64 [node, 3, 2]: his mix by outcome."""
    post: np.ndarray
    """float64 [node, 2, lines]: utility by outcome once the other's card lies."""
    factor: np.ndarray
    """float64 [lines]."""
    line: np.ndarray
    """float64 [rows]."""
    places: np.ndarray
    """int64 [lines]: places of the other's cards in his table."""


@inner(arrays=True)
def make_room3(nodes: int, lines: int, rows: int) -> Room3:
    """For trees of so many nodes, lines and rows."""
    return Room3(
        np.empty((nodes, lines)), np.empty((nodes, 3, lines)), np.empty((nodes, rows)), np.empty((nodes, rows)),
        np.empty((nodes, 2, rows)), np.empty(nodes, np.int64), np.empty((nodes, 2)), np.empty((nodes, 3, 2)),
        np.empty((nodes, 2, lines)), np.empty(lines), np.empty(rows), np.empty(lines, np.int64),
    )  # fmt: skip


class Third(NamedTuple):
    """Trick 3 after cards of trick 2: own rows with a tier, the other's lines with another."""

    own: int
    """The exploiter's role: 0 leads."""
    tie: bool
    """Whether trick 1 was parda: then equal cards of trick 3 count as the leader's."""
    span: ThirdSpan
    first: int
    """Column of the matrix of the first row; `rows` in all."""
    rests: np.ndarray
    """int64 [row]: tier of the own card left, ascending."""
    rest_places: np.ndarray
    """int64 [tier]: its place in the own table."""
    lines: np.ndarray
    """int64 [line]: number in the matrix."""
    line_rests: np.ndarray
    """int64 [line]: tier of the other's card left, ascending; `places`: its place in his table."""
    places: np.ndarray


@inner(fastmath=True)
def _mix(sums: np.ndarray, at: int, stride: int, actions: int, mix: np.ndarray, to: int) -> None:
    """Average strategy of one holding to mix[:, to]; where there is no choice there is no table."""
    if actions == 1:
        mix[0, to] = 1.0
    else:
        average_shares(sums, at, stride, actions, 7, mix, to)


@inner(fastmath=True)
def _opened_descend(
    forest: Forest,
    sums: np.ndarray,
    w: Room3,
    d: Lines,
    t: Third,
    root: int,
    begin: int,
    rows: tuple[int, int, int],
) -> None:
    """The policy after the exploiter's card; rows are (first, end, lines that beat it: those before)."""
    r0, r1, split = rows
    column, n = t.first + r0, r1 - r0
    place = t.rest_places[t.rests[r0]]
    for node in range(root, root + forest.nodes[root]):
        if forest.stage[node] == 0:
            continue
        k, parent = node - root, forest.parent[node]
        up = parent - root
        if forest.stage[parent] == 0:
            w.entry[k] = k
            w.path[k, 0], w.path[k, 1] = 1.0, 1.0
            mass(d, split, len(d.of), w.reach[up], column, w.halves[k, 0], n)
            mass(d, 0, split, w.reach[up], column, w.halves[k, 1], n)
        else:
            w.entry[k] = w.entry[up]
            for bit in range(2):
                w.path[k, bit] = w.path[up, bit]
                if forest.role[parent] == 1:
                    w.path[k, bit] *= w.shown[up, forest.action[node], bit]
        if forest.role[node] == 1:
            at = third_at(forest.third, node, begin, t.span.entries, t.span.entries2)
            for bit in range(2):
                first, stride = third_rows(1, 1, at, t.span, bit)
                _mix(sums, first + place, stride, forest.actions[node], w.shown[k], bit)


@inner(fastmath=True)
def _opened_ascend(forest: Forest, w: Room3, root: int, n: int, gains: np.ndarray) -> None:
    """Values of n rows after the exploiter's card, to w.late."""
    for node in range(root + forest.nodes[root] - 1, root - 1, -1):
        if forest.stage[node] == 0:
            continue
        k, mine, turn = node - root, forest.role[node] == 0, forest.kind[node] == TURN
        lost, beaten = w.halves[w.entry[k], 0], w.halves[w.entry[k], 1]
        for a in range(2 if turn else 3):
            code = forest.child[node, a]
            if code == NO_CHILD:
                continue
            if code > TERMINAL and not (turn and a == 0):
                join(w.late[k], 0, w.late[code - root], 0, n, a == 0, mine)
                continue
            low, high = w.path[k, 0], w.path[k, 1]
            if not mine:
                low, high = low * w.shown[k, a, 0], high * w.shown[k, a, 1]
            if code <= TERMINAL:
                worth = terminal_worth(code, 0, gains)
                low, high = low * worth, high * worth
            else:
                low, high = low * gains[0, forest.level[node]], high * gains[1, forest.level[node]]
            for r in range(n):
                w.line[r] = lost[r] * low + beaten[r] * high
            join(w.late[k], 0, w.line, 0, n, a == 0, mine)


@inner(fastmath=True)
def _answered(
    forest: Forest, sums: np.ndarray, w: Room3, t: Third, root: int, begin: int, gains: np.ndarray
) -> None:
    """Trick 3 after the other's card: utility by line and by whether the exploiter's card wins, to w.post."""
    m = len(t.places)
    for node in range(root + forest.nodes[root] - 1, root - 1, -1):
        if forest.stage[node] == 0:
            continue
        k, mine, turn = node - root, forest.role[node] == 1, forest.kind[node] == TURN
        if not mine:
            at = third_at(forest.third, node, begin, t.span.entries, t.span.entries2)
            first, stride = third_rows(0, 1, at, t.span, 0)
            for e in range(m):
                _mix(sums, first + t.places[e], stride, forest.actions[node], w.mix[k], e)
        for bit in range(2):
            for e in range(m):
                best = 0.0
                for a in range(2 if turn else 3):
                    code = forest.child[node, a]
                    if code == NO_CHILD:
                        continue
                    if code <= TERMINAL:
                        u = terminal_worth(code, 1, gains)
                    elif turn and a == 0:
                        u = gains[1 - bit, forest.level[node]]
                    else:
                        u = w.post[code - root, bit, e]
                    if not mine:
                        best += w.mix[k, a, e] * u
                    elif a == 0:
                        best = u
                    else:
                        best = max(best, u)
                w.post[k, bit, e] = best


@inner(fastmath=True)
def _after_cards(
    forest: Forest, sums: np.ndarray, w: Room3, d: Lines, t: Third, root: int, begin: int, gains: np.ndarray
) -> None:
    """Values of the nodes that play the first card of trick 3, to w.value, for rows with one tier left at a time."""
    r0 = 0
    while r0 < len(t.rests):
        z, r1 = t.rests[r0], r0 + 1
        while r1 < len(t.rests) and t.rests[r1] == z:
            r1 += 1
        n = r1 - r0
        if t.own == 0:
            split = 0
            while split < len(t.line_rests) and (
                t.line_rests[split] < z or (t.line_rests[split] == z and not t.tie)
            ):
                split += 1
            _opened_descend(forest, sums, w, d, t, root, begin, (r0, r1, split))
            _opened_ascend(forest, w, root, n, gains)
        for node in range(root, root + forest.nodes[root]):
            if forest.stage[node] == 1 or forest.kind[node] != TURN:
                continue
            k, below = node - root, forest.child[node, 0] - root
            if t.own == 0:
                join(w.value[k], r0, w.late[below], 0, n, True, True)
                continue
            for e in range(len(t.lines)):
                wins = z < t.line_rests[e] or (z == t.line_rests[e] and not t.tie)
                w.factor[e] = w.reach[k, e] * w.mix[k, 0, e] * w.post[below, 1 if wins else 0, e]
            mass(d, 0, len(d.of), w.factor, t.first + r0, w.line, n)
            join(w.value[k], r0, w.line, 0, n, True, True)
        r0 = r1


@inner(fastmath=True)
def solve_third(
    forest: Forest, sums: np.ndarray, w: Room3, matrix: np.ndarray, t: Third, root: int, begin: int,
    played: np.ndarray, gains: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """Trick 3 from a node `root` whose tables begin at `begin`; adds the values of own rows to out [row].

    matrix float64 [lines of the matrix, columns]; played float64 [line]: the other's reach; gains float64 [2, 5].
    """
    m, n = len(t.lines), len(t.rests)
    d = Lines(w.reach, w.mix, matrix, t.lines, w.factor)
    last = root + forest.nodes[root]
    for node in range(root, last):
        if forest.stage[node] == 1:
            continue
        k, role = node - root, forest.role[node]
        if k == 0:
            for e in range(m):
                w.reach[0, e] = played[e]
        else:
            descend(forest, root, node, t.own, d)
        if role == t.own:
            continue
        at = third_at(forest.third, node, begin, t.span.entries, t.span.entries2)
        first, stride = third_rows(role, 0, at, t.span, 0)
        for e in range(m):
            _mix(sums, first + t.places[e], stride, forest.actions[node], w.mix[k], e)
    if t.own == 1:
        _answered(forest, sums, w, t, root, begin, gains)
    _after_cards(forest, sums, w, d, t, root, begin, gains)
    rows = Rows(w.value, 0, n, t.first, w.line)
    for node in range(last - 1, root - 1, -1):
        if forest.stage[node] == 0:
            settle(forest, root, node, t.own, d, rows, gains)
    for r in range(n):
        out[r] += w.value[0, r]
