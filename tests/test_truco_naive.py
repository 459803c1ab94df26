"""Thousands of random hands, move by move, against the naive twin of the rules, for every rule field."""

import random
from itertools import pairwise
from typing import Any

import naive_truco as naive
import pytest

from game.truco.actions import NUM_ACTIONS, action_name
from game.truco.cards import DECK_SIZE, card_name, parse_cards
from game.truco.hand import Hand
from game.truco.rules import PRESETS, Rules, make_rules

OVERRIDES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "target 2": {"target": 2},
    "target 30": {"target": 30},
    "malas_buenas": {"target": 30, "falta": "malas_buenas"},
    "no envido": {"envido": False},
    "values": {"envido_reveal": "values"},
    "buenas": {"envido_reveal": "buenas"},
    "hands": {"envido_reveal": "hands"},
    "any": {"raise_right": "any"},
    "allow": {"envido_after_truco": "allow"},
    "one envido": {"max_envido": 1},
    "three envidos": {"max_envido": 3},
    "adds": {"falta_accept": "adds"},
    "round": {"fold_vs_envido": "round"},
    "both": {"fold_vs_envido": "both"},
    "bonus": {"first_trick_fold_bonus": 1},
    "no bonus": {"first_trick_fold_bonus": 0},
    "one card": {"hand_size": 1},
    "two cards": {"hand_size": 2},
    "many pardas": {"deck": parse_cards("4E 4B 4O 4C 5E 5B 5O 5C")},
    "tiny deck": {"deck": parse_cards("1E 3E 3O 12B"), "hand_size": 2},
}
CHOICES: dict[str, tuple[Any, ...]] = {
    "envido": (True, True, True, False),
    "envido_reveal": ("values", "buenas", "hands"),
    "raise_right": ("alternate", "any"),
    "envido_after_truco": ("forbid", "allow"),
    "max_envido": (1, 2, 3),
    "falta_accept": ("replaces", "adds"),
    "fold_vs_envido": ("round", "both"),
    "first_trick_fold_bonus": (0, 1),
    "hand_size": (1, 2, 3),
}


def random_rules(rng: random.Random) -> Rules:
    """Every field drawn at random: fields must also work together."""
    fields = {name: rng.choice(values) for name, values in CHOICES.items()}
    target, falta = rng.choice([(15, "leader"), (30, "leader"), (30, "malas_buenas"), (5, "leader")])
    deck = rng.sample(range(DECK_SIZE), rng.choice([6, 8, 12, DECK_SIZE]))
    return Rules(target=target, falta=falta, deck=tuple(deck), **fields)


def random_score(rng: random.Random, target: int) -> int:
    """Often zero or close to the end, where clamping and the instant end matter."""
    return rng.choice([0, rng.randrange(target), max(0, target - rng.randint(1, 8))])


def kind(action: int) -> str:
    name = action_name(action)
    if name in naive.CARDS:
        return "card"
    if name in naive.LADDER or name in naive.ENVIDO_CALLS:
        return "call"
    return name


def random_temper(rng: random.Random) -> dict[str, float]:
    """Weights of the kinds of action in one hand; folds are rare so that betting and tricks run deep."""
    return {
        "card": rng.choice([0.3, 1, 4]),
        "call": rng.choice([0.1, 1, 4]),
        "quiero": rng.choice([1, 4]),
        "no_quiero": rng.choice([0.1, 1]),
        "mazo": rng.choice([0.01, 0.1, 0.5]),
    }


def twins(rules: Rules, cards: list[int], score: tuple[int, int]) -> tuple[Hand, naive.Deal]:
    size = rules.hand_size
    mano, pie = cards[:size], cards[size : 2 * size]
    fields = {name: getattr(rules, name) for name in naive.DEFAULTS}
    names = [card_name(card) for card in mano], [card_name(card) for card in pie]
    return Hand(rules, mano, pie, *score), naive.Deal(*names, *score, fields)


def assert_agree(hand: Hand, deal: naive.Deal, history: list[naive.Move]) -> None:
    assert [action_name(action) for action in hand.legal_actions()] == naive.legal_words(deal, history)
    assert hand.to_move == naive.player_to_move(deal, history)
    assert hand.is_over == naive.is_over(deal, history)
    assert hand.points_won() == naive.points_won(deal, history)
    assert list(hand.scores) == naive.scores(deal, history)
    assert hand.round_value == naive.round_value(history)
    assert [(player, action_name(action)) for player, action in hand.history] == history


def play_random_hand(rules: Rules, rng: random.Random) -> list[naive.Move]:
    """Play one hand on both, comparing after every move; returns its history."""
    score = random_score(rng, rules.target), random_score(rng, rules.target)
    hand, deal = twins(rules, rng.sample(rules.deck, 2 * rules.hand_size), score)
    temper = random_temper(rng)
    history: list[naive.Move] = []
    assert_agree(hand, deal, history)
    while hand.to_move is not None:
        actions = hand.legal_actions()
        (action,) = rng.choices(actions, [temper[kind(action)] for action in actions])
        history.append((hand.to_move, action_name(action)))
        hand.apply(action)
        assert_agree(hand, deal, history)
    return history


def test_action_numbers() -> None:
    assert [action_name(action) for action in range(NUM_ACTIONS)] == naive.ACTIONS


@pytest.mark.parametrize("override", OVERRIDES)
@pytest.mark.parametrize("preset", PRESETS)
def test_random_hands(preset: str, override: str) -> None:
    rng = random.Random(f"{preset} {override}")
    rules = make_rules(preset, OVERRIDES[override])
    for _ in range(150):
        play_random_hand(rules, rng)


def test_random_rules() -> None:
    rng = random.Random(20)
    for _ in range(2500):
        play_random_hand(random_rules(rng), rng)


def test_random_play_reaches_deep_betting() -> None:
    """The random hands would prove little if the rare situations never came up in them."""
    rng = random.Random(3)
    seen = dict.fromkeys(
        ["vale_cuatro accepted", "full envido chain", "truco interrupted", "third trick", "fold to envido"], 0
    )
    for _ in range(1000):
        history = play_random_hand(PRESETS["base"], rng)
        words = [word for _, word in history]
        pairs = list(pairwise(words))
        seen["vale_cuatro accepted"] += ("vale_cuatro", "quiero") in pairs
        seen["full envido chain"] += naive.envido_chain(history) == [
            "envido",
            "envido",
            *naive.ENVIDO_CALLS[1:],
        ]
        seen["truco interrupted"] += any(a == "truco" and b in naive.ENVIDO_CALLS for a, b in pairs)
        seen["third trick"] += len(naive.cards_played(history)) > 4
        seen["fold to envido"] += any(a in naive.ENVIDO_CALLS and b == "mazo" for a, b in pairs)
    assert min(seen.values()) >= 5, seen


@pytest.mark.parametrize(
    ("after_truco", "before_card_1", "before_trick_2"), [("forbid", 203, 583), ("allow", 423, 1309)]
)
def test_number_of_betting_histories(after_truco: str, before_card_1: int, before_trick_2: int) -> None:
    """Calls and answers that may stand before mano's first card, and before trick 2, when nothing ends the
    match; counted by hand for `forbid`: 5 Truco states, 22 settled Envidos, 5 + 22*5 + 22*4 = 203, and
    203 + 22*5 + 45*(3 + 1 + 2) = 583."""
    rules = Rules(target=99, envido_after_truco=after_truco)
    hand, deal = twins(rules, list(parse_cards("1E 3B 2O 4E 10B 11C")), (50, 0))  # Falta cannot reach 99
    counts = {0: 0, 1: 0, 2: 0}

    def walk(hand: Hand, history: list[naive.Move]) -> None:
        assert_agree(hand, deal, history)
        counts[len(naive.cards_played(history))] += not history or history[-1][1] in naive.CARDS
        if hand.to_move is None or len(naive.cards_played(history)) == 2:
            return
        actions = hand.legal_actions()
        cards = [action for action in actions if action < DECK_SIZE]
        for action in cards[:1] + [action for action in actions if action >= DECK_SIZE]:
            below = hand.copy()
            below.apply(action)
            walk(below, [*history, (hand.to_move, action_name(action))])

    walk(hand, [])
    assert counts == {0: 1, 1: before_card_1, 2: before_trick_2}


@pytest.mark.parametrize("size", [1, 2, 3])
def test_tricks_from_a_deck_of_pardas(size: int) -> None:
    """Card play alone meets every row of the outcome table, and ends the round at no other."""
    deck = parse_cards("4E 4B 4O 4C 5E 5B 5O 5C")
    rules = Rules(deck=deck, hand_size=size)
    rng = random.Random(size)
    met = set()
    for _ in range(400):
        hand, deal = twins(rules, rng.sample(deck, 2 * size), (0, 0))
        history: list[naive.Move] = []
        while hand.to_move is not None:
            card = rng.choice([action for action in hand.legal_actions() if action < DECK_SIZE])
            history.append((hand.to_move, action_name(card)))
            hand.apply(card)
            assert_agree(hand, deal, history)
        met.add(naive.trick_results(history))
    assert met == set(naive.ROUND_WINNER[size])
