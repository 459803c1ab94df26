"""Files of the vector engine: checkpoints to go on from, and policies to certify, look up and play."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from solver.records import shortened
from solver.storage import StorageError, read_arrays, write_arrays
from solver.truco.vector.cfr.average import Tables, tables_of
from solver.truco.vector.cfr.solver import VectorSolver
from solver.truco.vector.model.game import Game
from solver.truco.vector.policy.info import VectorInfo

_AT_ONCE = 1 << 22
_ROUNDING = 1e-6
"""Of the largest sum: how far below 0 a sum may be."""
CHECKPOINT, POLICY, VERSION = "truco-vector-checkpoint", "truco-vector-policy", 2


@dataclass(frozen=True)
class StoredPolicy:
    """An average strategy: sums per infoset and action, to be normalised where they are read."""

    info: VectorInfo
    game: Game
    tables: Tables

    @staticmethod
    def of(solver: VectorSolver, info: VectorInfo) -> StoredPolicy:
        """The average strategy of a solver, sharing its memory."""
        return StoredPolicy(info, solver.game, tables_of(solver))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file, atomically."""
        trunk, position, rest = self.tables
        arrays = {"trunk": _join(trunk), "position": position, "rest": rest}
        write_arrays(path, POLICY, VERSION, arrays, asdict(self.info))


def load_policy(path: str | os.PathLike[str], verify: bool = True) -> StoredPolicy:
    """Opens a policy file, memory-mapped. Raises StorageError with the reason if it cannot be trusted.

    Without `verify` the gigabytes of tricks 2 and 3 are not read: neither is the checksum compared, nor every entry
    looked at there.
    """
    names = {"trunk": "trick 1", "position": "trick 1 after envido", "rest": "tricks 2 and 3"}
    arrays, info, game = _read(path, POLICY, names, verify)
    return StoredPolicy(
        info, game, Tables(split_trunk(arrays["trunk"], game), arrays["position"], arrays["rest"])
    )


def save_checkpoint(solver: VectorSolver, info: VectorInfo, path: str | os.PathLike[str]) -> None:
    """Writes everything needed to go on, atomically."""
    arrays = {
        "trunk_regrets": _join(solver.trunk_regrets),
        "trunk_sums": _join(solver.trunk_sums),
        "position_regrets": solver.position_regrets,
        "position_sums": solver.position_sums,
        "regrets": solver.regrets,
        "sums": solver.sums,
    }
    write_arrays(path, CHECKPOINT, VERSION, arrays, asdict(info))


def load_checkpoint(path: str | os.PathLike[str]) -> tuple[VectorSolver, VectorInfo]:
    """The solver as it was saved. Raises StorageError with the reason if the file cannot be trusted."""
    parts = {"trunk": "trick 1", "position": "trick 1 after envido", "": "tricks 2 and 3"}
    names = {
        f"{name}_{what}".strip("_"): part for name, part in parts.items() for what in ("regrets", "sums")
    }
    arrays, info, game = _read(path, CHECKPOINT, names, True)
    solver = VectorSolver(game)
    for target, name in (
        (solver.position_regrets, "position_regrets"),
        (solver.position_sums, "position_sums"),
        (solver.regrets, "regrets"),
        (solver.sums, "sums"),
    ):
        target[:] = arrays[name][: len(target)]
    for tables, name in ((solver.trunk_regrets, "trunk_regrets"), (solver.trunk_sums, "trunk_sums")):
        for table, saved in zip(tables, split_trunk(arrays[name], game), strict=True):
            table[:] = saved
    solver.iterations = info.iterations
    return solver, info


def _join(tables: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([table.ravel() for table in tables])


def split_trunk(flat: np.ndarray, game: Game) -> list[np.ndarray]:
    """The trunk's tables as views of an array of them end to end; ValueError if it is of another length."""
    shapes = [game.node_shape(node) for node in game.trunk.nodes]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    if flat.shape != (ends[-1],):
        raise ValueError(f"the tables of the trunk are {flat.shape}, not {(int(ends[-1]),)}")
    return [part.reshape(shape) for part, shape in zip(np.split(flat, ends[:-1]), shapes, strict=True)]


def _read(
    path: str | os.PathLike[str], kind: str, names: dict[str, str], verify: bool
) -> tuple[dict[str, np.ndarray], VectorInfo, Game]:
    """Arrays, description and game of a file; `names`: its arrays, with their part of `Game.table_entries`."""
    try:
        arrays, metadata = read_arrays(path, kind, VERSION, verify)
    except OSError as error:
        raise StorageError(f"cannot read {Path(path)}: {error.strerror}") from None
    try:
        info = VectorInfo.read(metadata)
        game = info.game()
        if arrays.keys() != names.keys():
            raise ValueError(f"has arrays {shortened(list(arrays))}, not {', '.join(names)}")
        for name, part in names.items():
            _check(name, arrays[name], game.table_entries[part], verify or not part.startswith("tricks"))
        return arrays, info, game
    except ValueError as error:
        raise StorageError(f"{Path(path)}: {error}") from None


def _check(name: str, array: np.ndarray, entries: int, whole: bool) -> None:
    """ValueError unless an array has the entries of its part; with `whole` each is looked at: finite, no sum below 0.

    Sums are floats of 32 bits, and rounding may carry one a little below 0.
    """
    if array.dtype != np.float32 or array.ndim != 1 or len(array) < entries:
        raise ValueError(f"{name} is {array.dtype} {array.shape}, not {entries} of float32")
    for start in range(0, len(array) if whole else 0, _AT_ONCE):
        part = array[start : start + _AT_ONCE]
        least, most = float(part.min()), float(part.max())
        below = name.endswith("regrets") or least >= -_ROUNDING * max(1.0, most)
        if not (np.isfinite(least) and np.isfinite(most) and below):
            raise ValueError(f"{name} holds what is no sum of probabilities, or not finite")
