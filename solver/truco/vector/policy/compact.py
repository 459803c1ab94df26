"""Trick 1 of a policy of the vector engine in a few megabytes: 8-bit mixes, without what own play seldom reaches.

A file is a container of kind `truco-vector-compact`, memory-mapped: one infoset is read without the others. Its
tables are those of the trunk's nodes in order, then those of trick 1 after an accepted Envido in the order in which
they lie in `Tables.position_sums`. A table is [actions, holdings]; kept are some of its holdings:

    actions   uint8 [tables]
    holdings  uint32 [tables]
    kept      uint32 [tables]   how many holdings of the table are kept
    holding   uint16 [sum of kept]   which, ascending within a table
    mix       uint8, [kept, actions] for each table: round(255 x probability); all 0 is as dropped
    worth     int16, like `mix` for the trunk: what an action is worth in steps of `CompactFacts.step`

The metadata has the trunk's histories in the order of its nodes, as words (`card` for a card), so that a reader needs
no tree. Tricks 2 and 3 are not kept. Nothing here needs numba.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from game.truco.actions import TRUCO, action_name
from solver.records import read_record, shortened
from solver.storage import StorageError, read_arrays, write_arrays
from solver.truco.vector.model.holdings import Holdings
from solver.truco.vector.policy.info import VectorInfo

COMPACT, VERSION = "truco-vector-compact", 4
LEVELS = 255
"""A mix is kept in so many parts."""
MOST_ACTIONS = 12
"""Three cards, three Truco calls or their answers, three Envido calls, and three words to answer or fold are more."""


@dataclass(frozen=True)
class CompactFacts:
    """What a compact policy leaves out."""

    least: float
    """Infosets are dropped that the average strategy of either side reaches less often than this."""
    error: float
    """Largest error of a probability by rounding, before mixes are normalised."""
    kept: int
    infosets: int
    """Infosets of trick 1 kept, and those there were."""
    step: float
    """What an action is worth is rounded to multiples of this utility."""
    exploitability: float | None = None
    """Of the whole policy, exact with real cards; None if it was not certified."""
    dropped: str = "tricks 2 and 3"

    def __post_init__(self) -> None:
        if not (0 <= self.least <= 1 and 0 <= self.error <= 1 and 0 <= self.kept <= self.infosets):
            raise ValueError("what it left out is out of range")
        if not 0 < self.step <= 1 or not 0 <= (self.exploitability or 0) <= 100:
            raise ValueError("its steps or its exploitability are out of range")

    def words(self) -> str:
        """The facts in a sentence."""
        return (
            f"{self.dropped} dropped; {self.kept:,} of {self.infosets:,} infosets of trick 1 kept, reach of "
            f"both sides {self.least:g} or more; probabilities to {self.error:.4f}, utilities to {self.step / 2:.4f}"
        )


class Kept(NamedTuple):
    """The arrays of a file; see the module."""

    actions: np.ndarray
    holdings: np.ndarray
    kept: np.ndarray
    holding: np.ndarray
    mix: np.ndarray
    worth: np.ndarray


class Row(NamedTuple):
    """One infoset of a table, by table action."""

    mix: np.ndarray
    """uint8 [actions], all 0 where it was dropped."""
    worth: np.ndarray | None
    """float64 [actions]: utility of the mover; None where the infoset was dropped."""


@dataclass(frozen=True)
class CompactPolicy:
    """Trick 1 of an average strategy, sparse. Tables are numbered as in the file."""

    info: VectorInfo
    facts: CompactFacts
    nodes: tuple[str, ...]
    """Histories of the trunk's nodes."""
    arrays: Kept

    @cached_property
    def holdings(self) -> Holdings:
        """What a player may hold."""
        return Holdings(self.info.make_rules())

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {history: number for number, history in enumerate(self.nodes)}

    @cached_property
    def begin(self) -> np.ndarray:
        """int64 [tables + 1]: where tables would begin if all their holdings were there, from the trunk's first."""
        return _starts(self.arrays.actions.astype(np.int64) * self.arrays.holdings)

    @cached_property
    def _first(self) -> np.ndarray:
        """int64 [tables + 1]: first kept holding of each table."""
        return _starts(self.arrays.kept)

    @cached_property
    def _entry(self) -> np.ndarray:
        """int64 [tables + 1]: first kept entry of each table."""
        return _starts(self.arrays.actions.astype(np.int64) * self.arrays.kept)

    def table(self, number: int) -> np.ndarray:
        """Mixes of one table, uint8 [actions, holdings], 0 where an infoset was dropped."""
        actions, part = int(self.arrays.actions[number]), slice(*self._first[number : number + 2])
        entries = self.arrays.mix[slice(*self._entry[number : number + 2])]
        full = np.zeros((actions, int(self.arrays.holdings[number])), np.uint8)
        full[:, self.arrays.holding[part]] = entries.reshape(-1, actions).T
        return full

    def row(self, number: int, holding: int) -> Row:
        """What is kept of one holding of a trunk node's table."""
        actions = int(self.arrays.actions[number])
        first, end = self._first[number : number + 2]
        place = int(np.searchsorted(self.arrays.holding[first:end], holding))
        if place == end - first or self.arrays.holding[first + place] != holding:
            return Row(np.zeros(actions, np.uint8), None)
        at = int(self._entry[number]) + place * actions
        part = slice(at, at + actions)
        return Row(self.arrays.mix[part], self.arrays.worth[part] * self.facts.step)

    def knows(self, actions: Sequence[int]) -> bool:
        """Whether the decision after these actions is one of the trunk."""
        return history_key(actions) in self._numbers

    def number(self, actions: Sequence[int]) -> int:
        """Trunk node after these actions, which is also the number of its table; KeyError for other decisions."""
        return self._numbers[history_key(actions)]

    def trunk(self) -> list[np.ndarray]:
        """Mixes of the trunk's nodes, float32 [actions, holdings] each, 0 where an infoset was dropped."""
        return self._dense(0, len(self.nodes), self.arrays.mix)

    def worth(self) -> list[np.ndarray]:
        """Expected utility of the mover by trunk node, float32 [actions, holdings], for the average hand of a class
        when both go on by the policy; 0 where an infoset was dropped.
        """
        return [
            table * np.float32(self.facts.step)
            for table in self._dense(0, len(self.nodes), self.arrays.worth)
        ]

    def positions(self) -> np.ndarray:
        """As `Tables.position_sums`: float32, 0 where an infoset was dropped."""
        tables = self._dense(len(self.nodes), len(self.arrays.actions), self.arrays.mix)
        return np.concatenate([table.reshape(-1) for table in tables]) if tables else np.zeros(0, np.float32)

    def blank(self) -> tuple[np.ndarray, np.ndarray]:
        """Room for the trunk's tables end to end, and as `positions`: float32, all 0, which takes no memory yet."""
        shift = int(self.begin[len(self.nodes)])
        return np.zeros(shift, np.float32), np.zeros(int(self.begin[-1]) - shift, np.float32)

    def fill(self, trunk: np.ndarray, number: int) -> None:
        """Writes one table of the trunk to its place in an array like `blank`."""
        trunk[self.begin[number] : self.begin[number + 1]] = self.table(number).reshape(-1)

    def fill_positions(self, positions: np.ndarray, first: int, end: int) -> None:
        """Writes the entries from `first` to `end`, where tables begin, to their places in an array like `blank`."""
        shift = int(self.begin[len(self.nodes)])
        for number in range(*np.searchsorted(self.begin, (first + shift, end + shift))):
            part = slice(int(self.begin[number]) - shift, int(self.begin[number + 1]) - shift)
            positions[part] = self.table(number).reshape(-1)

    def _dense(self, first: int, last: int, of: np.ndarray) -> list[np.ndarray]:
        """Tables first to last - 1 of an array like `mix`, views of one array of their entries end to end."""
        kept = self.arrays
        tables = np.arange(first, last)
        begin = self.begin[first : last + 1] - self.begin[first]
        out = np.zeros(int(begin[-1]), np.float32)
        holding = kept.holding[self._first[first] : self._first[last]]
        table = np.repeat(tables, kept.kept[first:last])
        actions = kept.actions[table].astype(np.int64)
        # Entry k of a kept row is action k of its holding.
        row = np.repeat(np.arange(len(holding)), actions)
        action = np.arange(len(row)) - np.repeat(_starts(actions)[:-1], actions)
        at = (begin[table - first] + holding)[row] + action * kept.holdings[table].astype(np.int64)[row]
        out[at] = of[self._entry[first] : self._entry[last]]
        return [
            out[begin[k] : begin[k + 1]].reshape(int(kept.actions[first + k]), -1)
            for k in range(last - first)
        ]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file, atomically."""
        metadata = {"policy": asdict(self.info), "facts": asdict(self.facts), "nodes": list(self.nodes)}
        write_arrays(path, COMPACT, VERSION, self.arrays._asdict(), metadata)


def history_key(actions: Sequence[int]) -> str:
    """A history of trick 1 as words, `card` for any card."""
    return " ".join("card" if action < TRUCO else action_name(action) for action in actions)


def kept_of(tables: Iterable[np.ndarray], worth: Sequence[np.ndarray]) -> Kept:
    """The arrays of tables uint8 [actions, holdings]; worth: int16, like the first of them."""
    shapes, held, mixes = [], [], []
    for table in tables:
        shapes.append(table.shape)
        held.append(np.flatnonzero(table.any(axis=0)))
        mixes.append(table[:, held[-1]].T.ravel())
    actions, holdings = np.array(shapes).T
    return Kept(
        actions.astype(np.uint8),
        holdings.astype(np.uint32),
        np.array([len(columns) for columns in held], np.uint32),
        np.concatenate(held).astype(np.uint16),
        np.concatenate(mixes),
        np.concatenate([table[:, at].T.ravel() for table, at in zip(worth, held, strict=False)]),
    )


def load_compact(path: str | os.PathLike[str]) -> CompactPolicy:
    """Opens a compact policy, memory-mapped. Raises StorageError with the reason if it cannot be trusted."""
    try:
        arrays, metadata = read_arrays(path, COMPACT, VERSION)
    except OSError as error:
        raise StorageError(f"cannot read {Path(path)}: {error.strerror}") from None
    try:
        return _checked(arrays, metadata)
    except (TypeError, KeyError, ValueError) as error:
        raise StorageError(f"{Path(path)}: not a compact policy of this program: {error}") from None


def _checked(arrays: dict[str, np.ndarray], metadata: dict[str, Any]) -> CompactPolicy:
    """The policy of a file; ValueError, TypeError or KeyError for content that makes no sense."""
    info = VectorInfo.read(metadata["policy"])
    facts = read_record(CompactFacts, metadata["facts"])
    nodes = metadata["nodes"]
    if not isinstance(nodes, list) or not nodes or not all(isinstance(node, str) for node in nodes):
        raise ValueError("its histories are not texts")
    if nodes[0] != "" or len(set(nodes)) != len(nodes):
        raise ValueError("its histories are not those of a tree")
    if metadata.keys() != {"policy", "facts", "nodes"} or arrays.keys() != set(Kept._fields):
        raise ValueError(f"has arrays {shortened(list(arrays))} and facts {shortened(list(metadata))}")
    kept = Kept(**arrays)
    policy = CompactPolicy(info, facts, tuple(nodes), kept)
    _check_arrays(kept, len(nodes))
    return policy


def _check_arrays(kept: Kept, nodes: int) -> None:
    """ValueError unless the arrays fit each other and every address made of them lies in them."""
    dtypes = dict(zip(Kept._fields, ("|u1", "<u4", "<u4", "<u2", "|u1", "<i2"), strict=True))
    for name, array in kept._asdict().items():
        if array.dtype.str != dtypes[name] or array.ndim != 1:
            raise ValueError(f"{name} is {array.dtype} {array.shape}, not {dtypes[name]} in one dimension")
    tables = len(kept.actions)
    if tables < nodes or len(kept.holdings) != tables or len(kept.kept) != tables:
        raise ValueError("there is not one table for each node")
    if (kept.actions < 2).any() or (kept.actions > MOST_ACTIONS).any():
        raise ValueError(f"a table has fewer than 2 or more than {MOST_ACTIONS} actions")
    if (kept.holdings > 1 << 16).any() or (kept.kept > kept.holdings).any():
        raise ValueError("a table has more holdings than there can be")
    first = _starts(kept.kept)
    entry = _starts(kept.actions.astype(np.int64) * kept.kept)
    if len(kept.holding) != first[-1] or len(kept.mix) != entry[-1]:
        raise ValueError("holding or mix is not as long as the tables say")
    if len(kept.worth) != entry[nodes]:
        raise ValueError("worth is not as long as the trunk's tables")
    rising = kept.holding[1:] > kept.holding[:-1]
    inside = np.ones(len(kept.holding), np.bool_)
    inside[first[:-1][kept.kept > 0]] = False  # first of a table
    if not (rising | ~inside[1:]).all():
        raise ValueError("holdings of a table do not ascend")
    last = first[1:][kept.kept > 0] - 1
    if (kept.holding[last] >= kept.holdings[kept.kept > 0]).any():
        raise ValueError("a holding lies outside of its table")


def _starts(sizes: np.ndarray) -> np.ndarray:
    """int64 [n + 1]: where each of n parts of these sizes begins, and the end."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
