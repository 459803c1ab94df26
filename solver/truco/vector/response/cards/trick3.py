"""Best responses in trick 3 on real cards, in numba; see trick2.py for what rows, groups and lanes are.

The policy's tables depend on tiers alone, so sums over what it holds are taken by tier ("column") and corrected for
the cards that the exploiter himself holds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solver.jit import inner
from solver.truco.vector.cfr.average import average_shares
from solver.truco.vector.model.address import ThirdSpan, table_at, third_at, third_rows, third_span
from solver.truco.vector.model.forest import MAX_TIERS
from solver.truco.vector.model.trees import LEAF, TERMINAL, TURN, terminal_worth
from solver.truco.vector.response.book import LOWEST, Book, Situation
from solver.truco.vector.response.cards.lanes import (
    add1,
    add3,
    fill,
    is_zero,
    join2,
    join3,
    join_rows,
    put1,
    put2,
    put3,
)
from solver.truco.vector.response.cards.room import GROUPS, SUMS, Pairs, Room, Room2, Room3


class Third(NamedTuple):
    """Trick 3 after a pair of cards of trick 2."""

    own: int
    """The exploiter's role: 0 leads."""
    span: ThirdSpan
    columns: int
    rests: int
    rows: int
    groups: int
    low: int
    """Ordered pairs of the other's: low up to high."""
    high: int


@inner
def _decided(
    book: Book, s: Situation, w: Room, gains: np.ndarray, own_tier: int, card: int, leaves: int, groups: int
) -> None:
    """As solve_third, where the hand is over with trick 2."""
    p, w2 = w.pairs, w.second
    cards, stride = len(p.tier), len(p.own_card)
    low, high = p.other_start[card], p.other_start[card + 1]
    # Who has won trick 1 leads trick 2 and need only not lose it.
    own_wins = own_tier < p.tier[card] if s.tie else s.own == 0
    for leaf in range(leaves):
        dead = True
        for g in range(groups):
            at = (leaf * GROUPS + g) * stride
            fill(w2.sum, g, 0.0)
            for e in range(low, high):
                add1(w2.sum, g, w2.played, at + e, 1.0)
                put1(w2.single, g * cards + p.other_rest[e], w2.played, at + e, 1.0)
            dead = dead and is_zero(w2.sum, g)
        if not dead:
            level = book.forest.leaf_level[book.forest.child[w2.leaf_node[leaf], 0] - LEAF]
            worth = gains[0 if own_wins else 1, level]
            for r in range(p.own_start[own_tier], p.own_start[own_tier + 1]):
                c, z, g = p.own_card[r], p.own_rest[r], p.own_group[p.own_pair[r]]
                if c != card and z != card:
                    add3(
                        w2.leaf_value, leaf * stride + r, w2.sum, g, worth, w2.single, g * cards + c, -worth,
                        w2.single, g * cards + z, -worth,
                    )  # fmt: skip
        for g in range(groups):
            for e in range(low, high):
                fill(w2.single, g * cards + p.other_rest[e], 0.0)


@inner
def _columns(left: np.ndarray, p: Pairs, w3: Room3, low: int, high: int) -> int:
    """Tiers the other may have left; `left` [tier]: their places in his table. Returns how many."""
    columns = 0
    for e in range(low, high):
        t = p.tier[p.other_rest[e]]
        if columns == 0 or w3.column_tier[columns - 1] != t:
            w3.column_tier[columns] = t
            w3.column_at[columns] = left[t]
            columns += 1
        w3.column[e] = columns - 1
    return columns


@inner
def _rows(
    left: np.ndarray, p: Pairs, w3: Room3, own_tier: int, card: int, columns: int, strict: bool
) -> tuple[int, int]:
    """Own ordered pairs without the other's card, whose lines have w3.place: (tiers left, rows).

    left [tier]: places of own tiers left; strict: whether columns of an own card's tier lie past its split.
    """
    for t in range(MAX_TIERS):
        w3.rest_number[t] = -1
    rests = 0
    rows = 0
    for r in range(p.own_start[own_tier], p.own_start[own_tier + 1]):
        c, z = p.own_card[r], p.own_rest[r]
        if c == card or z == card:
            continue
        t = p.tier[z]
        if w3.rest_number[t] < 0:
            w3.rest_number[t] = rests
            w3.rest_tier[0, rests] = t
            w3.rest_tier[1, rests] = left[t]
            rests += 1
        split = 0
        while split < columns and (w3.column_tier[split] < t or (not strict and w3.column_tier[split] == t)):
            split += 1
        w3.rows[0, rows], w3.rows[1, rows], w3.rows[2, rows] = r, w3.place[c], w3.place[z]
        w3.rows[3, rows], w3.rows[4, rows] = split, w3.rest_number[t]
        w3.rows[5, rows] = p.own_group[p.own_pair[r]]
        rows += 1
    return rests, rows


@inner
def _third(book: Book, s: Situation, w: Room, own_tier: int, card: int, groups: int) -> Third:
    """Who holds what in trick 3, to w.third."""
    p, w3 = w.pairs, w.third
    tier = p.tier[card]
    own_leads = s.own == 0
    x, y = (own_tier, tier) if own_leads else (tier, own_tier)
    # After pardas the same player leads again, else who has won trick 2, which its leader has not.
    own = s.own if s.tie else 1 - s.own
    theirs, mine = (s.gf, s.gl) if own_leads else (s.gl, s.gf)
    low, high = p.other_start[card], p.other_start[card + 1]
    columns = _columns(book.left[theirs, tier], p, w3, low, high)
    for e in range(low, high):
        w3.place[p.other_rest[e]] = e
    strict = s.tie == (own == 0)
    rests, rows = _rows(book.left[mine, own_tier], p, w3, own_tier, card, columns, strict)
    for e in range(low, high):
        w3.place[p.other_rest[e]] = -1
    span = third_span(book.lists, s.gl, s.gf, s.tie, x, y)
    return Third(own, span, columns, rests, rows, groups, low, high)


@inner
def _totals(t: Third, w2: Room2, w3: Room3, leaf: int, stride: int) -> bool:
    """Reach by column at a leaf, to w3.total; whether there is any."""
    live = False
    for g in range(t.groups):
        at = (leaf * GROUPS + g) * stride
        for c in range(t.columns):
            fill(w3.total, g * MAX_TIERS + c, 0.0)
        for e in range(t.low, t.high):
            add1(w3.total, g * MAX_TIERS + w3.column[e], w2.played, at + e, 1.0)
        for c in range(t.columns):
            live = live or not is_zero(w3.total, g * MAX_TIERS + c)
    return live


@inner
def _mix(sums: np.ndarray, at: int, stride: int, actions: int, mix: np.ndarray, to: int) -> None:
    """Average strategy of one holding to mix[:, to]; where there is no choice there is no table."""
    if actions == 1:
        mix[0, to] = 1.0
    else:
        average_shares(sums, at, stride, actions, 7, mix, to)


@inner
def _note_chosen(w3: Room3, k: int, actions: int, outcomes: int, n: int) -> None:
    """Which actions the policy takes with any of n holdings, in any of so many outcomes."""
    for a in range(actions):
        chosen = False
        for bit in range(outcomes):
            for c in range(n):
                chosen = chosen or w3.mix[2 * k + bit, a, c] > 0.0
        w3.alive[k, 1 + a] = chosen


@inner
def _early(book: Book, t: Third, w3: Room3, node: int, k: int, at: int) -> None:
    """The policy before the first card of trick 3, by column, at a node whose table begins at `at`."""
    forest = book.forest
    parent, role, actions = forest.parent[node], forest.role[node], forest.actions[node]
    up = parent - node + k
    for c in range(t.columns):
        f = 1.0
        if parent >= 0:
            f = w3.factor[up, c]
            if forest.role[parent] != t.own:
                f *= w3.mix[2 * up, forest.action[node], c]
        w3.factor[k, c] = f
    if role != t.own:
        first, stride = third_rows(role, 0, at, t.span, 0)
        mix = w3.mix[2 * k]
        for c in range(t.columns):
            _mix(book.sums, first + w3.column_at[c], stride, actions, mix, c)
        _note_chosen(w3, k, actions, 1, t.columns)


@inner
def _late(book: Book, t: Third, w3: Room3, node: int, k: int, at: int) -> None:
    """The policy once the exploiter's card lies, by that card and by whether it beats it."""
    forest = book.forest
    parent, role, actions = forest.parent[node], forest.role[node], forest.actions[node]
    up = parent - node + k
    opened = forest.stage[parent] == 0
    w3.entry[k] = k if opened else w3.entry[up]
    for bit in range(2):
        mix = w3.mix[2 * k + bit]
        first, stride = third_rows(1, 1, at, t.span, bit)
        for c in range(t.rests):
            f = 1.0
            if not opened:
                f = w3.post[up, bit, c]
                if forest.role[parent] != t.own:
                    f *= w3.mix[2 * up + bit, forest.action[node], c]
            w3.post[k, bit, c] = f
            if role != t.own:
                _mix(book.sums, first + w3.rest_tier[1, c], stride, actions, mix, c)
    if role != t.own:
        _note_chosen(w3, k, actions, 2, t.rests)


@inner
def _halves(t: Third, w2: Room2, w3: Room3, leaf: int, stride: int, k: int, up: int) -> None:
    """Masses that the own card beats and that beat it, at the first node k after it; node `up` is before."""
    for g in range(t.groups):
        sums_at, total = g * SUMS, g * MAX_TIERS
        fill(w3.prefix, sums_at, 0.0)
        for c in range(t.columns):
            put2(
                w3.prefix, sums_at + c + 1, w3.prefix, sums_at + c, 1.0, w3.total, total + c, w3.factor[up, c]
            )
    weak, beat = 2 * k * stride, (2 * k + 1) * stride
    for i in range(t.rows):
        split, g = w3.rows[3, i], w3.rows[5, i]
        played, sums_at = (leaf * GROUPS + g) * stride, g * SUMS
        put1(w3.halves, beat + i, w3.prefix, sums_at + split, 1.0)
        put2(w3.halves, weak + i, w3.prefix, sums_at + t.columns, 1.0, w3.prefix, sums_at + split, -1.0)
        for which in range(1, 3):
            e = w3.rows[which, i]
            if e >= 0:
                c = w3.column[e]
                add1(w3.halves, (beat if c < split else weak) + i, w2.played, played + e, -w3.factor[up, c])


@inner
def _descend(book: Book, t: Third, w: Room, leaf: int, root: int, table: int) -> None:
    """The policy in the tree of trick 3 at `root`, whose table begins at `table`."""
    forest, w3 = book.forest, w.third
    stride = len(w.pairs.own_card)
    for node in range(root, root + forest.nodes[root]):
        k, parent = node - root, forest.parent[node]
        up = parent - root
        for b in range(1, 4):
            w3.alive[k, b] = True
        w3.alive[k, 0] = parent < 0 or (w3.alive[up, 0] and w3.alive[up, 1 + forest.action[node]])
        if not w3.alive[k, 0]:
            continue
        at = third_at(forest.third, node, table, t.span.entries, t.span.entries2)
        if forest.stage[node] == 0:
            _early(book, t, w3, node, k, at)
        elif t.own == 0:
            _late(book, t, w3, node, k, at)
            if forest.stage[parent] == 0:
                _halves(t, w.second, w3, leaf, stride, k, up)
        elif forest.role[node] != t.own:
            first, step = third_rows(0, 1, at, t.span, 0)
            for c in range(t.columns):
                _mix(book.sums, first + w3.column_at[c], step, forest.actions[node], w3.mix[2 * k], c)


@inner
def _known(book: Book, t: Third, w3: Room3, gains: np.ndarray, node: int, k: int) -> None:
    """Once the other's card lies all is known: utility by column and by whether the exploiter's card wins."""
    forest = book.forest
    mine, turn = forest.role[node] == t.own, forest.kind[node] == TURN
    for bit in range(2):
        for c in range(t.columns):
            best = LOWEST if mine else 0.0
            for a in range(forest.actions[node]):
                code = forest.child[node, a]
                u = gains[1 - bit, forest.level[node]]
                if code <= TERMINAL:
                    u = terminal_worth(code, t.own, gains)
                elif not (turn and a == 0):
                    u = w3.post[code - node + k, bit, c]
                if mine:
                    best = max(best, u)
                else:
                    best += w3.mix[2 * k, a, c] * u
            w3.post[k, bit, c] = best


@inner
def _last_card(
    t: Third, w3: Room3, k: int, a: int, lost: float, beaten: float, stride: int, mine: bool
) -> None:
    """Joins the other's last card, or a fold after the exploiter's, to w3.value; worth by whether he is beaten."""
    weak = 2 * w3.entry[k] * stride
    for i in range(t.rows):
        c = w3.rows[4, i]
        f, h = w3.post[k, 0, c] * lost, w3.post[k, 1, c] * beaten
        if not mine:
            f *= w3.mix[2 * k, a, c]
            h *= w3.mix[2 * k + 1, a, c]
        join2(w3.value, k * stride + i, a == 0, mine, w3.halves, weak + i, f, w3.halves, weak + stride + i, h)


@inner
def _fold(t: Third, w: Room, leaf: int, k: int, a: int, worth: float, mine: bool) -> None:
    """Joins a fold before the first card of trick 3 to w.third.value."""
    w2, w3, stride = w.second, w.third, len(w.pairs.own_card)
    none = len(w2.played) - 1
    for c in range(t.columns):
        w3.share[c] = w3.factor[k, c] * (1.0 if mine else w3.mix[2 * k, a, c])
    for g in range(t.groups):
        fill(w2.sum, g, 0.0)
        for c in range(t.columns):
            add1(w2.sum, g, w3.total, g * MAX_TIERS + c, w3.share[c])
    for i in range(t.rows):
        e1, e2, g = w3.rows[1, i], w3.rows[2, i], w3.rows[5, i]
        played = (leaf * GROUPS + g) * stride
        f1 = -worth * w3.share[w3.column[e1]] if e1 >= 0 else 0.0
        f2 = -worth * w3.share[w3.column[e2]] if e2 >= 0 else 0.0
        p1 = played + e1 if e1 >= 0 else none
        p2 = played + e2 if e2 >= 0 else none
        join3(w3.value, k * stride + i, a == 0, mine, w2.sum, g, worth, w2.played, p1, f1, w2.played, p2, f2)


@inner
def _first_card(t: Third, w: Room, leaf: int, k: int, below: int) -> None:
    """The other's first card of trick 3 to w.third.value: its worth by column and outcome is at node `below`."""
    w2, w3, stride = w.second, w.third, len(w.pairs.own_card)
    for c in range(t.columns):
        w3.share[c] = w3.factor[k, c] * w3.mix[2 * k, 0, c]
    for g in range(t.groups):
        at, total = g * SUMS, g * MAX_TIERS
        for bit in range(2):
            fill(w3.prefix, at, 0.0)
            for c in range(t.columns):
                f = w3.share[c] * w3.post[below, bit, c]
                put2(w3.prefix, at + c + 1, w3.prefix, at + c, 1.0, w3.total, total + c, f)
            at += MAX_TIERS + 1
    out = k * stride
    for i in range(t.rows):
        split, g = w3.rows[3, i], w3.rows[5, i]
        played, lost = (leaf * GROUPS + g) * stride, g * SUMS
        won = lost + MAX_TIERS + 1
        put3(
            w3.value, out + i, w3.prefix, lost + split, 1.0, w3.prefix, won + t.columns, 1.0, w3.prefix,
            won + split, -1.0,
        )  # fmt: skip
        for which in range(1, 3):
            e = w3.rows[which, i]
            if e >= 0:
                c = w3.column[e]
                f = w3.share[c] * w3.post[below, 0 if c < split else 1, c]
                add1(w3.value, out + i, w2.played, played + e, -f)


@inner
def _ascend(book: Book, t: Third, w: Room, gains: np.ndarray, leaf: int, root: int) -> None:
    """Values in the tree of trick 3 at `root`, to w.third.value."""
    forest, w3, stride = book.forest, w.third, len(w.pairs.own_card)
    for node in range(root + forest.nodes[root] - 1, root - 1, -1):
        k = node - root
        if not w3.alive[k, 0]:
            continue
        late, turn, mine = forest.stage[node] == 1, forest.kind[node] == TURN, forest.role[node] == t.own
        if late and t.own == 1:
            _known(book, t, w3, gains, node, k)
            continue
        for a in range(forest.actions[node]):
            code = forest.child[node, a]
            if not w3.alive[k, 1 + a]:
                if a == 0:
                    for i in range(t.rows):
                        fill(w3.value, k * stride + i, 0.0)
                continue
            card = turn and a == 0
            if late and (code <= TERMINAL or card):
                lost, beaten = gains[0, forest.level[node]], gains[1, forest.level[node]]
                if not card:
                    lost = beaten = terminal_worth(code, t.own, gains)
                _last_card(t, w3, k, a, lost, beaten, stride, mine)
            elif code <= TERMINAL:
                _fold(t, w, leaf, k, a, terminal_worth(code, t.own, gains), mine)
            elif card and not mine:
                _first_card(t, w, leaf, k, code - root)
            else:
                join_rows(w3.value, k * stride, w3.value, (code - root) * stride, t.rows, 1.0, a == 0, mine)


@inner
def solve_third(
    book: Book, s: Situation, w: Room, gains: np.ndarray, own_tier: int, card: int, leaves: int, groups: int
) -> None:
    """Adds to w.second.leaf_value what follows own cards of a tier and the other's real card in trick 2, for all
    leaves of its tree. Reads the other's reach there from w.second.played.

    gains float64 [2, 5]: the exploiter's utility by (he wins, he loses) and points.
    """
    forest, p, w2 = book.forest, w.pairs, w.second
    tier, stride = p.tier[card], len(p.own_card)
    x, y = (own_tier, tier) if s.own == 0 else (tier, own_tier)
    if (y != x) if s.tie else (y >= x):
        _decided(book, s, w, gains, own_tier, card, leaves, groups)
        return
    t = _third(book, s, w, own_tier, card, groups)
    if t.rows == 0:
        return
    for leaf in range(leaves):
        if not _totals(t, w2, w.third, leaf, stride):
            continue
        hang = forest.child[w2.leaf_node[leaf], 0] - LEAF
        root = forest.leaf_root[hang]
        _descend(book, t, w, leaf, root, table_at(forest.leaf_place, hang, s.begin, s.sizes))
        _ascend(book, t, w, gains, leaf, root)
        for i in range(t.rows):
            add1(w2.leaf_value, leaf * stride + w.third.rows[0, i], w.third.value, i, 1.0)
