"""The average strategy that solving leaves: sums for each infoset and action, normalised where they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from solver.jit import njit
from solver.truco.vector.model.game import Game


class Solver(Protocol):
    """What is read of a solver: its game and its sums, as in `Tables`."""

    game: Game
    trunk_sums: list[np.ndarray]
    position_sums: np.ndarray
    sums: np.ndarray


def shares(sums: np.ndarray) -> np.ndarray:
    """Sums [actions, ...] divided by their total over the actions; 0 where that is 0. Of the dtype of `sums`."""
    total = sums.sum(axis=0)
    return np.where(total > 0, sums / np.where(total > 0, total, 1), 0)


def average_mix(sums: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """The strategy that sums [actions, ...] stand for: shares of the legal ones, all alike where their total is 0.

    legal: bool, broadcast to the shape of `sums`, such as `Game.legal`. Of the dtype of `sums`.
    """
    sums = sums * legal
    total = sums.sum(axis=0)
    even = (legal / legal.sum(axis=0)).astype(sums.dtype)
    return np.where(total > 0, sums / np.where(total > 0, total, 1), even)


@njit
def average_shares(
    sums: np.ndarray, at: int, stride: int, actions: int, legal: int, mix: np.ndarray, to: int
) -> None:
    """`average_mix` of one holding for kernels: action k has the entry sums[at + k x stride], float32.

    Writes float64 mix[k, to] for k < actions; `legal` has bit k set where action k is one.
    """
    total, live = 0.0, 0
    for a in range(actions):
        if legal >> a & 1:
            total += np.float64(sums[at + a * stride])
            live += 1
    for a in range(actions):
        share = 0.0
        if legal >> a & 1:
            share = np.float64(sums[at + a * stride]) / total if total > 0.0 else 1.0 / live
        mix[a, to] = share


class Tables(NamedTuple):
    """Average-strategy sums of a Game, or anything of that shape, such as regrets."""

    trunk_sums: Sequence[np.ndarray]
    """One array for each trunk node, of the shape `Game.node_shape`."""
    position_sums: np.ndarray
    """[Game.position_entries or more]."""
    sums: np.ndarray
    """[Game.layout.entries or more]."""


def tables_of(solver: Solver) -> Tables:
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
    def of(solver: Solver) -> Policy:
        """The average strategy of a solver, its tables not copied."""
        return Policy(solver.game, tables_of(solver))
