"""Envido alone by linear programs, mano's and pie's, and by the vector engine: all must agree."""

from __future__ import annotations

import pytest

from game.truco.rules import make_rules
from solver.truco.vector.cfr.average import Policy
from solver.truco.vector.cfr.run import iterate
from solver.truco.vector.cfr.solver import VectorSolver
from solver.truco.vector.parts import EnvidoAlone, envido_program
from solver.truco.vector.response.tiers.response import tier_response

SMALL = "1E 4E 4C 4B 5B 5O 6E 7E"


@pytest.mark.parametrize(
    ("rules", "by_value"), [({}, True), ({"deck": SMALL}, False), ({"deck": SMALL, "target": 3}, False)]
)
def test_the_program_is_its_own_mirror(rules: dict[str, object], by_value: bool) -> None:
    """The least that pie can hold mano to is the most that mano can get."""
    game = EnvidoAlone(make_rules("base", rules), by_value)
    if not rules:
        assert game.holdings.num_classes == 22
        assert game.holdings.num_deals == 76_767_600
    least = envido_program(game)
    assert least == pytest.approx(envido_program(game, of_pie=True), abs=1e-8)
    assert -0.5 < least < 0.0  # pie answers after having seen what mano says


def test_the_engine_finds_the_value_of_the_program() -> None:
    """Best responses to the engine's Envido enclose the value of the linear program closely."""
    game = EnvidoAlone(make_rules("base", {"deck": SMALL}))
    solver = VectorSolver(game)
    iterate(solver, 1500)
    policy = Policy.of(solver)
    mano, pie = (tier_response(policy, player).value for player in (0, 1))
    value = envido_program(game)
    assert -pie - 1e-7 < value < mano + 1e-7
    assert mano + pie < 1e-4
