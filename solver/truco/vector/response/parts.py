"""Finished parts of a best response on disk, marked with the policy they belong to, so that a later call goes on."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from solver.storage import StorageError, read_arrays, write_arrays
from solver.truco.vector.cfr.average import Policy
from solver.truco.vector.model.trees import Target

KIND, VERSION = "truco-vector-response-part", 3


def fingerprint(policy: Policy) -> str:
    """SHA-256 over what a best response depends on, as 64 hex digits: rules, score, utility, merges and all tables.

    Only values count, no names of classes or fields. Reads all tables.
    """
    game = policy.game
    merges = game.abstraction
    facts = [
        game.rules.hash(),
        list(game.score),
        None if game.equity is None else [game.equity.target, game.equity.rows()],
        [list(merges.contexts), list(merges.values), list(merges.chains)],
        # Parts of the game have a trunk of their own.
        [[terminal.posted, terminal.utility] for terminal in game.trunk.terminals],
        [[leaving.level, leaving.caller, _history(leaving.history)] for leaving in game.trunk.exits],
        [[list(accept.over), _history(accept.history)] for accept in game.trunk.accepts],
    ]
    digest = hashlib.sha256(json.dumps(facts).encode())
    tables = policy.tables
    for table in (*tables.trunk_sums, tables.position_sums, tables.sums):
        digest.update(json.dumps([str(table.dtype), list(table.shape)]).encode())
        digest.update(np.ascontiguousarray(table).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _history(history: tuple[tuple[str, int], ...]) -> list[list[str | int]]:
    return [[word, player] for word, player in history]


class Parts:
    """A folder of parts; `name` tells best responses to one policy apart. Raises OSError if the disk refuses."""

    def __init__(self, folder: Path, name: str, policy: Policy) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._name = folder, name
        self._metadata = {"policy": fingerprint(policy), "response": name}

    def _path(self, kind: str, number: int) -> Path:
        return self._folder / f"{self._name}-{kind}-{number}.safetensors"

    def load(self, kind: str, numbers: tuple[int, ...]) -> dict[Target, np.ndarray] | None:
        """Values of a batch of leaves, None if it is not kept. Raises StorageError for a damaged part or one of
        another policy.
        """
        path = self._path(kind, numbers[0])
        if not path.exists():
            return None
        arrays, found = read_arrays(path, KIND, VERSION)
        if found != self._metadata or set(arrays) != {str(number) for number in numbers}:
            raise StorageError(f"{path}: belongs to another policy")
        return {(kind, number): arrays[str(number)] for number in numbers}

    def save(self, kind: str, values: dict[Target, np.ndarray]) -> None:
        """Keeps the values of a batch of leaves."""
        named = {str(number): rows for (_, number), rows in values.items()}
        first = next(iter(values))[1]
        write_arrays(self._path(kind, first), KIND, VERSION, named, self._metadata)
