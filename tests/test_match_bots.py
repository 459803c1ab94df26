"""The command `python -m scripts.match_bots`: what it prints, and one line and status 2 on bad input."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from game.truco.rules import PRESETS
from scripts.console import run
from scripts.match_bots import app
from solver.truco.reading.strategy import no_strategy
from solver.truco.solutions import load

FEW = ("--hands", "50", "--matches", "10")


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Exit status of the command with these arguments."""
    monkeypatch.setattr("sys.argv", ["match_bots", *arguments])
    with pytest.raises(SystemExit) as stop:
        run(app)
    return int(stop.value.code or 0)


def test_tables(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(monkeypatch, "heuristic", "heuristic", *FEW, "--score", "12-9") == 0
    out = capsys.readouterr().out
    for text in ("+0.000 to +0.000", "50.0% to 50.0%", "12-9", "falta_envido", "hands."):
        assert text in out


def test_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(monkeypatch, "heuristic", "random", *FEW, "--rules", "argentino", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["a"], result["b"], result["rules"]) == ("heuristic", "random", "argentino")
    assert result["hands"]["hands"] == 100
    assert result["hands"]["result"]["low"] < result["hands"]["result"]["mean"]
    assert 0.5 < result["matches"]["result"]["mean"] <= 1.0


def test_solution(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "my.truco"
    path.touch()
    solution = SimpleNamespace(rules=PRESETS["base"], strategy=no_strategy(), complete=True)
    monkeypatch.setattr(load, "load_solution", lambda name: solution)
    assert call(monkeypatch, str(path), "random", *FEW) == 0
    assert "A had learnt no mix for 100.0000% of its decisions" in capsys.readouterr().out
    assert call(monkeypatch, str(path), "random", *FEW, "--rules", "argentino") == 2
    assert "was solved for rules base, not argentino" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            ("shark", "random"),
            "'shark' is neither a solution file nor one of random, caller, maniac, heuristic",
        ),
        (("random",), "Missing argument"),
        ((__file__, "random"), "not a solver file"),
        (("random", "random", "--hands", "-1"), "--hands"),
        (("random", "random", "--hands", "0", "--matches", "0"), "nothing to play"),
        (("random", "random", "--hands", "1"), "pairs is 1, allowed: 2 or more"),
        (("random", "random", "--set", "max_envido=7"), "max_envido is 7, allowed: 1, 2, 3"),
        (("random", "random", "--set", "hand_size=2"), "40-card deck"),
        (("random", "random", "--score", "15-3"), "score 15-3 is outside"),
    ],
)
def test_bad_input(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    reason: str,
) -> None:
    assert call(monkeypatch, *arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert reason in error
