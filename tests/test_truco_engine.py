"""The numba engine of the hand is `game.truco.hand.Hand`, move by move, for the presets and every rule field.

One kernel plays a batch of random hands on the engine and records what it saw before and after every move;
plain Python then replays the same moves on `Hand`.
"""

import random
from typing import Any

import numpy as np
import pytest

from game.truco.actions import (
    ENVIDO,
    FALTA_ENVIDO,
    MAZO,
    NO_QUIERO,
    QUIERO,
    REAL_ENVIDO,
    RETRUCO,
    TRUCO,
    VALE_CUATRO,
)
from game.truco.equity import simple_equity
from game.truco.hand import Decision, Hand
from game.truco.rules import PRESETS, Rules, make_rules
from solver.jit import njit
from solver.truco.hand import engine

PRESET_HANDS = 20_000
OVERRIDE_HANDS = 2_000
MAX_MOVES = 24
"""More than the longest hand: 6 cards, 6 Truco words, 5 Envido calls and their answer."""

OVERRIDES: dict[str, dict[str, Any]] = {
    "target 1": {"target": 1},
    "target 30": {"target": 30},
    "malas_buenas": {"target": 30, "falta": "malas_buenas"},
    "no envido": {"envido": False},
    "values": {"envido_reveal": "values"},
    "buenas": {"envido_reveal": "buenas"},
    "any raise": {"raise_right": "any"},
    "late envido": {"envido_after_truco": "allow"},
    "one envido": {"max_envido": 1},
    "three envidos": {"max_envido": 3},
    "adds": {"falta_accept": "adds"},
    "fold pays round": {"fold_vs_envido": "round"},
    "fold pays both": {"fold_vs_envido": "both"},
    "bonus": {"first_trick_fold_bonus": 1},
    "no bonus": {"first_trick_fold_bonus": 0},
    "everything": {
        "target": 30,
        "falta": "malas_buenas",
        "falta_accept": "adds",
        "max_envido": 3,
        "envido_after_truco": "allow",
        "raise_right": "any",
    },
}


@njit
def record_hands(
    rules: np.ndarray,
    rng: np.random.Generator,
    cards: np.ndarray,
    scores: np.ndarray,
    movers: np.ndarray,
    legal_masks: np.ndarray,
    actions: np.ndarray,
    lengths: np.ndarray,
) -> None:
    """Plays hand i from cards[i] and scores[i, 0], and records its moves.

    Before move m: movers[i, m] and legal_masks[i, m] (bit per action), then actions[i, m] and after it
    scores[i, m + 1]; lengths[i] moves in all. Folds are rare, so that betting and tricks run deep.
    """
    state = np.empty(engine.STATE_SIZE, np.int32)
    legal = np.empty(engine.MAX_LEGAL, np.int32)
    keep = np.ones(MAZO + 1)
    for i in range(len(cards)):
        engine.deal(state, cards[i], scores[i, 0, 0], scores[i, 0, 1])
        keep[TRUCO:QUIERO] = rng.random()
        keep[NO_QUIERO:] = 0.3 * rng.random()
        move = 0
        while state[engine.OVER] == 0:
            n = engine.legal(state, rules, legal)
            mask = np.uint64(0)
            for k in range(n):
                mask |= np.uint64(1) << np.uint64(legal[k])
            action = legal[int(n * rng.random())]
            while rng.random() > keep[action]:
                action = legal[int(n * rng.random())]
            movers[i, move] = engine.mover(state)
            legal_masks[i, move] = mask
            actions[i, move] = action
            engine.apply(state, rules, action)
            move += 1
            scores[i, move, 0], scores[i, move, 1] = state[engine.SCORE], state[engine.SCORE + 1]
        lengths[i] = move


def random_deals(rng: np.random.Generator, hands: int, target: int) -> tuple[np.ndarray, np.ndarray]:
    """Cards int32[hands, 6] and start scores int32[hands, 2], half of these near the target."""
    cards = np.argsort(rng.random((hands, 40)), axis=1)[:, :6].astype(np.int32)
    anywhere = rng.integers(0, target, (hands, 2))
    near = np.maximum(0, target - rng.integers(1, 9, (hands, 2)))
    return cards, np.where(rng.random((hands, 2)) < 0.5, anywhere, near).astype(np.int32)


def check_hands(rules: Rules, hands: int, seed: int) -> list[list[int]]:
    """Plays `hands` random hands on both and compares every step; returns the actions of each hand."""
    rng = np.random.default_rng(seed)
    cards, start = random_deals(rng, hands, rules.target)
    scores = np.zeros((hands, MAX_MOVES + 1, 2), np.int32)
    scores[:, 0] = start
    movers, actions = np.zeros((2, hands, MAX_MOVES), np.int32)
    masks = np.zeros((hands, MAX_MOVES), np.uint64)
    lengths = np.zeros(hands, np.int64)
    record_hands(engine.rules_vector(rules), rng, cards, scores, movers, masks, actions, lengths)
    traces = zip(
        cards.tolist(),
        scores.tolist(),
        movers.tolist(),
        masks.tolist(),
        actions.tolist(),
        lengths.tolist(),
        strict=True,
    )
    for dealt, marks, who, legal, played, length in traces:
        hand = Hand(rules, dealt[:3], dealt[3:], *marks[0])
        for move in range(length):
            allowed = hand.legal_actions()
            if hand.decision is Decision.ANSWER_TRUCO:
                allowed.remove(MAZO)
            assert not hand.is_over, hand.history
            assert hand.to_move == who[move], hand.history
            assert sum(1 << action for action in allowed) == legal[move], hand.history
            hand.apply(played[move])
            assert list(hand.scores) == marks[move + 1], hand.history
        assert hand.is_over, hand.history
    return [played[:length] for played, length in zip(actions.tolist(), lengths.tolist(), strict=True)]


@pytest.mark.parametrize("preset", PRESETS)
def test_presets(preset: str) -> None:
    """The rare situations must come up too, or agreement would prove little."""
    played = check_hands(PRESETS[preset], PRESET_HANDS, seed=1)
    for rare in [
        [ENVIDO, ENVIDO, REAL_ENVIDO, FALTA_ENVIDO, QUIERO],
        [TRUCO, ENVIDO, REAL_ENVIDO],
        [TRUCO, RETRUCO, VALE_CUATRO, QUIERO],
        [ENVIDO, ENVIDO, MAZO],
    ]:
        found = sum(actions[i : i + len(rare)] == rare for actions in played for i in range(len(actions)))
        assert found >= 20, rare
    assert sum(sum(action < TRUCO for action in actions) == 6 for actions in played) > 0.05 * PRESET_HANDS


@pytest.mark.parametrize("override", OVERRIDES)
@pytest.mark.parametrize("preset", PRESETS)
def test_overrides(preset: str, override: str) -> None:
    check_hands(make_rules(preset, OVERRIDES[override]), OVERRIDE_HANDS, seed=2)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("match", [False, True])
def test_utility_table(preset: str, match: bool) -> None:
    rules = PRESETS[preset]
    equity = simple_equity(rules.target) if match else None
    rng = random.Random(3)
    for _ in range(300):
        cards = rng.sample(rules.deck, 6)
        start = rng.randrange(rules.target), rng.randrange(rules.target)
        hand = Hand(rules, cards[:3], cards[3:], *start)
        while not hand.is_over:
            hand.apply(rng.choice(hand.legal_actions()))
        won = hand.points_won()
        expected = 2 * equity.after_hand(*hand.scores) - 1 if equity else won[0] - won[1]
        assert engine.utility_table(rules, start, equity)[hand.scores] == pytest.approx(expected)


@pytest.mark.parametrize("preset", PRESETS)
def test_encode(preset: str) -> None:
    """The encoded hand is the state that the engine itself reaches, at every decision and at the end."""
    rules = PRESETS[preset]
    vector = engine.rules_vector(rules)
    rng = random.Random(4)
    for _ in range(500):
        cards = rng.sample(rules.deck, 6)
        start = rng.randrange(rules.target), rng.randrange(rules.target)
        hand = Hand(rules, cards[:3], cards[3:], *start)
        state = np.empty(engine.STATE_SIZE, np.int32)
        engine.deal(state, np.array(cards, np.int32), *start)
        while not hand.is_over:
            action = rng.choice(hand.legal_actions())
            hand.apply(action)
            engine.apply(state, vector, action)
            encoded = engine.encode(hand)
            np.testing.assert_array_equal(encoded, state)
            assert (encoded[engine.SCORE], encoded[engine.SCORE + 1]) == hand.scores
            assert encoded[engine.OVER] == hand.is_over
            if not hand.is_over:
                assert engine.mover(encoded) == hand.to_move


def test_mazo_in_answer_to_truco_pays_as_no_quiero() -> None:
    """The engine leaves mazo out there, yet plays it when a history holds it (R-31)."""
    vector = engine.rules_vector(PRESETS["argentino"])
    ends = []
    for answer in (MAZO, NO_QUIERO):
        state = np.empty(engine.STATE_SIZE, np.int32)
        engine.deal(state, np.arange(6, dtype=np.int32), 3, 4)
        engine.apply(state, vector, TRUCO)
        engine.apply(state, vector, answer)
        ends.append((state[engine.SCORE], state[engine.SCORE + 1], state[engine.OVER]))
    assert ends == [(4, 4, 1), (4, 4, 1)]


@pytest.mark.parametrize("field", [{"hand_size": 2}, {"deck": tuple(range(39))}, {"envido_reveal": "hands"}])
def test_other_rules_are_refused(field: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="full-hand engine plays"):
        engine.rules_vector(Rules(**field))
