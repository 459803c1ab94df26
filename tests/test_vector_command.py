"""The vector engine on the command line: solving with resume, certificates, refusals; a deck of seven cards."""

import json

import numpy as np
import pytest

from game.truco.actions import WORDS
from solver.storage import read_arrays
from solver.truco.solutions.vector_solution import load_vector_solution
from solver.truco.vector.cfr import run
from solver.truco.vector.policy.certificate import certificate_path
from solver.truco.vector.policy.files import CHECKPOINT, POLICY, VERSION
from tests.test_truco_command import truco

SMALL = (
    "--engine", "vector", "--set", "deck=1E 4E 4C 4B 5B 6E 7E", "--set", "target=3", "--set", "max_envido=1",
)  # fmt: skip

CALLS = (
    "--contexts", "opening,caller,none,none", "--values", "asked,five,none,none", "--chains", "calls,none,none,none",
)  # fmt: skip


def test_a_policy_is_solved_in_parts_and_certified(capsys, tmp_path):
    whole, parts = tmp_path / "whole.vector", tmp_path / "parts.vector"
    status, out, err = truco(capsys, "solve", *SMALL, "--iterations", 6, "--out", whole)
    assert status == 0, err
    assert "6 iterations" in out
    assert "regrets (trick 1" in err  # size before the start
    for iterations in (2, 6):
        assert truco(capsys, "solve", *SMALL, "--iterations", iterations, "--out", parts, "--json")[0] == 0
    for kind, suffix in ((POLICY, ""), (CHECKPOINT, ".checkpoint")):
        arrays, _ = read_arrays(tmp_path / f"whole.vector{suffix}", kind, VERSION)
        again, _ = read_arrays(tmp_path / f"parts.vector{suffix}", kind, VERSION)
        for name, array in arrays.items():
            np.testing.assert_array_equal(array, again[name], err_msg=name)

    told = json.loads(truco(capsys, "info", whole, "--json")[1])
    assert (told["engine"], told["iterations"], told["abstraction"]["contexts"][0]) == ("vector", 6, "chain")
    assert "6 iterations" in truco(capsys, "info", whole)[1]

    status, out, _ = truco(capsys, "exploitability", whole, "--leaks", 3, "--json")
    assert status == 0
    told = json.loads(out)
    both = told["best_response"]
    assert told["exploitability"] == pytest.approx((both["mano"] + both["pie"]) / 2)
    assert both["mano"] >= told["mano_value"] - 1e-6
    assert both["pie"] >= -told["mano_value"] - 1e-6
    assert len(told["leaks"]["mano"]) == 3
    # More iterations leave less to win.
    assert truco(capsys, "solve", *SMALL, "--iterations", 60, "--out", parts)[0] == 0
    status, out, _ = truco(capsys, "exploitability", parts)
    assert status == 0
    line = next(line for line in out.splitlines() if line.startswith("exploitability"))
    assert float(line.split()[1]) < told["exploitability"] / 2


def test_what_was_certified_is_kept_beside_the_policy(capsys, tmp_path):
    path = tmp_path / "small.vector"
    assert truco(capsys, "solve", *SMALL, *CALLS, "--iterations", 3, "--out", path)[0] == 0
    assert "not measured" in truco(capsys, "info", path)[1]
    found = json.loads(truco(capsys, "exploitability", path, "--json")[1])["exploitability"]
    kept = load_vector_solution(path).info
    assert (kept.exploitability, kept.exploitability_method[:5]) == (pytest.approx(found), "exact")
    assert f"{found:.5f} points per hand, exact with real cards" in truco(capsys, "info", path)[1]
    # Another policy in the same place is not what was certified.
    assert truco(capsys, "solve", *SMALL, *CALLS, "--iterations", 4, "--out", path)[0] == 0
    assert load_vector_solution(path).info.exploitability is None
    certificate_path(path).write_bytes(certificate_path(path).read_bytes()[:-1])
    status, out, _ = truco(capsys, "info", path)
    assert (status, "small.vector.certificate" in out) == (0, True)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--max-memory", "1KB"], "more than --max-memory"),
        (["--max-memory", "much"], "not of the form 16GB"),
        (["--contexts", "chain,chain"], "give four of exact, chain, opening, caller, none"),
        (["--values", "exact,exact,exact,ten"], "give four of exact, twelve, eight, five, none, asked"),
        (["--chains", "calls,calls"], "give four of exact, calls, none"),
        (["--values", "asked,five,five,five"], "values asked need chains calls"),
        (["--schedule", "linear"], "allowed: dcfr, cfr+"),
    ],
)
def test_wrong_options_are_refused_in_one_line(capsys, tmp_path, words, reason):
    status, out, err = truco(
        capsys, "solve", *SMALL, "--iterations", 1, "--out", tmp_path / "x.vector", *words
    )
    assert (status, out) == (2, "")
    assert reason in err.splitlines()[-1]
    assert "Traceback" not in err


def test_files_of_another_game_are_refused(capsys, tmp_path, quick_solution_file):
    path = tmp_path / "small.vector"
    assert truco(capsys, "solve", *SMALL, "--iterations", 1, "--out", path)[0] == 0
    status, _, err = truco(capsys, "solve", *SMALL, "--set", "target=4", "--iterations", 2, "--out", path)
    assert status == 2
    assert "another game" in err
    assert truco(capsys, "exploitability", quick_solution_file)[0] == 2
    broken = bytearray(path.read_bytes())
    broken[-1] ^= 1
    path.write_bytes(broken)
    assert truco(capsys, "exploitability", path)[0] == 2
    assert truco(capsys, "solve", "--engine", "vector")[2].startswith("error: a policy of the vector engine")


def test_a_killed_solve_loses_at_most_what_came_after_its_checkpoint(capsys, tmp_path, monkeypatch):
    path = tmp_path / "killed.vector"
    monkeypatch.setattr(run, "CHECKPOINT_SECONDS", 0.0)
    seen = []

    def interrupted(solver, info, checkpoint, save=None):
        if info.iterations == 4:
            raise KeyboardInterrupt
        seen.append(info.iterations)
        keep(solver, info, checkpoint)

    import solver.truco.vector.policy.files as files

    keep = files.save_checkpoint
    monkeypatch.setattr(files, "save_checkpoint", interrupted)
    assert truco(capsys, "solve", *SMALL, "--iterations", 6, "--out", path)[0] == 130
    assert seen[-1] == 3
    monkeypatch.setattr(files, "save_checkpoint", keep)
    assert truco(capsys, "solve", *SMALL, "--iterations", 6, "--out", path)[0] == 0
    whole = tmp_path / "whole.vector"
    assert truco(capsys, "solve", *SMALL, "--iterations", 6, "--out", whole)[0] == 0
    for name, array in read_arrays(whole, POLICY, VERSION)[0].items():
        np.testing.assert_array_equal(array, read_arrays(path, POLICY, VERSION)[0][name])


def test_solving_stops_at_an_exploitability_and_keeps_its_curve(capsys, tmp_path, monkeypatch):
    whole, parts, plain = (tmp_path / f"{name}.vector" for name in ("whole", "parts", "plain"))
    # When it measures depends on the clock otherwise.
    monkeypatch.setattr(run, "check_is_due", lambda curve, iterations, *rest: iterations % 5 == 2)
    # Measured is the untrimmed policy.
    small = (*SMALL, "--trim", 0)
    assert truco(capsys, "solve", *small, "--iterations", 2, "--out", whole)[0] == 0
    fast = json.loads(truco(capsys, "exploitability", whole, "--fast", "--json")[1])
    target = fast["exploitability_at_least"] / 2
    status, _, err = truco(capsys, "solve", *small, "--iterations", 400, "--until", target, "--out", whole)
    assert status == 0, err
    told = json.loads(truco(capsys, "info", whole, "--json")[1])
    curve = told["curve"]
    assert curve[0][0] == 2
    assert curve[0][2] == pytest.approx(fast["exploitability_at_least"], abs=1e-12)
    assert curve[-1][0] == told["iterations"] < 400
    assert curve[-1][2] <= target
    assert "at tier level" in truco(capsys, "info", whole)[1]

    # The same number of iterations without measuring, and in two parts with it, gives the same bits.
    stop = str(told["iterations"])
    assert truco(capsys, "solve", *small, "--iterations", stop, "--out", plain)[0] == 0
    for iterations in ("2", stop):
        words = ("--iterations", iterations, "--until", 1e-9, "--out", parts)
        assert truco(capsys, "solve", *small, *words)[0] == 0
    for path in (plain, parts):
        for name, array in read_arrays(whole, POLICY, VERSION)[0].items():
            np.testing.assert_array_equal(array, read_arrays(path, POLICY, VERSION)[0][name])
    assert [point[0] for point in json.loads(truco(capsys, "info", parts, "--json")[1])["curve"]][-1] == int(
        stop
    )

    fast = json.loads(truco(capsys, "exploitability", whole, "--fast", "--json")[1])
    assert fast["exploitability_at_least"] == pytest.approx(curve[-1][2], abs=1e-12)
    assert "lower bound" in fast["method"]
    assert "exploitability" not in fast
    assert "at least" in truco(capsys, "exploitability", whole, "--fast")[1]
    told = json.loads(truco(capsys, "exploitability", whole, "--fast", "--leaks", 3, "--json")[1])
    for seat in ("mano", "pie"):
        assert len(told["leaks"][seat]) == 3
        gains = told["trunk_gain"][seat] + sum(leak["gain"] for leak in told["leaks"][seat])
        assert (
            gains
            <= told["best_response_at_least"][seat]
            - told["mano_value"] * (1 if seat == "mano" else -1)
            + 1e-6
        )
        steps = [step for leak in told["leaks"][seat] for step in leak["history"]]
        assert {step["seat"] for step in steps} <= {"mano", "pie"}
        assert {step["action"] for step in steps} <= {"card", *WORDS}
    shown = truco(capsys, "exploitability", whole, "--fast", "--leaks", 3)[1]
    first = told["leaks"]["mano"][0]["history"]
    assert ", ".join(f"{step['seat']} {step['action']}" for step in first) in shown


def test_measuring_takes_at_most_a_tenth_of_the_time():
    due = run.check_is_due
    assert not due((), run.FIRST_CHECK - 1, 0.1, 5.0, 0.0)
    assert due((), run.FIRST_CHECK, 0.1, 5.0, 0.0)
    curve = ((10, 5.0, 0.12),)
    assert not due(curve, 11, 0.1, 1000.0, 1.0)  # the target is 12 iterations away at best
    assert due(curve, 12, 0.1, 1000.0, 1.0)
    assert not due(curve, 12, 0.1, 8.9, 1.0)
    assert not due(curve, 14, 0.01, 1000.0, 1.0)
    assert due(curve, 15, 0.01, 1000.0, 1.0)


@pytest.mark.parametrize("words", [["--until", "0"], ["--until", "0.1", "--engine", "quick"]])
def test_until_is_refused_where_it_means_nothing(capsys, tmp_path, words):
    status, _, err = truco(capsys, "solve", *SMALL, "--out", tmp_path / "x.vector", *words)
    assert status == 2
    assert "--until" in err
