"""Best responses at tier level in trick 1 after an accepted Envido, in numba.

Rows are by own value set s, accepted Envido e, then holding. Each own set meets the other's set with tables of its
own, so the policy's strategy is by own set; sets that share the tables of tricks 2 and 3 go through them together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solver.entry import call
from solver.jit import inner, njit
from solver.truco.vector.cfr.average import average_shares
from solver.truco.vector.model.address import pair_sizes, table_at, table_rows
from solver.truco.vector.model.trees import LEAF, TURN
from solver.truco.vector.response.book import LOWEST, Block, Book, Envidos, Situation, situation_at
from solver.truco.vector.response.tiers.exits import Classes
from solver.truco.vector.response.tiers.matrix import Lines, Rows, descend, settle
from solver.truco.vector.response.tiers.trick2 import Held


class Known(NamedTuple):
    """What is known of both values: one set of the other's, and own sets."""

    theirs: int
    owns: np.ndarray
    """int64 [s]."""


class Stage(NamedTuple):
    """Trick 1 before mano's card or after one of a tier."""

    reach: np.ndarray
    """float64 [s, node, line]: the other's strategy on the way there."""
    mix: np.ndarray
    """float64 [s, node, 4, line]."""
    weights: np.ndarray
    """float64 [line, row]: deals x the other's reach at the Envido."""
    value: np.ndarray
    """float64 [node, row]."""
    start: np.ndarray
    """int64 [s + 1]: first row of each own set."""
    of: np.ndarray
    """int64 [line]: its own number."""
    factor: np.ndarray
    """float64 [line]: working memory; work [row]; sizes int64 [4]."""
    work: np.ndarray
    sizes: np.ndarray


@inner(arrays=True)
def _make_stage(nodes: int, lines: int, start: np.ndarray) -> Stage:
    kinds, n = len(start) - 1, start[-1]
    return Stage(
        np.ones((kinds, nodes, lines)), np.ones((kinds, nodes, 4, lines)), np.empty((lines, n)), np.zeros((nodes, n)),
        start, np.arange(lines), np.empty(lines), np.empty(n), np.empty(4, np.int64),
    )  # fmt: skip


@inner
def _legal(e: Envidos, node: int, known: int, row: int) -> int:
    """Bit mask of a class's actions: at a turn three card places come before the call."""
    if e.trees.kind[node] != TURN:
        return 7
    places = e.lists.legal[known, row]
    return int(places[0]) + 2 * int(places[1]) + 4 * int(places[2]) + 8


@inner
def _mix(book: Book, e: Envidos, known: Known, x: Stage, node: int, s: int, tier: int) -> None:
    """The policy's strategy against own set s, by line; tier: of mano's card, if it lies."""
    trees, v, own, theirs = e.trees, e.lists, book.own, known.theirs
    vm, vp = (known.owns[s], theirs) if own == 0 else (theirs, known.owns[s])
    pair_sizes(v, vm, vp, x.sizes)
    at = table_at(trees.place, node, e.tables[vm, vp], x.sizes)
    stage, mix = trees.stage[node], x.mix[s, node - e.root]
    first, stride = table_rows(1 - own, stage, at, x.sizes, tier, v.combo_offset[vm, tier])
    for c in range(len(x.of)):
        legal = 7 if own == 1 and stage == 1 else _legal(e, node, theirs, c)
        average_shares(e.sums, first + c, stride, trees.actions[node], legal, mix, c)


@inner(arrays=True)
def _lines(x: Stage, s: int) -> Lines:
    """The other's lines against own set s."""
    return Lines(x.reach[s], x.mix[s], x.weights, x.of, x.factor)


@inner(arrays=True)
def _settle(book: Book, e: Envidos, x: Stage, node: int) -> None:
    for s in range(len(x.start) - 1):
        rows = Rows(x.value, x.start[s], x.start[s + 1] - x.start[s], x.start[s], x.work)
        settle(e.trees, e.root, node, book.own, _lines(x, s), rows, e.gains)


@inner(arrays=True)
def _before(book: Book, classes: Classes, e: Envidos, known: Known) -> Stage:
    """Before mano's card: rows are classes, lines the other's classes."""
    v, own, many = e.lists, book.own, e.lists.count[known.theirs]
    start = np.zeros(len(known.owns) + 1, np.int64)
    for s in range(len(known.owns)):
        start[s + 1] = start[s] + e.count * v.count[known.owns[s]]
    x = _make_stage(e.trees.nodes[e.root], many, start)
    if e.posted:
        return x
    for c in range(many):
        theirs = v.cls[known.theirs, c]
        for s in range(len(known.owns)):
            size = v.count[known.owns[s]]
            for r in range(start[s], start[s + 1]):
                ours = v.cls[known.owns[s], (r - start[s]) % size]
                deals = classes.joint[ours, theirs] if own == 0 else classes.joint[theirs, ours]
                x.weights[c, r] = deals * e.reach[(r - start[s]) // size, 0, theirs]
    for node in range(e.root, e.root + e.trees.nodes[e.root]):
        if e.trees.stage[node] == 1:
            continue
        if own == 0 and e.trees.kind[node] == TURN:
            x.value[node - e.root] = LOWEST
        for s in range(len(known.owns)):
            if node > e.root:
                descend(e.trees, e.root, node, own, _lines(x, s))
            if e.trees.role[node] != own:
                _mix(book, e, known, x, node, s, 0)
    return x


@inner
def _weigh(book: Book, classes: Classes, e: Envidos, known: Known, a: int, x: Stage) -> None:
    """Weights after mano's card of tier a."""
    v, own, theirs = e.lists, book.own, known.theirs
    for c in range(len(x.of)):
        row = c if own == 0 else v.combo_row[theirs, a, c]
        other = v.cls[theirs, row]
        holding = v.combo[theirs, a, c] if own == 1 and e.posted else other
        for s in range(len(known.owns)):
            known_own = known.owns[s]
            size = (x.start[s + 1] - x.start[s]) // e.count
            for r in range(x.start[s], x.start[s + 1]):
                i = (r - x.start[s]) % size
                if own == 0:
                    deals = classes.joint[v.cls[known_own, v.combo_row[known_own, a, i]], other]
                else:
                    deals = classes.joint[other, v.cls[known_own, i]]
                line = a if own == 0 and e.posted else 0
                x.weights[c, r] = deals * e.reach[(r - x.start[s]) // size, line, holding]


@inner(arrays=True)
def _after(book: Book, classes: Classes, e: Envidos, known: Known, a: int, before: Stage) -> Stage:
    """After mano's card of tier a: mano's rows or lines are his combinations with that card. Without rows or lines
    nothing is to be done.
    """
    trees, v, own, theirs = e.trees, e.lists, book.own, known.theirs
    start = before.start.copy()
    if own == 0:
        for s in range(len(known.owns)):
            start[s + 1] = start[s] + e.count * v.combo_count[known.owns[s], a]
    x = _make_stage(trees.nodes[e.root], v.count[theirs] if own == 0 else v.combo_count[theirs, a], start)
    if start[-1] == 0 or len(x.of) == 0:
        return x
    _weigh(book, classes, e, known, a, x)
    for node in range(e.root, e.root + trees.nodes[e.root]):
        if trees.stage[node] == 0:
            continue
        k, up = node - e.root, trees.parent[node] - e.root
        for s in range(len(known.owns)):
            if k > 0 and trees.stage[trees.parent[node]] == 1:
                descend(trees, e.root, node, own, _lines(x, s))
            elif k > 0:
                for c in range(len(x.of)):
                    if own == 0:
                        x.reach[s, k, c] = before.reach[s, up, c]
                    else:
                        row, slot = v.combo_row[theirs, a, c], v.combo_slot[theirs, a, c]
                        x.reach[s, k, c] = before.reach[s, up, row] * before.mix[s, up, slot, row]
            if trees.role[node] != own:
                _mix(book, e, known, x, node, s, a)
    return x


class Meeting(NamedTuple):
    """Own sets s0 : s1 that share tables, with cards on the table."""

    s0: int
    s1: int
    a: int
    b: int


@inner
def _weights_there(
    book: Book, e: Envidos, known: Known, x: Stage, k: int, m: Meeting, places: np.ndarray, lines: np.ndarray,
    target: np.ndarray, here: np.ndarray,
) -> None:  # fmt: skip
    """Adds to here [line, row] the weights after both first cards at node k.

    places [the other's combinations]: of their pairs in his list; lines: those places, each once; target [row]: row
    of the stage; own sets in order of `target`.
    """
    v, own, theirs = e.lists, book.own, known.theirs
    card, mine = (m.b, m.a) if own == 0 else (m.a, m.b)
    first = 0
    for s in range(m.s0, m.s1):
        end = first + e.count * v.combo_count[known.owns[s], mine]
        for j in range(len(places)):
            row = v.combo_row[theirs, card, j] if own == 0 else j
            f = x.reach[s, k, row]
            if own == 0:
                f *= x.mix[s, k, v.combo_slot[theirs, card, j], row]
            if f == 0.0:
                continue
            at = 0
            while lines[at] != places[j]:
                at += 1
            for q in range(first, end):
                here[at, q] += f * x.weights[row, target[q]]
        first = end


@inner(fastmath=True, arrays=True)
def _meet(
    book: Book, classes: Classes, e: Envidos, known: Known, x: Stage, node: int, m: Meeting, lines: np.ndarray,
    places: np.ndarray,
) -> None:  # fmt: skip
    """Tricks 2 and 3 for own sets that share tables; see `_second_card`, `_weights_there`."""
    v, own = e.lists, book.own
    k, mine = node - e.root, m.a if own == 0 else m.b
    size = 0
    for s in range(m.s0, m.s1):
        size += e.count * v.combo_count[known.owns[s], mine]
    if size == 0:
        return
    pairs, target = np.empty((size, 2), np.int64), np.empty(size, np.int64)
    r = 0
    for s in range(m.s0, m.s1):
        known_own = known.owns[s]
        left = v.combo_count[known_own, mine]
        for envido in range(e.count):
            for i in range(left):
                if own == 0:
                    target[r] = x.start[s] + envido * left + i
                else:
                    target[r] = x.start[s] + envido * v.count[known_own] + v.combo_row[known_own, mine, i]
                pairs[r] = classes.pair_tiers[v.combo_pair[known_own, mine, i]]
                r += 1
    here, found = np.zeros((len(lines), size)), np.empty(size)
    _weights_there(book, e, known, x, k, m, places, lines, target, here)
    group = e.trees.leaf_group[e.trees.child[node, 0] - LEAF]
    vm, vp = (known.owns[m.s0], known.theirs) if own == 0 else (known.theirs, known.owns[m.s0])
    block = Block(group, book.block[group, vm, vp], book.bucket[0, group, vm], book.bucket[1, group, vp])
    sizes = np.zeros(6, np.int64)
    root, begin, gl, gf, tie, role = situation_at(book, block, m.a, m.b, sizes)
    s2 = Situation(root, begin, gl, gf, tie, role, sizes)
    call(classes.tricks, (book, s2, Held(pairs, lines, here), e.gains, found))
    for q in range(size):
        if own == 0:
            x.value[k, target[q]] += found[q]
        else:
            x.value[k, target[q]] = max(x.value[k, target[q]], found[q])


@inner(fastmath=True, arrays=True)
def _second_card(
    book: Book, classes: Classes, e: Envidos, known: Known, x: Stage, node: int, a: int, b: int
) -> None:
    """Tricks 2 and 3 after the first cards a, b where pie plays his: adds to the values of mano's rows, or takes the
    best of it for pie's.
    """
    v, own = e.lists, book.own
    group = e.trees.leaf_group[e.trees.child[node, 0] - LEAF]
    theirs = b if own == 0 else a
    bucket = book.bucket[1 - own, group, known.theirs]
    many = v.combo_count[known.theirs, theirs]
    places = np.empty(many, np.int64)
    for j in range(many):
        places[j] = book.local[bucket, theirs, v.combo_pair[known.theirs, theirs, j]]
    lines = np.empty(many, np.int64)
    count = 0
    for place in np.sort(places):
        if count == 0 or lines[count - 1] != place:
            lines[count] = place
            count += 1
    lines = lines[:count]
    s0 = 0
    while s0 < len(known.owns):
        s1 = s0 + 1
        while s1 < len(known.owns) and (
            book.bucket[own, group, known.owns[s1]] == book.bucket[own, group, known.owns[s0]]
        ):
            s1 += 1
        _meet(book, classes, e, known, x, node, Meeting(s0, s1, a, b), lines, places)
        s0 = s1


@inner
def _hand_back(
    book: Book, e: Envidos, known: Known, a: int, x: Stage, before: Stage, out: np.ndarray
) -> None:
    """Values after mano's card to those before it, or to out."""
    v, own, trees = e.lists, book.own, e.trees
    for s in range(len(known.owns)):
        known_own = known.owns[s]
        size = (x.start[s + 1] - x.start[s]) // e.count
        for r in range(x.start[s], x.start[s + 1]):
            envido, i = (r - x.start[s]) // size, (r - x.start[s]) % size
            if e.posted:
                holding = v.combo[known_own, a, i] if own == 0 else v.cls[known_own, i]
                out[envido, 0 if own == 0 else a, holding] += x.value[0, r]
                continue
            to = r
            if own == 0:
                to = before.start[s] + envido * v.count[known_own] + v.combo_row[known_own, a, i]
            for node in range(e.root, e.root + trees.nodes[e.root]):
                if trees.stage[node] == 0 and trees.kind[node] == TURN:
                    k, below = node - e.root, trees.child[node, 0] - e.root
                    if own == 0:
                        before.value[k, to] = max(before.value[k, to], x.value[below, r])
                    else:
                        before.value[k, to] += x.value[below, r]


@njit(fastmath=True, nogil=True, error_model="numpy")
def respond_accepts(book: Book, classes: Classes, e: Envidos, known: Known, out: np.ndarray) -> None:
    """What the hand after accepted Envidos of one continuation adds to the exploiter's utility, Envido points apart.

    e.reach: the other's float64 [Envidos, tiers of mano's card or 1, classes or combinations of a mano whose card
    lies]; adds to out [Envidos, ...], likewise for own holdings. Calls with other `out` may run at the same time.
    """
    trees, v, own = e.trees, e.lists, book.own
    last = e.root + trees.nodes[e.root]
    before = _before(book, classes, e, known)
    tiers = v.combo_count.shape[1]
    for a in range(tiers):
        x = _after(book, classes, e, known, a, before)
        if x.start[-1] == 0 or len(x.of) == 0:
            continue
        for node in range(last - 1, e.root - 1, -1):
            if trees.stage[node] == 0:
                continue
            if trees.kind[node] == TURN:
                if own == 1:
                    x.value[node - e.root] = LOWEST
                for b in range(tiers):
                    if own == 1 or v.combo_count[known.theirs, b] > 0:
                        _second_card(book, classes, e, known, x, node, a, b)
            _settle(book, e, x, node)
        _hand_back(book, e, known, a, x, before, out)
    if e.posted:
        return
    for node in range(last - 1, e.root - 1, -1):
        if trees.stage[node] == 0:
            _settle(book, e, before, node)
    for s in range(len(known.owns)):
        size = v.count[known.owns[s]]
        for r in range(before.start[s], before.start[s + 1]):
            i = r - before.start[s]
            out[i // size, 0, v.cls[known.owns[s], i % size]] += before.value[0, r]
