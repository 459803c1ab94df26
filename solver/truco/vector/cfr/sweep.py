"""One sweep over all situations after trick 1, in numba: the trunk's exits and the blocks of accepted Envidos."""

from __future__ import annotations

import numpy as np
from numba import prange

from solver.jit import njit
from solver.truco.vector.cfr.schedule import Step
from solver.truco.vector.cfr.trick2 import make_scratch, solve_block
from solver.truco.vector.model.address import block_sizes
from solver.truco.vector.model.forest import MAX_TIERS, Forest, Lists, at_
from solver.truco.vector.model.layout import Combos, Groups
from solver.truco.vector.model.positions import Store


@njit(fastmath=True)
def _task(
    task: int, forest: Forest, lists: Lists, combos: Combos, groups: Groups, store: Store, regrets: np.ndarray,
    sums: np.ndarray, step: Step, joint: np.ndarray, other_reach: np.ndarray, own_reach: np.ndarray, own: int,
    order: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """A situation of sweep_exits, in its own function: numba drops writes to a tuple's arrays in a prange body."""
    tiers = lists.left_count.shape[1]
    a, b = order[task] // tiers, order[task] % tiers
    ca, cb = combos.start[a], combos.start[b]
    na, nb = combos.start[a + 1] - ca, combos.start[b + 1] - cb
    if na == 0 or nb == 0:
        return
    tie = a == b
    pie_leads = b < a
    w = make_scratch(lists.tiers.shape[1])
    sizes = np.zeros(6, np.int64)
    here = np.empty((na, nb), np.float32)
    for i in range(na):
        for j in range(nb):
            here[i, j] = joint[combos.cls[ca + i], combos.cls[cb + j]]
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
        # Infosets that today's strategies do not reach have averages too.
        live = step.trim > 0.0
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
                        mine[combos.row[ca + i]] += own_reach[e, 0, ca + i]
                else:
                    for i in range(na):
                        other[i] += other_reach[e, 0, ca + i]
                    for j in range(nb):
                        mine[combos.row[cb + j]] += own_reach[e, a, cb + j]
            for i in range(na):
                row = combos.row[ca + i]
                if own == 1 and other[i] == 0.0:
                    continue
                for j in range(nb):
                    x = here[i, j] * (other[j] if own == 0 else other[i])
                    if pie_leads:
                        weights[combos.row[cb + j], row] += x
                    else:
                        weights[row, combos.row[cb + j]] += x
            live |= weights.max() > 0.0 or mine.max() > 0.0
        role = own if not pie_leads else 1 - own
        if live:
            block_sizes(lists, gl, gf, tie, sizes)
            root = groups.root[g, 2 if tie else 1 if pie_leads else 0]
            solve_block(
                forest, lists, w, regrets, sums, step, root, groups.table[block, a, b], sizes, gl, gf, tie,
                weights, mine, role, gains,
            )  # fmt: skip
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
            row = combos.row[ca + i]
            if pie_leads:
                for j in range(nb):
                    line[j] = here[i, j] * payoff[combos.row[cb + j], row]
            else:
                for j in range(nb):
                    line[j] = here[i, j] * payoff[row, combos.row[cb + j]]
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
    forest: Forest, lists: Lists, combos: Combos, groups: Groups, store: Store, regrets: np.ndarray, sums: np.ndarray,
    step: Step, joint: np.ndarray, other_reach: np.ndarray, own_reach: np.ndarray, own: int, order: np.ndarray,
    out: np.ndarray,
) -> None:  # fmt: skip
    """Updates player `own` (0 mano, 1 pie) in all situations.

    Exits of the trunk: reaches float32, mano's [exits, 1, combinations], pie's [exits, tiers, combinations] (the
    tier is mano's card); counterfactual values go to `out` float32 [tiers a, tiers b, exits, padded]: over
    combinations of a for mano, of b for pie. Blocks of accepted Envidos read weights and reach from `store` and
    leave payoffs there. `order` lists situations as a x tiers + b.
    """
    for task in prange(len(order)):
        _task(
            task, forest, lists, combos, groups, store, regrets, sums, step, joint, other_reach, own_reach, own,
            order, out,
        )  # fmt: skip
