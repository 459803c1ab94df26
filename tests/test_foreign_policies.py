"""Files of the vector engine from somebody else: right checksum, wrong content. Refused in a line, or harmless."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from game.truco.hand import Hand
from game.truco.rules import make_rules
from game.truco.spot import Spot
from solver import load_solution
from solver.storage import read_arrays, write_arrays
from solver.truco.solutions.compact_solution import CompactSolution
from solver.truco.solutions.vector_solution import VectorSolution
from solver.truco.vector.cfr.run import iterate
from solver.truco.vector.cfr.solver import VectorSolver
from solver.truco.vector.model.abstraction import Abstraction
from solver.truco.vector.model.game import Game
from solver.truco.vector.policy import compact, files
from solver.truco.vector.policy.certificate import certificate_path, kept_certificate, save_certificate
from solver.truco.vector.policy.files import StoredPolicy, load_checkpoint, load_policy, save_checkpoint
from solver.truco.vector.policy.info import VectorInfo
from solver.truco.vector.policy.locate import action_mix
from solver.truco.vector.policy.shrink import compact_policy

DECK = "1E 4C 5B 6E 7E 12O"
ODD_VALUES: list[Any] = [
    None, True, -1, 0.5, 2**63, 1e308, "", "cfr++\nand more", [], [[]], {}, [1, 2, 3], {"target": 15}, [None] * 4,
    ["none"] * 3, ["odd"] * 4,
]  # fmt: skip
KINDS = {
    compact.COMPACT: compact.VERSION,
    files.POLICY: files.VERSION,
    files.CHECKPOINT: files.VERSION,
}
COARSE = Abstraction(("none",) * 4, ("none",) * 4)
MUTATIONS = 80
"""Of each kind."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small game after three iterations, in a file of each kind."""
    folder = tmp_path_factory.mktemp("good")
    game = Game(make_rules("base", {"deck": DECK, "max_envido": 1}), (0, 0), None, COARSE)
    solver = VectorSolver(game)
    iterate(solver, 3)
    info = VectorInfo.of(game, "dcfr", 3, 1.0)
    save_checkpoint(solver, info, folder / files.CHECKPOINT)
    stored = StoredPolicy.of(solver, info)
    stored.save(folder / files.POLICY)
    compact_policy(stored, 0.001).save(folder / compact.COMPACT)
    return folder


def mutated(arrays: dict[str, np.ndarray], metadata: Any, rng: random.Random) -> str:
    """Changes one thing of a file's content in place; says what."""
    if rng.random() < 0.4:
        inside = metadata
        name = rng.choice(list(inside))
        while isinstance(inside[name], dict) and inside[name] and rng.random() < 0.8:
            inside = inside[name]
            name = rng.choice(list(inside))
        odd = rng.choice(ODD_VALUES)
        if rng.random() < 0.2:
            del inside[name]
            return f"without {name}"
        if rng.random() < 0.1:
            inside["unknown"] = odd
            return f"unknown = {odd!r}"
        inside[name] = odd
        return f"{name} = {odd!r}"
    name = rng.choice(list(arrays))
    array = arrays[name]
    how = rng.choice(["number", "short", "empty", "long", "dtype", "shape", "gone"])
    if how == "gone":
        del arrays[name]
    elif how == "number" and array.dtype.kind == "f":
        arrays[name] = array.copy()
        arrays[name][rng.randrange(len(array))] = rng.choice([math.nan, math.inf, -math.inf, -1.0])
    elif how == "number":
        arrays[name] = array.copy()
        limits = np.iinfo(array.dtype)
        arrays[name][rng.randrange(len(array))] = rng.choice([limits.min, limits.max, 0, 1])
    elif how == "short":
        arrays[name] = array[: -rng.choice([1, 40, 200])]
    elif how == "empty":
        arrays[name] = array[:0]
    elif how == "long":
        arrays[name] = np.concatenate([array, array[:3]])
    elif how == "dtype":
        arrays[name] = array.astype(rng.choice([np.float64, np.int64, np.int8, np.bool_]))
    else:
        arrays[name] = array.reshape(1, -1)
    return f"{name} {how}"


def openings(game_rules: Any) -> list[Hand]:
    """Hands at a few decisions of trick 1."""
    hands = []
    for words in ([], [43], [40], [43, 47]):  # nothing, envido, truco, envido no_quiero
        hand = Hand(game_rules, game_rules.deck[:3], game_rules.deck[3:], 0, 0)
        for word in words:
            hand.apply(word)
        hands.append(hand)
    return hands


def ask_compact(path: Path) -> list[Any]:
    solution = load_solution(path)
    assert isinstance(solution, CompactSolution)
    solution.info  # noqa: B018
    found: list[Any] = []
    for hand in openings(solution.rules):
        seat = hand.to_move
        assert seat is not None
        words = tuple((None, action) for _, action in hand.history)
        told = solution.look_up(Spot(solution.rules, seat, hand.cards[seat], (0, 0), words))
        assert told is not None
        found.append(told.mix)
        found.append(told.worth)
    solution.stored  # noqa: B018
    return found


def ask_policy(path: Path) -> list[Any]:
    stored = load_policy(path)
    assert isinstance(load_solution(path), VectorSolution)
    return [action_mix(stored.game, stored.tables, hand) for hand in openings(stored.game.rules)]


def ask_checkpoint(path: Path) -> list[Any]:
    solver, _ = load_checkpoint(path)
    return [np.isfinite(iterate(solver, 1)).all()]


ASK: dict[str, Callable[[Path], list[Any]]] = {
    compact.COMPACT: ask_compact,
    files.POLICY: ask_policy,
    files.CHECKPOINT: ask_checkpoint,
}


def probabilities(found: list[Any]) -> None:
    """Mixes are mixes, and worth is finite."""
    for told in found:
        if isinstance(told, dict):
            assert all(math.isfinite(value) for value in told.values())


@pytest.mark.parametrize("kind", KINDS)
def test_a_right_checksum_on_wrong_content_does_no_harm(folder: Path, tmp_path: Path, kind: str) -> None:
    rng = random.Random(15)
    good = ASK[kind](folder / kind)
    probabilities(good)
    refused = 0
    for number in range(MUTATIONS):
        arrays, metadata = read_arrays(folder / kind, kind, KINDS[kind])
        arrays, metadata = dict(arrays), json.loads(json.dumps(metadata))
        what = mutated(arrays, metadata, rng)
        path = tmp_path / f"{number}"
        write_arrays(path, kind, KINDS[kind], arrays, metadata)
        reason = None
        try:
            found = ASK[kind](path)
        except ValueError as error:
            reason = str(error)
        if reason is not None:
            assert "\n" not in reason, what
            assert len(reason) < 1000, what
            refused += 1
        else:
            # Not noticed: then an answer is still one, with the same actions.
            probabilities(found)
            assert len(found) == len(good), what
    assert refused > MUTATIONS // 2


def test_metadata_nested_deep_is_refused(folder: Path, tmp_path: Path) -> None:
    arrays, metadata = read_arrays(folder / compact.COMPACT, compact.COMPACT, compact.VERSION)
    deep: Any = 0
    for _ in range(400):
        deep = [deep]
    write_arrays(tmp_path / "deep", compact.COMPACT, compact.VERSION, arrays, metadata | {"facts": deep})
    with pytest.raises(ValueError, match="not a compact policy") as caught:
        load_solution(tmp_path / "deep")
    assert len(str(caught.value)) < 1000


def test_a_certificate_that_cannot_be_believed_is_said_and_left_aside(folder: Path, tmp_path: Path) -> None:
    policy = tmp_path / "hand.vector"
    policy.write_bytes((folder / files.POLICY).read_bytes())
    info = load_policy(policy).info
    assert kept_certificate(policy, info) == (None, "")
    described = json.loads(json.dumps(asdict(info)))
    right = {"policy": described, "method": "exact best responses", "exploitability": 0.25}
    save_certificate(policy, right)
    assert kept_certificate(policy, info) == (0.25, "")
    assert load_solution(policy).info.exploitability == 0.25
    for wrong in (
        right | {"policy": described | {"iterations": 4}},
        right | {"method": "lower bound"},
        right | {"exploitability": "0.25"},
        right | {"policy": None},
        {},
    ):
        save_certificate(policy, wrong)
        exploitability, remark = kept_certificate(policy, info)
        assert exploitability is None
        assert "left aside" in remark
        assert "\n" not in remark
        solution = load_solution(policy)
        assert solution.info.exploitability is None
        assert solution.remark == remark
    certificate_path(policy).write_bytes(b"nonsense")
    assert "not a solver file" in kept_certificate(policy, info).remark
