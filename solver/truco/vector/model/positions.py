"""Trick 1 once an Envido was accepted: its trees, what may be held by values shown, the hand-over to trick 2."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class PositionTrees(NamedTuple):
    """The trick trees of all positions end to end; `place` counts in (mano's classes, pie's classes, tiers x pie's
    classes, mano's (class, card) combinations) of a pair of values.
    """

    kind: np.ndarray
    role: np.ndarray
    stage: np.ndarray
    child: np.ndarray
    parent: np.ndarray
    action: np.ndarray
    """Number of the parent's action that leads here."""
    actions: np.ndarray
    nodes: np.ndarray
    """Number of nodes of the tree, at each root."""
    place: np.ndarray
    leaf_group: np.ndarray
    """Number of the group of tricks 2 and 3 that follows each leaf."""


class ValueLists(NamedTuple):
    """Classes and (class, first card) combinations by set of Envido values v; combinations also by first tier."""

    cls: np.ndarray
    """int64 [v, padded]: classes."""
    count: np.ndarray  # type: ignore[assignment]
    """int64 [v]."""
    legal: np.ndarray
    """bool [v, padded, 3]: card places that are actions."""
    combo: np.ndarray
    """int64 [v, tier, k]: combinations (numbers of Remainders)."""
    combo_row: np.ndarray
    """int64 [v, tier, k]: row in `cls` of each."""
    combo_slot: np.ndarray
    """int64 [v, tier, k]: card place."""
    combo_pair: np.ndarray
    """int64 [v, tier, k]: tier pair left."""
    combo_count: np.ndarray
    """int64 [v, tier]."""
    combo_offset: np.ndarray
    """int64 [v, tier]: running sum of combo_count."""


class HandOver(NamedTuple):
    """Where trick 1 hands over to tricks 2 and 3 after accepted Envidos, by block and first cards.

    A block has for each pair of first cards a matrix [mano's pair, pie's pair] and each player's row of own reach.
    """

    block: np.ndarray
    """int64 [groups, sets, sets]: block of each pair of value sets, -1 where there is none."""
    bucket: np.ndarray
    """int64 [2, groups, sets]: bucket of each set, if known of mano or of pie."""
    start: np.ndarray
    """int64 [blocks, tiers, tiers]: first number of the matrix."""
    reach_start: np.ndarray
    """int64 [2, blocks, tiers, tiers]: first number of own reach, by updated player."""
    local: np.ndarray
    """int64 [bucket, tier, pair id]: place of a tier pair in the holdings list, -1 where it is not."""
    length: np.ndarray
    """int64 [bucket, tier]: length of the list."""


class Store(NamedTuple):
    """A HandOver with what is handed over in one iteration. One tuple: numba passes none in another to threads."""

    block: np.ndarray
    bucket: np.ndarray
    start: np.ndarray
    reach_start: np.ndarray
    local: np.ndarray
    length: np.ndarray
    weights: np.ndarray
    """float32, all matrices: joint weights x the other's reach."""
    payoffs: np.ndarray
    """float32, all matrices: utility of the updated player."""
    reach: np.ndarray
    """float32, all rows: own reach."""
