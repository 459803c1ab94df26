"""Mini-Truff solved whole: CFR against OpenSpiel's own NashConv, and the search measured exactly."""

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as spiel_policy
from open_spiel.python.algorithms import exploitability

import game  # noqa: F401  registers python_truff
from game.truff.rules import Rules
from solver.truff.advice import state_of_view
from solver.truff.bidding import blank_bidder
from solver.truff.engine import config, new_rng
from solver.truff.mini import expected_payoffs, flatten, nash_conv, solve, uniform, with_play
from solver.truff.policy import load_policy
from solver.truff.search import search_play, search_settings

THREE = Rules(ranks=3, suits=2, players=3)


@pytest.fixture(scope="module")
def flat():
    return flatten(THREE)


@pytest.mark.parametrize(("players", "utility"), [(2, "relative"), (4, "own")])
def test_nash_conv_equals_openspiels(players, utility):
    flat = flatten(Rules(ranks=2, suits=2, players=players, utility=utility))
    spiel = pyspiel.load_game(f"python_truff(ranks=2,suits=2,players={players},utility={utility})")
    by_view = {str(view): h for h, view in enumerate(flat.views)}
    for strategy in (uniform(flat), solve(flat, 3)):

        def probabilities(state, strategy=strategy):
            h = by_view[state.information_state_string(state.current_player())]
            chances = strategy[flat.offsets[h] : flat.offsets[h + 1]]
            return dict(zip(flat.actions[h], map(float, chances), strict=True))

        policy = spiel_policy.tabular_policy_from_callable(spiel, probabilities)
        assert nash_conv(flat, strategy) == pytest.approx(exploitability.nash_conv(spiel, policy), abs=1e-9)


def test_cfr_comes_near_an_equilibrium(flat):
    assert nash_conv(flat, solve(flat, 300)) < 0.05 * nash_conv(flat, uniform(flat))


def test_search_plays_the_small_game_nearly_perfectly(flat):
    """With equilibrium bids, replacing the play by the search costs little; random play costs far more."""
    cfg, policy, settings = config(THREE), load_policy(), search_settings(20, 1, 0.0, 0.0)

    def searched(view, legal):
        return search_play(state_of_view(view), cfg, policy, blank_bidder(), settings, new_rng(1))

    solved = solve(flat, 300)

    def lowest(view, legal):
        return legal[0]

    conv = {play: nash_conv(flat, with_play(flat, solved, play)) for play in (searched, lowest)}
    assert conv[searched] < 0.3 * conv[lowest]


def test_a_game_that_is_too_big_is_refused():
    with pytest.raises(ValueError, match="more than 1000 nodes"):
        flatten(Rules(ranks=4, suits=2, players=2), max_nodes=1000)


def test_payoffs_of_the_zero_sum_game_add_to_zero():
    flat = flatten(Rules(ranks=3, suits=2, players=3, utility="relative"))
    assert expected_payoffs(flat, uniform(flat)).sum() == pytest.approx(0)
    assert np.abs(flat.payoffs.sum(axis=1)).max() < 1e-9
