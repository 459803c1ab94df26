"""The hand at a score as the vector engine sees it: what may be held, said and played, and where every table lies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from game.truco.equity import EquityTable
from game.truco.rules import Rules
from solver.jit import dealt_out
from solver.truco.vector.model.abstraction import Abstraction
from solver.truco.vector.model.address import pair_sizes
from solver.truco.vector.model.holdings import Holdings
from solver.truco.vector.model.layout import (
    Combos,
    Group,
    Groups,
    Layout,
    build_combos,
    build_groups,
    build_hand_over,
    local_places,
)
from solver.truco.vector.model.positions import (
    HandOver,
    PlacedTrees,
    PositionTrees,
    Store,
    ValueLists,
    build_value_lists,
    place_trees,
)
from solver.truco.vector.model.trees import (
    Accept,
    Position,
    TrickTree,
    Trunk,
    TrunkNode,
    build_trunk,
    position_tree,
    raisers,
)

PLAYED_RULES = frozenset({
    "target", "envido", "envido_reveal", "raise_right", "envido_after_truco", "max_envido", "falta", "falta_accept",
    "fold_vs_envido", "first_trick_fold_bonus", "deck", "hand_size",
})  # fmt: skip
"""Fields of Rules that the vector engine plays; one that is not here must have its default."""

Extra = tuple[tuple[float, ...], tuple[float, ...]]
"""What the rest of the hand adds for mano, by winner and Truco points 1-4."""
LeafKey = tuple[int, int, Extra, tuple[object, ...]]
"""What tells apart the tables of tricks 2 and 3 after accepted Envidos, beside values: see Continuation.leaf_key."""
Outcome = tuple[int, int, int]
"""What an accepted Envido makes public: (mano's value set, pie's value set, winner)."""


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


class Sharing(NamedTuple):
    """What shares tables in tricks 2 and 3."""

    layout: Layout
    leaf_group: dict[LeafKey, int]
    """Group of what follows accepted Envidos."""
    buckets: dict[int, np.ndarray]
    """Of each such group the bucket of each value set of mano and of pie, int64 [2, sets]."""


class PositionTables(NamedTuple):
    """Tables of trick 1 after accepted Envidos."""

    first: list[np.ndarray]
    """First entry by continuation, int64 [mano's set, pie's set]."""
    entries: int
    """Entries of all."""


class Game:
    """The hand at a score as the vector engine sees it: holdings, trees, tables' places; no strategies.

    What follows from the parts given is worked out when it is first asked for.
    """

    def __init__(
        self,
        rules: Rules,
        score: tuple[int, int],
        equity: EquityTable | None,
        abstraction: Abstraction,
        *,
        holdings: Holdings | None = None,
        trunk: Trunk | None = None,
        exits: Iterable[int] | None = None,
        outcomes: Iterable[Outcome] | None = None,
    ) -> None:
        """Score (mano, pie); utility in points, or with an equity table 2 x win probability - 1.

        holdings, trunk: instead of those of the rules, for parts of the hand as games of their own. exits, outcomes:
        those that have tables in tricks 2 and 3, by default all. Raises ValueError for rules it does not play.
        """
        unknown = [field.name for field in fields(rules) if field.name not in PLAYED_RULES]
        for name in unknown:
            if getattr(rules, name) != getattr(type(rules)(), name):
                raise ValueError(f"the vector engine does not play {name}={getattr(rules, name)!r}")
        self.rules, self.score, self.equity, self.abstraction = rules, score, equity, abstraction
        self.holdings = holdings or Holdings(rules)
        self.trunk = trunk or build_trunk(rules, score, equity)
        self.exits: Sequence[int] = tuple(range(len(self.trunk.exits)) if exits is None else exits)
        self._outcomes = None if outcomes is None else tuple(outcomes)

    def part(self, exits: Iterable[int] = (), outcomes: Iterable[Outcome] = ()) -> Game:
        """The same hand with tables in tricks 2 and 3 for these exits and outcomes alone, which merge nothing there.

        Trick 1 stays as it is: chains of calls that its continuations do not tell apart are not told apart later.
        """
        every = ("exact",) * 4
        abstraction = replace(self.abstraction, contexts=every, values=every)
        return Game(
            self.rules, self.score, self.equity, abstraction, holdings=self.holdings, trunk=self.trunk, exits=exits,
            outcomes=outcomes,
        )  # fmt: skip

    # ---- what follows an accepted Envido

    @cached_property
    def continuations(self) -> list[Continuation]:
        """What accepted Envidos lead to, in the order of the trunk."""
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

    @cached_property
    def _continuation_number(self) -> dict[tuple[Position, Extra, tuple[tuple[object, ...], ...]], int]:
        return {(found.position, found.extra, found.chains): k for k, found in enumerate(self.continuations)}

    def continuation_of(self, accept: Accept, winner: int) -> int:
        """Number of the continuation of an accepted Envido with this winner. Raises KeyError if there is none."""
        return self._continuation_number[self._continuation_key(accept, winner)]

    @cached_property
    def position_trees(self) -> list[TrickTree]:
        """The rest of trick 1 of each continuation."""
        return [position_tree(self.rules, found.position) for found in self.continuations]

    @cached_property
    def value_sets(self) -> list[tuple[int, ...]]:
        """Sets of value indices that may be known of a player: each value, and with buenas each "at most v"."""
        size = len(self.holdings.values)
        sets: list[tuple[int, ...]] = [(v,) for v in range(size)]
        if self.rules.envido_reveal == "buenas":
            sets += [tuple(range(v + 1)) for v in range(size)]
        return sets

    def outcomes(self) -> Iterator[Outcome]:
        """All that an accepted Envido may make public (A-2)."""
        size = len(self.holdings.values)
        for mano in range(size):
            if self.rules.envido_reveal == "buenas":
                yield mano, size + mano, 0
                for pie in range(mano + 1, size):
                    yield mano, pie, 1
            else:
                for pie in range(size):
                    yield mano, pie, 0 if mano >= pie else 1

    @cached_property
    def block_outcomes(self) -> tuple[Outcome, ...]:
        """Those outcomes that have tables in tricks 2 and 3."""
        return tuple(self.outcomes()) if self._outcomes is None else self._outcomes

    # ---- tricks 2 and 3

    def _exit_groups(self) -> list[Group]:
        """Exits that share tables."""
        members: dict[tuple[Any, ...], list[int]] = {}
        for number in self.exits:
            leaving = self.trunk.exits[number]
            mask = raisers(leaving.level, leaving.caller, self.rules)
            key = (leaving.level, mask, leaving.payoffs.extra, self.abstraction.context(leaving, number))
            members.setdefault(key, []).append(number)
        return [Group(key[0], key[1], key[2], tuple(exits), ((0, 0),)) for key, exits in members.items()]

    def _leaf_winners(self) -> dict[LeafKey, set[int]]:
        """What follows trick 1 after accepted Envidos, and who may have won them."""
        winners: dict[LeafKey, set[int]] = {}
        for continuation, tree in zip(self.continuations, self.position_trees, strict=True):
            for level, mask in tree.leaves:
                winners.setdefault(continuation.leaf_key(level, mask), set()).update(continuation.winners)
        return winners

    @cached_property
    def sharing(self) -> Sharing:
        """What shares tables in tricks 2 and 3. The first bucket holds all values, if there are exits."""
        values = [int(v) for v in self.holdings.values]
        everything = tuple(range(len(values)))
        met = {known for mano, pie, _ in self.block_outcomes for known in (mano, pie)}
        follows = bool(met and self.continuations)
        buckets: dict[tuple[int, ...], int] = {} if follows and not self.exits else {everything: 0}

        def bucket_of(known: tuple[int, ...], wide: Sequence[tuple[int, int]]) -> int:
            """Number of the set widened to whole buckets."""
            hit = [r for r in wide if any(r[0] <= values[v] < r[1] for v in known)]
            members = tuple(v for v in everything if any(r[0] <= values[v] < r[1] for r in hit))
            return buckets.setdefault(members, len(buckets))

        groups = self._exit_groups()
        leaf_group: dict[LeafKey, int] = {}
        of_group: dict[int, np.ndarray] = {}
        for key, who in self._leaf_winners().items():
            level, mask, extra, chain = key
            bucket = []
            for player in (0, 1):
                wide = self.abstraction.buckets(level, chain, player)
                bucket.append(
                    [bucket_of(known, wide) if s in met else 0 for s, known in enumerate(self.value_sets)]
                )
            blocks = {
                (bucket[0][m], bucket[1][p]): None for m, p, winner in self.block_outcomes if winner in who
            }
            leaf_group[key] = len(groups)
            of_group[len(groups)] = np.array(bucket, np.int64)
            groups.append(Group(level, mask, extra, (), tuple(blocks)))
        return Sharing(Layout(self.holdings, tuple(buckets), tuple(groups)), leaf_group, of_group)

    @property
    def layout(self) -> Layout:
        """All tables of tricks 2 and 3."""
        return self.sharing.layout

    @property
    def leaf_group(self) -> dict[LeafKey, int]:
        """Group of tricks 2 and 3 that follows trick 1 after accepted Envidos."""
        return self.sharing.leaf_group

    @cached_property
    def groups(self) -> Groups:
        """The groups of the layout as arrays."""
        return build_groups(self.layout)

    @cached_property
    def local(self) -> np.ndarray:
        """See `layout.local_places`."""
        return local_places(self.layout)

    @cached_property
    def combos(self) -> Combos:
        """Combinations with their places in the holdings lists of the first bucket."""
        return build_combos(self.holdings, self.local)

    @cached_property
    def hand_over(self) -> HandOver:
        """Where trick 1 hands over to tricks 2 and 3 after accepted Envidos."""
        shown = [(mano, pie) for mano, pie, _ in self.block_outcomes]
        return build_hand_over(self.sharing.buckets, len(self.value_sets), shown, self.layout, self.local)

    def make_store(self) -> Store:
        """Room for what trick 1 hands over after accepted Envidos."""
        matrices, reach = self.store_entries
        weights, payoffs = (np.zeros(matrices, np.float32) for _ in range(2))
        return Store(*self.hand_over, weights, payoffs, np.zeros(reach, np.float32))

    @cached_property
    def store_entries(self) -> tuple[int, int]:
        """Numbers in all matrices, and in all rows of own reach of the player with more, of a Store."""
        matrices, reach = 0, [0, 0]
        length = self.hand_over.length
        for g in self.sharing.buckets:
            for mano, pie in self.layout.groups[g].blocks:
                mine, theirs = int(length[mano].sum()), int(length[pie].sum())
                matrices += mine * theirs
                reach[0] += mine * length.shape[1]
                reach[1] += theirs * length.shape[1]
        return matrices, max(reach)

    # ---- trick 1 after an accepted Envido

    @cached_property
    def _placed(self) -> PlacedTrees:
        leaf_group = self.leaf_group
        return place_trees(
            self.position_trees,
            lambda number, level, mask: leaf_group[self.continuations[number].leaf_key(level, mask)],
        )

    @property
    def positions(self) -> PositionTrees:
        """The trees of all continuations."""
        return self._placed.trees

    @property
    def position_root(self) -> list[int]:
        """Root of each continuation in `positions`."""
        return self._placed.roots

    @cached_property
    def value_lists(self) -> ValueLists:
        """What may be held by value sets."""
        return build_value_lists(self.holdings, self.value_sets)

    @cached_property
    def position_places(self) -> PositionTables:
        """Where the tables of trick 1 after accepted Envidos lie."""
        lists, size = self.value_lists, len(self.value_sets)
        first: list[np.ndarray] = []
        at = 0
        for number, need in enumerate(self._placed.needs):
            table = np.zeros((size, size), np.int64)
            for won in self.continuations[number].winners:
                shown = [(m, p) for m, p, winner in self.outcomes() if winner == won]
                mano, pie = np.array(shown, np.int64).reshape(-1, 2).T
                sizes = np.zeros((4, len(mano)), np.int64)
                pair_sizes.py_func(lists, mano, pie, sizes)
                starts = at + np.cumsum([0, *(need @ sizes)])
                table[mano, pie] = starts[:-1]
                at = int(starts[-1])
            first.append(table)
        return PositionTables(first, at)

    @property
    def position_tables(self) -> list[np.ndarray]:
        """First entry by continuation, int64 [mano's set, pie's set]."""
        return self.position_places.first

    @property
    def position_entries(self) -> int:
        """Regrets of trick 1 after accepted Envidos."""
        return self.position_places.entries

    @cached_property
    def position_tasks(self) -> dict[tuple[int, int], tuple[np.ndarray, np.ndarray]]:
        """By continuation and winner: pairs of value sets, int64 [pairs, 2], and where the tasks of a pass begin in
        them, int64 [tasks + 1]. No two tasks share a block of tricks 2 and 3; they are dealt out to the threads.
        """
        return {
            (number, won): self._tasks(number, [(m, p) for m, p, winner in self.outcomes() if winner == won])
            for number, continuation in enumerate(self.continuations)
            for won in continuation.winners
        }

    def _tasks(self, number: int, outcomes: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
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
        starts = np.cumsum([0] + [len(part) for part in parts])
        return starts.astype(np.int64), np.array([o for part in parts for o in part], np.int64).reshape(-1, 2)

    # ---- the trunk

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
