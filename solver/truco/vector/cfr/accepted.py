"""CFR over the rest of trick 1 once an Envido has been accepted and paid, in numba.

One call serves what was said about the values, as a pair of value sets: rows are mano's classes with a value of his
set, columns pie's. The forward pass deposits
joint weights and own reach where both cards are on the table; the backward pass reads the payoffs of tricks 2 and 3
from there, updates regrets and returns payoffs. Mano leads, so he is role 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange

from solver.jit import kernel, njit
from solver.truco.vector.cfr.regrets import LEAST, Update, match_regrets, update
from solver.truco.vector.cfr.trick3 import MAX_NODES
from solver.truco.vector.model.address import pair_sizes, table_at, table_rows
from solver.truco.vector.model.forest import at_
from solver.truco.vector.model.positions import PositionTrees, Store, ValueLists
from solver.truco.vector.model.trees import LEAF, TERMINAL, TURN, terminal_worth


class Scratch1(NamedTuple):
    """Working memory of one thread; first index the node's number within its tree."""

    pay0: np.ndarray
    """float32 [node, mano's classes, pie's classes]."""
    pay1: np.ndarray
    """float32 [node, mano's combinations of a tier, pie's classes]."""
    mix: np.ndarray
    """float32 [node, 4 x holdings]."""
    gain: np.ndarray
    """float32 [4 x holdings]."""
    cards: np.ndarray
    """float32 [node, 3 x holdings]: counterfactual values of cards, summed up as they fall."""
    reach: np.ndarray
    """float32 [node, 2, holdings]."""
    weights: np.ndarray
    """float32 [mano's classes, pie's classes]: joint weights."""
    value: np.ndarray
    """float32 [holdings]."""
    pies: np.ndarray
    """uint64 [pie's combinations of a tier]: row; cells: place in mix; columns: place in the list of pairs."""
    cells: np.ndarray
    columns: np.ndarray
    played: np.ndarray
    """float32 alike: chance, and in the forward pass reach, that it is played."""


class PositionPass(NamedTuple):
    """One pass over a continuation, for whatever values were shown."""

    root: int
    """Root of its tree in the PositionTrees."""
    posted: bool
    """Whether mano's card is on the table."""
    back: bool
    """False: deposit reaches where both cards are on the table. True: read payoffs there, update, return them."""
    table_start: np.ndarray
    """int64 [mano's set, pie's set]: first table entry."""
    joint: np.ndarray
    """float32 [classes, classes]: share of all deals."""
    mano_reach: np.ndarray
    """float32 [classes], or [combinations] once his card lies: reach since the deal."""
    pie_reach: np.ndarray
    """float32 [1, classes], or [tiers of mano's card, classes]."""
    gains: np.ndarray
    """float32 [2, 5]: utility of the updated player by whether he wins, and points."""
    out: np.ndarray
    """float32 [classes or combinations, classes]: the backward pass writes joint x payoff."""


class Pair(NamedTuple):
    """A pair of value sets in a pass."""

    vm: int
    """What is known of mano's value; vp of pie's."""
    vp: int
    begin: int
    """First table entry."""
    sizes: np.ndarray
    """int64 [4]: see `address.pair_sizes`."""


class Here(NamedTuple):
    """Holdings that meet at the nodes of a stage."""

    root: int
    n0: int
    """Mano's in number; n1 pie's."""
    n1: int


@njit
def make_scratch1(height: int, width: int, rest: int) -> Scratch1:
    """Scratch for up to `height` classes of mano, `width` of pie and `rest` combinations of mano's by tier."""
    d, real = MAX_NODES, np.float32
    most = max(width, height) + 8
    return Scratch1(
        np.zeros((d, height, width), real), np.zeros((d, rest, width), real), np.zeros((d, 4 * most), real),
        np.zeros(4 * most, real), np.zeros((d, 3 * most), real), np.zeros((d, 2, most), real),
        np.zeros((height, width), real), np.zeros(most, real), np.zeros(most, np.uint64), np.zeros(most, np.uint64),
        np.zeros(most, np.uint64), np.zeros(most, real),
    )  # fmt: skip


@kernel
def _class_mix(actions: int, n: int, legal: np.ndarray, mix: np.ndarray, row: int) -> None:
    """Corrects regret matching at a turn with three card places, some of which are no actions."""
    for h in range(n):
        spare = np.float32(0.0)
        live = actions
        for a in range(3):
            if not legal[h, a]:
                spare += mix[a * row + h]
                mix[a * row + h] = np.float32(0.0)
                live -= 1
        if spare > 0.0:
            rest = np.float32(0.0)
            for a in range(actions):
                rest += mix[a * row + h]
            for a in range(actions):
                if a >= 3 or legal[h, a]:
                    m = a * row + h
                    mix[m] = mix[m] / rest if rest > LEAST else np.float32(1.0) / np.float32(live)


@kernel
def _descend(
    trees: PositionTrees, w: Scratch1, here: Here, node: int, regrets: np.ndarray, first: int, stride: int,
    legal: np.ndarray,
) -> None:  # fmt: skip
    """Reach and strategy of a node from its parent's of the same stage."""
    root, n0, n1 = here.root, here.n0, here.n1
    k, row = node - root, len(w.gain) // 4
    n = n1 if trees.role[node] == 1 else n0
    if k > 0 and trees.stage[trees.parent[node]] == trees.stage[node]:
        up, a = trees.parent[node] - root, trees.action[node]
        turner = trees.role[trees.parent[node]]
        for i in range(n1 if turner == 1 else n0):
            w.reach[k, turner, i] = w.reach[up, turner, i] * w.mix[up, at_(a * row + i)]
        for i in range(n0 if turner == 1 else n1):
            w.reach[k, 1 - turner, i] = w.reach[up, 1 - turner, i]
    match_regrets(regrets, first, stride, trees.actions[node], n, w.mix[k], row)
    if trees.kind[node] == TURN:
        _class_mix(trees.actions[node], n, legal, w.mix[k], row)


@kernel
def _ascend(
    trees: PositionTrees, w: Scratch1, here: Here, node: int, rows: np.ndarray, pay: np.ndarray, own: int,
    gains: np.ndarray,
) -> None:  # fmt: skip
    """Payoffs and counterfactual values (w.gain) of a node from its children's; cards have been added before.

    rows: mano's class of each of his holdings here, for the joint weights.
    """
    root, n0, n1 = here.root, here.n0, here.n1
    k = node - root
    role, actions = trees.role[node], trees.actions[node]
    turn = trees.kind[node] == TURN
    out, gain, row = pay[k], w.gain, len(w.gain) // 4
    if turn:
        for slot in range(3):
            for i in range(n1 if role == 1 else n0):
                gain[at_(slot * row + i)] = w.cards[k, at_(slot * row + i)]
    for a in range(3 if turn else 0, actions):
        code = trees.child[node, 1 if turn else a]
        to = a * row
        constant = np.float32(0.0)
        if code <= TERMINAL:
            constant = terminal_worth(code, own, gains)
        if role == 1:
            for j in range(n1):
                gain[at_(to + j)] = np.float32(0.0)
        mix = w.mix[k]
        other = w.reach[k, 1]
        for i in range(n0):
            line = w.weights[rows[i]]
            below = pay[max(code - root, 0), i]
            if role == 1:
                m = w.reach[k, 0, i]
                for j in range(n1):
                    u = constant if code <= TERMINAL else below[j]
                    out[i, j] = mix[at_(to + j)] * u + (out[i, j] if a > 0 else np.float32(0.0))
                    gain[at_(to + j)] += line[j] * m * u
            else:
                m = mix[at_(to + i)]
                total = np.float32(0.0)
                for j in range(n1):
                    u = constant if code <= TERMINAL else below[j]
                    out[i, j] = m * u + (out[i, j] if a > 0 else np.float32(0.0))
                    total += line[j] * other[j] * u
                gain[at_(to + i)] = total


@kernel
def _after(
    trees: PositionTrees,
    v: ValueLists,
    store: Store,
    w: Scratch1,
    learn: Update,
    given: PositionPass,
    pair: Pair,
    a: int,
) -> None:
    """Trick 1 after mano's card of tier a, for all nodes of the tree: payoffs to w.pay1, updates of stage 1."""
    root, own, vm, vp = given.root, learn.own, pair.vm, pair.vp
    tiers = v.combo_count.shape[1]
    n0, n1 = v.combo_count[vm, a], v.count[vp]
    rows = v.combo_row[vm, a]
    here = Here(root, n0, n1)
    last = root + trees.nodes[root]
    back, row = given.back, len(w.gain) // 4
    pies, cells, columns, played = w.pies, w.cells, w.columns, w.played
    for node in range(root, last):
        if trees.stage[node] == 0:
            continue
        k = node - root
        if k > 0 and trees.stage[trees.parent[node]] == 0:
            up = trees.parent[node] - root
            for i in range(n0):
                w.reach[k, 0, i] = (
                    w.reach[up, 0, rows[i]] * w.mix[up, at_(v.combo_slot[vm, a, i] * row + rows[i])]
                )
            for j in range(n1):
                w.reach[k, 1, j] = w.reach[up, 1, j]
        at = table_at(trees.place, node, pair.begin, pair.sizes)
        first, stride = table_rows(trees.role[node], 1, at, pair.sizes, a, v.combo_offset[vm, a])
        legal = v.legal[vp] if trees.role[node] == 1 else v.legal[vm]
        _descend(trees, w, here, node, learn.regrets, first, stride, legal)
        if trees.kind[node] != TURN:
            continue
        group = trees.leaf_group[trees.child[node, 0] - LEAF]
        block = store.block[group, vm, vp]
        bm, bp = store.bucket[0, group, vm], store.bucket[1, group, vp]
        cards = w.cards[k]
        if back:
            w.pay1[k, :n0, :n1] = np.float32(0.0)
            cards[:] = np.float32(0.0)
        for b in range(tiers):
            left = v.combo_count[vp, b]
            if left == 0:
                continue
            width = store.length[bp, b]
            to = store.reach_start[own, block, a, b]
            for j in range(left):
                pie = v.combo_row[vp, b, j]
                cell = v.combo_slot[vp, b, j] * row + pie
                pies[j], cells[j] = at_(pie), at_(cell)
                columns[j] = at_(store.local[bp, b, v.combo_pair[vp, b, j]])
                played[j] = w.mix[k, at_(cell)] * (np.float32(1.0) if back else w.reach[k, 1, at_(pie)])
            if not back and own == 1:
                for j in range(left):
                    store.reach[at_(to) + columns[j]] += played[j]
            for i in range(n0):
                place = store.local[bm, a, v.combo_pair[vm, a, i]]
                matrix = at_(store.start[block, a, b] + place * width)
                line = w.weights[rows[i]]
                reach = w.reach[k, 0, i]
                if back:
                    for j in range(left):
                        u = store.payoffs[matrix + columns[j]]
                        w.pay1[k, i, pies[j]] += played[j] * u
                        cards[cells[j]] += line[pies[j]] * reach * u
                elif own == 0:
                    store.reach[to + place] += reach
                    for j in range(left):
                        store.weights[matrix + columns[j]] += line[pies[j]] * played[j]
                else:
                    for j in range(left):
                        store.weights[matrix + columns[j]] += line[pies[j]] * reach
    if not back:
        return
    for node in range(last - 1, root - 1, -1):
        if trees.stage[node] == 0:
            continue
        _ascend(trees, w, here, node, rows, w.pay1, own, given.gains)
        role = trees.role[node]
        if role == own:
            at = table_at(trees.place, node, pair.begin, pair.sizes)
            first, stride = table_rows(role, 1, at, pair.sizes, a, v.combo_offset[vm, a])
            k, n = node - root, n1 if role == 1 else n0
            update(
                learn,
                first,
                stride,
                trees.actions[node],
                n,
                w.gain,
                w.mix[k],
                row,
                w.reach[k, role],
                0,
                w.value,
            )


@njit(fastmath=True)
def _before(
    trees: PositionTrees,
    v: ValueLists,
    store: Store,
    w: Scratch1,
    learn: Update,
    given: PositionPass,
    pair: Pair,
) -> None:
    """Trick 1 before mano's card: payoffs [mano's class, pie's class] to w.pay0[0]."""
    root, own, vm = given.root, learn.own, pair.vm
    n0, n1 = v.count[vm], v.count[pair.vp]
    here = Here(root, n0, n1)
    rows = np.arange(n0)
    last = root + trees.nodes[root]
    back, row = given.back, len(w.gain) // 4
    for node in range(root, last):
        if trees.stage[node] == 1:
            continue
        at = table_at(trees.place, node, pair.begin, pair.sizes)
        first, stride = table_rows(trees.role[node], 0, at, pair.sizes, 0, 0)
        _descend(trees, w, here, node, learn.regrets, first, stride, v.legal[vm])
        if trees.kind[node] == TURN:
            w.pay0[node - root, :n0, :n1] = np.float32(0.0)
    # Cards of nodes of stage 0 lie apart from those of stage 1, since each node has one stage.
    for a in range(v.combo_count.shape[1]):
        left = v.combo_count[vm, a]
        if left == 0:
            continue
        _after(trees, v, store, w, learn, given, pair, a)
        if not back:
            continue
        for node in range(root, last):
            if trees.stage[node] == 1 or trees.kind[node] != TURN:
                continue
            k = node - root
            below = trees.child[node, 0] - root
            other = w.reach[k, 1]
            for i in range(left):
                mano, slot = v.combo_row[vm, a, i], v.combo_slot[vm, a, i]
                m = w.mix[k, at_(slot * row + mano)]
                weights = w.weights[mano]
                total = np.float32(0.0)
                for j in range(n1):
                    u = w.pay1[below, i, j]
                    w.pay0[k, mano, j] += m * u
                    total += weights[j] * other[j] * u
                w.cards[k, at_(slot * row + mano)] = total
    if not back:
        return
    for node in range(last - 1, root - 1, -1):
        if trees.stage[node] == 1:
            continue
        k = node - root
        if trees.kind[node] == TURN:
            for slot in range(3):
                for i in range(n0):
                    if not v.legal[vm, i, slot]:
                        w.cards[k, at_(slot * row + i)] = np.float32(0.0)
        _ascend(trees, w, here, node, rows, w.pay0, own, given.gains)
        role = trees.role[node]
        if role == own:
            at = table_at(trees.place, node, pair.begin, pair.sizes)
            first, stride = table_rows(role, 0, at, pair.sizes, 0, 0)
            n = n1 if role == 1 else n0
            update(
                learn,
                first,
                stride,
                trees.actions[node],
                n,
                w.gain,
                w.mix[k],
                row,
                w.reach[k, role],
                0,
                w.value,
            )


@njit(fastmath=True)
def _task(
    first: int, last: int, trees: PositionTrees, v: ValueLists, store: Store, learn: Update, given: PositionPass,
    shown: np.ndarray,
) -> None:  # fmt: skip
    """A task of sweep_position, in its own function: numba drops writes to a tuple's arrays in a prange body."""
    tiers = v.combo_count.shape[1]
    joint, mano_reach, pie_reach, out = given.joint, given.mano_reach, given.pie_reach, given.out
    own, posted = learn.own, given.posted
    height, width, rest = 0, 0, 0
    for at in range(first, last):
        height = max(height, v.count[shown[at, 0]])
        width = max(width, v.count[shown[at, 1]])
        rest = max(rest, v.combo_count[shown[at, 0]].max())
    w = make_scratch1(height, width, rest)
    sizes = np.zeros(4, np.int64)
    for at in range(first, last):
        vm, vp = shown[at, 0], shown[at, 1]
        nl, nf = v.count[vm], v.count[vp]
        pair_sizes(v, vm, vp, sizes)
        pair = Pair(vm, vp, given.table_start[vm, vp], sizes)
        for i in range(nl):
            mano = v.cls[vm, i]
            for j in range(nf):
                pie = v.cls[vp, j]
                weight = joint[mano, pie]
                if not posted:
                    weight *= pie_reach[0, pie] if own == 0 else mano_reach[mano]
                w.weights[i, j] = weight
        if not posted:
            for i in range(nl):
                w.reach[0, 0, i] = mano_reach[v.cls[vm, i]] if own == 0 else np.float32(1.0)
            for j in range(nf):
                w.reach[0, 1, j] = pie_reach[0, v.cls[vp, j]] if own == 1 else np.float32(1.0)
            _before(trees, v, store, w, learn, given, pair)
            if given.back:
                for i in range(nl):
                    for j in range(nf):
                        out[v.cls[vm, i], v.cls[vp, j]] = joint[v.cls[vm, i], v.cls[vp, j]] * w.pay0[0, i, j]
            continue
        for a in range(tiers):
            left = v.combo_count[vm, a]
            if left == 0:
                continue
            for i in range(left):
                w.reach[0, 0, i] = mano_reach[v.combo[vm, a, i]]
            for j in range(nf):
                w.reach[0, 1, j] = pie_reach[a, v.cls[vp, j]]
            _after(trees, v, store, w, learn, given, pair, a)
            if given.back:
                for i in range(left):
                    mano = v.combo_row[vm, a, i]
                    for j in range(nf):
                        out[v.combo[vm, a, i], v.cls[vp, j]] = w.weights[mano, j] * w.pay1[0, i, j]


@njit(fastmath=True, parallel=True)
def sweep_position(
    trees: PositionTrees, v: ValueLists, store: Store, learn: Update, given: PositionPass, starts: np.ndarray,
    shown: np.ndarray,
) -> None:  # fmt: skip
    """One pass over a continuation, for all values that may be shown.

    shown int64 [pairs, 2]: pairs of value sets; starts int64 [tasks + 1]: where tasks begin in it, which are run side
    by side. Pairs that share a block of tricks 2 and 3 must be in one task.
    """
    for task in prange(len(starts) - 1):
        _task(starts[task], starts[task + 1], trees, v, store, learn, given, shown)
