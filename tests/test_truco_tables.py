"""The census of a solution, and `truco table` and `truco plot`, which show it."""

import io
import json
import random
import subprocess
import sys
import time
import xml.etree.ElementTree
from dataclasses import replace
from fractions import Fraction
from math import floor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from game.truco.actions import ENVIDO, FALTA_ENVIDO, MAZO, REAL_ENVIDO, RETRUCO, TRUCO, VALE_CUATRO
from game.truco.cards import card_names, tier
from game.truco.equity import simple_equity
from game.truco.hand import MANO, PIE, Decision, Hand
from game.truco.rules import PRESETS, make_rules
from scripts import charts
from scripts.console import new_app, progress, run
from scripts.plots import plot
from scripts.survey import Survey, take_survey, topic_questions
from scripts.tables import content, table, tidy_frame
from solver.truco.hand.engine import encode, mover, rules_vector
from solver.truco.reading.census import asks, strength_bin, take_census
from solver.truco.reading.questions import (
    ACTIONS,
    ANSWER_ENVIDO,
    ANSWER_TRUCO,
    ANY,
    ENVIDO_VALUES,
    HANDS,
    TURN,
    Census,
    answer_question,
    turn_question,
)

RULES = PRESETS["base"]
SHARES = list(ACTIONS)
VALUES = [f"ev_{name}" for name in ACTIONS]
HISTOGRAM = {
    0: 108, 1: 148, 2: 244, 3: 364, 4: 508, 5: 676, 6: 868, 7: 1084, 20: 364, 21: 372, 22: 372, 23: 504, 24: 504,
    25: 640, 26: 640, 27: 780, 28: 408, 29: 420, 30: 284, 31: 292, 32: 148, 33: 152,
}  # fmt: skip


def opening(seat):
    return turn_question(seat, 0, on_table=seat == PIE, envido_open=True, round_value=1)


@pytest.fixture(scope="module")
def truco(quick_solution_file):
    """Runs `truco ARGUMENTS` on the small solution; returns exit status, stdout and stderr."""
    app = new_app("test")
    app.command("table")(table)
    app.command("plot")(plot)

    def call(*arguments, solution=quick_solution_file):
        arguments = [*map(str, arguments), "--solution", str(solution), "--rounds", "2"]
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["truco", *arguments])
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            with pytest.raises(SystemExit) as status:
                run(app)
        return status.value.code, out.getvalue(), err.getvalue()

    return call


# --- which decisions a question means ---


def all_questions():
    """Questions of every kind, with the calls that the answers are to."""
    chains = [[ENVIDO], [REAL_ENVIDO], [ENVIDO, ENVIDO], [REAL_ENVIDO, FALTA_ENVIDO], []]
    chains += [[TRUCO], [RETRUCO], [VALE_CUATRO]]
    for seat in (MANO, PIE):
        for calls in chains:
            yield answer_question(seat, calls), calls
        for envido_open in (True, False):
            yield answer_question(seat, [TRUCO], envido_open), [TRUCO]
        for trick in range(3):
            yield turn_question(seat, trick), None
            for on_table in (True, False):
                yield turn_question(seat, trick, on_table, round_value=1 + trick), None
        yield opening(seat), None
        yield turn_question(seat, 0, envido_open=False), None


def plainly_asks(hand, question, calls):
    """`asks` by the plain hand."""

    def holds(condition, actual):
        return condition in (ANY, actual)

    envido_open = FALTA_ENVIDO in hand.legal_actions()
    if hand.to_move != question.seat:
        return False
    if hand.decision == Decision.ANSWER_ENVIDO:
        return question.decision == ANSWER_ENVIDO and calls in ([], hand.envido_chain)
    if not holds(question.envido_open, envido_open):
        return False
    if hand.decision == Decision.ANSWER_TRUCO:
        return question.decision == ANSWER_TRUCO and [hand.pending_truco - 2 + TRUCO] == calls
    return (
        question.decision == TURN
        and holds(question.trick, len(hand.tricks))
        and holds(question.on_table, bool(hand.table))
        and holds(question.round_value, hand.round_value)
    )


def plain_strength(hand, seat):
    """Share of the other cards that the two strongest in play beat on average, a parda counting half."""
    played = [action for player, action in hand.history if player == seat and action not in hand.table]
    cards = sorted((card for card in hand.cards[seat] if card not in played), key=tier)[:2]
    points = [
        Fraction((tier(card) < tier(other)) * 2 + (tier(card) == tier(other)), 2 * 39)
        for card in cards
        for other in range(40)
        if other != card
    ]
    return sum(points) / len(cards)


def test_questions_and_strength_agree_with_the_plain_hand():
    rng = random.Random(5)
    questions = [(question, np.array(question.conditions()), calls) for question, calls in all_questions()]
    met = dict.fromkeys((question for question, *_ in questions), 0)
    for rules in (
        make_rules("base"),
        make_rules("base", {"envido_after_truco": "allow", "raise_right": "any"}),
    ):
        vector = rules_vector(rules)
        for _ in range(150):
            cards = rng.sample(range(40), 6)
            hand = Hand(rules, cards[:3], cards[3:])
            while not hand.is_over:
                state = encode(hand)
                for question, conditions, calls in questions:
                    expected = plainly_asks(hand, question, calls)
                    assert asks(state, vector, conditions) == expected, (question, hand.history)
                    met[question] += expected
                assert strength_bin(state, mover(state)) == min(
                    9, floor(10 * plain_strength(hand, hand.to_move))
                )
                hand.apply(rng.choice([action for action in hand.legal_actions() if action != MAZO]))
    impossible = {turn_question(MANO, 0, True, round_value=1), turn_question(PIE, 0, False, round_value=1)}
    assert {question for question, count in met.items() if count == 0} == impossible


@pytest.mark.parametrize(
    "calls", [[ENVIDO, TRUCO], [REAL_ENVIDO, ENVIDO], [REAL_ENVIDO, REAL_ENVIDO], [TRUCO, RETRUCO], [MAZO]]
)
def test_calls_that_nobody_can_answer_are_refused(calls):
    with pytest.raises(ValueError, match="cannot be answered"):
        answer_question(MANO, calls)


# --- what is counted ---


def test_opening_census_is_the_policy(quick_solution):
    (census,) = take_census(quick_solution, [(opening(MANO), "hand")], rounds=2)
    frame = census.frame().set_index("hand")
    assert (frame["decisions"].to_numpy() + census.unknown == 2).all()
    game, compared = quick_solution.policy.game, 0
    for hand in HANDS[:: len(HANDS) // 40]:
        state = game.new_initial_state()
        for card in [*hand.tolist(), *(card for card in range(40) if card not in hand)][:6]:
            state.apply_action(card)
        mix = quick_solution.policy.action_probabilities(state)
        row = frame.loc[card_names(hand.tolist())]
        if row["status"] == "unsolved":
            continue
        compared += 1
        assert row["play"] == pytest.approx(sum(mix[card] for card in hand.tolist()), abs=1e-6)
        for name, action in (
            ("truco", TRUCO),
            ("envido", ENVIDO),
            ("real_envido", REAL_ENVIDO),
            ("mazo", MAZO),
        ):
            assert row[name] == pytest.approx(mix[action], abs=1e-6)
    assert compared > 30


def test_each_hand_counts_alike_and_shares_add_up(quick_solution):
    questions = [
        opening(MANO),
        turn_question(MANO, 1),
        answer_question(MANO, [ENVIDO]),
        answer_question(MANO, [TRUCO]),
    ]
    for by in ("envido", "strength", "envido and strength"):
        for census in take_census(quick_solution, [(question, by) for question in questions], rounds=3):
            frame = census.frame()
            met = frame["decisions"] > 0
            assert met.any()
            assert frame.loc[met, SHARES].sum(axis=1).to_numpy() == pytest.approx(1.0, abs=1e-5)
            assert frame.loc[~met, SHARES + VALUES].isna().all(axis=None)
            weighted = (frame["envido"] * frame["decisions"]).sum() / frame["decisions"].sum()
            assert census.total()["envido"][0] == pytest.approx(weighted)
    (census,) = take_census(quick_solution, [(opening(MANO), "envido")], rounds=3)
    frame = census.frame().set_index("envido_value")
    dealt = (frame["decisions"] + census.unknown).to_dict()
    assert dealt == {value: 3 * count for value, count in HISTOGRAM.items()}
    # Folding at once gives up the round's one point, whatever the hand.
    assert frame["ev_mazo"].dropna().to_numpy() == pytest.approx(-1.0)
    assert frame["ev_mazo"].notna().sum() > 10


def test_both_seats_tell_the_same_story(quick_solution):
    # Pie first decides with Envido open after a card as often as mano begins by playing one.
    (mano,) = take_census(quick_solution, [(opening(MANO), "strength")])
    (pie,) = take_census(quick_solution, [(opening(PIE), "strength")])
    met = (pie.seen.sum() + pie.unknown.sum()) / pie.deals
    assert met == pytest.approx(mano.total()["play"][0], abs=0.006)


def test_same_seed_same_counts(quick_solution):
    asked = [(opening(PIE), "envido")]
    first, again, other = (take_census(quick_solution, asked, 2, seed)[0] for seed in (7, 7, 8))
    assert np.array_equal(first.sums, again.sums)
    assert np.array_equal(first.seen, again.seen)
    assert not np.array_equal(first.seen, other.seen)
    # A question is answered alike whatever is asked beside it.
    beside = take_census(quick_solution, [(turn_question(PIE, 2), "hand"), *asked], 2, 7)[1]
    assert np.array_equal(first.sums, beside.sums)


def test_rows_that_no_hand_can_have_are_left_out(quick_solution):
    asked = [(turn_question(MANO, 2), "strength"), (turn_question(MANO, 1), "strength")]
    third, second = take_census(quick_solution, asked, rounds=1)
    # No card beats between 40 and 50 % of the others, but two cards can do so on average.
    assert third.labels["strength"].tolist() == [0.0, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9]
    assert len(second.labels["strength"]) == 10
    with pytest.raises(ValueError, match="unknown rows"):
        take_census(quick_solution, [(opening(MANO), "suit")])
    with pytest.raises(ValueError, match="one seat"):
        take_census(quick_solution, [(opening(MANO), "hand"), (opening(PIE), "hand")])


def handmade_census(match_values=False):
    """Five Envido values: never reached, unsolved, rare, and two well met; Truco is not always legal in the last."""
    sums = np.zeros((5, 3, len(ACTIONS)))
    play, call, fold = (ACTIONS.index(name) for name in ("play", "truco", "mazo"))
    for row, decisions in ((2, 5), (3, 40), (4, 100)):
        sums[row, :, play] = 0.5 * decisions, 0.2 * decisions, decisions
        sums[row, :, call] = 0.5 * decisions, -0.4 * decisions, decisions
        sums[row, :, fold] = 0.0, -decisions, decisions
    sums[4, 1:, call] = 30.0, 60
    seen, unknown = np.array([0, 0, 5, 40, 100]), np.array([0, 3, 0, 1, 0])
    return Census(opening(MANO), {"envido_value": np.arange(5)}, 200, match_values, sums, seen, unknown)


def test_frame_says_what_is_not_known():
    frame = handmade_census().frame()
    assert frame["status"].tolist() == ["never reached", "unsolved", "rare", "ok", "ok"]
    assert frame["truco"].tolist()[2:] == [0.5, 0.5, 0.5]
    assert frame["ev_play"].tolist()[2:] == pytest.approx([0.2, 0.2, 0.2])
    assert frame["ev_truco"].tolist()[2:4] == pytest.approx([-0.4, -0.4])
    assert np.isnan(frame["ev_truco"][4])
    assert handmade_census().actions() == ["play", "truco", "mazo"]
    assert handmade_census(match_values=True).frame()["ev_play"][3] == pytest.approx(0.6)


def test_match_utility_is_shown_as_winning_chances(quick_solution):
    equity = simple_equity(15).rows()
    info = replace(quick_solution.info, utility="match", equity=equity, mano_value=-0.1, exploitability=0.02)
    survey = take_survey(replace(quick_solution, info=info), [opening(MANO)], None, 1, 1)
    assert survey.facts()["mano_value"] == pytest.approx(0.45)
    assert survey.facts()["exploitability"] == pytest.approx(0.01)
    assert "mano wins 45.0%" in survey.caption()
    text = content("table", survey, "envido", None).decode()
    assert "win%" in text
    assert "0.0%" in text  # mazo, worth -1


# --- tables ---


def survey_of(solution, topic, **options) -> Survey:
    questions = topic_questions(topic, options.get("seat"), options.get("to"), options.get("trick"), RULES)
    return take_survey(solution, questions, options.get("by"), options.get("rounds", 2), 1)


@pytest.mark.parametrize("topic", ["envido", "truco", "mazo", "response"])
def test_every_topic_prints_within_120_columns(quick_solution, topic):
    survey = survey_of(quick_solution, topic)
    text = content("table", survey, topic, None).decode()
    assert max(map(len, text.splitlines())) <= 120
    assert "…" not in text
    for census in survey.censuses:
        assert census.question.name in text
    for words in (
        "rules base",
        "score 0-0",
        "120 iterations",
        "exploitability not certified",
        "utility points",
    ):
        assert words in " ".join(text.split())


def test_never_reached_is_said_instead_of_numbers(quick_solution):
    nowhere = turn_question(MANO, 0, on_table=True)  # mano leads trick 1
    survey = take_survey(quick_solution, [nowhere], "envido", 1, 1)
    for kind in ("table", "markdown"):
        text = content(kind, survey, "envido", None).decode()
        assert f"Mano: {nowhere.name} (never reached)" in text
        assert "value\n" not in text
    frame = tidy_frame(survey)
    assert set(frame["status"]) == {"never reached"}
    assert frame[SHARES + VALUES].isna().all(axis=None)
    section = json.loads(content("json", survey, "envido", None))["sections"][0]
    assert section["total"] == {"decisions": 0, "status": "never reached", "shares": {}, "values": {}}


def test_rows_without_numbers_give_their_reason(quick_solution):
    survey = Survey(quick_solution, [handmade_census()], 1, 1)
    lines = content("markdown", survey, "envido", None).decode().splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")]
    assert cells[0] == [
        "own Envido",
        "decisions",
        *(f"{n} {u}" for u in ("%", "value") for n in ("Truco", "Card", "Mazo")),
    ]
    assert cells[2:] == [
        ["0", "never reached", "", "", "", "", "", ""],
        ["1", "unsolved", "", "", "", "", "", ""],
        ["2", "5 rare", "50.0", "50.0", "·", "-0.40", "+0.20", "-1.00"],
        ["3", "40", "50.0", "50.0", "·", "-0.40", "+0.20", "-1.00"],
        ["4", "100", "50.0", "50.0", "·", "", "+0.20", "-1.00"],
        ["all", "145", "50.0", "50.0", "·", "", "+0.20", "-1.00"],
    ]


def test_files_hold_the_frame_at_full_precision(quick_solution, truco, tmp_path):
    frame = tidy_frame(survey_of(quick_solution, "response", seat="pie"))
    facts = ["rules", "score", "utility", "engine", "iterations", "exploitability", "seat", "question"]
    assert list(frame)[:10] == [*facts, "envido_value", "strength"]
    assert frame["play"].isna().all()  # no card can answer a call
    for suffix in (".csv", ".parquet"):
        path = tmp_path / f"answers{suffix}"
        assert truco("table", "response", "--seat", "pie", "--out", path)[:2] == (0, f"wrote {path}\n")
        read = pd.read_csv(path) if suffix == ".csv" else pd.read_parquet(path)
        read["envido_value"] = read["envido_value"].astype("Int64")
        pd.testing.assert_frame_equal(read, frame, check_exact=True, check_dtype=False)
    assert not list(tmp_path.glob(".*"))


def test_json_and_text_files(quick_solution, truco, tmp_path):
    status, printed, _ = truco("table", "envido", "--by", "hand", "--limit", 3, "--json")
    answer = json.loads(printed)
    assert status == 0
    assert (answer["topic"], answer["rules"], answer["exploitability"]) == ("envido", "base", None)
    assert [section["seat"] for section in answer["sections"]] == ["mano", "pie"]
    assert [row["hand"] for row in answer["sections"][0]["rows"]] == ["1E 1B 7E", "1E 1B 7O", "1E 1B 3E"]
    frame = tidy_frame(survey_of(quick_solution, "envido", by="hand"), limit=3)
    for row, share in zip(answer["sections"][0]["rows"], frame["envido"], strict=False):
        assert (row["shares"]["envido"] is None) if np.isnan(share) else (row["shares"]["envido"] == share)
    for name, start in (
        ("t.md", "rules base"),
        ("t.txt", "rules base"),
        ("t.json", "{"),
        ("t.csv", "rules,"),
    ):
        assert truco("table", "mazo", "--seat", "mano", "--trick", 2, "--out", tmp_path / name)[0] == 0
        assert (tmp_path / name).read_text().startswith(start)
    status, printed, _ = truco("table", "truco", "--seat", "pie", "--trick", 1, "--by", "hand")
    assert "9,840 more rows" in printed


def test_truco_answers_are_parted_by_whether_envido_is_open(quick_solution):
    without = make_rules("base", {"envido": False})
    names = [question.name for question in topic_questions("response", "pie", ["truco"], None, RULES)]
    assert names == ["answer to truco, Envido open", "answer to truco, Envido closed"]
    assert [question.name for question in topic_questions("response", "pie", ["truco"], None, without)] == [
        "answer to truco"
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["table", "flor"], "'flor' is not one of"),
        (["table", "envido", "--seat", "dealer"], "'dealer' is not one of"),
        (["table", "envido", "--by", "suit"], "'suit' is not one of"),
        (["table", "envido", "--to", "truco"], "--to applies to response only"),
        (["table", "envido", "--trick", "1"], "--trick applies to truco and mazo only"),
        (["table", "truco", "--trick", "4"], "'--trick'"),
        (["table", "response", "--to", "flor"], "unknown action 'flor'"),
        (["table", "response", "--to", "real_envido envido"], "cannot be answered"),
        (["table", "response", "--to", " "], "names no call"),
        (["table", "envido", "--score", "15-0"], "outside 0-0 to 14-14"),
        (["table", "envido", "--score", "3-0"], "is for score 0-0 (mano first), not 3-0"),
        (["table", "envido", "--utility", "match"], "is for utility points, not match"),
        (["table", "envido", "--utility", "glory"], "utility 'glory' is unknown"),
        (["table", "envido", "--rules", "argentino"], "is for rules base"),
        (["table", "envido", "--format", "parquet"], "needs --out"),
        (["table", "envido", "--format", "csv", "--json"], "exclude each other"),
        (["table", "envido", "--out", "numbers.xlsx"], "no known suffix"),
        (["table", "envido", "--out", "/nowhere/numbers.csv"], "folder /nowhere does not exist"),
        (["table", "envido", "--limit", "0"], "'--limit'"),
        (["plot", "mazo"], "'mazo' is not one of"),
        (["plot", "envido", "--out", "picture.pdf"], "a picture is .png or .svg, not .pdf"),
        (["plot", "envido", "--out", "/nowhere/picture.svg"], "folder /nowhere does not exist"),
        (["plot", "envido", "--out", "picture"], "not without a suffix"),
        (["plot", "envido", "--action", "mazo"], "--action applies to heatmap and score-sweep only"),
        (["plot", "heatmap", "--by", "strength"], "--by does not apply to heatmap"),
        (
            ["plot", "heatmap", "--action", "quiero"],
            "action quiero is never possible there, allowed: play, truco",
        ),
        (["plot", "heatmap", "--to", "envido", "--trick", "1"], "--trick applies to truco and mazo only"),
    ],
)
def test_bad_input_is_refused_in_one_line(truco, arguments, words):
    status, printed, complaint = truco(*arguments)
    assert (status, printed, complaint.count("\n")) == (2, "", 1)
    assert complaint.startswith("error: ")
    assert words in complaint


def test_bad_questions_are_refused_before_anything_is_solved(tmp_path, monkeypatch):
    monkeypatch.setenv("TRUCO_HOME", str(tmp_path))
    monkeypatch.setattr("scripts.tables.find_solution", lambda *_: pytest.fail("looked for a solution"))
    for wrong in ({"to": ["flor"]}, {"trick": 2}, {"score": "15-0"}, {"out": Path("/nowhere/t.csv")}):
        with pytest.raises(ValueError, match=r"flor|--trick|15-0|nowhere"):
            table("response", **wrong)


def test_a_damaged_solution_is_refused(truco, quick_solution_file, tmp_path):
    damaged = bytearray(quick_solution_file.read_bytes())
    damaged[-100] ^= 1
    path = tmp_path / "damaged.truco"
    path.write_bytes(damaged)
    status, _, complaint = truco("table", "envido", solution=path)
    assert (status, complaint.count("\n")) == (2, 1)
    assert "damaged" in complaint


# --- plots ---


@pytest.mark.parametrize("kind", ["envido", "response", "truco", "heatmap"])
def test_pictures_are_written(truco, tmp_path, kind):
    picture = tmp_path / f"{kind}.png"
    assert truco("plot", kind, "--seat", "pie", "--out", picture)[:2] == (0, f"wrote {picture}\n")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_svg_is_repeatable_and_facts_can_be_had_as_json(truco, tmp_path):
    pictures = [tmp_path / "first.svg", tmp_path / "second.svg"]
    for picture in pictures:
        status, printed, _ = truco("plot", "truco", "--seat", "pie", "--trick", 2, "--out", picture, "--json")
        assert status == 0
        assert json.loads(printed)["file"] == str(picture)
    assert xml.etree.ElementTree.parse(pictures[0]).getroot().tag.endswith("svg")
    assert pictures[0].read_bytes() == pictures[1].read_bytes()


def bars(axes):
    """Visible bars of a panel: (left, bottom, height, colour, hatch)."""
    return [
        (round(p.get_x(), 3), p.get_y(), p.get_height(), p.get_facecolor(), p.get_hatch())
        for p in axes.patches
        if p.get_height() > 0
    ]


def test_stacks_fill_each_place_once_and_in_fixed_colours(quick_solution):
    from matplotlib.colors import to_rgba

    survey = survey_of(quick_solution, "envido")
    figure = charts.draw_stacks(survey, "Envido")
    colours = {to_rgba(colour) for colour in charts.COLOURS.values()}
    assert len(figure.axes) == 2
    for axes, census in zip(figure.axes, survey.censuses, strict=True):
        heights = {}
        for left, _, height, colour, hatch in bars(axes):
            if hatch is None:
                assert colour in colours
                heights[left] = heights.get(left, 0.0) + height
        assert len(heights) == (census.seen > 0).sum()
        assert list(heights.values()) == pytest.approx([100.0] * len(heights), abs=1e-3)
        ticks = [label.get_text() for label in axes.get_xticklabels()]
        assert ticks == [str(value) for value in ENVIDO_VALUES]
        gaps = np.diff(axes.get_xticks())
        assert (gaps[7], set(np.delete(gaps, 7))) == (2.0, {1.0})
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend[-3:] == ["Falta", "Real", "Envido"]
    footer = figure.get_supxlabel()
    for words in (
        "rules base",
        "score 0-0",
        "utility points",
        "120 iterations",
        "not certified",
        "mano's value",
    ):
        assert words in footer


def test_places_without_numbers_are_hatched_and_not_coloured(quick_solution):
    survey = Survey(quick_solution, [handmade_census()], 1, 1)
    figure = charts.draw_stacks(survey, "Envido")
    drawn = bars(figure.axes[0])
    lefts = sorted({left for left, *_ in drawn})
    assert len(lefts) == 5
    hatches = {left: {hatch for at, *_, hatch in drawn if at == left} for left in lefts}
    assert [hatches[left] for left in lefts] == [{"/////"}, {"/////"}, {None, "...."}, {None}, {None}]
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "never reached, or unsolved" in legend
    assert "rare: under 30 decisions" in legend


def test_truco_lines_break_where_no_card_is(quick_solution):
    survey = survey_of(quick_solution, "truco", seat="mano", trick=3, rounds=5)
    figure = charts.draw_truco(survey)
    for line in [line for line in figure.axes[0].lines if line.get_linestyle() in ("-", "--")]:
        x, y = line.get_data()
        assert np.isnan(y[4])
        assert x[3] == pytest.approx(0.35)
        assert x[5] == pytest.approx(0.55)


def test_heatmap_colours_show_the_share(quick_solution):
    import matplotlib as mpl

    survey = take_survey(quick_solution, [opening(MANO)], "envido and strength", 2, 1)
    figure = charts.draw_heatmap(survey, "envido")
    frame = survey.censuses[0].frame()
    cells = {
        (left, round(low, 1)): colour for left, low, _, colour, hatch in bars(figure.axes[0]) if hatch is None
    }
    assert len(cells) == (frame["decisions"] > 0).sum() > 100
    row = frame.loc[frame["envido"].idxmax()]
    left = row["envido_value"] - (0 if row["envido_value"] < 8 else 11) - 0.45
    shade = mpl.colormaps["cividis"](row["envido"])
    assert cells[round(left, 3), round(row["strength"], 1)] == pytest.approx(shade, abs=1e-6)


# --- start-up ---


def test_commands_import_nothing_heavy():
    code = "import sys, scripts.tables, scripts.plots; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "scripts.tables" in loaded
    assert not {"numpy", "numba", "pandas", "matplotlib", "pyspiel", "rich", "game", "solver"} & set(loaded)


def test_progress_appears_when_it_takes_long(capsys):
    with progress("quick things", after=60.0) as show:
        show(0.5)
    assert capsys.readouterr() == ("", "")
    with progress("slow things", after=0.01) as show:
        time.sleep(0.02)
        show(0.5, "half done")
        show(1.0, "done")
    out, err = capsys.readouterr()
    assert out == ""
    assert "slow things" in err
    assert "100%" in err
