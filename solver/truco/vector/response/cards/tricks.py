"""Best responses in tricks 2 and 3 on real cards, in numba: the exploiter sees suits, the policy only tiers.

Everything is seen from the exploiter ("own"). His rows are pairs of real cards; what the policy may hold are real
pairs too, with its reach. Its tables depend on tiers alone, so sums over what it holds are taken by tier and
corrected for the cards that the exploiter himself holds. Values are counterfactual: sums over the other's real
holdings of reach x utility, float64. Cards are numbered from the strongest tier to the weakest.

One call answers up to LANES vectors of reach that meet the same tables, such as exits of trick 1 that the policy does
not tell apart. Beside that own pairs may belong to up to GROUPS groups g, against each of which the policy comes with
another reach, since another value was shown for the Envido; what it may hold and how it goes on are alike for all.
What depends on reach is an array [rows, LANES]; what depends on the policy's tables alone is worked out once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solver.jit import njit
from solver.truco.vector.cfr.trick3 import MAX_NODES
from solver.truco.vector.model.forest import MAX_TIERS, Forest, Lists
from solver.truco.vector.model.trees import LEAF, TERMINAL, TURN
from solver.truco.vector.response.cards.lanes import (
    LANES,
    add1,
    add2,
    add3,
    fill,
    is_zero,
    put1,
    put2,
    put3,
    top1,
    top2,
    top3,
)

GROUPS = 6
MAX_CARDS = 40
_LEAVES = MAX_NODES  # at most one for each node
_ROWS = 2 * (MAX_CARDS * (MAX_CARDS - 1) // 2)
_LOWEST = -1e300
_SUMS = 2 * (MAX_TIERS + 1)
"""Rows of running sums for a group."""


class Room(NamedTuple):
    """Working memory of one thread and the sides of a situation; `i` an own pair, `r` an own ordered pair (played
    card first), `j` a pair of the other's, `e` an ordered one. "Lanes" are float64 [rows, LANES]; the row of, say,
    "node, g, e" is (node x GROUPS + g) x (number of ordered pairs) + e.
    """

    tier: np.ndarray
    """int64 [cards]: ascending."""
    own: np.ndarray
    """int64 [2, i]: lower and higher card."""
    own_group: np.ndarray
    """int64 [i]."""
    other: np.ndarray
    """int64 [3, j]: lower and higher card, place in the holdings list."""
    other_reach: np.ndarray
    """Lanes, g, j."""
    own_start: np.ndarray
    """int64 [tiers + 1]: ordered pairs by tier of the played card."""
    own_card: np.ndarray
    """int64 [r]: played card; own_rest the other, own_pair its i."""
    own_rest: np.ndarray
    own_pair: np.ndarray
    own_at: np.ndarray
    """int64 [2, i]: the two r of a pair."""
    other_start: np.ndarray
    """int64 [cards + 1]: ordered pairs by played card, the rest ascending."""
    other_rest: np.ndarray
    other_pair: np.ndarray
    """int64 [e]: j."""
    other_slot: np.ndarray
    other_share: np.ndarray
    """float64 [e]: 1/2 where both cards are of one tier, else 1."""
    pair_at: np.ndarray
    """int64 [cards, cards]: j of a pair, lower card first; -1 outside calls."""
    reach: np.ndarray
    """Lanes, node, g, e (or j before the card): the other's reach."""
    mix: np.ndarray
    """float64 [node, 3, e]: the other's strategy."""
    line: np.ndarray
    """Lanes, g, j."""
    single: np.ndarray
    """Lanes, g, card; zero outside calls."""
    value: np.ndarray
    """Lanes, node, r."""
    before: np.ndarray
    """Lanes, node, i (in steps of r): stage 0."""
    cards: np.ndarray
    """Lanes, node, i: best card, or sums over the other's cards."""
    mass: np.ndarray
    """Lanes, r."""
    sum: np.ndarray
    """Lanes, g."""
    played: np.ndarray
    """Lanes, leaf, g, e: reach where trick 2 is over; the last row is 0."""
    leaf_node: np.ndarray
    leaf_value: np.ndarray
    """Lanes, leaf, r."""
    place: np.ndarray
    """int64 [cards]: ordered pair of the other's with this rest; -1 outside calls."""
    column: np.ndarray
    """int64 [e]: number among the tiers left to the other; column_tier the tier, column_at its table place."""
    column_tier: np.ndarray
    column_at: np.ndarray
    rows: np.ndarray
    """int64 [6, r]: r, entry of c, entry of z (-1: none), split of columns, number of z's tier, g."""
    rest_tier: np.ndarray
    """int64 [2, tiers]: tiers of own cards left and their table places."""
    rest_number: np.ndarray
    """int64 [tiers]."""
    total: np.ndarray
    """Lanes, g, column: reach by tier."""
    factor: np.ndarray
    """float64 [node, column]: the other's strategy along the way in trick 3."""
    share: np.ndarray
    """float64 [column]: that and its action at hand."""
    prefix: np.ndarray
    """Lanes, g, 2, column + 1: running sums over columns."""
    mix3: np.ndarray
    """float64 [node, 3, 2, column]."""
    post: np.ndarray
    """float64 [node, 2, column]: strategy along the way, or values, after the first card of trick 3."""
    halves: np.ndarray
    """Lanes, node, 2, r: masses that lose or win against the own card, at entries of stage 1."""
    entry: np.ndarray
    """int64 [node]."""
    alive: np.ndarray
    """bool [node, 1 + action]: whether the policy comes to a node of trick 3, and goes on by an action."""
    value3: np.ndarray
    """Lanes, node, r."""


@njit
def make_room(tier: np.ndarray) -> Room:
    """Memory for a deck with these tiers by card."""
    cards, nodes, rows = len(tier), MAX_NODES, len(tier) * (len(tier) - 1)
    half = rows // 2
    ints, real = np.int64, np.float64
    return Room(
        tier, np.zeros((2, half), ints), np.zeros(half, ints), np.zeros((3, half), ints),
        np.zeros((GROUPS * half, LANES), real), np.zeros(MAX_TIERS + 1, ints), np.zeros(rows, ints),
        np.zeros(rows, ints), np.zeros(rows, ints), np.zeros((2, half), ints), np.zeros(cards + 2, ints),
        np.zeros(rows, ints), np.zeros(rows, ints), np.zeros(rows, ints), np.zeros(rows, real),
        np.full((cards, cards), -1, ints), np.zeros((nodes * GROUPS * rows, LANES), real),
        np.zeros((nodes, 3, rows), real), np.zeros((GROUPS * half, LANES), real),
        np.zeros((GROUPS * cards, LANES), real), np.zeros((nodes * rows, LANES), real),
        np.zeros((nodes * rows, LANES), real), np.zeros((nodes * rows, LANES), real), np.zeros((rows, LANES), real),
        np.zeros((GROUPS, LANES), real), np.zeros((_LEAVES * GROUPS * rows + 1, LANES), real),
        np.zeros(_LEAVES, ints), np.zeros((_LEAVES * rows, LANES), real), np.full(cards, -1, ints),
        np.zeros(rows, ints), np.zeros(MAX_TIERS, ints), np.zeros(MAX_TIERS, ints), np.zeros((6, rows), ints),
        np.zeros((2, MAX_TIERS), ints), np.zeros(MAX_TIERS, ints), np.zeros((GROUPS * MAX_TIERS, LANES), real),
        np.zeros((nodes, MAX_TIERS), real), np.zeros(MAX_TIERS, real), np.zeros((GROUPS * _SUMS, LANES), real),
        np.zeros((nodes, 3, 2, MAX_TIERS), real), np.zeros((nodes, 2, MAX_TIERS), real),
        np.zeros((2 * nodes * rows, LANES), real), np.zeros(nodes, ints), np.zeros((nodes, 4), np.bool_),
        np.zeros((nodes * rows, LANES), real),
    )  # fmt: skip


@njit
def gather(
    out: np.ndarray, at: int, below: np.ndarray, first: int, n: int, worth: float, fresh: bool, mine: bool
) -> None:
    """n rows of worth x below, written to out where it is fresh, else the best kept (mine) or added."""
    if fresh:
        for i in range(n):
            put1(out, at + i, below, first + i, worth)
    elif mine:
        for i in range(n):
            top1(out, at + i, below, first + i, worth)
    else:
        for i in range(n):
            add1(out, at + i, below, first + i, worth)


@njit
def end_worth(code: int, own: int, gains: np.ndarray) -> float:
    """Utility of an TERMINAL code for the exploiter in this role."""
    return gains[0 if (TERMINAL - code) // 5 == own else 1, (TERMINAL - code) % 5]


@njit
def _chosen(mix3: np.ndarray, k: int, a: int, bits: int, n: int) -> bool:
    """Whether the policy takes an action with any of its holdings (or whatever the own one is)."""
    for bit in range(bits):
        for t in range(n):
            if mix3[k, a, bit, t] > 0.0:
                return True
    return False


@njit
def solve_third(
    forest: Forest, lists: Lists, left: np.ndarray, w: Room, sums: np.ndarray, begin: int, sizes: np.ndarray,
    gl: int, gf: int, tie: bool, own_leads: bool, own_tier: int, card: int, leaves: int, groups: int,
    gains: np.ndarray,
) -> None:  # fmt: skip
    """Adds to w.leaf_value what follows own cards of a tier and the other's real card in trick 2, for all leaves of
    its tree. Reads the other's reach there from w.played.
    """
    tier, cards, stride, none = w.tier, len(w.tier), len(w.own_card), len(w.played) - 1
    x, y = (own_tier, tier[card]) if own_leads else (tier[card], own_tier)
    low, high = w.other_start[card], w.other_start[card + 1]
    first_row, last_row = w.own_start[own_tier], w.own_start[own_tier + 1]
    decided = y != x if tie else y >= x
    if decided:
        own_wins = (tie and y < x) != own_leads
        for leaf in range(leaves):
            dead = True
            for g in range(groups):
                at = (leaf * GROUPS + g) * stride
                fill(w.sum, g, 0.0)
                for e in range(low, high):
                    add1(w.sum, g, w.played, at + e, 1.0)
                    put1(w.single, g * cards + w.other_rest[e], w.played, at + e, 1.0)
                dead = dead and is_zero(w.sum, g)
            if not dead:
                level = forest.leaf_level[forest.child[w.leaf_node[leaf], 0] - LEAF]
                worth = gains[0 if own_wins else 1, level]
                for r in range(first_row, last_row):
                    c, z, g = w.own_card[r], w.own_rest[r], w.own_group[w.own_pair[r]]
                    if c != card and z != card:
                        add3(
                            w.leaf_value, leaf * stride + r, w.sum, g, worth, w.single, g * cards + c, -worth,
                            w.single, g * cards + z, -worth,
                        )  # fmt: skip
            for g in range(groups):
                for e in range(low, high):
                    fill(w.single, g * cards + w.other_rest[e], 0.0)
        return
    own_first = own_leads == tie
    own = 0 if own_first else 1
    nl, nf = lists.left_count[gl, x], lists.left_count[gf, y]
    if tie:
        entries, first, g1, t1 = lists.size[gl, 0], lists.offset[gl, x], gl, x
        entries2, second, g2, t2 = lists.size[gf, 0], lists.offset[gf, y], gf, y
    else:
        entries, first, g1, t1 = (
            lists.size[gf, 2],
            lists.offset_weaker[gf, y] + (x - y - 1) * nf,
            gf,
            y,
        )
        entries2, second, g2, t2 = lists.size[gl, 1], lists.offset_stronger[gl, x] + y * nl, gl, x
    go, to, gm, tm = (g2, t2, g1, t1) if own_first else (g1, t1, g2, t2)
    # Columns: tiers the other may have left.
    columns = 0
    for e in range(low, high):
        t = tier[w.other_rest[e]]
        if columns == 0 or w.column_tier[columns - 1] != t:
            w.column_tier[columns] = t
            w.column_at[columns] = left[go, to, t]
            columns += 1
        w.column[e] = columns - 1
        w.place[w.other_rest[e]] = e
    # Rows: own ordered pairs without the other's card.
    strict = tie if own_first else not tie  # whether columns of z's own tier lie past the split
    for t in range(MAX_TIERS):
        w.rest_number[t] = -1
    rests = 0
    rows = 0
    for r in range(first_row, last_row):
        c, z = w.own_card[r], w.own_rest[r]
        if c == card or z == card:
            continue
        t = tier[z]
        if w.rest_number[t] < 0:
            w.rest_number[t] = rests
            w.rest_tier[0, rests] = t
            w.rest_tier[1, rests] = left[gm, tm, t]
            rests += 1
        split = 0
        while split < columns and (w.column_tier[split] < t or (not strict and w.column_tier[split] == t)):
            split += 1
        w.rows[0, rows], w.rows[1, rows], w.rows[2, rows] = r, w.place[c], w.place[z]
        w.rows[3, rows], w.rows[4, rows], w.rows[5, rows] = (
            split,
            w.rest_number[t],
            w.own_group[w.own_pair[r]],
        )
        rows += 1
    for e in range(low, high):
        w.place[w.other_rest[e]] = -1
    if rows == 0:
        return
    for leaf in range(leaves):
        dead = True
        for g in range(groups):
            at = (leaf * GROUPS + g) * stride
            for t in range(columns):
                fill(w.total, g * MAX_TIERS + t, 0.0)
            for e in range(low, high):
                add1(w.total, g * MAX_TIERS + w.column[e], w.played, at + e, 1.0)
            for t in range(columns):
                dead = dead and is_zero(w.total, g * MAX_TIERS + t)
        if dead:
            continue
        hang = forest.child[w.leaf_node[leaf], 0] - LEAF
        table = begin
        for i in range(6):
            table += forest.leaf_place[hang, i] * sizes[i]
        root = forest.leaf_root[hang]
        last = root + forest.nodes[root]
        for node in range(root, last):
            k = node - root
            role, actions, late = forest.role[node], forest.actions[node], forest.stage[node] == 1
            parent = forest.parent[node]
            up, a = parent - root, forest.action[node]
            at = table + forest.place[node, 4] * entries + forest.place[node, 5] * entries2
            w.alive[k, 1:] = True
            w.alive[k, 0] = parent < 0 or (w.alive[up, 0] and w.alive[up, 1 + a])
            if not w.alive[k, 0]:
                continue
            if not late:
                for t in range(columns):
                    f = 1.0
                    if parent >= 0:
                        f = w.factor[up, t]
                        if forest.role[parent] != own:
                            f *= w.mix3[up, a, 0, t]
                    w.factor[k, t] = f
                if role != own:
                    step = entries if role == 0 else entries2
                    base = at + (first if role == 0 else second)
                    for t in range(columns):
                        _normalise(sums, base + w.column_at[t], step, actions, w.mix3, k, 0, t)
                    for b in range(actions):
                        w.alive[k, 1 + b] = _chosen(w.mix3, k, b, 1, columns)
                continue
            if own_first:
                opened = forest.stage[parent] == 0
                w.entry[k] = k if opened else w.entry[up]
                for bit in range(2):
                    for t in range(rests):
                        f = 1.0
                        if not opened:
                            f = w.post[up, bit, t]
                            if forest.role[parent] != own:
                                f *= w.mix3[up, a, bit, t]
                        w.post[k, bit, t] = f
                        if role != own:
                            _normalise(
                                sums, at + bit * entries + first + w.rest_tier[1, t], 2 * entries, actions, w.mix3,
                                k, bit, t,
                            )  # fmt: skip
                if role != own:
                    for b in range(actions):
                        w.alive[k, 1 + b] = _chosen(w.mix3, k, b, 2, rests)
                if opened:
                    # Masses that the own card beats and that beat it.
                    for g in range(groups):
                        sums_at, total = g * _SUMS, g * MAX_TIERS
                        fill(w.prefix, sums_at, 0.0)
                        for t in range(columns):
                            put2(
                                w.prefix, sums_at + t + 1, w.prefix, sums_at + t, 1.0, w.total, total + t,
                                w.factor[up, t],
                            )  # fmt: skip
                    weak, beat = 2 * k * stride, (2 * k + 1) * stride
                    for i in range(rows):
                        split, g = w.rows[3, i], w.rows[5, i]
                        played, sums_at = (leaf * GROUPS + g) * stride, g * _SUMS
                        put1(w.halves, beat + i, w.prefix, sums_at + split, 1.0)
                        put2(
                            w.halves,
                            weak + i,
                            w.prefix,
                            sums_at + columns,
                            1.0,
                            w.prefix,
                            sums_at + split,
                            -1.0,
                        )
                        for which in range(1, 3):
                            e = w.rows[which, i]
                            if e >= 0:
                                t = w.column[e]
                                to = beat if t < split else weak
                                add1(w.halves, to + i, w.played, played + e, -w.factor[up, t])
            elif role != own:
                for t in range(columns):
                    _normalise(sums, at + first + w.column_at[t], entries, actions, w.mix3, k, 0, t)
        for node in range(last - 1, root - 1, -1):
            k = node - root
            if not w.alive[k, 0]:
                continue
            role, actions, late = forest.role[node], forest.actions[node], forest.stage[node] == 1
            turn = forest.kind[node] == TURN
            out = k * stride
            mine = role == own
            if late and not own_first:
                # All is known: utility by column and by whether the second player, the exploiter, wins.
                for bit in range(2):
                    show = gains[1 - bit, forest.level[node]]
                    for t in range(columns):
                        best = _LOWEST if mine else 0.0
                        for a in range(actions):
                            code = forest.child[node, a]
                            u = show
                            if code <= TERMINAL:
                                u = end_worth(code, own, gains)
                            elif not (turn and a == 0):
                                u = w.post[code - root, bit, t]
                            if mine:
                                best = max(best, u)
                            else:
                                best += w.mix3[k, a, 0, t] * u
                        w.post[k, bit, t] = best
                continue
            for a in range(actions):
                code = forest.child[node, a]
                fresh = a == 0
                if not w.alive[k, 1 + a]:
                    if fresh:
                        for i in range(rows):
                            fill(w.value3, out + i, 0.0)
                    continue
                if late and (code <= TERMINAL or (turn and a == 0)):
                    # own_first: a fold, or the second player's card
                    weak_worth = gains[0, forest.level[node]]
                    beat_worth = gains[1, forest.level[node]]
                    if code <= TERMINAL:
                        weak_worth = end_worth(code, own, gains)
                        beat_worth = weak_worth
                    lose = 2 * w.entry[k] * stride
                    win = lose + stride
                    for i in range(rows):
                        t = w.rows[4, i]
                        weak_part, beat_part = w.post[k, 0, t] * weak_worth, w.post[k, 1, t] * beat_worth
                        if not mine:
                            weak_part *= w.mix3[k, a, 0, t]
                            beat_part *= w.mix3[k, a, 1, t]
                        if fresh:
                            put2(
                                w.value3, out + i, w.halves, lose + i, weak_part, w.halves, win + i, beat_part
                            )
                        elif mine:
                            top2(
                                w.value3, out + i, w.halves, lose + i, weak_part, w.halves, win + i, beat_part
                            )
                        else:
                            add2(
                                w.value3, out + i, w.halves, lose + i, weak_part, w.halves, win + i, beat_part
                            )
                elif code <= TERMINAL:
                    worth = end_worth(code, own, gains)
                    for t in range(columns):
                        w.share[t] = w.factor[k, t] * (1.0 if mine else w.mix3[k, a, 0, t])
                    for g in range(groups):
                        fill(w.sum, g, 0.0)
                        for t in range(columns):
                            add1(w.sum, g, w.total, g * MAX_TIERS + t, w.share[t])
                    for i in range(rows):
                        e1, e2, g = w.rows[1, i], w.rows[2, i], w.rows[5, i]
                        played = (leaf * GROUPS + g) * stride
                        f1 = -worth * w.share[w.column[e1]] if e1 >= 0 else 0.0
                        f2 = -worth * w.share[w.column[e2]] if e2 >= 0 else 0.0
                        p1 = played + e1 if e1 >= 0 else none
                        p2 = played + e2 if e2 >= 0 else none
                        if fresh:
                            put3(w.value3, out + i, w.sum, g, worth, w.played, p1, f1, w.played, p2, f2)
                        elif mine:
                            top3(w.value3, out + i, w.sum, g, worth, w.played, p1, f1, w.played, p2, f2)
                        else:
                            add3(w.value3, out + i, w.sum, g, worth, w.played, p1, f1, w.played, p2, f2)
                elif turn and a == 0 and not mine:
                    # The other's first card: what it is worth by column and outcome.
                    post = w.post[code - root]
                    for t in range(columns):
                        w.share[t] = w.factor[k, t] * w.mix3[k, 0, 0, t]
                    for g in range(groups):
                        at, total = g * _SUMS, g * MAX_TIERS
                        for bit in range(2):
                            fill(w.prefix, at, 0.0)
                            for t in range(columns):
                                f = w.share[t] * post[bit, t]
                                put2(w.prefix, at + t + 1, w.prefix, at + t, 1.0, w.total, total + t, f)
                            at += MAX_TIERS + 1
                    for i in range(rows):
                        split, g = w.rows[3, i], w.rows[5, i]
                        played, lost = (leaf * GROUPS + g) * stride, g * _SUMS
                        won = lost + MAX_TIERS + 1
                        put3(
                            w.value3, out + i, w.prefix, lost + split, 1.0, w.prefix, won + columns, 1.0, w.prefix,
                            won + split, -1.0,
                        )  # fmt: skip
                        for which in range(1, 3):
                            e = w.rows[which, i]
                            if e >= 0:
                                t = w.column[e]
                                f = w.share[t] * post[0 if t < split else 1, t]
                                add1(w.value3, out + i, w.played, played + e, -f)
                else:
                    gather(w.value3, out, w.value3, (code - root) * stride, rows, 1.0, fresh, mine)
        for i in range(rows):
            add1(w.leaf_value, leaf * stride + w.rows[0, i], w.value3, i, 1.0)


@njit
def _normalise(
    sums: np.ndarray, at: int, stride: int, actions: int, mix: np.ndarray, k: int, bit: int, t: int
) -> None:
    """Average strategy of one holding to mix[k, :, bit, t]."""
    total = 0.0
    for a in range(actions):
        total += np.float64(sums[at + a * stride]) if actions > 1 else 1.0
    for a in range(actions):
        if actions == 1:
            mix[k, a, bit, t] = 1.0
        elif total > 0.0:
            mix[k, a, bit, t] = np.float64(sums[at + a * stride]) / total
        else:
            mix[k, a, bit, t] = 1.0 / actions


@njit
def _normalise2(
    sums: np.ndarray, at: int, stride: int, actions: int, equal: bool, mix: np.ndarray, k: int, j: int
) -> None:
    """Average strategy of one holding to mix[k, :, j]; `equal`: action 1 is none."""
    total = 0.0
    for a in range(actions):
        if not (equal and a == 1):
            total += np.float64(sums[at + a * stride])
    legal = actions - 1 if equal else actions
    for a in range(actions):
        if equal and a == 1:
            mix[k, a, j] = 0.0
        elif total > 0.0:
            mix[k, a, j] = np.float64(sums[at + a * stride]) / total
        else:
            mix[k, a, j] = 1.0 / legal


@njit
def _table_at(forest: Forest, node: int, begin: int, sizes: np.ndarray) -> int:
    at = begin
    for i in range(6):
        at += forest.place[node, i] * sizes[i]
    return at


@njit
def _pair_mass(
    w: Room, m: int, groups: int, begin: int, end: int, cards: np.ndarray, rests: np.ndarray, ordered: bool
) -> None:
    """w.mass[r] = sum of w.line over the other's pairs disjoint from own cards[r], rests[r].

    The rows are own ordered pairs, or else own pairs.
    """
    size, half = len(w.tier), w.own.shape[1]
    for g in range(groups):
        single, line = g * size, g * half
        fill(w.sum, g, 0.0)
        for j in range(m):
            add1(w.sum, g, w.line, line + j, 1.0)
            add1(w.single, single + w.other[0, j], w.line, line + j, 1.0)
            add1(w.single, single + w.other[1, j], w.line, line + j, 1.0)
    for r in range(begin, end):
        c, z, g = cards[r], rests[r], w.own_group[w.own_pair[r] if ordered else r]
        put3(w.mass, r, w.sum, g, 1.0, w.single, g * size + c, -1.0, w.single, g * size + z, -1.0)
        j = w.pair_at[min(c, z), max(c, z)]
        if j >= 0:
            add1(w.mass, r, w.line, g * half + j, 1.0)
    for g in range(groups):
        for j in range(m):
            fill(w.single, g * size + w.other[0, j], 0.0)
            fill(w.single, g * size + w.other[1, j], 0.0)


@njit
def _line(w: Room, k: int, a: int, m: int, groups: int, mine: bool) -> None:
    """w.line = the other's reach by pair behind action a of node k."""
    for g in range(groups):
        line, at = g * w.own.shape[1], (k * GROUPS + g) * len(w.own_card)
        for j in range(m):
            put1(w.line, line + j, w.reach, at + j, 1.0 if mine else w.mix[k, a, j])


@njit
def _set_up(w: Room, n: int, m: int) -> None:
    """Ordered pairs of both sides from w.own and w.other."""
    tier, cards = w.tier, len(w.tier)
    w.own_start[:] = 0
    for i in range(n):
        w.own_start[tier[w.own[0, i]] + 1] += 1
        w.own_start[tier[w.own[1, i]] + 1] += 1
    for t in range(MAX_TIERS):
        w.own_start[t + 1] += w.own_start[t]
    for i in range(n):
        for which in range(2):
            c = w.own[which, i]
            r = w.own_start[tier[c]]
            w.own_start[tier[c]] = r + 1
            w.own_card[r], w.own_rest[r], w.own_pair[r] = c, w.own[1 - which, i], i
            w.own_at[which, i] = r
    for t in range(MAX_TIERS, 0, -1):
        w.own_start[t] = w.own_start[t - 1]
    w.own_start[0] = 0
    w.other_start[:] = 0
    for j in range(m):
        w.other_start[w.other[0, j] + 1] += 1
        w.other_start[w.other[1, j] + 1] += 1
        w.pair_at[w.other[0, j], w.other[1, j]] = j
    for c in range(cards):
        w.other_start[c + 1] += w.other_start[c]
    # First those whose rest is the lower card: with pairs in order, rests ascend.
    for which in (1, 0):
        for j in range(m):
            c, rest = w.other[which, j], w.other[1 - which, j]
            e = w.other_start[c]
            w.other_start[c] = e + 1
            equal = tier[c] == tier[rest]
            w.other_rest[e], w.other_pair[e] = rest, j
            w.other_slot[e] = 0 if equal else which
            w.other_share[e] = 0.5 if equal else 1.0
    for c in range(cards, 0, -1):
        w.other_start[c] = w.other_start[c - 1]
    w.other_start[0] = 0


@njit
def respond(
    forest: Forest, lists: Lists, left: np.ndarray, w: Room, sums: np.ndarray, root: int, begin: int,
    sizes: np.ndarray, gl: int, gf: int, tie: bool, own_leads: bool, n: int, m: int, groups: int,
    gains: np.ndarray,
) -> None:  # fmt: skip
    """Best response from the start of trick 2; values by own pair to the first n rows of w.before.

    Reads own pairs (w.own[:, :n], w.own_group), the other's (w.other[:, :m], in ascending order, disjoint pairs of
    cards of which none is a first card) and w.other_reach. `left` [list, played tier, tier left]: place in
    lists.left_tier. gains float64 [2, 5]: the exploiter's utility by (he wins, he loses) and points. Other
    arguments as solve_block.
    """
    _set_up(w, n, m)
    tier, cards, tiers, stride = w.tier, len(w.tier), lists.left_count.shape[1], len(w.own_card)
    half = w.own.shape[1]
    own = 0 if own_leads else 1
    last = root + forest.nodes[root]
    leaves = 0
    for node in range(root, last):
        if forest.stage[node] == 1 and forest.kind[node] == TURN:
            w.leaf_node[leaves] = node
            leaves += 1
    stride0 = sizes[1] if own_leads else sizes[0]
    for node in range(root, last):
        if forest.stage[node] == 1:
            continue
        k = node - root
        parent = forest.parent[node]
        turn = forest.kind[node] == TURN
        for g in range(groups):
            to = (k * GROUPS + g) * stride
            up = parent - root
            for j in range(m):
                if k == 0:
                    put1(w.reach, to + j, w.other_reach, g * half + j, 1.0)
                else:
                    f = w.mix[up, forest.action[node], j] if forest.role[parent] != own else 1.0
                    put1(w.reach, to + j, w.reach, (up * GROUPS + g) * stride + j, f)
        if forest.role[node] != own:
            at = _table_at(forest, node, begin, sizes)
            for j in range(m):
                equal = turn and tier[w.other[0, j]] == tier[w.other[1, j]]
                _normalise2(sums, at + w.other[2, j], stride0, forest.actions[node], equal, w.mix, k, j)
        if turn:
            for i in range(n):
                fill(w.cards, k * stride + i, _LOWEST if own_leads else 0.0)
    if own_leads:
        for x in range(tiers):
            if w.own_start[x] == w.own_start[x + 1]:
                continue
            _lead(forest, lists, left, w, sums, root, begin, sizes, gl, gf, tie, x, m, leaves, groups, gains)
    else:
        for card in range(cards):
            if w.other_start[card] == w.other_start[card + 1]:
                continue
            _follow(
                forest, lists, left, w, sums, root, begin, sizes, gl, gf, tie, card, n, leaves, groups, gains
            )
    for node in range(last - 1, root - 1, -1):
        if forest.stage[node] == 1:
            continue
        k = node - root
        mine, turn = forest.role[node] == own, forest.kind[node] == TURN
        out = k * stride
        if turn:
            gather(w.before, out, w.cards, out, n, 1.0, True, mine)
        for a in range(1 if turn else 0, 3):
            code = forest.child[node, a]
            if code == -1:
                continue
            if code <= TERMINAL:
                _line(w, k, a, m, groups, mine)
                _pair_mass(w, m, groups, 0, n, w.own[0], w.own[1], False)
                gather(w.before, out, w.mass, 0, n, end_worth(code, own, gains), a == 0, mine)
            else:
                gather(w.before, out, w.before, (code - root) * stride, n, 1.0, a == 0, mine)
    for j in range(m):
        w.pair_at[w.other[0, j], w.other[1, j]] = -1


@njit
def _lead(
    forest: Forest, lists: Lists, left: np.ndarray, w: Room, sums: np.ndarray, root: int, begin: int,
    sizes: np.ndarray, gl: int, gf: int, tie: bool, x: int, m: int, leaves: int, groups: int, gains: np.ndarray,
) -> None:  # fmt: skip
    """Trick 2 after the exploiter has led a card of tier x: best cards to w.cards."""
    tier, cards, stride = w.tier, len(w.tier), len(w.own_card)
    last = root + forest.nodes[root]
    first, end = w.own_start[x], w.own_start[x + 1]
    leaf = 0
    for node in range(root, last):
        if forest.stage[node] == 0:
            continue
        k = node - root
        parent = forest.parent[node]
        up, a = parent - root, forest.action[node]
        turn = forest.kind[node] == TURN
        theirs = forest.stage[parent] == 1 and forest.role[parent] == 1
        for g in range(groups):
            to, of = (k * GROUPS + g) * stride, (up * GROUPS + g) * stride
            for j in range(m):
                put1(w.reach, to + j, w.reach, of + j, w.mix[up, a, j] if theirs else 1.0)
        if forest.role[node] == 1:
            at = _table_at(forest, node, begin, sizes) + x * sizes[1]
            for j in range(m):
                equal = turn and tier[w.other[0, j]] == tier[w.other[1, j]]
                _normalise2(sums, at + w.other[2, j], sizes[2], forest.actions[node], equal, w.mix, k, j)
        if turn:
            for e in range(2 * m):
                j = w.other_pair[e]
                f = w.mix[k, w.other_slot[e], j] * w.other_share[e]
                for g in range(groups):
                    to, of = (leaf * GROUPS + g) * stride, (k * GROUPS + g) * stride
                    put1(w.played, to + e, w.reach, of + j, f)
            for r in range(first, end):
                fill(w.leaf_value, leaf * stride + r, 0.0)
            leaf += 1
    for card in range(cards):
        if w.other_start[card] < w.other_start[card + 1]:
            solve_third(
                forest, lists, left, w, sums, begin, sizes, gl, gf, tie, True, x, card, leaves, groups, gains
            )
    leaf = leaves
    for node in range(last - 1, root - 1, -1):
        if forest.stage[node] == 0:
            continue
        k = node - root
        mine, turn = forest.role[node] == 0, forest.kind[node] == TURN
        out = k * stride + first
        if turn:
            leaf -= 1
            gather(w.value, out, w.leaf_value, leaf * stride + first, end - first, 1.0, True, mine)
        for a in range(1 if turn else 0, 3):
            code = forest.child[node, a]
            if code == -1:
                continue
            if code <= TERMINAL:
                _line(w, k, a, m, groups, mine)
                _pair_mass(w, m, groups, first, end, w.own_card, w.own_rest, True)
                gather(w.value, out, w.mass, first, end - first, end_worth(code, 0, gains), a == 0, mine)
            else:
                below = (code - root) * stride + first
                gather(w.value, out, w.value, below, end - first, 1.0, a == 0, mine)
    for node in range(root, last):
        if forest.stage[node] == 0 and forest.kind[node] == TURN:
            below, out = (forest.child[node, 0] - root) * stride, (node - root) * stride
            for r in range(first, end):
                top1(w.cards, out + w.own_pair[r], w.value, below + r, 1.0)


@njit
def _follow(
    forest: Forest, lists: Lists, left: np.ndarray, w: Room, sums: np.ndarray, root: int, begin: int,
    sizes: np.ndarray, gl: int, gf: int, tie: bool, card: int, n: int, leaves: int, groups: int, gains: np.ndarray,
) -> None:  # fmt: skip
    """Trick 2 after the other has led this real card: values added to w.cards."""
    tier, cards, tiers, stride = w.tier, len(w.tier), lists.left_count.shape[1], len(w.own_card)
    last = root + forest.nodes[root]
    low, high = w.other_start[card], w.other_start[card + 1]
    x = tier[card]
    leaf = 0
    dead = True
    for node in range(root, last):
        if forest.stage[node] == 0:
            continue
        k = node - root
        parent = forest.parent[node]
        up, a = parent - root, forest.action[node]
        for g in range(groups):
            to, of = (k * GROUPS + g) * stride, (up * GROUPS + g) * stride
            if forest.stage[parent] == 0:
                for e in range(low, high):
                    j = w.other_pair[e]
                    # Reach before the card is stored by pair, after it by ordered pair, in rows of different nodes.
                    f = w.mix[up, w.other_slot[e], j] * w.other_share[e]
                    put1(w.reach, to + e, w.reach, of + j, f)
                    dead = dead and is_zero(w.reach, to + e)
            else:
                for e in range(low, high):
                    f = w.mix[up, a, e] if forest.role[parent] == 0 else 1.0
                    put1(w.reach, to + e, w.reach, of + e, f)
        if forest.role[node] == 0:
            at = _table_at(forest, node, begin, sizes) + lists.offset[gl, x]
            for e in range(low, high):
                place = at + left[gl, x, tier[w.other_rest[e]]]
                _normalise2(sums, place, sizes[3], forest.actions[node], False, w.mix, k, e)
        if forest.kind[node] == TURN:
            for g in range(groups):
                to, of = (leaf * GROUPS + g) * stride, (k * GROUPS + g) * stride
                for e in range(low, high):
                    put1(w.played, to + e, w.reach, of + e, 1.0)
            for r in range(2 * n):
                fill(w.leaf_value, leaf * stride + r, 0.0)
            leaf += 1
    if dead:
        return
    for y in range(tiers):
        if w.own_start[y] < w.own_start[y + 1]:
            solve_third(
                forest, lists, left, w, sums, begin, sizes, gl, gf, tie, False, y, card, leaves, groups, gains
            )
    leaf = leaves
    for node in range(last - 1, root - 1, -1):
        if forest.stage[node] == 0:
            continue
        k = node - root
        mine, turn = forest.role[node] == 1, forest.kind[node] == TURN
        out = k * stride
        if turn:
            leaf -= 1
            for i in range(n):
                put1(w.value, out + i, w.leaf_value, leaf * stride + w.own_at[0, i], 1.0)
                top1(w.value, out + i, w.leaf_value, leaf * stride + w.own_at[1, i], 1.0)
        for a in range(1 if turn else 0, 3):
            code = forest.child[node, a]
            if code == -1:
                continue
            if code <= TERMINAL:
                for g in range(groups):
                    at = (k * GROUPS + g) * stride
                    fill(w.sum, g, 0.0)
                    for e in range(low, high):
                        f = 1.0 if mine else w.mix[k, a, e]
                        put1(w.single, g * cards + w.other_rest[e], w.reach, at + e, f)
                        add1(w.sum, g, w.reach, at + e, f)
                for i in range(n):
                    g = w.own_group[i]
                    c, z = g * cards + w.own[0, i], g * cards + w.own[1, i]
                    put3(w.mass, i, w.sum, g, 1.0, w.single, c, -1.0, w.single, z, -1.0)
                for g in range(groups):
                    for e in range(low, high):
                        fill(w.single, g * cards + w.other_rest[e], 0.0)
                gather(w.value, out, w.mass, 0, n, end_worth(code, 1, gains), a == 0, mine)
            else:
                gather(w.value, out, w.value, (code - root) * stride, n, 1.0, a == 0, mine)
    for node in range(root, last):
        if forest.stage[node] == 0 and forest.kind[node] == TURN:
            below, out = (forest.child[node, 0] - root) * stride, (node - root) * stride
            for i in range(n):
                if w.own[0, i] != card and w.own[1, i] != card:
                    add1(w.cards, out + i, w.value, below + i, 1.0)
