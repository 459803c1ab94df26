"""The average strategy that solving leaves: sums for each infoset and action, normalised where they are read."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from solver.truco.vector.cfr.solver import VectorSolver
from solver.truco.vector.model.game import Game


class Tables(NamedTuple):
    """Average-strategy sums of a Game, or anything of that shape, such as regrets."""

    trunk_sums: Sequence[np.ndarray]
    """One array for each trunk node, of the shape `Game.node_shape`."""
    position_sums: np.ndarray
    """[Game.position_entries or more]."""
    sums: np.ndarray
    """[Game.layout.entries or more]."""


def tables_of(solver: VectorSolver) -> Tables:
    """The sums of a solver, not copied; read-only as those of a file, so that kernels are compiled once."""
    trunk = [_read_only(table) for table in solver.trunk_sums]
    return Tables(trunk, _read_only(solver.position_sums), _read_only(solver.sums))


def _read_only(table: np.ndarray) -> np.ndarray:
    view = table.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True)
class Policy:
    """An average strategy of a Game; not changed here."""

    game: Game
    tables: Tables

    @staticmethod
    def of(solver: VectorSolver) -> Policy:
        """The average strategy of a solver, its tables not copied."""
        return Policy(solver.game, tables_of(solver))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the game and the tables; reads them all."""
        game = self.game
        digest = hashlib.sha256(repr((game.rules, game.score, game.equity, game.abstraction)).encode())
        for end in game.trunk.ends:
            digest.update(repr(end).encode())
        for table in (*self.tables.trunk_sums, self.tables.position_sums, self.tables.sums):
            digest.update(np.ascontiguousarray(table).reshape(-1).view(np.uint8).data)
        return digest.hexdigest()
