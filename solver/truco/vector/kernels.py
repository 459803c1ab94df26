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
    """Working memory of one thread for trick 3; arrays are flat, the first index is the node's number in its tree."""

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
    """float32 [16 x 16]: weights of trick 3, rows the first player."""
    won3: np.ndarray
    """float32 [16 x 16]: 1 where the second player's card wins."""
    value: np.ndarray
    """float32 [32]."""


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
        np.zeros(small * small, real), np.zeros(small * small, real), np.zeros(2 * small, real),
    )  # fmt: skip
    return Scratch(
        np.zeros((d, pairs, pairs), real), np.zeros((d, pairs * small), real), np.zeros(pairs * small, real),
        np.zeros((d, 3 * pairs), real), np.zeros(3 * pairs, real), np.zeros((d, 2, pairs), real),
        np.zeros((d, 2 * pairs), real), np.zeros(pairs, real), third,
    )  # fmt: skip


@njit(cache=True, fastmath=True)
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


@njit(cache=True, fastmath=True)
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


@njit(cache=True, fastmath=True)
def _third(
    third: np.ndarray, w: Third, regrets: np.ndarray, sums: np.ndarray, step: Step, root: int, begin: int, n1: int,
    entries: int, first: int, n2: int, entries2: int, second: int, own: int, gains: np.ndarray,
) -> None:  # fmt: skip
    """Trick 3 after two tricks; payoffs to the first matrix of w.pay3, rows its leader (player 0).

    Each player's holdings in number, entries in all and first entry. Reads the first rows of w.reach3, w.joint3 and
    w.won3. `own` is the updated player, `gains` [2, 5] are his by whether he wins.
    Rows are MAX_TIERS long throughout, holdings that do not exist weigh nothing.
    """
    wide = (max(n1, n2) + 7) // 8 * 8
    one, zero = np.float32(1.0), np.float32(0.0)
    row, both = MAX_TIERS, 2 * MAX_TIERS
    mix3, reach3, mass3, joint3, won3 = w.mix3, w.reach3, w.mass3, w.joint3, w.won3
    gain, pay3, post3, value = w.gain3, w.pay3, w.post3, w.value
    last = root + third[root, NODES]
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
                for f in range(n1):
                    played = reach3[at_(up + f)] * mix3[at_(m + f)]
                    high, total = zero, zero
                    if own == 0:
                        for s in range(wide):
                            weight = joint3[at_(f * row + s)] * reach3[at_(up + both + s)]
                            total += weight
                            high += weight * won3[at_(f * row + s)]
                        mass3[at_(masses + f)] = total - high
                        mass3[at_(masses + row + f)] = high
                        reach3[at_(here + both + f)] = played
                        reach3[at_(here + both + row + f)] = played
                    else:
                        mine_high, mine = zero, zero
                        for s in range(wide):
                            weight = joint3[at_(f * row + s)]
                            total += weight
                            high += weight * won3[at_(f * row + s)]
                            mine += reach3[at_(up + both + s)]
                            mine_high += reach3[at_(up + both + s)] * won3[at_(f * row + s)]
                        mass3[at_(masses + f)] = (total - high) * played
                        mass3[at_(masses + row + f)] = high * played
                        reach3[at_(here + both + f)] = mine - mine_high
                        reach3[at_(here + both + row + f)] = mine_high
                for i in range(both):
                    reach3[at_(here + i)] = one
            elif late:
                change = both if turner == own else 0
                keep = both - change
                above = (parent - root) * both
                for i in range(both):
                    mass3[at_(masses + i)] = mass3[at_(above + i)]
                    reach3[at_(here + change + i)] = reach3[at_(up + change + i)] * mix3[at_(m + i)]
                    reach3[at_(here + keep + i)] = reach3[at_(up + keep + i)]
            else:
                change = both if turner == 1 else 0
                keep = both - change
                for i in range(wide):
                    reach3[at_(here + change + i)] = reach3[at_(up + change + i)] * mix3[at_(m + i)]
                    reach3[at_(here + keep + i)] = reach3[at_(up + keep + i)]
        m = k * 3 * both
        if actions == 1:
            for i in range(both):
                mix3[at_(m + i)] = one
            continue
        at = begin + third[node, PLACE] * entries + third[node, PLACE + 1] * entries2
        if not late and role == 1:
            match_regrets(regrets, at + second, entries2, actions, wide, mix3, m, both)
        elif late and role == 1:
            match_regrets(regrets, at + first, 2 * entries, actions, wide, mix3, m, both)
            match_regrets(regrets, at + entries + first, 2 * entries, actions, wide, mix3, m + row, both)
        else:
            match_regrets(regrets, at + first, entries, actions, wide, mix3, m, both)
            if late:
                for a in range(actions):
                    for i in range(wide):
                        mix3[at_(m + a * both + row + i)] = mix3[at_(m + a * both + i)]
    for node in range(last - 1, root - 1, -1):
        k = node - root
        role, actions = third[node, ROLE], third[node, ACTIONS]
        mine = role == own
        turn = third[node, KIND] == TURN
        at = begin + third[node, PLACE] * entries + third[node, PLACE + 1] * entries2
        here = k * 2 * both
        m = k * 3 * both
        if third[node, STAGE] == 1:
            second_won = gains[0 if own == 1 else 1, third[node, LEVEL]]
            first_won = gains[0 if own == 0 else 1, third[node, LEVEL]]
            out = k * both
            for a in range(actions):
                code = third[node, CHILD + a]
                low, high = first_won, second_won
                if code <= END:
                    low = gains[0 if (END - code) // 5 == own else 1, (END - code) % 5]
                    high = low
                if code >= 0 and code < LEAF:
                    below = (code - root) * both
                    for i in range(both):
                        value[at_(i)] = post3[at_(below + i)]
                else:
                    for i in range(wide):
                        value[at_(i)] = low
                        value[at_(row + i)] = high
                if a == 0:
                    for i in range(both):
                        post3[at_(out + i)] = mix3[at_(m + i)] * value[at_(i)]
                else:
                    for i in range(both):
                        post3[at_(out + i)] += mix3[at_(m + a * both + i)] * value[at_(i)]
                if mine:
                    for i in range(both):
                        gain[at_(a * both + i)] = (
                            mass3[at_(k * both + i)] * reach3[at_(here + i)] * value[at_(i)]
                        )
            if not mine or actions == 1:
                continue
            if role == 1:
                update(
                    regrets, sums, at + first, 2 * entries, actions, n1, gain, 0, mix3, m, both, reach3, here + both,
                    step, value,
                )  # fmt: skip
                update(
                    regrets, sums, at + entries + first, 2 * entries, actions, n1, gain, row, mix3, m + row, both,
                    reach3, here + both + row, step, value,
                )  # fmt: skip
            else:
                for a in range(actions):
                    for i in range(wide):
                        gain[at_(a * both + i)] += gain[at_(a * both + row + i)]
                update(
                    regrets, sums, at + first, entries, actions, n1, gain, 0, mix3, m, both, reach3, here + both,
                    step, value,
                )  # fmt: skip
            continue
        other = here + (both if role == 0 else 0)  # reach of the player who does not move
        out = k * row * row
        for a in range(actions):
            code = third[node, CHILD + a]
            to = m + a * both
            if mine and role == 1:
                for s in range(wide):
                    gain[at_(a * both + s)] = zero
            constant = zero
            if code <= END:
                constant = gains[0 if (END - code) // 5 == own else 1, (END - code) % 5]
            for f in range(n1):
                line = f * row
                if turn and a == 0:
                    below = (code - root) * both + f
                    low = post3[at_(below)]
                    extra = post3[at_(below + row)] - low
                    for s in range(wide):
                        value[at_(s)] = low + extra * won3[at_(line + s)]
                elif code <= END:
                    for s in range(wide):
                        value[at_(s)] = constant
                else:
                    below = (code - root) * row * row + line
                    for s in range(wide):
                        value[at_(s)] = pay3[at_(below + s)]
                if role == 0:
                    weight = mix3[at_(to + f)]
                    if a == 0:
                        for s in range(wide):
                            pay3[at_(out + line + s)] = weight * value[at_(s)]
                    else:
                        for s in range(wide):
                            pay3[at_(out + line + s)] += weight * value[at_(s)]
                    if mine:
                        total = zero
                        for s in range(wide):
                            total += joint3[at_(line + s)] * reach3[at_(other + s)] * value[at_(s)]
                        gain[at_(a * both + f)] = total
                else:
                    if a == 0:
                        for s in range(wide):
                            pay3[at_(out + line + s)] = mix3[at_(to + s)] * value[at_(s)]
                    else:
                        for s in range(wide):
                            pay3[at_(out + line + s)] += mix3[at_(to + s)] * value[at_(s)]
                    if mine:
                        weight = reach3[at_(other + f)]
                        for s in range(wide):
                            gain[at_(a * both + s)] += weight * joint3[at_(line + s)] * value[at_(s)]
        if mine and actions > 1:
            update(
                regrets, sums, at + (first if role == 0 else second), entries if role == 0 else entries2, actions,
                n1 if role == 0 else n2, gain, 0, mix3, m, both, reach3, here + both * role, step, value,
            )  # fmt: skip


@njit(cache=True, fastmath=True)
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


@njit(cache=True, fastmath=True)
def _table_at(forest: Forest, node: int, begin: int, sizes: np.ndarray) -> int:
    at = begin
    for i in range(6):
        at += forest.place[node, i] * sizes[i]
    return at


@njit(cache=True, fastmath=True)
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


@njit(cache=True, fastmath=True)
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
    for j in range(nf):
        for i in range(MAX_TIERS):
            joint2[j * MAX_TIERS + i] = weights[lists.left_pair[gl, x, i], j] if i < nl else np.float32(0.0)
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
            match_regrets(regrets, at + lists.offset[gl, x], sizes[3], actions, nl, mix2[k], 0, row)
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
            for i in range(MAX_TIERS * MAX_TIERS):
                joint3[i] = np.float32(0.0)
            for i in range(nl):
                mine = lists.left_tier[gl, x, i]
                for j in range(left):
                    weight = joint2[lists.left_pair[gf, y, j] * MAX_TIERS + i]
                    theirs = lists.left_tier[gf, y, j]
                    if tie:
                        joint3[i * MAX_TIERS + j] = weight
                        won3[i * MAX_TIERS + j] = 1.0 if theirs < mine else 0.0
                    else:
                        joint3[j * MAX_TIERS + i] = weight
                        won3[j * MAX_TIERS + i] = 1.0 if mine <= theirs else 0.0
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
            for j in range(left):
                pair = lists.left_pair[gf, y, j]
                slot = lists.left_slot[gf, y, j]
                m = mix2[k, at_(slot * row + pair)]
                line = pair * MAX_TIERS
                total = np.float32(0.0)
                if decided:
                    for i in range(nl):
                        pay1[k, at_(line + i)] += m * worth
                        total += joint2[at_(line + i)] * reach2[k, i]
                    total *= worth
                else:
                    step_i, start = (MAX_TIERS, j) if tie else (1, j * MAX_TIERS)
                    for i in range(nl):
                        u = pay3[at_(start + i * step_i)]
                        pay1[k, at_(line + i)] += m * u
                        total += joint2[at_(line + i)] * reach2[k, i] * u
                cards2[k, slot, pair] = total
    gain = w.gain2
    for node in range(last - 1, root - 1, -1):
        if forest.stage[node] == 0:
            continue
        k = node - root
        role, actions = forest.role[node], forest.actions[node]
        mine, turn = role == own, forest.kind[node] == TURN
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
            below = 0 if end else code - root
            to = a * row
            for i in range(nl):
                if role == 0:
                    gain[at_(to + i)] = np.float32(0.0)
            for j in range(nf):
                line = j * MAX_TIERS
                other = reach2[k, at_(row + j)]
                total = np.float32(0.0)
                for i in range(nl):
                    u = constant if end else pay1[below, at_(line + i)]
                    m = mix2[k, at_(to + (j if role == 1 else i))]
                    pay1[k, at_(line + i)] = m * u + (pay1[k, at_(line + i)] if a > 0 else np.float32(0.0))
                if not mine:
                    continue
                if role == 1:
                    for i in range(nl):
                        u = constant if end else pay1[below, at_(line + i)]
                        total += joint2[at_(line + i)] * reach2[k, i] * u
                    gain[at_(to + j)] = total
                else:
                    for i in range(nl):
                        u = constant if end else pay1[below, at_(line + i)]
                        gain[at_(to + i)] += joint2[at_(line + i)] * other * u
        if mine:
            at = _table_at(forest, node, begin, sizes)
            at += x * nf if role == 1 else lists.offset[gl, x]
            update(
                regrets, sums, at, sizes[2] if role == 1 else sizes[3], actions, nf if role == 1 else nl,
                gain, 0, mix2[k], 0, row, reach2[k], row * role, step, w.value,
            )  # fmt: skip


@njit(cache=True)
def block_sizes(lists: Lists, gl: int, gf: int, tie: bool, sizes: np.ndarray) -> None:
    """Writes the six sizes of a situation (see Forest) for the leader's and follower's lists."""
    sizes[0] = lists.count[gl]
    sizes[1] = lists.count[gf]
    sizes[2] = lists.count[gf] * lists.left_count.shape[1]
    sizes[3] = lists.size[gl, 0]
    sizes[4] = lists.size[gl, 0] if tie else lists.size[gf, 2]
    sizes[5] = lists.size[gf, 0] if tie else lists.size[gl, 1]


@njit(cache=True, fastmath=True)
def solve_block(
    forest: Forest, lists: Lists, w: Scratch, regrets: np.ndarray, sums: np.ndarray, step: Step, root: int,
    begin: int, sizes: np.ndarray, gl: int, gf: int, tie: bool, weights: np.ndarray, own_reach: np.ndarray,
    own: int, gains: np.ndarray,
) -> None:  # fmt: skip
    """One update of the `own` role (0 leads trick 2) in a situation; payoffs to w.pay0[0].

    weights float32 [leader's pairs, follower's pairs]; own_reach float32 [own pairs]; gains float32 [2, 5]: what the
    updated player gets by winning or losing 0-4 points. `root` is the node of trick 2, `begin` the first table entry.
    """
    nl, nf, tiers = lists.count[gl], lists.count[gf], lists.left_count.shape[1]
    row = len(w.gain2) // 3
    reach2, mix2, pay0 = w.reach2, w.mix2, w.pay0
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
            for i in range(left):
                pair = lists.left_pair[gl, x, i]
                slot = lists.left_slot[gl, x, i]
                m = mix2[k, at_(slot * row + pair)]
                total = np.float32(0.0)
                for j in range(nf):
                    u = w.pay1[below, at_(j * MAX_TIERS + i)]
                    pay0[k, pair, j] += m * u
                    total += weights[pair, j] * reach2[k, at_(row + j)] * u
                w.cards2[k, slot, pair] = total
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
