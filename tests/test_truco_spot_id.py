"""The text of a spot: one spot, one text, read back as it was; and what a wrong text is told."""

import re
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from game.truco.cards import card_name, parse_cards
from game.truco.rules import PRESETS, Rules, make_rules
from game.truco.spot import Spot, parse_history
from game.truco.spot_id import FORM, MOST_CHARACTERS, format_rules, format_spot, parse_rules, parse_spot
from tests.truco_random import house_rules, played_hands

UNRESERVED = set(string.ascii_letters + string.digits + "-._~")
EXAMPLES = [
    ("4B 6O 7O", 0, "", None, "base", (0, 0), "base.0-0.mano.4B6O7O"),
    ("7O 6O 4B", 1, "envido", None, "base", (0, 0), "base.0-0.pie.4B6O7O.envido"),
    (
        "4O 3O 1B", 0, "envido quiero 3O 6E", 25, "base", (12, 9),
        "base.12-9.mano.1B3O4O.envido-quiero-3O-6E.25",
    ),
    (
        "7O 6O 4B", 0, "m:real_envido p:quiero", None, "argentino", (3, 14),
        "argentino.3-14.mano.4B6O7O.real_envido-quiero",
    ),
]  # fmt: skip


@st.composite
def spots(draw):
    """A decision of a random hand as its mover sees it."""
    hand = draw(played_hands(to_the_end=False))
    seat = hand.to_move
    shown = hand.envido_shown()[1 - seat]
    cards = draw(st.permutations(hand.cards[seat]))
    return Spot(hand.rules, seat, tuple(cards), hand.start_scores, tuple(hand.history), shown)


def known(spot):
    """All that a spot is, whatever the order of its cards."""
    return spot.rules, spot.seat, sorted(spot.cards), spot.scores, spot.history, spot.shown


def is_canonical(text):
    """Whether the text means a spot; any other exception than ValueError is a failure."""
    try:
        return format_spot(parse_spot(text)) == text
    except ValueError:
        return False


def is_refused(text):
    """Whether the text is refused with one line; a failure if it is not."""
    with pytest.raises(ValueError, match=r"\A[^\n]+\Z"):
        parse_spot(text)
    return True


@pytest.mark.parametrize(("hand", "seat", "history", "shown", "rules", "scores", "text"), EXAMPLES)
def test_examples_of_the_page(hand, seat, history, shown, rules, scores, text):
    spot = Spot(PRESETS[rules], seat, parse_cards(hand), scores, tuple(parse_history(history)), shown)
    assert format_spot(spot) == text
    assert known(parse_spot(text)) == known(spot)


@given(spots())
def test_a_spot_is_read_back_as_it_was(spot):
    text = format_spot(spot)
    assert set(text) <= UNRESERVED
    assert len(text) <= MOST_CHARACTERS
    again = parse_spot(text)
    assert known(again) == known(spot)
    assert sorted(map(sorted, again.others)) == sorted(map(sorted, spot.others))
    assert format_spot(again) == text


@given(spots(), spots())
def test_two_spots_have_two_texts(one, other):
    assert (format_spot(one) == format_spot(other)) == (known(one) == known(other))


@given(house_rules())
def test_rules_are_read_back_as_they_were(rules):
    assert parse_rules(format_rules(rules)) == rules


def test_rules_are_a_preset_and_what_differs():
    assert format_rules(make_rules("base", {"target": 30, "falta": "malas_buenas"})) == (
        "base~target-30~falta-malas_buenas"
    )
    assert format_rules(make_rules("argentino", {"max_envido": 3})) == "argentino~max_envido-3"
    assert format_rules(make_rules("base", {"deck": "1B 1E 7E 7O 3C 4C", "envido": False})) == (
        "base~envido-false~deck-1E7E1B7O3C4C"
    )
    assert parse_rules("base~envido-false") == Rules(envido=False)


PIECES = st.sampled_from(
    ["base", "argentino", "~", "-", ".", "target", "deck", "full", "0-0", "14-14", "mano", "pie", "envido"]
    + [
        "quiero",
        "truco",
        "no_quiero",
        "25",
        "٣",
        "7o",
        "1e",
        "\n",
        "99999999999999999999",
        "m:",
        "hand_size-1",
    ]
    + [card_name(card) for card in range(40)]
)


@given(st.one_of(st.text(), st.lists(PIECES).map("".join), st.lists(PIECES).map(".".join)))
def test_any_text_is_a_spot_in_canonical_form_or_a_value_error_of_one_line(text):
    assert is_canonical(text) or is_refused(text)


@given(spots(), st.integers(0, 400), st.sampled_from([*sorted(UNRESERVED), "", "%", " ", "é"]))
def test_one_character_changed_is_another_spot_or_a_value_error(spot, place, character):
    text = format_spot(spot)
    place %= len(text)
    changed = text[:place] + character + text[place + 1 :]
    assert is_canonical(changed) or is_refused(changed)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", f"is not of the form {re.escape(FORM)}"),
        ("base.0-0.mano", "is not of the form"),
        ("tute.0-0.mano.4B6O7O", "unknown rules 'tute', allowed: base, argentino"),
        ("base~max_envido.0-0.mano.4B6O7O", "'max_envido' is not of the form field-value"),
        ("base~max_envido-9.0-0.mano.4B6O7O", "max_envido is 9, allowed: 1, 2, 3"),
        ("base~fun-1.0-0.mano.4B6O7O", "'fun=1' is not field=value with a field of target"),
        ("base.15-0.mano.4B6O7O", "score 15-0 is outside 0-0 to 14-14"),
        ("base.0.mano.4B6O7O", "score '0' is not of the form 12-9, mano first"),
        ("base.0-0.me.4B6O7O", "seat 'me' is unknown, allowed: mano, pie"),
        ("base.0-0.mano.4B6O8O", "unknown card '8O'"),
        ("base.0-0.mano.4B6O", "mano holds 2 cards, not 3"),
        ("base.0-0.mano.4B6O6O", "card 6O is given twice"),
        ("base.0-0.mano.4B 6O 7O", "are not names side by side such as 4B6O7O"),
        ("base.0-0.mano.7O6O4B", "not in canonical form, which is base.0-0.mano.4B6O7O"),
        ("base.00-0.mano.4B6O7O", "which is base.0-0.mano.4B6O7O"),
        ("base~max_envido-2.0-0.mano.4B6O7O", "which is base.0-0.mano.4B6O7O"),
        ("base.0-0.mano.4B6O7O.", "which is base.0-0.mano.4B6O7O"),
        ("base.0-0.mano.4B6O7O.envido-retruco", "history word 2, retruco, is not legal there"),
        ("base.0-0.mano.4B6O7O.envido-quiero", "say which value the other seat showed"),
        ("base.0-0.mano.4B6O7O.envido-quiero.x", "shown value 'x' is not a number such as 25"),
        ("base.0-0.mano.4B6O7O.envido-quiero.19", "can have shown Envido 19"),
        ("base.0-0.pie.4B6O7O", "it is the turn of mano"),
        ("base." + 500 * "0", "at most 400 characters"),
    ],
)
def test_what_is_wrong_is_named(text, reason):
    with pytest.raises(ValueError, match=reason) as error:
        parse_spot(text)
    assert "\n" not in str(error.value)


def test_the_page_on_spot_ids_shows_canonical_ones():
    page = (Path(__file__).parent.parent / "docs" / "spot-id.md").read_text()
    ids = re.findall(r"^\| `([^`]+)`", page, re.MULTILINE)
    assert len(ids) >= 8
    assert all(format_spot(parse_spot(text)) == text for text in ids)
