"""Best responses in trick 1 after an accepted Envido, and sums over real hands, in numba.

The exploiter ("own") holds real cards; see respond.py, which goes on from trick 2. Cards are numbered from the
strongest tier to the weakest, hands are ascending triples of them. Up to LANES vectors of reach are answered at once,
as in respond.py: arrays called lanes are float64 [rows, LANES].

Where an accepted Envido comes with few vectors, the lanes are filled by first cards of the policy: those of one tier
meet the same tables, so `copies` of them are answered together, vector x of copy c in lane c x vectors + x.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange

from solver.jit import njit
from solver.truco.vector.model.address import block_sizes
from solver.truco.vector.model.forest import Forest, Lists
from solver.truco.vector.model.positions import PositionTrees, ValueLists
from solver.truco.vector.model.trees import LEAF, TERMINAL, TURN
from solver.truco.vector.response.cards.lanes import LANES, add1, add3, fill, is_zero, put1, top1
from solver.truco.vector.response.cards.tricks import GROUPS, Room, gather, make_room, respond

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


@njit
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


@njit
def _tricks(
    forest: Forest, lists: Lists, w: Room, sums: np.ndarray, blocks: Blocks, group: int, block: int, bucket_mano: int,
    bucket_pie: int, a: int, b: int, n: int, m: int, groups: int, own: int, sizes: np.ndarray,
) -> None:  # fmt: skip
    """Tricks 2 and 3 after real first cards a, b: values of own pairs to the first rows of w.before."""
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
        blocks.table[block, ta, tb], sizes, gl, gf, tie, (own == 1) == pie_leads, n, m, groups,
        blocks.gain[group],
    )  # fmt: skip


@njit
def _exit(
    forest: Forest, lists: Lists, sums: np.ndarray, blocks: Blocks, deal: Deal, w: Room, group: int, block: int,
    reach: np.ndarray, own: int, a: int, b: int, pair_number: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """One pair of real first cards at an exit; see sweep_exit."""
    cards = len(deal.tier)
    other_first = b if own == 0 else a
    row = deal.tier[a] * reach.shape[1] if own == 0 else 0
    lanes = reach.reshape(-1, LANES)
    n = 0
    m = 0
    for p in range(cards):
        for q in range(p + 1, cards):
            if p in (a, b) or q in (a, b):
                continue
            w.own[0, n], w.own[1, n], w.own_group[n] = p, q, 0
            n += 1
            h = deal.hand_at[other_first, p, q]
            place = 0
            while deal.hands[h, place] != other_first:
                place += 1
            at = row + deal.combo[h, place]
            if not is_zero(lanes, at):
                w.other[0, m], w.other[1, m] = p, q
                put1(w.other_reach, m, lanes, at, deal.share[h, place])
                m += 1
    if m == 0:
        return
    _tricks(forest, lists, w, sums, blocks, group, block, 0, 0, a, b, n, m, 1, own, np.zeros(6, np.int64))
    begin = (a * cards + b) * out.shape[2]
    values = out.reshape(-1, LANES)
    for i in range(n):
        put1(values, begin + pair_number[w.own[0, i], w.own[1, i]], w.before, i, 1.0)


@njit(parallel=True)
def sweep_exit(
    forest: Forest, lists: Lists, sums: np.ndarray, blocks: Blocks, deal: Deal, group: int, block: int,
    reach: np.ndarray, own: int, order: np.ndarray, strands: int, pair_number: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """Exits of the trunk that share tables: value of every own pair after every pair of real first cards, out [a, b,
    pair, LANES].

    reach float64 [tiers or 1, combinations, LANES]: the other's at each exit, by tier of mano's card if the other is
    pie. order: a x cards + b; `strands` of them run in parallel.
    """
    cards = len(deal.tier)
    for strand in prange(strands):
        w = make_room(deal.tier)
        for at in range(strand, len(order), strands):
            a, b = order[at] // cards, order[at] % cards
            _exit(forest, lists, sums, blocks, deal, w, group, block, reach, own, a, b, pair_number, out)


class Room1(NamedTuple):
    """Working memory for trick 1 of one of the other's sets against own sets g; i an own hand, j one of the other's.
    The row of a node's holding is (node x GROUPS + g) x `stride` + holding.
    """

    stride: int
    reach: np.ndarray
    """Lanes, node, g, j; in pie's exploits after mano's card by (hand, card) of that card."""
    mix: np.ndarray
    """float64 [node x GROUPS + g, 4, j]."""
    line: np.ndarray
    """Lanes, j."""
    folds: np.ndarray
    """Lanes, node, g, i: mass at a fold."""
    value: np.ndarray
    """Lanes, node, g, i: after mano's card."""
    before: np.ndarray
    """Lanes, node, g, i: before it."""
    cards: np.ndarray
    """Lanes, node, g, i: best card, or sums over the other's."""
    single: np.ndarray
    """Lanes, card."""
    pair: np.ndarray
    """Lanes, lower card x cards + higher card."""
    total: np.ndarray
    """Lanes, one row."""
    back: np.ndarray
    """int64 [own pair]: g x stride + place of its value among those of a node."""
    sizes: np.ndarray
    """int64 [g, 4]: what places in the tables of trick 1 count in."""


@njit
def _make_room1(
    nodes: int, n: int, m: int, cards: int, v: ValueLists, vm: np.ndarray, vp: np.ndarray
) -> Room1:
    """For up to n own and m of the other's holdings; vm and vp [g] are what was shown."""
    stride, tiers = max(n, m), v.combo_count.shape[1]
    rows = nodes * GROUPS * stride
    sizes = np.zeros((len(vm), 4), np.int64)
    for g in range(len(vm)):
        sizes[g, 0], sizes[g, 1], sizes[g, 2] = v.count[vm[g]], v.count[vp[g]], v.count[vp[g]] * tiers
        sizes[g, 3] = v.combo_offset[vm[g], tiers - 1] + v.combo_count[vm[g], tiers - 1]
    return Room1(
        stride, np.zeros((rows, LANES)), np.zeros((nodes * GROUPS, 4, m)), np.zeros((m, LANES)),
        np.zeros((rows, LANES)), np.zeros((rows, LANES)), np.zeros((rows, LANES)), np.zeros((rows, LANES)),
        np.zeros((cards, LANES)), np.zeros((cards * cards, LANES)), np.zeros((1, LANES)),
        np.zeros(cards * cards, np.int64), sizes,
    )  # fmt: skip


class Chunks(NamedTuple):
    """First cards of a set of the other's that are answered together, and the pairs left beside them."""

    start: np.ndarray
    """int64 [chunk + 1]: cards from start[c] on, all of one tier."""
    copy: np.ndarray
    """int64 [e]: number of the card of a (hand, card) pair in its chunk."""
    order: np.ndarray
    """int64 [e]: those of a chunk by the cards left, ascending."""
    fresh: np.ndarray
    """bool [e]: whether the cards left differ from those of the entry of `order` before, in the same chunk."""


@njit
def _make_chunks(deal: Deal, sets: Sets, s: int, copies: int) -> Chunks:
    """Of the hands in set s; up to `copies` cards a chunk."""
    cards = len(deal.tier)
    starts = np.zeros(cards + 1, np.int64)
    chunks = 0
    for card in range(cards):
        first = starts[chunks]
        if card > first and (deal.tier[card] != deal.tier[first] or card - first == copies):
            chunks += 1
            starts[chunks] = card
    chunks += 1
    starts[chunks] = cards
    size = sets.start[s, cards]
    copy, order = np.zeros(size, np.int64), np.zeros(size, np.int64)
    fresh = np.ones(size, np.bool_)
    key = sets.low[s, :size] * cards + sets.high[s, :size]
    for c in range(chunks):
        low, high = sets.start[s, starts[c]], sets.start[s, starts[c + 1]]
        for card in range(starts[c], starts[c + 1]):
            copy[sets.start[s, card] : sets.start[s, card + 1]] = card - starts[c]
        order[low:high] = low + np.argsort(key[low:high], kind="mergesort")
        for at in range(low + 1, high):
            fresh[at] = key[order[at]] != key[order[at - 1]]
    return Chunks(starts[: chunks + 1], copy, order, fresh)


@njit
def _holds_all(first: int, end: int, x: int, y: int, z: int) -> bool:
    """Whether every card of a chunk is one of these, which leaves none for the other player."""
    return (first <= x < end) + (first <= y < end) + (first <= z < end) == end - first


@njit
def _add_shifted(
    out: np.ndarray, i: int, to: int, x: np.ndarray, j: int, of: int, vectors: int, f: float
) -> None:
    """Adds f times lanes of a row, from `of` on, to as many lanes of another, from `to` on."""
    for lane in range(vectors):
        out[i, to + lane] += f * x[j, of + lane]


@njit
def _clear_masses(w: Room1) -> None:
    w.single[:] = 0.0
    w.pair[:] = 0.0
    w.total[:] = 0.0


@njit
def _mass(deal: Deal, w: Room1, h: int, out: np.ndarray, at: int) -> None:
    """out[at] = w.total without w.single and with w.pair of the hand: hands that share no card, triples left out."""
    x, y, z = deal.hands[h]
    cards = len(w.single)
    put1(out, at, w.total, 0, 1.0)
    add3(out, at, w.single, x, -1.0, w.single, y, -1.0, w.single, z, -1.0)
    add3(out, at, w.pair, x * cards + y, 1.0, w.pair, x * cards + z, 1.0, w.pair, y * cards + z, 1.0)


@njit
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


@njit
def _hand_mass(
    deal: Deal, sets: Sets, w: Room1, own_set: int, other_set: int, out: np.ndarray, to: int
) -> None:
    """out[to + i] = sum of w.line over the other's hands disjoint from own hand i."""
    _clear_masses(w)
    cards = len(w.single)
    for j in range(sets.count[other_set]):
        if is_zero(w.line, j):
            continue
        x, y, z = deal.hands[sets.hand[other_set, j]]
        add1(w.total, 0, w.line, j, 1.0)
        for card in (x, y, z):
            add1(w.single, card, w.line, j, 1.0)
        for two in (x * cards + y, x * cards + z, y * cards + z):
            add1(w.pair, two, w.line, j, 1.0)
    for i in range(sets.count[own_set]):
        h = sets.hand[own_set, i]
        _mass(deal, w, h, out, to + i)
        j = sets.index[other_set, h]
        if j >= 0:
            add1(out, to + i, w.line, j, -1.0)


@njit
def _table1(trees: PositionTrees, node: int, begin: int, sizes: np.ndarray) -> int:
    at = begin
    for i in range(4):
        at += trees.place[node, i] * sizes[i]
    return at


@njit
def _back(
    trees: PositionTrees, node: int, root: int, g: int, own: int, n: int, gains: np.ndarray, stride: int,
    folds: np.ndarray, value: np.ndarray,
) -> None:  # fmt: skip
    """Value of a node from its children's, for group g; that of cards is in its rows of `value` already."""
    at = ((node - root) * GROUPS + g) * stride
    mine, turn = trees.role[node] == own, trees.kind[node] == TURN
    for a in range(1 if turn else 0, 3):
        code = trees.child[node, a]
        if code == -1:
            continue
        if code <= TERMINAL:
            worth = gains[0 if (TERMINAL - code) // 5 == own else 1, (TERMINAL - code) % 5]
            gather(value, at, folds, at, n, worth, a == 0, mine)
        else:
            gather(value, at, value, ((code - root) * GROUPS + g) * stride, n, 1.0, a == 0, mine)


@njit
def _mano(
    forest: Forest, lists: Lists, sums: np.ndarray, blocks: Blocks, deal: Deal, sets: Sets, trees: PositionTrees,
    v: ValueLists, position_sums: np.ndarray, w: Room, root: int, posted: bool, table_start: np.ndarray,
    owns: np.ndarray, vp: int, reach: np.ndarray, vectors: int, gains: np.ndarray, base: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """Mano exploits with sets owns[g]: row base[g] + i of out, or base[g] + 3 i + place of his card once it lies."""
    chunks = _make_chunks(deal, sets, vp, LANES // vectors)
    cards, tiers, groups = len(deal.tier), v.combo_count.shape[1], len(owns)
    m, most = sets.count[vp], 0
    for g in range(groups):
        most = max(most, sets.count[owns[g]])
    last = root + trees.nodes[root]
    u = _make_room1(last - root, most, m, cards, v, owns, np.full(groups, vp))
    stride, lanes = u.stride, reach.reshape(-1, LANES)
    half = w.own.shape[1]
    sizes6 = np.zeros(6, np.int64)
    u.cards[:] = _LOWEST
    for ta in range(-1, tiers):
        stage = 0 if ta < 0 else 1
        if stage == 1:
            found = False
            for c in range(cards):
                for g in range(groups):
                    found |= deal.tier[c] == ta and sets.start[owns[g], c] < sets.start[owns[g], c + 1]
            if not found:
                continue
        for node in range(root, last):
            if trees.stage[node] != stage:
                continue
            parent = trees.parent[node]
            turn = trees.kind[node] == TURN
            for g in range(groups):
                k, up = (node - root) * GROUPS + g, (parent - root) * GROUPS + g
                for j in range(m):
                    if parent < 0:
                        row = max(ta, 0) * reach.shape[1] + deal.cls[sets.hand[vp, j]]
                        put1(u.reach, k * stride + j, lanes, row, 1.0)
                    else:
                        f = u.mix[up, trees.action[node], j] if trees.role[parent] == 1 else 1.0
                        put1(u.reach, k * stride + j, u.reach, up * stride + j, f)
                if trees.role[node] == 1:
                    at = _table1(trees, node, table_start[owns[g], vp], u.sizes[g])
                    step = v.count[vp]
                    if stage == 1:
                        at += ta * step
                        step = u.sizes[g, 2]
                    for j in range(m):
                        row = sets.row[vp, j]
                        _average(
                            position_sums,
                            at + row,
                            step,
                            trees.actions[node],
                            turn,
                            v.legal[vp, row],
                            u.mix[k],
                            j,
                        )
                if not turn:
                    for j in range(m):
                        f = u.mix[k, 1, j] if trees.role[node] == 1 else 1.0
                        put1(u.line, j, u.reach, k * stride + j, f)
                    _hand_mass(deal, sets, u, owns[g], vp, u.folds, k * stride)
        if stage == 0:
            continue
        for a in range(cards):
            if deal.tier[a] != ta:
                continue
            for node in range(root, last):
                if trees.stage[node] == 1 and trees.kind[node] == TURN:
                    at = (node - root) * GROUPS * stride
                    u.value[at : at + groups * stride] = 0.0
            for chunk in range(len(chunks.start) - 1):
                b, end = chunks.start[chunk], chunks.start[chunk + 1]
                low_e, high_e = sets.start[vp, b], sets.start[vp, end]
                if low_e == high_e:
                    continue
                size = 0
                for g in range(groups):
                    first = sets.start[owns[g], a]
                    for e in range(first, sets.start[owns[g], a + 1]):
                        low, high = sets.low[owns[g], e], sets.high[owns[g], e]
                        if not _holds_all(b, end, a, low, high):
                            w.own[0, size], w.own[1, size], w.own_group[size] = low, high, g
                            u.back[size] = g * stride + e - first
                            size += 1
                if size == 0:
                    continue
                for node in range(root, last):
                    if trees.stage[node] == 0 or trees.kind[node] != TURN:
                        continue
                    k = (node - root) * GROUPS
                    others = 0
                    at = low_e
                    while at < high_e:
                        # Entries that leave the same two cards, in the lanes of their first cards.
                        low, high = sets.low[vp, chunks.order[at]], sets.high[vp, chunks.order[at]]
                        for g in range(groups):
                            fill(w.other_reach, g * half + others, 0.0)
                        while True:
                            e = chunks.order[at]
                            if a not in (low, high, b + chunks.copy[e]):
                                j, place = sets.member[vp, e], sets.place[vp, e]
                                h = sets.hand[vp, j]
                                for g in range(groups):
                                    f = u.mix[k + g, deal.slot[h, place], j] * deal.share[h, place]
                                    _add_shifted(
                                        w.other_reach, g * half + others, chunks.copy[e] * vectors, u.reach,
                                        (k + g) * stride + j, 0, vectors, f,
                                    )  # fmt: skip
                            at += 1
                            if at == high_e or chunks.fresh[at]:
                                break
                        live = False
                        for g in range(groups):
                            live = live or not is_zero(w.other_reach, g * half + others)
                        if live:
                            w.other[0, others], w.other[1, others] = low, high
                            others += 1
                    if others == 0:
                        continue
                    group = trees.leaf_group[trees.child[node, 0] - LEAF]
                    _tricks(
                        forest, lists, w, sums, blocks, group, blocks.block[group, owns[0], vp],
                        blocks.bucket[0, group, owns[0]], blocks.bucket[1, group, vp], a, b, size, others, groups, 0,
                        sizes6,
                    )  # fmt: skip
                    for i in range(size):
                        for card in range(b, end):
                            if card not in (a, w.own[0, i], w.own[1, i]):
                                _add_shifted(
                                    u.value, k * stride + u.back[i], 0, w.before, i, (card - b) * vectors, vectors,
                                    1.0,
                                )  # fmt: skip
            for g in range(groups):
                first = sets.start[owns[g], a]
                n = sets.start[owns[g], a + 1] - first
                # Folds of the hands that hold this card, in the rows' order.
                for node in range(last - 1, root - 1, -1):
                    if trees.stage[node] == 0:
                        continue
                    at = ((node - root) * GROUPS + g) * stride
                    if trees.kind[node] != TURN:
                        for e in range(n):
                            put1(u.before, at + e, u.folds, at + sets.member[owns[g], first + e], 1.0)
                    _back(trees, node, root, g, 0, n, gains, stride, u.before, u.value)
                for e in range(n):
                    i = sets.member[owns[g], first + e]
                    if posted:
                        row = base[g] + 3 * i + sets.place[owns[g], first + e]
                        put1(out, row, u.value, g * stride + e, 1.0)
                        continue
                    for node in range(root, last):
                        if trees.stage[node] == 0 and trees.kind[node] == TURN:
                            below = ((trees.child[node, 0] - root) * GROUPS + g) * stride + e
                            top1(u.cards, ((node - root) * GROUPS + g) * stride + i, u.value, below, 1.0)
    if not posted:
        # The folds before mano's card again: nodes of the two stages are different ones.
        _finish(trees, sets, u, root, 0, owns, gains, base, out)


@njit
def _finish(
    trees: PositionTrees, sets: Sets, u: Room1, root: int, own: int, owns: np.ndarray, gains: np.ndarray,
    base: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """Values before mano's card from u.cards to out."""
    last = root + trees.nodes[root]
    for g in range(len(owns)):
        n = sets.count[owns[g]]
        for node in range(last - 1, root - 1, -1):
            if trees.stage[node] == 1:
                continue
            at = ((node - root) * GROUPS + g) * u.stride
            if trees.kind[node] == TURN:
                gather(u.before, at, u.cards, at, n, 1.0, True, True)
            _back(trees, node, root, g, own, n, gains, u.stride, u.folds, u.before)
        gather(out, base[g], u.before, g * u.stride, n, 1.0, True, True)


@njit
def _pie(
    forest: Forest, lists: Lists, sums: np.ndarray, blocks: Blocks, deal: Deal, sets: Sets, trees: PositionTrees,
    v: ValueLists, position_sums: np.ndarray, w: Room, root: int, posted: bool, table_start: np.ndarray,
    owns: np.ndarray, vm: int, reach: np.ndarray, vectors: int, gains: np.ndarray, base: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """Pie exploits with sets owns[g]: row base[g] + i of out, or + mano's card x own hands once it lies."""
    chunks = _make_chunks(deal, sets, vm, LANES // vectors)
    cards, groups = len(deal.tier), len(owns)
    m, most = sets.count[vm], 0
    for g in range(groups):
        most = max(most, sets.count[owns[g]])
    last = root + trees.nodes[root]
    u = _make_room1(last - root, most, 3 * m, cards, v, np.full(groups, vm), owns)
    stride, lanes = u.stride, reach.reshape(-1, LANES)
    half = w.own.shape[1]
    sizes6 = np.zeros(6, np.int64)
    u.cards[:] = 0.0
    for node in range(root, last):
        if trees.stage[node] == 1:
            continue
        parent = trees.parent[node]
        turn = trees.kind[node] == TURN
        for g in range(groups):
            k, up = (node - root) * GROUPS + g, (parent - root) * GROUPS + g
            for j in range(m):
                if parent < 0:
                    put1(u.reach, k * stride + j, lanes, deal.cls[sets.hand[vm, j]], 1.0)
                else:
                    f = u.mix[up, trees.action[node], j] if trees.role[parent] == 0 else 1.0
                    put1(u.reach, k * stride + j, u.reach, up * stride + j, f)
            if trees.role[node] == 0:
                at = _table1(trees, node, table_start[vm, owns[g]], u.sizes[g])
                for j in range(m):
                    row = sets.row[vm, j]
                    _average(
                        position_sums, at + row, u.sizes[g, 0], trees.actions[node], turn, v.legal[vm, row],
                        u.mix[k], j,
                    )  # fmt: skip
            if not turn:
                for j in range(m):
                    f = u.mix[k, 1, j] if trees.role[node] == 0 else 1.0
                    put1(u.line, j, u.reach, k * stride + j, f)
                _hand_mass(deal, sets, u, owns[g], vm, u.folds, k * stride)
    for chunk in range(len(chunks.start) - 1):
        a, end = chunks.start[chunk], chunks.start[chunk + 1]
        low_e, high_e = sets.start[vm, a], sets.start[vm, end]
        if low_e == high_e:
            continue
        ta = deal.tier[a]
        for node in range(root, last):
            if trees.stage[node] == 0:
                continue
            parent = trees.parent[node]
            for g in range(groups):
                k, up = (node - root) * GROUPS + g, (parent - root) * GROUPS + g
                for e in range(low_e, high_e):
                    j, place = sets.member[vm, e], sets.place[vm, e]
                    h = sets.hand[vm, j]
                    to = k * stride + e - low_e
                    lane = chunks.copy[e] * vectors
                    if parent < 0:
                        fill(u.reach, to, 0.0)
                        _add_shifted(
                            u.reach, to, lane, lanes, deal.combo[h, place], 0, vectors, deal.share[h, place]
                        )
                    elif trees.stage[parent] == 0:
                        f = u.mix[up, deal.slot[h, place], j] * deal.share[h, place]
                        fill(u.reach, to, 0.0)
                        _add_shifted(u.reach, to, lane, u.reach, up * stride + j, 0, vectors, f)
                    else:
                        f = u.mix[up, trees.action[node], e - low_e] if trees.role[parent] == 0 else 1.0
                        put1(u.reach, to, u.reach, up * stride + e - low_e, f)
                if trees.role[node] == 0:
                    at = _table1(trees, node, table_start[vm, owns[g]], u.sizes[g]) + v.combo_offset[vm, ta]
                    for e in range(low_e, high_e):
                        _average(
                            position_sums, at + sets.combo_place[vm, e], u.sizes[g, 3], trees.actions[node], False,
                            v.legal[vm, 0], u.mix[k], e - low_e,
                        )  # fmt: skip
                n = sets.count[owns[g]]
                if trees.kind[node] == TURN:
                    u.value[k * stride : k * stride + n] = _LOWEST
                    continue
                # Mass at a fold: the other's pairs disjoint from own hands.
                _clear_masses(u)
                for e in range(low_e, high_e):
                    at = k * stride + e - low_e
                    f = u.mix[k, 1, e - low_e] if trees.role[node] == 0 else 1.0
                    low, high = sets.low[vm, e], sets.high[vm, e]
                    add1(u.total, 0, u.reach, at, f)
                    add1(u.single, low, u.reach, at, f)
                    add1(u.single, high, u.reach, at, f)
                    add1(u.pair, low * cards + high, u.reach, at, f)
                for i in range(n):
                    _mass(deal, u, sets.hand[owns[g], i], u.folds, k * stride + i)
        for b in range(cards):
            size = 0
            for g in range(groups):
                for e in range(sets.start[owns[g], b], sets.start[owns[g], b + 1]):
                    low, high = sets.low[owns[g], e], sets.high[owns[g], e]
                    if not _holds_all(a, end, b, low, high):
                        w.own[0, size], w.own[1, size], w.own_group[size] = low, high, g
                        u.back[size] = g * stride + sets.member[owns[g], e]
                        size += 1
            if size == 0:
                continue
            for node in range(root, last):
                if trees.stage[node] == 0 or trees.kind[node] != TURN:
                    continue
                k = (node - root) * GROUPS
                others = 0
                at = low_e
                while at < high_e:
                    low, high = sets.low[vm, chunks.order[at]], sets.high[vm, chunks.order[at]]
                    for g in range(groups):
                        fill(w.other_reach, g * half + others, 0.0)
                    while True:
                        e = chunks.order[at]
                        if b not in (low, high, a + chunks.copy[e]):
                            for g in range(groups):
                                row = (k + g) * stride + e - low_e
                                add1(w.other_reach, g * half + others, u.reach, row, 1.0)
                        at += 1
                        if at == high_e or chunks.fresh[at]:
                            break
                    live = False
                    for g in range(groups):
                        live = live or not is_zero(w.other_reach, g * half + others)
                    if live:
                        w.other[0, others], w.other[1, others] = low, high
                        others += 1
                if others > 0:
                    group = trees.leaf_group[trees.child[node, 0] - LEAF]
                    _tricks(
                        forest, lists, w, sums, blocks, group, blocks.block[group, vm, owns[0]],
                        blocks.bucket[0, group, vm], blocks.bucket[1, group, owns[0]], a, b, size, others, groups, 1,
                        sizes6,
                    )  # fmt: skip
                else:
                    for i in range(size):
                        fill(w.before, i, 0.0)
                for i in range(size):
                    top1(u.value, k * stride + u.back[i], w.before, i, 1.0)
        for g in range(groups):
            n = sets.count[owns[g]]
            for node in range(last - 1, root - 1, -1):
                if trees.stage[node] == 1:
                    _back(trees, node, root, g, 1, n, gains, stride, u.folds, u.value)
            for i in range(n):
                hand = deal.hands[sets.hand[owns[g], i]]
                for card in range(a, end):
                    if card in (hand[0], hand[1], hand[2]):
                        continue
                    lane = (card - a) * vectors
                    if posted:
                        _add_shifted(
                            out, base[g] + card * n + i, 0, u.value, g * stride + i, lane, vectors, 1.0
                        )
                        continue
                    for node in range(root, last):
                        if trees.stage[node] == 0 and trees.kind[node] == TURN:
                            below = ((trees.child[node, 0] - root) * GROUPS + g) * stride + i
                            above = ((node - root) * GROUPS + g) * stride + i
                            _add_shifted(u.cards, above, 0, u.value, below, lane, vectors, 1.0)
    if not posted:
        _finish(trees, sets, u, root, 1, owns, gains, base, out)


@njit(parallel=True)
def sweep_accept(
    forest: Forest, lists: Lists, sums: np.ndarray, blocks: Blocks, deal: Deal, sets: Sets, trees: PositionTrees,
    v: ValueLists, position_sums: np.ndarray, root: int, posted: bool, table_start: np.ndarray, tasks: np.ndarray,
    base: np.ndarray, strands: int, reach: np.ndarray, vectors: int, gains: np.ndarray, own: int, out: np.ndarray,
) -> None:  # fmt: skip
    """All outcomes of accepted Envidos of one continuation with the match still on.

    tasks int64 [task, 1 + GROUPS]: the other's set, and own sets, which may be fewer (-1), with the same blocks.
    reach float64 [1 or tiers, classes or combinations, LANES]: the other's at each Envido, as in VectorSolver, in
    the first `vectors` lanes.
    out, lanes: the exploiter's values beyond what has been paid, from row base[task, g] on; see _mano and _pie.
    """
    for strand in prange(strands):
        w = make_room(deal.tier)
        for task in range(strand, len(tasks), strands):
            theirs = tasks[task, 0]
            groups = 0
            while groups < GROUPS and tasks[task, 1 + groups] >= 0:
                groups += 1
            owns = tasks[task, 1 : 1 + groups]
            if own == 0:
                _mano(
                    forest, lists, sums, blocks, deal, sets, trees, v, position_sums, w, root, posted, table_start,
                    owns, theirs, reach, vectors, gains, base[task], out,
                )  # fmt: skip
            else:
                _pie(
                    forest, lists, sums, blocks, deal, sets, trees, v, position_sums, w, root, posted, table_start,
                    owns, theirs, reach, vectors, gains, base[task], out,
                )  # fmt: skip
