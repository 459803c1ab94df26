"""Regret matching in float32: shares of tiny regrets, and a score whose regrets become tiny."""

from __future__ import annotations

import tracemalloc

import numba
import numpy as np
import pytest

from game.truco.equity import simple_equity
from game.truco.rules import make_rules
from solver.truco.vector.cfr.average import Policy, tables_of
from solver.truco.vector.cfr.regrets import match_regrets
from solver.truco.vector.cfr.run import iterate
from solver.truco.vector.cfr.solver import VectorSolver, memory_bytes
from solver.truco.vector.model.abstraction import Abstraction
from solver.truco.vector.model.game import Game
from solver.truco.vector.policy.locate import FORCED, locate
from solver.truco.vector.response.cards.response import best_response
from solver.truco.vector.response.tiers.response import tier_response
from tests.test_vector_lookup import flat_table, random_decisions, random_tables


@pytest.mark.parametrize("actions", [2, 3, 4])
@pytest.mark.parametrize("size", [1.0, 1e-20, 1e-39, 1e-44, 0.0])
def test_shares_of_any_size_are_a_mix(actions: int, size: float) -> None:
    rng = np.random.default_rng(1)
    n = 9
    regrets = (rng.normal(size=actions * n) * size).astype(np.float32)
    mix = np.full(actions * n, np.nan, np.float32)
    match_regrets(regrets, 0, n, actions, n, mix, n)
    shares = mix.reshape(actions, n)
    np.testing.assert_allclose(shares.sum(axis=0), 1.0, rtol=1e-5)
    positive = np.maximum(regrets.reshape(actions, n), 0).astype(np.float64)
    total = positive.sum(axis=0)
    if size > 1e-25:
        expected = np.where(total > 0, positive / np.where(total > 0, total, 1), 1 / actions)
        np.testing.assert_allclose(shares, expected, rtol=1e-4, atol=1e-7)


def test_a_hand_that_decides_the_match_stays_finite() -> None:
    """At 14-14 calls that cannot pay die out, and their regrets with them."""
    rules = make_rules("base", {"deck": "1E 4E 4C 4B 5B 5O 6E 7E"})
    solver = VectorSolver(Game(rules, (14, 14), simple_equity(rules.target), Abstraction()))
    values = iterate(solver, 60)
    assert np.isfinite(values).all()
    assert abs(values.sum()) < 0.02
    for table in (*solver.trunk_regrets, solver.regrets, solver.sums):
        assert np.isfinite(table).all()


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
def test_the_number_of_threads_changes_no_bit() -> None:
    rules = make_rules("base", {"deck": "1E 4E 4C 4B 5B 6E 7E", "target": 4, "max_envido": 2})
    game = Game(rules, (0, 0), None, Abstraction())
    before, found = numba.get_num_threads(), []
    try:
        for threads in (1, 2):
            numba.set_num_threads(threads)
            solver = VectorSolver(game)
            iterate(solver, 4)
            policy = Policy.of(solver)
            values = [respond(policy, seat) for respond in (best_response, tier_response) for seat in (0, 1)]
            found.append((solver, [getattr(value, "value", value) for value in values]))
    finally:
        numba.set_num_threads(before)
    (one, values), (two, others) = found
    assert values == others
    np.testing.assert_array_equal(one.regrets, two.regrets)
    np.testing.assert_array_equal(one.position_sums, two.position_sums)


@pytest.mark.parametrize("chains", ["none", "exact"])
def test_the_memory_that_is_told_is_what_it_takes(chains: str) -> None:
    """Against numpy's own count, from making the solver to the end of an iteration."""
    rules = make_rules("base", {"deck": "1E 7E 6E 1B 7B 6B 1O 7O 6O"})
    merges = Abstraction(("none",) * 4, ("none",) * 4, (chains,) * 4)  # type: ignore[arg-type]
    iterate(VectorSolver(Game(rules, (0, 0), None, merges)), 1)  # compiles
    game = Game(rules, (0, 0), None, merges)
    told = memory_bytes(game)
    tracemalloc.start()
    solver = VectorSolver(game)
    tables = (*solver.trunk_regrets, *solver.trunk_sums, solver.position_regrets, solver.position_sums)
    assert sum(table.nbytes for table in (*tables, solver.regrets, solver.sums)) < told
    iterate(solver, 1)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.9 * taken < told < 1.1 * taken


def test_trimming_drops_small_shares_and_nothing_else() -> None:
    """Against the plain look-up, at decisions of random hands; an action at the bound is kept."""
    merges = Abstraction(("none",) * 4, ("five",) * 4, ("calls",) * 4)
    game = Game(make_rules("base", {"deck": "1E 7E 3O 3E 4B 4E 12C"}), (0, 0), None, merges)
    before = random_tables(game, 0.8, 3)
    solver = VectorSolver(game)
    for own, given in zip(solver.trunk_sums, before.trunk_sums, strict=True):
        own[:] = given
    solver.position_sums[: game.position_entries] = before.position_sums
    solver.sums[: game.layout.entries] = before.sums
    solver.trim(0.3)
    after = tables_of(solver)
    kept = {True: 0, False: 0}
    for hand in random_decisions(game, 300, 4):
        place = locate(game, hand)
        if place.table == FORCED:
            continue
        entries = [place.begin + k * place.stride for k in range(len(place.choices))]
        old, new = flat_table(before, place.table)[entries], flat_table(after, place.table)[entries]
        expected = np.where(old < 0.3 * old.sum(), 0, old)
        # Places that are no actions hold sums here, which count; a solver leaves them 0.
        assert np.array_equal(new, expected)
        kept[bool((new != old).any())] += 1
    assert min(kept.values()) > 100
