"""Best responses in tricks 2 and 3 on real cards, in numba: the exploiter sees suits, the policy only tiers.

Everything is seen from the exploiter ("own"). His rows are pairs of real cards; what the policy may hold are real
pairs too, with its reach. Values are counterfactual: sums over the other's real holdings of reach x utility, float64.
Cards are numbered from the strongest tier to the weakest.

One call answers up to LANES vectors of reach that meet the same tables, such as exits of trick 1 that the policy does
not tell apart. Beside that own pairs may belong to up to GROUPS groups g, against each of which the policy comes with
another reach, since another value was shown for the Envido; what it may hold and how it goes on are alike for all.
What depends on reach is an array [rows, LANES]; what depends on the policy's tables alone is worked out once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from solver.entry import call
from solver.jit import inner
from solver.truco.vector.cfr.average import average_shares
from solver.truco.vector.model.address import table_at, table_rows
from solver.truco.vector.model.forest import MAX_TIERS
from solver.truco.vector.model.trees import NO_CHILD, TERMINAL, TURN, terminal_worth
from solver.truco.vector.response.book import LOWEST, Book, Situation
from solver.truco.vector.response.cards.lanes import add1, fill, is_zero, join_rows, put1, put3, top1
from solver.truco.vector.response.cards.room import GROUPS, Pairs, Room, Room2


class Led(NamedTuple):
    """Trick 2 once its first card lies."""

    card: int
    """The exploiter's tier if he leads, else the other's real card."""
    first: int
    """Rows: own ordered pairs r with that tier, or all own pairs i; first up to end."""
    end: int
    low: int
    """Lines: all pairs j of the other's, or his ordered pairs e with that card; low up to high."""
    high: int
    leaves: int
    groups: int


@inner
def _set_up(p: Pairs, n: int, m: int) -> None:
    """Ordered pairs of both sides from p.own and p.other."""
    tier, cards = p.tier, len(p.tier)
    for t in range(MAX_TIERS + 1):
        p.own_start[t] = 0
    for i in range(n):
        p.own_start[tier[p.own[0, i]] + 1] += 1
        p.own_start[tier[p.own[1, i]] + 1] += 1
    for t in range(MAX_TIERS):
        p.own_start[t + 1] += p.own_start[t]
    for i in range(n):
        for which in range(2):
            c = p.own[which, i]
            r = p.own_start[tier[c]]
            p.own_start[tier[c]] = r + 1
            p.own_card[r], p.own_rest[r], p.own_pair[r] = c, p.own[1 - which, i], i
            p.own_at[which, i] = r
    for t in range(MAX_TIERS, 0, -1):
        p.own_start[t] = p.own_start[t - 1]
    p.own_start[0] = 0
    for c in range(cards + 2):
        p.other_start[c] = 0
    for j in range(m):
        p.other_start[p.other[0, j] + 1] += 1
        p.other_start[p.other[1, j] + 1] += 1
        p.pair_at[p.other[0, j], p.other[1, j]] = j
    for c in range(cards):
        p.other_start[c + 1] += p.other_start[c]
    # First those whose rest is the lower card: with pairs in order, rests ascend.
    for which in (1, 0):
        for j in range(m):
            c, rest = p.other[which, j], p.other[1 - which, j]
            e = p.other_start[c]
            p.other_start[c] = e + 1
            equal = tier[c] == tier[rest]
            p.other_rest[e], p.other_pair[e] = rest, j
            p.other_slot[e] = 0 if equal else which
            p.other_share[e] = 0.5 if equal else 1.0
    for c in range(cards, 0, -1):
        p.other_start[c] = p.other_start[c - 1]
    p.other_start[0] = 0


@inner
def _mix_pairs(book: Book, p: Pairs, w2: Room2, node: int, k: int, first: int, stride: int, m: int) -> None:
    """The policy's strategy at a node by pair, to w2.mix[k]; table entries as `table_rows` says."""
    turn, actions, mix = book.forest.kind[node] == TURN, book.forest.actions[node], w2.mix[k]
    for j in range(m):
        equal = turn and p.tier[p.other[0, j]] == p.tier[p.other[1, j]]
        average_shares(book.sums, first + p.other[2, j], stride, actions, 5 if equal else 7, mix, j)


@inner
def _pair_mass(p: Pairs, w2: Room2, k: int, a: int, m: int, groups: int, mine: bool) -> None:
    """Sums over the other's pairs behind action a of node k to w2.sum, w2.single and w2.line."""
    size, half, stride = len(p.tier), p.own.shape[1], len(p.own_card)
    for g in range(groups):
        single, line, at = g * size, g * half, (k * GROUPS + g) * stride
        fill(w2.sum, g, 0.0)
        for j in range(m):
            put1(w2.line, line + j, w2.reach, at + j, 1.0 if mine else w2.mix[k, a, j])
            add1(w2.sum, g, w2.line, line + j, 1.0)
            add1(w2.single, single + p.other[0, j], w2.line, line + j, 1.0)
            add1(w2.single, single + p.other[1, j], w2.line, line + j, 1.0)


@inner
def _disjoint(p: Pairs, w2: Room2, r: int, c: int, z: int, g: int) -> None:
    """w2.mass[r] = sum over the other's pairs without the cards c and z, from what `_pair_mass` has left."""
    size, half = len(p.tier), p.own.shape[1]
    put3(w2.mass, r, w2.sum, g, 1.0, w2.single, g * size + c, -1.0, w2.single, g * size + z, -1.0)
    j = p.pair_at[min(c, z), max(c, z)]
    if j >= 0:
        add1(w2.mass, r, w2.line, g * half + j, 1.0)


@inner
def _clear_single(p: Pairs, w2: Room2, m: int, groups: int) -> None:
    size = len(p.tier)
    for g in range(groups):
        for j in range(m):
            fill(w2.single, g * size + p.other[0, j], 0.0)
            fill(w2.single, g * size + p.other[1, j], 0.0)


@inner
def _card_mass(p: Pairs, w2: Room2, c: Led, k: int, a: int, mine: bool) -> None:
    """w2.mass by own pair: the other's ordered pairs behind action a of node k whose rest the pair does not hold."""
    cards, stride = len(p.tier), len(p.own_card)
    for g in range(c.groups):
        at = (k * GROUPS + g) * stride
        fill(w2.sum, g, 0.0)
        for e in range(c.low, c.high):
            f = 1.0 if mine else w2.mix[k, a, e]
            put1(w2.single, g * cards + p.other_rest[e], w2.reach, at + e, f)
            add1(w2.sum, g, w2.reach, at + e, f)
    for i in range(c.first, c.end):
        g = p.own_group[i]
        low, high = g * cards + p.own[0, i], g * cards + p.own[1, i]
        put3(w2.mass, i, w2.sum, g, 1.0, w2.single, low, -1.0, w2.single, high, -1.0)
    for g in range(c.groups):
        for e in range(c.low, c.high):
            fill(w2.single, g * cards + p.other_rest[e], 0.0)


@inner
def _descend(book: Book, s: Situation, w: Room, c: Led) -> bool:
    """The policy once the first card lies, the other's reach at the leaves to w.second.played; whether he comes
    there at all.
    """
    forest, p, w2 = book.forest, w.pairs, w.second
    stride = len(p.own_card)
    leads = s.own == 0
    live = leads
    leaf = 0
    for node in range(s.root, s.root + forest.nodes[s.root]):
        if forest.stage[node] == 0:
            continue
        k, parent, turn = node - s.root, forest.parent[node], forest.kind[node] == TURN
        up, a = parent - s.root, forest.action[node]
        theirs = forest.role[parent] != s.own
        for g in range(c.groups):
            to, of = (k * GROUPS + g) * stride, (up * GROUPS + g) * stride
            if forest.stage[parent] == 0 and not leads:
                # Reach before the card is stored by pair, after it by ordered pair, in rows of different nodes.
                for e in range(c.low, c.high):
                    j = p.other_pair[e]
                    f = w2.mix[up, p.other_slot[e], j] * p.other_share[e]
                    put1(w2.reach, to + e, w2.reach, of + j, f)
                    live = live or not is_zero(w2.reach, to + e)
            else:
                for e in range(c.low, c.high):
                    put1(w2.reach, to + e, w2.reach, of + e, w2.mix[up, a, e] if theirs else 1.0)
        if forest.role[node] != s.own:
            at = table_at(forest.place, node, s.begin, s.sizes)
            if leads:
                first, step = table_rows(1, 1, at, s.sizes, c.card, 0)
                _mix_pairs(book, p, w2, node, k, first, step, c.high)
            else:
                x = p.tier[c.card]
                first, step = table_rows(0, 1, at, s.sizes, x, book.lists.offset[s.gl, x])
                mix, left = w2.mix[k], book.left[s.gl, x]
                for e in range(c.low, c.high):
                    place = first + left[p.tier[p.other_rest[e]]]
                    average_shares(book.sums, place, step, forest.actions[node], 7, mix, e)
        if turn:
            _arrive(p, w2, c, k, leaf, leads)
            leaf += 1
    return live


@inner
def _arrive(p: Pairs, w2: Room2, c: Led, k: int, leaf: int, leads: bool) -> None:
    """The other's reach by ordered pair at a leaf, where node k plays the second card."""
    stride = len(p.own_card)
    if leads:
        for e in range(2 * c.high):
            j = p.other_pair[e]
            f = w2.mix[k, p.other_slot[e], j] * p.other_share[e]
            for g in range(c.groups):
                to, of = (leaf * GROUPS + g) * stride, (k * GROUPS + g) * stride
                put1(w2.played, to + e, w2.reach, of + j, f)
        for r in range(c.first, c.end):
            fill(w2.leaf_value, leaf * stride + r, 0.0)
    else:
        for g in range(c.groups):
            to, of = (leaf * GROUPS + g) * stride, (k * GROUPS + g) * stride
            for e in range(c.low, c.high):
                put1(w2.played, to + e, w2.reach, of + e, 1.0)
        for r in range(2 * c.end):
            fill(w2.leaf_value, leaf * stride + r, 0.0)


@inner
def _ascend(book: Book, s: Situation, w: Room, gains: np.ndarray, c: Led) -> None:
    """Values once the first card lies, from those of the leaves, to w.second.value."""
    forest, p, w2 = book.forest, w.pairs, w.second
    stride, n = len(p.own_card), c.end - c.first
    leads = s.own == 0
    leaf = c.leaves
    for node in range(s.root + forest.nodes[s.root] - 1, s.root - 1, -1):
        if forest.stage[node] == 0:
            continue
        k = node - s.root
        mine, turn = forest.role[node] == s.own, forest.kind[node] == TURN
        out = k * stride + c.first
        if turn:
            leaf -= 1
            below = leaf * stride
            if leads:
                join_rows(w2.value, out, w2.leaf_value, below + c.first, n, 1.0, True, mine)
            else:
                for i in range(n):
                    put1(w2.value, out + i, w2.leaf_value, below + p.own_at[0, i], 1.0)
                    top1(w2.value, out + i, w2.leaf_value, below + p.own_at[1, i], 1.0)
        for a in range(1 if turn else 0, 3):
            code = forest.child[node, a]
            if code == NO_CHILD:
                continue
            if code > TERMINAL:
                below = (code - s.root) * stride + c.first
                join_rows(w2.value, out, w2.value, below, n, 1.0, a == 0, mine)
                continue
            if leads:
                _pair_mass(p, w2, k, a, c.high, c.groups, mine)
                for r in range(c.first, c.end):
                    _disjoint(p, w2, r, p.own_card[r], p.own_rest[r], p.own_group[p.own_pair[r]])
                _clear_single(p, w2, c.high, c.groups)
            else:
                _card_mass(p, w2, c, k, a, mine)
            join_rows(w2.value, out, w2.mass, c.first, n, terminal_worth(code, s.own, gains), a == 0, mine)


@inner
def _led(book: Book, s: Situation, w: Room, gains: np.ndarray, c: Led, third: Any) -> None:
    """Trick 2 once its first card lies: the leader's values join his best card in w.second.cards, the follower's are
    added there.
    """
    forest, p, w2 = book.forest, w.pairs, w.second
    stride = len(p.own_card)
    if not _descend(book, s, w, c):
        return
    if s.own == 0:
        for card in range(len(p.tier)):
            if p.other_start[card] < p.other_start[card + 1]:
                call(third, (book, s, w, gains, c.card, card, c.leaves, c.groups))
    else:
        for tier in range(book.lists.left_count.shape[1]):
            if p.own_start[tier] < p.own_start[tier + 1]:
                call(third, (book, s, w, gains, tier, c.card, c.leaves, c.groups))
    _ascend(book, s, w, gains, c)
    for node in range(s.root, s.root + forest.nodes[s.root]):
        if forest.stage[node] == 1 or forest.kind[node] != TURN:
            continue
        below, out = (forest.child[node, 0] - s.root) * stride, (node - s.root) * stride
        if s.own == 0:
            for r in range(c.first, c.end):
                top1(w2.cards, out + p.own_pair[r], w2.value, below + r, 1.0)
        else:
            for i in range(c.end):
                if p.own[0, i] != c.card and p.own[1, i] != c.card:
                    add1(w2.cards, out + i, w2.value, below + i, 1.0)


@inner
def _descend_before(book: Book, s: Situation, w: Room, n: int, m: int, groups: int) -> int:
    """The policy before the first card of trick 2; clears w.second.cards. Returns the number of leaves."""
    forest, p, w2 = book.forest, w.pairs, w.second
    stride, half = len(p.own_card), p.own.shape[1]
    leaves = 0
    for node in range(s.root, s.root + forest.nodes[s.root]):
        k, parent, turn = node - s.root, forest.parent[node], forest.kind[node] == TURN
        if forest.stage[node] == 1:
            if turn:
                w2.leaf_node[leaves] = node
                leaves += 1
            continue
        up = parent - s.root
        for g in range(groups):
            to = (k * GROUPS + g) * stride
            for j in range(m):
                if k == 0:
                    put1(w2.reach, to + j, p.other_reach, g * half + j, 1.0)
                else:
                    f = w2.mix[up, forest.action[node], j] if forest.role[parent] != s.own else 1.0
                    put1(w2.reach, to + j, w2.reach, (up * GROUPS + g) * stride + j, f)
        if forest.role[node] != s.own:
            at = table_at(forest.place, node, s.begin, s.sizes)
            first, step = table_rows(forest.role[node], 0, at, s.sizes, 0, 0)
            _mix_pairs(book, p, w2, node, k, first, step, m)
        if turn:
            for i in range(n):
                fill(w2.cards, k * stride + i, LOWEST if s.own == 0 else 0.0)
    return leaves


@inner
def respond(
    book: Book, s: Situation, w: Room, gains: np.ndarray, n: int, m: int, groups: int, third: Any
) -> None:
    """Best response from the start of trick 2; values by own pair to the first n rows of w.second.before.

    Reads own pairs (w.pairs.own[:, :n], own_group), the other's (other[:, :m], in ascending order, disjoint pairs of
    cards of which none is a first card) and other_reach. gains float64 [2, 5]: the exploiter's utility by (he wins,
    he loses) and points; third: the Entry of `solve_third`.
    """
    forest, p, w2 = book.forest, w.pairs, w.second
    stride = len(p.own_card)
    _set_up(p, n, m)
    leaves = _descend_before(book, s, w, n, m, groups)
    if s.own == 0:
        for tier in range(book.lists.left_count.shape[1]):
            first, end = p.own_start[tier], p.own_start[tier + 1]
            if first < end:
                _led(book, s, w, gains, Led(tier, first, end, 0, m, leaves, groups), third)
    else:
        for card in range(len(p.tier)):
            low, high = p.other_start[card], p.other_start[card + 1]
            if low < high:
                _led(book, s, w, gains, Led(card, 0, n, low, high, leaves, groups), third)
    for node in range(s.root + forest.nodes[s.root] - 1, s.root - 1, -1):
        if forest.stage[node] == 1:
            continue
        k = node - s.root
        mine, turn = forest.role[node] == s.own, forest.kind[node] == TURN
        out = k * stride
        if turn:
            join_rows(w2.before, out, w2.cards, out, n, 1.0, True, mine)
        for a in range(1 if turn else 0, 3):
            code = forest.child[node, a]
            if code == NO_CHILD:
                continue
            if code > TERMINAL:
                join_rows(w2.before, out, w2.before, (code - s.root) * stride, n, 1.0, a == 0, mine)
                continue
            _pair_mass(p, w2, k, a, m, groups, mine)
            for i in range(n):
                _disjoint(p, w2, i, p.own[0, i], p.own[1, i], p.own_group[i])
            _clear_single(p, w2, m, groups)
            join_rows(w2.before, out, w2.mass, 0, n, terminal_worth(code, s.own, gains), a == 0, mine)
    for j in range(m):
        p.pair_at[p.other[0, j], p.other[1, j]] = -1
