"""CFR over tricks 2 and 3 of one public situation, in numba: joint weights in, regrets updated, payoffs out.

A situation is a pair of first cards by tier, with what each side can still hold. Everything is computed for all
pairs of holdings at once. `weights[l, f]` is the number of deals (over all deals) in which the leader of trick 2
holds l and the other f, times the reach of the player who is not updated; `payoff[l, f]` is what the updated player
gets when both go on by their current strategies. Regrets and average-strategy sums lie in two float32 arrays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from solver.numba_setup import kernel
from solver.truco.vector.lanes16 import (
    inverse,
    lane_sum,
    larger,
    load,
    prefetch,
    splat,
    store,
    store_first,
    transpose,
    where_above,
)
from solver.truco.vector.trees import END, LEAF, TURN

MAX_TIERS = 16
"""Row length of small matrices: a holding of one card is one of at most 14 tiers."""
LEAST = np.float32(1e-30)
"""Sums of regrets or shares up to this count as none: the reciprocal of a smaller one may overflow."""
MAX_NODES = 48
"""Room for the nodes of one trick tree."""
at_ = np.uint64
"""An index that is never negative: without the check for that, loops become vector instructions."""


class Forest(NamedTuple):
    """Trick trees end to end as schedules, and where each node's table lies in the block of a situation.

    The nodes of a tree lie together, children after their parents. Table places are linear in the sizes of the
    situation: `place @ sizes`, with sizes (leader's pairs, follower's pairs, tiers x follower's pairs, leader's
    ordered pairs, entries of the first and of the second player of trick 3).
    """

    kind: np.ndarray
    """int64 [nodes]: TURN or ANSWER; role, stage, child as in TrickTree, all int64."""
    role: np.ndarray
    stage: np.ndarray
    child: np.ndarray
    """[nodes, 3]; node numbers and leaves are those of the forest."""
    parent: np.ndarray
    """Parent of each node, -1 for a root."""
    action: np.ndarray
    """Number of the parent's action that leads here."""
    actions: np.ndarray
    """Actions of each node; 1 where there is no choice and no table."""
    level: np.ndarray
    """Round value at each TURN."""
    nodes: np.ndarray
    """Number of nodes of the tree, at each root."""
    place: np.ndarray
    """[nodes, 6]; in trick 3 relative to the leaf it hangs on."""
    leaf_root: np.ndarray
    """Root node of trick 3 for each leaf of trick 2."""
    leaf_level: np.ndarray
    leaf_place: np.ndarray
    """[leaves, 6]."""
    third: np.ndarray
    """[nodes, 13]: what trick 3 needs of all these in one array, see ROLE ...; fewer arrays make calls cheaper."""


# Columns of Forest.third.
ROLE, ACTIONS, PARENT, STAGE, ACTION, KIND, LEVEL, NODES, PLACE, CHILD = 0, 1, 2, 3, 4, 5, 6, 7, 8, 10


class Lists(NamedTuple):
    """Holdings of two cards by (values allowed, first card played): lists g, padded."""

    count: np.ndarray  # type: ignore[assignment]
    """int64 [g]."""
    tiers: np.ndarray
    """int64 [g, pairs, 2], strongest first."""
    left_count: np.ndarray
    """int64 [g, tier]: holdings that contain the tier, by what remains when it is played."""
    left_pair: np.ndarray
    """int64 [g, tier, k]: which pair."""
    left_tier: np.ndarray
    """int64 [g, tier, k]: tier of the card that remains."""
    left_slot: np.ndarray
    """int64 [g, tier, k]: place of the played card in the pair."""
    offset: np.ndarray
    """int64 [g, tier]: running sum of left_count."""
    offset_stronger: np.ndarray
    """int64 [g, tier]: running sum of left_count x number of stronger tiers."""
    offset_weaker: np.ndarray
    """int64 [g, tier]: running sum of left_count x number of weaker tiers."""
    size: np.ndarray
    """int64 [g, 3]: the three sums in full."""


class Step(NamedTuple):
    """How one iteration weighs: regrets R <- R x (positive or negative factor) + r, averages S <- S + average x reach
    x strategy; with `floor` negative regrets become 0 (CFR+).

    With `trim` above 0 nothing of that happens: sums of actions below that share of their infoset's become 0.
    """

    positive: float
    negative: float
    average: float
    floor: bool
    trim: float = 0.0


class Third(NamedTuple):
    """Working memory of one thread for trick 3: rows of 16 (MAX_TIERS) numbers in flat arrays; the first index is the
    node's number in its tree. Matrices have the second player's holdings as rows, the first player's as columns.
    """

    pay3: np.ndarray
    """float32 [node x 16 x 16]: payoffs before the first card."""
    post3: np.ndarray
    """float32 [node x 2 x 16]: trick 3 after it, by whether the second player's card wins."""
    mix3: np.ndarray
    """float32 [node x 3 x 2 x 16]: strategies in trick 3; before the first card only the first row counts."""
    gain3: np.ndarray
    """float32 [3 x 2 x 16]."""
    reach3: np.ndarray
    """float32 [node x 2 x 2 x 16]: before the first card [player, 0, holding]; after it [not updated or updated,
    outcome, first card]."""
    mass3: np.ndarray
    """float32 [node x 2 x 16]: weights by outcome and first card, once the first card lies."""
    joint3: np.ndarray
    """float32 [16 x 16]: weights of trick 3."""
    won3: np.ndarray
    """float32 [16 x 16]: 1 where the second player's card wins."""
    turned: np.ndarray
    """float32 [16 x 16]: a matrix with rows as columns."""
    held: np.ndarray
    """float32 [2 x 16]: tiers of the cards left, the leader's of trick 2 first; -1 where there is none."""


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


@njit(cache=True)
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


@kernel
def match_regrets(
    regrets: np.ndarray, begin: int, stride: int, actions: int, n: int, mix: np.ndarray, to: int, row: int
) -> None:
    """Regret matching over two to four actions; uniform where no regret is positive (above LEAST).

    mix[to + a x row + k] from regrets[begin + a x stride + k] for k < n; actions are written out so that the
    loop over holdings becomes vector instructions.
    """
    zero = np.float32(0.0)
    if actions == 2:
        even = np.float32(0.5)
        for k in range(n):
            p0 = max(regrets[at_(begin + k)], zero)
            p1 = max(regrets[at_(begin + stride + k)], zero)
            total = p0 + p1
            scale = np.float32(1.0) / total if total > LEAST else zero
            spare = zero if total > LEAST else even
            mix[at_(to + k)] = p0 * scale + spare
            mix[at_(to + row + k)] = p1 * scale + spare
    elif actions == 3:
        even = np.float32(1.0 / 3.0)
        for k in range(n):
            p0 = max(regrets[at_(begin + k)], zero)
            p1 = max(regrets[at_(begin + stride + k)], zero)
            p2 = max(regrets[at_(begin + 2 * stride + k)], zero)
            total = p0 + p1 + p2
            scale = np.float32(1.0) / total if total > LEAST else zero
            spare = zero if total > LEAST else even
            mix[at_(to + k)] = p0 * scale + spare
            mix[at_(to + row + k)] = p1 * scale + spare
            mix[at_(to + 2 * row + k)] = p2 * scale + spare
    else:
        even = np.float32(0.25)
        for k in range(n):
            p0 = max(regrets[at_(begin + k)], zero)
            p1 = max(regrets[at_(begin + stride + k)], zero)
            p2 = max(regrets[at_(begin + 2 * stride + k)], zero)
            p3 = max(regrets[at_(begin + 3 * stride + k)], zero)
            total = p0 + p1 + p2 + p3
            scale = np.float32(1.0) / total if total > LEAST else zero
            spare = zero if total > LEAST else even
            mix[at_(to + k)] = p0 * scale + spare
            mix[at_(to + row + k)] = p1 * scale + spare
            mix[at_(to + 2 * row + k)] = p2 * scale + spare
            mix[at_(to + 3 * row + k)] = p3 * scale + spare


@kernel
def update(
    regrets: np.ndarray, sums: np.ndarray, begin: int, stride: int, actions: int, n: int, gain: np.ndarray, of: int,
    mix: np.ndarray, to: int, row: int, reach: np.ndarray, own: int, step: Step, value: np.ndarray,
) -> None:  # fmt: skip
    """Adds the regrets of the gains and the average-strategy weights of the mix; or trims the average, see Step.

    Action a of holding k: gain[of + a x row + k], mix[to + a x row + k]; own reach[own + k]; value: work space.
    """
    positive, negative, average = (
        np.float32(step.positive),
        np.float32(step.negative),
        np.float32(step.average),
    )
    zero = np.float32(0.0)
    if step.trim > 0.0:
        for k in range(n):
            total = zero
            for a in range(actions):
                total += sums[at_(begin + a * stride + k)]
            for a in range(actions):
                if sums[at_(begin + a * stride + k)] < np.float32(step.trim) * total:
                    sums[at_(begin + a * stride + k)] = zero
        return
    lowest = zero if step.floor else np.float32(-np.inf)
    for k in range(n):
        value[at_(k)] = mix[at_(to + k)] * gain[at_(of + k)]
    for a in range(1, actions):
        for k in range(n):
            value[at_(k)] += mix[at_(to + a * row + k)] * gain[at_(of + a * row + k)]
    for a in range(actions):
        at, m, g = begin + a * stride, to + a * row, of + a * row
        for k in range(n):
            old = regrets[at_(at + k)]
            fresh = max(old, zero) * positive + min(old, zero) * negative + gain[at_(g + k)] - value[at_(k)]
            regrets[at_(at + k)] = max(fresh, lowest)
        for k in range(n):
            sums[at_(at + k)] += average * reach[at_(own + k)] * mix[at_(m + k)]


@kernel
def _match16(
    regrets: np.ndarray, begin: int, stride: int, actions: int, mix: np.ndarray, to: int, row: int
) -> None:
    """match_regrets of two or three actions for 16 holdings; of those that do not exist it makes no sense."""
    zero, least = splat(np.float32(0.0)), splat(LEAST)
    p0 = larger(load(regrets, begin), zero)
    p1 = larger(load(regrets, begin + stride), zero)
    sum_ = p0 + p1
    if actions == 2:
        scale = where_above(sum_, least, inverse(sum_), zero)
        spare = where_above(sum_, least, zero, splat(np.float32(0.5)))
        store(mix, to, p0 * scale + spare)
        store(mix, to + row, p1 * scale + spare)
    else:
        p2 = larger(load(regrets, begin + 2 * stride), zero)
        sum_ = sum_ + p2
        scale = where_above(sum_, least, inverse(sum_), zero)
        spare = where_above(sum_, least, zero, splat(np.float32(1.0 / 3.0)))
        store(mix, to, p0 * scale + spare)
        store(mix, to + row, p1 * scale + spare)
        store(mix, to + 2 * row, p2 * scale + spare)


@kernel
def _update16(
    regrets: np.ndarray, sums: np.ndarray, begin: int, stride: int, actions: int, n: int, gain: np.ndarray, of: int,
    mix: np.ndarray, to: int, row: int, reach: np.ndarray, own: int, step: Step,
) -> None:  # fmt: skip
    """As `update`, for up to 16 holdings of which the first n exist."""
    zero = splat(np.float32(0.0))
    if step.trim > 0.0:
        all_ = zero
        for a in range(actions):
            all_ = all_ + load(sums, begin + a * stride)
        least = all_ * splat(np.float32(step.trim))
        for a in range(actions):
            old = load(sums, begin + a * stride)
            store_first(sums, begin + a * stride, where_above(least, old, zero, old), n)
        return
    positive, negative = splat(np.float32(step.positive)), splat(np.float32(step.negative))
    weight = splat(np.float32(step.average)) * load(reach, own)
    value = load(mix, to) * load(gain, of)
    for a in range(1, actions):
        value = value + load(mix, to + a * row) * load(gain, of + a * row)
    for a in range(actions):
        at = begin + a * stride
        old = load(regrets, at)
        above = larger(old, zero)
        fresh = above * positive + (old - above) * negative + load(gain, of + a * row) - value
        if step.floor:
            fresh = larger(fresh, zero)
        store_first(regrets, at, fresh, n)
        store_first(sums, at, load(sums, at) + weight * load(mix, to + a * row), n)


@kernel
def _third(
    third: np.ndarray, w: Third, regrets: np.ndarray, sums: np.ndarray, step: Step, root: int, begin: int, n1: int,
    entries: int, first: int, n2: int, entries2: int, second: int, own: int, gains: np.ndarray,
) -> None:  # fmt: skip
    """Trick 3 after two tricks; payoffs to the first matrix of w.pay3.

    Its leader is player 0. Each player's holdings in number, entries in all and first entry. Reads the first rows of
    w.reach3, w.joint3 and w.won3. `own` is the updated player, `gains` [2, 5] are his by whether he wins.
    Holdings that do not exist weigh nothing.
    """
    one, zero = splat(np.float32(1.0)), splat(np.float32(0.0))
    row, both = MAX_TIERS, 2 * MAX_TIERS
    mix3, reach3, mass3, joint3, won3 = w.mix3, w.reach3, w.mass3, w.joint3, w.won3
    gain, pay3, post3 = w.gain3, w.pay3, w.post3
    last = root + third[root, NODES]
    # Tables lie in as many pieces as there are actions; all are fetched at once. What came before has fetched
    # the first entries.
    for node in range(root, last):
        role, actions, late = third[node, ROLE], third[node, ACTIONS], third[node, STAGE] == 1
        if actions == 1:
            continue
        at = begin + third[node, PLACE] * entries + third[node, PLACE + 1] * entries2
        own_first = late or role == 0
        at += first + n1 - 1 if own_first else second + n2 - 1
        stride = entries if own_first else entries2
        for _ in range(2 * actions if late and role == 1 else actions):
            prefetch(regrets, at)
            if role == own:
                prefetch(sums, at)
            at += stride
    for node in range(root, last):
        k = node - root
        role, actions = third[node, ROLE], third[node, ACTIONS]
        parent = third[node, PARENT]
        late = third[node, STAGE] == 1
        here = k * 2 * both  # reach3 of this node
        masses = k * both
        if parent >= 0:
            up = (parent - root) * 2 * both
            m = ((parent - root) * 3 + third[node, ACTION]) * both
            turner = third[parent, ROLE]
            if late and third[parent, STAGE] == 0:
                # The first card falls: from here on by outcome and first card.
                played = load(reach3, up) * load(mix3, m)
                high, sum_ = zero, zero
                if own == 0:
                    for s in range(n2):
                        weight = load(joint3, s * row) * splat(reach3[at_(up + both + s)])
                        sum_ = sum_ + weight
                        high = high + weight * load(won3, s * row)
                    store(mass3, masses, sum_ - high)
                    store(mass3, masses + row, high)
                    store(reach3, here + both, played)
                    store(reach3, here + both + row, played)
                else:
                    mine, mine_high = np.float32(0.0), zero
                    for s in range(n2):
                        weight, won = load(joint3, s * row), load(won3, s * row)
                        reached = reach3[at_(up + both + s)]
                        sum_ = sum_ + weight
                        high = high + weight * won
                        mine += reached
                        mine_high = mine_high + splat(reached) * won
                    store(mass3, masses, (sum_ - high) * played)
                    store(mass3, masses + row, high * played)
                    store(reach3, here + both, splat(mine) - mine_high)
                    store(reach3, here + both + row, mine_high)
                store(reach3, here, one)
                store(reach3, here + row, one)
            elif late:
                change = both if turner == own else 0
                keep = both - change
                above = (parent - root) * both
                for i in range(0, both, row):
                    store(mass3, masses + i, load(mass3, above + i))
                    store(reach3, here + change + i, load(reach3, up + change + i) * load(mix3, m + i))
                    store(reach3, here + keep + i, load(reach3, up + keep + i))
            else:
                change = both if turner == 1 else 0
                keep = both - change
                store(reach3, here + change, load(reach3, up + change) * load(mix3, m))
                store(reach3, here + keep, load(reach3, up + keep))
        m = k * 3 * both
        if actions == 1:
            store(mix3, m, one)
            store(mix3, m + row, one)
            continue
        at = begin + third[node, PLACE] * entries + third[node, PLACE + 1] * entries2
        if not late and role == 1:
            _match16(regrets, at + second, entries2, actions, mix3, m, both)
        elif late and role == 1:
            _match16(regrets, at + first, 2 * entries, actions, mix3, m, both)
            _match16(regrets, at + entries + first, 2 * entries, actions, mix3, m + row, both)
        else:
            _match16(regrets, at + first, entries, actions, mix3, m, both)
            if late:
                for a in range(actions):
                    store(mix3, m + a * both + row, load(mix3, m + a * both))
    for node in range(last - 1, root - 1, -1):
        k = node - root
        role, actions = third[node, ROLE], third[node, ACTIONS]
        mine_ = role == own
        turn = third[node, KIND] == TURN
        at = begin + third[node, PLACE] * entries + third[node, PLACE + 1] * entries2
        here = k * 2 * both
        m = k * 3 * both
        if third[node, STAGE] == 1:
            second_won = gains[0 if own == 1 else 1, third[node, LEVEL]]
            first_won = gains[0 if own == 0 else 1, third[node, LEVEL]]
            out = k * both
            lost_, won_ = zero, zero
            mass_lost = load(mass3, out) * load(reach3, here)
            mass_won = load(mass3, out + row) * load(reach3, here + row)
            for a in range(actions):
                code = third[node, CHILD + a]
                if code >= 0 and code < LEAF:
                    below = (code - root) * both
                    low, high = load(post3, below), load(post3, below + row)
                elif code <= END:
                    low = splat(gains[0 if (END - code) // 5 == own else 1, (END - code) % 5])
                    high = low
                else:
                    low, high = splat(first_won), splat(second_won)
                lost_ = lost_ + load(mix3, m + a * both) * low
                won_ = won_ + load(mix3, m + a * both + row) * high
                if mine_:
                    gain_lost, gain_won = mass_lost * low, mass_won * high
                    if role == 1:
                        store(gain, a * both, gain_lost)
                        store(gain, a * both + row, gain_won)
                    else:
                        store(gain, a * both, gain_lost + gain_won)
            store(post3, out, lost_)
            store(post3, out + row, won_)
            if not mine_ or actions == 1:
                continue
            if role == 1:
                _update16(
                    regrets, sums, at + first, 2 * entries, actions, n1, gain, 0, mix3, m, both, reach3, here + both,
                    step,
                )  # fmt: skip
                _update16(
                    regrets, sums, at + entries + first, 2 * entries, actions, n1, gain, row, mix3, m + row, both,
                    reach3, here + both + row, step,
                )  # fmt: skip
            else:
                _update16(
                    regrets, sums, at + first, entries, actions, n1, gain, 0, mix3, m, both, reach3, here + both,
                    step,
                )  # fmt: skip
            continue
        other = here + (both if role == 0 else 0)  # reach of the player who does not move
        out = k * row * row
        faced = load(reach3, here)  # reach of the first player
        for a in range(actions):
            code = third[node, CHILD + a]
            to = m + a * both
            falls, ends = turn and a == 0, code <= END
            low, extra = zero, zero
            below = 0
            if falls:
                below = (code - root) * both
                low = load(post3, below)
                extra = load(post3, below + row) - low
            elif ends:
                low = splat(gains[0 if (END - code) // 5 == own else 1, (END - code) % 5])
            else:
                below = (code - root) * row * row
            chance = load(mix3, to)
            found = zero
            for s in range(n2):
                line = s * row
                if falls:
                    value = low + extra * load(won3, line)
                elif ends:
                    value = low
                else:
                    value = load(pay3, below + line)
                part = (chance if role == 0 else splat(mix3[at_(to + s)])) * value
                store(pay3, out + line, part if a == 0 else load(pay3, out + line) + part)
                if mine_:
                    weighted = load(joint3, line) * value
                    if role == 0:
                        found = found + weighted * splat(reach3[at_(other + s)])
                    else:
                        gain[at_(a * both + s)] = lane_sum(weighted * faced)
            if mine_ and role == 0:
                store(gain, a * both, found)
        if mine_ and actions > 1:
            _update16(
                regrets, sums, at + (first if role == 0 else second), entries if role == 0 else entries2, actions,
                n1 if role == 0 else n2, gain, 0, mix3, m, both, reach3, here + both * role, step,
            )  # fmt: skip


@kernel
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


@kernel
def _table_at(forest: Forest, node: int, begin: int, sizes: np.ndarray) -> int:
    at = begin
    for i in range(6):
        at += forest.place[node, i] * sizes[i]
    return at


@kernel
def _ascend(
    forest: Forest, w: Scratch, node: int, root: int, nl: int, nf: int, weights: np.ndarray, own: int,
    gains: np.ndarray, row: int,
) -> None:  # fmt: skip
    """Payoffs and counterfactual values (w.gain2) of a node before the first card of trick 2.

    Those of the cards have been added before.
    """
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
        end = code <= END
        constant = np.float32(0.0)
        if end:
            constant = gains[0 if (END - code) // 5 == own else 1, (END - code) % 5]
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


@kernel
def _follow(
    forest: Forest, lists: Lists, w: Scratch, regrets: np.ndarray, sums: np.ndarray, step: Step, root: int,
    begin: int, sizes: np.ndarray, gl: int, gf: int, tie: bool, x: int, weights: np.ndarray, own: int,
    gains: np.ndarray, row: int,
) -> None:  # fmt: skip
    """Trick 2 after the leader's card x, for all nodes of the tree: payoffs to w.pay1, updates of stage 1."""
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
        at = _table_at(forest, node, begin, sizes)
        if role == 1:
            match_regrets(regrets, at + x * nf, sizes[2], actions, nf, mix2[k], 0, row)
            if forest.kind[node] == TURN:
                _card_mix(nf, actions, lists.tiers[gf], mix2[k], row)
        else:
            _match16(regrets, at + lists.offset[gl, x], sizes[3], actions, mix2, k * wide, row)
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
        if tie:
            n1, entries, start1 = nl, lists.size[gl, 0], lists.offset[gl, x]
            n2, entries2, start2 = left, lists.size[gf, 0], lists.offset[gf, y]
        else:
            n1, entries, start1 = left, lists.size[gf, 2], lists.offset_weaker[gf, y] + (x - y - 1) * left
            n2, entries2, start2 = nl, lists.size[gl, 1], lists.offset_stronger[gl, x] + y * nl
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
                below = begin
                for i in range(6):
                    below += forest.leaf_place[leaf, i] * sizes[i]
                # Reaches of the players of trick 3; its first is the leader of trick 2 only after two pardas.
                first = 0 if tie else 2 * MAX_TIERS
                for i in range(MAX_TIERS):
                    reach3[first + i] = reach2[k, i] if i < nl else np.float32(0.0)
                    reach3[2 * MAX_TIERS - first + i] = np.float32(0.0)
                for i in range(left):
                    pair = lists.left_pair[gf, y, i]
                    reach3[2 * MAX_TIERS - first + i] = (
                        reach2[k, at_(row + pair)] * mix2[k, at_(lists.left_slot[gf, y, i] * row + pair)]
                    )
                _third(
                    forest.third, w.third, regrets, sums, step, forest.leaf_root[leaf], below, n1, entries, start1,
                    n2, entries2, start2, own if tie else 1 - own, gains,
                )  # fmt: skip
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
            end = code <= END
            constant = np.float32(0.0)
            if end:
                constant = gains[0 if (END - code) // 5 == own else 1, (END - code) % 5]
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
            at = _table_at(forest, node, begin, sizes)
            if role == 1:
                update(
                    regrets, sums, at + x * nf, sizes[2], actions, nf, gain, 0, mix2[k], 0, row, reach2[k], row, step,
                    w.value,
                )  # fmt: skip
            else:
                _update16(
                    regrets, sums, at + lists.offset[gl, x], sizes[3], actions, nl, gain, 0, mix2, k * wide, row,
                    reach2, k * 2 * row, step,
                )  # fmt: skip


@kernel
def block_sizes(lists: Lists, gl: int, gf: int, tie: bool, sizes: np.ndarray) -> None:
    """Writes the six sizes of a situation (see Forest) for the leader's and follower's lists."""
    sizes[0] = lists.count[gl]
    sizes[1] = lists.count[gf]
    sizes[2] = lists.count[gf] * lists.left_count.shape[1]
    sizes[3] = lists.size[gl, 0]
    sizes[4] = lists.size[gl, 0] if tie else lists.size[gf, 2]
    sizes[5] = lists.size[gf, 0] if tie else lists.size[gl, 1]


@kernel
def solve_block(
    forest: Forest, lists: Lists, w: Scratch, regrets: np.ndarray, sums: np.ndarray, step: Step, root: int,
    begin: int, sizes: np.ndarray, gl: int, gf: int, tie: bool, weights: np.ndarray, own_reach: np.ndarray,
    own: int, gains: np.ndarray,
) -> None:  # fmt: skip
    """One update of the `own` role (0 leads trick 2) in a situation; payoffs to w.pay0[0].

    weights float32 [leader's pairs, follower's pairs and then zeros up to a multiple of 16]; own_reach float32 [own
    pairs]; gains float32 [2, 5]: what the updated player gets by winning or losing 0-4 points. `root` is the node of
    trick 2, `begin` the first table entry.
    """
    nl, nf, tiers = lists.count[gl], lists.count[gf], lists.left_count.shape[1]
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
        match_regrets(regrets, _table_at(forest, node, begin, sizes), n, actions, n, mix2[k], 0, row)
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
        _follow(
            forest,
            lists,
            w,
            regrets,
            sums,
            step,
            root,
            begin,
            sizes,
            gl,
            gf,
            tie,
            x,
            weights,
            own,
            gains,
            row,
        )
        for node in range(root, last):
            if forest.stage[node] == 1 or forest.kind[node] != TURN:
                continue
            k = node - root
            below = forest.child[node, 0] - root
            found = splat(np.float32(0.0))
            for j in range(0, nf, MAX_TIERS):
                for pair in range(j, min(j + MAX_TIERS, nf)):
                    line = pair * MAX_TIERS
                    met = load(w.joint2, line) * splat(reach2[k, at_(row + pair)])
                    found = found + met * load(w.pay1, below * long + line)
                transpose(turned, 0, w.pay1, below * long + j * MAX_TIERS)
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
        _ascend(forest, w, node, root, nl, nf, weights, own, gains, row)
        if role == own:
            n = nl if role == 0 else nf
            at = _table_at(forest, node, begin, sizes)
            update(
                regrets, sums, at, n, forest.actions[node], n, w.gain2, 0, mix2[k], 0, row, reach2[k], row * role,
                step, w.value,
            )  # fmt: skip
