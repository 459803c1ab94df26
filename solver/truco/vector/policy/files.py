"""Files of the vector engine: checkpoints to go on from, and policies to certify, look up and play."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from game.truco.equity import EquityTable
from game.truco.rules import make_rules
from solver.storage import StorageError, read_arrays, write_arrays
from solver.truco.vector.cfr.average import Tables, tables_of
from solver.truco.vector.cfr.solver import VectorSolver
from solver.truco.vector.model.abstraction import Abstraction
from solver.truco.vector.model.game import Game

CHECKPOINT, POLICY, VERSION = "truco-vector-checkpoint", "truco-vector-policy", 1
CERTIFICATE = "truco-vector-certificate"


@dataclass(frozen=True)
class VectorInfo:
    """What a file is of; plain JSON values."""

    rules: dict[str, Any]
    rules_hash: str
    score: tuple[int, int]
    """(mano, pie) at the start of the hand."""
    equity: list[list[float]] | None
    """Match-win probability of the player who is mano at each score; None where the utility is points."""
    contexts: tuple[str, ...]
    values: tuple[str, ...]
    schedule: str
    iterations: int
    seconds: float
    """Spent solving, over all runs, measurements apart."""
    curve: tuple[tuple[int, float, float], ...] = ()
    """Measurements on the way: (iterations, seconds, exploitability at tier level, a lower bound)."""
    trim: float = 0.0
    """Share of its infoset below which an action was dropped from the policy; see VectorSolver.trim."""
    chains: tuple[str, ...] = ("none",) * 4

    @property
    def merges(self) -> str:
        """What the policy forgets, by the names of `Abstraction`."""
        return "; ".join(
            f"{name} {','.join(getattr(self, name))}" for name in ("contexts", "values", "chains")
        )

    @staticmethod
    def of(
        game: Game,
        schedule: str,
        iterations: int,
        seconds: float,
        curve: tuple[tuple[int, float, float], ...] = (),
    ) -> VectorInfo:
        """Describes a game and how far it was solved."""
        return VectorInfo(
            game.rules.to_dict(), game.rules.hash(), game.score, game.equity.rows() if game.equity else None,
            game.abstraction.contexts, game.abstraction.values, schedule, iterations, seconds, curve,
            chains=game.abstraction.chains,
        )  # fmt: skip

    @staticmethod
    def read(metadata: dict[str, Any]) -> VectorInfo:
        """The description that was written as JSON. Raises TypeError or KeyError if it is none."""
        lists = {name: tuple(metadata[name]) for name in ("score", "contexts", "values")}
        lists["chains"] = tuple(metadata.get("chains", ("none",) * 4))
        lists["curve"] = tuple(tuple(point) for point in metadata.get("curve", ()))
        return VectorInfo(**metadata | lists)

    def game(self) -> Game:
        """The game it was solved in. Raises ValueError if the rules no longer mean what they meant."""
        rules = make_rules("base", dict(self.rules))
        if rules.hash() != self.rules_hash:
            raise ValueError("its rules no longer mean what they meant when it was solved")
        equity = None
        if self.equity is not None:
            values = {(a, b): value for a, row in enumerate(self.equity) for b, value in enumerate(row)}
            equity = EquityTable(len(self.equity), values)
        merges = Abstraction(self.contexts, self.values, self.chains)  # type: ignore[arg-type]
        return Game(rules, self.score, equity, merges)


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
    return StoredPolicy(info, game, Tables(_part(arrays["trunk"], game), arrays["position"], arrays["rest"]))


def certified(info: VectorInfo, certificate: dict[str, Any]) -> float:
    """The exploitability that `truco exploitability --json` said; ValueError if that was of another policy."""
    try:
        found, method = VectorInfo.read(certificate["policy"]), certificate["method"]
        if found == info and method.startswith("exact"):
            return float(certificate["exploitability"])
    except (KeyError, TypeError):
        raise ValueError("the certificate is not what `truco exploitability --json` prints") from None
    raise ValueError("the certificate is of another policy, or a lower bound only")


def certificate_path(policy: Path) -> Path:
    """Where the exact exploitability of a policy file is kept: beside it."""
    return policy.with_name(policy.name + ".certificate")


def save_certificate(policy: Path, certificate: dict[str, Any]) -> None:
    """Keeps what `truco exploitability` found out about a policy file, atomically; OSError if the disk refuses."""
    write_arrays(certificate_path(policy), CERTIFICATE, VERSION, {}, certificate)


def kept_exploitability(policy: Path, info: VectorInfo) -> float | None:
    """The exact exploitability kept beside a policy file; None if there is none, or it is of another policy.

    Raises StorageError if what is kept is damaged.
    """
    try:
        _, certificate = read_arrays(certificate_path(policy), CERTIFICATE, VERSION)
        return certified(info, certificate)
    except (FileNotFoundError, ValueError) as error:
        if isinstance(error, StorageError):
            raise
        return None


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
        for table, saved in zip(tables, _part(arrays[name], game), strict=True):
            table[:] = saved
    solver.iterations = info.iterations
    return solver, info


def _join(tables: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([table.ravel() for table in tables])


def _part(flat: np.ndarray, game: Game) -> list[np.ndarray]:
    shapes = [game.node_shape(node) for node in game.trunk.nodes]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
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
