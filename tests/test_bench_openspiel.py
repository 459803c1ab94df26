"""The benchmark against OpenSpiel: counts come first, and every solver reaches the target."""

import json

import pytest

from scripts import bench_openspiel


def test_every_solver_reaches_the_target(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench_openspiel, "GAMES", {"kuhn_poker": (58, 12)})
    monkeypatch.setattr(bench_openspiel, "ROUND_SECONDS", 0.02)
    assert bench_openspiel.main(["--json", "--rounds", "1"]) == 0
    theirs, plus, default = json.loads(capsys.readouterr().out)
    assert theirs["iterations_to_target"] == plus["iterations_to_target"]  # the same algorithm
    for timing in (theirs, plus, default):
        assert timing["final_exploitability"] <= bench_openspiel.TARGET
        rate = timing["iterations_per_second"]
        assert timing["times_openspiel"] == pytest.approx(rate / theirs["iterations_per_second"])


def test_a_game_of_another_size_is_not_timed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench_openspiel, "GAMES", {"kuhn_poker": (57, 12)})
    assert bench_openspiel.main([]) == 1
    assert capsys.readouterr().err == "kuhn_poker has (58, 12) states and infosets, not (57, 12)\n"
