"""Published figures of the full deck, made anew with the commands beside them; `make test-long`, about two hours."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long
EXACT = "exact,exact,exact,exact"


def truco(*words: object) -> dict:
    """What a command says with --json."""
    done = subprocess.run(
        [sys.executable, "-m", "scripts.truco", *map(str, words), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def certified(path: Path, *words: object) -> dict:
    """Solves with the vector engine and certifies with real cards."""
    truco("solve", "--engine", "vector", "--contexts", EXACT, "--trim", 0, *words, "--out", path)
    return truco("exploitability", path)


def test_truco_without_envido(tmp_path: Path) -> None:
    """results/README.md: 0.00110 points after 200 iterations; mano between -0.1911 and -0.1899 after 300."""
    found = certified(tmp_path / "no_envido.vector", "--set", "envido=false", "--iterations", 200)
    assert found["exploitability"] == pytest.approx(0.00110, abs=0.00002)
    assert -found["best_response"]["pie"] < -0.19 < found["best_response"]["mano"]


def test_the_deciding_hand(tmp_path: Path) -> None:
    """results/README.md: 14-14 for the match, 3e-7 on the scale -1 to 1 and mano wins 52.57 %."""
    words = ("--score", "14-14", "--utility", "match", "--iterations", 200)
    found = certified(tmp_path / "last.vector", *words)
    assert found["exploitability"] < 1e-6
    assert (1 + found["best_response"]["mano"]) / 2 == pytest.approx(0.52572, abs=0.00002)


def test_the_lower_bound_is_below_the_certificate(tmp_path: Path) -> None:
    """Full deck at 0-0 with all merged, few iterations: suits are worth something to the exploiter, not much."""
    none = "none,none,none,none"
    path = tmp_path / "coarse.vector"
    truco(
        "solve", "--engine", "vector", "--contexts", none, "--values", none, "--iterations", 40, "--out", path
    )
    least = truco("exploitability", path, "--fast")
    exact = truco("exploitability", path)
    for seat in ("mano", "pie"):
        gap = exact["best_response"][seat] - least["best_response_at_least"][seat]
        assert 0.0 < gap < 0.2
