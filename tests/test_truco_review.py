"""`truco review`: what decisions cost, which marks they get, and that luck and play add up to the result."""

import json
import math
import random
from itertools import pairwise

import numpy as np
import pytest

from game.truco.actions import action_name
from game.truco.equity import load_equity
from game.truco.match import Match
from game.truco.record import Record, RecordedHand, record_hand, write_record
from game.truco.record_text import parse_record
from game.truco.rules import PRESETS
from game.truco.spot import Spot
from game.truco.spot_id import parse_spot
from solver.truco.reading.grading import SYMBOLS, THRESHOLDS, Kind, Loss, grade, kind_of, symbol
from solver.truco.reading.player import decide
from solver.truco.reading.review import review_record, spots_of, summary, value_before
from tests.test_truco_command import truco

BASE = PRESETS["base"]
EQUITY = load_equity("computed", 15)
TABLE = """
players: Ana, Luis
hand 1
cards: Ana 4B 5C 12O
cards: Luis 1E 7E 7O
play: truco quiero mazo
hand 2
cards: Ana 1E 7E 3C
play: 4O mazo
hand 7
mano: Ana
score: 6-7
cards: Ana 10B 11C 12O
play: 12O 3C
"""


def self_play(solution, hands, seed):
    """Single hands of the solution against itself at 0-0, both hands known, player 0 mano and pie in turn."""
    rng = random.Random(seed)
    played = []
    for number in range(1, hands + 1):
        match = Match(BASE, number % 2)
        match.deal_random(rng)
        hand = match.hand
        while not hand.is_over:
            seat = hand.to_move
            shown = hand.envido_shown()[1 - seat]
            spot = Spot(BASE, seat, hand.cards[seat], (0, 0), tuple(hand.history), shown)
            hand.apply(decide(solution, spot, rng.random()).action)
        # Numbers jump, since every hand begins at 0-0.
        played.append(record_hand(2 * number, number % 2, hand, (True, True)))
    return Record(BASE, ("A", "B"), tuple(played))


@pytest.fixture(scope="module")
def reviewed(quick_solution):
    record = self_play(quick_solution, 150, 4)
    return review_record(record, 0, lambda _: quick_solution, EQUITY, samples=300)


@pytest.mark.parametrize("unit", ["points", "match"])
def test_luck_and_play_add_up_to_the_result_of_every_hand(reviewed, unit):
    split = [hand for hand in reviewed.hands if hand.split(unit) is not None]
    # A solution of so few iterations has met some spots too seldom to value them.
    assert len(split) > 100
    for hand in split:
        luck, play = hand.split(unit).luck, hand.split(unit).play
        assert luck + play == pytest.approx(hand.split(unit).result)
    total, count = reviewed.total(unit)
    assert count == len(split)
    assert total.luck + total.play == pytest.approx(total.result)


def test_the_result_is_what_was_won_beyond_the_value_of_the_seat(reviewed, quick_solution):
    value = quick_solution.info.mano_value
    for hand in reviewed.hands:
        before = value if hand.recorded.seat(0) == 0 else -value
        if hand.points is not None:
            assert hand.points.result == pytest.approx(hand.won[0] - hand.won[1] - before)


def test_luck_has_mean_0_when_the_solution_plays_itself(reviewed):
    splits = [hand.points for hand in reviewed.hands if hand.points is not None]
    luck, play = np.array([(split.luck, split.play) for split in splits]).T
    result = luck + play
    assert abs(luck.mean()) < 3.5 * luck.std() / math.sqrt(len(luck))
    assert abs(play.mean()) < 3.5 * play.std() / math.sqrt(len(play))
    # What is left after taking luck away is much steadier than the result.
    assert play.std() < 0.5 * result.std()


def test_costs_are_never_negative_and_what_the_solution_always_does_costs_nothing(reviewed):
    for _, judged in reviewed.grades():
        for loss in filter(None, (judged.points, judged.match)):
            assert loss.cost in (0.0, loss.expected - loss.value)
            assert loss.cost >= 0
            assert loss.value <= loss.best_value
            if judged.probability == 1.0 or loss.best == judged.action:
                assert loss.cost == 0
    assert {judged.kind for _, judged in reviewed.grades()} >= {
        Kind.ENVIDO_OPEN,
        Kind.ENVIDO_ANSWER,
        Kind.CARD,
    }


def test_kinds_count_every_decision_once(reviewed):
    for unit in ("points", "match"):
        rows = summary(reviewed, unit)
        assert [row.kind for row in rows] == list(Kind)
        assert sum(row.decisions for row in rows) == len(reviewed.grades())
        losses = [judged.loss(unit) for _, judged in reviewed.grades()]
        costs = [loss.cost for loss in losses if loss is not None]
        assert sum(row.judged for row in rows) == len(costs)
        assert sum(row.cost for row in rows) == pytest.approx(sum(costs))


def test_marks_begin_at_their_thresholds():
    marks = [symbol(cost, (0.1, 0.3, 1.0)) for cost in (0.0, 0.09, 0.1, 0.29, 0.3, 0.99, 1.0, 9.0)]
    assert marks == ["", "", "?!", "?!", "?", "?", "??", "??"]
    assert all(low < high for limits in THRESHOLDS.values() for low, high in pairwise(limits))
    assert len(SYMBOLS) == 3


def test_differences_that_may_be_noise_cost_nothing():
    loss = Loss(0, 1.0, 0.9, 0.95, 0.06, 0.12)
    assert (loss.cost, loss.mix_below_best) == (0.0, 0.0)
    loss = Loss(0, 1.3, 0.8, 1.0, 0.06, 0.12)
    assert (loss.cost, loss.mix_below_best) == pytest.approx((0.2, 0.3))


@pytest.mark.parametrize(
    ("spot", "action", "better", "kind"),
    [
        ("base.0-0.mano.4B6O7O", "4B", "", Kind.CARD),
        ("base.0-0.mano.4B6O7O", "4B", "envido", Kind.ENVIDO_OPEN),
        ("base.0-0.mano.4B6O7O", "falta_envido", "truco", Kind.ENVIDO_OPEN),
        ("base.0-0.mano.4B6O7O", "truco", "", Kind.TRUCO_CALL),
        ("base.0-0.mano.4B6O7O", "mazo", "truco", Kind.TRUCO_CALL),
        ("base.0-0.mano.4B6O7O", "mazo", "4B", Kind.MAZO),
        ("base.0-0.pie.4B6O7O.envido", "mazo", "quiero", Kind.ENVIDO_ANSWER),
        ("base.0-0.pie.4B6O7O.truco", "quiero", "retruco", Kind.TRUCO_ANSWER),
        ("base.0-0.pie.4B6O7O.truco", "mazo", "", Kind.TRUCO_ANSWER),
        ("base.0-0.pie.4B6O7O.truco", "quiero", "envido", Kind.ENVIDO_OPEN),
    ],
)
def test_kinds_of_decisions(spot, action, better, kind):
    number = {action_name(k): k for k in range(49)}
    assert kind_of(parse_spot(spot), number[action], {number[better]} if better else set()) is kind


def test_mazo_in_answer_to_a_truco_is_no_quiero(quick_solution):
    spot = parse_spot("base.0-0.pie.4B6O7O.truco")
    number = {action_name(k): k for k in range(49)}
    one, other = (grade(quick_solution, spot, number[word], EQUITY, 300) for word in ("mazo", "no_quiero"))
    assert one.points == other.points
    assert one.points is not None
    with pytest.raises(ValueError, match="not legal"):
        grade(quick_solution, spot, number["vale_cuatro"], EQUITY, 300)


def test_the_value_before_the_deal(quick_solution):
    mano, pie = (value_before(quick_solution, (3, 9), seat, EQUITY, "match") for seat in (0, 1))
    assert mano == EQUITY.win_probability(3, 9)
    assert mano + pie == pytest.approx(1.0)
    assert value_before(quick_solution, (3, 9), 0, EQUITY, "points") is None
    points = value_before(quick_solution, (0, 0), 1, EQUITY, "points")
    assert points == -quick_solution.info.mano_value


def test_the_decisions_of_a_player_are_spots_of_what_he_knew():
    record = parse_record(TABLE).record
    first, second, third = record.hands
    assert [action_name(action) for _, action in spots_of(record, first, 0)] == ["truco", "mazo"]
    ((spot, action),) = spots_of(record, first, 1)
    assert (spot.seat, spot.cards, action_name(action)) == (1, first.cards[1], "quiero")
    # Luis led in hand 2; Ana, who is pie, folded.
    ((spot, action),) = spots_of(record, second, 0)
    assert (spot.seat, spot.scores, action_name(action)) == (1, (2, 0), "mazo")
    ((spot, _),) = spots_of(record, third, 0)
    assert spot.scores == (6, 7)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.txt"
    path.write_text(TABLE)
    return path


@pytest.fixture
def review(capsys, monkeypatch, table, quick_solution_file):
    monkeypatch.setenv("LANG", "C")

    def run(*options):
        words = ["--solution", quick_solution_file, "--samples", 300, *options]
        return truco(capsys, "review", table, *words)

    return run


def test_a_review_for_machines(review):
    status, out, err = review("--json")
    assert (status, err) == (0, "")
    told = json.loads(out)
    assert (told["player"], told["by"], told["hands_without_cards"]) == ("Ana", "match", 0)
    costs = [row["match"]["cost"] for row in told["decisions"]]
    assert costs == sorted(costs, reverse=True)
    worst = told["decisions"][0]
    # Folding two of the best cards to a 4.
    assert (worst["hand"], worst["action"], worst["mark"]) == (2, "mazo", "??")
    assert worst["spot"] == "base.2-0.pie.1E7E3C.4O"
    assert parse_spot(worst["spot"]).seat == 1
    assert [hand["won"] for hand in told["hands"]] == [[0, 2], [0, 1], None]
    assert told["hands"][2]["match"] is None
    total = told["total"]["match"]
    assert total["hands"] == 2
    assert total["luck"] + total["play"] == pytest.approx(total["result"])
    # Hand 2 begins at a score that the solution is not of.
    assert told["total"]["points"]["hands"] == 1


def test_a_review_for_people(review):
    status, out, err = review()
    assert (status, err) == (0, "")
    text = " ".join(out.split())
    for piece in (
        "Review of Ana against Luis, rules base",
        "Decisions that cost most",
        "base.2-0.pie.1E7E3C.4O\n",
        "By kind of decision",
        "Luck and play, % of the match",
        "no end",
        "?! from 0.5, ? from 1.5, ?? from 4.",
        "solved for 0-0, utility points, exploitability not certified",
    ):
        assert piece in (out if piece.endswith("\n") else text)


def test_marks_units_players_and_lists_can_be_chosen(review):
    told = json.loads(review("--json", "--by", "points", "--marks", "0.1,0.2,99", "--player", "ana")[1])
    assert (told["by"], told["marks"]) == ("points", [0.1, 0.2, 99.0])
    assert told["decisions"][0]["mark"] == "?"
    told = json.loads(review("--json", "--player", "LUIS")[1])
    assert (told["player"], told["hands_without_cards"]) == ("Luis", 2)
    assert [row["action"] for row in told["decisions"]] == ["quiero"]
    out = review("--top", 1)[1]
    assert "Decisions that cost most: 1 of " in out


def test_the_unit_is_points_where_the_judge_knows_no_more(capsys, monkeypatch, table):
    monkeypatch.setenv("LANG", "C")
    # The policy of trick 1 at 0-0 has exact points there, and no chance to win the match.
    table.write_text("players: Ana, Luis\nhand 1\ncards: Ana 7O 6O 4B\nplay: mazo\n")
    words = ["review", table, "--solution", "solver/truco/data/base_0-0.trick1"]
    told = json.loads(truco(capsys, *words, "--json")[1])
    assert (told["by"], told["marks"]) == ("points", list(THRESHOLDS["points"]))
    (decision,) = told["decisions"]
    assert (decision["mark"], decision["match"]) == ("??", None)
    assert decision["points"]["cost"] == pytest.approx(2.4, abs=0.1)
    assert "Luck and play, points" in truco(capsys, *words)[1]


def test_a_review_in_markdown_and_in_spanish(review, tmp_path):
    out = review("--markdown", "--lang", "es")[1]
    assert out.startswith("# Revisión de Ana contra Luis, reglas base\n")
    tables = [block for block in out.split("\n\n") if block.startswith("|")]
    assert len(tables) == 3
    for table in tables:
        lengths = {line.count("|") - line.count("\\|") for line in table.splitlines()}
        assert len(lengths) == 1
    file = tmp_path / "review.md"
    assert review("--out", file, "--lang", "es")[1] == ""
    assert file.read_text() == out
    assert review("--out", file, "--json")[1] == ""
    assert json.loads(file.read_text())["player"] == "Ana"


def test_lines_that_were_passed_over_are_told(review, table):
    table.write_text(TABLE.replace("hand 2", "weather: rain\nhand 2"))
    assert "line 7: unknown key 'weather' passed over" in " ".join(review()[1].split())


def test_a_record_without_decisions(review, table):
    table.write_text("players: Ana, Luis\nhand 1\ncards: Ana 4B 5C 12O\n")
    status, out, _ = review()
    assert status == 0
    assert "The record has no decision of Ana." in out
    table.write_text("players: Ana, Luis")
    assert json.loads(review("--json")[1])["decisions"] == []


def test_what_play_saves_can_be_reviewed(review, table, quick_solution):
    write_record(table, self_play(quick_solution, 3, 1))
    told = json.loads(review("--json", "--player", "B")[1])
    assert told["player"] == "B"
    assert len(told["hands"]) == 3


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--player", "Eva"], "player 'Eva' is not in the record, allowed: Ana, Luis"),
        (["--by", "money"], "unit 'money' is unknown, allowed: match, points"),
        (["--marks", "1,2"], "marks '1,2' are not three rising numbers above 0"),
        (["--marks", "3,2,1"], "not three rising numbers"),
        (["--marks", "0,1,2"], "not three rising numbers"),
        (["--json", "--markdown"], "choose one"),
        (["--lang", "xx"], "language 'xx' is unknown"),
        (["--out", "no/such/folder/x"], "folder no/such/folder does not exist"),
    ],
)
def test_bad_input_is_one_line_and_status_2(review, options, reason):
    status, out, err = review(*options)
    assert (status, out) == (2, "")
    assert reason in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            TABLE.replace("truco quiero mazo", "truco envido envido envido"),
            "table.txt, line 6: history word 4",
        ),
        ("rules: argentino" + TABLE, "the solution is for rules base, not argentino"),
        (b"\xff\xfe", "is no text in UTF-8"),
        (None, "cannot read record"),
    ],
)
def test_files_that_are_no_record_are_refused(review, table, text, reason):
    table.unlink()
    if text is not None:
        table.write_bytes(text if isinstance(text, bytes) else text.encode())
    status, out, err = review()
    assert (status, out) == (2, "")
    assert reason in err
    assert err.count("\n") == 1


def test_a_hand_of_which_nothing_is_known_is_passed_over(quick_solution):
    hand = RecordedHand(1, 0, (0, 0), ((0, 1, 2), None), ())
    review = review_record(Record(BASE, ("A", "B"), (hand,)), 1, lambda _: quick_solution, EQUITY)
    assert (review.hands, review.unknown) == ([], 1)
