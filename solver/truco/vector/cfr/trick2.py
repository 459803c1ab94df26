"""CFR over tricks 2 and 3 of one public situation, in numba: joint weights in, regrets updated, payoffs out.

A situation is a pair of first cards by tier, with what each side can still hold. Everything is computed for all
pairs of holdings at once. `weights[l, f]` is the number of deals (over all deals) in which the leader of trick 2
holds l and the other f, times the reach of the player who is not updated; `payoff[l, f]` is what the updated player
gets when both go on by their current strategies. Regrets and average-strategy sums lie in two float32 arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from solver.entry import Entry, call
from solver.jit import inner, kernel, njit
from solver.truco.vector.cfr.lanes16 import (
    lane_sum,
    load,
    splat,
    store,
    transpose,
    where_above,
)
from solver.truco.vector.cfr.regrets import LEAST, Update, match16, match_regrets, update, update16
from solver.truco.vector.cfr.trick3 import MAX_NODES, Third, ThirdPass, solve_third
from solver.truco.vector.model.address import ThirdSpan, table_at, table_rows, third_span
from solver.truco.vector.model.forest import MAX_TIERS, Forest, Lists, at_
from solver.truco.vector.model.trees import LEAF, TERMINAL, TURN, terminal_worth


class Scratch(NamedTuple):
    """Working memory of one thread; the first index of most arrays is the node's number within its tree."""

    pay0: np.ndarray
    """float32 [node, pairs, pairs]: payoffs before the leader's card in trick 2."""
    pay1: np.ndarray
    """float32 [node, pairs x 16]: after it, rows the follower's pairs, columns what the leader has left."""
    joint2: np.ndarray
    """float32 [pairs x 16]: weights alike."""
    mix2: np.ndarray
    """float32 [node, 3 x pairs]: strategies in trick 2."""
    gain2: np.ndarray
    """float32 [3 x pairs]: counterfactual values of a node's actions."""
    cards2: np.ndarray
    """float32 [node, 2, pairs]: counterfactual values of the two cards, summed up as they fall."""
    reach2: np.ndarray
    """float32 [node, 2 x pairs]: reach of leader and follower since entry."""
    value: np.ndarray
    """float32 [pairs]."""
    third: Third


@njit
def make_scratch(pairs: int) -> Scratch:
    """Scratch for up to `pairs` holdings of two cards."""
    pairs = (pairs + 15) // 8 * 8
    d, small, real = MAX_NODES, MAX_TIERS, np.float32
    third = Third(
        np.zeros(d * small * small, real), np.zeros(d * 2 * small, real), np.zeros(d * 3 * 2 * small, real),
        np.zeros(3 * 2 * small, real), np.zeros(d * 2 * 2 * small, real), np.zeros(d * 2 * small, real),
        np.zeros(small * small, real), np.zeros(small * small, real), np.zeros(small * small, real),
        np.zeros(2 * small, real),
    )  # fmt: skip
    return Scratch(
        np.zeros((d, pairs, pairs), real), np.zeros((d, pairs * small), real), np.zeros(pairs * small, real),
        np.zeros((d, 3 * pairs), real), np.zeros(3 * pairs, real), np.zeros((d, 2, pairs), real),
        np.zeros((d, 2 * pairs), real), np.zeros(pairs, real), third,
    )  # fmt: skip


@inner(fastmath=True)
def _card_mix(n: int, actions: int, tiers: np.ndarray, mix: np.ndarray, row: int) -> None:
    """Corrects regret matching at a turn with two cards: equal cards are one action, the first."""
    for h in range(n):
        if tiers[h, 0] == tiers[h, 1]:
            spare = mix[row + h]
            mix[row + h] = np.float32(0.0)
            if spare > 0.0:
                rest = mix[h] + (mix[2 * row + h] if actions == 3 else np.float32(0.0))
                if rest > LEAST:
                    mix[h] = mix[h] / rest
                    if actions == 3:
                        mix[2 * row + h] = mix[2 * row + h] / rest
                else:
                    mix[h] = np.float32(1.0) / np.float32(actions - 1)
                    if actions == 3:
                        mix[2 * row + h] = mix[h]


class Situation(NamedTuple):
    """Tricks 2 and 3 for one pair of first cards: its tables and what both sides come with."""

    root: int
    """Root of trick 2 in the forest."""
    begin: int
    """First table entry."""
    sizes: np.ndarray
    """int64 [6]: see `address.block_sizes`."""
    gl: int
    """List of the leader of trick 2; gf that of the other."""
    gf: int
    tie: bool
    """Whether trick 1 was parda."""
    own: int
    """The updated role, 0 the leader."""
    weights: np.ndarray
    """float32 [leader's holdings, follower's and spare up to a multiple of 16]: joint weights x the other's reach."""
    own_reach: np.ndarray
    """float32 [own holdings]: reach since the deal."""
    gains: np.ndarray
    """float32 [2, 5]: utility of the updated player by whether he wins, and points."""


@inner(fastmath=True)
def _ascend(forest: Forest, w: Scratch, s: Situation, node: int, nl: int, nf: int, row: int) -> None:
    """Payoffs and counterfactual values (w.gain2) of a node before the first card of trick 2.

    Those of the cards have been added before.
    """
    root, own, weights = s.root, s.own, s.weights
    k = node - root
    role, actions = forest.role[node], forest.actions[node]
    mine = role == own
    turn = forest.kind[node] == TURN
    gain, mix, reach, out = w.gain2, w.mix2[k], w.reach2[k], w.pay0[k]
    if turn:
        for slot in range(2):
            for i in range(nf if role == 1 else nl):
                gain[at_(slot * row + i)] = w.cards2[k, slot, i]
    for a in range(2 if turn else 0, actions):
        code = forest.child[node, 1 if turn else a]
        end = code <= TERMINAL
        constant = np.float32(0.0)
        if end:
            constant = terminal_worth(code, own, s.gains)
        below = w.pay0[0 if end else code - root]
        to = a * row
        if role == 1:
            for j in range(nf):
                gain[at_(to + j)] = np.float32(0.0)
        for i in range(nl):
            if a == 0:
                for j in range(nf):
                    out[i, j] = np.float32(0.0)
            if role == 1:
                m = reach[i]
                for j in range(nf):
                    out[i, j] += mix[at_(to + j)] * (constant if end else below[i, j])
                if mine:
                    for j in range(nf):
                        gain[at_(to + j)] += weights[i, j] * m * (constant if end else below[i, j])
            else:
                m = mix[at_(to + i)]
                for j in range(nf):
                    out[i, j] += m * (constant if end else below[i, j])
                if mine:
                    total = np.float32(0.0)
                    for j in range(nf):
                        total += weights[i, j] * reach[at_(row + j)] * (constant if end else below[i, j])
                    gain[at_(to + i)] = total


@inner(fastmath=True)
def _follow(
    forest: Forest, lists: Lists, w: Scratch, learn: Update, s: Situation, x: int, row: int, third: Any
) -> None:
    """Trick 2 after the leader's card x, for all nodes of the tree: payoffs to w.pay1, updates of stage 1.

    third: the Entry of `solve_third`.
    """
    root, begin, sizes, gl, gf, tie = s.root, s.begin, s.sizes, s.gl, s.gf, s.tie
    weights, own, gains = s.weights, s.own, s.gains
    nl, nf, tiers = lists.left_count[gl, x], lists.count[gf], lists.left_count.shape[1]
    reach2, mix2, pay1, cards2 = w.reach2, w.mix2, w.pay1, w.cards2
    joint3, won3, reach3, pay3 = w.third.joint3, w.third.won3, w.third.reach3, w.third.pay3
    joint2 = w.joint2
    last = root + forest.nodes[root]
    held, turned = w.third.held, w.third.turned
    wide, long = 3 * row, pay1.shape[1]  # lengths of a node's part of mix2 and pay1
    across = weights.shape[1]
    for i in range(nl, MAX_TIERS):
        store(turned, i * MAX_TIERS, splat(np.float32(0.0)))
    for j in range(0, nf, MAX_TIERS):
        for i in range(nl):
            store(turned, i * MAX_TIERS, load(weights, lists.left_pair[gl, x, i] * across + j))
        transpose(joint2, j * MAX_TIERS, turned, 0)
    for i in range(MAX_TIERS):
        held[i] = np.float32(lists.left_tier[gl, x, i]) if i < nl else np.float32(-1.0)
    for node in range(root, last):
        if forest.stage[node] == 0:
            continue
        k = node - root
        role, actions = forest.role[node], forest.actions[node]
        up, a = forest.parent[node] - root, forest.action[node]
        turner = forest.role[forest.parent[node]]
        if forest.stage[forest.parent[node]] == 0:
            for i in range(nl):
                pair = lists.left_pair[gl, x, i]
                reach2[k, i] = reach2[up, pair] * mix2[up, at_(lists.left_slot[gl, x, i] * row + pair)]
            for j in range(nf):
                reach2[k, at_(row + j)] = reach2[up, at_(row + j)]
        else:
            change, n = (row, nf) if turner == 1 else (0, nl)
            for i in range(n):
                reach2[k, at_(change + i)] = reach2[up, at_(change + i)] * mix2[up, at_(a * row + i)]
            for i in range(nl + nf - n):
                reach2[k, at_(row - change + i)] = reach2[up, at_(row - change + i)]
        at = table_at(forest.place, node, begin, sizes)
        first, stride = table_rows(role, 1, at, sizes, x, lists.offset[gl, x])
        if role == 1:
            match_regrets(learn.regrets, first, stride, actions, nf, mix2[k], row)
            if forest.kind[node] == TURN:
                _card_mix(nf, actions, lists.tiers[gf], mix2[k], row)
        else:
            match16(learn.regrets, first, stride, actions, mix2, k * wide, row)
        for i in range(nl, MAX_TIERS):
            reach2[k, i] = np.float32(0.0)
        if forest.kind[node] == TURN:
            for i in range(nf * MAX_TIERS):
                pay1[k, i] = np.float32(0.0)
            for j in range(nf):
                cards2[k, 0, j] = np.float32(0.0)
                cards2[k, 1, j] = np.float32(0.0)
    for y in range(tiers):
        left = lists.left_count[gf, y]
        if left == 0:
            continue
        decided = y != x if tie else y >= x
        span = third_span(lists, gl, gf, tie, x, y)
        n1, n2 = (nl, left) if tie else (left, nl)
        if not decided:
            one, zero = splat(np.float32(1.0)), splat(np.float32(0.0))
            for j in range(MAX_TIERS):
                here = j < left
                held[MAX_TIERS + j] = np.float32(lists.left_tier[gf, y, j]) if here else np.float32(-1.0)
                at = lists.left_pair[gf, y, j] * MAX_TIERS if here else 0
                store(joint3 if tie else turned, j * MAX_TIERS, load(joint2, at) if here else zero)
            if tie:
                first_held = load(held, 0)
                for j in range(left):
                    card = splat(held[MAX_TIERS + j])
                    store(won3, j * MAX_TIERS, where_above(first_held, card, one, zero))
            else:
                transpose(joint3, 0, turned, 0)
                first_held = load(held, MAX_TIERS)
                for i in range(nl):
                    # Of equal cards the second player's wins: he has won trick 1.
                    card = splat(held[i] - np.float32(0.5))
                    store(won3, i * MAX_TIERS, where_above(first_held, card, one, zero))
        for node in range(root, last):
            if forest.stage[node] == 0 or forest.kind[node] != TURN:
                continue
            k = node - root
            leaf = forest.child[node, 0] - LEAF
            level = forest.leaf_level[leaf]
            worth = gains[0 if own == 0 else 1, level]
            if tie and y < x:
                worth = gains[0 if own == 1 else 1, level]
            if not decided:
                below = table_at(forest.leaf_place, leaf, begin, sizes)
                # Reaches of the players of trick 3; its first is the leader of trick 2 only after two pardas.
                lead = 0 if tie else 2 * MAX_TIERS
                for i in range(MAX_TIERS):
                    reach3[lead + i] = reach2[k, i] if i < nl else np.float32(0.0)
                    reach3[2 * MAX_TIERS - lead + i] = np.float32(0.0)
                for i in range(left):
                    pair = lists.left_pair[gf, y, i]
                    reach3[2 * MAX_TIERS - lead + i] = (
                        reach2[k, at_(row + pair)] * mix2[k, at_(lists.left_slot[gf, y, i] * row + pair)]
                    )
                task = ThirdPass(forest.leaf_root[leaf], below, n1, n2, own if tie else 1 - own)
                call(third, (forest.third, w.third, learn, task, span, gains))
                if not tie:
                    transpose(turned, 0, pay3, 0)
            faced = load(reach2, k * 2 * row)
            for j in range(left):
                pair = lists.left_pair[gf, y, j]
                slot = lists.left_slot[gf, y, j]
                line = pair * MAX_TIERS
                value = splat(worth)
                if not decided:
                    value = load(pay3 if tie else turned, j * MAX_TIERS)
                to = k * long + line
                store(pay1, to, load(pay1, to) + splat(mix2[k, at_(slot * row + pair)]) * value)
                cards2[k, slot, pair] = lane_sum(load(joint2, line) * faced * value)
    gain = w.gain2
    for node in range(last - 1, root - 1, -1):
        if forest.stage[node] == 0:
            continue
        k = node - root
        role, actions = forest.role[node], forest.actions[node]
        mine, turn = role == own, forest.kind[node] == TURN
        faced = load(reach2, k * 2 * row)
        if turn:
            for slot in range(2):
                for j in range(nf):
                    gain[at_(slot * row + j)] = cards2[k, slot, j]
        for a in range(2 if turn else 0, actions):
            code = forest.child[node, 1 if turn else a]
            end = code <= TERMINAL
            constant = np.float32(0.0)
            if end:
                constant = terminal_worth(code, own, gains)
            below = 0 if end else (code - root) * long
            to = a * row
            chance, found = load(mix2, k * wide + to), splat(np.float32(0.0))
            for j in range(nf):
                line = j * MAX_TIERS
                value = splat(constant) if end else load(pay1, below + line)
                part = (splat(mix2[k, at_(to + j)]) if role == 1 else chance) * value
                store(pay1, k * long + line, load(pay1, k * long + line) + part if a > 0 else part)
                if not mine:
                    continue
                weighted = load(joint2, line) * value
                if role == 1:
                    gain[at_(to + j)] = lane_sum(weighted * faced)
                else:
                    found = found + weighted * splat(reach2[k, at_(row + j)])
            if mine and role == 0:
                store(gain, to, found)
        if mine:
            at = table_at(forest.place, node, begin, sizes)
            first, stride = table_rows(role, 1, at, sizes, x, lists.offset[gl, x])
            if role == 1:
                update(learn, first, stride, actions, nf, gain, mix2[k], row, reach2[k], row, w.value)
            else:
                update16(learn, first, stride, actions, nl, gain, 0, mix2, k * wide, row, reach2, k * 2 * row)


class Below(NamedTuple):
    """The large kernels under `solve_block`, each compiled once."""

    follow: Any
    """The Entry of `_follow`."""
    third: Any
    """The Entry of `solve_third`."""


def make_below(forest: Forest, lists: Lists, learn: Update) -> Below:
    """The kernels for arguments of these types."""
    w, gains, sizes = make_scratch.py_func(1), np.zeros((2, 5), np.float32), np.zeros(6, np.int64)
    weights = np.zeros((1, 1), np.float32)
    third = Entry(
        solve_third, forest.third, w.third, learn, ThirdPass(0, 0, 0, 0, 0), ThirdSpan(0, 0, 0, 0), gains
    )
    some = Situation(0, 0, sizes, 0, 0, False, 0, weights, weights[0], gains)
    return Below(Entry(_follow, forest, lists, w, learn, some, 0, 0, third), third)


@kernel
def solve_block(forest: Forest, lists: Lists, w: Scratch, learn: Update, s: Situation, below: Below) -> None:
    """One update of a situation; payoffs to w.pay0[0], [leader's holdings, follower's]."""
    root, sizes, gl, own, own_reach = s.root, s.sizes, s.gl, s.own, s.own_reach
    begin = s.begin
    nl, nf, tiers = lists.count[gl], lists.count[s.gf], lists.left_count.shape[1]
    row = len(w.gain2) // 3
    reach2, mix2, pay0 = w.reach2, w.mix2, w.pay0
    turned, held, long = w.third.turned, w.third.held, w.pay1.shape[1]
    for i in range(nl):
        reach2[0, i] = own_reach[i] if own == 0 else np.float32(1.0)
    for j in range(nf):
        reach2[0, at_(row + j)] = own_reach[j] if own == 1 else np.float32(1.0)
    last = root + forest.nodes[root]
    for node in range(root, last):
        if forest.stage[node] == 1:
            continue
        k = node - root
        role, actions = forest.role[node], forest.actions[node]
        if k > 0:
            up, a = forest.parent[node] - root, forest.action[node]
            change, n = (row, nf) if forest.role[forest.parent[node]] == 1 else (0, nl)
            for i in range(n):
                reach2[k, at_(change + i)] = reach2[up, at_(change + i)] * mix2[up, at_(a * row + i)]
            for i in range(nl + nf - n):
                reach2[k, at_(row - change + i)] = reach2[up, at_(row - change + i)]
        n = nl if role == 0 else nf
        first, stride = table_rows(role, 0, table_at(forest.place, node, begin, sizes), sizes, 0, 0)
        match_regrets(learn.regrets, first, stride, actions, n, mix2[k], row)
        if forest.kind[node] == TURN:
            _card_mix(nl, actions, lists.tiers[gl], mix2[k], row)
            for i in range(nl):
                for j in range(nf):
                    pay0[k, i, j] = np.float32(0.0)
                w.cards2[k, 0, i] = np.float32(0.0)
                w.cards2[k, 1, i] = np.float32(0.0)
    for x in range(tiers):
        left = lists.left_count[gl, x]
        if left == 0:
            continue
        call(below.follow, (forest, lists, w, learn, s, x, row, below.third))
        for node in range(root, last):
            if forest.stage[node] == 1 or forest.kind[node] != TURN:
                continue
            k = node - root
            code = forest.child[node, 0] - root
            found = splat(np.float32(0.0))
            for j in range(0, nf, MAX_TIERS):
                for pair in range(j, min(j + MAX_TIERS, nf)):
                    line = pair * MAX_TIERS
                    met = load(w.joint2, line) * splat(reach2[k, at_(row + pair)])
                    found = found + met * load(w.pay1, code * long + line)
                transpose(turned, 0, w.pay1, code * long + j * MAX_TIERS)
                for i in range(left):
                    pair = lists.left_pair[gl, x, i]
                    chance = splat(mix2[k, at_(lists.left_slot[gl, x, i] * row + pair)])
                    to = (k * pay0.shape[1] + pair) * pay0.shape[2] + j
                    store(pay0, to, load(pay0, to) + chance * load(turned, i * MAX_TIERS))
            store(held, 0, found)
            for i in range(left):
                w.cards2[k, lists.left_slot[gl, x, i], lists.left_pair[gl, x, i]] = held[i]
    for node in range(last - 1, root - 1, -1):
        if forest.stage[node] == 1:
            continue
        k = node - root
        role = forest.role[node]
        _ascend(forest, w, s, node, nl, nf, row)
        if role == own:
            n = nl if role == 0 else nf
            first, stride = table_rows(role, 0, table_at(forest.place, node, begin, sizes), sizes, 0, 0)
            update(
                learn,
                first,
                stride,
                forest.actions[node],
                n,
                w.gain2,
                mix2[k],
                row,
                reach2[k],
                row * role,
                w.value,
            )
