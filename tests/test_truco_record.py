"""Records of matches: text and back, forgiving in form, and every fault named with its line."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from game.truco.actions import ENVIDO, RETRUCO, TRUCO
from game.truco.cards import parse_cards
from game.truco.hand import Hand
from game.truco.match import Match
from game.truco.record import Record, RecordedHand, format_record, record_hand, write_record
from game.truco.record_text import RecordError, parse_record
from game.truco.rules import PRESETS
from game.truco.scoring import Award, Reason, awards
from game.truco.spot import parse_history
from tests.truco_random import house_rules, played_hands

NAMES = st.sampled_from(["you", "solution", "Ana", "José María", "O'Neil-2", "a", "b.c", "mano", "play"])
NOTES = st.lists(
    st.text(st.characters(exclude_characters="#", categories=["L", "N", "P", "Zs"])).map(str.strip)
)


@st.composite
def records(draw):
    """Hands of one match played at random, the last one perhaps not to its end."""
    rules = draw(house_rules())
    players = draw(st.tuples(NAMES, NAMES).filter(lambda names: names[0] != names[1]))
    known = draw(st.sampled_from([(True, False), (False, True), (True, True)]))
    first = draw(st.integers(0, 1))
    match = Match(
        rules, first, (draw(st.integers(0, rules.target - 1)), draw(st.integers(0, rules.target - 1)))
    )
    hands = []
    for number in range(1, draw(st.integers(0, 4)) + 1):
        mano = match.mano_seat
        match.deal_random(draw(st.randoms(use_true_random=False)))
        hand = match.hand
        cut = draw(st.integers(0, 40))
        while match.hand is not None and (cut > 0 or number < 4):
            match.apply(draw(st.sampled_from(hand.legal_actions())))
            cut -= 1
        recorded = record_hand(number, mano, hand, known)
        hands.append(replace(recorded, notes=tuple(note for note in draw(NOTES) if note)))
        if match.winner is not None or match.hand is not None:
            break
    notes = tuple(note for note in draw(NOTES) if note)
    seed = draw(st.none() | st.integers(0, 10**20))
    return Record(rules, players, tuple(hands), seed, draw(st.sampled_from(["", "2026-12-07 11:32"])), notes)


@given(records())
def test_a_record_is_read_back_as_it_was(record):
    reading = parse_record(format_record(record))
    assert reading.record == record
    assert reading.ignored == []


@given(records(), st.randoms(use_true_random=False))
def test_case_spaces_and_comments_do_not_matter(record, rng):
    lines = []
    for line in format_record(record).splitlines():
        key, colon, value = line.partition(":")
        wide = rng.choice(["  {} {}  {} ", "{}{}{}   # seen at the table", "{}{}\t{}", "\n{}{}{}"])
        lines.append(wide.format(key.upper() if rng.random() < 0.5 else key, colon, value))
    assert parse_record("\r\n".join(lines)).record == record


@given(
    records(),
    st.integers(0, 10**6),
    st.sampled_from(["", "x", ":", "-", "7O", "99", "?", "/", "\n", "ß", "("]),
)
def test_a_damaged_text_is_a_record_or_a_fault_with_its_line(record, place, piece):
    text = format_record(record)
    place %= len(text)
    check_fault(text[:place] + piece + text[place + 1 :])


@given(st.one_of(st.text(), st.text("handplyscore:?-/ \n0123EBOC")))
def test_any_text_is_a_record_or_a_fault_with_its_line(text):
    check_fault(text)


def check_fault(text):
    try:
        parse_record(text)
    except RecordError as error:
        lines = max(1, len(text.splitlines()))
        assert all(1 <= fault.line <= lines and "\n" not in fault.reason for fault in error.faults)  # noqa: PT017
        assert "\n" not in str(error)  # noqa: PT017


SHORT = """
players: Ana, Luis
hand 1
cards: ana 7 de oro, 6o 4b
play: envido quiero 7O 3C   (a long thought)
play: p:4C 6O 4B no 1E
shown: 33 / 25
"""


def test_a_record_written_by_hand_needs_little():
    text = SHORT.replace("4B no 1E", "").replace("p:4C 6O", "truco no quiero")
    record = parse_record(text).record
    assert record.rules == PRESETS["base"]
    assert record.hands == (
        RecordedHand(
            1, 0, (0, 0), (parse_cards("7O 6O 4B"), None),
            tuple(action for _, action in parse_history("envido quiero 7O 3C truco no_quiero")), (33, 25),
        ),
    )  # fmt: skip
    assert record.hands[0].replay(record.rules).scores == (3, 0)
    assert "points: 3-0 (Ana envido 2, Ana truco_declined 1)\n" in format_record(record)


def test_score_and_mano_follow_from_the_hand_before():
    text = (
        "players: Ana, Luis\nhand 1\ncards: Ana 7O 6O 4B\nplay: mazo\nhand\ncards: Luis 1E 2E 3E\nplay: mazo"
    )
    one, two = parse_record(text).record.hands
    assert (one.number, one.mano, one.scores) == (1, 0, (0, 0))
    assert (two.number, two.mano, two.scores) == (2, 1, (0, 1))
    # Luis, who is mano, folded.
    assert two.replay(PRESETS["base"]).scores == (1, 1)


def test_hands_may_be_left_out():
    text = "players: Ana, Luis\nhand 4\nmano: Luis\nscore: 3-9\ncards: Ana 7O 6O 4B\nplay:\n"
    (hand,) = parse_record(text).record.hands
    assert (hand.seat(0), hand.seat_scores()) == (1, (9, 3))
    text += "hand 9\nmano: Luis\nscore: 5-9\ncards: Ana 7O 6O 4B"
    assert len(parse_record(text).record.hands) == 2


def test_pie_who_says_buenas_keeps_the_value():
    text = "rules: argentino\nplayers: A, B\nhand 1\ncards: {}\nplay: envido quiero\nshown: {}\n"
    for cards, shown in (
        ("A 7O 6O 4B", "33/?"),
        ("B 5O 4O 1E", "33/?"),
        ("B 5O 4O 1E", "33/29"),
        ("A 7O 6O 4B", "?/?"),
    ):
        (hand,) = parse_record(text.format(cards, shown)).record.hands
        assert hand.shown == (33, None)
    with pytest.raises(RecordError, match="line 6: B holds Envido 29, not 27"):
        parse_record(text.format("B 5O 4O 1E", "33/27"))


HEAD = "players: Ana, Luis\nhand 1\ncards: Ana 7O 6O 4B\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "line 1: the players are not named"),
        ("truco record 2\nplayers: A, B", "line 1: record of version 2, this program reads 1"),
        ("players: A", "line 1: 1 players are named, allowed: two"),
        ("players: A, A", "line 1: players 'A' and 'A' cannot be told apart"),
        ("players: A, <B>", "line 1: player '<B>' is no name"),
        ("rules: tute\nplayers: A, B", "line 1: unknown rules 'tute', allowed: base, argentino"),
        ("players: A, B\nseed: x", "line 2: seed 'x' is not a whole number"),
        ("players: A, B\nhello", "line 2: 'hello' is neither `key: value` nor `hand N`"),
        ("players: A, B\nhand 1\n", "line 2: the cards of neither player are known in hand 1"),
        (HEAD + "play: envido envido envido", "line 4: history word 3, envido, is not legal there"),
        (
            HEAD + "cards: Luis 5B 6B 7B\nplay: truco mazo envido",
            "line 5: history word 3: envido is not legal",
        ),
        (HEAD + "play: trucu", "line 4: history word 1: unknown action 'trucu'"),
        (HEAD + "play: envido quiero", "line 4: Envido was accepted: say which value the other seat showed"),
        (HEAD + "play: envido quiero\nshown: 32/25", "line 5: Ana holds Envido 33, not 32"),
        (HEAD + "play: envido no_quiero\nshown: 33/?", "line 5: no Envido was accepted"),
        (HEAD + "play: envido quiero\nshown: 25", "line 5: shown '25' is not of the form 33/25"),
        (HEAD + "play: p:envido", "line 4: history word 1, envido, is given to pie, it is mano's"),
        (HEAD + "play: mazo\npoints: 1-0", "line 5: points 1-0, but the play made 0-1"),
        (HEAD + "play: 7O\npoints: 1-0", "line 5: points of a hand whose play has no end"),
        (HEAD + "cards: Ana 7O 6O 4B", "line 4: the cards of Ana are given twice"),
        (HEAD + "cards: Eva 7O 6O 4B", "line 4: cards 'Eva 7O 6O 4B' begin with neither Ana nor Luis"),
        (HEAD + "cards: Luis 7O 1E 2E", "line 2: card 7O is dealt twice"),
        (HEAD + "cards: Luis 1E 2E", "line 4: 2 cards are given, not 3"),
        (HEAD + "cards: Luis 8E 2E 3E", "line 4: unknown card '8E'"),
        (HEAD + "score: 15-0", "line 4: score 15-0 is outside 0 to 14"),
        (HEAD + "score: 1-0\nscore: 2-0", "line 5: score is given twice, first in line 4"),
        (HEAD + "mano: Eva", "line 4: mano 'Eva' is no player, allowed: Ana, Luis"),
        (HEAD + "play: mazo\nhand 1", "line 5: hand 1 comes after hand 1"),
        (
            HEAD + "play: mazo\nhand 2\nscore: 1-0\ncards: Ana 7O 6O 4B",
            "line 6: score 1-0 after a hand that led to 0-1",
        ),
        (
            HEAD + "play: mazo\nhand 2\nmano: Ana\ncards: Ana 7O 6O 4B",
            "line 6: mano alternates, it is Luis's turn",
        ),
        (HEAD + "score: 0-14\nplay: mazo\nhand 2", "line 6: the match was over after hand 1"),
        (
            HEAD + "hand 2\nmano: Ana\ncards: Ana 7O 6O 4B",
            "line 4: the score is not given, and the hand before",
        ),
        ("players: A, B\nhand 3", "line 2: it is not said who is mano"),
        ("players: A\nhello\nhand one", r"line 1: .* \(and 2 more, the next in line 2\)"),
        ("players: A, B" + 2_000_000 * " ", "at most 2,000,000 characters"),
    ],
)
def test_faults_are_named_with_their_line(text, reason):
    with pytest.raises(RecordError, match=reason) as error:
        parse_record(text)
    assert "\n" not in str(error.value)


def test_all_faults_are_told_apart():
    text = HEAD + "play: trucu\nhand 2\nmano: Luis\nscore: 0-1\ncards: Ana 1X 2E 3E\nhand 3\n"
    with pytest.raises(RecordError) as error:
        parse_record(text)
    assert [fault.line for fault in error.value.faults] == [4, 8]


def test_unknown_keys_are_passed_over_and_told():
    (fault,) = parse_record(HEAD + "plya: mazo").ignored
    assert fault.line == 4
    assert "unknown key 'plya' passed over" in fault.reason


@pytest.mark.parametrize("note", ["two\nlines", "a # comment", " blank"])
def test_notes_that_the_text_cannot_hold_are_refused(note):
    with pytest.raises(ValueError, match="is not one line without #"):
        Record(PRESETS["base"], ("A", "B"), notes=(note,))


def test_a_record_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "match.txt"
    record = parse_record(SHORT.replace("4B no 1E", "").replace("p:4C 6O", "")).record
    write_record(path, record)
    assert parse_record(path.read_text()).record == record

    def fails(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fails)
    with pytest.raises(OSError, match="disk full"):
        write_record(path, replace(record, notes=("more",)))
    assert parse_record(path.read_text()).record == record
    assert [file.name for file in tmp_path.iterdir()] == ["match.txt"]


def test_the_page_on_records_shows_records():
    page = (Path(__file__).parent.parent / "docs" / "record.md").read_text()
    shown = [block for block in page.split("```")[1::2] if "players:" in block]
    assert len(shown) >= 2
    for block in shown:
        reading = parse_record(block)
        assert reading.record.hands
        assert not reading.ignored


@given(played_hands())
def test_awards_add_up_to_the_points_of_the_hand(hand):
    found = awards(hand)
    for player in (0, 1):
        assert sum(award.points for award in found if award.player == player) == hand.points_won()[player]
    assert all(award.points > 0 for award in found)
    rounds = [award for award in found if award.reason not in (Reason.ENVIDO, Reason.ENVIDO_DECLINED)]
    assert len(rounds) <= 1


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        (
            "envido envido quiero truco no_quiero",
            [(0, 4, "envido", (ENVIDO, ENVIDO)), (0, 1, "truco_declined", (TRUCO,))],
        ),
        ("envido no_quiero truco retruco quiero mazo", [(0, 1, "envido_declined", (ENVIDO,)), (1, 3, "mazo", ())]),
        ("truco retruco quiero 7O 3C 6O 4C", [(0, 3, "tricks", (RETRUCO,))]),
        ("7O 3C 6O 4C", [(0, 1, "tricks", ())]),
    ],
)  # fmt: skip
def test_what_a_hand_paid_for(history, expected):
    hand = Hand(PRESETS["base"], parse_cards("7O 6O 4B"), parse_cards("3C 4C 5C"))
    for _, action in parse_history(history):
        hand.apply(action)
    assert awards(hand) == [
        Award(player, points, Reason(why), calls) for player, points, why, calls in expected
    ]
