"""Best responses in trick 1 after an accepted Envido on real cards, in numba; trick2.py goes on from there.

The exploiter ("own") holds real cards. Up to LANES vectors of reach are answered at once, as in trick2.py. Leader and
follower (mano and pie) are functions of their own: mano takes his real cards one by one and meets all chunks of
pie's, pie takes chunks of mano's and meets them with each real card; what happens at a node they share.
"""

from __future__ import annotations

import numpy as np

from solver.jit import inner, njit
from solver.truco.vector.cfr.average import average_shares
from solver.truco.vector.model.address import pair_sizes, table_at, table_rows
from solver.truco.vector.model.trees import LEAF, NO_CHILD, TERMINAL, TURN, terminal_worth
from solver.truco.vector.response.book import LOWEST, Block, Book, Envidos
from solver.truco.vector.response.cards.chunks import Room1, Task
from solver.truco.vector.response.cards.exits import Kernels, tricks
from solver.truco.vector.response.cards.lanes import (
    LANES,
    add1,
    add3,
    fill,
    is_zero,
    join_rows,
    put1,
    top1,
)
from solver.truco.vector.response.cards.room import GROUPS, Room
from solver.truco.vector.response.cards.table import Deck


@inner
def _holds_all(first: int, end: int, x: int, y: int, z: int) -> bool:
    """Whether every card of a chunk is one of these, which leaves none for the other player."""
    return (first <= x < end) + (first <= y < end) + (first <= z < end) == end - first


@inner
def _add_shifted(
    out: np.ndarray, i: int, to: int, x: np.ndarray, j: int, of: int, vectors: int, f: float
) -> None:
    """Adds f times lanes of a row, from `of` on, to as many lanes of another, from `to` on."""
    for lane in range(vectors):
        out[i, to + lane] += f * x[j, of + lane]


@inner
def _clear_masses(u: Room1) -> None:
    for i in range(len(u.single)):
        fill(u.single, i, 0.0)
    for i in range(len(u.pair)):
        fill(u.pair, i, 0.0)
    fill(u.total, 0, 0.0)


@inner
def _mass(deck: Deck, u: Room1, h: int, out: np.ndarray, at: int) -> None:
    """out[at] = u.total without u.single and with u.pair of the hand: hands that share no card, triples left out."""
    x, y, z = deck.hands[h, 0], deck.hands[h, 1], deck.hands[h, 2]
    cards = len(u.single)
    put1(out, at, u.total, 0, 1.0)
    add3(out, at, u.single, x, -1.0, u.single, y, -1.0, u.single, z, -1.0)
    add3(out, at, u.pair, x * cards + y, 1.0, u.pair, x * cards + z, 1.0, u.pair, y * cards + z, 1.0)


@inner
def _hand_mass(deck: Deck, u: Room1, own_set: int, other_set: int, to: int) -> None:
    """u.folds[to + i] = sum of u.line over the other's hands disjoint from own hand i."""
    _clear_masses(u)
    sets, cards = deck.sets, len(u.single)
    for j in range(sets.count[other_set]):
        if is_zero(u.line, j):
            continue
        h = sets.hand[other_set, j]
        x, y, z = deck.hands[h, 0], deck.hands[h, 1], deck.hands[h, 2]
        add1(u.total, 0, u.line, j, 1.0)
        add1(u.single, x, u.line, j, 1.0)
        add1(u.single, y, u.line, j, 1.0)
        add1(u.single, z, u.line, j, 1.0)
        add1(u.pair, x * cards + y, u.line, j, 1.0)
        add1(u.pair, x * cards + z, u.line, j, 1.0)
        add1(u.pair, y * cards + z, u.line, j, 1.0)
    for i in range(sets.count[own_set]):
        h = sets.hand[own_set, i]
        _mass(deck, u, h, u.folds, to + i)
        j = sets.index[other_set, h]
        if j >= 0:
            add1(u.folds, to + i, u.line, j, -1.0)


@inner
def _mix_hands(
    deck: Deck, e: Envidos, u: Room1, node: int, k: int, own_set: int, other_set: int, own: int, tier: int
) -> None:
    """The policy's strategy by hand of its set, to u.mix[k]; tier: of mano's card, if it lies."""
    trees, v = e.trees, e.lists
    vm, vp = (own_set, other_set) if own == 0 else (other_set, own_set)
    pair_sizes(v, vm, vp, u.sizes)
    at = table_at(trees.place, node, e.tables[vm, vp], u.sizes)
    first, stride = table_rows(1 - own, trees.stage[node], at, u.sizes, tier, 0)
    turn, actions, mix = trees.kind[node] == TURN, trees.actions[node], u.mix[k]
    for j in range(deck.sets.count[other_set]):
        row = deck.sets.row[other_set, j]
        legal = 7
        if turn:
            places = v.legal[other_set, row]
            legal = int(places[0]) + 2 * int(places[1]) + 4 * int(places[2]) + 8
        average_shares(e.sums, first + row, stride, actions, legal, mix, j)


@inner
def _fold_masses(
    deck: Deck, e: Envidos, u: Room1, node: int, k: int, own_set: int, other_set: int, own: int
) -> None:
    """What folds at an answer are worth by own hand, to u.folds: the other's reach, by his strategy if he answers."""
    theirs = e.trees.role[node] != own
    for j in range(deck.sets.count[other_set]):
        put1(u.line, j, u.reach, k * u.stride + j, u.mix[k, 1, j] if theirs else 1.0)
    _hand_mass(deck, u, own_set, other_set, k * u.stride)


@inner
def _descend(deck: Deck, e: Envidos, u: Room1, task: Task, own: int, stage: int, tier: int) -> None:
    """The policy in nodes of a stage, by hand of its set: reach, strategy and what folds are worth.

    tier: of mano's card once it lies, which only a mano who exploits asks for.
    """
    trees, lanes, sets = e.trees, e.reach.reshape(-1, LANES), deck.sets
    for node in range(e.root, e.root + trees.nodes[e.root]):
        if trees.stage[node] != stage:
            continue
        parent = trees.parent[node]
        theirs = parent >= 0 and trees.role[parent] != own
        for g in range(len(task.owns)):
            k, up = (node - e.root) * GROUPS + g, (parent - e.root) * GROUPS + g
            for j in range(sets.count[task.theirs]):
                if parent < 0:
                    row = tier * e.reach.shape[1] + deck.cls[sets.hand[task.theirs, j]]
                    put1(u.reach, k * u.stride + j, lanes, row, 1.0)
                else:
                    f = u.mix[up, trees.action[node], j] if theirs else 1.0
                    put1(u.reach, k * u.stride + j, u.reach, up * u.stride + j, f)
            if trees.role[node] != own:
                _mix_hands(deck, e, u, node, k, task.owns[g], task.theirs, own, tier)
            if trees.kind[node] != TURN:
                _fold_masses(deck, e, u, node, k, task.owns[g], task.theirs, own)


@inner
def _join_children(
    e: Envidos, u: Room1, node: int, g: int, own: int, n: int, folds: np.ndarray, value: np.ndarray
) -> None:
    """Value of a node from its children's, for group g; that of cards is in its rows of `value` already."""
    trees = e.trees
    at = ((node - e.root) * GROUPS + g) * u.stride
    mine, turn = trees.role[node] == own, trees.kind[node] == TURN
    for a in range(1 if turn else 0, 3):
        code = trees.child[node, a]
        if code == NO_CHILD:
            continue
        if code <= TERMINAL:
            join_rows(value, at, folds, at, n, terminal_worth(code, own, e.gains), a == 0, mine)
        else:
            below = ((code - e.root) * GROUPS + g) * u.stride
            join_rows(value, at, value, below, n, 1.0, a == 0, mine)


@inner
def _finish(deck: Deck, e: Envidos, u: Room1, task: Task, own: int, out: np.ndarray) -> None:
    """Values before mano's card from u.cards to out."""
    trees = e.trees
    for g in range(len(task.owns)):
        n = deck.sets.count[task.owns[g]]
        for node in range(e.root + trees.nodes[e.root] - 1, e.root - 1, -1):
            if trees.stage[node] == 1:
                continue
            at = ((node - e.root) * GROUPS + g) * u.stride
            if trees.kind[node] == TURN:
                join_rows(u.before, at, u.cards, at, n, 1.0, True, True)
            _join_children(e, u, node, g, own, n, u.folds, u.before)
        join_rows(out, task.base[g], u.before, g * u.stride, n, 1.0, True, True)


@inner
def _any_reach(w: Room, j: int, groups: int) -> bool:
    """Whether the other's pair j is held by anybody."""
    live = False
    for g in range(groups):
        live = live or not is_zero(w.pairs.other_reach, g * w.pairs.own.shape[1] + j)
    return live


@inner
def _clear_reach(w: Room, j: int, groups: int) -> None:
    for g in range(groups):
        fill(w.pairs.other_reach, g * w.pairs.own.shape[1] + j, 0.0)


@inner
def _own_pairs(
    deck: Deck, w: Room, u: Room1, task: Task, card: int, first: int, end: int, by_hand: bool
) -> int:
    """Pairs left to own hands of all groups beside a card, with one card of a chunk still to be had; their number.

    u.back: place of the value by (hand, card) of that card, or by hand.
    """
    sets, size = deck.sets, 0
    for g in range(len(task.owns)):
        begin = sets.start[task.owns[g], card]
        for at in range(begin, sets.start[task.owns[g], card + 1]):
            low, high = sets.low[task.owns[g], at], sets.high[task.owns[g], at]
            if not _holds_all(first, end, card, low, high):
                w.pairs.own[0, size], w.pairs.own[1, size], w.pairs.own_group[size] = low, high, g
                place = sets.member[task.owns[g], at] if by_hand else at - begin
                u.back[size] = g * u.stride + place
                size += 1
    return size


@inner
def _block(book: Book, e: Envidos, node: int, vm: int, vp: int) -> Block:
    """Tables of tricks 2 and 3 behind the second card of trick 1 at a node."""
    group = e.trees.leaf_group[e.trees.child[node, 0] - LEAF]
    return Block(group, book.block[group, vm, vp], book.bucket[0, group, vm], book.bucket[1, group, vp])


# ------------------------------------------------------------------------------------------------- mano exploits


@inner
def _pies_pairs(deck: Deck, e: Envidos, w: Room, u: Room1, task: Task, k: int, a: int, chunk: int) -> int:
    """Pie's pairs beside mano's card a and a chunk of his own cards, with his reach after node k / GROUPS, in
    w.pairs; their number. Entries that leave the same two cards share a row, in the lanes of their first cards.
    """
    sets, chunks, groups = deck.sets, task.chunks, len(task.owns)
    half, vectors, vp = w.pairs.own.shape[1], e.count, task.theirs
    b, end = chunks.start[chunk], chunks.start[chunk + 1]
    at, last = sets.start[vp, b], sets.start[vp, end]
    others = 0
    while at < last:
        low, high = sets.low[vp, chunks.order[at]], sets.high[vp, chunks.order[at]]
        _clear_reach(w, others, groups)
        while True:
            entry = chunks.order[at]
            if a not in (low, high, b + chunks.copy[entry]):
                j, place = sets.member[vp, entry], sets.place[vp, entry]
                h = sets.hand[vp, j]
                for g in range(groups):
                    f = u.mix[k + g, deck.slot[h, place], j] * deck.share[h, place]
                    _add_shifted(
                        w.pairs.other_reach, g * half + others, chunks.copy[entry] * vectors, u.reach,
                        (k + g) * u.stride + j, 0, vectors, f,
                    )  # fmt: skip
            at += 1
            if at == last or chunks.fresh[at]:
                break
        if _any_reach(w, others, groups):
            w.pairs.other[0, others], w.pairs.other[1, others] = low, high
            others += 1
    return others


@inner
def _meet_pie(
    book: Book, deck: Deck, e: Envidos, w: Room, u: Room1, kernels: Kernels, task: Task, meet: tuple[int, int]
) -> None:
    """Adds to u.value what follows mano's card and pie's of a chunk; `meet` is (card, chunk)."""
    a, chunk = meet
    trees, groups = e.trees, len(task.owns)
    b, end = task.chunks.start[chunk], task.chunks.start[chunk + 1]
    size = _own_pairs(deck, w, u, task, a, b, end, False)
    if size == 0:
        return
    for node in range(e.root, e.root + trees.nodes[e.root]):
        if trees.stage[node] == 0 or trees.kind[node] != TURN:
            continue
        k = (node - e.root) * GROUPS
        others = _pies_pairs(deck, e, w, u, task, k, a, chunk)
        if others == 0:
            continue
        block = _block(book, e, node, task.owns[0], task.theirs)
        gains = book.gains[block.group]
        tricks(book, deck, w, kernels, block, (a, b), (size, others, groups), u.sizes2, gains)
        for i in range(size):
            for card in range(b, end):
                if card not in (a, w.pairs.own[0, i], w.pairs.own[1, i]):
                    _add_shifted(
                        u.value, k * u.stride + u.back[i], 0, w.second.before, i, (card - b) * e.count, e.count, 1.0
                    )  # fmt: skip


@inner
def _finish_card(deck: Deck, e: Envidos, u: Room1, task: Task, a: int, out: np.ndarray) -> None:
    """Values after mano's card a by the hands that hold it, to out or as best card to u.cards."""
    sets, trees = deck.sets, e.trees
    last = e.root + trees.nodes[e.root]
    for g in range(len(task.owns)):
        own_set = task.owns[g]
        first = sets.start[own_set, a]
        n = sets.start[own_set, a + 1] - first
        # Folds of the hands that hold this card, in the rows' order; before his card no node of this stage is read.
        for node in range(last - 1, e.root - 1, -1):
            if trees.stage[node] == 0:
                continue
            at = ((node - e.root) * GROUPS + g) * u.stride
            if trees.kind[node] != TURN:
                for i in range(n):
                    put1(u.before, at + i, u.folds, at + sets.member[own_set, first + i], 1.0)
            _join_children(e, u, node, g, 0, n, u.before, u.value)
        for i in range(n):
            j = sets.member[own_set, first + i]
            if e.posted:
                row = task.base[g] + 3 * j + sets.place[own_set, first + i]
                put1(out, row, u.value, g * u.stride + i, 1.0)
                continue
            for node in range(e.root, last):
                if trees.stage[node] == 0 and trees.kind[node] == TURN:
                    below = ((trees.child[node, 0] - e.root) * GROUPS + g) * u.stride + i
                    top1(u.cards, ((node - e.root) * GROUPS + g) * u.stride + j, u.value, below, 1.0)


@njit(nogil=True, error_model="numpy")
def respond_mano(
    book: Book, deck: Deck, e: Envidos, w: Room, u: Room1, kernels: Kernels, task: Task, out: np.ndarray
) -> None:
    """Mano exploits. Writes to out [rows, LANES] what accepted Envidos add to his utility beyond what has been paid,
    from row task.base[g] on: by hand i of own set g, or by 3 i + place of his card once it lies.

    e.reach float64 [1 or tiers, classes, LANES]: pie's, by tier of mano's card once it lies, in the first e.count
    lanes. Calls for other tasks may run at the same time, each with its own w and u.
    """
    sets, trees, groups = deck.sets, e.trees, len(task.owns)
    for i in range(len(u.cards)):
        fill(u.cards, i, LOWEST)
    _descend(deck, e, u, task, 0, 0, 0)
    tier = -1
    for a in range(len(deck.tier)):
        held = False
        for g in range(groups):
            held |= sets.start[task.owns[g], a] < sets.start[task.owns[g], a + 1]
        if not held:
            continue
        if deck.tier[a] != tier:
            tier = deck.tier[a]
            _descend(deck, e, u, task, 0, 1, tier)
        for node in range(e.root, e.root + trees.nodes[e.root]):
            if trees.stage[node] == 1 and trees.kind[node] == TURN:
                at = (node - e.root) * GROUPS * u.stride
                for i in range(groups * u.stride):
                    fill(u.value, at + i, 0.0)
        for chunk in range(len(task.chunks.start) - 1):
            b, end = task.chunks.start[chunk], task.chunks.start[chunk + 1]
            if sets.start[task.theirs, b] < sets.start[task.theirs, end]:
                _meet_pie(book, deck, e, w, u, kernels, task, (a, chunk))
        _finish_card(deck, e, u, task, a, out)
    if not e.posted:
        _finish(deck, e, u, task, 0, out)


# -------------------------------------------------------------------------------------------------- pie exploits


@inner
def _chunk_reach(deck: Deck, e: Envidos, u: Room1, task: Task, node: int, g: int, chunk: int) -> None:
    """Mano's reach at a node after his card of a chunk, by (hand, card), in the lanes of the card."""
    trees, sets, lanes = e.trees, deck.sets, e.reach.reshape(-1, LANES)
    vm, vectors, chunks = task.theirs, e.count, task.chunks
    low, high = sets.start[vm, chunks.start[chunk]], sets.start[vm, chunks.start[chunk + 1]]
    parent = trees.parent[node]
    k, up = (node - e.root) * GROUPS + g, (parent - e.root) * GROUPS + g
    for entry in range(low, high):
        j, place = sets.member[vm, entry], sets.place[vm, entry]
        h = sets.hand[vm, j]
        to = k * u.stride + entry - low
        lane = chunks.copy[entry] * vectors
        if parent < 0:
            fill(u.reach, to, 0.0)
            _add_shifted(u.reach, to, lane, lanes, deck.combo[h, place], 0, vectors, deck.share[h, place])
        elif trees.stage[parent] == 0:
            f = u.mix[up, deck.slot[h, place], j] * deck.share[h, place]
            fill(u.reach, to, 0.0)
            _add_shifted(u.reach, to, lane, u.reach, up * u.stride + j, 0, vectors, f)
        else:
            f = u.mix[up, trees.action[node], entry - low] if trees.role[parent] == 0 else 1.0
            put1(u.reach, to, u.reach, up * u.stride + entry - low, f)


@inner
def _chunk_folds(deck: Deck, e: Envidos, u: Room1, task: Task, node: int, g: int, chunk: int) -> None:
    """What folds at an answer after mano's card are worth to own hands, to u.folds."""
    sets, vm, cards = deck.sets, task.theirs, len(u.single)
    low, high = sets.start[vm, task.chunks.start[chunk]], sets.start[vm, task.chunks.start[chunk + 1]]
    k = (node - e.root) * GROUPS + g
    _clear_masses(u)
    for entry in range(low, high):
        at = k * u.stride + entry - low
        f = u.mix[k, 1, entry - low] if e.trees.role[node] == 0 else 1.0
        p, q = sets.low[vm, entry], sets.high[vm, entry]
        add1(u.total, 0, u.reach, at, f)
        add1(u.single, p, u.reach, at, f)
        add1(u.single, q, u.reach, at, f)
        add1(u.pair, p * cards + q, u.reach, at, f)
    for i in range(sets.count[task.owns[g]]):
        _mass(deck, u, sets.hand[task.owns[g], i], u.folds, k * u.stride + i)


@inner
def _descend_chunk(deck: Deck, e: Envidos, u: Room1, task: Task, chunk: int) -> None:
    """The policy of mano after his cards of a chunk, by (hand, card); clears what pie's cards will be worth."""
    trees, sets, v, vm = e.trees, deck.sets, e.lists, task.theirs
    first_card = task.chunks.start[chunk]
    low, high = sets.start[vm, first_card], sets.start[vm, task.chunks.start[chunk + 1]]
    tier = deck.tier[first_card]
    for node in range(e.root, e.root + trees.nodes[e.root]):
        if trees.stage[node] == 0:
            continue
        for g in range(len(task.owns)):
            k, own_set = (node - e.root) * GROUPS + g, task.owns[g]
            _chunk_reach(deck, e, u, task, node, g, chunk)
            if trees.role[node] == 0:
                pair_sizes(v, vm, own_set, u.sizes)
                at = table_at(trees.place, node, e.tables[vm, own_set], u.sizes)
                first, stride = table_rows(0, 1, at, u.sizes, tier, v.combo_offset[vm, tier])
                mix = u.mix[k]
                for entry in range(low, high):
                    place = first + sets.combo_place[vm, entry]
                    average_shares(e.sums, place, stride, trees.actions[node], 7, mix, entry - low)
            if trees.kind[node] == TURN:
                for i in range(sets.count[own_set]):
                    fill(u.value, k * u.stride + i, LOWEST)
            else:
                _chunk_folds(deck, e, u, task, node, g, chunk)


@inner
def _manos_pairs(deck: Deck, w: Room, u: Room1, task: Task, k: int, b: int, chunk: int) -> int:
    """As `_pies_pairs`: mano's pairs beside his card of a chunk and pie's card b."""
    sets, chunks, groups = deck.sets, task.chunks, len(task.owns)
    half, vm, a = w.pairs.own.shape[1], task.theirs, chunks.start[chunk]
    first, last = sets.start[vm, a], sets.start[vm, chunks.start[chunk + 1]]
    others, at = 0, first
    while at < last:
        low, high = sets.low[vm, chunks.order[at]], sets.high[vm, chunks.order[at]]
        _clear_reach(w, others, groups)
        while True:
            entry = chunks.order[at]
            if b not in (low, high, a + chunks.copy[entry]):
                for g in range(groups):
                    row = (k + g) * u.stride + entry - first
                    add1(w.pairs.other_reach, g * half + others, u.reach, row, 1.0)
            at += 1
            if at == last or chunks.fresh[at]:
                break
        if _any_reach(w, others, groups):
            w.pairs.other[0, others], w.pairs.other[1, others] = low, high
            others += 1
    return others


@inner
def _meet_mano(
    book: Book, deck: Deck, e: Envidos, w: Room, u: Room1, kernels: Kernels, task: Task, meet: tuple[int, int]
) -> None:
    """Takes into u.value, as a choice of pie's, his card against those of a chunk; `meet` is (card, chunk)."""
    b, chunk = meet
    trees, groups = e.trees, len(task.owns)
    a, end = task.chunks.start[chunk], task.chunks.start[chunk + 1]
    size = _own_pairs(deck, w, u, task, b, a, end, True)
    if size == 0:
        return
    for node in range(e.root, e.root + trees.nodes[e.root]):
        if trees.stage[node] == 0 or trees.kind[node] != TURN:
            continue
        k = (node - e.root) * GROUPS
        others = _manos_pairs(deck, w, u, task, k, b, chunk)
        if others > 0:
            block = _block(book, e, node, task.theirs, task.owns[0])
            gains = book.gains[block.group]
            tricks(book, deck, w, kernels, block, (a, b), (size, others, groups), u.sizes2, gains)
        else:
            for i in range(size):
                fill(w.second.before, i, 0.0)
        for i in range(size):
            top1(u.value, k * u.stride + u.back[i], w.second.before, i, 1.0)


@inner
def _finish_chunk(deck: Deck, e: Envidos, u: Room1, task: Task, chunk: int, out: np.ndarray) -> None:
    """Values after mano's cards of a chunk: to out by card and hand, or added up in u.cards."""
    sets, trees = deck.sets, e.trees
    a, end = task.chunks.start[chunk], task.chunks.start[chunk + 1]
    last = e.root + trees.nodes[e.root]
    for g in range(len(task.owns)):
        n = sets.count[task.owns[g]]
        for node in range(last - 1, e.root - 1, -1):
            if trees.stage[node] == 1:
                _join_children(e, u, node, g, 1, n, u.folds, u.value)
        for i in range(n):
            h = sets.hand[task.owns[g], i]
            for card in range(a, end):
                if card in (deck.hands[h, 0], deck.hands[h, 1], deck.hands[h, 2]):
                    continue
                lane = (card - a) * e.count
                if e.posted:
                    row = task.base[g] + card * n + i
                    _add_shifted(out, row, 0, u.value, g * u.stride + i, lane, e.count, 1.0)
                    continue
                for node in range(e.root, last):
                    if trees.stage[node] == 0 and trees.kind[node] == TURN:
                        below = ((trees.child[node, 0] - e.root) * GROUPS + g) * u.stride + i
                        above = ((node - e.root) * GROUPS + g) * u.stride + i
                        _add_shifted(u.cards, above, 0, u.value, below, lane, e.count, 1.0)


@njit(nogil=True, error_model="numpy")
def respond_pie(
    book: Book, deck: Deck, e: Envidos, w: Room, u: Room1, kernels: Kernels, task: Task, out: np.ndarray
) -> None:
    """Pie exploits. As `respond_mano`; rows are by hand i of own set g, once mano's card lies by card x hands + i.

    e.reach float64 [1, classes or combinations, LANES]: mano's.
    """
    sets = deck.sets
    for i in range(len(u.cards)):
        fill(u.cards, i, 0.0)
    _descend(deck, e, u, task, 1, 0, 0)
    for chunk in range(len(task.chunks.start) - 1):
        a, end = task.chunks.start[chunk], task.chunks.start[chunk + 1]
        if sets.start[task.theirs, a] == sets.start[task.theirs, end]:
            continue
        _descend_chunk(deck, e, u, task, chunk)
        for b in range(len(deck.tier)):
            _meet_mano(book, deck, e, w, u, kernels, task, (b, chunk))
        _finish_chunk(deck, e, u, task, chunk, out)
    if not e.posted:
        _finish(deck, e, u, task, 1, out)
