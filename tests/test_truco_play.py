"""`truco play` as a player types it: the match, its scoring, the tutor, and the record that is always there."""

import io
import random
import re
import subprocess
import sys
import time
from itertools import pairwise
from types import SimpleNamespace

import pytest

from game.truco.record_text import parse_record
from game.truco.rules import PRESETS
from game.truco.spot_id import parse_spot
from scripts.shelf import Shelf
from scripts.words import catalogue
from solver.truco.quick.solver import QuickSolver
from solver.truco.reading.player import decide, mix_at
from tests.test_truco_command import truco

ALWAYS_FIRST = 400 * "1\n"


@pytest.fixture
def play(capsys, monkeypatch, tmp_path, quick_solution_file):
    """Plays with a typed text; gives exit status, output, error and the record's text (None: no file)."""
    monkeypatch.setenv("TRUCO_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LANG", "C")
    file = tmp_path / "match.txt"

    def run(typed, *options, seed=5, solution=True):
        file.unlink(missing_ok=True)
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        words = ["--solution", quick_solution_file] if solution else []
        status, out, err = truco(capsys, "play", *words, "--seed", seed, "--record", file, *options)
        return status, out, err, file.read_text() if file.exists() else None

    return run


def without_date(text):
    return re.sub(r"^date: .*\n", "", text, flags=re.MULTILINE)


def test_a_match_is_played_to_its_end_and_recorded(play):
    status, out, err, text = play(ALWAYS_FIRST, "--score", "9-11", "--seat", "pie")
    assert (status, err) == (0, "")
    record = parse_record(text).record
    assert (record.rules, record.players, record.seed) == (PRESETS["base"], ("you", "solution"), 5)
    assert (record.hands[0].mano, record.hands[0].scores) == (1, (9, 11))
    ends = [hand.replay(record.rules) for hand in record.hands]
    assert all(hand.is_over for hand in ends)
    assert max(ends[-1].scores) == 15
    # The other's cards were not shown.
    assert all(hand.cards[1] is None for hand in record.hands)
    assert "You win the match" in out or "You lose the match" in out
    for hand, end in zip(record.hands, ends, strict=True):
        won = [end.points_won()[hand.seat(player)] for player in (0, 1)]
        line = next(line for line in out.splitlines() if re.match(rf"Hand {hand.number}: you \d+.*\(", line))
        assert re.match(rf"Hand \d+: you {won[0]}( \(|,).*solution {won[1]}", line)


def test_the_points_of_a_hand_are_told_piece_by_piece(play):
    _, out, _, text = play(ALWAYS_FIRST, "--score", "3-2")
    record = parse_record(text).record
    pieces = re.findall(r"^points: \S+ \((.*)\)$", text, re.MULTILINE)
    assert len(pieces) == len(record.hands)
    told = re.findall(
        r"^Hand \d+: you (\d+)(?: \((.*?)\))?, solution (\d+)(?: \((.*?)\))?\.$", out, re.MULTILINE
    )
    assert len(told) == len(record.hands)
    for own, own_why, their, their_why in told:
        for points, why in ((own, own_why), (their, their_why)):
            assert sum(map(int, re.findall(r" (\d+)(?:,|$)", why))) == int(points), why


def test_same_seed_same_game_and_another_seed_another(play):
    one = play(ALWAYS_FIRST, "--score", "12-12")
    again = play(ALWAYS_FIRST, "--score", "12-12")
    assert one[1] == again[1]
    assert without_date(one[3]) == without_date(again[3])
    assert without_date(play(ALWAYS_FIRST, "--score", "12-12", seed=6)[3]) != without_date(one[3])


def test_cards_do_not_depend_on_what_was_played(play):
    first = parse_record(play(200 * "no quiero\n1\n", "--show-hands")[3]).record
    second = parse_record(play(400 * "mazo\n", "--show-hands")[3]).record
    assert len(first.hands) > 1
    for one, other in zip(first.hands, second.hands, strict=False):
        assert one.cards == other.cards


@pytest.mark.parametrize("typed", ["", "1\n", "no\n1\nno\n1\n", "quit\n", "1\nsalir\n"])
def test_a_match_left_early_leaves_a_record_that_can_be_read(play, typed):
    status, out, err, text = play(typed)
    assert (status, err) == (0, "")
    assert "Interrupted. The record has everything so far" in out
    record = parse_record(text).record
    hand = record.hands[-1]
    assert hand.cards[0] is not None
    done = sum(len(hand.words) for hand in record.hands)
    assert done >= typed.count("1")
    assert [hand.number for hand in record.hands] == list(range(1, len(record.hands) + 1))


def test_interrupt_at_any_question_leaves_a_record_that_can_be_read(play, monkeypatch):
    for questions in range(6):
        # Of `no` and `1` one is possible at every decision.
        typed = iter((["no", "1"] * questions)[:questions])

        def ask(prompt="", typed=typed):
            text = next(typed, None)
            if text is None:
                raise KeyboardInterrupt
            return text

        monkeypatch.setattr("builtins.input", ask)
        status, out, _, text = play("")
        assert status == 130
        assert "Interrupted" in out
        record = parse_record(text).record
        assert sum(len(hand.words) for hand in record.hands) >= questions // 2


def test_the_record_is_written_before_the_next_question(play, monkeypatch, tmp_path):
    seen = []

    def ask(prompt=""):
        seen.append(parse_record((tmp_path / "match.txt").read_text()).record)
        return "1"

    monkeypatch.setattr("builtins.input", ask)
    play("", "--score", "13-13")
    lengths = [sum(len(hand.words) for hand in record.hands) for record in seen]
    # One action of the player, and any of the other, lie between two questions.
    assert all(later > earlier for earlier, later in pairwise(lengths))
    assert lengths[0] <= 1 < lengths[-1]


def test_words_of_both_languages_and_numbers_are_taken(play):
    _, out, _, text = play("ayuda\nquack\nretruco\nFalta Envido\n", "--seat", "mano")
    assert "Type a number of the list" in out
    assert "quack: not understood" in out
    assert "Retruco is not possible now" in out
    assert "m:falta_envido" in text
    assert "you: Falta envido" in out


def test_in_spanish(play):
    _, out, _, text = play(
        ALWAYS_FIRST, "--lang", "es", "--score", "13-13", "--tutor", "--show-roll", "--show-hands"
    )
    assert "Tus cartas: " in out
    assert "Ganas el partido" in out or "Pierdes el partido" in out
    assert "Tutor: " in out
    # Labels of the screen are Spanish; the record is the same in every language.
    assert "Your cards" not in out
    assert "players: you, solution" in text


def test_the_tutor_says_what_every_decision_cost(play):
    _, out, _, text = play(ALWAYS_FIRST, "--score", "13-13", "--tutor", "--samples", 300)
    record = parse_record(text).record
    own = sum(seat == hand.seat(0) for hand in record.hands for seat, _ in hand.replay(record.rules).history)
    assert out.count("Tutor: ") == own > 0
    assert re.search(r"Tutor: \S+.* cost (\d+\.\d\d points(, )?)?(\d+\.\d % of the match)?\. Best: ", out)


def test_the_roll_is_shown_without_the_cards_that_stay_hidden(play):
    _, out, _, text = play(ALWAYS_FIRST, "--show-roll", "--score", "10-10")
    record = parse_record(text).record
    rolls = re.findall(
        r"^solution: (\S.*?)   \(chose from (.*); drew (0\.\d{3}|1\.000)\)$", out, re.MULTILINE
    )
    theirs = sum(
        seat == hand.seat(1) for hand in record.hands for seat, _ in hand.replay(record.rules).history
    )
    assert len(rolls) + out.count("is its rule") == theirs > 0
    for action, mix, _ in rolls:
        cards = re.findall(r"\b(?:[1-7]|1[012])[EBOC]\b", mix)
        assert set(cards) <= {action}


def test_hands_are_shown_and_recorded_if_asked(play):
    _, out, _, text = play(ALWAYS_FIRST, "--show-hands", "--score", "13-13")
    record = parse_record(text).record
    assert all(None not in hand.cards for hand in record.hands)
    assert out.count("solution held ") == len(record.hands)


@pytest.fixture
def quick_solves(monkeypatch):
    """Solves that are over at once; the scores that were solved."""
    solved = []

    def solve(rules, score, equity, seconds, iterations, seed):
        solved.append(score)
        solver = QuickSolver(rules, score, equity, seed)
        solver.step()
        return solver.solution(deals=500)

    monkeypatch.setattr("scripts.solutions.quick_solve", solve)
    return solved


def test_without_a_solution_that_of_0_0_is_solved_once_and_plays_every_score(play, quick_solves):
    _, out, err, text = play("1\n", "--score", "12-9", solution=False)
    assert "solving for 60 s, once" in err
    assert quick_solves == [(0, 0)]
    assert "played at every score as at its own" in out
    assert "note: solution: quick, " in text
    _, _, err, _ = play("1\n", "--score", "3-9", solution=False)
    assert (err, quick_solves) == ("", [(0, 0)])
    _, _, err, text = play("1\n", "--score", "12-9", "--seat", "mano", "--each-score", solution=False)
    assert quick_solves == [(0, 0), (12, 9)]
    assert "solved for 12-9, utility match" in text
    # What is kept for a score plays there, asked for or not.
    _, _, _, text = play("1\n", "--score", "9-12", "--seat", "pie", solution=False)
    assert quick_solves == [(0, 0), (12, 9)]
    assert "solved for 12-9, utility match" in text


def test_another_target_is_other_rules(play, quick_solves):
    status, out, _, text = play(ALWAYS_FIRST, "--target", 2, solution=False)
    assert status == 0
    assert "rules: base~target-2\n" in text
    assert "Match to 2, " in out


def test_argentine_rules_and_buenas(play, quick_solves):
    said = set()
    for seed in range(8):
        status, out, _, text = play(ALWAYS_FIRST, "--rules", "argentino", seed=seed, solution=False)
        assert status == 0
        record = parse_record(text).record
        assert record.rules == PRESETS["argentino"]
        said |= {"son buenas" in out, any(hand.shown[1] is None and hand.shown[0] for hand in record.hands)}
    assert said == {True, False}
    assert quick_solves == [(0, 0)]


TYPED = (
    "1",
    "2",
    "3",
    "12",
    "0",
    "007",
    "",
    " ",
    "envido",
    "quiero",
    "no",
    "mazo",
    "7O",
    "7 of coins",
    "¿?",
    "٣",
    "[1]",
)


def test_whatever_is_typed_the_match_goes_on(play):
    rng = random.Random(3)
    for seed in range(5):
        typed = "".join(f"{rng.choice((*TYPED, '٣', '🂡', '[bold]', chr(0)))}\n" for _ in range(300))
        status, out, err, text = play(typed, "--tutor", "--samples", 100, "--lang", "es", seed=seed)
        assert (status, err) == (0, "")
        assert "Traceback" not in out
        assert parse_record(text).record.hands[-1].words


def test_a_killed_match_leaves_a_record_that_can_be_read(tmp_path, quick_solution_file):
    file = tmp_path / "match.txt"
    words = ["play", "--solution", quick_solution_file, "--seed", "5", "--record", file, "--lang", "en"]
    with subprocess.Popen(
        [sys.executable, "-m", "scripts.truco", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        process.stdin.write("no\n1\n")
        process.stdin.flush()
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if file.exists() and any(hand.words for hand in parse_record(file.read_text()).record.hands):
                break
            time.sleep(0.05)
        process.kill()
    hands = parse_record(file.read_text()).record.hands
    assert hands[0].words
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == ["match.txt"]


def test_records_get_a_file_of_their_own(play, capsys, monkeypatch, tmp_path, quick_solution_file):
    for _ in range(2):
        monkeypatch.setattr(sys, "stdin", io.StringIO("1\n"))
        truco(capsys, "play", "--solution", quick_solution_file, "--seed", 5)
    files = list((tmp_path / "home" / "records").iterdir())
    assert len(files) == 2
    assert all(parse_record(file.read_text()).record.seed == 5 for file in files)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--score", "15-0"], "score 15-0 is outside 0-0 to 14-14"),
        (["--seat", "left"], "seat 'left' is unknown, allowed: mano, pie"),
        (["--lang", "xx"], "language 'xx' is unknown, allowed: en, es"),
        (["--name", "<>"], "player '<>' is no name"),
        (["--name", "solution"], "cannot be told apart"),
        (["--target", "2"], "the solution is for rules base, not base+target=2"),
        (["--rules", "tute"], "unknown rules 'tute'"),
        (["--set", "envido_reveal=hands"], "with hands nothing is left to guess"),
        (["--set", "hand_size=2"], "plays the 40-card deck with three cards each"),
        (["--equity", "none.csv"], "cannot read equity table none.csv"),
        (["--record", "no/such/folder/x"], "folder no/such/folder does not exist"),
    ],
)
def test_bad_input_is_one_line_and_status_2(play, options, reason):
    status, out, err, text = play(ALWAYS_FIRST, *options)
    assert (status, out, text) == (2, "", None)
    assert reason in err
    assert err.count("\n") == 1


def test_a_record_is_not_overwritten(play, capsys, tmp_path, quick_solution_file):
    play("1\n")
    before = (tmp_path / "match.txt").read_text()
    words = ["play", "--solution", quick_solution_file, "--record", tmp_path / "match.txt"]
    status, _, err = truco(capsys, *words)
    assert status == 2
    assert "exists already; records are not overwritten" in err
    assert (tmp_path / "match.txt").read_text() == before


def test_a_policy_of_trick_1_only_does_not_play():
    part = SimpleNamespace(rules=PRESETS["base"], complete=False)
    with pytest.raises(ValueError, match="keeps trick 1 only and cannot play whole hands"):
        Shelf(PRESETS["base"], part, "computed", False, catalogue("en"), whole=True)


def test_a_decision_of_a_solution_is_its_mix(quick_solution):
    spot = parse_spot("base.0-0.pie.4B6O7O.envido")
    mix, learnt = mix_at(quick_solution, spot)
    assert learnt
    assert sum(mix.values()) == pytest.approx(1.0)
    assert set(mix) <= set(spot.hand.legal_actions())
    below = 0.0
    for action, share in mix.items():
        if share > 1e-3:
            assert decide(quick_solution, spot, below + share / 2).action == action
        below += share
