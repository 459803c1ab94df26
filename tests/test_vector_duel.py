"""Duels of policies of the vector engine: exact pairing, the slow lookup's hands, and the engine's own value."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from game.truco.hand import Hand
from game.truco.rules import make_rules
from solver.truco.hand import engine
from solver.truco.hand.table import choose
from solver.truco.reading.duel import (
    Bot,
    baseline_bot,
    bot_policy,
    deal_cards,
    decision_draw,
    duel_hands,
    duel_matches,
    hand_key,
    strategy_bot,
)
from solver.truco.reading.strategy import book_strategy
from solver.truco.vector.cfr.average import Tables
from solver.truco.vector.cfr.evaluate import policy_value
from solver.truco.vector.model.game import Game
from solver.truco.vector.policy.cursor import make_book
from solver.truco.vector.policy.locate import POSITIONS, TRICKS, action_mix, locate
from solver.truco.vector.response.cards.response import Policy
from tests.test_vector_lookup import NONE, flat_table, random_tables

SEED, PAIRS = 3, 150


@cache
def argentino() -> tuple[Game, Tables]:
    """The full game with a random trunk; zeros elsewhere take no memory until an entry is written."""
    game = Game(make_rules("argentino"), (0, 0), None, NONE)
    rng = np.random.default_rng(5)
    trunk = [rng.random(game.node_shape(node), dtype=np.float32) for node in game.trunk.nodes]
    rest = (np.zeros(size, np.float32) for size in (game.position_entries, game.layout.entries))
    return game, Tables(trunk, *rest)


def bot_of(game: Game, tables: Tables) -> Bot:
    return strategy_bot(book_strategy(make_book(game, tables)))


def play_slowly(game: Game, tables: Tables, pair: int, seat: int, other: Bot | None) -> int:
    """Net points of the tables as player `seat`, read by the slow lookup; the other seat is a baseline's or the same.

    Entries met for the first time are drawn at random.
    """
    rng = np.random.default_rng([pair, seat])
    vector = engine.rules_vector(game.rules)
    deck, actions = np.empty(40, np.int32), np.empty(engine.MAX_LEGAL, np.int32)
    probs, nothing = np.empty(engine.MAX_LEGAL), np.empty(0, np.int64)
    key = np.uint64(hand_key(SEED, pair, 0))
    deal_cards(key, deck)
    hand = Hand(game.rules, deck[:3].tolist(), deck[3:6].tolist(), 0, 0)
    decisions = [0, 0]
    while not hand.is_over:
        player = hand.to_move
        assert player is not None
        state = engine.encode(hand)
        n = engine.legal(state, vector, actions)
        if player == seat or other is None:
            place = locate(game, hand)
            if place.table in (POSITIONS, TRICKS):
                entries = flat_table(tables, place.table)[place.entries()]
                if not entries.any():
                    flat_table(tables, place.table)[place.entries()] = rng.random(len(entries))
            mix = action_mix(game, tables, hand)
            probs[:n] = [mix[int(action)] for action in actions[:n]]
        else:
            bot_policy(*other, nothing, state, vector, actions, n, probs)
        hand.apply(int(actions[choose(probs, n, decision_draw(key, player, decisions[player]))]))
        decisions[player] += 1
    net = hand.scores[0] - hand.scores[1]
    return net if seat == 0 else -net


@pytest.mark.parametrize("opponent", [None, "heuristic"])
def test_hands_are_those_of_the_slow_lookup(opponent: str | None) -> None:
    game, tables = argentino()
    other = None if opponent is None else baseline_bot(opponent)
    slow = np.array(
        [[play_slowly(game, tables, pair, seat, other) for seat in (0, 1)] for pair in range(PAIRS)]
    )
    bot = bot_of(game, tables)
    fast = duel_hands(bot, other or bot, game.rules, PAIRS, SEED)
    assert slow.any()
    assert (fast.as_mano.mean, fast.as_pie.mean) == (slow[:, 0].mean(), slow[:, 1].mean())
    assert fast.result.high - fast.result.mean == pytest.approx(
        1.959964 * slow.mean(axis=1).std(ddof=1) / PAIRS**0.5
    )
    assert fast.unknown == (0.0, 0.0)


def test_a_policy_against_itself_is_even_and_swapping_mirrors() -> None:
    bot, caller = bot_of(*argentino()), baseline_bot("caller")
    rules = argentino()[0].rules
    for play, even in ((duel_hands, 0.0), (duel_matches, 0.5)):
        same = play(bot, bot, rules, 100)
        assert (same.result.low, same.result.mean, same.result.high) == (even, even, even)
        assert same.words[0] == same.words[1]
        ours, theirs = play(bot, caller, rules, 100), play(caller, bot, rules, 100)
        assert ours.result.mean + theirs.result.mean == pytest.approx(2 * even, abs=1e-12)
        assert ours.words == theirs.words[::-1]
        assert ours.hands == theirs.hands


def test_self_play_is_worth_what_the_engine_computes() -> None:
    game = Game(make_rules("base", {"envido": False}), (0, 0), None, NONE)
    tables = random_tables(game, 0.7, 4)
    value = policy_value(Policy(game, tables))
    bot = bot_of(game, tables)
    played = duel_hands(bot, bot, game.rules, 200_000, SEED).as_mano
    # Within four standard errors, of a value clearly not 0.
    error = (played.high - played.low) / (2 * 1.959964)
    assert abs(played.mean - value) < 4 * error
    assert abs(value) > 5 * error
