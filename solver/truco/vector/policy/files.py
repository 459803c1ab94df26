"""Files of the vector engine: checkpoints to go on from, and policies to certify, look up and play."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from solver.storage import StorageError, read_arrays, write_arrays
from solver.truco.vector.cfr.average import Tables, tables_of
from solver.truco.vector.cfr.solver import VectorSolver
from solver.truco.vector.model.game import Game
from solver.truco.vector.policy.info import VectorInfo

CHECKPOINT, POLICY, VERSION = "truco-vector-checkpoint", "truco-vector-policy", 1


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
    """Opens a policy file, memory-mapped. Raises StorageError with the reason if it cannot be trusted."""
    arrays, info, game = _read(path, POLICY, verify)
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
    arrays, info, game = _read(path, CHECKPOINT, True)
    solver = VectorSolver(game)
    for target, name in (
        (solver.position_regrets, "position_regrets"),
        (solver.position_sums, "position_sums"),
        (solver.regrets, "regrets"),
        (solver.sums, "sums"),
    ):
        target[:] = arrays[name]
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
    path: str | os.PathLike[str], kind: str, verify: bool
) -> tuple[dict[str, np.ndarray], VectorInfo, Game]:
    try:
        arrays, metadata = read_arrays(path, kind, VERSION, verify)
    except OSError as error:
        raise StorageError(f"cannot read {Path(path)}: {error.strerror}") from None
    try:
        info = VectorInfo.read(metadata)
        return arrays, info, info.game()
    except (TypeError, KeyError, ValueError) as error:
        raise StorageError(f"{Path(path)}: {error}") from None
