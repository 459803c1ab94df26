"""One sweep over all situations after trick 1, in numba: the trunk's exits and the blocks of accepted Envidos."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange

from solver.jit import njit
from solver.truco.vector.cfr.regrets import Update
from solver.truco.vector.cfr.trick2 import Below, Situation, make_scratch, solve_block
from solver.truco.vector.model.address import block_sizes
from solver.truco.vector.model.forest import MAX_TIERS, Forest, Lists, at_
from solver.truco.vector.model.layout import Groups
from solver.truco.vector.model.positions import Store


class Arrival(NamedTuple):
    """How deals come to the exits of the trunk, and what they are worth there."""

    start: np.ndarray
    """int64 [tiers + 1]: combinations by first card; cls, row as in Combos."""
    cls: np.ndarray
    row: np.ndarray
    joint: np.ndarray
    """float32 [classes, classes]: share of all deals."""
    other_reach: np.ndarray
    """float32, since the deal, of who is not updated: mano's [exits, 1, combinations], pie's [exits, tiers of mano's
    card, combinations]; own_reach alike."""
    own_reach: np.ndarray
    out: np.ndarray
    """float32 [tiers a, tiers b, exits, padded]: counterfactual values of the updated player, over combinations of
    first card a for mano, of b for pie."""


@njit(fastmath=True)
def _task(
    number: int,
    forest: Forest,
    lists: Lists,
    groups: Groups,
    store: Store,
    learn: Update,
    come: Arrival,
    below: Below,
) -> None:
    """A pair of first cards, in its own function: numba drops writes to a tuple's arrays in a prange body."""
    tiers, own = lists.left_count.shape[1], learn.own
    other_reach, own_reach, out = come.other_reach, come.own_reach, come.out
    a, b = number // tiers, number % tiers
    ca, cb = come.start[a], come.start[b]
    na, nb = come.start[a + 1] - ca, come.start[b + 1] - cb
    if na == 0 or nb == 0:
        return
    tie = a == b
    pie_leads = b < a
    w = make_scratch(lists.tiers.shape[1])
    sizes = np.zeros(6, np.int64)
    here = np.empty((na, nb), np.float32)
    for i in range(na):
        for j in range(nb):
            here[i, j] = come.joint[come.cls[ca + i], come.cls[cb + j]]
    width = max(na, nb)
    other = np.zeros(width, np.float32)
    line = np.zeros(width, np.float32)
    gains = np.zeros((2, 5), np.float32)
    nearby = np.zeros((len(groups.exit_list), width), np.float32)  # the other's reach at each exit
    reached = np.zeros(len(groups.exit_list), np.bool_)
    for block in range(len(groups.block_group)):
        g = groups.block_group[block]
        gm, gp = groups.block_mano[block] * tiers + a, groups.block_pie[block] * tiers + b
        nm, np_ = lists.count[gm], lists.count[gp]
        if nm == 0 or np_ == 0:
            continue
        for points in range(5):
            # For the updated player, by whether it wins.
            gains[0, points] = groups.gain[g, 0, points] if own == 0 else -groups.gain[g, 1, points]
            gains[1, points] = groups.gain[g, 1, points] if own == 0 else -groups.gain[g, 0, points]
        gl, gf = (gp, gm) if pie_leads else (gm, gp)
        height, across = (np_, nm) if pie_leads else (nm, np_)
        weights = np.zeros((height, (across + MAX_TIERS - 1) // MAX_TIERS * MAX_TIERS), np.float32)
        mine = np.zeros(nm if own == 0 else np_, np.float32)
        first, last = groups.exit_start[g], groups.exit_start[g + 1]
        accepted = first == last
        live = False
        if accepted:
            at = store.start[block, a, b]
            for i in range(nm):
                for j in range(np_):
                    x = store.weights[at + i * np_ + j]
                    live |= x > 0.0
                    if pie_leads:
                        weights[j, i] = x
                    else:
                        weights[i, j] = x
            to = store.reach_start[own, block, a, b]
            for i in range(len(mine)):
                mine[i] = store.reach[to + i]
                live |= mine[i] > 0.0
        else:
            other[:] = 0.0
            for k in range(first, last):
                e = groups.exit_list[k]
                if own == 0:
                    for j in range(nb):
                        other[j] += other_reach[e, a, cb + j]
                    for i in range(na):
                        mine[come.row[ca + i]] += own_reach[e, 0, ca + i]
                else:
                    for i in range(na):
                        other[i] += other_reach[e, 0, ca + i]
                    for j in range(nb):
                        mine[come.row[cb + j]] += own_reach[e, a, cb + j]
            for i in range(na):
                row = come.row[ca + i]
                if own == 1 and other[i] == 0.0:
                    continue
                for j in range(nb):
                    x = here[i, j] * (other[j] if own == 0 else other[i])
                    if pie_leads:
                        weights[come.row[cb + j], row] += x
                    else:
                        weights[row, come.row[cb + j]] += x
            live |= weights.max() > 0.0 or mine.max() > 0.0
        role = own if not pie_leads else 1 - own
        if live:
            block_sizes(lists, gl, gf, tie, sizes)
            root = groups.root[g, 2 if tie else 1 if pie_leads else 0]
            begin = groups.table[block, a, b]
            solve_block(
                forest,
                lists,
                w,
                learn,
                Situation(root, begin, sizes, gl, gf, tie, role, weights, mine, gains),
                below,
            )
        payoff = w.pay0[0]
        if accepted:
            at = store.start[block, a, b]
            for i in range(nm):
                for j in range(np_):
                    u = payoff[j, i] if pie_leads else payoff[i, j]
                    store.payoffs[at + i * np_ + j] = u if live else np.float32(0.0)
            continue
        for k in range(first, last):
            out[a, b, groups.exit_list[k], :] = 0.0
        if not live:
            continue
        size = nb if own == 0 else na
        for k in range(first, last):
            reached[k] = False
            e = groups.exit_list[k]
            for j in range(size):
                x = other_reach[e, a, at_(cb + j)] if own == 0 else other_reach[e, 0, at_(ca + j)]
                nearby[k, j] = x
                reached[k] |= x > 0.0
        for i in range(na):
            row = come.row[ca + i]
            if pie_leads:
                for j in range(nb):
                    line[j] = here[i, j] * payoff[come.row[cb + j], row]
            else:
                for j in range(nb):
                    line[j] = here[i, j] * payoff[row, come.row[cb + j]]
            for k in range(first, last):
                if not reached[k]:
                    continue
                e = groups.exit_list[k]
                if own == 0:
                    total = np.float32(0.0)
                    for j in range(nb):
                        total += line[j] * nearby[k, j]
                    out[a, b, e, i] = total
                elif nearby[k, i] > 0.0:
                    r = nearby[k, i]
                    for j in range(nb):
                        out[a, b, e, j] += line[j] * r


@njit(fastmath=True, parallel=True)
def sweep_exits(
    forest: Forest,
    lists: Lists,
    groups: Groups,
    store: Store,
    learn: Update,
    come: Arrival,
    order: np.ndarray,
    below: Below,
) -> None:
    """Updates the player learn.own in all situations, and writes what exits are worth to come.out.

    Blocks of accepted Envidos read weights and reach from `store` and leave payoffs there. order int64: pairs of
    first cards as a x tiers + b, run side by side.
    """
    for task in prange(len(order)):
        _task(order[task], forest, lists, groups, store, learn, come, below)
