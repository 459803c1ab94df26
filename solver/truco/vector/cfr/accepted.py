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
from solver.truco.vector.cfr.regrets import LEAST, match_regrets, update
from solver.truco.vector.cfr.schedule import Step
from solver.truco.vector.cfr.trick3 import MAX_NODES
from solver.truco.vector.model.forest import at_
from solver.truco.vector.model.positions import PositionTrees, Store, ValueLists
from solver.truco.vector.model.trees import LEAF, TERMINAL, TURN

FORWARD, BACKWARD = 0, 1


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
def _table_at(trees: PositionTrees, node: int, begin: int, sizes: np.ndarray) -> int:
    at = begin
    for i in range(4):
        at += trees.place[node, i] * sizes[i]
    return at


@kernel
def _descend(
    trees: PositionTrees, w: Scratch1, node: int, root: int, n0: int, n1: int, regrets: np.ndarray, at: int,
    stride: int, n: int, legal: np.ndarray,
) -> None:  # fmt: skip
    """Reach and strategy of a node from its parent's of the same stage."""
    k, row = node - root, len(w.gain) // 4
    if k > 0 and trees.stage[trees.parent[node]] == trees.stage[node]:
        up, a = trees.parent[node] - root, trees.action[node]
        turner = trees.role[trees.parent[node]]
        for i in range(n1 if turner == 1 else n0):
            w.reach[k, turner, i] = w.reach[up, turner, i] * w.mix[up, at_(a * row + i)]
        for i in range(n0 if turner == 1 else n1):
            w.reach[k, 1 - turner, i] = w.reach[up, 1 - turner, i]
    match_regrets(regrets, at, stride, trees.actions[node], n, w.mix[k], 0, row)
    if trees.kind[node] == TURN:
        _class_mix(trees.actions[node], n, legal, w.mix[k], row)


@kernel
def _ascend(
    trees: PositionTrees, w: Scratch1, node: int, root: int, n0: int, n1: int, rows: np.ndarray, pay: np.ndarray,
    own: int, gains: np.ndarray,
) -> None:  # fmt: skip
    """Payoffs and counterfactual values (w.gain) of a node from its children's; cards have been added before.

    rows: mano's class of each of his holdings here, for the joint weights.
    """
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
            constant = gains[0 if (TERMINAL - code) // 5 == own else 1, (TERMINAL - code) % 5]
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
    mode: int, trees: PositionTrees, v: ValueLists, store: Store, w: Scratch1, regrets: np.ndarray, sums: np.ndarray,
    step: Step, root: int, begin: int, sizes: np.ndarray, vm: int, vp: int, a: int, own: int, gains: np.ndarray,
) -> None:  # fmt: skip
    """Trick 1 after mano's card of tier a, for all nodes of the tree: payoffs to w.pay1, updates of stage 1."""
    tiers = v.combo_count.shape[1]
    n0, n1 = v.combo_count[vm, a], v.count[vp]
    rows = v.combo_row[vm, a]
    last = root + trees.nodes[root]
    back, row = mode == BACKWARD, len(w.gain) // 4
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
        at = _table_at(trees, node, begin, sizes)
        if trees.role[node] == 1:
            _descend(trees, w, node, root, n0, n1, regrets, at + a * n1, sizes[2], n1, v.legal[vp])
        else:
            at += v.combo_offset[vm, a]
            _descend(trees, w, node, root, n0, n1, regrets, at, sizes[3], n0, v.legal[vm])
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
        _ascend(trees, w, node, root, n0, n1, rows, w.pay1, own, gains)
        role = trees.role[node]
        if role == own:
            at = _table_at(trees, node, begin, sizes) + (a * n1 if role == 1 else v.combo_offset[vm, a])
            k = node - root
            update(
                regrets, sums, at, sizes[2] if role == 1 else sizes[3], trees.actions[node], n1 if role == 1 else n0,
                w.gain, 0, w.mix[k], 0, row, w.reach[k, role], 0, step, w.value,
            )  # fmt: skip


@njit(fastmath=True)
def _before(
    mode: int, trees: PositionTrees, v: ValueLists, store: Store, w: Scratch1, regrets: np.ndarray, sums: np.ndarray,
    step: Step, root: int, begin: int, sizes: np.ndarray, vm: int, vp: int, own: int, gains: np.ndarray,
) -> None:  # fmt: skip
    """Trick 1 before mano's card: payoffs [mano's class, pie's class] to w.pay0[0]."""
    n0, n1 = v.count[vm], v.count[vp]
    rows = np.arange(n0)
    last = root + trees.nodes[root]
    back, row = mode == BACKWARD, len(w.gain) // 4
    for node in range(root, last):
        if trees.stage[node] == 1:
            continue
        n = n1 if trees.role[node] == 1 else n0
        at = _table_at(trees, node, begin, sizes)
        _descend(trees, w, node, root, n0, n1, regrets, at, n, n, v.legal[vm])
        if trees.kind[node] == TURN:
            w.pay0[node - root, :n0, :n1] = np.float32(0.0)
    # Cards of nodes of stage 0 lie apart from those of stage 1, since each node has one stage.
    for a in range(v.combo_count.shape[1]):
        left = v.combo_count[vm, a]
        if left == 0:
            continue
        _after(mode, trees, v, store, w, regrets, sums, step, root, begin, sizes, vm, vp, a, own, gains)
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
        _ascend(trees, w, node, root, n0, n1, rows, w.pay0, own, gains)
        role = trees.role[node]
        if role == own:
            n = n1 if role == 1 else n0
            at = _table_at(trees, node, begin, sizes)
            update(
                regrets,
                sums,
                at,
                n,
                trees.actions[node],
                n,
                w.gain,
                0,
                w.mix[k],
                0,
                row,
                w.reach[k, role],
                0,
                step,
                w.value,
            )


@njit(fastmath=True)
def _task(
    task: int, mode: int, trees: PositionTrees, v: ValueLists, store: Store, tasks: np.ndarray,
    task_values: np.ndarray, regrets: np.ndarray, sums: np.ndarray, step: Step, root: int, posted: bool,
    table_start: np.ndarray, joint: np.ndarray, mano_reach: np.ndarray, pie_reach: np.ndarray, own: int,
    gains: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """A task of sweep_position, in its own function: numba drops writes to a tuple's arrays in a prange body."""
    tiers = v.combo_count.shape[1]
    height, width, rest = 0, 0, 0
    for at in range(tasks[task], tasks[task + 1]):
        height = max(height, v.count[task_values[at, 0]])
        width = max(width, v.count[task_values[at, 1]])
        rest = max(rest, v.combo_count[task_values[at, 0]].max())
    w = make_scratch1(height, width, rest)
    sizes = np.zeros(4, np.int64)
    for at in range(tasks[task], tasks[task + 1]):
        vm, vp = task_values[at, 0], task_values[at, 1]
        nl, nf = v.count[vm], v.count[vp]
        sizes[0], sizes[1], sizes[2] = nl, nf, nf * tiers
        sizes[3] = v.combo_offset[vm, tiers - 1] + v.combo_count[vm, tiers - 1]
        begin = table_start[vm, vp]
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
            _before(mode, trees, v, store, w, regrets, sums, step, root, begin, sizes, vm, vp, own, gains)
            if mode == BACKWARD:
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
            _after(mode, trees, v, store, w, regrets, sums, step, root, begin, sizes, vm, vp, a, own, gains)
            if mode == BACKWARD:
                for i in range(left):
                    mano = v.combo_row[vm, a, i]
                    for j in range(nf):
                        out[v.combo[vm, a, i], v.cls[vp, j]] = w.weights[mano, j] * w.pay1[0, i, j]


@njit(fastmath=True, parallel=True)
def sweep_position(
    mode: int, trees: PositionTrees, v: ValueLists, store: Store, tasks: np.ndarray, task_values: np.ndarray,
    regrets: np.ndarray, sums: np.ndarray, step: Step, root: int, posted: bool, table_start: np.ndarray,
    joint: np.ndarray, mano_reach: np.ndarray, pie_reach: np.ndarray, own: int, gains: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """One pass over a position, for all that may be said; tasks (ranges of task_values, pairs of sets) are parallel.

    The pairs that share a block must be in one task.

    joint float32 [classes, classes]: share of all deals. Reaches since the deal: mano_reach [classes], or
    [combinations] once his card lies; pie_reach [classes], or [tiers, classes]. The backward pass writes joint x
    payoff to out, [classes, classes] or [combinations, classes].
    """
    for task in prange(len(tasks) - 1):
        _task(
            task, mode, trees, v, store, tasks, task_values, regrets, sums, step, root, posted, table_start, joint,
            mano_reach, pie_reach, own, gains, out,
        )  # fmt: skip
