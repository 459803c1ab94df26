"""Properties that hold in every Truco hand and match, and the parsing of cards, actions and rules."""

import dataclasses
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from game.truco.actions import MAZO, NO_QUIERO, NUM_ACTIONS, action_name, parse_action
from game.truco.cards import DECK_SIZE, card_name, envido_value, parse_card, parse_cards, tier
from game.truco.hand import Hand
from game.truco.match import Match
from game.truco.rules import PRESETS, Rules, load_rules, make_rules, parse_field

# The same examples in every run, and no time limit on a machine that may be busy.
quick = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
thorough = settings(quick, max_examples=250)

CARDS = range(DECK_SIZE)
ORDINARY_CARDS = [card for card in CARDS if sum(tier(other) == tier(card) for other in CARDS) == 4]


@st.composite
def any_rules(draw: st.DrawFn) -> Rules:
    """Any combination of the fields that `Rules` allows."""
    target = draw(st.sampled_from([1, 2, 5, 15, 30]))
    size = draw(st.sampled_from([3, 3, 2, 1]))
    return Rules(
        target=target,
        envido=draw(st.sampled_from([True, True, False])),
        envido_reveal=draw(st.sampled_from(["values", "buenas", "hands"])),
        raise_right=draw(st.sampled_from(["alternate", "any"])),
        envido_after_truco=draw(st.sampled_from(["forbid", "allow"])),
        max_envido=draw(st.integers(1, 3)),
        falta=draw(st.sampled_from(["leader", "malas_buenas"] if target == 30 else ["leader"])),
        falta_accept=draw(st.sampled_from(["replaces", "adds"])),
        fold_vs_envido=draw(st.sampled_from(["round", "both"])),
        first_trick_fold_bonus=draw(st.integers(0, 1)),
        hand_size=size,
    )


@st.composite
def fresh_hands(draw: st.DrawFn, deck: Sequence[int] = CARDS) -> Hand:
    rules = draw(any_rules())
    size = rules.hand_size
    dealt = st.lists(st.sampled_from(deck), min_size=2 * size, max_size=2 * size, unique=True)
    cards = draw(dealt, label="cards")
    score = draw(st.tuples(*[st.integers(0, rules.target - 1)] * 2), label="score")
    return Hand(rules, cards[:size], cards[size:], *score)


# Positions in the list of legal actions; a whole hand needs at most 18.
choices = st.lists(st.integers(0, 11), min_size=18, max_size=18)


def choose(hand: Hand, choice: int) -> int:
    legal = hand.legal_actions()
    return legal[choice % len(legal)]


@st.composite
def hands_under_way(draw: st.DrawFn) -> Hand:
    """A hand after some legal moves, perhaps over."""
    hand = draw(fresh_hands())
    for choice in draw(st.lists(st.integers(0, 11), max_size=18), label="choices"):
        if not hand.is_over:
            hand.apply(choose(hand, choice))
    return hand


def snapshot(hand: Hand) -> tuple[Any, ...]:
    """All that the public interface tells about a hand."""
    return (
        hand.rules,
        hand.cards,
        tuple(hand.history),
        hand.to_move,
        hand.is_over,
        hand.legal_actions(),
        hand.points_won(),
        hand.scores,
        hand.round_value,
    )


@thorough
@given(fresh_hands(), choices)
def test_points_and_movers(hand: Hand, choices: list[int]) -> None:
    """Along a whole hand: the score moves by the points won, only up, and stops at the target; while the
    hand lasts exactly one player can move; its last move pays exactly one player."""
    start, target = hand.scores, hand.rules.target
    for choice in choices:
        if hand.is_over:
            break
        legal = hand.legal_actions()
        assert hand.to_move in (0, 1)
        assert legal
        assert legal == sorted(set(legal))
        assert max(hand.scores) < target
        before, mover = hand.points_won(), hand.to_move
        hand.apply(choose(hand, choice))
        assert hand.history[-1][0] == mover
        won = hand.points_won()
        assert won == (hand.scores[0] - start[0], hand.scores[1] - start[1])
        gains = won[0] - before[0], won[1] - before[1]
        assert min(gains) == 0
        assert max(hand.scores) <= target
        assert hand.is_over or max(hand.scores) < target
    assert hand.is_over
    assert hand.to_move is None
    assert hand.legal_actions() == []
    assert max(gains) >= 1


@thorough
@given(fresh_hands(), choices)
def test_one_winner_when_nobody_folds(hand: Hand, choices: list[int]) -> None:
    """Without Envido, folds and refusals the cards decide: one player gets the round value."""
    hand = Hand(dataclasses.replace(hand.rules, envido=False), *hand.cards, *hand.scores)
    start, target = hand.scores, hand.rules.target
    for choice in choices:
        if hand.is_over:
            break
        legal = [action for action in hand.legal_actions() if action not in (MAZO, NO_QUIERO)]
        hand.apply(legal[choice % len(legal)])
    assert hand.is_over
    worth = [min(hand.round_value, target - score) for score in start]
    assert hand.points_won() in ((worth[0], 0), (0, worth[1]))


@thorough
@given(hands_under_way())
def test_illegal_actions_are_refused_and_change_nothing(hand: Hand) -> None:
    before = snapshot(hand)
    for action in set(range(-1, NUM_ACTIONS + 1)) - set(hand.legal_actions()):
        with pytest.raises(ValueError, match="legal"):
            hand.apply(action)
    assert snapshot(hand) == before


@thorough
@given(hands_under_way())
def test_copies_are_independent(hand: Hand) -> None:
    before = snapshot(hand)
    twin = hand.copy()
    assert snapshot(twin) == before
    for action in hand.legal_actions():
        moved = hand.copy()
        moved.apply(action)
        again = twin.copy()
        again.apply(action)
        assert snapshot(moved) == snapshot(again) != before
    while not twin.is_over:
        twin.apply(twin.legal_actions()[0])
    assert snapshot(hand) == before


@thorough
@given(fresh_hands(ORDINARY_CARDS), choices, st.permutations(range(4)))
def test_suit_names_carry_no_strategy(hand: Hand, choices: list[int], order: list[int]) -> None:
    """Renaming the suits of a hand without aces and sevens changes neither moves nor points."""
    cards = [*hand.cards[0], *hand.cards[1]]
    renamed = [10 * order[card // 10] + card % 10 for card in cards]
    size = hand.rules.hand_size
    other = Hand(hand.rules, renamed[:size], renamed[size:], *hand.scores)
    for choice in choices:
        if hand.is_over:
            break
        action = choose(hand, choice)
        hand.apply(action)
        other.apply(renamed[cards.index(action)] if action in cards else action)
        assert (hand.scores, hand.to_move) == (other.scores, other.to_move)


@quick
@given(
    st.sampled_from(list(PRESETS)),
    st.integers(0, 1),
    st.tuples(st.integers(0, 14), st.integers(0, 14)),
    st.integers(0, 2**32),
)
def test_match_ends_at_the_target(preset: str, first_mano: int, scores: tuple[int, int], seed: int) -> None:
    """Mano alternates; each hand starts where the last one ended; it is over the instant 15 is reached."""
    rng = random.Random(seed)
    match = Match(PRESETS[preset], first_mano, scores)
    total = scores
    while match.winner is None:
        assert match.mano_seat == (first_mano + len(match.finished)) % 2
        match.deal_random(rng)
        mano = match.mano_seat
        assert match.hand is not None
        hand = match.hand
        while match.hand is not None:
            assert max(match.scores) < 15
            assert match.to_move is not None
            match.apply(rng.choice(hand.legal_actions()))
            won = hand.points_won()
            assert match.scores == (total[0] + won[mano], total[1] + won[1 - mano])
        assert hand.is_over
        assert sum(match.scores) > sum(total)
        total = match.scores
    assert match.scores[match.winner] == 15 > match.scores[1 - match.winner]
    assert len(match.finished) <= 29 - sum(scores)
    assert match.to_move is None
    with pytest.raises(ValueError, match="deal"):
        match.deal_random(rng)
    with pytest.raises(ValueError, match="no hand"):
        match.apply(MAZO)


# ------------------------------------------------------------------------------------ hands that do not fit


@pytest.mark.parametrize(
    ("mano", "pie", "score", "rules", "message"),
    [
        ("1E 2E", "1B 2B 3B", (0, 0), {}, "mano holds 2 cards, not 3"),
        ("1E 2E 3E", "1B 2B 3B", (0, 0), {"hand_size": 2}, "3 cards, not 2"),
        ("1E 2E 3E", "1B 2B 1E", (0, 0), {}, "1E is dealt twice"),
        (
            "1E 2E",
            "1B 7O",
            (0, 0),
            {"hand_size": 2, "deck": parse_cards("1E 2E 1B 2B")},
            "7O is not in the deck",
        ),
        ("1E 2E 3E", "1B 2B 3B", (15, 0), {}, "15"),
        ("1E 2E 3E", "1B 2B 3B", (0, -1), {}, "-1"),
    ],
)
def test_hand_refuses(
    mano: str, pie: str, score: tuple[int, int], rules: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Hand(Rules(**rules), parse_cards(mano), parse_cards(pie), *score)


# -------------------------------------------------------------------------------------------------- parsing

SUIT_NAMES = {"E": "Espada", "B": "Basto", "O": "Oro", "C": "Copa"}


def test_card_index() -> None:
    """Part F: index = 10 * suit + rank position, suits E B O C."""
    assert [card_name(card) for card in (0, 9, 10, 26, 39)] == ["1E", "12E", "1B", "7O", "12C"]
    assert len({card_name(card) for card in range(DECK_SIZE)}) == DECK_SIZE


@pytest.mark.parametrize("card", range(DECK_SIZE), ids=card_name)
def test_card_round_trip(card: int) -> None:
    name = card_name(card)
    long_name = f"{name[:-1]} de {SUIT_NAMES[name[-1]]}"
    for text in (name, name.lower(), f" {name} ", long_name, long_name.lower(), long_name.upper()):
        assert parse_card(text) == card


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("7 de Oro", "7O"),
        ("ancho de espada", "1E"),
        ("as de basto", "1B"),
        ("Ancho de Basto", "1B"),
        ("12c", "12C"),
    ],
)
def test_spoken_card_names(text: str, name: str) -> None:
    assert parse_card(text) == parse_card(name)


@pytest.mark.parametrize(
    "text", ["8E", "9O", "0E", "13B", "7X", "E7", "7", "7 de Roma", "rey", "truco", "1E1B"]
)
def test_unknown_cards_are_named(text: str) -> None:
    with pytest.raises(ValueError, match=text):
        parse_card(text)


@pytest.mark.parametrize(
    "text",
    [
        "7O 1E 4C",
        "7o,1e,4c",
        "7O, 1E, 4C",
        "7 de Oro, ancho de espada, 4 de copa",
        "7 de oro as de espada 4C",
    ],
)
def test_card_lists(text: str) -> None:
    assert [card_name(card) for card in parse_cards(text)] == ["7O", "1E", "4C"]


@quick
@given(st.lists(st.integers(0, DECK_SIZE - 1), unique=True), st.sampled_from([" ", ",", ", "]))
def test_card_list_round_trip(cards: list[int], separator: str) -> None:
    assert parse_cards(separator.join(map(card_name, cards))) == tuple(cards)


@pytest.mark.parametrize(
    ("text", "named"),
    [("7O 1E 7O", "7O"), ("7O, 4C, 7 de oro", "7O"), ("ancho de espada 1E", "1E"), ("7O 8E 1B", "8E")],
)
def test_bad_card_lists_name_the_card(text: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        parse_cards(text)


def test_action_round_trip() -> None:
    names = [action_name(action) for action in range(NUM_ACTIONS)]
    assert names[:DECK_SIZE] == [card_name(card) for card in range(DECK_SIZE)]
    words = "truco retruco vale_cuatro envido real_envido falta_envido quiero no_quiero mazo"
    assert " ".join(names[DECK_SIZE:]) == words
    assert [parse_action(name) for name in names] == list(range(NUM_ACTIONS))
    assert [parse_action(name.upper()) for name in names] == list(range(NUM_ACTIONS))


@pytest.mark.parametrize("text", ["flor", "contraflor", "8E", "", "quiero quiero"])
def test_unknown_actions_are_named(text: str) -> None:
    with pytest.raises(ValueError, match=f"'{text}'"):
        parse_action(text)


@quick
@given(st.lists(st.integers(0, DECK_SIZE - 1), min_size=1, max_size=3, unique=True))
def test_envido_value_is_possible(cards: list[int]) -> None:
    """A lone suit counts at most 7, a pair 20 to 33; adding a card never lowers the value."""
    value = envido_value(cards)
    paired = len({card // 10 for card in cards}) < len(cards)
    assert (20 <= value <= 33) if paired else (0 <= value <= 7)
    assert value >= max(envido_value([card]) for card in cards)


# --------------------------------------------------------------------------------------------------- rules

ONE_CHANGE: list[dict[str, Any]] = [
    {"target": 30},
    {"target": 30, "falta": "malas_buenas"},
    {"envido": False},
    {"envido_reveal": "buenas"},
    {"envido_reveal": "hands"},
    {"raise_right": "any"},
    {"envido_after_truco": "allow"},
    {"max_envido": 1},
    {"max_envido": 3},
    {"falta_accept": "adds"},
    {"fold_vs_envido": "both"},
    {"first_trick_fold_bonus": 1},
    {"hand_size": 2},
    {"deck": tuple(range(20))},
]


def test_presets() -> None:
    """The end of Part C."""
    assert set(PRESETS) == {"base", "argentino"}
    assert PRESETS["base"] == Rules()
    changed = dataclasses.replace(
        Rules(), envido_reveal="buenas", fold_vs_envido="both", first_trick_fold_bonus=1
    )
    assert PRESETS["argentino"] == changed


def test_rules_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Rules().target = 30  # type: ignore[misc]


def test_rules_hash_is_stable_and_tells_rules_apart() -> None:
    """The written-out hashes may change only together with the meaning of the rules: files carry them."""
    assert PRESETS["base"].hash() == "44136fa355b3678a"
    assert PRESETS["argentino"].hash() == "1c42b7c32622f2b4"
    variants = [Rules(), PRESETS["argentino"], *(Rules(**change) for change in ONE_CHANGE)]
    assert len({rules.hash() for rules in variants}) == len(variants)
    assert Rules(deck=tuple(reversed(range(DECK_SIZE)))).hash() == Rules().hash()


def test_a_new_field_leaves_the_hash_of_rules_that_do_not_use_it() -> None:
    @dataclasses.dataclass(frozen=True)
    class More(Rules):
        flor: bool = False

    for change in ({}, *ONE_CHANGE):
        assert More(**change).hash() == Rules(**change).hash()
        assert More(**change, flor=True).hash() != Rules(**change).hash()


@pytest.mark.parametrize("change", ONE_CHANGE, ids=str)
def test_rules_from_toml(tmp_path: Path, change: dict[str, Any]) -> None:
    def toml(value: Any) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, tuple):
            return str([card_name(card) for card in value])
        return repr(value)

    path = tmp_path / "rules.toml"
    lines = [f"{name} = {toml(value)}" for name, value in change.items()]
    path.write_text("\n".join(lines))
    assert load_rules(path) == Rules(**change)
    path.write_text("\n".join(['preset = "argentino"', *lines]))
    assert load_rules(path) == make_rules("argentino", change)
    assert load_rules(path).envido_reveal == change.get("envido_reveal", "buenas")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('preset = "uruguayo"', "uruguayo"),
        ("flor = true", "flor"),
        ("max_envido = 4", "max_envido"),
        ("target = ", "rules.toml"),
        ('deck = "1E 2E 8E 4B 5B 6B"', "8E"),
    ],
)
def test_bad_toml_is_refused(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=named) as error:
        load_rules(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_missing_toml_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"absent\.toml"):
        load_rules(tmp_path / "absent.toml")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("target", 0),
        ("target", -15),
        ("target", 15.0),
        ("target", "15"),
        ("envido", "yes"),
        ("envido", 1),
        ("envido_reveal", "cards"),
        ("raise_right", "both"),
        ("envido_after_truco", True),
        ("max_envido", 0),
        ("max_envido", 4),
        ("falta", "match"),
        ("falta", "malas_buenas"),  # needs target 30
        ("falta_accept", "max"),
        ("fold_vs_envido", "forbid"),
        ("first_trick_fold_bonus", 2),
        ("first_trick_fold_bonus", True),
        ("hand_size", 0),
        ("hand_size", 4),
        ("deck", (0, 1, 2, 3, 4)),
        ("deck", (0, 1, 2, 3, 4, 4)),
        ("deck", (0, 1, 2, 3, 4, 40)),
    ],
)
def test_bad_field_values_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        Rules(**{name: value})


def test_fields_as_text() -> None:
    assert parse_field("target=30") == ("target", 30)
    assert parse_field("envido = off") == ("envido", False)
    assert parse_field("envido_reveal=hands") == ("envido_reveal", "hands")
    for text in ("flor=true", "target=many", "envido=maybe", "target"):
        with pytest.raises(ValueError, match=text.split("=")[0]):
            parse_field(text)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("change", ONE_CHANGE, ids=str)
def test_rules_name_says_all(preset: str, change: dict[str, Any]) -> None:
    """The name of any rules leads back to them, so a heading that prints it is complete."""
    rules = make_rules(preset, change)
    base, *fields = rules.name().split("+")
    assert make_rules(base, dict(map(parse_field, fields))) == rules
