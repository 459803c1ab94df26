"""How often play comes to each infoset of trick 1: a walk forward by the average strategies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solver.truco.vector.cfr.average import shares
from solver.truco.vector.model.address import pair_sizes, table_at, table_rows
from solver.truco.vector.model.holdings import Holdings
from solver.truco.vector.model.trees import LEAF, TURN, Target, Trunk, TrunkNode

if TYPE_CHECKING:
    from solver.truco.vector.model.game import Game

Reaches = dict[Target, tuple[np.ndarray, np.ndarray]]
"""Reach of mano's and of pie's holdings at nodes and leaves of the trunk."""


class Reached(NamedTuple):
    """A node of the trunk; all float64, shaped like its table, all but the sums without the actions."""

    sums: np.ndarray
    own: np.ndarray
    """The mover's reach."""
    other: np.ndarray
    """The other side's reach, given the mover's class."""
    share: np.ndarray
    """Share of all deals that the mover's class has, [classes], or mano's [combinations] once his card lies."""


class TrunkReach:
    """The trunk, walked by tables of sums [actions, ...] as `Tables.trunk_sums`; iterate once for its nodes.

    Only nodes that are `wanted` are told, by default all; for the others the costly sum over all deals is left out.
    """

    def __init__(
        self,
        holdings: Holdings,
        trunk: Trunk,
        sums: Sequence[np.ndarray],
        wanted: Callable[[TrunkNode], bool] = lambda node: True,
    ) -> None:
        self._holdings, self._trunk, self._sums, self._wanted = holdings, trunk, sums, wanted
        self._parts = [
            slice(holdings.after.start[a], holdings.after.start[a + 1]) for a in range(holdings.num_tiers)
        ]
        self.leaves: Reaches = {}
        """What the walk leaves at exits and accepted Envidos."""

    def __iter__(self) -> Iterator[Reached]:
        """The wanted nodes of the trunk in order."""
        holdings, after, joint = self._holdings, self._holdings.after, self._holdings.joint
        mine = joint.sum(axis=1)  # joint weights are symmetric
        ones = np.ones(holdings.num_classes)
        reach: Reaches = {("node", 0): (ones, ones)}
        for number, node in enumerate(self._trunk.nodes):
            mano, pie = reach.pop(("node", number))
            sums = self._sums[number].reshape(self._shape(node)).astype(np.float64)
            if node.plays:
                places = holdings.class_slot_legal.T
                sums[:3] *= places if not node.posted else places[:, None, :]
            if self._wanted(node):
                deals = mine[after.cls] if node.posted and node.player == 0 else mine
                own, other = (pie, mano) if node.player == 1 else (mano, pie)
                yield Reached(sums, own, self._given_class(node, other) / deals, deals / holdings.num_deals)
            mix = shares(sums)
            for k, target in enumerate(node.children):
                if node.plays and k == 0 and node.player == 0:
                    wide = np.broadcast_to(pie, (holdings.num_tiers, holdings.num_classes))
                    reach[target] = mano[after.cls] * mix[after.slot, after.cls], wide
                elif node.plays and k == 0:
                    reach[target] = mano, pie  # an exit: what follows has no table here
                else:
                    factor = mix[2 + k if node.plays else k]
                    reach[target] = (mano * factor, pie) if node.player == 0 else (mano, pie * factor)
        self.leaves = reach

    def _given_class(self, node: TrunkNode, other: np.ndarray) -> np.ndarray:
        """Deals of each holding of the mover, weighted by the other side's reach."""
        after, joint = self._holdings.after, self._holdings.joint
        if not node.posted:
            return joint @ other
        if node.player == 0:
            return np.concatenate([joint[after.cls[part]] @ other[a] for a, part in enumerate(self._parts)])
        return np.stack([other[part] @ joint[after.cls[part]] for part in self._parts])

    def _shape(self, node: TrunkNode) -> tuple[int, ...]:
        """Shape of a node's table; `Game.node_shape`."""
        pie_knows = node.posted and node.player == 1
        return (node.num_actions, self._holdings.num_tiers, -1) if pie_knows else (node.num_actions, -1)


class PositionReach:
    """Trick 1 after an accepted Envido, from what a walk of the trunk has left."""

    def __init__(self, game: Game, position_sums: np.ndarray, leaves: Reaches) -> None:
        self._game, self._position_sums, self._leaves = game, position_sums, leaves
        self._joint = game.holdings.joint

    def __iter__(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """First entry and sums [actions, holdings] of each table of trick 1 after an accepted Envido, and the other's
        reach given the own class and both values.
        """
        game = self._game
        for number, continuation in enumerate(game.continuations):
            for winner in continuation.winners:
                mano: np.ndarray | float = 0.0
                pie: np.ndarray | float = 0.0
                for k, accept in enumerate(game.trunk.accepts):
                    if accept.over[winner]:
                        continue
                    if game.continuation_of(accept, winner) == number:
                        mano = mano + self._leaves["accept", k][0]
                        pie = pie + self._leaves["accept", k][1]
                for one, two, won in game.outcomes():
                    if won == winner:
                        yield from self._pair(number, one, two, np.asarray(mano), np.asarray(pie))

    def _pair(
        self, number: int, one: int, two: int, mano: np.ndarray, pie: np.ndarray
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """The tables of a continuation for one pair of value sets."""
        game = self._game
        trees, lists, tiers = game.positions, game.value_lists, game.holdings.num_tiers
        n, m = int(lists.count[one]), int(lists.count[two])
        classes = lists.cls[one, :n], lists.cls[two, :m]
        joint = self._joint[np.ix_(*classes)]
        counts = lists.combo_count[one]
        combos = np.concatenate([lists.combo[one, a, : counts[a]] for a in range(tiers)])
        row = np.concatenate([lists.combo_row[one, a, : counts[a]] for a in range(tiers)])
        slot = np.concatenate([lists.combo_slot[one, a, : counts[a]] for a in range(tiers)])
        card = np.repeat(np.arange(tiers), counts)
        sizes = np.zeros(4, np.int64)
        pair_sizes.py_func(lists, one, two, sizes)
        root = game.position_root[number]
        if game.continuations[number].position.posted:
            reach = {root: (mano[combos], pie[:, classes[1]])}
        else:
            reach = {root: (mano[classes[0]], pie[classes[1]])}
        own = joint.sum(axis=1), joint.sum(axis=0)
        positive = [np.where(total > 0, total, 1) for total in own]
        for node in range(root, root + int(trees.nodes[root])):
            mine, theirs = reach.pop(node)
            role, stage = int(trees.role[node]), int(trees.stage[node])
            begin = int(table_at.py_func(trees.place, node, game.position_tables[number][one, two], sizes))
            stride = int(table_rows.py_func(role, stage, begin, sizes, 0, 0)[1])
            end = begin + int(trees.actions[node]) * stride
            sums = self._position_sums[begin:end].reshape(-1, stride).astype(np.float64)
            if stage == 0:
                other = (joint @ theirs if role == 0 else mine @ joint) / positive[role]
            elif role == 0:
                other = (joint[row] * theirs[card]).sum(axis=1) / positive[0][row]
            else:
                other = (
                    np.stack([mine[card == a] @ joint[row[card == a]] for a in range(tiers)]) / positive[1]
                )
                other = other.ravel()
            yield begin, sums, other
            mix = shares(sums)
            turn = trees.kind[node] == TURN
            for child, action in ((0, 0), (1, 3)) if turn else ((0, 0), (2, 2)):
                target = int(trees.child[node, child])
                if not 0 <= target < LEAF:
                    continue
                if turn and child == 0:
                    wide = np.broadcast_to(theirs, (tiers, m))
                    reach[target] = mine[row] * mix[slot, row], wide
                elif role == 0:
                    reach[target] = mine * mix[action], theirs
                else:
                    reach[target] = mine, theirs * mix[action].reshape(theirs.shape)
