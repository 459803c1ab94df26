"""Where every regret of tricks 2 and 3 lies: the forest of trick trees, holdings lists and tables by situation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from solver.truco.vector.model.address import block_sizes
from solver.truco.vector.model.forest import (
    Lists,
    TrickForest,
    build_forest,
    build_lists,
    swapped,
)
from solver.truco.vector.model.holdings import Holdings
from solver.truco.vector.model.positions import HandOver


@dataclass(frozen=True)
class Group:
    """Exits of trick 1 that share their tables in tricks 2 and 3, and blocks of values within it."""

    level: int
    mask: int
    """Who may raise: bit 0 mano, bit 1 pie."""
    gain: tuple[tuple[float, ...], tuple[float, ...]]
    """What the rest of the hand adds for mano, by winner and Truco points 1-4."""
    exits: tuple[int, ...]
    """Numbers of the trunk's exits; empty for what follows an accepted Envido."""
    blocks: tuple[tuple[int, int], ...]
    """(mano's bucket, pie's bucket)."""


@dataclass(frozen=True)
class Layout:
    """All tables of tricks 2 and 3."""

    holdings: Holdings
    buckets: tuple[tuple[int, ...], ...]
    groups: tuple[Group, ...]

    @cached_property
    def trees(self) -> TrickForest:
        """The trees of tricks 2 and 3."""
        return build_forest(self.holdings.rules)

    @cached_property
    def lists(self) -> Lists:
        """Holdings by bucket and first card."""
        return build_lists(self.holdings, self.buckets)

    def start(self, group: Group, a: int, b: int) -> tuple[int, int, bool]:
        """(Round value, mask, parda) in which trick 2 begins for a group after the first cards a, b."""
        return group.level, swapped(group.mask) if b < a else group.mask, a == b

    @cached_property
    def block_start(self) -> np.ndarray:
        """First table entry of each block by first cards, int64 [blocks + 1, tiers, tiers]; a block's situations lie
        together. The last row repeats the total.
        """
        tiers, lists, need = self.holdings.num_tiers, self.lists, self.trees.sizes
        a, b = np.indices((tiers, tiers))
        parda, pie_leads = a == b, b < a
        sizes = np.zeros((6, tiers, tiers), np.int64)
        tied = np.zeros_like(sizes)
        found = []
        for group in self.groups:
            factors = np.empty((6, tiers, tiers), np.int64)
            for first in np.ndindex(tiers, tiers):
                factors[:, *first] = need[self.start(group, *first)]
            for mano, pie in group.blocks:
                of_mano, of_pie = mano * tiers + a, pie * tiers + b
                gl, gf = np.where(pie_leads, of_pie, of_mano), np.where(pie_leads, of_mano, of_pie)
                block_sizes.py_func(lists, gl, gf, False, sizes)
                block_sizes.py_func(lists, gl, gf, True, tied)
                found.append((factors * np.where(parda, tied, sizes)).sum(axis=0))
        entries = np.array(found, np.int64).reshape(-1, tiers, tiers)
        return np.concatenate([_starts(entries), np.full((1, tiers, tiers), entries.sum())])

    @property
    def entries(self) -> int:
        """Regrets in all tables."""
        return int(self.block_start[-1, 0, 0])


class Combos(NamedTuple):
    """Combinations (class, first card), see holdings.Remainders, with the place of the rest in a holdings list."""

    start: np.ndarray
    cls: np.ndarray
    row: np.ndarray
    """int64: place of the pair left in the list of its first tier, all values allowed."""


class Groups(NamedTuple):
    """What shares tables after trick 1; for each group g and block k as in Layout."""

    root: np.ndarray
    """int64 [groups, 3]: root of trick 2 where mano leads, pie leads, trick 1 was parda."""
    gain: np.ndarray
    """float32 [groups, 2, 5]: for mano, by winner and points."""
    exit_start: np.ndarray
    """int64 [groups + 1]: exits in exit_list; none for what follows an accepted Envido."""
    exit_list: np.ndarray
    block_group: np.ndarray
    """int64 [blocks]."""
    block_mano: np.ndarray
    """int64 [blocks]: bucket of mano's values."""
    block_pie: np.ndarray
    table: np.ndarray
    """int64 [blocks + 1, tiers, tiers]: first table entry."""


def local_places(layout: Layout) -> np.ndarray:
    """Place of each tier pair in the list of a bucket and a first tier, int64 [bucket, tier, pair id], -1 if none."""
    holdings, lists = layout.holdings, layout.lists
    tiers = holdings.num_tiers
    local = np.full((len(layout.buckets), tiers, int(holdings.pair_id.max()) + 1), -1, np.int64)
    for g in range(len(layout.buckets) * tiers):
        count = lists.count[g]
        pairs = holdings.pair_id[lists.tiers[g, :count, 0], lists.tiers[g, :count, 1]]
        local[g // tiers, g % tiers, pairs] = np.arange(count)
    return local


def build_combos(holdings: Holdings, local: np.ndarray) -> Combos:
    """All combinations, with their places in the lists of the first bucket (`local_places`)."""
    after = holdings.after
    played = np.repeat(np.arange(holdings.num_tiers), np.diff(after.start))
    return Combos(after.start.astype(np.int64), after.cls.astype(np.int64), local[0, played, after.pair])


def build_groups(layout: Layout) -> Groups:
    """The groups of a layout as arrays."""
    groups, roots = layout.groups, layout.trees.roots
    root = np.zeros((len(groups), 3), np.int64)
    gain = np.zeros((len(groups), 2, 5), np.float32)
    for g, group in enumerate(groups):
        for column, (a, b) in enumerate(((0, 1), (1, 0), (0, 0))):
            root[g, column] = roots[layout.start(group, a, b)]
        gain[g, :, 1:] = group.gain
    blocks = [(g, *block) for g, group in enumerate(groups) for block in group.blocks]
    of_group, of_mano, of_pie = np.array(blocks, np.int64).reshape(-1, 3).T.copy()
    exits = [e for group in groups for e in group.exits]
    return Groups(
        root, gain, np.cumsum([0] + [len(group.exits) for group in groups]).astype(np.int64),
        np.array(exits, np.int64), of_group, of_mano, of_pie, layout.block_start,
    )  # fmt: skip


def build_hand_over(
    buckets: Mapping[int, np.ndarray],
    sets: int,
    outcomes: Sequence[tuple[int, int]],
    layout: Layout,
    local: np.ndarray,
) -> HandOver:
    """Where trick 1 hands over after accepted Envidos.

    buckets: of each group after an accepted Envido, the bucket of each value set of mano and of pie, int64 [2, sets];
    outcomes: pairs of value sets that have tables; local: `local_places`.
    """
    groups, tiers = layout.groups, layout.holdings.num_tiers
    first_block = np.cumsum([0] + [len(group.blocks) for group in groups])
    block = np.full((len(groups), sets, sets), -1, np.int64)
    bucket = np.zeros((2, len(groups), sets), np.int64)
    for g, of_set in buckets.items():
        bucket[:, g] = of_set
        numbers = {pair: number for number, pair in enumerate(groups[g].blocks)}
        for mano, pie in outcomes:
            number = numbers.get((int(of_set[0, mano]), int(of_set[1, pie])))
            if number is not None:
                block[g, mano, pie] = first_block[g] + number
    length = layout.lists.count.reshape(-1, tiers).astype(np.int64)
    total, begin = int(first_block[-1]), int(first_block[min(buckets, default=len(groups))])
    pairs = np.array([pair for group in groups for pair in group.blocks], np.int64).reshape(-1, 2)[begin:]
    rows = length[pairs[:, 0]][:, :, None], length[pairs[:, 1]][:, None, :]
    start = np.zeros((total, tiers, tiers), np.int64)
    reach_start = np.zeros((2, total, tiers, tiers), np.int64)
    start[begin:] = _starts(rows[0] * rows[1])
    for player in (0, 1):
        reach_start[player, begin:] = _starts(np.broadcast_to(rows[player], (total - begin, tiers, tiers)))
    return HandOver(block, bucket, start, reach_start, local, length)


def _starts(sizes: np.ndarray) -> np.ndarray:
    """Where each of these sizes begins when they lie one after the other, of the same shape."""
    ends = np.cumsum(sizes.reshape(-1))
    return np.concatenate([[0], ends])[:-1].reshape(sizes.shape)
