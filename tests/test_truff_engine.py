"""The bitboard engine against `game.truff`, move by move."""

import random
from itertools import pairwise

import numpy as np
import pytest
from test_truff_game import random_deal

from game.truff.deal import CHOOSE_ATAS, DONE, FACE_DOWN, Phase
from game.truff.rules import Rules, bid_rank, legal_bids
from solver.truff import engine
from solver.truff.engine import cards_of, config, mask_of, state_of

VARIANTS = [
    (Rules(), 600),
    (Rules(trump_lead="first", bid_max=20), 200),
    (Rules(trump_lead="never", trump_face_down="visual"), 200),
    (Rules(ranks=5, suits=2, players=2), 300),
    (Rules(ranks=6, suits=2, players=3), 300),
]


@pytest.mark.parametrize(("rules", "deals"), VARIANTS)
def test_engine_equals_the_game_move_by_move(rules, deals):
    rng = random.Random(5)
    cfg = config(rules)
    for number in range(deals):
        deal = random_deal(rng, rules)
        while deal.phase is Phase.BID:
            legal = deal.legal_actions()
            deal.apply(DONE if DONE in legal and rng.random() < 0.7 else rng.choice(legal))
        state = np.zeros(engine.STATE_SIZE, dtype=np.int64)
        for seat in range(rules.players):
            state[engine.HAND + seat] = mask_of(deal.hands[seat])
            state[engine.BID + seat] = mask_of(deal.piles[seat])
        engine.reveal(state, cfg)
        assert (state[engine.WINNER], state[engine.TRUMP]) == (deal.winner, deal.trump)
        assert (state[engine.MODE] == engine.UNDECIDED) == (deal.phase is Phase.MODE)
        if deal.phase is Phase.MODE:
            action = rng.choice(deal.legal_actions())
            deal.apply(action)
            engine.choose_mode(state, cfg, action - CHOOSE_ATAS)
        assert state[engine.MODE] == deal.mode
        assert list(state[engine.NUMBER :][: rules.players]) == deal.numbers
        while deal.phase is Phase.PLAY:
            assert state[engine.TURN] == deal.to_move
            assert cards_of(engine.legal_plays(state, cfg)) == deal.legal_actions()
            card = rng.choice(deal.legal_actions())
            deal.apply(card)
            engine.play(state, cfg, card)
            assert cards_of(state[engine.SEEN]) == seen_by_all(deal)
            if number % 20 == 0:
                assert (state == state_of(deal)).all()
        assert list(state[engine.WON :][: rules.players]) == deal.won
        assert [engine.points(state, seat) for seat in range(rules.players)] == deal.points()


def seen_by_all(deal):
    return sorted(card for trick in deal.view(None).tricks for card in trick.cards if card != FACE_DOWN)


def test_bids_are_ranked_as_in_the_game():
    rng = random.Random(9)
    equal = 0
    for _ in range(60):
        cards = list(range(52))
        rng.shuffle(cards)
        bids = [b for hand in (cards[:13], cards[13:26]) for b in legal_bids(hand, Rules())]
        rng.shuffle(bids)
        for one, other in pairwise(bids):
            if set(one) & set(other):
                continue
            equal += bid_rank(one)[:3] == bid_rank(other)[:3]
            assert engine.beats(mask_of(one), mask_of(other)) == (bid_rank(one) > bid_rank(other))
    assert equal > 10


def test_random_deals_are_uniform_and_reproducible():
    cfg, state = config(Rules()), np.zeros(engine.STATE_SIZE, dtype=np.int64)
    rng = engine.new_rng(4)
    holds = np.zeros((4, 52))
    for _ in range(4000):
        engine.deal_cards(state, cfg, rng)
        for seat in range(4):
            holds[seat, cards_of(state[seat])] += 1
    assert (abs(holds - 1000) < 5 * (4000 * 0.25 * 0.75) ** 0.5).all()
    again = engine.new_rng(4)
    one = engine.play_random_deals(cfg, 50, engine.new_rng(8))
    assert (one == engine.play_random_deals(cfg, 50, engine.new_rng(8))).all()
    assert again[0] != rng[0]
