"""CFR over trick 3, in numba: for one pair of cards of trick 2, all pairs of holdings at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solver.jit import inner
from solver.truco.vector.cfr.lanes16 import (
    lane_sum,
    load,
    prefetch,
    splat,
    store,
)
from solver.truco.vector.cfr.regrets import Update, match16, update16
from solver.truco.vector.model.address import ThirdSpan, third_at, third_rows
from solver.truco.vector.model.forest import (
    ACTION,
    ACTIONS,
    CHILD,
    KIND,
    LEVEL,
    MAX_TIERS,
    NODES,
    PARENT,
    ROLE,
    STAGE,
    at_,
)
from solver.truco.vector.model.trees import LEAF, TERMINAL, TURN, terminal_worth

MAX_NODES = 48
"""Room for the nodes of one trick tree."""


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


class ThirdPass(NamedTuple):
    """Trick 3 for one pair of cards of trick 2 that left it open."""

    root: int
    begin: int
    """First entry of its tables."""
    n1: int
    """Cards that its leader may have left."""
    n2: int
    own: int
    """The updated role: 0 who leads trick 3, 1 the other."""


@inner(fastmath=True)
def solve_third(
    third: np.ndarray, w: Third, learn: Update, t: ThirdPass, span: ThirdSpan, gains: np.ndarray
) -> None:
    """One update of trick 3; payoffs to the first matrix of w.pay3.

    third: Forest.third; gains float32 [2, 5]: the updated player's utility by whether he wins, and points. Reads the
    first rows of w.reach3, w.joint3 and w.won3. Holdings that do not exist weigh nothing.
    """
    regrets, sums, root, begin, n1, n2, own = learn.regrets, learn.sums, t.root, t.begin, t.n1, t.n2, t.own
    entries, first, entries2, second = span.entries, span.first, span.entries2, span.second
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
        at = third_at(third, node, begin, entries, entries2)
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
        at = third_at(third, node, begin, entries, entries2)
        stage = third[node, STAGE]
        start, stride = third_rows(role, stage, at, span, 0)
        match16(regrets, start, stride, actions, mix3, m, both)
        if late and role == 1:
            start, stride = third_rows(role, stage, at, span, 1)
            match16(regrets, start, stride, actions, mix3, m + row, both)
        elif late:
            for a in range(actions):
                store(mix3, m + a * both + row, load(mix3, m + a * both))
    for node in range(last - 1, root - 1, -1):
        k = node - root
        role, actions = third[node, ROLE], third[node, ACTIONS]
        mine_ = role == own
        turn = third[node, KIND] == TURN
        at = third_at(third, node, begin, entries, entries2)
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
                elif code <= TERMINAL:
                    low = splat(terminal_worth(code, own, gains))
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
            start, stride = third_rows(role, 1, at, span, 0)
            update16(learn, start, stride, actions, n1, gain, 0, mix3, m, both, reach3, here + both)
            if role == 1:
                start, stride = third_rows(role, 1, at, span, 1)
                update16(
                    learn,
                    start,
                    stride,
                    actions,
                    n1,
                    gain,
                    row,
                    mix3,
                    m + row,
                    both,
                    reach3,
                    here + both + row,
                )
            continue
        other = here + (both if role == 0 else 0)  # reach of the player who does not move
        out = k * row * row
        faced = load(reach3, here)  # reach of the first player
        for a in range(actions):
            code = third[node, CHILD + a]
            to = m + a * both
            falls, ends = turn and a == 0, code <= TERMINAL
            low, extra = zero, zero
            below = 0
            if falls:
                below = (code - root) * both
                low = load(post3, below)
                extra = load(post3, below + row) - low
            elif ends:
                low = splat(terminal_worth(code, own, gains))
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
            start, stride = third_rows(role, 0, at, span, 0)
            n = n1 if role == 0 else n2
            update16(learn, start, stride, actions, n, gain, 0, mix3, m, both, reach3, here + both * role)
