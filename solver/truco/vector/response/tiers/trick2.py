"""Best responses in tricks 2 and 3 at tier level, in numba; see matrix.py for rows and lines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solver.jit import inner
from solver.truco.vector.cfr.average import average_shares
from solver.truco.vector.model.address import table_at, table_rows, third_span
from solver.truco.vector.model.trees import LEAF, TURN
from solver.truco.vector.response.book import LOWEST, Book, Situation
from solver.truco.vector.response.tiers.matrix import Lines, Rows, descend, join, mass, settle
from solver.truco.vector.response.tiers.trick3 import Room3, Third, make_room3, solve_third


class Held(NamedTuple):
    """What both sides may hold after trick 1."""

    pairs: np.ndarray
    """int64 [rows, 2]: tiers of the exploiter's cards, strongest first."""
    lines: np.ndarray
    """int64 [lines]: the other's pairs by place in his list."""
    weights: np.ndarray
    """float64 [lines, rows]: deals x the other's reach."""


class Ways(NamedTuple):
    """Ways to play a card of some pairs, by its tier and then by the tier of the rest; equal tiers are one way."""

    start: np.ndarray
    """int64 [tiers + 1]: where each tier starts."""
    of: np.ndarray
    """int64 [way]: pair."""
    slot: np.ndarray
    """int64 [way]: which card of it."""
    rest: np.ndarray
    """int64 [way]: tier of the other card."""


class Sides(NamedTuple):
    """Both sides in trick 2."""

    own: Ways
    other: Ways
    pairs: np.ndarray
    """int64 [lines, 2]: tiers of the other's cards, strongest first."""
    weights: np.ndarray
    """float64 [lines, own ways]."""


@inner(arrays=True)
def _ways(tiers: int, pairs: np.ndarray) -> Ways:
    """Of pairs [n, 2] of tiers."""
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
    for t in range(tiers):
        start[t + 1] += start[t]
    return Ways(start, of, slots, rest)


@inner(arrays=True)
def _sides(book: Book, s: Situation, held: Held) -> Sides:
    lists, m = book.lists, len(held.lines)
    tiers = lists.left_count.shape[1]
    other = s.gf if s.own == 0 else s.gl
    pairs = np.empty((m, 2), np.int64)
    for c in range(m):
        pairs[c, 0], pairs[c, 1] = lists.tiers[other, held.lines[c], 0], lists.tiers[other, held.lines[c], 1]
    own = _ways(tiers, held.pairs)
    weights = np.empty((m, len(own.of)))
    for c in range(m):
        for r in range(len(own.of)):
            weights[c, r] = held.weights[c, own.of[r]]
    return Sides(own, _ways(tiers, pairs), pairs, weights)


@inner(arrays=True)
def _memory(book: Book, s: Situation, sides: Sides, rows: int) -> Room3:
    """Room for trick 2 with so many rows and the trees of trick 3 below it."""
    forest, deep, wide = book.forest, 1, 1
    for node in range(s.root, s.root + forest.nodes[s.root]):
        if forest.kind[node] == TURN and forest.child[node, 0] >= LEAF:
            deep = max(deep, forest.nodes[forest.leaf_root[forest.child[node, 0] - LEAF]])
    for t in range(len(sides.own.start) - 1):
        wide = max(wide, sides.own.start[t + 1] - sides.own.start[t])
    return make_room3(deep, len(sides.pairs), max(rows, wide))


@inner(fastmath=True)
def _second_card(
    book: Book, s: Situation, w: Room3, sides: Sides, cards: tuple[int, int], played: np.ndarray, gains: np.ndarray,
    value: np.ndarray,
) -> None:  # fmt: skip
    """Adds to value [node, own ways] what follows own cards of a tier and the other's of another in trick 2.

    played [node, other's ways with that card]: his reach where node plays the second card.
    """
    forest, lists = book.forest, book.lists
    u, v = cards
    mine, theirs = (s.gl, s.gf) if s.own == 0 else (s.gf, s.gl)
    x, y = (u, v) if s.own == 0 else (v, u)
    lo, hi = sides.own.start[u], sides.own.start[u + 1]
    first, end = sides.other.start[v], sides.other.start[v + 1]
    n, m = hi - lo, end - first
    # Who has won trick 1 leads trick 2 and need only not lose it.
    decided = y != x if s.tie else y >= x
    own_wins = u < v if s.tie else s.own == 0
    lines, rests = sides.other.of[first:end], sides.other.rest[first:end]
    places = w.places[:m]
    for e in range(m):
        places[e] = book.left[theirs, v, rests[e]]
    d = Lines(w.reach, w.mix, sides.weights, lines, w.factor)
    t = Third(
        s.own if s.tie else 1 - s.own, s.tie, third_span(lists, s.gl, s.gf, s.tie, x, y), lo, sides.own.rest[lo:hi],
        book.left[mine, u], lines, rests, places,
    )  # fmt: skip
    for node in range(s.root, s.root + forest.nodes[s.root]):
        if forest.stage[node] == 0 or forest.kind[node] != TURN:
            continue
        k, leaf = node - s.root, forest.child[node, 0] - LEAF
        total = 0.0
        for e in range(m):
            total += played[k, e]
        if total == 0.0:
            continue
        if decided:
            worth = gains[0 if own_wins else 1, forest.leaf_level[leaf]]
            mass(d, 0, m, played[k], lo, w.line, n)
            for r in range(n):
                value[k, r] += worth * w.line[r]
            continue
        begin = table_at(forest.leaf_place, leaf, s.begin, s.sizes)
        solve_third(
            forest, book.sums, w, sides.weights, t, forest.leaf_root[leaf], begin, played[k], gains, value[k]
        )


@inner(fastmath=True)
def _mix_pairs(
    book: Book, sides: Sides, held: Held, node: int, first: int, stride: int, mix: np.ndarray
) -> None:
    """The policy's strategy at a node by its pair; table entries as `table_rows` says."""
    turn, actions = book.forest.kind[node] == TURN, book.forest.actions[node]
    for c in range(len(held.lines)):
        legal = 5 if turn and sides.pairs[c, 0] == sides.pairs[c, 1] else 7
        average_shares(book.sums, first + held.lines[c], stride, actions, legal, mix, c)


@inner(fastmath=True)
def _descend_after(
    book: Book, s: Situation, held: Held, sides: Sides, x: int, before: Lines, d: Lines
) -> None:
    """The policy after the leader's card of tier x, in nodes of stage 1."""
    forest, ways = book.forest, sides.other
    low = ways.start[x]
    for node in range(s.root, s.root + forest.nodes[s.root]):
        if forest.stage[node] == 0:
            continue
        k, up = node - s.root, forest.parent[node] - s.root
        if forest.stage[forest.parent[node]] == 1:
            descend(forest, s.root, node, s.own, d)
        elif s.own == 0:
            for i in range(len(d.of)):
                d.reach[k, i] = before.reach[up, i]
        else:
            for i in range(len(d.of)):
                c = ways.of[low + i]
                d.reach[k, i] = before.reach[up, c] * before.mix[up, ways.slot[low + i], c]
        if forest.role[node] == s.own:
            continue
        at = table_at(forest.place, node, s.begin, s.sizes)
        first, stride = table_rows(1 - s.own, 1, at, s.sizes, x, book.lists.offset[s.gl, x])
        if s.own == 0:
            _mix_pairs(book, sides, held, node, first, stride, d.mix[k])
        else:
            for i in range(len(d.of)):
                place = first + book.left[s.gl, x, ways.rest[low + i]]
                average_shares(book.sums, place, stride, forest.actions[node], 7, d.mix[k], i)


@inner(fastmath=True, arrays=True)
def _meet(
    book: Book, s: Situation, w: Room3, sides: Sides, x: int, d: Lines, gains: np.ndarray, value: np.ndarray
) -> None:
    """Values of the nodes that play the second card after the leader's of tier x, to value [node, rows]."""
    forest, nodes = book.forest, book.forest.nodes[s.root]
    tiers, other = len(sides.own.start) - 1, sides.other
    if s.own == 0:
        played = np.empty((nodes, len(d.of)))
        for v in range(tiers):
            low, high = other.start[v], other.start[v + 1]
            if low == high:
                continue
            for k in range(nodes):
                node = s.root + k
                if forest.stage[node] == 1 and forest.kind[node] == TURN:
                    for e in range(low, high):
                        c = other.of[e]
                        played[k, e - low] = d.reach[k, c] * d.mix[k, other.slot[e], c]
            _second_card(book, s, w, sides, (x, v), played, gains, value)
        return
    for k in range(nodes):
        if forest.stage[s.root + k] == 1 and forest.kind[s.root + k] == TURN:
            value[k] = LOWEST
    for u in range(tiers):
        low, high = sides.own.start[u], sides.own.start[u + 1]
        if low == high:
            continue
        card = np.zeros((nodes, high - low))
        _second_card(book, s, w, sides, (u, x), d.reach, gains, card)
        for k in range(nodes):
            if forest.stage[s.root + k] == 1 and forest.kind[s.root + k] == TURN:
                for r in range(low, high):
                    i = sides.own.of[r]
                    value[k, i] = max(value[k, i], card[k, r - low])


@inner(fastmath=True, arrays=True)
def _after_card(
    book: Book, s: Situation, w: Room3, held: Held, sides: Sides, x: int, before: Lines, gains: np.ndarray,
    value: np.ndarray,
) -> None:  # fmt: skip
    """Takes into value [node, rows] what follows the leader's card of tier x: the exploiter's best, or added up.

    before: the policy before the card, from which its lines with that card are told.
    """
    forest, nodes, m = book.forest, book.forest.nodes[s.root], len(held.lines)
    leads = s.own == 0
    low, high = (sides.own.start[x], sides.own.start[x + 1]) if leads else (0, len(held.pairs))
    of = before.of if leads else sides.other.of[sides.other.start[x] : sides.other.start[x + 1]]
    matrix = sides.weights if leads else held.weights
    d = Lines(np.empty((nodes, m)), np.ones((nodes, 3, m)), matrix, of, w.factor)
    _descend_after(book, s, held, sides, x, before, d)
    after = np.zeros((nodes, high - low))
    _meet(book, s, w, sides, x, d, gains, after)
    rows = Rows(after, 0, high - low, low, w.line)
    last = s.root + nodes
    for node in range(last - 1, s.root - 1, -1):
        if forest.stage[node] == 1:
            settle(forest, s.root, node, s.own, d, rows, gains)
    for node in range(s.root, last):
        if forest.stage[node] == 1 or forest.kind[node] != TURN:
            continue
        k, below = node - s.root, forest.child[node, 0] - s.root
        if leads:
            for r in range(low, high):
                i = sides.own.of[r]
                value[k, i] = max(value[k, i], after[below, r - low])
        else:
            join(value[k], 0, after[below], 0, len(held.pairs), False, False)


@inner(fastmath=True, arrays=True)
def tricks(book: Book, s: Situation, held: Held, gains: np.ndarray, out: np.ndarray) -> None:
    """Values of tricks 2 and 3 to out [rows]; gains float64 [2, 5] as in Book, of one group."""
    forest, nodes = book.forest, book.forest.nodes[s.root]
    n, m = len(held.pairs), len(held.lines)
    sides = _sides(book, s, held)
    w = _memory(book, s, sides, n)
    d = Lines(np.ones((nodes, m)), np.ones((nodes, 3, m)), held.weights, np.arange(m), w.factor)
    value = np.zeros((nodes, n))
    last = s.root + nodes
    for node in range(s.root, last):
        k, role = node - s.root, forest.role[node]
        if forest.stage[node] == 1:
            continue
        if k > 0:
            descend(forest, s.root, node, s.own, d)
        if forest.kind[node] == TURN and role == s.own:
            value[k] = LOWEST
        if role != s.own:
            at = table_at(forest.place, node, s.begin, s.sizes)
            first, stride = table_rows(role, 0, at, s.sizes, 0, 0)
            _mix_pairs(book, sides, held, node, first, stride, d.mix[k])
    start = sides.own.start if s.own == 0 else sides.other.start
    for x in range(len(start) - 1):
        if start[x] < start[x + 1]:
            _after_card(book, s, w, held, sides, x, d, gains, value)
    rows = Rows(value, 0, n, 0, w.line)
    for node in range(last - 1, s.root - 1, -1):
        if forest.stage[node] == 0:
            settle(forest, s.root, node, s.own, d, rows, gains)
    out[:n] = value[0]
