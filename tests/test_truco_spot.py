"""A decision as one seat sees it: which hands the other can hold, and what a wrong history is told."""

import pytest

from game.truco.actions import ENVIDO, NO_QUIERO
from game.truco.cards import envido_value, parse_cards
from game.truco.rules import PRESETS, make_rules
from game.truco.spot import Spot, parse_history


def spot(hand, seat=0, history="", shown=None, rules="base", scores=(0, 0)):
    return Spot(PRESETS[rules], seat, parse_cards(hand), scores, tuple(parse_history(history)), shown)


def test_every_hand_of_the_other_37_cards_is_possible_at_the_start():
    assert len(spot("1E 7O 3C").others) == 7770


def test_cards_the_other_played_are_in_every_hand():
    others = spot("1E 7O 3C", 1, "3O").others
    assert len(others) == 36 * 35 // 2
    assert all(parse_cards("3O")[0] in hand for hand in others)


def test_a_shown_value_leaves_only_hands_with_that_value():
    here = spot("7O 6O 4B", 1, "truco envido quiero", shown=25)
    assert {envido_value(hand) for hand in here.others} == {25}
    assert here.hand.scores == (0, 2)


def test_buenas_hides_only_the_lower_value_of_pie():
    won = spot("7O 6O 4B", 0, "envido quiero", rules="argentino")
    assert max(envido_value(hand) for hand in won.others) == 33  # a tie is mano's
    lost = spot("7O 5B 4B", 0, "envido quiero", shown=30, rules="argentino")
    assert {envido_value(hand) for hand in lost.others} == {30}
    with pytest.raises(ValueError, match="can have shown Envido 25"):
        spot("7O 6O 4B", 0, "envido quiero", shown=25, rules="argentino")


def test_the_shown_value_decides_whether_the_match_goes_on():
    here = spot("7O 6O 4B", 0, "envido quiero", shown=25, scores=(5, 14))
    assert here.hand.scores == (7, 14)
    with pytest.raises(ValueError, match="the hand is over"):
        spot("7O 4C 4B", 0, "envido quiero", shown=25, scores=(5, 14))


def test_players_may_be_written_before_their_words():
    assert parse_history("m:envido, p:no_quiero 7O") == [
        (0, ENVIDO),
        (1, NO_QUIERO),
        (None, parse_cards("7O")[0]),
    ]
    assert spot("1E 7O 3C", 0, "m:envido p:no_quiero").history == (ENVIDO, NO_QUIERO)
    with pytest.raises(ValueError, match="word 1, envido, is given to pie, but it is the turn of mano"):
        spot("1E 7O 3C", 0, "p:envido m:no_quiero")


def test_words_and_cards_may_be_written_out():
    assert parse_history("real envido no quiero, 7 de oro vale cuatro") == parse_history(
        "real_envido no_quiero 7O vale_cuatro"
    )


def test_revealed_hands_leave_nothing_to_guess():
    with pytest.raises(ValueError, match="values or buenas"):
        Spot(make_rules("base", {"envido_reveal": "hands"}), 0, parse_cards("1E 7O 3C"), (0, 0), ())


@pytest.mark.parametrize(
    ("hand", "seat", "history", "shown", "message"),
    [
        ("1E 7O 3C", 0, "3C trucu", None, r"history word 2: unknown action 'trucu'"),
        (
            "1E 7O 3C",
            0,
            "3\u0421",
            None,
            r"history word 1: .*'3С' \('С' is CYRILLIC CAPITAL LETTER ES\)",
        ),
        ("1E 7O 3C", 0, "tru\u0441o", None, r"\('с' is CYRILLIC SMALL LETTER ES\)"),
        ("1E 7O 3C", 0, "quiero\u200b", None, r"\('\\u200b' is ZERO WIDTH SPACE\)"),
        (
            "1E 7O 3C",
            0,
            "envido envido envido",
            None,
            r"history word 3, envido, is not legal.*real_envido.*by mano",
        ),
        (
            "1E 7O 3C",
            0,
            "3C 7O",
            None,
            r"history word 2, 7O, is not legal there; legal: a card you have not seen",
        ),
        ("1E 7O 3C", 0, "3C", None, r"it is the turn of pie"),
        ("1E 7O 3C", 0, "mazo", None, r"the hand is over"),
        ("1E 7O 3C", 0, "mazo truco", None, r"history word 2, truco, .*nothing, the hand is over"),
        ("1E 7O 3C", 1, "truco quiero 4B 4C 3B 3E 2O 2C", None, r"history word 4, 4C, is not legal"),
        ("1E 7O 3C", 0, "envido quiero", None, r"--shown"),
        ("1E 7O 3C", 0, "", 27, r"no Envido was accepted"),
        ("1E 7O", 0, "", None, r"mano holds 2 cards, not 3"),
    ],
)
def test_what_cannot_be_is_named(hand, seat, history, shown, message):
    with pytest.raises(ValueError, match=message):
        spot(hand, seat, history, shown)
