"""The vector CFR solver of the hand: one iteration walks the whole public tree for every deal at once.

Trick 1 without an accepted Envido ("the trunk") is held as numpy arrays over classes of hands; what follows an
accepted Envido in trick 1, and tricks 2 and 3, are numba kernels over pairs of holdings. Exits of the trunk that
share tables share one pass: the payoffs it returns value each exit exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solver.jit import dealt_out
from solver.truco.vector.cfr.accepted import PositionPass, sweep_position
from solver.truco.vector.cfr.average import average_mix
from solver.truco.vector.cfr.regrets import Update
from solver.truco.vector.cfr.schedule import Step
from solver.truco.vector.cfr.sweep import Arrival, sweep_exits
from solver.truco.vector.cfr.trick2 import Below, make_below
from solver.truco.vector.cfr.trim import trim_sums
from solver.truco.vector.model.address import empty_table
from solver.truco.vector.model.game import Game
from solver.truco.vector.model.trees import Target, TrunkNode

Reaches = tuple[np.ndarray, np.ndarray]
"""Reach of mano, [classes] or once his card lies [combinations], and of pie, [classes] or [tiers of mano's card,
classes], at exits [tiers, combinations]; float32.
"""


def memory_bytes(game: Game) -> int:
    """Memory that a VectorSolver of the game takes: its tables, and what one iteration holds at its fullest."""
    holdings, trunk = game.holdings, game.trunk
    tiers, classes, combos = holdings.num_tiers, holdings.num_classes, len(holdings.after.cls)
    matrices, reach = game.store_entries
    widest = int(np.diff(holdings.after.start).max())
    exits = len(trunk.exits)
    at_exits = exits * tiers * combos
    arrived = sum(
        len(node.children) * (tiers * classes if node.player == 1 else combos)
        for node in trunk.nodes
        if node.posted
    )
    accepted = sum(combos if found.position.posted else classes for found in game.continuations) * classes
    numbers = (
        2 * sum(game.table_entries.values())  # regrets and sums
        + 2 * matrices + reach  # the store
        + 5 * classes**2  # joint weights
        + game.table_entries["trick 1"]  # strategies of the trunk
        + arrived + at_exits  # reaches in the trunk and at its exits
        + exits * combos * (tiers + 1) + tiers**2 * exits * widest  # what tricks 2 and 3 read and write
        + accepted  # payoffs after accepted Envidos
        + 2 * at_exits  # masses and values at exits
    )  # fmt: skip
    return 4 * numbers


class VectorSolver:
    """CFR on a Game; see `iterate`. Tables are float32: regrets and average-strategy sums."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.iterations = 0
        shapes = [game.node_shape(node) for node in game.trunk.nodes]
        self.trunk_regrets = [np.zeros(shape, np.float32) for shape in shapes]
        self.trunk_sums = [np.zeros(shape, np.float32) for shape in shapes]
        self.position_regrets = empty_table(game.position_entries)
        self.position_sums = empty_table(game.position_entries)
        self.regrets = empty_table(game.layout.entries)
        self.sums = empty_table(game.layout.entries)
        self._store = game.make_store()
        holdings = game.holdings
        self._joint = (holdings.joint / holdings.num_deals).astype(np.float32)
        mano_wins = holdings.class_value[:, None] >= holdings.class_value[None, :]
        self._joint_won = [np.where(mano_wins, self._joint, 0), np.where(mano_wins, 0, self._joint)]
        self._mano_wins = mano_wins
        after = holdings.after
        self._cards = [slice(after.start[a], after.start[a + 1]) for a in range(holdings.num_tiers)]
        rows = np.diff(after.start)
        self._width = int(rows.max())
        self._below: Below | None = None
        self._order = np.array(dealt_out([float(a) * float(b) for a in rows for b in rows]))

    # ---- trunk: strategies and reach

    def _mix(self, node: TrunkNode, table: np.ndarray) -> np.ndarray:
        """Regret matching at a trunk node."""
        return average_mix(np.maximum(table, 0), self.game.legal(node))

    def _play_mano(self, reach: np.ndarray, mix: np.ndarray) -> np.ndarray:
        """[classes] to [combinations]."""
        after = self.game.holdings.after
        return reach[after.cls] * mix[after.slot, after.cls]

    def _play_pie(self, reach: np.ndarray, mix: np.ndarray) -> np.ndarray:
        """[tiers, classes] to [tiers, combinations]."""
        after = self.game.holdings.after
        return reach[:, after.cls] * mix[after.slot, :, after.cls].T

    def iterate(self, step: Step, players: tuple[int, ...] = (0, 1)) -> np.ndarray:
        """One iteration: updates the players one after the other. Returns their expected utilities at the current
        strategies, in the order of `players`.
        """
        values = [self._update(own, step) for own in players]
        self.iterations += 1
        return np.array(values)

    def trim(self, share: float) -> None:
        """Drops from the average strategy what has less than this share of its infoset, for good; regrets stay."""
        trim_sums(self.game, self.trunk_sums, self.position_sums, self.sums, share)

    def _update(self, own: int, step: Step) -> float:
        mixes = [
            self._mix(node, table)
            for node, table in zip(self.game.trunk.nodes, self.trunk_regrets, strict=True)
        ]
        reach = self._forward(mixes)
        value = self._leaf_values(own, reach, *self._after_trunk(own, reach, step))
        return self._backward(own, step, mixes, reach, value)

    def _forward(self, mixes: list[np.ndarray]) -> dict[Target, Reaches]:
        """Reaches of mano and pie at every node and leaf of the trunk."""
        trunk, holdings = self.game.trunk, self.game.holdings
        tiers, classes = holdings.num_tiers, holdings.num_classes
        ones = np.ones(classes, np.float32)
        reach: dict[Target, Reaches] = {("node", 0): (ones, ones)}
        for number, node in enumerate(trunk.nodes):
            mano, pie = reach["node", number]
            mix = mixes[number]
            for k, target in enumerate(node.children):
                if node.plays and k == 0:
                    if node.player == 0:
                        reach[target] = (self._play_mano(mano, mix), np.broadcast_to(pie, (tiers, classes)))
                    else:
                        reach[target] = (mano, self._play_pie(pie, mix))
                    continue
                factor = mix[2 + k if node.plays else k]
                reach[target] = (mano * factor, pie) if node.player == 0 else (mano, pie * factor)
        return reach

    def _after_trunk(
        self, own: int, reach: dict[Target, Reaches], step: Step
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """One pass over all that follows the trunk: what exits are worth (Arrival.out), and joint weights x payoffs
        of each continuation, [classes or combinations of mano, classes of pie].
        """
        game, store, holdings = self.game, self._store, self.game.holdings
        tiers, classes, combos = holdings.num_tiers, holdings.num_classes, len(holdings.after.cls)
        after_envido = Update(self.position_regrets, self.position_sums, own, *step)
        store.weights[:] = 0
        store.reach[:] = 0
        gathered = {key: self._gather(*key, reach) for key in game.position_tasks}
        nothing = np.zeros((1, 1), np.float32)
        for key, reaches_there in gathered.items():
            self._sweep(False, *key, reaches_there, after_envido, nothing)
        exits = len(game.trunk.exits)
        shape = {0: (exits, 1, combos), 1: (exits, tiers, combos)}
        reaches = [np.zeros(shape[player], np.float32) for player in (0, 1)]
        for e in range(exits):
            reaches[0][e, 0], reaches[1][e] = reach["exit", e]
        part = np.zeros((tiers, tiers, exits, self._width), np.float32)
        come = Arrival(*game.combos, self._joint, reaches[1 - own], reaches[own], part)
        update = Update(self.regrets, self.sums, own, *step)
        forest, lists = game.layout.trees.forest, game.layout.lists
        if self._below is None:
            self._below = make_below(forest, lists, update)
        sweep_exits(forest, lists, game.groups, store, update, come, self._order, self._below)
        weighted = []
        for number, continuation in enumerate(game.continuations):
            out = np.zeros((combos if continuation.position.posted else classes, classes), np.float32)
            for winner in continuation.winners:
                self._sweep(True, number, winner, gathered[number, winner], after_envido, out)
            weighted.append(out)
        return part, weighted

    def _backward(
        self,
        own: int,
        step: Step,
        mixes: list[np.ndarray],
        reach: dict[Target, Reaches],
        value: dict[Target, np.ndarray],
    ) -> float:
        """Updates the trunk's tables from the values of its leaves, which it uses up; own expected utility."""
        trunk, after = self.game.trunk, self.game.holdings.after
        for number in range(len(trunk.nodes) - 1, -1, -1):
            node, mix = trunk.nodes[number], mixes[number]
            if node.player != own:
                total: Any = 0
                for k, target in enumerate(node.children):
                    below = value.pop(target)
                    if node.plays and k == 0 and node.player == 0:
                        below = below.sum(axis=0)  # pie's values over mano's card
                    total = total + below
                value["node", number] = total
                continue
            gain = np.zeros(mix.shape, np.float32)
            for k, target in enumerate(node.children):
                below = value.pop(target)
                if node.plays and k == 0:
                    for slot in range(3):
                        position = after.position[:, slot]
                        gain[slot] = np.where(position >= 0, below[..., position], 0)
                else:
                    gain[2 + k if node.plays else k] = below
            self._note_gains(number, gain)
            expected = (mix * gain).sum(axis=0)
            value["node", number] = expected
            table = self.trunk_regrets[number]
            table *= np.where(table > 0, np.float32(step.positive), np.float32(step.negative))
            table += gain - expected
            if step.floor:
                np.maximum(table, 0, out=table)
            self.trunk_sums[number] += np.float32(step.average) * reach["node", number][own] * mix
        return float(value["node", 0].sum())

    def _note_gains(self, number: int, gain: np.ndarray) -> None:
        """Called with the counterfactual values of a trunk node's actions, for those who keep them."""

    def _gather(self, number: int, winner: int, reach: dict[Target, Reaches]) -> list[np.ndarray]:
        """Reaches of mano and pie where a continuation begins after `winner` won the Envido, summed over the chains
        that lead to it (others, at some scores, for each winner).

        Each side's sum is right for the other's regrets and for its own average.
        """
        game = self.game
        mano: Any = 0
        pie: Any = 0
        for k, accept in enumerate(game.trunk.accepts):
            if accept.over[winner]:
                continue
            if game.continuation_of(accept, winner) == number:
                mano = mano + reach["accept", k][0]
                pie = pie + reach["accept", k][1]
        return [np.ascontiguousarray(mano), np.ascontiguousarray(np.atleast_2d(pie))]

    def _sweep(
        self, back: bool, number: int, winner: int, reaches: list[np.ndarray], update: Update, out: np.ndarray
    ) -> None:
        game = self.game
        continuation = game.continuations[number]
        gains = np.zeros((2, 5), np.float32)
        gains[:, 1:] = continuation.extra
        if update.own == 1:
            gains = -gains[::-1]
        given = PositionPass(
            game.position_root[number], continuation.position.posted, back, game.position_tables[number], self._joint,
            reaches[0], reaches[1], np.ascontiguousarray(gains), out,
        )  # fmt: skip
        sweep_position(
            game.positions, game.value_lists, self._store, update, given, *game.position_tasks[number, winner]
        )

    def _leaf_values(
        self,
        own: int,
        reach: dict[Target, Reaches],
        part: np.ndarray,
        weighted: list[np.ndarray],
    ) -> dict[Target, np.ndarray]:
        """Counterfactual values of `own` at every terminal, exit and accepted Envido of the trunk."""
        game, trunk = self.game, self.game.trunk
        tiers = game.holdings.num_tiers
        sign = 1.0 if own == 0 else -1.0
        value: dict[Target, np.ndarray] = {}
        for posted in (False, True):
            terminals = [k for k, terminal in enumerate(trunk.terminals) if terminal.posted == posted]
            found = self._against(self._joint, [reach["terminal", k] for k in terminals], own, posted)
            for k, mass in zip(terminals, found, strict=True):
                value["terminal", k] = np.float32(sign * trunk.terminals[k].utility) * mass
            accepts = [k for k, accept in enumerate(trunk.accepts) if accept.position.posted == posted]
            pairs = [reach["accept", k] for k in accepts]
            for winner in (0, 1):
                found = self._against(self._joint_won[winner], pairs, own, posted)
                for k, mass in zip(accepts, found, strict=True):
                    worth = np.float32(sign * trunk.accepts[k].payoffs[winner].base) * mass
                    value["accept", k] = value["accept", k] + worth if ("accept", k) in value else worth
            for number, continuation in enumerate(game.continuations):
                if continuation.position.posted != posted:
                    continue
                for winners in ((0, 1), (0,), (1,)):
                    members = []
                    for k in accepts:
                        accept = trunk.accepts[k]
                        leading = tuple(
                            w
                            for w in (0, 1)
                            if not accept.over[w] and game.continuation_of(accept, w) == number
                        )
                        if leading == winners:
                            members.append(k)
                    if not members:
                        continue
                    table = weighted[number]
                    if winners != continuation.winners:
                        keep = self._mano_wins if winners == (0,) else ~self._mano_wins
                        table = table * (keep[game.holdings.after.cls] if posted else keep)
                    found = self._against(table, [reach["accept", k] for k in members], own, posted)
                    for k, worth in zip(members, found, strict=True):
                        value["accept", k] = value["accept", k] + worth
        base = [self._exit_mass(reach["exit", e], own) for e in range(len(trunk.exits))]
        if own == 0:
            rest = part.sum(axis=1)
            for e, leaving in enumerate(trunk.exits):
                rows = [rest[a, e, : s.stop - s.start] for a, s in enumerate(self._cards)]
                value["exit", e] = np.concatenate(rows) + np.float32(leaving.payoffs.base) * base[e]
        else:
            for e, leaving in enumerate(trunk.exits):
                table = np.empty((tiers, len(game.holdings.after.cls)), np.float32)
                for b, s in enumerate(self._cards):
                    table[:, s] = part[:, b, e, : s.stop - s.start]
                value["exit", e] = table - np.float32(leaving.payoffs.base) * base[e]
        return value

    def _exit_mass(self, pair: Reaches, own: int) -> np.ndarray:
        """Counterfactual mass at an exit: [combinations] of mano, or [tiers, combinations] of pie."""
        after = self.game.holdings.after
        mano, pie = pair
        if own == 0:
            by_class = np.zeros((pie.shape[0], self.game.holdings.num_classes), np.float32)
            for slot in range(3):
                position = after.position[:, slot]
                by_class += np.where(position >= 0, pie[:, position], 0)
            return self._against(self._joint, [(mano, by_class)], 0, True)[0]
        return self._against(self._joint, [(mano, pie)], 1, True)[0][:, after.cls]

    def _against(self, table: np.ndarray, pairs: list[Reaches], own: int, posted: bool) -> list[np.ndarray]:
        """Sums of joint weights x the other's reach for each of some (mano, pie) reaches.

        `table` is [classes or combinations of mano, classes of pie]; results are shaped like own holdings there:
        [classes], [combinations] of mano or [tiers, classes] of pie.
        """
        if not pairs:
            return []
        if not posted:
            other = np.stack([pair[1 - own] for pair in pairs], axis=1)
            return list((table @ other if own == 0 else table.T @ other).T)
        after = self.game.holdings.after
        short = len(table) == self.game.holdings.num_classes
        if own == 0:
            other = np.stack([pair[1] for pair in pairs], axis=2)  # [tiers, classes, n]
            rows = [
                (table[after.cls[s]] if short else table[s]) @ other[a] for a, s in enumerate(self._cards)
            ]
            return list(np.ascontiguousarray(np.concatenate(rows).T))
        other = np.stack([pair[0] for pair in pairs], axis=1)  # [combinations, n]
        columns = [(table[after.cls[s]] if short else table[s]).T @ other[s] for s in self._cards]
        return list(np.ascontiguousarray(np.stack(columns).transpose(2, 0, 1)))
