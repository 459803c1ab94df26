"""Re-solves tricks 2 and 3 of one public situation from the ranges that trick 1 leaves.

A situation is where trick 1 ended, with the tiers of both first cards and the Envido values that were shown. Chance
deals both sides what they may hold by the joint weights times the reaches of trick 1, so each may rely on the other
having played trick 1 as stored. A holding that trick 1 never brings here gets a best answer, too.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from game.truco.actions import QUIERO, TRUCO
from game.truco.hand import Hand
from solver.truco.vector.cfr.average import Tables, shares
from solver.truco.vector.cfr.regrets import Update
from solver.truco.vector.cfr.schedule import Step, schedule_step
from solver.truco.vector.cfr.trick2 import Situation, make_below, make_scratch, solve_block
from solver.truco.vector.model.address import block_sizes, empty_table, pair_sizes, table_at, table_rows
from solver.truco.vector.model.forest import MAX_TIERS
from solver.truco.vector.model.game import Game
from solver.truco.vector.model.trees import LEAF, TURN
from solver.truco.vector.policy.locate import after_first_card, known_values, stand_in

ITERATIONS = 150
_ANSWERS = 12
"""Passes in which a side improves its answer to the other's average strategy; later ones hardly change it."""


@dataclass(frozen=True)
class Entry:
    """How a hand came to tricks 2 and 3, and with what."""

    game: Game
    """With tables in tricks 2 and 3 for this situation alone."""
    group: int
    block: int
    buckets: tuple[int, int]
    """Mano's and pie's list of values."""
    first: tuple[int, int]
    """Tiers of their first cards."""
    ranges: tuple[np.ndarray, np.ndarray]
    """Reach of each side's combinations with that card, float64 [combinations]; 0 elsewhere."""


@dataclass(frozen=True)
class Resolved:
    """What re-solving a situation came to."""

    game: Game
    sums: np.ndarray
    """Average-strategy sums of tricks 2 and 3, as in `average.Tables`."""
    iterations: int
    value: float
    """What mano makes in tricks 2 and 3 by the average strategies, beyond what is made already."""
    gap: float
    """What best answers of the two together gain over the average strategies, in units of utility."""
    seconds: float
    reached: bool
    """False where trick 1 as stored never comes here, and all holdings were taken for equally likely."""


class Resolver:
    """Alternating DCFR on the tricks 2 and 3 of a situation. A side's regrets do not depend on its own reach."""

    def __init__(self, entry: Entry) -> None:
        game = entry.game
        after, layout, tiers = game.holdings.after, game.layout, game.holdings.num_tiers
        self._game, self._entry = game, entry
        a, b = entry.first
        self._tie, self._leader = a == b, 1 if b < a else 0
        lists = [bucket * tiers + tier for bucket, tier in zip(entry.buckets, entry.first, strict=True)]
        self._lists = lists[self._leader], lists[1 - self._leader]
        combos, rows = [], []
        for bucket, tier in zip(entry.buckets, entry.first, strict=True):
            part = np.arange(after.start[tier], after.start[tier + 1])
            row = game.local[bucket, tier, after.pair[part]]
            value = np.isin(after.value[part], layout.buckets[bucket])
            combos.append(part[value])
            rows.append(row[value])
        joint = game.holdings.joint[np.ix_(after.cls[combos[0]], after.cls[combos[1]])]
        ranges = [reach[part] for reach, part in zip(entry.ranges, combos, strict=True)]
        self.reached = bool(ranges[0] @ joint @ ranges[1] > 0)
        if not self.reached:
            ranges = [np.ones(len(part)) for part in combos]
        self._mass = float(ranges[0] @ joint @ ranges[1])
        counts = [int(layout.lists.count[number]) for number in lists]
        # Combinations that leave one pair are one holding, made up of them by their reach.
        adds = [np.zeros((n, len(row))) for n, row in zip(counts, rows, strict=True)]
        shares = []
        for add, row, reach in zip(adds, rows, ranges, strict=True):
            add[row, np.arange(len(row))] = 1.0
            total = (add @ reach)[row]
            size = add.sum(axis=1)[row]
            shares.append(np.where(total > 0, reach / np.where(total > 0, total, 1), 1 / size))
        deals = adds[0] @ (ranges[0][:, None] * joint * ranges[1]) @ adds[1].T
        weights = [
            adds[0] @ (shares[0][:, None] * joint * ranges[1]) @ adds[1].T,
            adds[0] @ (ranges[0][:, None] * joint * shares[1]) @ adds[1].T,
        ]
        turn = (lambda m: m) if self._leader == 0 else (lambda m: m.T)
        self._deals = turn(deals)
        scale = 1.0 / game.holdings.num_deals
        self._weights = []
        for m in weights:
            spare = -turn(m).shape[1] % MAX_TIERS
            padded = np.pad(turn(m) * scale, ((0, 0), (0, spare)))
            self._weights.append(np.ascontiguousarray(padded, np.float32))
        self._ones = [np.ones(n, np.float32) for n in counts]
        self._sizes = np.zeros(6, np.int64)
        block_sizes.py_func(layout.lists, *self._lists, self._tie, self._sizes)
        self._root = int(game.groups.root[entry.group, 2 if self._tie else self._leader])
        self._begin = int(game.groups.table[entry.block, a, b])
        group = layout.groups[entry.group]
        size = int(layout.trees.sizes[layout.start(group, a, b)] @ self._sizes)
        self._part = slice(self._begin, self._begin + size)
        gain = game.groups.gain[entry.group]
        self._gains = [np.ascontiguousarray(gain), np.ascontiguousarray(-gain[::-1])]
        self._scratch = make_scratch.py_func(layout.lists.tiers.shape[1])
        self.regrets = empty_table(layout.entries)
        self.sums = empty_table(layout.entries)
        some = Update(self.regrets, self.sums, 0, *Step(0.0, 0.0, 0.0, False))
        self._below = make_below(layout.trees.forest, layout.lists, some)

    def update(self, own: int, step: Step) -> float:
        """Updates a player (0 mano, 1 pie); its expected utility at the current strategies."""
        layout = self._game.layout
        role = own if self._leader == 0 else 1 - own
        situation = Situation(
            self._root, self._begin, self._sizes, *self._lists, self._tie, role, self._weights[own], self._ones[own],
            self._gains[own],
        )  # fmt: skip
        update = Update(self.regrets, self.sums, own, *step)
        solve_block(layout.trees.forest, layout.lists, self._scratch, update, situation, self._below)
        rows, columns = self._deals.shape
        payoff = self._scratch.pay0[0, :rows, :columns].astype(np.float64)
        return float((self._deals * payoff).sum()) / self._mass

    def judged(self) -> tuple[float, float]:
        """Mano's utility by the average strategies, and what best answers of both gain; uses up the regrets."""
        values, answers = [], []
        for own in (0, 1):
            self.regrets[self._part] = self.sums[self._part]
            values.append(self.update(own, Step(0.0, 0.0, 0.0, False)))
            found = [self.update(own, Step(0.5, 0.0, 0.0, True)) for _ in range(_ANSWERS)]
            answers.append(max(values[-1], *found))
        return values[0], sum(answers)


def resolve(game: Game, tables: Tables, hand: Hand, iterations: int = ITERATIONS) -> Resolved | None:
    """Solves tricks 2 and 3 from where the hand ended trick 1; None while it is in trick 1.

    Reads trick 1 of the tables only. The same arguments give the same strategies. Raises ValueError where the match
    is over at the game's score.
    """
    begin = time.monotonic()
    entry = find_entry(game, tables, hand)
    if entry is None:
        return None
    solver = Resolver(entry)
    for iteration in range(1, iterations + 1):
        for own in (0, 1):
            solver.update(own, schedule_step("dcfr", iteration))
    value, gap = solver.judged()
    return Resolved(entry.game, solver.sums, iterations, value, gap, time.monotonic() - begin, solver.reached)


# ---- the ranges of trick 1


def find_entry(game: Game, tables: Tables, hand: Hand) -> Entry | None:
    """How a hand came to tricks 2 and 3; None while it is in trick 1. Raises ValueError as `resolve`."""
    holdings, trunk = game.holdings, game.trunk
    after = holdings.after
    reach = [np.ones(holdings.num_classes), np.ones(holdings.num_classes)]
    first: list[int] = []

    def take(player: int, action: int, table: np.ndarray, plays: bool, place: int) -> None:
        """Follows an action; `table` is [actions, holdings of the player]. Entries of 0 are never reached."""
        if plays:
            legal = holdings.class_slot_legal.T if table.shape[1] == holdings.num_classes else 1.0
            table = np.concatenate([table[:3] * legal, table[3:]])
        mix = shares(table)
        if action >= TRUCO:
            reach[player] = reach[player] * mix[place]
            return
        tier, _, _ = after_first_card(game, hand, player)
        first.append(tier)
        reach[player] = reach[player][after.cls] * mix[after.slot, after.cls]
        reach[player][: after.start[tier]] = 0
        reach[player][after.start[tier + 1] :] = 0

    kind, number = "node", 0
    actions = [action for _, action in hand.history]
    done = 0
    while kind == "node":
        if done == len(actions):
            return None
        node, action = trunk.nodes[number], actions[done]
        table = tables.trunk_sums[number].astype(np.float64)
        if node.posted and node.player == 1:
            table = table[:, first[0]]
        word = 0 if action < TRUCO else node.words.index(action)
        take(node.player, action, table, node.plays, 3 * node.plays + word)
        kind, number = node.children[0 if action < TRUCO else node.plays + word]
        done += 1
    if kind == "exit":
        situation = game.part(exits=[number])
        return Entry(situation, 0, 0, (0, 0), (first[0], first[1]), (reach[0], reach[1]))
    known = known_values(game, hand)
    winner = 0 if known[0] >= known[1] or known[1] >= len(holdings.values) else 1
    continuation = stand_in(game, number, winner) if kind == "accept" else None
    if continuation is None:
        raise ValueError(f"at the tables' score {game.score[0]}-{game.score[1]} the match is over here")
    positions = game.positions
    at = game.position_root[continuation]
    while at < LEAF:
        if done == len(actions):
            return None
        action, role = actions[done], int(positions.role[at])
        turn = bool(positions.kind[at] == TURN)
        table = _position_table(game, tables, continuation, known, at, first)
        place = action - QUIERO if action >= QUIERO else (3 if turn else 2)
        take(role, action, table, turn, place)
        step = 0 if action < TRUCO else place if not turn else 1
        at = int(positions.child[at, step])
        done += 1
    outcome = (known[0], known[1], winner)
    situation = game.part(outcomes=[outcome])
    group = int(situation.positions.leaf_group[at - LEAF])
    block_of, bucket = situation.hand_over.block, situation.hand_over.bucket
    buckets = int(bucket[0, group, known[0]]), int(bucket[1, group, known[1]])
    block = int(block_of[group][known])
    return Entry(situation, group, block, buckets, (first[0], first[1]), (reach[0], reach[1]))


def _position_table(
    game: Game, tables: Tables, continuation: int, known: tuple[int, int], node: int, first: list[int]
) -> np.ndarray:
    """Table of a node in trick 1 after an accepted Envido over all of the mover's holdings: [actions, classes], or
    [actions, combinations] of mano once his card lies; float64.
    """
    positions, lists = game.positions, game.value_lists
    counts = lists.count[known[0]], lists.count[known[1]]
    sizes = np.zeros(4, np.int64)
    pair_sizes.py_func(lists, *known, sizes)
    role, actions = int(positions.role[node]), int(positions.actions[node])
    stage = int(positions.stage[node])
    begin = int(table_at.py_func(positions.place, node, game.position_tables[continuation][known], sizes))
    stride = int(table_rows.py_func(role, stage, begin, sizes, 0, 0)[1])
    table = tables.position_sums[begin : begin + actions * stride].reshape(actions, stride).astype(np.float64)
    here = lists.cls[known[role], : counts[role]]
    size = game.holdings.num_classes
    if stage == 1:
        if role == 1:
            table = table[:, first[0] * counts[1] : (first[0] + 1) * counts[1]]
        else:
            offset, count = lists.combo_offset[known[0], first[0]], lists.combo_count[known[0], first[0]]
            table = table[:, offset : offset + count]
            here, size = lists.combo[known[0], first[0], :count], len(game.holdings.after.cls)
    spread = np.zeros((actions, size))
    spread[:, here] = table
    return spread
