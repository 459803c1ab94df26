"""Envido alone against a linear program, cards alone against bounds; what mano gets in each."""

from __future__ import annotations

import pytest

from game.truco.rules import make_rules
from solver.truco.vector.certify import best_response
from solver.truco.vector.solve import VectorSolver, schedule_step
from solver.truco.vector.subgames import CardsAlone, EnvidoAlone, envido_program
from solver.truco.vector.tier_response import tier_response
from solver.truco.vector.trunk_response import Policy

SMALL = {"deck": "1E 4E 4C 4B 5B 5O 6E 7E", "target": 3}


def test_envido_alone_is_the_linear_program() -> None:
    game = EnvidoAlone(make_rules("base", SMALL))
    value = envido_program(game, by_value=False)
    solver = VectorSolver(game)
    for iteration in range(2000):
        solver.iterate(schedule_step("dcfr", iteration + 1))
    policy = Policy.of(solver)
    mano, pie = (tier_response(policy, player) for player in (0, 1))
    # The value lies between what pie's and mano's best responses leave.
    assert -pie - 1e-9 <= value <= mano + 1e-9
    assert mano + pie < 2e-6


def test_the_program_of_the_full_deck_is_its_own_mirror() -> None:
    """The whole deck by Envido values; the least that pie can hold mano to is the most that mano can get."""
    game = EnvidoAlone(make_rules())
    assert len(game.holdings.values) == 22
    least, most = envido_program(game, by_value=True), envido_program(game, by_value=True, of_pie=True)
    assert least == pytest.approx(most, abs=1e-8)
    assert -0.5 < least < 0.5


def test_cards_alone_are_solved_with_real_cards() -> None:
    solver = VectorSolver(CardsAlone(make_rules("base", {"deck": SMALL["deck"]})))
    for iteration in range(400):
        values = solver.iterate(schedule_step("dcfr", iteration + 1))
    policy = Policy.of(solver)
    fast = [tier_response(policy, player) for player in (0, 1)]
    assert sum(fast) / 2 < 1e-4
    real = [best_response(policy, player).value for player in (0, 1)]
    assert all(a <= b + 1e-9 for a, b in zip(fast, real, strict=True))
    assert -fast[1] - 1e-5 <= values[0] <= fast[0] + 1e-5
