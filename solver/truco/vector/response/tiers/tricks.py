"""Best responses at tier level after the trunk, in numba: the exploiter tells tiers apart but no suits.

Everything is seen from the exploiter ("own"). His holdings are rows, the other's are lines of a matrix of weights:
deals x the other's reach. Going down a tree multiplies each line by a factor, the other's strategy, which is read
from the policy's tables by bucket; going up, the rows take the best of own actions and sums over the other's. Rows
that meet the same tables lie side by side: several exits, several accepted Envidos, several own Envido values.
Values are float64 sums over deals.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solver.jit import njit
from solver.truco.vector.model.address import block_sizes
from solver.truco.vector.model.forest import Forest, Lists
from solver.truco.vector.model.positions import PositionTrees, ValueLists
from solver.truco.vector.model.trees import LEAF, NO_CHILD, TERMINAL, TURN
from solver.truco.vector.response.cards.tricks import end_worth

_LOWEST = -1e300


class Book(NamedTuple):
    """Tables of tricks 2 and 3 and where they lie."""

    forest: Forest
    lists: Lists
    left: np.ndarray
    """int64 [list, tier, tier]: place among the pairs that hold the first tier, of the pair with the second."""
    sums: np.ndarray
    root: np.ndarray
    """int64 [groups, 3]: as Groups.root."""
    table: np.ndarray
    """int64 [blocks + 1, tiers, tiers]."""
    block: np.ndarray
    """int64 [groups, sets, sets]: as Store.block; bucket and local as there."""
    bucket: np.ndarray
    local: np.ndarray
    pair_tiers: np.ndarray
    """int64 [pair id, 2]: strongest first."""
    joint: np.ndarray
    """float64 [classes, classes]: deals."""
    gains: np.ndarray
    """float64 [groups, 2, 5]: the exploiter's, by (he wins, he loses) and points."""


class Sides(NamedTuple):
    """Both sides of a situation of tricks 2 and 3 by the card played in trick 2: ordered rows and lines."""

    row_start: np.ndarray
    """int64 [tiers + 1]: ordered rows by tier of the played card; within a tier by that of the rest."""
    row_of: np.ndarray
    row_rest: np.ndarray
    """Tier of the card left."""
    line_start: np.ndarray
    line_of: np.ndarray
    line_slot: np.ndarray
    line_rest: np.ndarray
    weights: np.ndarray
    """float64 [lines, ordered rows]."""


class Room(NamedTuple):
    """Working memory of a situation for trick 3; the first index is the node's number in its tree."""

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


@njit(fastmath=True)
def _shares(
    sums: np.ndarray, at: int, stride: int, actions: int, legal: int, mix: np.ndarray, to: int
) -> None:
    """Average strategy of an infoset to mix[:, to]; `legal` is a bit mask, uniform where the sums are zero."""
    total, live = 0.0, 0
    for a in range(actions):
        if legal >> a & 1:
            total += np.float64(sums[at + a * stride])
            live += 1
    for a in range(actions):
        share = 0.0
        if legal >> a & 1:
            share = np.float64(sums[at + a * stride]) / total if total > 0.0 else 1.0 / live
        mix[a, to] = share


@njit(fastmath=True)
def _mass(
    matrix: np.ndarray, lines: np.ndarray, first: int, last: int, factor: np.ndarray, lo: int, n: int,
    out: np.ndarray,
) -> None:  # fmt: skip
    """out[:n] = sums of factor x matrix[line, lo : lo + n] over lines[first:last]."""
    for r in range(n):
        out[r] = 0.0
    for i in range(first, last):
        f = factor[i]
        if f != 0.0:
            line = matrix[lines[i], lo : lo + n]
            for r in range(n):
                out[r] += f * line[r]


@njit(fastmath=True)
def _settle(
    trees: Forest | PositionTrees, node: int, root: int, own: int, value: np.ndarray, to: int, n: int,
    reach: np.ndarray, mix: np.ndarray, matrix: np.ndarray, lines: np.ndarray, count: int, lo: int, gains: np.ndarray,
    factor: np.ndarray, work: np.ndarray,
) -> None:  # fmt: skip
    """Values of a node, value[node, to : to + n], from its words; those of its cards are there before.

    reach [node, line], mix [node, action, line] for lines[:count] of the matrix, whose columns begin at lo.
    """
    k = node - root
    mine, turn = trees.role[node] == own, trees.kind[node] == TURN
    out = value[k, to : to + n]
    for a in range(1 if turn else 0, 2 if turn else 3):
        code = trees.child[node, a]
        if code == NO_CHILD:
            continue
        if code <= TERMINAL:
            worth = end_worth(code, own, gains)
            for i in range(count):
                factor[i] = worth * (reach[k, i] if mine else reach[k, i] * mix[k, a, i])
            _mass(matrix, lines, 0, count, factor, lo, n, work)
            below = work[:n]
        else:
            below = value[code - root, to : to + n]
        if a == 0:
            for r in range(n):
                out[r] = below[r]
        elif mine:
            for r in range(n):
                out[r] = max(out[r], below[r])
        else:
            for r in range(n):
                out[r] += below[r]


@njit(fastmath=True)
def _descend(
    trees: Forest | PositionTrees, node: int, root: int, own: int, reach: np.ndarray, mix: np.ndarray, n: int
) -> None:
    """The other's reach at a node from its parent's, over the same lines."""
    k, up, a = node - root, trees.parent[node] - root, trees.action[node]
    if trees.role[trees.parent[node]] == own:
        for i in range(n):
            reach[k, i] = reach[up, i]
    else:
        for i in range(n):
            reach[k, i] = reach[up, i] * mix[up, a, i]


# ------------------------------------------------------------------------------------------------ tricks 2 and 3


@njit(fastmath=True)
def _opened(
    book: Book, s: Sides, w: Room, root: int, begin: int, entries: int, first: int, entries2: int, tie: bool, lo: int,
    r0: int, r1: int, place: int, lines: np.ndarray, rests: np.ndarray, gains: np.ndarray,
) -> None:  # fmt: skip
    """Trick 3 after the exploiter's card, for the ordered rows r0 : r1, which have one tier left; to w.value."""
    forest = book.forest
    n, m, z = r1 - r0, len(lines), s.row_rest[r0]
    last = root + forest.nodes[root]
    split = 0
    while split < m and (rests[split] < z or (rests[split] == z and not tie)):
        split += 1
    for node in range(root, last):
        if forest.stage[node] == 0:
            continue
        k, parent, actions = node - root, forest.parent[node], forest.actions[node]
        up = parent - root
        if forest.stage[parent] == 0:
            w.entry[k] = k
            w.path[k, 0], w.path[k, 1] = 1.0, 1.0
            _mass(s.weights, lines, split, m, w.reach[up], r0, n, w.halves[k, 0])
            _mass(s.weights, lines, 0, split, w.reach[up], r0, n, w.halves[k, 1])
        else:
            w.entry[k] = w.entry[up]
            for bit in range(2):
                w.path[k, bit] = w.path[up, bit]
                if forest.role[parent] == 1:
                    w.path[k, bit] *= w.shown[up, forest.action[node], bit]
        if forest.role[node] == 1:
            at = begin + forest.place[node, 4] * entries + forest.place[node, 5] * entries2 + first + place
            for bit in range(2):
                if actions == 1:
                    w.shown[k, 0, bit] = 1.0
                else:
                    _shares(book.sums, at + bit * entries, 2 * entries, actions, 7, w.shown[k], bit)
    for node in range(last - 1, root - 1, -1):
        if forest.stage[node] == 0:
            continue
        k, mine = node - root, forest.role[node] == 0
        turn = forest.kind[node] == TURN
        out, lost, beaten = w.late[k], w.halves[w.entry[k], 0], w.halves[w.entry[k], 1]
        for a in range(2 if turn else 3):
            code = forest.child[node, a]
            if code == NO_CHILD:
                continue
            if code <= TERMINAL or (turn and a == 0):
                low, high = w.path[k, 0], w.path[k, 1]
                if not mine:
                    low, high = low * w.shown[k, a, 0], high * w.shown[k, a, 1]
                if code <= TERMINAL:
                    worth = end_worth(code, 0, gains)
                    low, high = low * worth, high * worth
                else:
                    low, high = low * gains[0, forest.level[node]], high * gains[1, forest.level[node]]
                if a == 0:
                    for r in range(n):
                        out[r] = lost[r] * low + beaten[r] * high
                elif mine:
                    for r in range(n):
                        out[r] = max(out[r], lost[r] * low + beaten[r] * high)
                else:
                    for r in range(n):
                        out[r] += lost[r] * low + beaten[r] * high
                continue
            below = w.late[code - root]
            if a == 0:
                for r in range(n):
                    out[r] = below[r]
            elif mine:
                for r in range(n):
                    out[r] = max(out[r], below[r])
            else:
                for r in range(n):
                    out[r] += below[r]
    for node in range(root, last):
        if forest.stage[node] == 0 and forest.kind[node] == TURN:
            below = w.late[forest.child[node, 0] - root]
            out = w.value[node - root, r0 - lo : r1 - lo]
            for r in range(n):
                out[r] = below[r]


@njit(fastmath=True)
def _answered(
    book: Book, w: Room, root: int, begin: int, entries: int, first: int, entries2: int, places: np.ndarray,
    gains: np.ndarray,
) -> None:  # fmt: skip
    """Trick 3 after the other's card: utility by line and by whether the exploiter's card wins, to w.post."""
    forest = book.forest
    m = len(places)
    last = root + forest.nodes[root]
    for node in range(last - 1, root - 1, -1):
        if forest.stage[node] == 0:
            continue
        k, mine, actions = node - root, forest.role[node] == 1, forest.actions[node]
        turn = forest.kind[node] == TURN
        if not mine:
            at = begin + forest.place[node, 4] * entries + forest.place[node, 5] * entries2 + first
            for e in range(m):
                _shares(book.sums, at + places[e], entries, actions, 7, w.mix[k], e)
        for bit in range(2):
            for e in range(m):
                best = 0.0
                for a in range(2 if turn else 3):
                    code = forest.child[node, a]
                    if code == NO_CHILD:
                        continue
                    if code <= TERMINAL:
                        u = end_worth(code, 1, gains)
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


@njit(fastmath=True)
def solve_third(
    book: Book, s: Sides, w: Room, root: int, begin: int, entries: int, first: int, entries2: int, second: int,
    tie: bool, own: int, go: int, u: int, gc: int, v: int, places: np.ndarray, played: np.ndarray, gains: np.ndarray,
    out: np.ndarray,
) -> None:  # fmt: skip
    """Trick 3 after own cards of tier u and the other's of tier v in trick 2; adds values of ordered rows to `out`.

    `own` is the exploiter's role in trick 3; table entries of each player in number and the first one here; `places`
    [lines]: places of the other's rest; `played` [lines]: his reach.
    """
    forest = book.forest
    lo, hi = s.row_start[u], s.row_start[u + 1]
    lines = s.line_of[s.line_start[v] : s.line_start[v + 1]]
    rests = s.line_rest[s.line_start[v] : s.line_start[v + 1]]
    n, m = hi - lo, len(lines)
    last = root + forest.nodes[root]
    for node in range(root, last):
        if forest.stage[node] == 1:
            continue
        k, role, actions = node - root, forest.role[node], forest.actions[node]
        if k == 0:
            for e in range(m):
                w.reach[0, e] = played[e]
        else:
            _descend(forest, node, root, own, w.reach, w.mix, m)
        if role == own:
            continue
        at = begin + forest.place[node, 4] * entries + forest.place[node, 5] * entries2
        at += first if role == 0 else second
        for e in range(m):
            if actions == 1:
                w.mix[k, 0, e] = 1.0
            else:
                _shares(
                    book.sums, at + places[e], entries if role == 0 else entries2, actions, 7, w.mix[k], e
                )
    if own == 1:
        _answered(book, w, root, begin, entries, first, entries2, places, gains)
    r0 = lo
    while r0 < hi:
        z, r1 = s.row_rest[r0], r0 + 1
        while r1 < hi and s.row_rest[r1] == z:
            r1 += 1
        if own == 0:
            _opened(
                book, s, w, root, begin, entries, first, entries2, tie, lo, r0, r1, book.left[go, u, z], lines, rests,
                gains,
            )  # fmt: skip
        else:
            for node in range(root, last):
                if forest.stage[node] == 1 or forest.kind[node] != TURN:
                    continue
                k, below = node - root, forest.child[node, 0] - root
                for e in range(m):
                    wins = z < rests[e] or (z == rests[e] and not tie)
                    w.factor[e] = w.reach[k, e] * w.mix[k, 0, e] * w.post[below, 1 if wins else 0, e]
                _mass(s.weights, lines, 0, m, w.factor, r0, r1 - r0, w.value[k, r0 - lo : r1 - lo])
        r0 = r1
    for node in range(last - 1, root - 1, -1):
        if forest.stage[node] == 0:
            _settle(
                forest, node, root, own, w.value, 0, n, w.reach, w.mix, s.weights, lines, m, lo, gains, w.factor,
                w.line,
            )  # fmt: skip
    for r in range(n):
        out[r] += w.value[0, r]


@njit
def _by_card(tiers: int, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Ways to play a card of pairs [n, 2] of tiers, sorted by its tier and then by the rest's: where each tier
    starts, pair, slot and rest. Equal tiers are one way.
    """
    n = len(pairs)
    key = np.empty(2 * n, np.int64)
    count = 0
    for i in range(n):
        for slot in range(2):
            if slot == 1 and pairs[i, 0] == pairs[i, 1]:
                continue
            key[count] = ((pairs[i, slot] * tiers + pairs[i, 1 - slot]) * n + i) * 2 + slot
            count += 1
    key = np.sort(key[:count])
    start = np.zeros(tiers + 1, np.int64)
    of, slots, rest = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
    for j in range(count):
        slots[j], of[j] = key[j] % 2, key[j] // 2 % n
        cards = key[j] // 2 // n
        rest[j] = cards % tiers
        start[cards // tiers + 1] += 1
    return np.cumsum(start), of, slots, rest


@njit(fastmath=True)
def _second(
    book: Book, s: Sides, w: Room, leaves: np.ndarray, played: np.ndarray, begin: int, sizes: np.ndarray, gl: int,
    gf: int, tie: bool, own: int, u: int, v: int, gains: np.ndarray, value: np.ndarray,
) -> None:  # fmt: skip
    """Adds to value [node, ordered rows of u] what follows own cards of tier u and the other's of tier v in trick 2.

    leaves [node]: the leaf of trick 2 that hangs on each node, -1 if none; played [node, lines of v].
    """
    forest, lists = book.forest, book.lists
    go, gc = (gl, gf) if own == 0 else (gf, gl)
    x, y = (u, v) if own == 0 else (v, u)
    lo, n = s.row_start[u], s.row_start[u + 1] - s.row_start[u]
    lines = s.line_of[s.line_start[v] : s.line_start[v + 1]]
    m = len(lines)
    decided = y != x if tie else y >= x
    own_wins = (tie and y < x) != (own == 0)
    if tie:
        first, second = lists.offset[gl, x], lists.offset[gf, y]
    else:
        first = lists.offset_weaker[gf, y] + (x - y - 1) * lists.left_count[gf, y]
        second = lists.offset_stronger[gl, x] + y * lists.left_count[gl, x]
    places = np.empty(m, np.int64)
    for e in range(m):
        places[e] = book.left[gc, v, s.line_rest[s.line_start[v] + e]]
    for k in range(len(leaves)):
        leaf = leaves[k]
        if leaf < 0:
            continue
        total = 0.0
        for e in range(m):
            total += played[k, e]
        if total == 0.0:
            continue
        if decided:
            worth = gains[0 if own_wins else 1, forest.leaf_level[leaf]]
            _mass(s.weights, lines, 0, m, played[k], lo, n, w.line)
            for r in range(n):
                value[k, r] += worth * w.line[r]
            continue
        below = begin
        for i in range(6):
            below += forest.leaf_place[leaf, i] * sizes[i]
        solve_third(
            book, s, w, forest.leaf_root[leaf], below, sizes[4], first, sizes[5], second, tie,
            own if tie else 1 - own, go, u, gc, v, places, played[k], gains, value[k],
        )  # fmt: skip


@njit(fastmath=True)
def _tricks(
    book: Book, group: int, block: int, a: int, b: int, gm: int, gp: int, own: int, pairs: np.ndarray,
    lines: np.ndarray, weights: np.ndarray, gains: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """Values of tricks 2 and 3 after first cards of tiers a (mano's) and b, to out [rows].

    gm, gp: mano's and pie's lists; own: 0 mano, 1 pie; pairs [rows, 2]: tiers of the exploiter's cards left; lines:
    the other's places in his list; weights [lines, rows].
    """
    forest, lists, sums = book.forest, book.lists, book.sums
    tiers = lists.left_count.shape[1]
    tie, pie_leads = a == b, b < a
    gl, gf = (gp, gm) if pie_leads else (gm, gp)
    if pie_leads:
        own = 1 - own  # from here on the role in trick 2
    gc = gf if own == 0 else gl
    sizes = np.zeros(6, np.int64)
    block_sizes(lists, gl, gf, tie, sizes)
    begin = book.table[block, a, b]
    root = book.root[group, 2 if tie else 1 if pie_leads else 0]
    nodes = forest.nodes[root]
    last = root + nodes
    n, m = len(pairs), len(lines)
    held = np.empty((m, 2), np.int64)
    for c in range(m):
        held[c, 0], held[c, 1] = lists.tiers[gc, lines[c], 0], lists.tiers[gc, lines[c], 1]
    row_start, row_of, _, row_rest = _by_card(tiers, pairs)
    line_start, line_of, line_slot, line_rest = _by_card(tiers, held)
    rows, wide = len(row_of), 1
    for t in range(tiers):
        wide = max(wide, row_start[t + 1] - row_start[t])
    ordered = np.empty((m, rows))
    for c in range(m):
        for r in range(rows):
            ordered[c, r] = weights[c, row_of[r]]
    s = Sides(row_start, row_of, row_rest, line_start, line_of, line_slot, line_rest, ordered)
    deep = 1
    for node in range(root, last):
        if forest.kind[node] == TURN and forest.child[node, 0] >= LEAF:
            deep = max(deep, forest.nodes[forest.leaf_root[forest.child[node, 0] - LEAF]])
    w = Room(
        np.empty((deep, m)), np.empty((deep, 3, m)), np.empty((deep, wide)), np.empty((deep, wide)),
        np.empty((deep, 2, wide)), np.empty(deep, np.int64), np.empty((deep, 2)), np.empty((deep, 3, 2)),
        np.empty((deep, 2, m)), np.empty(m), np.empty(max(n, wide)),
    )  # fmt: skip
    every = np.arange(m)
    reach, mix, value = np.ones((nodes, m)), np.ones((nodes, 3, m)), np.zeros((nodes, n))
    reach1, mix1 = np.empty((nodes, m)), np.ones((nodes, 3, m))
    played = np.empty((nodes, m))
    leaves = np.full(nodes, -1)
    for node in range(root, last):
        k, role, actions = node - root, forest.role[node], forest.actions[node]
        turn = forest.kind[node] == TURN
        if forest.stage[node] == 1:
            if turn:
                leaves[k] = forest.child[node, 0] - LEAF
            continue
        if k > 0:
            _descend(forest, node, root, own, reach, mix, m)
        if turn and role == own:
            value[k] = _LOWEST
        if role == own:
            continue
        at = begin
        for i in range(6):
            at += forest.place[node, i] * sizes[i]
        for c in range(m):
            legal = 5 if turn and held[c, 0] == held[c, 1] else 7
            _shares(sums, at + lines[c], sizes[role], actions, legal, mix[k], c)
    for x in range(tiers):
        start = row_start if own == 0 else line_start
        if start[x] == start[x + 1]:
            continue
        size = m if own == 0 else line_start[x + 1] - line_start[x]
        low, high = (row_start[x], row_start[x + 1]) if own == 0 else (0, n)
        value1 = np.zeros((nodes, high - low))
        for node in range(root, last):
            if forest.stage[node] == 0:
                continue
            k, role, actions = node - root, forest.role[node], forest.actions[node]
            turn = forest.kind[node] == TURN
            if forest.stage[forest.parent[node]] == 1:
                _descend(forest, node, root, own, reach1, mix1, size)
            else:
                up = forest.parent[node] - root
                for i in range(size):
                    if own == 0:
                        reach1[k, i] = reach[up, i]
                    else:
                        c = line_of[line_start[x] + i]
                        reach1[k, i] = reach[up, c] * mix[up, line_slot[line_start[x] + i], c]
            if role == own:
                continue
            at = begin
            for i in range(6):
                at += forest.place[node, i] * sizes[i]
            for i in range(size):
                if own == 0:
                    legal = 5 if turn and held[i, 0] == held[i, 1] else 7
                    _shares(sums, at + x * sizes[1] + lines[i], sizes[2], actions, legal, mix1[k], i)
                else:
                    place = lists.offset[gl, x] + book.left[gl, x, line_rest[line_start[x] + i]]
                    _shares(sums, at + place, sizes[3], actions, 7, mix1[k], i)
        if own == 0:
            for v in range(tiers):
                if line_start[v] == line_start[v + 1]:
                    continue
                for k in range(nodes):
                    if leaves[k] >= 0:
                        for e in range(line_start[v], line_start[v + 1]):
                            c = line_of[e]
                            played[k, e - line_start[v]] = reach1[k, c] * mix1[k, line_slot[e], c]
                _second(book, s, w, leaves, played, begin, sizes, gl, gf, tie, own, x, v, gains, value1)
            lines1 = every
        else:
            for k in range(nodes):
                if leaves[k] >= 0:
                    value1[k] = _LOWEST
            for u in range(tiers):
                if row_start[u] == row_start[u + 1]:
                    continue
                card = np.zeros((nodes, row_start[u + 1] - row_start[u]))
                _second(book, s, w, leaves, reach1, begin, sizes, gl, gf, tie, own, u, x, gains, card)
                for k in range(nodes):
                    if leaves[k] >= 0:
                        for r in range(row_start[u], row_start[u + 1]):
                            i = row_of[r]
                            value1[k, i] = max(value1[k, i], card[k, r - row_start[u]])
            lines1 = line_of[line_start[x] : line_start[x + 1]]
        for node in range(last - 1, root - 1, -1):
            if forest.stage[node] == 1:
                matrix = ordered if own == 0 else weights
                _settle(
                    forest, node, root, own, value1, 0, high - low, reach1, mix1, matrix, lines1, size, low, gains,
                    w.factor, w.line,
                )  # fmt: skip
        for node in range(root, last):
            if forest.stage[node] == 1 or forest.kind[node] != TURN:
                continue
            k, below = node - root, forest.child[node, 0] - root
            if own == 0:
                for r in range(low, high):
                    i = row_of[r]
                    value[k, i] = max(value[k, i], value1[below, r - low])
            else:
                for i in range(n):
                    value[k, i] += value1[below, i]
    for node in range(last - 1, root - 1, -1):
        if forest.stage[node] == 0:
            _settle(
                forest,
                node,
                root,
                own,
                value,
                0,
                n,
                reach,
                mix,
                weights,
                every,
                m,
                0,
                gains,
                w.factor,
                w.line,
            )
    out[:n] = value[0]


# --------------------------------------------------------------------------------------------------------- exits


@njit(fastmath=True, nogil=True)
def respond_exits(
    book: Book, start: np.ndarray, cls: np.ndarray, pair: np.ndarray, group: int, block: int, chosen: np.ndarray,
    reach: np.ndarray, own: int, a: int, out: np.ndarray,
) -> None:  # fmt: skip
    """Adds what tricks 2 and 3 are worth to the exploiter after mano's card of tier a, at the chosen exits of the
    trunk, which share a group and block.

    `start`, `cls`, `pair` are those of Remainders. The other's reach [exits, tiers of mano's card or 1 for mano's,
    combinations]; out [exits, 1, combinations] for mano, [exits, tiers, combinations] for pie. Calls for other exits
    or another tier may run at the same time.
    """
    tiers = len(start) - 1
    for b in range(tiers):
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
                hit |= reach[chosen[k], a if own == 0 else 0, c0 + j] > 0.0
            if not hit:
                continue
            live = True
            for i in range(size):
                mano, pie = (cls[r0 + i], cls[c0 + j]) if own == 0 else (cls[c0 + j], cls[r0 + i])
                deals[i] = book.joint[mano, pie]
            place = book.local[0, theirs, pair[c0 + j]]
            for k in range(len(chosen)):
                f = reach[chosen[k], a if own == 0 else 0, c0 + j]
                line = weights[place, k * size : (k + 1) * size]
                for i in range(size):
                    line[i] += f * deals[i]
        if not live:
            continue
        pairs = np.empty((len(chosen) * size, 2), np.int64)
        for k in range(len(chosen)):
            for i in range(size):
                pairs[k * size + i] = book.pair_tiers[pair[r0 + i]]
        value = np.empty(len(pairs))
        _tricks(
            book, group, block, a, b, a, b, own, pairs, np.arange(count), weights, book.gains[group], value
        )
        for k in range(len(chosen)):
            for i in range(size):
                out[chosen[k], 0 if own == 0 else a, r0 + i] += value[k * size + i]


# ------------------------------------------------------------------------------------------- accepted Envidos


@njit
def _combos(v: ValueLists, known: int) -> int:
    """Combinations of a value set."""
    last = v.combo_count.shape[1] - 1
    return v.combo_offset[known, last] + v.combo_count[known, last]


@njit
def _legal(trees: PositionTrees, node: int, cards: np.ndarray) -> int:
    """Bit mask of legal actions: at a turn three card places come before the call."""
    if trees.kind[node] != TURN:
        return 7
    return int(cards[0]) + 2 * int(cards[1]) + 4 * int(cards[2]) + 8


@njit(fastmath=True)
def _leaf(
    book: Book, trees: PositionTrees, v: ValueLists, node: int, k: int, a: int, b: int, own: int, known: int,
    own_sets: np.ndarray, accepts: int, starts: np.ndarray, factor: np.ndarray, mix: np.ndarray, weights: np.ndarray,
    gains: np.ndarray, value: np.ndarray,
) -> None:  # fmt: skip
    """Tricks 2 and 3 after the first cards a, b at a turn of pie: adds to value (mano's rows), or takes the best
    of it (pie's rows, his card). Own sets that share a block go together. Arguments as in `respond_accepts`.
    """
    tiers = v.combo_count.shape[1]
    group = trees.leaf_group[trees.child[node, 0] - LEAF]
    theirs, mine = (b, a) if own == 0 else (a, b)
    many = v.combo_count[known, theirs]
    bucket_other = book.bucket[1 - own, group, known]
    places = np.empty(many, np.int64)
    for j in range(many):
        places[j] = book.local[bucket_other, theirs, v.combo_pair[known, theirs, j]]
    lines = np.unique(places)
    s0 = 0
    while s0 < len(own_sets):
        bucket = book.bucket[own, group, own_sets[s0]]
        s1 = s0 + 1
        while s1 < len(own_sets) and book.bucket[own, group, own_sets[s1]] == bucket:
            s1 += 1
        size = 0
        for s in range(s0, s1):
            size += accepts * v.combo_count[own_sets[s], mine]
        if size == 0:
            s0 = s1
            continue
        pairs, target = np.empty((size, 2), np.int64), np.empty(size, np.int64)
        here = np.zeros((len(lines), size))
        r = 0
        for s in range(s0, s1):
            known_own, first = own_sets[s], r
            left = v.combo_count[known_own, mine]
            for e in range(accepts):
                for i in range(left):
                    if own == 0:
                        target[r] = starts[s] + e * left + i
                    else:
                        target[r] = starts[s] + e * v.count[known_own] + v.combo_row[known_own, mine, i]
                    pairs[r] = book.pair_tiers[v.combo_pair[known_own, mine, i]]
                    r += 1
            for j in range(many):
                row = v.combo_row[known, theirs, j] if own == 0 else j
                f = factor[s, k, row]
                if own == 0:
                    f *= mix[s, k, v.combo_slot[known, theirs, j], row]
                if f == 0.0:
                    continue
                to = here[np.searchsorted(lines, places[j])]
                for q in range(first, r):
                    to[q] += f * weights[row, target[q]]
        found = np.empty(size)
        gm, gp = bucket * tiers + a, bucket_other * tiers + b
        block = book.block[group, own_sets[s0], known]
        if own == 1:
            gm, gp = bucket_other * tiers + a, bucket * tiers + b
            block = book.block[group, known, own_sets[s0]]
        _tricks(book, group, block, a, b, gm, gp, own, pairs, lines, here, gains, found)
        for q in range(size):
            if own == 0:
                value[k, target[q]] += found[q]
            else:
                value[k, target[q]] = max(value[k, target[q]], found[q])
        s0 = s1


@njit(fastmath=True, nogil=True)
def respond_accepts(
    book: Book, trees: PositionTrees, v: ValueLists, sums: np.ndarray, root: int, table: np.ndarray, posted: bool,
    known: int, own_sets: np.ndarray, gains: np.ndarray, reach: np.ndarray, own: int, out: np.ndarray,
) -> None:  # fmt: skip
    """What the hand after accepted Envidos of one position adds to the exploiter's utility, Envido points apart.

    known: what is known of the other's value, a value set; own_sets: the own ones that may be known beside it. The
    other's reach float64 [accepts, tiers of mano's card or 1, classes or combinations of a mano whose card lies];
    adds to out [accepts, ...], likewise for own holdings. Rows are by own set, accepted Envido, then holding.
    """
    tiers, many, kinds, accepts = v.combo_count.shape[1], v.count[known], len(own_sets), len(reach)
    nodes = trees.nodes[root]
    last = root + nodes
    starts = np.zeros(kinds + 1, np.int64)
    begins = np.zeros(kinds, np.int64)
    for s in range(kinds):
        starts[s + 1] = starts[s] + accepts * v.count[own_sets[s]]
        begins[s] = table[own_sets[s], known] if own == 0 else table[known, own_sets[s]]
    n = starts[kinds]
    cls = np.empty(n, np.int64)
    for s in range(kinds):
        size = v.count[own_sets[s]]
        for e in range(accepts):
            for i in range(size):
                cls[starts[s] + e * size + i] = v.cls[own_sets[s], i]
    widest = many
    for a in range(tiers):
        widest = max(widest, v.combo_count[known, a])
    every, work, folds = np.arange(widest), np.empty(n), np.empty(widest)
    factor, mix = np.ones((kinds, nodes, many)), np.ones((kinds, nodes, 4, many))
    weights, value = np.empty((0, 0)), np.zeros((nodes, 0))
    if not posted:
        weights, value = np.empty((many, n)), np.zeros((nodes, n))
        for c in range(many):
            theirs = v.cls[known, c]
            for s in range(kinds):
                size = v.count[own_sets[s]]
                for r in range(starts[s], starts[s + 1]):
                    deals = book.joint[cls[r], theirs] if own == 0 else book.joint[theirs, cls[r]]
                    weights[c, r] = deals * reach[(r - starts[s]) // size, 0, theirs]
        for node in range(root, last):
            if trees.stage[node] == 1:
                continue
            k = node - root
            if own == 0 and trees.kind[node] == TURN:
                value[k] = _LOWEST
            for s in range(kinds):
                if k > 0:
                    _descend(trees, node, root, own, factor[s], mix[s], many)
                if trees.role[node] == own:
                    continue
                vm, vp = (own_sets[s], known) if own == 0 else (known, own_sets[s])
                at = begins[s] + trees.place[node, 0] * v.count[vm] + trees.place[node, 1] * v.count[vp]
                at += trees.place[node, 2] * v.count[vp] * tiers + trees.place[node, 3] * _combos(v, vm)
                for c in range(many):
                    legal = _legal(trees, node, v.legal[known, c])
                    _shares(sums, at + c, many, trees.actions[node], legal, mix[s, k], c)
    for a in range(tiers):
        # Mano's card lies.
        width = many if own == 0 else v.combo_count[known, a]
        starts1 = starts.copy()
        if own == 0:
            for s in range(kinds):
                starts1[s + 1] = starts1[s] + accepts * v.combo_count[own_sets[s], a]
        n1 = starts1[kinds]
        if n1 == 0 or width == 0:
            continue
        weights1, value1 = np.empty((width, n1)), np.zeros((nodes, n1))
        for c in range(width):
            row = c if own == 0 else v.combo_row[known, a, c]
            theirs = v.cls[known, row]
            holding = v.combo[known, a, c] if own == 1 and posted else theirs
            for s in range(kinds):
                size = (starts1[s + 1] - starts1[s]) // accepts
                for r in range(starts1[s], starts1[s + 1]):
                    i = (r - starts1[s]) % size
                    if own == 0:
                        ours = v.cls[own_sets[s], v.combo_row[own_sets[s], a, i]]
                        deals = book.joint[ours, theirs]
                    else:
                        deals = book.joint[theirs, v.cls[own_sets[s], i]]
                    line = a if own == 0 and posted else 0
                    weights1[c, r] = deals * reach[(r - starts1[s]) // size, line, holding]
        factor1, mix1 = np.ones((kinds, nodes, width)), np.ones((kinds, nodes, 4, width))
        for node in range(root, last):
            if trees.stage[node] == 0:
                continue
            k, up = node - root, trees.parent[node] - root
            for s in range(kinds):
                if k > 0 and trees.stage[trees.parent[node]] == 1:
                    _descend(trees, node, root, own, factor1[s], mix1[s], width)
                elif k > 0:
                    for c in range(width):
                        if own == 0:
                            factor1[s, k, c] = factor[s, up, c]
                        else:
                            row = v.combo_row[known, a, c]
                            factor1[s, k, c] = factor[s, up, row] * mix[s, up, v.combo_slot[known, a, c], row]
                if trees.role[node] == own:
                    continue
                vm, vp = (own_sets[s], known) if own == 0 else (known, own_sets[s])
                at = begins[s] + trees.place[node, 0] * v.count[vm] + trees.place[node, 1] * v.count[vp]
                at += trees.place[node, 2] * v.count[vp] * tiers + trees.place[node, 3] * _combos(v, vm)
                at += a * many if own == 0 else v.combo_offset[known, a]
                stride = many * tiers if own == 0 else _combos(v, known)
                for c in range(width):
                    legal = _legal(trees, node, v.legal[known, c]) if own == 0 else 7
                    _shares(sums, at + c, stride, trees.actions[node], legal, mix1[s, k], c)
        for node in range(last - 1, root - 1, -1):
            if trees.stage[node] == 0:
                continue
            k = node - root
            if trees.kind[node] == TURN:
                if own == 1:
                    value1[k] = _LOWEST
                for b in range(tiers):
                    if own == 1 or v.combo_count[known, b] > 0:
                        _leaf(
                            book, trees, v, node, k, a, b, own, known, own_sets, accepts, starts1, factor1, mix1,
                            weights1, gains, value1,
                        )  # fmt: skip
            for s in range(kinds):
                _settle(
                    trees, node, root, own, value1, starts1[s], starts1[s + 1] - starts1[s], factor1[s], mix1[s],
                    weights1, every, width, starts1[s], gains, folds, work,
                )  # fmt: skip
        for s in range(kinds):
            known_own = own_sets[s]
            size = (starts1[s + 1] - starts1[s]) // accepts
            for r in range(starts1[s], starts1[s + 1]):
                e, i = (r - starts1[s]) // size, (r - starts1[s]) % size
                if posted:
                    holding = v.combo[known_own, a, i] if own == 0 else v.cls[known_own, i]
                    out[e, 0 if own == 0 else a, holding] += value1[0, r]
                    continue
                to = starts[s] + e * v.count[known_own] + v.combo_row[known_own, a, i] if own == 0 else r
                for node in range(root, last):
                    if trees.stage[node] == 0 and trees.kind[node] == TURN:
                        k, below = node - root, trees.child[node, 0] - root
                        if own == 0:
                            value[k, to] = max(value[k, to], value1[below, r])
                        else:
                            value[k, to] += value1[below, r]
    if posted:
        return
    for node in range(last - 1, root - 1, -1):
        if trees.stage[node] == 1:
            continue
        for s in range(kinds):
            _settle(
                trees, node, root, own, value, starts[s], starts[s + 1] - starts[s], factor[s], mix[s], weights,
                every, many, starts[s], gains, folds, work,
            )  # fmt: skip
    for s in range(kinds):
        size = v.count[own_sets[s]]
        for r in range(starts[s], starts[s + 1]):
            out[(r - starts[s]) // size, 0, cls[r]] += value[0, r]
