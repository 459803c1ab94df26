"""The `truco` command as a new user types it: solve, info, rules, advise, and wrong input."""

import json
import subprocess
import sys
import time

import pytest

from scripts.truco import main, parse_duration


def truco(capsys, *words):
    """Exit status, standard output and error of one command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["truco", *map(str, words)])
        with pytest.raises(SystemExit) as exit_:
            main()
    out, err = capsys.readouterr()
    return exit_.value.code, out, err


def test_solve_writes_a_solution_that_info_reads(capsys, tmp_path):
    path = tmp_path / "hand.truco"
    status, out, err = truco(
        capsys, "solve", "--iterations", 2, "--score", "14-3", "--utility", "match", "--out", path, "--json"
    )
    assert status == 0
    assert "quick solve base at 14-3" in err
    told = json.loads(out)
    assert told["score"] == [14, 3]
    assert told["utility"] == "match"
    assert told["exploitability_method"] == "not certified"
    assert json.loads(truco(capsys, "info", path, "--json")[1]) == told
    status, out, _ = truco(capsys, "info", path)
    assert status == 0
    assert "mano 14, pie 3" in out


def test_kept_solutions_are_found_again(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("TRUCO_HOME", str(tmp_path / "kept"))
    options = ["--score", "12-9", "--rules", "argentino"]
    assert truco(capsys, "solve", "--iterations", 2, *options)[0] == 0
    # Mano has 12 of mano's 12-9; a pie who has 9 asks for 9-12.
    status, out, err = truco(
        capsys,
        "advise",
        "7O 6O 4B",
        "--score",
        "9-12",
        "--pie",
        "--history",
        "4C",
        "--rules",
        "argentino",
        "--json",
    )
    assert (status, err) == (0, "")
    told = json.loads(out)
    assert told["score"] == {"mano": 12, "pie": 9}
    assert told["decision"] == "turn"


def test_advice_on_one_screen(capsys, quick_solution_file):
    status, out, err = truco(capsys, "advise", "7O 6O 4B", "--solution", quick_solution_file, "--roll")
    assert (status, err) == (0, "")
    assert len(out.splitlines()) <= 24
    for word in ("Envido 33", "falta_envido", "match win", "not certified", "roll: "):
        assert word in " ".join(out.split())


def test_advice_for_machines(capsys, quick_solution_file):
    command = ["advise", "1E 7O 3C", "--history", "envido no_quiero 3C 4B", "--solution", quick_solution_file]
    told = json.loads(truco(capsys, *command, "--json", "--roll")[1])
    mix = {row["action"]: row["probability"] for row in told["actions"]}
    if told["reached"]:
        assert sum(mix.values()) == pytest.approx(1.0)
        assert mix[told["roll"]] > 0
    else:
        assert set(mix.values()) == {None}
        assert told["roll"] is None
    assert {"1E", "7O", "truco", "mazo"} == set(mix)


def test_rules_are_shown_field_by_field(capsys, tmp_path):
    told = json.loads(truco(capsys, "rules", "argentino", "--json")[1])
    assert told["fields"]["envido_reveal"] == "buenas"
    house = tmp_path / "house.toml"
    house.write_text('preset = "argentino"\nmax_envido = 1\n')
    assert "argentino+max_envido=1" in truco(capsys, "rules", house)[1]
    told = json.loads(truco(capsys, "rules", house, "--set", "target=30", "--json")[1])
    assert (told["fields"]["target"], told["fields"]["max_envido"]) == (30, 1)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["solve", "--score", "15-0"], "score 15-0 is outside 0-0 to 14-14"),
        (["solve", "--score", "zero"], "score 'zero' is not of the form 12-9"),
        (["solve", "--time", "soon"], "time 'soon' is not a positive duration"),
        (["solve", "--engine", "slow"], "engine 'slow' is unknown, allowed: quick, vector"),
        *(
            (["solve", option, value], f"{option} is a choice of --engine vector, not of quick")
            for option, value in (
                ("--contexts", "none,none,none,none"),
                ("--values", ""),
                ("--chains", "none,none,none,none"),
                ("--until", "0.1"),
                ("--schedule", "dcfr"),
                ("--max-memory", "16GB"),
                ("--trim", "0.01"),
            )
        ),
        (
            ["solve", "--engine", "vector", "--out", "x", "--seed", "1"],
            "--seed is a choice of --engine quick",
        ),
        (
            ["solve", "--engine", "vector", "--out", "x", "--schedule", "cfr"],
            "schedule 'cfr' is unknown, allowed",
        ),
        (
            ["solve", "--engine", "vector", "--out", "x", "--max-memory", "1"],
            "memory '1' is not of the form 16GB",
        ),
        (
            ["solve", "--time", "3m", "--iterations", "5"],
            "--time and --iterations are two ways to say how long",
        ),
        (["solve", "--equity", "simple"], "--equity goes with --utility match"),
        (["solve", "--utility", "fun"], "utility 'fun' is unknown, allowed: points, match"),
        (["solve", "--utility", "match", "--equity", "none.csv"], "cannot read equity table none.csv"),
        (["solve", "--out", "no/such/folder/x"], "folder no/such/folder does not exist"),
        (["solve", "--set", "deck=1E 2E 3E 4E 5E 6E", "--iterations", "1"], "plays the 40-card deck"),
        (["solve", "--set", "envido_reveal=hands", "--iterations", "1"], "values or buenas, not hands"),
        (["info", "no-file"], "cannot read solution no-file"),
        (["rules", "tute"], "unknown rules 'tute', allowed: base, argentino, or a .toml file"),
        (["rules", "--set", "max_envido=9"], "max_envido is 9, allowed: 1, 2, 3"),
        (["rules", "--set", "first_trick_fold_bonus=-1"], "first_trick_fold_bonus is -1, allowed: 0, 1"),
        (["rules", "--set", "first_trick_fold_bonus=no"], "first_trick_fold_bonus is 'no', allowed: 0, 1"),
        (["rules", "--set", "max_envido=two"], "max_envido is 'two', allowed: 1, 2, 3"),
        (["rules", "--set", "target=-15"], "target is -15, allowed: a whole number from 1 to 99"),
        (["rules", "--set", "target=1" + "0" * 5000], "allowed: a whole number from 1 to 99"),
        (["rules", "--set", "max=1"], "'max=1' is not field=value"),
        (["advise", "1E 7O"], "mano holds 2 cards, not 3"),
        (["advise", "1E 1E 7O"], "card 1E is given twice"),
        (["advise", "8E 1E 7O"], "unknown card '8E': write a rank"),
        (["advise", "7\u041e 1E 2E"], "unknown card '7О' ('О' is CYRILLIC CAPITAL LETTER O): write a rank"),
        (["advise", "\uff17O 1E 2E"], "('７' is FULLWIDTH DIGIT SEVEN): write a rank"),
        (["advise", "7 de \u043ero 1E 2E"], "('о' is CYRILLIC SMALL LETTER O): write a rank"),
        (
            ["advise", "1E 7O 3C", "--history", "envido retruco"],
            "history word 2, retruco, is not legal there",
        ),
        (["advise"], "Missing argument"),
        (["advise", "1E 7O 3C", "--nonsense"], "No such option"),
        (["nonsense"], "No such command"),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys, monkeypatch, tmp_path, words, reason):
    monkeypatch.setenv("TRUCO_HOME", str(tmp_path / "kept"))
    status, out, err = truco(capsys, *words)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert reason in err
    assert err.count("\n") == 1


def test_a_solution_of_other_rules_is_refused(capsys, quick_solution_file):
    command = ["advise", "1E 7O 3C", "--rules", "argentino", "--solution", quick_solution_file]
    status, _, err = truco(capsys, *command)
    assert status == 2
    assert "the solution is for rules base, not argentino" in err


def test_durations():
    assert [parse_duration(text) for text in ("90s", "3m", "1.5h", "20")] == [90, 180, 5400, 20]


def test_help_needs_no_heavy_package():
    code = (
        "import sys; sys.argv = ['truco', '--help']\n"
        "from scripts.truco import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'numpy', 'numba', 'pandas', 'pyspiel', 'matplotlib', 'game', 'solver'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_answers_quickly():
    def seconds():
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-m", "scripts.truco", "--help"], capture_output=True, check=True)
        return time.perf_counter() - begin

    # 0.3 s on a quiet machine; the best of three leaves room for a busy one.
    assert min(seconds() for _ in range(3)) < 1.0


def test_advice_at_the_start_is_by_the_policy_that_comes_with_the_program(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("TRUCO_HOME", str(tmp_path))
    told = json.loads(truco(capsys, "advise", "7O 6O 4B", "--json")[1])
    assert (told["engine"], told["samples"]) == ("vector", 0)
    assert told["exploitability"] == pytest.approx(0.1521, abs=1e-4)
    worth = {row["action"]: row["points"] for row in told["actions"]}
    assert worth["mazo"] == pytest.approx(-1.0, abs=0.01)
    assert sum(row["probability"] for row in told["actions"]) == pytest.approx(1.0)
    # What is played is worth nearly as much as anything.
    assert sum(row["probability"] * row["points"] for row in told["actions"]) > max(worth.values()) - 0.05
    later = truco(capsys, "advise", "4O 3O 1B", "--history", "envido quiero 3O 6E", "--shown", 25, "--json")[
        1
    ]
    assert "solved here from the ranges of trick 1" in json.loads(later)["remark"]
    assert not any(tmp_path.iterdir())


def test_compiled_kernels_are_counted_and_cleared(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("TRUCO_HOME", str(tmp_path / "kept"))
    folder = tmp_path / "kernels"
    folder.mkdir()
    ours = [
        "a.b-0123456789abcdef.py311.nbi",
        "a.b-0123456789abcdef.py311.1.nbc",
        "a.b-0123456789abcdef.py311.lock",
    ]
    theirs = ["other.f-12.py311.nbi", "notes.txt"]
    for name in (*ours, *theirs):
        (folder / name).write_bytes(b"12345")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
    told = json.loads(truco(capsys, "cache", "list", "--json")[1])["kernels"]
    assert told == {"folder": str(folder), "files": 3, "bytes": 15}
    assert "3 files of compiled kernels" in truco(capsys, "cache", "list")[1]
    assert truco(capsys, "cache", "clear", "--kernels", "--score", "0-0")[0] == 2
    assert "deleted 0 solutions" in truco(capsys, "cache", "clear")[1]
    assert len(list(folder.iterdir())) == 5
    assert "deleted 3 files" in truco(capsys, "cache", "clear", "--kernels")[1]
    assert sorted(path.name for path in folder.iterdir()) == sorted(theirs)
    # Folders of former versions, one for each state of the sources, go too.
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setattr("solver.jit.kernels_folder", lambda: folder)
    old = folder / "5f3c" / "engine_1"
    old.mkdir(parents=True)
    (old / "engine.apply-12.py311.nbi").write_bytes(b"1")
    assert "deleted 1 files" in truco(capsys, "cache", "clear", "--kernels")[1]
    assert not (folder / "5f3c").exists()
