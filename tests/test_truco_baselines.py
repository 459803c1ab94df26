"""The baseline players: proper mixes, blind to hidden cards, sound in plain spots, and OpenSpiel policies."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from game.truco.actions import (
    ENVIDO,
    FALTA_ENVIDO,
    MAZO,
    QUIERO,
    TRUCO,
    VALE_CUATRO,
    parse_action,
)
from game.truco.cards import DECK_SIZE, envido_value, parse_cards
from game.truco.hand import Decision, Hand
from game.truco.rules import PRESETS, Rules, make_rules
from solver.truco.hand import engine
from solver.truco.players.baselines import BASELINES, CALL_RATE, baseline, baseline_code, baseline_policy
from solver.truco.players.heuristic import envido_chance, plan, round_worth, win_chance

RULES = {
    "base": PRESETS["base"],
    "argentino": PRESETS["argentino"],
    "target 30": make_rules("base", {"target": 30, "falta": "malas_buenas", "envido_after_truco": "allow"}),
    "any, no envido": make_rules("base", {"raise_right": "any", "envido": False}),
}


def mix(name: str, hand: Hand) -> dict[int, float]:
    """The baseline's probability of each action of the engine."""
    actions, probs = np.zeros(engine.MAX_LEGAL, np.int32), np.full(engine.MAX_LEGAL, np.nan)
    state, rules = engine.encode(hand), engine.rules_vector(hand.rules)
    before = state.copy()
    n = engine.legal(state, rules, actions)
    baseline(baseline_code(name), state, rules, actions, n, probs)
    np.testing.assert_array_equal(state, before)
    return dict(zip(actions[:n].tolist(), probs[:n].tolist(), strict=True))


def random_spots(rules: Rules, seed: int, hands: int) -> Iterator[Hand]:
    """Every decision of random hands at random scores."""
    rng = random.Random(seed)
    for _ in range(hands):
        cards = rng.sample(rules.deck, 6)
        hand = Hand(rules, cards[:3], cards[3:], rng.randrange(rules.target), rng.randrange(rules.target))
        while not hand.is_over:
            yield hand
            actions = [action for action in hand.legal_actions() if action != MAZO or rng.random() < 0.2]
            hand.apply(rng.choice(actions))


def after(text: str, mano: str, pie: str, score: tuple[int, int] = (0, 0), **fields: Any) -> Hand:
    """The hand after these action names."""
    hand = Hand(make_rules("base", fields), parse_cards(mano), parse_cards(pie), *score)
    for word in text.split():
        hand.apply(parse_action(word))
    return hand


def redealt(hand: Hand, rng: random.Random) -> Hand | None:
    """The same history with other hidden cards for the player who is not to move, None if none was found.

    What an accepted Envido has shown stays as it was.
    """
    player = hand.to_move
    assert player is not None
    other = 1 - player
    held = hand.held(other)
    played = [card for card in hand.cards[other] if card not in held]
    known = {*hand.cards[player], *played}
    for _ in range(300):
        hidden = rng.sample([card for card in range(DECK_SIZE) if card not in known], len(held))
        cards = list(hand.cards)
        cards[other] = (*hidden, *played)
        shown = hand.envido_shown()[other]
        if shown is not None and envido_value(cards[other]) != shown:
            continue
        twin = Hand(hand.rules, cards[0], cards[1], *hand.start_scores)
        for _, action in hand.history:
            if not twin.is_over:  # the other's Envido may have ended the match
                twin.apply(action)
        if twin.scores == hand.scores and twin.envido_shown() == hand.envido_shown():
            return twin
    return None


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_every_mix_is_a_distribution(rules: Rules) -> None:
    for hand in random_spots(rules, seed=1, hands=250):
        for name in BASELINES:
            probs = np.array(list(mix(name, hand).values()))
            assert probs.min() >= 0.0
            assert probs.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_hidden_cards_change_nothing(rules: Rules) -> None:
    rng = random.Random(2)
    compared = accepted = 0
    for hand in random_spots(rules, seed=3, hands=300):
        twin = redealt(hand, rng)
        if twin is None:
            continue
        compared += 1
        accepted += hand.envido_accepted
        for name in BASELINES:
            assert mix(name, hand) == mix(name, twin), hand.history
    assert compared > 1200
    assert accepted > 100 or not rules.envido


@pytest.mark.parametrize(
    ("name", "hand", "expected"),
    [
        ("random", after("", "1E 7E 3O", "4B 5B 6B"), dict.fromkeys([0, 6, 22, 40, 43, 44, 45, 48], 1 / 8)),
        ("caller", after("truco", "1E 7E 3O", "4B 5B 6B"), {QUIERO: 1.0}),
        ("caller", after("envido", "1E 7E 3O", "4B 5B 6B"), {QUIERO: 1.0}),
        (
            "caller",
            after("1E", "1E 7E 3O", "4B 5B 6B"),
            {ENVIDO: CALL_RATE, TRUCO: CALL_RATE * (1 - CALL_RATE), parse_action("4B"): (1 - CALL_RATE) ** 2},
        ),
        ("maniac", after("", "1E 7E 3O", "4B 5B 6B"), {FALTA_ENVIDO: 1.0}),
        ("maniac", after("truco", "1E 7E 3O", "4B 5B 6B"), {FALTA_ENVIDO: 1.0}),
        ("maniac", after("truco retruco", "1E 7E 3O", "4B 5B 6B"), {VALE_CUATRO: 1.0}),
        ("maniac", after("envido falta_envido", "1E 7E 3O", "4B 5B 6B"), {QUIERO: 1.0}),
    ],
)
def test_simple_players(name: str, hand: Hand, expected: dict[int, float]) -> None:
    assert {action: p for action, p in mix(name, hand).items() if p > 0} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("hand", "action"),
    [
        # Card play: the lowest card that wins; the lowest where none does.
        (after("12E", "12E 4C 5C", "3E 11O 1C"), "1C"),
        (after("1E", "1E 4C 5C", "12E 11O 6B"), "6B"),
        # After losing trick 1 a card that cannot win is not shown; one that can is played.
        (after("3E 4B 2C", "3E 2C 4C", "4B 10B 11O"), "mazo"),
        (after("12E 4B 10C", "12E 10C 4C", "4B 10B 11O"), "11O"),
        # Parda in trick 1: the stronger card leads trick 2, and certain winners call.
        (after("3E 3O", "3E 4C 10C", "3O 4B 5B"), "10C"),
        (after("3E 3O 4C", "3E 4C 10C", "3O 5B 1B"), "truco"),
        # A last card that wins for certain raises to the top; one that cannot win is folded, or bluffs.
        (after("3E 4B 4C 10B 10E", "3E 4C 12C", "4B 10B 10E"), "truco"),
        (after("3E 4B 4C 10B 10E truco retruco", "3E 4C 12C", "4B 10B 10E"), "vale_cuatro"),
        # Answers by what it can win: a poor hand declines, a good one accepts, the best raises.
        (after("truco", "1E 7E 3O", "4B 5C 6O", envido=False), "no_quiero"),
        (after("truco", "4B 5C 6O", "12B 2C 3O", envido=False), "quiero"),
        (after("truco", "4B 5C 6O", "1E 1B 3O", envido=False), "retruco"),
        # Envido by value and position.
        (after("", "7E 5E 10C", "4B 5B 6B"), "falta_envido"),
        (after("4B", "4B 5B 6B", "6E 5E 4O"), "real_envido"),
        (after("4B", "4B 5B 6B", "7E 12E 4O"), "envido"),
        (after("envido", "6E 5E 4O", "10E 11B 4B", fold_vs_envido="both"), "no_quiero"),
        (after("envido", "6E 5E 4O", "7C 4C 3B"), "envido"),
        (after("falta_envido", "6E 5E 4O", "7C 1C 3B"), "no_quiero"),
        # Near the end: who loses the match by refusing accepts, or raises, since more cannot be lost.
        (after("truco", "4B 5C 6O", "4C 6B 5O", score=(14, 0), envido=False), "retruco"),
        (after("falta_envido", "4B 5C 6O", "7C 1C 3B", score=(14, 5)), "quiero"),
        (after("4B", "4B 5C 6O", "4C 6B 5O", score=(14, 5), envido=False), "truco"),
    ],
)
def test_heuristic_in_plain_spots(hand: Hand, action: str) -> None:
    probs = mix("heuristic", hand)
    assert max(probs, key=lambda word: probs[word]) == parse_action(action), probs


def test_heuristic_bluffs_at_fixed_rates() -> None:
    lost = mix("heuristic", after("3E 4B 4C 10B 1E", "3E 4C 12C", "4B 10B 1E"))
    assert lost == pytest.approx({parse_action("12C"): 0.0, TRUCO: 0.2, MAZO: 0.8})


def test_envido_chances_are_those_of_the_count() -> None:
    """Shares of all hands, within 3 % of the exact chances of the rules' regression numbers."""
    exact = {7: (0.4066, 0.3182), 20: (0.4339, 0.4041), 27: (0.8325, 0.7519), 31: (0.9748, 0.9459)}
    for value, chances in exact.items():
        for player in (0, 1):
            assert envido_chance(value, player, 0) == pytest.approx(chances[player], abs=0.03)


def test_round_chance_of_random_hands() -> None:
    """The estimate of the chance by cards is fair where it says even, and exact where nothing is hidden."""
    last = after("3E 4B 4C 10B 10E", "3E 4C 12C", "4B 10B 10E")
    assert plan(engine.encode(last), 0) == (1.0, parse_action("12C"))
    tie = after("3E", "3E 4C 5C", "1E 3O 4B")  # with the strongest card behind, parda leaves no way to lose
    assert plan(engine.encode(tie), 1) == (1.0, parse_action("3O"))
    chances = [
        plan(engine.encode(hand), 0)[0] for hand in random_spots(PRESETS["base"], 5, 400) if not hand.history
    ]
    assert 0.45 < np.mean(chances) < 0.6


def test_win_chances() -> None:
    assert win_chance(0, 5) == 1.0
    assert win_chance(5, -1) == 0.0
    assert win_chance(15, 15) == pytest.approx(0.5)
    assert win_chance(14, 15) + win_chance(15, 14) == pytest.approx(1.0)
    assert round_worth(1, 1, 1, 0.3) == pytest.approx(0.3)
    assert round_worth(-2, 1, 1, 0.3) == 1.0


@pytest.mark.parametrize("name", BASELINES)
def test_openspiel_policy(name: str) -> None:
    rules = PRESETS["argentino"]
    policy = baseline_policy(name, rules, (3, 9))
    rng = random.Random(6)
    for _ in range(20):
        state = policy.game.new_initial_state()
        for card in rng.sample(rules.deck, 6):
            state.apply_action(card)
        while not state.is_terminal():
            probs = policy.action_probabilities(state)
            assert list(probs) == state.legal_actions()
            assert sum(probs.values()) == pytest.approx(1.0)
            assert {a: p for a, p in probs.items() if p > 0} == {
                a: p for a, p in mix(name, state.hand).items() if p > 0
            }
            if state.hand.decision is Decision.ANSWER_TRUCO:
                assert probs[MAZO] == 0.0
            state.apply_action(rng.choice(state.legal_actions()))


def test_unknown_baseline() -> None:
    with pytest.raises(
        ValueError, match="unknown baseline 'shark', allowed: random, caller, maniac, heuristic"
    ):
        baseline_code("shark")
