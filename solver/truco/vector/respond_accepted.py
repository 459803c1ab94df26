"""Best responses in trick 1 after an accepted Envido, and sums over real hands, in numba.

The exploiter ("own") holds real cards; see respond.py, which goes on from trick 2. Cards are numbered from the
strongest tier to the weakest, hands are ascending triples of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange

from solver.truco.vector.accepted import PositionTrees, ValueLists
from solver.truco.vector.kernels import Forest, Lists, block_sizes
from solver.truco.vector.respond import Room, make_room, respond
from solver.truco.vector.trees import END, LEAF, TURN

_LOWEST = -1e300


class Deal(NamedTuple):
    """All real hands h of a deck."""

    tier: np.ndarray
    """int64 [cards]: ascending."""
    hands: np.ndarray
    """int64 [h, 3]."""
    cls: np.ndarray
    """int64 [h]: class."""
    value: np.ndarray
    """int64 [h]: index of the Envido value."""
    by_value: np.ndarray
    """int64 [h]: hands by ascending value."""
    slot: np.ndarray
    """int64 [h, 3]: first place of an equal tier, which is the action of playing that card."""
    share: np.ndarray
    """float64 [h, 3]: 1 / cards of that tier in the hand."""
    combo: np.ndarray
    """int64 [h, 3]: (class, first card) combination of playing each card."""
    hand_at: np.ndarray
    """int64 [cards, cards, cards]: h of any three cards, -1 where two are equal."""


class Sets(NamedTuple):
    """Real hands by set s of Envido values, i of a set; and its (hand, card) pairs e by card, rests ascending."""

    count: np.ndarray  # type: ignore[assignment]
    """int64 [s]."""
    hand: np.ndarray
    """int64 [s, i]."""
    row: np.ndarray
    """int64 [s, i]: place of the class in ValueLists.cls."""
    index: np.ndarray  # type: ignore[assignment]
    """int64 [s, h]: i of a hand, -1 if not in the set."""
    start: np.ndarray
    """int64 [s, cards + 1]."""
    low: np.ndarray
    """int64 [s, e]: the other two cards, low and high; i of the hand and place of the card."""
    high: np.ndarray
    member: np.ndarray
    place: np.ndarray
    combo_place: np.ndarray
    """int64 [s, e]: place of the combination among those of its tier in ValueLists."""


class Blocks(NamedTuple):
    """Tables of tricks 2 and 3; see exits.Groups, accepted.Store and respond.py."""

    root: np.ndarray
    table: np.ndarray
    gain: np.ndarray
    """float64 [groups, 2, 5]: the exploiter's utility by (he wins, he loses) and points."""
    block: np.ndarray
    bucket: np.ndarray
    local: np.ndarray
    pair_id: np.ndarray
    left: np.ndarray


@njit(cache=True)
def split_mass(deal: Deal, reach: np.ndarray, own: int) -> np.ndarray:
    """Sums of reach [h] over the other's hands disjoint from each own hand where (mano, pie) wins the Envido: [2, h].

    `own` is 0 for mano, 1 for pie.
    """
    cards = len(deal.tier)
    hands = deal.hands
    size = len(hands)
    out = np.zeros((2, size))
    single = np.zeros((2, cards))
    pair = np.zeros((2, cards, cards))
    total = np.zeros(2)
    both = np.zeros(2)
    for h in range(size):
        r = reach[h]
        if r != 0.0:
            total[0] += r
            for i in range(3):
                single[0, hands[h, i]] += r
                for j in range(i + 1, 3):
                    pair[0, hands[h, i], hands[h, j]] += r
    # Row 1 grows by value: what has a lower value than own (own pie), or at most own value (own mano).
    first = 0
    while first < size:
        last = first
        value = deal.value[deal.by_value[first]]
        while last < size and deal.value[deal.by_value[last]] == value:
            last += 1
        for done in range(2):
            if done == own:
                for at in range(first, last):
                    h = deal.by_value[at]
                    r = reach[h]
                    if r != 0.0:
                        total[1] += r
                        for i in range(3):
                            single[1, hands[h, i]] += r
                            for j in range(i + 1, 3):
                                pair[1, hands[h, i], hands[h, j]] += r
            else:
                for at in range(first, last):
                    h = deal.by_value[at]
                    for which in range(2):
                        m = total[which]
                        for i in range(3):
                            m -= single[which, hands[h, i]]
                            for j in range(i + 1, 3):
                                m += pair[which, hands[h, i], hands[h, j]]
                        if which == 0 or own == 0:
                            m -= reach[h]
                        both[which] = m
                    # Mano wins where pie holds at most his value.
                    out[0, h] = both[1] if own == 0 else both[0] - both[1]
                    out[1, h] = both[0] - both[1] if own == 0 else both[1]
        first = last
    return out


@njit(cache=True)
def _tricks(
    forest: Forest, lists: Lists, w: Room, sums: np.ndarray, blocks: Blocks, group: int, block: int, bucket_mano: int,
    bucket_pie: int, a: int, b: int, n: int, m: int, own: int, sizes: np.ndarray,
) -> None:  # fmt: skip
    """Tricks 2 and 3 after real first cards a, b: values of own pairs to w.before[0]."""
    tiers = lists.left_count.shape[1]
    tier = w.tier
    ta, tb = tier[a], tier[b]
    tie, pie_leads = ta == tb, tb < ta
    gm, gp = bucket_mano * tiers + ta, bucket_pie * tiers + tb
    gl, gf = (gp, gm) if pie_leads else (gm, gp)
    block_sizes(lists, gl, gf, tie, sizes)
    theirs, first = (bucket_pie, tb) if own == 0 else (bucket_mano, ta)
    for j in range(m):
        w.other[2, j] = blocks.local[theirs, first, blocks.pair_id[tier[w.other[0, j]], tier[w.other[1, j]]]]
    respond(
        forest, lists, blocks.left, w, sums, blocks.root[group, 2 if tie else 1 if pie_leads else 0],
        blocks.table[block, ta, tb], sizes, gl, gf, tie, (own == 1) == pie_leads, n, m, blocks.gain[group],
    )  # fmt: skip


@njit(cache=True)
def _exit(
    forest: Forest, lists: Lists, sums: np.ndarray, blocks: Blocks, deal: Deal, w: Room, group: int, block: int,
    reach: np.ndarray, own: int, a: int, b: int, pair_number: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """One pair of real first cards at an exit; see sweep_exit."""
    cards = len(deal.tier)
    other_first = b if own == 0 else a
    row = deal.tier[a] if own == 0 else 0
    n = 0
    m = 0
    for p in range(cards):
        for q in range(p + 1, cards):
            if p in (a, b) or q in (a, b):
                continue
            w.own[0, n], w.own[1, n] = p, q
            n += 1
            h = deal.hand_at[other_first, p, q]
            place = 0
            while deal.hands[h, place] != other_first:
                place += 1
            r = reach[row, deal.combo[h, place]] * deal.share[h, place]
            if r > 0.0:
                w.other[0, m], w.other[1, m] = p, q
                w.other_reach[m] = r
                m += 1
    if m == 0:
        return
    _tricks(forest, lists, w, sums, blocks, group, block, 0, 0, a, b, n, m, own, np.zeros(6, np.int64))
    for i in range(n):
        out[a, b, pair_number[w.own[0, i], w.own[1, i]]] = w.before[0, i]


@njit(cache=True, parallel=True)
def sweep_exit(
    forest: Forest, lists: Lists, sums: np.ndarray, blocks: Blocks, deal: Deal, group: int, block: int,
    reach: np.ndarray, own: int, order: np.ndarray, lanes: int, pair_number: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """An exit of the trunk: value of every own pair after every pair of real first cards, out [a, b, pair].

    reach float64 [tiers or 1, combinations]: the other's at the exit, by tier of mano's card if the other is pie.
    order: a x cards + b; `lanes` of them run in parallel.
    """
    cards = len(deal.tier)
    for lane in prange(lanes):
        w = make_room(deal.tier)
        for at in range(lane, len(order), lanes):
            a, b = order[at] // cards, order[at] % cards
            _exit(forest, lists, sums, blocks, deal, w, group, block, reach, own, a, b, pair_number, out)


class Room1(NamedTuple):
    """Working memory for trick 1 of one outcome; i an own hand, j one of the other's."""

    reach: np.ndarray
    """float64 [node, j]; in pie's exploits after mano's card by (hand, card) of that card."""
    mix: np.ndarray
    """float64 [node, 4, j]."""
    line: np.ndarray
    folds: np.ndarray
    """float64 [node, i]: mass at a fold."""
    value: np.ndarray
    """float64 [node, i]: after mano's card."""
    before: np.ndarray
    """float64 [node, i]: before it."""
    cards: np.ndarray
    """float64 [node, i]: best card, or sums over the other's."""
    single: np.ndarray
    pair: np.ndarray
    back: np.ndarray


@njit(cache=True)
def _make_room1(nodes: int, n: int, m: int, cards: int) -> Room1:
    return Room1(
        np.zeros((nodes, m)), np.zeros((nodes, 4, m)), np.zeros(m), np.zeros((nodes, n)), np.zeros((nodes, n)),
        np.zeros((nodes, n)), np.zeros((nodes, n)), np.zeros(cards), np.zeros((cards, cards)), np.zeros(n, np.int64),
    )  # fmt: skip


@njit(cache=True)
def _average(
    sums: np.ndarray,
    at: int,
    stride: int,
    actions: int,
    turn: bool,
    legal: np.ndarray,
    mix: np.ndarray,
    j: int,
) -> None:
    """Average strategy of one class to mix[:, j]."""
    total = 0.0
    count = 0
    for a in range(actions):
        if not turn or a >= 3 or legal[a]:
            total += np.float64(sums[at + a * stride])
            count += 1
    for a in range(actions):
        if turn and a < 3 and not legal[a]:
            mix[a, j] = 0.0
        elif total > 0.0:
            mix[a, j] = np.float64(sums[at + a * stride]) / total
        else:
            mix[a, j] = 1.0 / count


@njit(cache=True)
def _hand_mass(deal: Deal, sets: Sets, w: Room1, own_set: int, other_set: int, out: np.ndarray) -> None:
    """out[i] = sum of w.line over the other's hands disjoint from own hand i."""
    w.single[:] = 0.0
    w.pair[:] = 0.0
    total = 0.0
    for j in range(sets.count[other_set]):
        r = w.line[j]
        if r == 0.0:
            continue
        hand = deal.hands[sets.hand[other_set, j]]
        total += r
        for x in range(3):
            w.single[hand[x]] += r
            for y in range(x + 1, 3):
                w.pair[hand[x], hand[y]] += r
    for i in range(sets.count[own_set]):
        h = sets.hand[own_set, i]
        hand = deal.hands[h]
        m = total
        for x in range(3):
            m -= w.single[hand[x]]
            for y in range(x + 1, 3):
                m += w.pair[hand[x], hand[y]]
        j = sets.index[other_set, h]
        out[i] = m - w.line[j] if j >= 0 else m


@njit(cache=True)
def _table1(trees: PositionTrees, node: int, begin: int, sizes: np.ndarray) -> int:
    at = begin
    for i in range(4):
        at += trees.place[node, i] * sizes[i]
    return at


@njit(cache=True)
def _back(
    trees: PositionTrees, node: int, root: int, own: int, n: int, gains: np.ndarray, folds: np.ndarray,
    value: np.ndarray,
) -> None:  # fmt: skip
    """Value of a node from its children's; that of cards is in value[node] already."""
    k = node - root
    mine, turn = trees.role[node] == own, trees.kind[node] == TURN
    out = value[k]
    for a in range(1 if turn else 0, 3):
        code = trees.child[node, a]
        if code == -1:
            continue
        fold = code <= END
        worth = gains[0 if (END - code) // 5 == own else 1, (END - code) % 5] if fold else 1.0
        below = folds[k] if fold else value[code - root]
        for i in range(n):
            u = worth * below[i]
            if a == 0:
                out[i] = u
            elif mine:
                out[i] = max(out[i], u)
            else:
                out[i] += u


@njit(cache=True)
def _mano(
    forest: Forest, lists: Lists, sums: np.ndarray, blocks: Blocks, deal: Deal, sets: Sets, trees: PositionTrees,
    v: ValueLists, position_sums: np.ndarray, w: Room, root: int, posted: bool, begin: int, vm: int, vp: int,
    reach: np.ndarray, gains: np.ndarray, base: int, out: np.ndarray,
) -> None:  # fmt: skip
    """Mano exploits: out[base + i], or out[base + 3 i + place of his card] once it lies."""
    cards, tiers = len(deal.tier), v.combo_count.shape[1]
    n, m = sets.count[vm], sets.count[vp]
    last = root + trees.nodes[root]
    u = _make_room1(last - root, n, m, cards)
    nf = v.count[vp]
    sizes = np.zeros(4, np.int64)
    sizes[0], sizes[1], sizes[2] = v.count[vm], nf, nf * tiers
    sizes[3] = v.combo_offset[vm, tiers - 1] + v.combo_count[vm, tiers - 1]
    sizes6 = np.zeros(6, np.int64)
    u.cards[:] = _LOWEST
    for ta in range(-1, tiers):
        stage = 0 if ta < 0 else 1
        if stage == 1:
            found = False
            for c in range(cards):
                found |= deal.tier[c] == ta and sets.start[vm, c] < sets.start[vm, c + 1]
            if not found:
                continue
        for node in range(root, last):
            if trees.stage[node] != stage:
                continue
            k = node - root
            parent = trees.parent[node]
            turn = trees.kind[node] == TURN
            for j in range(m):
                if parent < 0:
                    r = reach[max(ta, 0), deal.cls[sets.hand[vp, j]]]
                else:
                    r = u.reach[parent - root, j]
                    if trees.role[parent] == 1:
                        r *= u.mix[parent - root, trees.action[node], j]
                u.reach[k, j] = r
            if trees.role[node] == 1:
                at = _table1(trees, node, begin, sizes)
                stride = nf
                if stage == 1:
                    at += ta * nf
                    stride = sizes[2]
                for j in range(m):
                    row = sets.row[vp, j]
                    _average(
                        position_sums,
                        at + row,
                        stride,
                        trees.actions[node],
                        turn,
                        v.legal[vp, row],
                        u.mix[k],
                        j,
                    )
            if not turn:
                for j in range(m):
                    u.line[j] = u.reach[k, j] * (u.mix[k, 1, j] if trees.role[node] == 1 else 1.0)
                _hand_mass(deal, sets, u, vm, vp, u.folds[k])
        if stage == 0:
            continue
        for a in range(cards):
            first, end = sets.start[vm, a], sets.start[vm, a + 1]
            if deal.tier[a] != ta or first == end:
                continue
            for node in range(root, last):
                if trees.stage[node] == 1 and trees.kind[node] == TURN:
                    u.value[node - root, : end - first] = 0.0
            for b in range(cards):
                if b == a or sets.start[vp, b] == sets.start[vp, b + 1]:
                    continue
                size = 0
                for e in range(first, end):
                    if sets.low[vm, e] != b and sets.high[vm, e] != b:
                        w.own[0, size], w.own[1, size] = sets.low[vm, e], sets.high[vm, e]
                        u.back[size] = e - first
                        size += 1
                if size == 0:
                    continue
                for node in range(root, last):
                    if trees.stage[node] == 0 or trees.kind[node] != TURN:
                        continue
                    k = node - root
                    others = 0
                    for e in range(sets.start[vp, b], sets.start[vp, b + 1]):
                        low, high, j = sets.low[vp, e], sets.high[vp, e], sets.member[vp, e]
                        if low == a or high == a:
                            continue
                        h, place = sets.hand[vp, j], sets.place[vp, e]
                        r = u.reach[k, j] * u.mix[k, deal.slot[h, place], j] * deal.share[h, place]
                        if r > 0.0:
                            w.other[0, others], w.other[1, others] = low, high
                            w.other_reach[others] = r
                            others += 1
                    if others == 0:
                        continue
                    group = trees.leaf_group[trees.child[node, 0] - LEAF]
                    _tricks(
                        forest, lists, w, sums, blocks, group, blocks.block[group, vm, vp], blocks.bucket[group, vm],
                        blocks.bucket[group, vp], a, b, size, others, 0, sizes6,
                    )  # fmt: skip
                    for i in range(size):
                        u.value[k, u.back[i]] += w.before[0, i]
            # Folds of the hands that hold this card, in the rows' order.
            for node in range(last - 1, root - 1, -1):
                if trees.stage[node] == 0:
                    continue
                k = node - root
                if trees.kind[node] != TURN:
                    for e in range(first, end):
                        u.before[k, e - first] = u.folds[k, sets.member[vm, e]]
                _back(trees, node, root, 0, end - first, gains, u.before, u.value)
            for e in range(first, end):
                i = sets.member[vm, e]
                if posted:
                    out[base + 3 * i + sets.place[vm, e]] = u.value[0, e - first]
                    continue
                for node in range(root, last):
                    if trees.stage[node] == 0 and trees.kind[node] == TURN:
                        below = u.value[trees.child[node, 0] - root, e - first]
                        u.cards[node - root, i] = max(u.cards[node - root, i], below)
    if posted:
        return
    # The folds before mano's card again: nodes of the two stages are different ones.
    for node in range(last - 1, root - 1, -1):
        if trees.stage[node] == 1:
            continue
        k = node - root
        if trees.kind[node] == TURN:
            for i in range(n):
                u.before[k, i] = u.cards[k, i]
        _back(trees, node, root, 0, n, gains, u.folds, u.before)
    for i in range(n):
        out[base + i] = u.before[0, i]


@njit(cache=True)
def _pie(
    forest: Forest, lists: Lists, sums: np.ndarray, blocks: Blocks, deal: Deal, sets: Sets, trees: PositionTrees,
    v: ValueLists, position_sums: np.ndarray, w: Room, root: int, posted: bool, begin: int, vm: int, vp: int,
    reach: np.ndarray, gains: np.ndarray, base: int, out: np.ndarray,
) -> None:  # fmt: skip
    """Pie exploits: out[base + i], or out[base + mano's card x own hands + i] once it lies."""
    cards, tiers = len(deal.tier), v.combo_count.shape[1]
    n, m = sets.count[vp], sets.count[vm]
    last = root + trees.nodes[root]
    u = _make_room1(last - root, n, 3 * m, cards)
    sizes = np.zeros(4, np.int64)
    sizes[0], sizes[1], sizes[2] = v.count[vm], v.count[vp], v.count[vp] * tiers
    sizes[3] = v.combo_offset[vm, tiers - 1] + v.combo_count[vm, tiers - 1]
    sizes6 = np.zeros(6, np.int64)
    u.cards[:] = 0.0
    for node in range(root, last):
        if trees.stage[node] == 1:
            continue
        k = node - root
        parent = trees.parent[node]
        turn = trees.kind[node] == TURN
        for j in range(m):
            if parent < 0:
                r = reach[0, deal.cls[sets.hand[vm, j]]]
            else:
                r = u.reach[parent - root, j]
                if trees.role[parent] == 0:
                    r *= u.mix[parent - root, trees.action[node], j]
            u.reach[k, j] = r
        if trees.role[node] == 0:
            at = _table1(trees, node, begin, sizes)
            for j in range(m):
                row = sets.row[vm, j]
                _average(
                    position_sums,
                    at + row,
                    sizes[0],
                    trees.actions[node],
                    turn,
                    v.legal[vm, row],
                    u.mix[k],
                    j,
                )
        if not turn:
            for j in range(m):
                u.line[j] = u.reach[k, j] * (u.mix[k, 1, j] if trees.role[node] == 0 else 1.0)
            _hand_mass(deal, sets, u, vp, vm, u.folds[k])
    for a in range(cards):
        low_e, high_e = sets.start[vm, a], sets.start[vm, a + 1]
        if low_e == high_e:
            continue
        ta = deal.tier[a]
        for node in range(root, last):
            if trees.stage[node] == 0:
                continue
            k = node - root
            parent = trees.parent[node]
            for e in range(low_e, high_e):
                j, place = sets.member[vm, e], sets.place[vm, e]
                h = sets.hand[vm, j]
                if parent < 0:
                    r = reach[0, deal.combo[h, place]] * deal.share[h, place]
                elif trees.stage[parent] == 0:
                    up = parent - root
                    r = u.reach[up, j] * u.mix[up, deal.slot[h, place], j] * deal.share[h, place]
                else:
                    r = u.reach[parent - root, e - low_e]
                    if trees.role[parent] == 0:
                        r *= u.mix[parent - root, trees.action[node], e - low_e]
                u.reach[k, e - low_e] = r
            if trees.role[node] == 0:
                at = _table1(trees, node, begin, sizes) + v.combo_offset[vm, ta]
                for e in range(low_e, high_e):
                    _average(
                        position_sums, at + sets.combo_place[vm, e], sizes[3], trees.actions[node], False,
                        v.legal[vm, 0], u.mix[k], e - low_e,
                    )  # fmt: skip
            if trees.kind[node] == TURN:
                u.value[k, :] = _LOWEST
                continue
            # Mass at a fold: the other's pairs disjoint from own hands.
            u.single[:] = 0.0
            u.pair[:] = 0.0
            total = 0.0
            for e in range(low_e, high_e):
                r = u.reach[k, e - low_e] * (u.mix[k, 1, e - low_e] if trees.role[node] == 0 else 1.0)
                low, high = sets.low[vm, e], sets.high[vm, e]
                total += r
                u.single[low] += r
                u.single[high] += r
                u.pair[low, high] = r
            for i in range(n):
                hand = deal.hands[sets.hand[vp, i]]
                mass = total
                for x in range(3):
                    mass -= u.single[hand[x]]
                    for y in range(x + 1, 3):
                        mass += u.pair[hand[x], hand[y]]
                u.folds[k, i] = mass
        for b in range(cards):
            if b == a:
                continue
            size = 0
            for e in range(sets.start[vp, b], sets.start[vp, b + 1]):
                low, high = sets.low[vp, e], sets.high[vp, e]
                if low != a and high != a:
                    w.own[0, size], w.own[1, size] = low, high
                    u.back[size] = sets.member[vp, e]
                    size += 1
            if size == 0:
                continue
            for node in range(root, last):
                if trees.stage[node] == 0 or trees.kind[node] != TURN:
                    continue
                k = node - root
                others = 0
                for e in range(low_e, high_e):
                    low, high = sets.low[vm, e], sets.high[vm, e]
                    r = u.reach[k, e - low_e]
                    if low != b and high != b and r > 0.0:
                        w.other[0, others], w.other[1, others] = low, high
                        w.other_reach[others] = r
                        others += 1
                if others > 0:
                    group = trees.leaf_group[trees.child[node, 0] - LEAF]
                    _tricks(
                        forest, lists, w, sums, blocks, group, blocks.block[group, vm, vp], blocks.bucket[group, vm],
                        blocks.bucket[group, vp], a, b, size, others, 1, sizes6,
                    )  # fmt: skip
                for i in range(size):
                    worth = w.before[0, i] if others > 0 else 0.0
                    u.value[k, u.back[i]] = max(u.value[k, u.back[i]], worth)
        for node in range(last - 1, root - 1, -1):
            if trees.stage[node] == 1:
                _back(trees, node, root, 1, n, gains, u.folds, u.value)
        for i in range(n):
            hand = deal.hands[sets.hand[vp, i]]
            if hand[0] == a or hand[1] == a or hand[2] == a:
                continue
            if posted:
                out[base + a * n + i] = u.value[0, i]
                continue
            for node in range(root, last):
                if trees.stage[node] == 0 and trees.kind[node] == TURN:
                    u.cards[node - root, i] += u.value[trees.child[node, 0] - root, i]
    if posted:
        return
    for node in range(last - 1, root - 1, -1):
        if trees.stage[node] == 1:
            continue
        k = node - root
        if trees.kind[node] == TURN:
            for i in range(n):
                u.before[k, i] = u.cards[k, i]
        _back(trees, node, root, 1, n, gains, u.folds, u.before)
    for i in range(n):
        out[base + i] = u.before[0, i]


@njit(cache=True, parallel=True)
def sweep_accept(
    forest: Forest, lists: Lists, sums: np.ndarray, blocks: Blocks, deal: Deal, sets: Sets, trees: PositionTrees,
    v: ValueLists, position_sums: np.ndarray, root: int, posted: bool, table_start: np.ndarray, tasks: np.ndarray,
    base: np.ndarray, lanes: int, reach: np.ndarray, gains: np.ndarray, own: int, out: np.ndarray,
) -> None:  # fmt: skip
    """All outcomes (mano's set, pie's set) of an accepted Envido with the match still on.

    reach float64 [1 or tiers, classes or combinations]: the other's at the Envido, as in VectorSolver.
    out: the exploiter's values beyond what has been paid, from base[task] on; see _mano and _pie.
    """
    for lane in prange(lanes):
        w = make_room(deal.tier)
        for task in range(lane, len(tasks), lanes):
            vm, vp = tasks[task, 0], tasks[task, 1]
            if own == 0:
                _mano(
                    forest, lists, sums, blocks, deal, sets, trees, v, position_sums, w, root, posted,
                    table_start[vm, vp], vm, vp, reach, gains, base[task], out,
                )  # fmt: skip
            else:
                _pie(
                    forest, lists, sums, blocks, deal, sets, trees, v, position_sums, w, root, posted,
                    table_start[vm, vp], vm, vp, reach, gains, base[task], out,
                )  # fmt: skip
