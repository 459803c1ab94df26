"""Trick 1 of a policy of the vector engine in a few megabytes: 8-bit mixes, without what own play seldom reaches.

A file is a container of kind `truco-vector-compact` with two arrays of bytes, each an LZMA stream of one byte for an
entry of the trunk's tables end to end (`trunk`) and of the tables of trick 1 after an accepted Envido (`position`):
round(255 x probability), 0 for all actions of an infoset that was dropped. Tricks 2 and 3 are not kept.
"""

from __future__ import annotations

import lzma
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from solver.storage import StorageError, read_arrays, write_arrays
from solver.truco.vector.files import StoredPolicy, VectorInfo, _part
from solver.truco.vector.solve import Game, schedule_step

COMPACT, VERSION = "truco-vector-compact", 1
_LEVELS = 255


@dataclass(frozen=True)
class CompactFacts:
    """What a compact policy leaves out."""

    least: float
    """Infosets are dropped that a hand's own average strategy reaches less often than this."""
    error: float
    """Largest error of a probability by rounding, before mixes are normalised."""
    kept: int
    infosets: int
    """Infosets of trick 1 kept, and those there were."""
    dropped: str = "tricks 2 and 3"

    def words(self) -> str:
        """The facts in a sentence."""
        return (
            f"{self.dropped} dropped; {self.kept:,} of {self.infosets:,} infosets of trick 1 kept, own reach "
            f"{self.least:g} or more; probabilities to {self.error:.4f}"
        )


@dataclass(frozen=True)
class CompactPolicy:
    """Trick 1 of an average strategy, as sums to be normalised (float32); all 0 where an infoset was dropped."""

    info: VectorInfo
    facts: CompactFacts
    game: Game
    trunk: list[np.ndarray]
    """As `lookup.Tables.trunk_sums`."""
    position: np.ndarray
    """As `lookup.Tables.position_sums`."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file, atomically."""
        flat = np.concatenate([table.ravel() for table in self.trunk])
        arrays = {"trunk": _packed(flat), "position": _packed(self.position)}
        metadata = {"policy": asdict(self.info), "facts": asdict(self.facts)}
        write_arrays(path, COMPACT, VERSION, arrays, metadata)


def compact_policy(stored: StoredPolicy, least: float) -> CompactPolicy:
    """Rounds and drops; `least` is the own reach below which an infoset is dropped."""
    game, tables = stored.game, stored.tables
    weight = sum(schedule_step(stored.info.schedule, t).average for t in range(1, stored.info.iterations + 1))
    kept = total = 0

    def rounded(table: np.ndarray) -> np.ndarray:
        """A table [actions, ...] in 255ths."""
        nonlocal kept, total
        sums = table.astype(np.float64)
        own = sums.sum(axis=0)
        keep = (own >= least * weight) & (own > 0)
        kept, total = kept + int(keep.sum()), total + keep.size
        return np.where(keep, np.rint(_LEVELS * sums / np.where(own > 0, own, 1)), 0).astype(np.float32)

    trunk = [rounded(table) for table in tables.trunk_sums]
    position = np.zeros(game.position_entries, np.float32)
    for begin, actions, stride in _position_tables(game):
        end = begin + actions * stride
        table = tables.position_sums[begin:end].reshape(actions, stride)
        position[begin:end] = rounded(table).ravel()
    facts = CompactFacts(least, 0.5 / _LEVELS, kept, total)
    return CompactPolicy(stored.info, facts, game, trunk, position)


def load_compact(path: str | os.PathLike[str]) -> CompactPolicy:
    """Opens a compact policy. Raises StorageError with the reason if it cannot be trusted."""
    try:
        arrays, metadata = read_arrays(path, COMPACT, VERSION)
    except OSError as error:
        raise StorageError(f"cannot read {Path(path)}: {error.strerror}") from None
    try:
        saved = metadata["policy"]
        lists = {name: tuple(saved[name]) for name in ("score", "contexts", "values")}
        info = VectorInfo(**saved | lists)
        game = info.game()
        trunk, position = (_unpacked(arrays[name]) for name in ("trunk", "position"))
        return CompactPolicy(info, CompactFacts(**metadata["facts"]), game, _part(trunk, game), position)
    except (TypeError, KeyError, ValueError, lzma.LZMAError) as error:
        raise StorageError(f"{Path(path)}: {error}") from None


def _packed(table: np.ndarray) -> np.ndarray:
    return np.frombuffer(lzma.compress(table.astype(np.uint8).tobytes()), np.uint8)


def _unpacked(stream: np.ndarray) -> np.ndarray:
    return np.frombuffer(lzma.decompress(stream.tobytes()), np.uint8).astype(np.float32)


def _position_tables(game: Game) -> Iterator[tuple[int, int, int]]:
    """First entry, actions and holdings of every table of trick 1 after an accepted Envido."""
    trees, lists, tiers = game.positions, game.value_lists, game.holdings.num_tiers
    for number, continuation in enumerate(game.continuations):
        root = game.position_root[number]
        for mano, pie, winner in game.outcomes():
            if winner not in continuation.winners:
                continue
            combos = int(lists.combo_count[mano].sum())
            sizes = np.array([lists.count[mano], lists.count[pie], tiers * lists.count[pie], combos])
            for node in range(root, root + int(trees.nodes[root])):
                size = trees.role[node] if trees.stage[node] == 0 else 2 if trees.role[node] == 1 else 3
                begin = int(game.position_tables[number][mano, pie] + trees.place[node] @ sizes)
                yield begin, int(trees.actions[node]), int(sizes[size])
