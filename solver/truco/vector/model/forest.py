"""The trees of tricks 2 and 3 end to end as schedules, the holdings that meet there, and where their tables lie."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from game.truco.rules import Rules
from solver.truco.vector.model.holdings import Holdings
from solver.truco.vector.model.trees import (
    LEAF,
    NO_CHILD,
    TURN,
    TrickTree,
    terminal_parts,
    trick_tree,
)

MAX_TIERS = 16
"""Row length of small matrices: a holding of one card is one of at most 14 tiers."""


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


Start = tuple[int, int, bool]
"""How trick 2 begins: (round value, mask of who may raise, trick 1 parda)."""


class TrickForest(NamedTuple):
    """The trees of tricks 2 and 3, and for each start of trick 2 its tree and how large its tables are."""

    forest: Forest
    roots: dict[Start, int]
    """Root node of trick 2."""
    sizes: dict[Start, np.ndarray]
    """Entries of a situation as factors of its six sizes (see Forest), int64 [6]."""


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


START_STATES = ((1, 3), (2, 1), (2, 2), (3, 1), (3, 2), (4, 0), (2, 3), (3, 3))
"""(Round value, mask of who may raise: bit 0 leader, bit 1 follower) in which a trick can begin."""


def swapped(mask: int) -> int:
    return (mask & 1) << 1 | mask >> 1


def _actions(tree: TrickTree, node: int, cards: int) -> int:
    """Actions with a table at a node; 0 where there is no choice."""
    if tree.kind[node] == TURN:
        total = cards + int(tree.child[node, 1] != NO_CHILD)
        return total if total > 1 else 0
    return 2 + int(tree.child[node, 2] != NO_CHILD)


def build_forest(rules: Rules) -> TrickForest:
    """The trees of tricks 2 and 3 from every start that these rules allow."""
    kind: list[int] = []
    role: list[int] = []
    stage: list[int] = []
    level: list[int] = []
    child: list[list[int]] = []
    place: list[np.ndarray] = []
    parent: list[int] = []
    action: list[int] = []
    actions: list[int] = []
    nodes: dict[int, int] = {}
    leaf_root: list[int] = []
    leaf_level: list[int] = []
    leaf_place: list[np.ndarray] = []

    def levels(tree: TrickTree, start: int) -> list[int]:
        found = [0] * len(tree.kind)
        found[0] = start

        def walk(node: int, value: int) -> None:
            found[node] = value
            turn = tree.kind[node] == TURN
            for a, below in ((0, value), (1, value)) if turn else ((0, _call(tree, node)), (2, value)):
                if 0 <= tree.child[node, a] < LEAF:
                    walk(int(tree.child[node, a]), below)

        walk(0, start)
        return found

    def add(
        tree: TrickTree, start: int, cards: int, use: dict[tuple[int, int], int]
    ) -> tuple[int, np.ndarray]:
        """Appends a tree; `use` gives the size a node's table is counted in, by (stage, role)."""
        base = len(kind)
        total = np.zeros(6, np.int64)
        value = levels(tree, start)
        for node in range(len(tree.kind)):
            kind.append(int(tree.kind[node]))
            role.append(int(tree.role[node]))
            stage.append(int(tree.stage[node]))
            level.append(value[node])
            child.append([int(c) + base if 0 <= c < LEAF else int(c) for c in tree.child[node]])
            parent.append(-1)
            action.append(0)
            actions.append(max(1, _actions(tree, node, cards)))
            place.append(total.copy())
            double = 2 if cards == 1 and (stage[-1], role[-1]) == (1, 1) else 1
            total[use[stage[-1], role[-1]]] += double * _actions(tree, node, cards)
        for node in range(base, len(kind)):
            for a, code in enumerate(child[node]):
                if base <= code < LEAF:
                    parent[code] = node
                    # At a turn the raise comes after the cards.
                    action[code] = a + cards - 1 if kind[node] == TURN and a == 1 else a
        nodes[base] = len(kind) - base
        return base, total

    roots: dict[Start, int] = {}
    sizes: dict[Start, np.ndarray] = {}
    thirds: dict[tuple[int, int], tuple[int, np.ndarray]] = {}
    for value, mask in START_STATES:
        tree = trick_tree(rules, value, mask)
        thirds[value, mask] = add(tree, value, 1, {(0, 0): 4, (0, 1): 5, (1, 0): 4, (1, 1): 4})
    for value, mask in START_STATES:
        for tie in (False, True):
            tree = trick_tree(rules, value, mask)
            root, total = add(tree, value, 2, {(0, 0): 0, (0, 1): 1, (1, 0): 3, (1, 1): 2})
            for node in range(root, len(kind)):
                code = child[node][0]
                if kind[node] == TURN and code >= LEAF:
                    leaf_value, leaf_mask = tree.leaves[code - LEAF]
                    third, need = thirds[leaf_value, leaf_mask if tie else swapped(leaf_mask)]
                    child[node][0] = LEAF + len(leaf_root)
                    leaf_root.append(third)
                    leaf_level.append(leaf_value)
                    leaf_place.append(total.copy())
                    total = total + need
            roots[value, mask, tie] = root
            sizes[value, mask, tie] = total
    as_array = lambda rows: np.array(rows, np.int64)  # noqa: E731
    forest = Forest(
        as_array(kind), as_array(role), as_array(stage), as_array(child), as_array(parent), as_array(action),
        as_array(actions), as_array(level), as_array([nodes.get(n, 0) for n in range(len(kind))]), as_array(place),
        as_array(leaf_root), as_array(leaf_level), as_array(leaf_place), np.zeros((len(kind), 13), np.int64),
    )  # fmt: skip
    forest.third[:, :PLACE] = np.column_stack(
        [
            forest.role,
            forest.actions,
            forest.parent,
            forest.stage,
            forest.action,
            forest.kind,
            forest.level,
            forest.nodes,
        ]
    )
    forest.third[:, PLACE:CHILD] = forest.place[:, 4:]
    forest.third[:, CHILD:] = forest.child
    return TrickForest(forest, roots, sizes)


def _call(tree: TrickTree, node: int) -> int:
    """Level that an ANSWER node answers: its refusal ends the hand for one point less."""
    return terminal_parts.py_func(int(tree.child[node, 1]))[1] + 1


def build_lists(holdings: Holdings, buckets: tuple[tuple[int, ...], ...]) -> Lists:
    """Holdings of two cards for each bucket of Envido value indices and each first card played.

    List number bucket x tiers + tier. A pair is listed where some class of the bucket has it and the played tier.
    """
    tiers, after = holdings.num_tiers, holdings.after
    pairs = [(p, q) for p in range(tiers) for q in range(p, tiers)]
    total = len(buckets) * tiers
    found = []
    for bucket in buckets:
        allowed = np.isin(after.value, bucket)
        for tier in range(tiers):
            part = slice(after.start[tier], after.start[tier + 1])
            found.append([pairs[i] for i in np.unique(after.pair[part][allowed[part]])])
    width = max(1, max(map(len, found)))
    ints = lambda *shape: np.zeros(shape, np.int64)  # noqa: E731
    lists = Lists(
        ints(total), ints(total, width, 2), ints(total, tiers), ints(total, tiers, MAX_TIERS),
        ints(total, tiers, MAX_TIERS), ints(total, tiers, MAX_TIERS), ints(total, tiers), ints(total, tiers),
        ints(total, tiers), ints(total, 3),
    )  # fmt: skip
    for g, holding in enumerate(found):
        lists.count[g] = len(holding)
        for number, (p, q) in enumerate(holding):
            lists.tiers[g, number] = p, q
            for slot, (card, rest) in enumerate(((p, q), (q, p))):
                if slot == 1 and p == q:
                    continue
                k = lists.left_count[g, card]
                lists.left_pair[g, card, k] = number
                lists.left_tier[g, card, k] = rest
                lists.left_slot[g, card, k] = slot
                lists.left_count[g, card] = k + 1
        count = lists.left_count[g]
        rank = np.arange(tiers)
        for target, scale in (
            (lists.offset, np.ones(tiers, int)),
            (lists.offset_stronger, rank),
            (lists.offset_weaker, tiers - 1 - rank),
        ):
            target[g] = np.concatenate([[0], np.cumsum(count * scale)[:-1]])
        lists.size[g] = count.sum(), (count * rank).sum(), (count * (tiers - 1 - rank)).sum()
    return lists
