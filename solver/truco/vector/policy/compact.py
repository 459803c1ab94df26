"""Trick 1 of a policy of the vector engine in a few megabytes: 8-bit mixes, without what own play seldom reaches.

A file is a container of kind `truco-vector-compact` with three arrays of bytes, each an LZMA stream. `trunk` has one
byte for an entry of the trunk's tables end to end, `position` for one of the tables of trick 1 after an accepted
Envido: round(255 x probability), 0 for all actions of an infoset that was dropped. `worth` has what each action of
the trunk is worth as int16 in steps of `CompactFacts.step`, all low bytes before all high ones. Tricks 2 and 3 are
not kept.
"""

from __future__ import annotations

import lzma
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from solver.storage import StorageError, read_arrays, write_arrays
from solver.truco.vector.cfr.average import Policy, Tables, shares
from solver.truco.vector.cfr.evaluate import Evaluator
from solver.truco.vector.cfr.schedule import schedule_step
from solver.truco.vector.model.address import pair_sizes, table_at, table_rows
from solver.truco.vector.model.game import Game
from solver.truco.vector.model.trees import LEAF, TURN
from solver.truco.vector.policy.files import StoredPolicy, _part
from solver.truco.vector.policy.info import VectorInfo

COMPACT, VERSION = "truco-vector-compact", 2
_LEVELS = 255
_STEPS = 2000


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

    def words(self) -> str:
        """The facts in a sentence."""
        return (
            f"{self.dropped} dropped; {self.kept:,} of {self.infosets:,} infosets of trick 1 kept, reach of "
            f"both sides {self.least:g} or more; probabilities to {self.error:.4f}, utilities to {self.step / 2:.4f}"
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
    worth: list[np.ndarray]
    """Expected utility of the mover by trunk node and action when both go on by the policy, for the average hand of a
    class; of the shapes of `trunk`, and 0 where an infoset was dropped."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file, atomically."""
        flat = np.concatenate([table.ravel() for table in self.trunk])
        steps = np.rint(np.concatenate([table.ravel() for table in self.worth]) / self.facts.step)
        planes = steps.astype("<i2").view(np.uint8).reshape(-1, 2).T
        arrays = {"trunk": _packed(flat), "position": _packed(self.position), "worth": _packed(planes)}
        metadata = {"policy": asdict(self.info), "facts": asdict(self.facts)}
        write_arrays(path, COMPACT, VERSION, arrays, metadata)


def compact_policy(stored: StoredPolicy, least: float, exploitability: float | None = None) -> CompactPolicy:
    """Rounds and drops: infosets are kept that their own play reaches with probability `least` or more, and the other
    side's, given the own holding and the values shown. Takes memory for two more sets of tables.
    """
    game, tables = stored.game, stored.tables
    weight = sum(schedule_step(stored.info.schedule, t).average for t in range(1, stored.info.iterations + 1))
    kept = total = 0

    def rounded(sums: np.ndarray, other: np.ndarray) -> np.ndarray:
        """A table [actions, ...] in 255ths; `other` is the other's reach, [...]."""
        nonlocal kept, total
        own = sums.sum(axis=0)
        keep = (own >= least * weight) & (own > 0) & (other >= least)
        kept, total = kept + int(keep.sum()), total + keep.size
        return np.where(keep, np.rint(_LEVELS * shares(sums)), 0).astype(np.float32)

    reach = Reach(game, tables)
    trunk, worth = [], []
    policy = Policy(game, tables)
    gains = Evaluator(game).gains(policy)
    for gain, here in zip(gains, reach.trunk(), strict=True):
        trunk.append(rounded(here.sums, here.other))
        mass = np.where(trunk[-1].any(axis=0), here.other * here.share, 0.0)
        worth.append(np.where(mass > 0, gain / np.where(mass > 0, mass, 1), 0.0).astype(np.float32))
    position = np.zeros(game.position_entries, np.float32)
    for begin, sums, other in reach.positions():
        position[begin : begin + sums.size] = rounded(sums, other).ravel()
    step = max(float(np.abs(table).max(initial=0.0)) for table in worth) / _STEPS or 1.0
    facts = CompactFacts(least, 0.5 / _LEVELS, kept, total, step, exploitability)
    return CompactPolicy(stored.info, facts, game, trunk, position, worth)


def load_compact(path: str | os.PathLike[str]) -> CompactPolicy:
    """Opens a compact policy. Raises StorageError with the reason if it cannot be trusted."""
    try:
        arrays, metadata = read_arrays(path, COMPACT, VERSION)
    except OSError as error:
        raise StorageError(f"cannot read {Path(path)}: {error.strerror}") from None
    try:
        saved = metadata["policy"]
        info = VectorInfo.read(saved)
        game = info.game()
        facts = CompactFacts(**metadata["facts"])
        trunk, position = (_unpacked(arrays[name]).astype(np.float32) for name in ("trunk", "position"))
        planes = np.ascontiguousarray(_unpacked(arrays["worth"]).reshape(2, -1).T)
        worth = planes.view("<i2").ravel() * np.float32(facts.step)
        return CompactPolicy(info, facts, game, _part(trunk, game), position, _part(worth, game))
    except (TypeError, KeyError, ValueError, lzma.LZMAError) as error:
        raise StorageError(f"{Path(path)}: {error}") from None


def _packed(table: np.ndarray) -> np.ndarray:
    return np.frombuffer(lzma.compress(table.astype(np.uint8).tobytes()), np.uint8)


def _unpacked(stream: np.ndarray) -> np.ndarray:
    return np.frombuffer(lzma.decompress(stream.tobytes()), np.uint8)


class Reached(NamedTuple):
    """A node of the trunk; all float64, shaped like its table, all but the sums without the actions."""

    sums: np.ndarray
    own: np.ndarray
    """The mover's reach."""
    other: np.ndarray
    """The other side's reach, given the mover's class."""
    share: np.ndarray
    """Share of all deals that the mover's class has, [classes], or mano's [combinations] once his card lies."""


class Reach:
    """Walks trick 1 forward by the average strategies: each table, and the other side's reach at its infosets."""

    def __init__(self, game: Game, tables: Tables) -> None:
        self._game, self._tables = game, tables
        holdings = game.holdings
        self._joint = holdings.joint
        self._parts = [
            slice(holdings.after.start[a], holdings.after.start[a + 1]) for a in range(holdings.num_tiers)
        ]
        self._leaves: dict[tuple[str, int], tuple[np.ndarray, np.ndarray]] = {}

    def trunk(self) -> Iterator[Reached]:
        """All nodes of the trunk in order."""
        game, joint = self._game, self._joint
        holdings, after = game.holdings, game.holdings.after
        mine = joint.sum(axis=1)  # joint weights are symmetric
        ones = np.ones(holdings.num_classes)
        reach: dict[tuple[str, int], tuple[np.ndarray, np.ndarray]] = {("node", 0): (ones, ones)}
        for number, node in enumerate(game.trunk.nodes):
            mano, pie = reach.pop(("node", number))
            sums = self._tables.trunk_sums[number].astype(np.float64) * game.legal(node)
            if not node.posted:
                other = joint @ (pie if node.player == 0 else mano) / mine
            elif node.player == 0:
                rows = [joint[after.cls[part]] @ pie[a] for a, part in enumerate(self._parts)]
                other = np.concatenate(rows) / mine[after.cls]
            else:
                other = np.stack([mano[part] @ joint[after.cls[part]] for part in self._parts]) / mine
            share = (mine[after.cls] if node.posted and node.player == 0 else mine) / holdings.num_deals
            yield Reached(sums, pie if node.player == 1 else mano, other, share)
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
        self._leaves = reach

    def positions(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """First entry and sums [actions, holdings] of each table of trick 1 after an accepted Envido, and the other's
        reach given the own class and both values; after `trunk`.
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
            sums = self._tables.position_sums[begin:end].reshape(-1, stride).astype(np.float64)
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
