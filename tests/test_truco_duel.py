"""Duels of two bots: exact pairing, honest intervals, agreement with the plain match, and who beats whom."""

from functools import cache

import numpy as np
import pytest

from game.truco.actions import TRUCO
from game.truco.match import Match
from game.truco.rules import PRESETS, Rules, make_rules
from solver.truco.hand import engine
from solver.truco.hand.infokey import info_key
from solver.truco.hand.table import PolicyTable
from solver.truco.players.baselines import BASELINES
from solver.truco.reading.duel import (
    Bot,
    Duel,
    baseline_bot,
    bot_policy,
    choose,
    deal_cards,
    decision_draw,
    duel_hands,
    duel_matches,
    estimate,
    hand_key,
    strategy_bot,
    uniform,
)
from solver.truco.reading.strategy import no_strategy, table_strategy

BASE = PRESETS["base"]
NO_CURSOR = np.empty(0, np.int64)


def duel(kind: str, a: str, b: str, pairs: int = 200, seed: int = 1) -> Duel:
    play = duel_hands if kind == "hands" else duel_matches
    return play(baseline_bot(a), baseline_bot(b), BASE, pairs, seed)


@pytest.mark.parametrize("name", BASELINES)
def test_bot_against_itself_is_even(name: str) -> None:
    hands, matches = duel("hands", name, name), duel("matches", name, name)
    assert (hands.result.low, hands.result.mean, hands.result.high) == (0.0, 0.0, 0.0)
    assert (matches.result.low, matches.result.mean, matches.result.high) == (0.5, 0.5, 0.5)
    assert hands.as_mano.mean == -hands.as_pie.mean
    assert hands.words[0] == hands.words[1]


@pytest.mark.parametrize("kind", ["hands", "matches"])
def test_swapping_the_bots_mirrors_the_duel(kind: str) -> None:
    ours, theirs = duel(kind, "heuristic", "caller"), duel(kind, "caller", "heuristic")
    total = 0.0 if kind == "hands" else 1.0
    assert ours.result.mean + theirs.result.mean == pytest.approx(total, abs=1e-12)
    assert ours.as_mano.mean + theirs.as_pie.mean == pytest.approx(total, abs=1e-12)
    assert ours.result.high - ours.result.low == pytest.approx(theirs.result.high - theirs.result.low)
    assert ours.words == theirs.words[::-1]
    assert ours.hands == theirs.hands


def test_same_seed_same_duel() -> None:
    assert duel("matches", "heuristic", "random", seed=7) == duel("matches", "heuristic", "random", seed=7)
    assert duel("matches", "heuristic", "random", seed=7) != duel("matches", "heuristic", "random", seed=8)


@pytest.mark.parametrize("name", [name for name in BASELINES if name != "heuristic"])
@pytest.mark.parametrize("preset", PRESETS)
def test_heuristic_beats_the_others(preset: str, name: str) -> None:
    heuristic, other = baseline_bot("heuristic"), baseline_bot(name)
    assert duel_hands(heuristic, other, PRESETS[preset], 5000).result.low > 0.8
    assert duel_matches(heuristic, other, PRESETS[preset], 1000).result.low > 0.6


def test_intervals_cover() -> None:
    """Nineteen of twenty intervals should hold the true mean, here taken from one long duel."""
    a, b = baseline_bot("heuristic"), baseline_bot("random")
    truth = duel_hands(a, b, BASE, 100_000, seed=0).result
    short = [duel_hands(a, b, BASE, 400, seed).result for seed in range(1, 201)]
    covered = sum(result.low <= truth.mean <= result.high for result in short)
    assert 180 <= covered <= 198  # 190 expected, standard deviation 3.1


def test_estimate() -> None:
    result = estimate(np.array([1.0, 2.0, 3.0, 6.0]))
    assert result.mean == 3.0
    assert result.high - result.mean == pytest.approx(1.959964 * 2.160247 / 2)


def test_uniform_draws() -> None:
    """Mean, spread and independence of neighbouring draws, hands, pairs and seeds."""
    draws = np.array(
        [
            [uniform(np.uint64(hand_key(seed, pair, hand)), draw) for draw in range(20)]
            for seed in range(4)
            for pair in range(8)
            for hand in range(8)
        ]
    )
    assert 0.0 <= draws.min() < draws.max() < 1.0
    assert draws.mean() == pytest.approx(0.5, abs=4 * 0.2887 / draws.size**0.5)
    assert draws.var() == pytest.approx(1 / 12, abs=0.005)
    noise = 4 / draws.size**0.5
    assert abs(np.corrcoef(draws[:, 1:].ravel(), draws[:, :-1].ravel())[0, 1]) < noise
    assert abs(np.corrcoef(draws[1:].ravel(), draws[:-1].ravel())[0, 1]) < noise


def test_every_card_is_dealt_alike() -> None:
    deck = np.empty(40, np.int32)
    seen = np.zeros((6, 40))
    for pair in range(20_000):
        deal_cards(np.uint64(hand_key(1, pair, 0)), deck)
        seen[np.arange(6), deck[:6]] += 1
    assert sorted(deck) == list(range(40))
    assert np.abs(seen - 500).max() < 5 * 500**0.5


def play_plainly(bots: tuple[Bot, Bot], rules: Rules, seed: int, pair: int, first_mano: int) -> Match:
    """The match of one pair on `game.truco.match.Match`; seat 0 is bot A."""
    vector = engine.rules_vector(rules)
    deck, actions = np.empty(40, np.int32), np.empty(engine.MAX_LEGAL, np.int32)
    probs = np.empty(engine.MAX_LEGAL)
    match = Match(rules, first_mano)
    while match.winner is None:
        key = np.uint64(hand_key(seed, pair, len(match.finished)))
        deal_cards(key, deck)
        match.deal(deck[:3].tolist(), deck[3:6].tolist())
        decisions = [0, 0]
        while (hand := match.hand) is not None:
            seat = match.to_move
            player = hand.to_move
            assert seat is not None
            assert player is not None
            state = engine.encode(hand)
            n = engine.legal(state, vector, actions)
            bot_policy(*bots[seat], NO_CURSOR, state, vector, actions, n, probs)
            draw = decision_draw(key, player, decisions[player])
            match.apply(int(actions[choose(probs, n, draw)]))
            decisions[player] += 1
    return match


@pytest.mark.parametrize(
    "rules",
    [PRESETS["base"], PRESETS["argentino"], make_rules("base", {"target": 30, "falta": "malas_buenas"})],
)
def test_matches_are_those_of_the_plain_match(rules: Rules) -> None:
    bots = baseline_bot("heuristic"), baseline_bot("random")
    pairs = 10
    fast = duel_matches(*bots, rules, pairs, seed=5)
    plain = [[play_plainly(bots, rules, 5, pair, first) for first in (0, 1)] for pair in range(pairs)]
    hands = [match for both in plain for match in both]
    assert fast.hands == sum(len(match.finished) for match in hands)
    for first, result in ((0, fast.as_mano), (1, fast.as_pie)):
        assert result.mean == np.mean([both[first].winner == 0 for both in plain])
    words = np.zeros(2)
    for match in hands:
        for number, hand in enumerate(match.finished):
            for player, action in hand.history:
                words[player ^ match.mano_of(number)] += action >= TRUCO
    for counted, said in zip(words, fast.words, strict=True):
        assert sum(said.values()) * fast.hands == pytest.approx(counted)


@cache
def one_row_table() -> PolicyTable:
    """A table that knows one decision: mano's first with a certain hand, where it calls Truco."""
    cards = np.empty(40, np.int32)
    deal_cards(np.uint64(hand_key(1, 0, 0)), cards)
    state = np.empty(engine.STATE_SIZE, np.int32)
    engine.deal(state, cards, 0, 0)
    key = info_key(state, engine.rules_vector(BASE), 0)
    probs = np.array([0, 0, 0, 1, 0, 0, 0, 0], np.float32)
    return PolicyTable(
        np.array([key], np.int64), np.array([0, 8], np.int32), np.array([0b1001111111], np.uint16), probs
    )


def test_table_bot() -> None:
    bot = strategy_bot(table_strategy(one_row_table()))
    result = duel_hands(bot, baseline_bot("caller"), BASE, 2)
    assert result.words[0]["truco"] == 0.25  # mano's first decision of the first deal, in one play of four
    assert 0.0 < result.unknown[0] < 1.0
    assert result.unknown[1] == 0.0
    blind = duel_hands(strategy_bot(no_strategy()), baseline_bot("random"), BASE, 100)
    assert blind.unknown[0] == 1.0
    assert blind.words[0] == dict.fromkeys(blind.words[0], 0.0) | {"no_quiero": blind.words[0]["no_quiero"]}


def test_refusals() -> None:
    bot = baseline_bot("random")
    with pytest.raises(ValueError, match="pairs is 1, allowed: 2 or more"):
        duel_hands(bot, bot, BASE, 1)
    with pytest.raises(ValueError, match="40-card deck"):
        duel_matches(bot, bot, Rules(hand_size=2), 10)
