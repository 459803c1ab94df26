"""The exact best response to the vector engine's policy: against OpenSpiel's game and plain recursion over hands."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from game.truco.actions import QUIERO
from game.truco.cards import parse_cards
from game.truco.hand import Hand
from game.truco.rules import make_rules
from solver import best_response as flat_response
from solver.flat import flatten
from solver.flat_policy import policy_vectors
from solver.storage import StorageError
from solver.truco.hand.openspiel_policy import load_hand_game
from solver.truco.vector.cfr.evaluate import policy_value
from solver.truco.vector.cfr.schedule import Step
from solver.truco.vector.cfr.solver import VectorSolver
from solver.truco.vector.model.abstraction import Abstraction
from solver.truco.vector.model.game import Game
from solver.truco.vector.policy.locate import action_mix
from solver.truco.vector.policy.openspiel_policy import VectorPolicy
from solver.truco.vector.response.cards import response as certify
from solver.truco.vector.response.cards.response import Policy, best_response

EIGHT = "1E 4E 4C 4B 5B 5O 6E 7E"
SEVEN = "1E 4E 4C 4B 5B 6E 7E"


def solved(
    deck: str,
    score: tuple[int, int] = (0, 0),
    preset: str = "base",
    iterations: int = 3,
    trim: float = 0.0,
    chains: tuple[str, str, str, str] = ("none", "none", "none", "none"),
    **rules: Any,
) -> Policy:
    """The average strategy after a few iterations, with a coarse abstraction so that merges matter."""
    overrides = {"deck": deck, **rules}
    values = "asked" if chains[0] == "calls" else "five"
    abstraction = Abstraction(("caller", "none", "none", "none"), (values, "five", "none", "none"), chains)
    solver = VectorSolver(Game(make_rules(preset, overrides), score, None, abstraction))
    for i in range(iterations):
        # Early iterations do not count: some infosets keep sums of zero, where the policy is uniform.
        solver.iterate(Step(1.0, 0.5, float(i > 0), False))
    if trim:
        solver.trim(trim)
    return Policy.of(solver)


# ------------------------------------------------------------------------------ a plain recursion over hands


class Exploiter:
    """Best response with given own cards by recursion over what he sees; `lines` are the other's possible hands."""

    def __init__(self, policy: Policy, player: int) -> None:
        self.policy, self.player = policy, player
        self.tables = policy.tables

    def value(self, cards: tuple[int, ...]) -> float:
        """Sum of utility over the other's hands."""
        rules, score = self.policy.game.rules, self.policy.game.score
        rest = [card for card in rules.deck if card not in cards]
        lines = []
        for other in combinations(rest, 3):
            dealt = (cards, other) if self.player == 0 else (other, cards)
            lines.append((Hand(rules, *dealt, *score), 1.0))
        return self.best(lines)

    def best(self, lines: list[tuple[Hand, float]]) -> float:
        hand = lines[0][0]
        if hand.is_over:
            return sum(reach * self.utility(line) for line, reach in lines)
        mine = hand.to_move == self.player
        moved: dict[Any, list[tuple[Hand, float, int]]] = {}
        for line, reach in lines:
            if mine:
                for look, action in {self.look(action): action for action in line.legal_actions()}.items():
                    moved.setdefault(look, []).append((line, reach, action))
                continue
            for action, probability in action_mix(self.policy.game, self.tables, line).items():
                if probability > 0.0:
                    moved.setdefault(self.look(action), []).append((line, reach * probability, action))
        values = [self.after(part) for part in moved.values()]
        return max(values) if mine else sum(values)

    def look(self, action: int) -> Any:
        """What he tells an action from others by."""
        return action

    def after(self, moved: list[tuple[Hand, float, int]]) -> float:
        """Value after actions of one look by either player, told apart by what they show."""
        seen: dict[Any, list[tuple[Hand, float]]] = {}
        for line, reach, action in moved:
            hand = line.copy()
            hand.apply(action)
            sees = hand.envido_shown() if action == QUIERO else None
            seen.setdefault((sees, hand.scores, hand.is_over), []).append((hand, reach))
        return sum(self.best(part) for part in seen.values())

    def utility(self, hand: Hand) -> float:
        mano, pie = hand.points_won()
        return float(mano - pie) if self.player == 0 else float(pie - mano)


GAMES: dict[str, dict[str, Any]] = {
    "base": {"target": 3, "max_envido": 1},
    "argentino": {"preset": "argentino", "target": 3, "max_envido": 1},
    "longer": {"target": 4, "max_envido": 2, "score": (1, 0)},
    "any": {"preset": "argentino", "raise_right": "any", "target": 3, "max_envido": 1},
    "allow": {"envido_after_truco": "allow", "fold_vs_envido": "both", "target": 3, "max_envido": 1},
    "no envido": {"envido": False},
    "calls": {"target": 4, "max_envido": 2, "chains": ("calls", "exact", "none", "none")},
    "trimmed": {"target": 4, "max_envido": 2, "iterations": 8, "trim": 0.1},
}


@pytest.mark.parametrize("name", GAMES)
def test_values_of_hands(name: str) -> None:
    """Hidden cards, equal tiers and suits: single hands of a deck of seven."""
    policy = solved(SEVEN, **GAMES[name])
    deck = list(policy.game.rules.deck)
    order = np.argsort(policy.game.holdings.card_tier, kind="stable")
    for player in (0, 1):
        response = certify._Response(policy, player)
        values = response.backward(response._leaves(None, None))["node", 0]
        cards = tuple(sorted(parse_cards(("4E 5B 7E", "4C 4B 1E")[player])))
        hand = tuple(sorted(int(np.flatnonzero(order == deck.index(card))[0]) for card in cards))
        expected = Exploiter(policy, player).value(cards)
        assert values[response.table.deal.hand_at[hand]] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("deck", "rules"),
    [
        ("1E 4B 4C 5O 7B 7E", {"target": 2, "max_envido": 1, "preset": "argentino"}),
        ("1E 4B 4C 4E 5O 5E 7B", {"envido": False, "target": 2}),
    ],
)  # fmt: skip
def test_whole_game(deck: str, rules: dict[str, Any]) -> None:
    """Best responses and the policy's own value in the flattened OpenSpiel game."""
    policy = solved(deck, **rules)
    flat = flatten(load_hand_game(policy.game.rules, policy.game.score), merge_deals=True)
    vectors = policy_vectors(flat, VectorPolicy(policy.game, policy.tables))
    for player in (0, 1):
        expected = flat_response.best_response(flat, player, vectors[1 - player])[0]
        assert best_response(policy, player).value == pytest.approx(expected, abs=1e-9)
    assert policy_value(policy) == pytest.approx(flat_response.game_value(flat, vectors), abs=1e-6)


def test_trim() -> None:
    """What stays of a mix are the actions with the share or more, in the same proportions."""
    rules: dict[str, Any] = {"target": 4, "max_envido": 2, "iterations": 8}
    whole, trimmed = solved(SEVEN, **rules), solved(SEVEN, trim=0.1, **rules)
    rng = np.random.default_rng(0)
    dropped = 0
    for _ in range(300):
        cards = [int(card) for card in rng.permutation(list(whole.game.rules.deck))[:6]]
        hand = Hand(whole.game.rules, tuple(sorted(cards[:3])), tuple(sorted(cards[3:])), 0, 0)
        while not hand.is_over:
            before = action_mix(whole.game, whole.tables, hand)
            after = action_mix(trimmed.game, trimmed.tables, hand)
            # Up to three cards of one tier share what their action has.
            small = {a for a, share in before.items() if share < 0.033}
            assert all(after[a] == 0.0 for a in small)
            kept = sum(before[a] for a, share in after.items() if share > 0.0)
            for a, share in after.items():
                assert share == pytest.approx(before[a] / kept if share > 0.0 else 0.0, abs=1e-6)
            dropped += sum(before[a] > 0.0 and after[a] == 0.0 for a in before)
            hand.apply(int(rng.choice(list(before))))
    assert dropped > 50


def test_checkpoint(tmp_path: Path) -> None:
    """An interrupted run goes on where it stopped and ends in the same bits; parts of another policy are refused."""
    policy = solved(EIGHT, target=3, max_envido=1)

    def stop(share: float) -> None:
        if share >= 0.5:
            raise KeyboardInterrupt

    for player in (0, 1):
        whole = best_response(policy, player)
        with pytest.raises(KeyboardInterrupt):
            best_response(policy, player, stop, tmp_path)
        kept = len(list(tmp_path.glob(f"{player}-*")))
        assert kept > 0
        assert best_response(policy, player, None, tmp_path).value == whole.value
    other = solved(EIGHT, target=3, max_envido=1, iterations=2)
    with pytest.raises(StorageError, match="another policy"):
        best_response(other, 0, None, tmp_path)


def test_leaks() -> None:
    """The list is sorted, with probabilities, and what the best response gains after the trunk is positive in all."""
    policy = solved(EIGHT, target=3, max_envido=1)
    for player in (0, 1):
        response = best_response(policy, player, leaks=True)
        own_value = policy_value(policy) * (1 if player == 0 else -1)
        assert response.value >= own_value - 1e-6
        gains = [leak.gain for leak in response.leaks]
        assert gains == sorted(gains, reverse=True)
        assert sum(gains) >= -1e-6
        assert all(-1e-9 <= leak.mass <= 1 + 1e-9 for leak in response.leaks)
