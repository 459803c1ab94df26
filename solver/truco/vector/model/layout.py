"""Where every regret of tricks 2 and 3 lies: the forest of trick trees, holdings lists and tables by situation."""

from __future__ import annotations

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
        ends = np.cumsum(np.array(found, np.int64).reshape(-1))
        total = int(ends[-1]) if len(ends) else 0
        starts = np.concatenate([[0], ends])[:-1].reshape(-1, tiers, tiers)
        return np.concatenate([starts, np.full((1, tiers, tiers), total)])

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
