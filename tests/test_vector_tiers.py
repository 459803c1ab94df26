"""The best response at tier level: plain recursion over classes, bounds from both sides, decks without suits."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from game.truco.actions import TRUCO
from game.truco.cards import envido_value, tier
from game.truco.hand import Hand
from solver.truco.vector.cfr.evaluate import policy_value
from solver.truco.vector.response.cards.response import best_response
from solver.truco.vector.response.tiers.response import tier_exploitability, tier_response
from tests.test_vector_certify import GAMES, LADDER, SEVEN, Exploiter, solved

SIX = "1E 4E 4C 5B 6E 7E"


class TierExploiter(Exploiter):
    """He who is blind to suits; a line is a deal."""

    def look(self, action: int) -> Any:
        return ("card", tier(action)) if action < TRUCO else action

    def expected(self) -> float:
        """Expected utility over all deals."""
        game = self.policy.game
        classes: dict[Any, list[tuple[Hand, float]]] = {}
        for own in combinations(game.rules.deck, 3):
            rest = [card for card in game.rules.deck if card not in own]
            for other in combinations(rest, 3):
                dealt = (own, other) if self.player == 0 else (other, own)
                held = (tuple(sorted(map(tier, own))), envido_value(own))
                classes.setdefault(held, []).append((Hand(game.rules, *dealt, *game.score), 1.0))
        return sum(self.best(lines) for lines in classes.values()) / game.holdings.num_deals


@pytest.mark.parametrize("name", ["base", "argentino", "no envido"])
def test_the_value_is_that_of_recursion_over_classes(name: str) -> None:
    policy = solved(SIX, **GAMES[name])
    expected = [TierExploiter(policy, player).expected() for player in (0, 1)]
    for player in (0, 1):
        assert tier_response(policy, player).value == pytest.approx(expected[player], abs=1e-9)
    assert tier_exploitability(policy) == pytest.approx(sum(expected) / 2, abs=1e-9)


@pytest.mark.parametrize("name", GAMES)
def test_it_lies_between_the_policy_and_real_cards(name: str) -> None:
    policy = solved(SEVEN, **GAMES[name])
    value = policy_value(policy)
    real, fast = [], []
    for player in (0, 1):
        fast.append(tier_response(policy, player).value)
        real.append(best_response(policy, player).value)
        assert fast[-1] >= (value if player == 0 else -value) - 1e-6
        assert fast[-1] <= real[-1] + 1e-9


@pytest.mark.parametrize("name", GAMES)
def test_without_equal_tiers_it_is_the_best_response_with_real_cards(name: str) -> None:
    policy = solved(LADDER, **GAMES[name])
    for player in (0, 1):
        assert tier_response(policy, player).value == pytest.approx(
            best_response(policy, player).value, abs=1e-9
        )
