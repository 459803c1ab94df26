"""The hand at a score as the vector engine sees it: what may be held, said and played, and where every table lies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from game.truco.equity import EquityTable
from game.truco.rules import Rules
from solver.jit import dealt_out
from solver.truco.vector.model.abstraction import Abstraction
from solver.truco.vector.model.address import pair_sizes
from solver.truco.vector.model.holdings import Holdings
from solver.truco.vector.model.layout import Combos, Group, Groups, Layout
from solver.truco.vector.model.positions import HandOver, PositionTrees, Store, ValueLists
from solver.truco.vector.model.trees import (
    LEAF,
    NO_CHILD,
    TURN,
    Accept,
    Position,
    Trunk,
    TrunkNode,
    build_trunk,
    position_tree,
    raisers,
)

Extra = tuple[tuple[float, ...], tuple[float, ...]]


LeafKey = tuple[int, int, Extra, tuple[object, ...]]
"""What tells apart the tables of tricks 2 and 3 after accepted Envidos, beside values: see Continuation.leaf_key."""


@dataclass(frozen=True)
class Continuation:
    """Trick 1 after an accepted Envido: where it stands, what the rest adds, and what is kept of the calls before it
    by round value 1-4; for these winners of the Envido.
    """

    position: Position
    extra: Extra
    chains: tuple[tuple[object, ...], ...]
    winners: tuple[int, ...]

    def leaf_key(self, level: int, mask: int) -> LeafKey:
        """Round value, right to raise, what the rest adds, and what is kept of the calls, at the end of trick 1."""
        return level, mask, self.extra, self.chains[level - 1]


class Game:
    """The hand at a score as the vector engine sees it: holdings, trees, tables' places; no strategies.

    Raises ValueError for rules or an abstraction it does not play.
    """

    def __init__(
        self, rules: Rules, score: tuple[int, int], equity: EquityTable | None, abstraction: Abstraction
    ) -> None:
        self.rules, self.score, self.equity, self.abstraction = rules, score, equity, abstraction
        self.holdings = self._make_holdings()
        self.trunk = self._build_trunk()
        self.continuations = self._continuations()
        self._lay_out()
        self._place_positions()

    def _make_holdings(self) -> Holdings:
        """What a player knows of his own hand."""
        return Holdings(self.rules)

    def _build_trunk(self) -> Trunk:
        """Trick 1 while Envido is not accepted."""
        return build_trunk(self.rules, self.score, self.equity)

    # ---- what follows an accepted Envido

    def _continuations(self) -> list[Continuation]:
        winners: dict[tuple[Position, Extra, tuple[tuple[object, ...], ...]], set[int]] = {}
        for accept in self.trunk.accepts:
            for winner in (0, 1):
                if not accept.over[winner]:
                    winners.setdefault(self._continuation_key(accept, winner), set()).add(winner)
        return [Continuation(*key, tuple(sorted(who))) for key, who in winners.items()]

    def _continuation_key(
        self, accept: Accept, winner: int
    ) -> tuple[Position, Extra, tuple[tuple[object, ...], ...]]:
        chains = tuple(self.abstraction.chain(accept, level) for level in range(1, 5))
        return accept.position, accept.payoffs[winner].extra, chains

    def continuation_of(self, accept: Accept, winner: int) -> int:
        """Number of the continuation of an accepted Envido with this winner. Raises KeyError if there is none."""
        key = self._continuation_key(accept, winner)
        for number, continuation in enumerate(self.continuations):
            if (continuation.position, continuation.extra, continuation.chains) == key:
                return number
        raise KeyError(key)

    def exits(self) -> Sequence[int]:
        """Exits of the trunk that have tables in tricks 2 and 3."""
        return range(len(self.trunk.exits))

    def block_outcomes(self) -> Iterable[tuple[int, int, int]]:
        """Those of `outcomes` that have tables in tricks 2 and 3."""
        return self.outcomes()

    def _value_sets(self) -> list[tuple[int, ...]]:
        """Sets of value indices that may be known of a player: each value, and with buenas each "at most v"."""
        size = len(self.holdings.values)
        sets: list[tuple[int, ...]] = [(v,) for v in range(size)]
        if self.rules.envido_reveal == "buenas":
            sets += [tuple(range(v + 1)) for v in range(size)]
        return sets

    def outcomes(self) -> Iterable[tuple[int, int, int]]:
        """(mano's set, pie's set, winner) that an accepted Envido may make public (A-2)."""
        size = len(self.holdings.values)
        for mano in range(size):
            if self.rules.envido_reveal == "buenas":
                yield mano, size + mano, 0
                for pie in range(mano + 1, size):
                    yield mano, pie, 1
            else:
                for pie in range(size):
                    yield mano, pie, 0 if mano >= pie else 1

    def _lay_out(self) -> None:
        values = [int(v) for v in self.holdings.values]
        everything = tuple(range(len(values)))
        sets = self._value_sets()
        met = {known for mano, pie, _ in self.block_outcomes() for known in (mano, pie)}
        buckets: dict[tuple[int, ...], int] = (
            {} if met and self.continuations and not self.exits() else {everything: 0}
        )
        members: dict[tuple[Any, ...], list[int]] = {}
        for number in self.exits():
            leaving = self.trunk.exits[number]
            mask = raisers(leaving.level, leaving.caller, self.rules)
            key = (leaving.level, mask, leaving.payoffs.extra, self.abstraction.context(leaving, number))
            members.setdefault(key, []).append(number)
        groups = [Group(key[0], key[1], key[2], tuple(exits), ((0, 0),)) for key, exits in members.items()]

        def bucket_of(values_known: tuple[int, ...], ranges: Iterable[tuple[int, int]]) -> int:
            """The set widened to whole ranges."""
            hit = [r for r in ranges if any(r[0] <= values[v] < r[1] for v in values_known)]
            wide = tuple(v for v in everything if any(r[0] <= values[v] < r[1] for r in hit))
            return buckets.setdefault(wide, len(buckets))

        leaf_group: dict[LeafKey, int] = {}
        trees = [position_tree(self.rules, c.position) for c in self.continuations]
        block_of: list[dict[tuple[int, int], int]] = []
        sets_bucket: list[list[list[int]]] = []
        winners: dict[LeafKey, set[int]] = {}
        for continuation, tree in zip(self.continuations, trees, strict=True):
            for level, mask in tree.leaves:
                winners.setdefault(continuation.leaf_key(level, mask), set()).update(continuation.winners)
        for place, who in winners.items():
            level, mask, extra, chain = place
            bucket = []
            for player in (0, 1):
                ranges = self.abstraction.ranges(level, chain, player)
                bucket.append([bucket_of(known, ranges) if s in met else 0 for s, known in enumerate(sets)])
            blocks: dict[tuple[int, int], int] = {}
            for mano, pie, winner in self.block_outcomes():
                if winner in who:
                    blocks.setdefault((bucket[0][mano], bucket[1][pie]), len(blocks))
            leaf_group[place] = len(groups)
            groups.append(Group(level, mask, extra, (), tuple(blocks)))
            block_of.append(blocks)
            sets_bucket.append(bucket)
        self.layout = Layout(self.holdings, tuple(buckets), tuple(groups))
        self.leaf_group, self.position_trees = leaf_group, trees
        self._make_groups()
        self._make_store(block_of, sets_bucket, sets)

    def _make_groups(self) -> None:
        layout, tiers = self.layout, self.holdings.num_tiers
        roots = layout.trees.roots
        groups = layout.groups
        root = np.zeros((len(groups), 3), np.int64)
        gain = np.zeros((len(groups), 2, 5), np.float32)
        for g, group in enumerate(groups):
            for column, (a, b) in enumerate(((0, 1), (1, 0), (0, 0))):
                root[g, column] = roots[layout.start(group, a, b)]
            gain[g, :, 1:] = group.gain
        blocks = [(g, *block) for g, group in enumerate(groups) for block in group.blocks]
        of_group, of_mano, of_pie = np.array(blocks, np.int64).reshape(-1, 3).T.copy()
        exits = [e for group in groups for e in group.exits]
        self.groups = Groups(
            root, gain, np.cumsum([0] + [len(group.exits) for group in groups]).astype(np.int64),
            np.array(exits, np.int64), of_group, of_mano, of_pie, layout.block_start,
        )  # fmt: skip
        after = self.holdings.after
        local = np.full((len(layout.buckets), tiers, int(self.holdings.pair_id.max()) + 1), -1, np.int64)
        for g in range(len(layout.buckets) * tiers):
            for k in range(layout.lists.count[g]):
                p, q = layout.lists.tiers[g, k]
                local[g // tiers, g % tiers, self.holdings.pair_id[p, q]] = k
        self.local = local
        played = np.repeat(np.arange(tiers), np.diff(after.start))
        self.combos = Combos(
            after.start.astype(np.int64), after.cls.astype(np.int64), local[0, played, after.pair]
        )

    def _make_store(
        self,
        block_of: list[dict[tuple[int, int], int]],
        sets_bucket: list[list[list[int]]],
        sets: list[tuple[int, ...]],
    ) -> None:
        groups, tiers = self.layout.groups, self.holdings.num_tiers
        block = np.full((len(groups), len(sets), len(sets)), -1, np.int64)
        bucket = np.zeros((2, len(groups), len(sets)), np.int64)
        first_block = np.cumsum([0] + [len(group.blocks) for group in groups])
        for k, (blocks, of_set) in enumerate(zip(block_of, sets_bucket, strict=True)):
            g = len(groups) - len(block_of) + k
            bucket[:, g] = of_set
            for mano, pie, _ in self.block_outcomes():
                number = blocks.get((of_set[0][mano], of_set[1][pie]))
                if number is not None:
                    block[g, mano, pie] = first_block[g] + number
        count = self.layout.lists.count.reshape(-1, tiers)
        start = np.zeros((first_block[-1], tiers, tiers), np.int64)
        reach_start = np.zeros((2, first_block[-1], tiers, tiers), np.int64)
        at, to = 0, [0, 0]
        for number in range(first_block[len(groups) - len(block_of)], first_block[-1]):
            mano, pie = self.groups.block_mano[number], self.groups.block_pie[number]
            for a in range(tiers):
                for b in range(tiers):
                    start[number, a, b] = at
                    reach_start[0, number, a, b], reach_start[1, number, a, b] = to
                    at += int(count[mano, a]) * int(count[pie, b])
                    to[0] += int(count[mano, a])
                    to[1] += int(count[pie, b])
        self.hand_over = HandOver(block, bucket, start, reach_start, self.local, count.astype(np.int64))
        self.matrix_entries, self.reach_entries = at, max(to)
        self.value_sets = sets

    def make_store(self) -> Store:
        """Room for what trick 1 hands over after accepted Envidos."""
        weights, payoffs = (np.zeros(self.matrix_entries, np.float32) for _ in range(2))
        return Store(*self.hand_over, weights, payoffs, np.zeros(self.reach_entries, np.float32))

    # ---- trick 1 after an accepted Envido

    def _place_positions(self) -> None:
        holdings, tiers = self.holdings, self.holdings.num_tiers
        kind: list[int] = []
        role: list[int] = []
        stage: list[int] = []
        child: list[list[int]] = []
        place: list[np.ndarray] = []
        actions: list[int] = []
        leaf_group: list[int] = []
        self.position_root: list[int] = []
        needs: list[np.ndarray] = []
        for continuation, tree in zip(self.continuations, self.position_trees, strict=True):
            base, total = len(kind), np.zeros(4, np.int64)
            self.position_root.append(base)
            for node in range(len(tree.kind)):
                kind.append(int(tree.kind[node]))
                role.append(int(tree.role[node]))
                codes = [int(c) + base if 0 <= c < LEAF else int(c) for c in tree.child[node]]
                if kind[-1] == TURN and codes[0] >= LEAF:
                    level, mask = tree.leaves[codes[0] - LEAF]
                    codes[0] = LEAF + len(leaf_group)
                    leaf_group.append(self.leaf_group[continuation.leaf_key(level, mask)])
                child.append(codes)
                place.append(total.copy())
                stage.append(int(tree.stage[node]))
                turn = kind[-1] == TURN
                actions.append((3 if turn else 2) + int(tree.child[node, 1 if turn else 2] != NO_CHILD))
                total[{(0, 0): 0, (0, 1): 1, (1, 1): 2, (1, 0): 3}[stage[-1], role[-1]]] += actions[-1]
            needs.append(total)
        parent, action = np.full(len(kind), -1), np.zeros(len(kind), np.int64)
        for node, codes in enumerate(child):
            for a, code in enumerate(codes):
                if 0 <= code < LEAF:
                    parent[code] = node
                    action[code] = 3 if kind[node] == TURN and a == 1 else a
        sizes = np.diff([*self.position_root, len(kind)])
        nodes = np.zeros(len(kind), np.int64)
        nodes[self.position_root] = sizes
        as_array = lambda rows: np.array(rows, np.int64)  # noqa: E731
        self.positions = PositionTrees(
            as_array(kind), as_array(role), as_array(stage), as_array(child).reshape(-1, 3), parent, action,
            as_array(actions), nodes, as_array(place).reshape(-1, 4), as_array(leaf_group),
        )  # fmt: skip
        after = holdings.after
        classes = [np.flatnonzero(np.isin(holdings.class_value, known)) for known in self.value_sets]
        width = max(map(len, classes))
        played = np.repeat(np.arange(tiers), np.diff(after.start))
        ints = lambda *shape: np.zeros(shape, np.int64)  # noqa: E731
        parts = [
            [np.flatnonzero((played == a) & np.isin(after.value, known)) for a in range(tiers)]
            for known in self.value_sets
        ]
        rest = max(len(part) for row in parts for part in row)
        n = len(classes)
        lists = ValueLists(
            ints(n, width), ints(n), np.zeros((n, width, 3), np.bool_), ints(n, tiers, rest), ints(n, tiers, rest),
            ints(n, tiers, rest), ints(n, tiers, rest), ints(n, tiers), ints(n, tiers),
        )  # fmt: skip
        for v, members in enumerate(classes):
            lists.cls[v, : len(members)] = members
            lists.count[v] = len(members)
            lists.legal[v, : len(members)] = holdings.class_slot_legal[members]
            for a in range(tiers):
                part = parts[v][a]
                size = len(part)
                lists.combo[v, a, :size] = part
                lists.combo_row[v, a, :size] = np.searchsorted(members, after.cls[part])
                lists.combo_slot[v, a, :size] = after.slot[part]
                lists.combo_pair[v, a, :size] = after.pair[part]
                lists.combo_count[v, a] = size
            lists.combo_offset[v] = np.concatenate([[0], np.cumsum(lists.combo_count[v])[:-1]])
        self.value_lists = lists
        self.position_tables: list[np.ndarray] = []
        self.position_tasks: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}
        at, sizes = 0, np.zeros(4, np.int64)
        for number, need in enumerate(needs):
            table = np.zeros((n, n), np.int64)
            for won in self.continuations[number].winners:
                chosen = [(m, p) for m, p, winner in self.outcomes() if winner == won]
                for m, p in chosen:
                    table[m, p] = at
                    pair_sizes.py_func(lists, m, p, sizes)
                    at += int(need @ sizes)
                self.position_tasks[number, won] = self._tasks(number, chosen)
            self.position_tables.append(table)
        self.position_entries = at

    def _tasks(self, number: int, outcomes: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
        """Outcomes in ranges such that no two ranges share a block of tricks 2 and 3, dealt out to the threads."""
        tree, continuation = self.position_trees[number], self.continuations[number]
        groups = sorted({self.leaf_group[continuation.leaf_key(*leaf)] for leaf in tree.leaves})
        block = self.hand_over.block
        parent = {outcome: outcome for outcome in outcomes}

        def find(x: tuple[int, int]) -> tuple[int, int]:
            while parent[x] != x:
                parent[x] = parent[parent[x]]
                x = parent[x]
            return x

        seen: dict[tuple[int, int], tuple[int, int]] = {}
        for outcome in outcomes:
            for g in groups:
                mate = seen.setdefault((g, int(block[g][outcome])), outcome)
                parent[find(outcome)] = find(mate)
        together: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for outcome in outcomes:
            together.setdefault(find(outcome), []).append(outcome)
        count = self.value_lists.count
        groups_of = list(together.values())
        work = [float(sum(int(count[m]) * int(count[p]) for m, p in part)) for part in groups_of]
        parts = [groups_of[k] for k in dealt_out(work)]
        ends = np.cumsum([0] + [len(part) for part in parts])
        return ends.astype(np.int64), np.array([o for part in parts for o in part], np.int64).reshape(-1, 2)

    # ---- sizes

    def node_shape(self, node: TrunkNode) -> tuple[int, ...]:
        """Shape of a trunk node's table: actions, then (mano's card and) holdings of the player."""
        classes = self.holdings.num_classes
        if not node.posted:
            return node.num_actions, classes
        if node.player == 0:
            return node.num_actions, len(self.holdings.after.cls)
        return node.num_actions, self.holdings.num_tiers, classes

    def legal(self, node: TrunkNode) -> np.ndarray:
        """Which entries of a trunk node's table are actions of their holding: bool, to be broadcast to `node_shape`.

        Equal tiers are one action, at the first of their places.
        """
        shape = (node.num_actions, *(1,) * (len(self.node_shape(node)) - 1))
        legal = np.ones((*shape[:-1], self.holdings.num_classes) if node.plays else shape, np.bool_)
        if node.plays:
            places = self.holdings.class_slot_legal.T
            legal[:3] = places if not node.posted else places[:, None, :]
        return legal

    @property
    def table_entries(self) -> dict[str, int]:
        """Regrets by part of the tree."""
        trunk = sum(int(np.prod(self.node_shape(node))) for node in self.trunk.nodes)
        return {
            "trick 1": trunk,
            "trick 1 after envido": self.position_entries,
            "tricks 2 and 3": self.layout.entries,
        }

    @property
    def memory_bytes(self) -> int:
        """Memory of a solver: regrets and sums, handover after accepted Envidos, reaches and work space."""
        combos, tiers = len(self.holdings.after.cls), self.holdings.num_tiers
        exits = len(self.trunk.exits)
        handed = 2 * self.matrix_entries + self.reach_entries
        reaches = exits * combos * (tiers + 1) * 3
        work = handed + reaches + len(self.trunk.nodes) * tiers * 1500 * 4
        return 4 * (2 * sum(self.table_entries.values()) + work)
