"""The equity sweep: recursion, files, restarts, workers that die, checks, views and the commands around it."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

import scripts.solutions
from game.truco.equity import EquityTable, computed_equity, load_equity, simple_equity
from game.truco.rules import PRESETS, make_rules
from scripts.equity import _shown, csv_text, view_values
from solver.storage import StorageError
from solver.truco.match.deviator import exploit
from solver.truco.match.equity_states import (
    accumulated_error,
    exceptions,
    load_state,
    load_states,
    save_state,
    scores_after,
    state_path,
    successors_hash,
    successors_of,
    sweep_order,
    visits,
)
from solver.truco.match.equity_sweep import (
    SweepSettings,
    Task,
    kept_strategy,
    solve_again,
    solve_state,
    sweep,
)
from solver.truco.match.selfplay import play_matches
from tests.test_truco_command import truco

RULES = make_rules("base", {"target": 3})
SMALL = ("--set", "target=3", "--iterations", "20", "--late", "20", "--pairs", "300")
COMMAND = [sys.executable, "-m", "scripts.truco", "equity", "solve", *SMALL]
ROOT = Path(__file__).parent.parent
SHIPPED = ROOT / "game/truco/data/equity_base.csv"


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> tuple[Path, Path]:
    """Folders of the states and strategies of a sweep to 3, by one worker."""
    folder, keep = tmp_path_factory.mktemp("states"), tmp_path_factory.mktemp("strategies")
    words = [*COMMAND, "--workers", "1", "--out", str(folder), "--keep", str(keep)]
    subprocess.run(words, check=True, cwd=ROOT, capture_output=True)
    return folder, keep


def copy(folder: Path, to: Path) -> Path:
    to.mkdir()
    for path in folder.iterdir():
        (to / path.name).write_bytes(path.read_bytes())
    return to


# ---------------------------------------------------------------------------------------- the recursion


def test_order_and_successors():
    order = sweep_order(15)
    assert len(order) == 225
    assert order[0] == (14, 14)
    assert order[-1] == (0, 0)
    assert len({sum(score) for score in order}) == 29
    place = {score: k for k, score in enumerate(order)}
    for score in order:
        for a, b in scores_after(score, 15):
            assert place[b, a] < place[score]
    assert set(scores_after((13, 12), 15)) == {(13, 13), (13, 14), (14, 12), (14, 13), (14, 14)}
    assert successors_of((14, 14), 15, {}) == {}
    assert successors_of((14, 13), 15, {}) is None
    # Mano had 14 of 14-13; if pie makes a point the other is mano at 14-14, if mano does the match is over.
    assert successors_of((14, 13), 15, {(14, 14): 0.6}) == {(14, 14): 0.6}


def test_a_value_is_the_mean_over_the_ends_of_its_hand(finished):
    states = load_states(finished[0], RULES)
    for state in states.values():
        total = 0.0
        for end, share in state.ends.items():
            a, b = map(int, end.split("-"))
            # The other is mano next, with b points; what he does not win, mano does.
            total += share * (1.0 if a == 3 else 0.0 if b == 3 else 1.0 - states[b, a].value)
        assert state.value == pytest.approx(total, abs=1e-9)
        assert sum(state.ends.values()) == pytest.approx(1.0)
        assert 0.0 < state.standard_error < 0.03
        assert state.bracket is None


def test_visits_end_in_the_end_of_the_match(finished):
    states = load_states(finished[0], RULES)
    reach = visits(states)
    ended = 0.0
    for score, state in states.items():
        for end, share in state.ends.items():
            if "3" in end.split("-"):
                ended += reach[score] * share
    assert ended == pytest.approx(1.0)
    assert reach[0, 0] == 1.0
    assert accumulated_error(states) >= states[0, 0].standard_error


def test_whole_matches_agree_with_the_table(finished):
    from solver.truco.solutions.quick_solution import load_quick_solution

    folder, keep = finished
    states = load_states(folder, RULES)
    tables = {score: load_quick_solution(kept_strategy(keep, score)).table for score in states}
    wins, hands = play_matches(RULES, tables, 20_000, seed=3)
    means = wins.mean(axis=1)
    error = (means.var() / len(means) + accumulated_error(states) ** 2) ** 0.5
    assert means.mean() == pytest.approx(states[0, 0].value, abs=4 * error)
    assert error < 0.02
    # A hand pays at least a point: a match to 3 takes one hand to five.
    assert 1.0 < hands / wins.size < 5.0
    with pytest.raises(ValueError, match="no strategy for 1 scores, first 0-0"):
        play_matches(RULES, {score: table for score, table in tables.items() if score != (0, 0)}, 2, 1)


def test_the_deciding_hand_agrees_with_its_certificate():
    """Mano wins 14-14 with 0.52572, exactly (results/base_14-14/certificate.json)."""
    certificate = json.loads((ROOT / "results/base_14-14/certificate.json").read_text())
    exact = (1 + certificate["mano_value"]) / 2
    settings = SweepSettings(iterations=1, late_iterations=400, pairs=20_000)
    state = solve_state(Task(PRESETS["base"].to_dict(), (14, 14), {}, settings))
    assert state.iterations == 400
    assert state.value == pytest.approx(exact, abs=4 * state.standard_error + 0.002)
    assert state.standard_error < 0.001


def test_a_second_solve_has_other_luck(finished):
    states = load_states(finished[0], RULES)
    other = solve_again(RULES, states, (2, 1), SweepSettings("quick", 30, 30, 300, seed=77))
    assert other.iterations == 30
    assert other.seed != states[2, 1].seed
    assert other.value != states[2, 1].value
    assert other.value == pytest.approx(states[2, 1].value, abs=0.1)


def test_exceptions_are_found(finished):
    states = load_states(finished[0], RULES)
    flat = {
        score: replace(state, value=(3 + a - b) / 6)
        for (score, state), (a, b) in zip(states.items(), states, strict=True)
    }
    assert exceptions(flat) == []
    flat[1, 1] = replace(flat[1, 1], value=0.9)
    found = {(a, b) for a, b, _, _ in exceptions(flat)}
    assert found == {((1, 1), (2, 1)), ((1, 0), (1, 1))}


def test_a_trained_opponent_beats_a_bad_strategy_and_carries_it_backwards(finished):
    """Against strategies of 20 iterations a deviator wins more than half of the matches."""
    from solver.truco.solutions.quick_solution import load_quick_solution

    folder, keep = finished
    states = load_states(folder, RULES)

    def table_of(score):
        return load_quick_solution(kept_strategy(keep, score)).table

    late = exploit(RULES, states, table_of, 80, 2_000, least=2)
    assert any(late[2, 2].deviates)
    assert late[2, 2].as_mano + late[2, 2].as_pie > 1.0 + 0.01
    # Where it plays as stored it gains only what it gains later.
    for score, state in states.items():
        if min(score) < 2:
            assert late[score].deviates == (False, False)
            total = sum(
                share * (1.0 if a == 3 else 0.0 if b == 3 else late[b, a].as_pie)
                for end, share in state.ends.items()
                for a, b in [tuple(map(int, end.split("-")))]
            )
            assert late[score].as_mano == pytest.approx(total)
    assert late[0, 0].as_mano + late[0, 0].as_pie > 1.0
    never = exploit(RULES, states, table_of, 1, 2, least=3)
    for score, state in states.items():
        assert never[score].as_mano == pytest.approx(state.value)
        assert never[score].as_pie == pytest.approx(1.0 - state.value)


# ---------------------------------------------------------------------------------------- workers and files


def test_the_order_in_which_states_are_solved_does_not_matter(finished, tmp_path):
    """Three at a time, as threads here; processes are in the tests that kill some."""
    settings = SweepSettings(iterations=20, late_iterations=20, pairs=300)
    assert sweep(RULES, tmp_path, settings, lambda: ThreadPoolExecutor(3)) == load_states(finished[0], RULES)
    assert load_states(tmp_path, RULES) == load_states(finished[0], RULES)


def wait_for_files(folder: Path, count: int, process: subprocess.Popen) -> None:
    end = time.monotonic() + 240
    while len(list(folder.glob("*.json"))) < count:
        assert process.poll() is None, "the sweep ended too early"
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_killed_sweep_goes_on(finished, tmp_path):
    command = [*COMMAND, "--workers", "2", "--out", str(tmp_path)]
    process = subprocess.Popen(command, cwd=ROOT, start_new_session=True, stderr=subprocess.DEVNULL)
    wait_for_files(tmp_path, 2, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.json")}
    assert 2 <= len(kept) < 9
    subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
    assert load_states(tmp_path, RULES) == load_states(finished[0], RULES)
    assert kept == {path: path.stat().st_mtime_ns for path in kept}, "finished states were solved again"


def workers_of(pid: int) -> list[int]:
    """Processes of the pool of a command."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            words = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if parent == pid and b"spawn_main" in words:
            found.append(int(entry.name))
    return found


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the workers in /proc")
def test_a_killed_worker_costs_nothing_but_time(finished, tmp_path):
    process = subprocess.Popen(
        [*COMMAND, "--workers", "2", "--out", str(tmp_path)], cwd=ROOT, stderr=subprocess.PIPE, text=True,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    wait_for_files(tmp_path, 1, process)
    os.kill(workers_of(process.pid)[0], signal.SIGKILL)
    _, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    assert "a worker process died" in err
    assert load_states(tmp_path, RULES) == load_states(finished[0], RULES)


def test_damaged_and_stale_states_are_refused_and_solved_again(finished, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(
        "scripts.equity_solve._processes", lambda workers: lambda: ThreadPoolExecutor(workers)
    )
    folder = copy(finished[0], tmp_path / "states")
    whole = load_states(folder, RULES)
    damaged = state_path(folder, (0, 1))
    damaged.write_text(damaged.read_text().replace('"value": 0.', '"value": 0.9'))
    with pytest.raises(StorageError, match=r"00-01.json: damaged \(checksum differs\)"):
        load_states(folder, RULES)
    state_path(folder, (1, 0)).write_text("{")
    with pytest.raises(StorageError, match="not JSON"):
        load_state(state_path(folder, (1, 0)))
    words = ["equity", "solve", *SMALL, "--workers", 1, "--out", folder]
    status, _, err = truco(capsys, *words)
    assert status == 0
    notes = [line for line in err.splitlines() if line.startswith("note: ")]
    assert len(notes) == 2
    assert "00-01.json: damaged (checksum differs)" in notes[0] + notes[1]
    assert load_states(folder, RULES) == whole

    # A later state with another value makes all that rest on it stale: but for 2-2 itself, every one.
    save_state(folder, replace(whole[2, 2], value=0.9))
    with pytest.raises(StorageError, match="stale, the values of later scores have changed"):
        load_states(folder, RULES)
    status, _, err = truco(capsys, *words)
    assert status == 0
    assert sum("stale" in line for line in err.splitlines() if line.startswith("note: ")) == 8
    again = load_states(folder, RULES)
    assert again[2, 2].value == 0.9
    assert again[2, 1].value != whole[2, 1].value

    with pytest.raises(
        StorageError, match=r"of rules base\+target=3, not base\+max_envido=1\+target=3|of rules"
    ):
        load_states(folder, make_rules("base", {"target": 3, "max_envido": 1}))
    state_path(folder, (0, 0)).unlink()
    with pytest.raises(StorageError, match="cannot read state"):
        load_states(folder, RULES)


def test_a_dask_cluster_gives_the_same_table_though_a_worker_is_killed(finished, tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())
        assert len(set(pids)) == 2
        process = subprocess.Popen(
            [*COMMAND, "--out", str(tmp_path), "--cluster", cluster.scheduler_address],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        wait_for_files(tmp_path, 1, process)
        os.kill(pids[0], signal.SIGKILL)
        out, _ = process.communicate(timeout=240)
    assert process.returncode == 0
    assert "9 states" in out
    assert load_states(tmp_path, RULES) == load_states(finished[0], RULES)


def test_a_state_does_not_depend_on_other_luck_than_its_seed():
    settings = SweepSettings(iterations=3, late_iterations=3, pairs=50, seed=5)
    task = Task(RULES.to_dict(), (2, 1), {(1, 2): 0.3, (2, 2): 0.5}, settings)
    assert solve_state(task) == solve_state(task)
    assert solve_state(replace(task, settings=replace(settings, seed=6))).value != solve_state(task).value
    assert successors_hash({(2, 2): 0.5}) != successors_hash({(2, 2): 0.5000001})


def test_the_vector_engine_brackets_its_value():
    rules = make_rules("base", {"target": 2, "deck": "1E 4E 4C 4B 5B 5O 6E 7E", "max_envido": 1})
    settings = SweepSettings("vector", 30, 30, certify=True)
    state = solve_state(Task(rules.to_dict(), (1, 1), {}, settings))
    assert state.bracket is not None
    low, high = state.bracket
    assert low - 1e-6 <= state.value <= high + 1e-6
    assert high - low < 0.05
    assert (state.engine, state.standard_error, state.ends) == ("vector", 0.0, {})
    assert state.merges is not None


# ---------------------------------------------------------------------------------------- the table and its views


def test_views_by_hand():
    values = {(0, 0): 0.6, (0, 1): 0.3, (1, 0): 0.8, (1, 1): 0.55}
    table = EquityTable(2, values)
    assert table.as_pie(1, 0) == pytest.approx(0.7)  # the other is mano at 0-1
    assert table.mano_gain(1, 0) == pytest.approx(0.1)
    assert table.mano_gain(1, 0) == pytest.approx(table.mano_gain(0, 1))
    # With 1-1, a mean of .55 and .45; a point wins the match.
    assert table.point_gain(1, 1) == pytest.approx(0.5)
    assert table.point_gain(0, 0) == pytest.approx((0.8 + 0.7) / 2 - (0.6 + 0.4) / 2)
    assert view_values(table, "pie")[1][0] == pytest.approx(0.7)
    assert view_values(simple_equity(15), "being-mano")[3][9] == pytest.approx(0.0)


def test_a_table_is_shown_drawn_and_read_back(finished, tmp_path, capsys):
    folder = finished[0]
    states = load_states(folder, RULES)
    common = ("--set", "target=3", "--equity", folder)
    status, out, _ = truco(capsys, "equity", "show", *common, "--view", "mano")
    assert status == 0
    assert f"{100 * states[0, 0].value:.1f}" in out
    assert "no bracket" in out
    told = json.loads(truco(capsys, "equity", "show", *common, "--json")[1])
    assert told["values"][2][1] == states[2, 1].value
    for view in ("mano", "being-mano", "point"):
        picture = tmp_path / f"{view}.png"
        assert truco(capsys, "equity", "plot", *common, "--view", view, "--out", picture)[0] == 0
        assert picture.read_bytes()[:4] == b"\x89PNG"
    table = tmp_path / "table.csv"
    assert truco(capsys, "equity", "export", *common, "--out", table)[0] == 0
    read = load_equity(str(table), 3)
    assert read.name == f"table {table}"
    for score, state in states.items():
        assert read.win_probability(*score) == pytest.approx(state.value, abs=1e-6)
    shown = json.loads(truco(capsys, "equity", "show", "--set", "target=3", "--equity", table, "--json")[1])
    assert shown["rules_hash"] == RULES.hash()


def test_the_checks_of_a_table(finished, capsys):
    folder, keep = finished
    words = ["--set", "target=3", "--equity", folder, "--strategies", keep, "--matches", 2000]
    words += ["--again", "2-2", "--iterations", 40]
    status, out, _ = truco(capsys, "equity", "check", *words)
    assert status == 0
    assert "second solve at 2-2" in out
    told = json.loads(truco(capsys, "equity", "check", *words, "--json")[1])
    assert abs(told["matches"]["z"]) < 4
    assert told["value"] == load_states(folder, RULES)[0, 0].value
    assert told["again"][0]["iterations"] == 40


def test_the_exploitability_command(finished, capsys):
    folder, keep = finished
    words = (
        "--set",
        "target=3",
        "--equity",
        folder,
        "--strategies",
        keep,
        "--iterations",
        20,
        "--pairs",
        200,
    )
    status, out, _ = truco(capsys, "equity", "exploitability", *words, "--least", 2)
    assert status == 0
    assert "a perfect opponent wins more" in out
    told = json.loads(truco(capsys, "equity", "exploitability", *words, "--least", 2, "--json")[1])
    assert [row["score"] for row in told["states"]] == ["2-2"]
    assert told["match"] >= 0.5 - 0.02
    assert truco(capsys, "equity", "exploitability", *words, "--least", 3)[0] == 2


@pytest.mark.skipif(not SHIPPED.exists(), reason="the sweep of the rules base is not finished")
def test_the_table_that_ships_is_the_one_of_the_committed_states():
    rules = PRESETS["base"]
    states = load_states(ROOT / "results/equity/base", rules)
    assert len(states) == 225
    text = csv_text(_shown(str(ROOT / "results/equity/base"), rules))
    assert SHIPPED.read_text() == text
    assert (ROOT / "results/equity/base.csv").read_text() == text
    assert computed_equity(15).name == "table computed for rules base"
    assert computed_equity(30) is simple_equity(30)
    certificate = json.loads((ROOT / "results/base_14-14/certificate.json").read_text())
    exact = (1 + certificate["mano_value"]) / 2
    assert computed_equity(15).win_probability(14, 14) == pytest.approx(exact, abs=0.003)
    # Every point more helps; what the sampling makes of nearly equal neighbours may not hide more than its error.
    for _, _, rise, error in exceptions(states):
        assert abs(rise) < 4 * error


# ---------------------------------------------------------------------------------------- score-aware answers


def test_advice_at_a_score_is_for_the_match_and_kept(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("TRUCO_HOME", str(tmp_path))
    monkeypatch.setattr(scripts.solutions, "SOLVE_SECONDS", 0.2)
    words = ["advise", "4O 3O 1B", "--score", "13-14", "--samples", 200, "--json"]
    status, out, err = truco(capsys, *words)
    assert status == 0, err
    assert "quick solve base at 13-14" in err
    told = json.loads(out)
    assert told["utility"] == "match"
    computed = "table computed for rules base" if SHIPPED.exists() else "built-in model"
    assert told["equity"] == computed
    assert all(row["points"] is None or 0 <= row["match_win"] <= 1 for row in told["actions"])
    assert truco(capsys, *words)[2] == "", "it was solved again"
    # Another table of what scores are worth is another solution; so are points.
    table = tmp_path / "table.csv"
    rows = [f"{a},{b},{(16 + a - b) / 32}" for a in range(15) for b in range(15)]
    table.write_text("\n".join(["mano_score,pie_score,mano_wins", *rows]))
    assert "quick solve" in truco(capsys, *words, "--equity", table)[2]
    assert "quick solve" in truco(capsys, *words, "--utility", "points")[2]
    other = json.loads(truco(capsys, *words, "--rules", "argentino")[1])
    assert other["equity"] == computed + (", not argentino" if SHIPPED.exists() else "")

    kept = json.loads(truco(capsys, "cache", "list", "--json")[1])["solutions"]
    assert len(kept) == 4
    assert {row["score"] for row in kept} == {"13-14"}
    assert f"13-14  base, match (table {table})" in truco(capsys, "cache", "list")[1]
    (tmp_path / "broken_1-2_points_quick.truco").write_bytes(b"nonsense")
    assert "broken_1-2" in truco(capsys, "cache", "list")[1]
    assert "deleted 0" in truco(capsys, "cache", "clear", "--score", "0-0")[1]
    assert "deleted 4" in truco(capsys, "cache", "clear", "--score", "13-14")[1]
    assert "deleted 1" in truco(capsys, "cache", "clear")[1]


def test_a_frequency_over_the_scores(finished, capsys, tmp_path):
    keep = finished[1]
    picture = tmp_path / "sweep.png"
    words = ("plot", "score-sweep", "--set", "target=3", "--rounds", 2, "--out", picture, "--json")
    status, out, _ = truco(capsys, *words, "--strategies", keep, "--seat", "mano", "--action", "envido")
    assert status == 0
    shares = json.loads(out)["shares"]
    assert [len(row) for row in shares] == [3, 3, 3]
    assert all(0 <= share <= 1 for row in shares for share in row)
    assert picture.read_bytes()[:4] == b"\x89PNG"
    one = json.loads(
        truco(
            capsys, *words, "--strategies", keep, "--seat", "mano", "--own-envido", 27, "--action", "envido"
        )[1]
    )
    assert one["shares"] != shares


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["equity", "show", "--equity", "nowhere.csv"], "cannot read equity table nowhere.csv"),
        (["equity", "show", "--view", "sideways"], "is not one of"),
        (["equity", "plot", "--out", "table.gif"], "a picture is .png or .svg, not .gif"),
        (["equity", "solve", "--engine", "slow", "--out", "x"], "engine 'slow' is unknown, allowed: quick, vector"),
        (["equity", "solve", "--certify"], "are choices of --engine vector"),
        (["equity", "solve", "--set", "hand_size=2"], "40-card deck"),
        (["equity", "check", "--equity", "nowhere"], "nowhere is not a folder of states"),
        (["equity", "solve", "--cluster", "tcp://127.0.0.1:1", "--out", "x"], "no dask scheduler at tcp://127.0.0.1:1"),
        (["plot", "score-sweep"], "score-sweep needs --strategies DIR"),
        (["plot", "score-sweep", "--strategies", "x"], "these options name 2"),
        (["plot", "score-sweep", "--strategies", "x", "--seat", "mano"], "no strategies in x"),
        (["plot", "envido", "--own-envido", "27"], "apply to score-sweep only"),
        (["cache", "clear", "--score", "soon"], "score 'soon' is not of the form 12-9"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_status_2(capsys, monkeypatch, tmp_path, words, reason):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("scripts.equity_solve.CLUSTER_SECONDS", 0.5)
    status, out, err = truco(capsys, *words)
    assert (status, out) == (2, "")
    assert err.splitlines()[-1].startswith("error: ")
    assert reason in err.splitlines()[-1]
    assert "Traceback" not in err
