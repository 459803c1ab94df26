"""Best responses in tricks 2 and 3 on real cards, in numba: the exploiter sees suits, the policy only tiers.

Everything is seen from the exploiter ("own"). His rows are pairs of real cards; what the policy may hold are real
pairs too, with its reach. Its tables depend on tiers alone, so sums over what it holds are taken by tier and
corrected for the cards that the exploiter himself holds. Values are counterfactual: sums over the other's real
holdings of reach x utility, float64. Cards are numbered from the strongest tier to the weakest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from solver.truco.vector.kernels import MAX_NODES, MAX_TIERS, Forest, Lists
from solver.truco.vector.trees import END, LEAF, TURN

MAX_CARDS = 40
_LEAVES = MAX_NODES  # at most one for each node
_ROWS = 2 * (MAX_CARDS * (MAX_CARDS - 1) // 2)
_LOWEST = -1e300


class Room(NamedTuple):
    """Working memory of one thread and the sides of a situation; `i` an own pair, `r` an own ordered pair (played
    card first), `j` a pair of the other's, `e` an ordered one.
    """

    tier: np.ndarray
    """int64 [cards]: ascending."""
    own: np.ndarray
    """int64 [2, i]: lower and higher card."""
    other: np.ndarray
    """int64 [3, j]: lower and higher card, place in the holdings list."""
    other_reach: np.ndarray
    """float64 [j]."""
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
    """float64 [node, e]: the other's reach."""
    mix: np.ndarray
    """float64 [node, 3, e]: the other's strategy."""
    line: np.ndarray
    """float64 [e]."""
    single: np.ndarray
    """float64 [cards]; zero outside calls."""
    value: np.ndarray
    """float64 [node, r]."""
    before: np.ndarray
    """float64 [node, i]: stage 0."""
    cards: np.ndarray
    """float64 [node, i]: best card, or sums over the other's cards."""
    mass: np.ndarray
    """float64 [r]."""
    played: np.ndarray
    """float64 [leaf, e]: reach where trick 2 is over."""
    leaf_node: np.ndarray
    leaf_value: np.ndarray
    """float64 [leaf, r]."""
    place: np.ndarray
    """int64 [cards]: ordered pair of the other's with this rest; -1 outside calls."""
    column: np.ndarray
    """int64 [e]: number among the tiers left to the other; column_tier the tier, column_at its table place."""
    column_tier: np.ndarray
    column_at: np.ndarray
    rows: np.ndarray
    """int64 [5, r]: r, entry of c, entry of z (-1: none), split of columns, number of z's tier."""
    rest_tier: np.ndarray
    """int64 [2, tiers]: tiers of own cards left and their table places."""
    rest_number: np.ndarray
    """int64 [tiers]."""
    total: np.ndarray
    """float64 [tier column]: reach by tier."""
    factor: np.ndarray
    """float64 [node, column]: the other's strategy along the way in trick 3."""
    prefix: np.ndarray
    """float64 [2, column + 1]."""
    mix3: np.ndarray
    """float64 [node, 3, 2, column]."""
    post: np.ndarray
    """float64 [node, 2, column]: strategy along the way, or values, after the first card of trick 3."""
    halves: np.ndarray
    """float64 [node, 2, r]: masses that lose or win against the own card, at entries of stage 1."""
    entry: np.ndarray
    """int64 [node]."""
    value3: np.ndarray
    """float64 [node, r]."""


@njit(cache=True)
def make_room(tier: np.ndarray) -> Room:
    """Memory for a deck with these tiers by card."""
    cards, nodes, rows = len(tier), MAX_NODES, len(tier) * (len(tier) - 1)
    half = rows // 2
    ints, real = np.int64, np.float64
    return Room(
        tier, np.zeros((2, half), ints), np.zeros((3, half), ints), np.zeros(half, real),
        np.zeros(MAX_TIERS + 1, ints), np.zeros(rows, ints), np.zeros(rows, ints), np.zeros(rows, ints),
        np.zeros((2, half), ints), np.zeros(cards + 2, ints), np.zeros(rows, ints), np.zeros(rows, ints),
        np.zeros(rows, ints), np.zeros(rows, real), np.full((cards, cards), -1, ints),
        np.zeros((nodes, rows), real), np.zeros((nodes, 3, rows), real), np.zeros(rows, real),
        np.zeros(cards, real), np.zeros((nodes, rows), real), np.zeros((nodes, half), real),
        np.zeros((nodes, half), real), np.zeros(rows, real), np.zeros((_LEAVES, rows), real),
        np.zeros(_LEAVES, ints), np.zeros((_LEAVES, rows), real), np.full(cards, -1, ints), np.zeros(rows, ints),
        np.zeros(MAX_TIERS, ints), np.zeros(MAX_TIERS, ints), np.zeros((5, rows), ints),
        np.zeros((2, MAX_TIERS), ints), np.zeros(MAX_TIERS, ints), np.zeros(MAX_TIERS, real),
        np.zeros((nodes, MAX_TIERS), real), np.zeros((2, MAX_TIERS + 1), real),
        np.zeros((nodes, 3, 2, MAX_TIERS), real), np.zeros((nodes, 2, MAX_TIERS), real),
        np.zeros((nodes, 2, rows), real), np.zeros(nodes, ints), np.zeros((nodes, rows), real),
    )  # fmt: skip


@njit(cache=True)
def _worth(code: int, own: int, gains: np.ndarray) -> float:
    """Utility of an END code for the exploiter in this role."""
    return gains[0 if (END - code) // 5 == own else 1, (END - code) % 5]


@njit(cache=True)
def _third(
    forest: Forest, lists: Lists, left: np.ndarray, w: Room, sums: np.ndarray, begin: int, sizes: np.ndarray,
    gl: int, gf: int, tie: bool, own_leads: bool, own_tier: int, card: int, leaves: int, gains: np.ndarray,
) -> None:  # fmt: skip
    """Adds to w.leaf_value what follows own cards of a tier and the other's real card in trick 2, for all leaves of
    its tree. Reads the other's reach there from w.played.
    """
    tier = w.tier
    x, y = (own_tier, tier[card]) if own_leads else (tier[card], own_tier)
    low, high = w.other_start[card], w.other_start[card + 1]
    first_row, last_row = w.own_start[own_tier], w.own_start[own_tier + 1]
    decided = y != x if tie else y >= x
    if decided:
        own_wins = (tie and y < x) != own_leads
        for leaf in range(leaves):
            total = 0.0
            for e in range(low, high):
                total += w.played[leaf, e]
            if total == 0.0:
                continue
            for e in range(low, high):
                w.single[w.other_rest[e]] = w.played[leaf, e]
            level = forest.leaf_level[forest.child[w.leaf_node[leaf], 0] - LEAF]
            worth = gains[0 if own_wins else 1, level]
            for r in range(first_row, last_row):
                c, z = w.own_card[r], w.own_rest[r]
                if c != card and z != card:
                    w.leaf_value[leaf, r] += worth * (total - w.single[c] - w.single[z])
            for e in range(low, high):
                w.single[w.other_rest[e]] = 0.0
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
        w.rows[3, rows], w.rows[4, rows] = split, w.rest_number[t]
        rows += 1
    for e in range(low, high):
        w.place[w.other_rest[e]] = -1
    if rows == 0:
        return
    for leaf in range(leaves):
        for t in range(columns):
            w.total[t] = 0.0
        total = 0.0
        for e in range(low, high):
            w.total[w.column[e]] += w.played[leaf, e]
            total += w.played[leaf, e]
        if total == 0.0:
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
                if opened:
                    # Masses that the own card beats and that beat it.
                    w.prefix[0, 0] = 0.0
                    for t in range(columns):
                        w.prefix[0, t + 1] = w.prefix[0, t] + w.total[t] * w.factor[up, t]
                    for i in range(rows):
                        split = w.rows[3, i]
                        beat = w.prefix[0, split]
                        weak = w.prefix[0, columns] - beat
                        for which in range(1, 3):
                            e = w.rows[which, i]
                            if e >= 0:
                                t = w.column[e]
                                m = w.played[leaf, e] * w.factor[up, t]
                                if t < split:
                                    beat -= m
                                else:
                                    weak -= m
                        w.halves[k, 0, i], w.halves[k, 1, i] = weak, beat
            elif role != own:
                for t in range(columns):
                    _normalise(sums, at + first + w.column_at[t], entries, actions, w.mix3, k, 0, t)
        for node in range(last - 1, root - 1, -1):
            k = node - root
            role, actions, late = forest.role[node], forest.actions[node], forest.stage[node] == 1
            turn = forest.kind[node] == TURN
            out = w.value3[k]
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
                            if code <= END:
                                u = _worth(code, own, gains)
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
                if late and (code <= END or (turn and a == 0)):
                    # own_first: a fold, or the second player's card
                    weak_worth = gains[0, forest.level[node]]
                    beat_worth = gains[1, forest.level[node]]
                    if code <= END:
                        weak_worth = _worth(code, own, gains)
                        beat_worth = weak_worth
                    half = w.halves[w.entry[k]]
                    for i in range(rows):
                        t = w.rows[4, i]
                        weak, beat = w.post[k, 0, t] * weak_worth, w.post[k, 1, t] * beat_worth
                        if not mine:
                            weak *= w.mix3[k, a, 0, t]
                            beat *= w.mix3[k, a, 1, t]
                        u = half[0, i] * weak + half[1, i] * beat
                        if fresh:
                            out[i] = u
                        elif mine:
                            out[i] = max(out[i], u)
                        else:
                            out[i] += u
                elif code <= END:
                    worth = _worth(code, own, gains)
                    total = 0.0
                    for t in range(columns):
                        f = w.factor[k, t] * (1.0 if mine else w.mix3[k, a, 0, t])
                        w.prefix[1, t] = f
                        total += w.total[t] * f
                    for i in range(rows):
                        m = total
                        for which in range(1, 3):
                            e = w.rows[which, i]
                            if e >= 0:
                                m -= w.played[leaf, e] * w.prefix[1, w.column[e]]
                        u = m * worth
                        if fresh:
                            out[i] = u
                        elif mine:
                            out[i] = max(out[i], u)
                        else:
                            out[i] += u
                elif turn and a == 0 and not mine:
                    # The other's first card: what it is worth by column and outcome.
                    post = w.post[code - root]
                    w.prefix[0, 0] = 0.0
                    w.prefix[1, 0] = 0.0
                    for t in range(columns):
                        f = w.factor[k, t] * w.mix3[k, 0, 0, t]
                        w.prefix[0, t + 1] = w.prefix[0, t] + w.total[t] * f * post[0, t]
                        w.prefix[1, t + 1] = w.prefix[1, t] + w.total[t] * f * post[1, t]
                    for i in range(rows):
                        split = w.rows[3, i]
                        u = w.prefix[0, split] + w.prefix[1, columns] - w.prefix[1, split]
                        for which in range(1, 3):
                            e = w.rows[which, i]
                            if e >= 0:
                                t = w.column[e]
                                f = w.factor[k, t] * w.mix3[k, 0, 0, t]
                                u -= w.played[leaf, e] * f * post[0 if t < split else 1, t]
                        out[i] = u
                else:
                    below = w.value3[code - root]
                    for i in range(rows):
                        if fresh:
                            out[i] = below[i]
                        elif mine:
                            out[i] = max(out[i], below[i])
                        else:
                            out[i] += below[i]
        for i in range(rows):
            w.leaf_value[leaf, w.rows[0, i]] += w.value3[0, i]


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
def _table_at(forest: Forest, node: int, begin: int, sizes: np.ndarray) -> int:
    at = begin
    for i in range(6):
        at += forest.place[node, i] * sizes[i]
    return at


@njit(cache=True)
def _pair_mass(
    w: Room, m: int, line: np.ndarray, begin: int, end: int, cards: np.ndarray, rests: np.ndarray
) -> None:
    """w.mass[r] = sum of line over the other's pairs disjoint from own cards[r], rests[r]."""
    total = 0.0
    for j in range(m):
        total += line[j]
        w.single[w.other[0, j]] += line[j]
        w.single[w.other[1, j]] += line[j]
    for r in range(begin, end):
        c, z = cards[r], rests[r]
        j = w.pair_at[min(c, z), max(c, z)]
        w.mass[r] = total - w.single[c] - w.single[z] + (line[j] if j >= 0 else 0.0)
    for j in range(m):
        w.single[w.other[0, j]] = 0.0
        w.single[w.other[1, j]] = 0.0


@njit(cache=True)
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


@njit(cache=True)
def respond(
    forest: Forest, lists: Lists, left: np.ndarray, w: Room, sums: np.ndarray, root: int, begin: int,
    sizes: np.ndarray, gl: int, gf: int, tie: bool, own_leads: bool, n: int, m: int, gains: np.ndarray,
) -> None:  # fmt: skip
    """Best response from the start of trick 2; values by own pair to w.before[0, :n].

    Reads own pairs (w.own[:, :n]), the other's (w.other[:, :m], in ascending order, disjoint pairs of cards of which
    none is a first card) and w.other_reach. `left` [list, played tier, tier left]: place in lists.left_tier.
    gains float64 [2, 5]: the exploiter's utility by (he wins, he loses) and points. Other arguments as solve_block.
    """
    _set_up(w, n, m)
    tier, cards, tiers = w.tier, len(w.tier), lists.left_count.shape[1]
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
        if k == 0:
            for j in range(m):
                w.reach[0, j] = w.other_reach[j]
        elif forest.role[parent] != own:
            for j in range(m):
                w.reach[k, j] = w.reach[parent - root, j] * w.mix[parent - root, forest.action[node], j]
        else:
            for j in range(m):
                w.reach[k, j] = w.reach[parent - root, j]
        if forest.role[node] != own:
            at = _table_at(forest, node, begin, sizes)
            for j in range(m):
                equal = turn and tier[w.other[0, j]] == tier[w.other[1, j]]
                _normalise2(sums, at + w.other[2, j], stride0, forest.actions[node], equal, w.mix, k, j)
        if turn:
            for i in range(n):
                w.cards[k, i] = _LOWEST if own_leads else 0.0
    if own_leads:
        for x in range(tiers):
            if w.own_start[x] == w.own_start[x + 1]:
                continue
            _lead(forest, lists, left, w, sums, root, begin, sizes, gl, gf, tie, x, m, leaves, gains)
    else:
        for card in range(cards):
            if w.other_start[card] == w.other_start[card + 1]:
                continue
            _follow(forest, lists, left, w, sums, root, begin, sizes, gl, gf, tie, card, n, leaves, gains)
    for node in range(last - 1, root - 1, -1):
        if forest.stage[node] == 1:
            continue
        k = node - root
        mine, turn = forest.role[node] == own, forest.kind[node] == TURN
        out = w.before[k]
        if turn:
            for i in range(n):
                out[i] = w.cards[k, i]
        for a in range(1 if turn else 0, 3):
            code = forest.child[node, a]
            if code == -1:
                continue
            below = w.mass
            worth = 1.0
            if code <= END:
                worth = _worth(code, own, gains)
                for j in range(m):
                    w.line[j] = w.reach[k, j] * (1.0 if mine else w.mix[k, a, j])
                _pair_mass(w, m, w.line, 0, n, w.own[0], w.own[1])
            else:
                below = w.before[code - root]
            for i in range(n):
                u = worth * below[i]
                if a == 0:
                    out[i] = u
                elif mine:
                    out[i] = max(out[i], u)
                else:
                    out[i] += u
    for j in range(m):
        w.pair_at[w.other[0, j], w.other[1, j]] = -1


@njit(cache=True)
def _lead(
    forest: Forest, lists: Lists, left: np.ndarray, w: Room, sums: np.ndarray, root: int, begin: int,
    sizes: np.ndarray, gl: int, gf: int, tie: bool, x: int, m: int, leaves: int, gains: np.ndarray,
) -> None:  # fmt: skip
    """Trick 2 after the exploiter has led a card of tier x: best cards to w.cards."""
    tier, cards = w.tier, len(w.tier)
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
        if forest.stage[parent] == 1 and forest.role[parent] == 1:
            for j in range(m):
                w.reach[k, j] = w.reach[up, j] * w.mix[up, a, j]
        else:
            for j in range(m):
                w.reach[k, j] = w.reach[up, j]
        if forest.role[node] == 1:
            at = _table_at(forest, node, begin, sizes) + x * sizes[1]
            for j in range(m):
                equal = turn and tier[w.other[0, j]] == tier[w.other[1, j]]
                _normalise2(sums, at + w.other[2, j], sizes[2], forest.actions[node], equal, w.mix, k, j)
        if turn:
            for e in range(2 * m):
                j = w.other_pair[e]
                w.played[leaf, e] = w.reach[k, j] * w.mix[k, w.other_slot[e], j] * w.other_share[e]
            for r in range(first, end):
                w.leaf_value[leaf, r] = 0.0
            leaf += 1
    for card in range(cards):
        if w.other_start[card] < w.other_start[card + 1]:
            _third(forest, lists, left, w, sums, begin, sizes, gl, gf, tie, True, x, card, leaves, gains)
    leaf = leaves
    for node in range(last - 1, root - 1, -1):
        if forest.stage[node] == 0:
            continue
        k = node - root
        mine, turn = forest.role[node] == 0, forest.kind[node] == TURN
        out = w.value[k]
        if turn:
            leaf -= 1
            for r in range(first, end):
                out[r] = w.leaf_value[leaf, r]
        for a in range(1 if turn else 0, 3):
            code = forest.child[node, a]
            if code == -1:
                continue
            below = w.mass
            worth = 1.0
            if code <= END:
                worth = _worth(code, 0, gains)
                for j in range(m):
                    w.line[j] = w.reach[k, j] * (1.0 if mine else w.mix[k, a, j])
                _pair_mass(w, m, w.line, first, end, w.own_card, w.own_rest)
            else:
                below = w.value[code - root]
            for r in range(first, end):
                u = worth * below[r]
                if a == 0:
                    out[r] = u
                elif mine:
                    out[r] = max(out[r], u)
                else:
                    out[r] += u
    for node in range(root, last):
        if forest.stage[node] == 0 and forest.kind[node] == TURN:
            below = w.value[forest.child[node, 0] - root]
            out = w.cards[node - root]
            for r in range(first, end):
                i = w.own_pair[r]
                out[i] = max(out[i], below[r])


@njit(cache=True)
def _follow(
    forest: Forest, lists: Lists, left: np.ndarray, w: Room, sums: np.ndarray, root: int, begin: int,
    sizes: np.ndarray, gl: int, gf: int, tie: bool, card: int, n: int, leaves: int, gains: np.ndarray,
) -> None:  # fmt: skip
    """Trick 2 after the other has led this real card: values added to w.cards."""
    tier, tiers = w.tier, lists.left_count.shape[1]
    last = root + forest.nodes[root]
    low, high = w.other_start[card], w.other_start[card + 1]
    x = tier[card]
    leaf = 0
    any_reach = 0.0
    for node in range(root, last):
        if forest.stage[node] == 0:
            continue
        k = node - root
        parent = forest.parent[node]
        up, a = parent - root, forest.action[node]
        if forest.stage[parent] == 0:
            for e in range(low, high):
                j = w.other_pair[e]
                # Reach before the card is stored by pair, after it by ordered pair, in rows of different nodes.
                r = w.reach[up, j] * w.mix[up, w.other_slot[e], j] * w.other_share[e]
                w.reach[k, e] = r
                any_reach += r
        elif forest.role[parent] == 0:
            for e in range(low, high):
                w.reach[k, e] = w.reach[up, e] * w.mix[up, a, e]
        else:
            for e in range(low, high):
                w.reach[k, e] = w.reach[up, e]
        if forest.role[node] == 0:
            at = _table_at(forest, node, begin, sizes) + lists.offset[gl, x]
            for e in range(low, high):
                place = at + left[gl, x, tier[w.other_rest[e]]]
                _normalise2(sums, place, sizes[3], forest.actions[node], False, w.mix, k, e)
        if forest.kind[node] == TURN:
            for e in range(low, high):
                w.played[leaf, e] = w.reach[k, e]
            for r in range(2 * n):
                w.leaf_value[leaf, r] = 0.0
            leaf += 1
    if any_reach == 0.0:
        return
    for y in range(tiers):
        if w.own_start[y] < w.own_start[y + 1]:
            _third(forest, lists, left, w, sums, begin, sizes, gl, gf, tie, False, y, card, leaves, gains)
    leaf = leaves
    for node in range(last - 1, root - 1, -1):
        if forest.stage[node] == 0:
            continue
        k = node - root
        mine, turn = forest.role[node] == 1, forest.kind[node] == TURN
        out = w.value[k]
        if turn:
            leaf -= 1
            for i in range(n):
                out[i] = max(w.leaf_value[leaf, w.own_at[0, i]], w.leaf_value[leaf, w.own_at[1, i]])
        for a in range(1 if turn else 0, 3):
            code = forest.child[node, a]
            if code == -1:
                continue
            below = w.mass
            worth = 1.0
            if code <= END:
                worth = _worth(code, 1, gains)
                total = 0.0
                for e in range(low, high):
                    f = w.reach[k, e] * (1.0 if mine else w.mix[k, a, e])
                    w.single[w.other_rest[e]] = f
                    total += f
                for i in range(n):
                    w.mass[i] = total - w.single[w.own[0, i]] - w.single[w.own[1, i]]
                for e in range(low, high):
                    w.single[w.other_rest[e]] = 0.0
            else:
                below = w.value[code - root]
            for i in range(n):
                u = worth * below[i]
                if a == 0:
                    out[i] = u
                elif mine:
                    out[i] = max(out[i], u)
                else:
                    out[i] += u
    for node in range(root, last):
        if forest.stage[node] == 0 and forest.kind[node] == TURN:
            below = w.value[forest.child[node, 0] - root]
            out = w.cards[node - root]
            for i in range(n):
                if w.own[0, i] != card and w.own[1, i] != card:
                    out[i] += below[i]
