"""Tuning and learning: the same seed gives the same weights, more of it gives better ones, files come back."""

import numpy as np

from game.truff.rules import Rules
from solver.truff import bidding
from solver.truff.engine import config, new_rng
from solver.truff.fictitious import fictitious_play, measure_gain, simulation_gains
from solver.truff.policy import START_WEIGHTS, load_policy, make_policy
from solver.truff.tune import hero_points, rule_bid_starts, tune_policy

CFG = config(Rules())


def test_tuning_improves_the_weights_and_repeats_itself():
    options = {"cfg": CFG, "generations": 3, "seed": 1, "population": 16, "deals": 800}
    tuned = tune_policy(START_WEIGHTS, **options)
    assert np.array_equal(tuned, tune_policy(START_WEIGHTS, **options))
    starts = rule_bid_starts(CFG, 4000, new_rng(99))
    first, better = make_policy(START_WEIGHTS), make_policy(tuned)
    assert hero_points(starts, CFG, better, first)[0] > hero_points(starts, CFG, first, first)[0] + 0.05
    assert hero_points(starts, CFG, load_policy(), first)[0] > hero_points(starts, CFG, better, first)[0]


def test_fictitious_play_repeats_itself_and_lowers_the_gain(tmp_path):
    policy = load_policy()
    gains = []
    bidder = fictitious_play(CFG, policy, 1, 8_000, 3, progress=lambda *told: gains.append(told))
    once, again = (fictitious_play(CFG, policy, 1, 2_000, 3) for _ in range(2))
    assert all(np.array_equal(one, two) for one, two in zip(once, again, strict=True))
    assert [told[0] for told in gains] == [1]
    # The networks that come with the package leave a deviator less than the first round does.
    assert measure_gain(CFG, policy, bidding.load_bidder(), 8_000, 4)[0] < gains[0][1]
    bidding.save_bidder(bidder, tmp_path / "bidder.npz")
    with np.load(tmp_path / "bidder.npz") as saved:
        assert np.allclose(saved["w1"], bidder[0], atol=2e-3)
        assert np.array_equal(saved["w2"], bidder[2])


def test_a_simulating_deviator_gains_little():
    gains = simulation_gains(CFG, load_policy(), bidding.load_bidder(), 40, 200, new_rng(1))
    assert abs(gains.mean()) < 0.4
