"""Truff players: honesty (hidden cards do not change a choice), worlds that fit, bids, and strength."""

import numpy as np
import pytest

from game.truff.cards import parse_cards
from game.truff.rules import Mode, Rules, bid_denomination, bid_number, bid_rank, legal_bids
from solver.truff import engine
from solver.truff.baseline import rule_play
from solver.truff.bidding import (
    ACTIVE,
    INPUTS,
    bid_inputs,
    bid_log_likelihood,
    bid_values,
    card_inputs,
    load_bidder,
)
from solver.truff.bids import CARDS, COUNTED, DENOMINATION, MAX_SHORTLIST, shortlist
from solver.truff.engine import cards_of, config, mask_of, new_rng
from solver.truff.policy import load_policy, policy_play
from solver.truff.search import distinct_plays, draw_worlds, search_mode, search_play, search_settings
from solver.truff.sight import ahead_chance, face_down_trumps, unseen_cards
from solver.truff.tournament import LEARNED, ROLLOUT, RULE, duplicate, mean_and_interval, play_deal
from solver.truff.worlds import full_hands, play_log_likelihood, sample_world

RULES = Rules()
CFG = config(RULES)
POLICY = load_policy()
BIDDER = load_bidder()
SETTINGS = search_settings(worlds=12, proposals=2)


def started_deal(seed, plays, rules=RULES, play_kind=ROLLOUT):
    """A state after `plays` plays of a random deal between equal players; before the first bid if negative."""
    cfg, rng = config(rules), new_rng(seed)
    state = np.zeros(engine.STATE_SIZE, dtype=np.int64)
    engine.deal_cards(state, cfg, rng)
    kinds = np.full(4, play_kind)
    finished = state.copy()
    play_deal(finished, cfg, np.full(4, LEARNED), kinds, POLICY, BIDDER, SETTINGS, rng)
    state[engine.BID : engine.BID + 4] = finished[engine.BID : engine.BID + 4]
    engine.reveal(state, cfg)
    if state[engine.MODE] == engine.UNDECIDED:
        engine.choose_mode(state, cfg, int(finished[engine.MODE]))
    for i in range(plays):
        engine.play(state, cfg, finished[engine.HISTORY + i] % 64)
    return state


@pytest.mark.parametrize("face_down", ["trick", "visual"])
def test_no_player_reads_what_its_seat_cannot_see(face_down):
    """Shuffling the hidden cards, face-down trumps on the table among them, changes no honest choice or value."""
    rules = Rules(trump_face_down=face_down)
    cfg = config(rules)
    changed, hidden_trumps = 0, 0
    for seed in range(120):
        state = started_deal(seed, 7 + seed % 40, rules)
        if engine.legal_plays(state, cfg) & (engine.legal_plays(state, cfg) - 1) == 0:
            continue
        other = np.empty_like(state)
        if sample_world(state, cfg, new_rng(seed + 1000), other) == -np.inf:
            continue
        changed += (other != state).any()
        hidden_trumps += (
            other[engine.TABLE : engine.TABLE + 4] != state[engine.TABLE : engine.TABLE + 4]
        ).any()
        assert rule_play(state, cfg) == rule_play(other, cfg)
        assert policy_play(state, cfg, POLICY) == policy_play(other, cfg, POLICY)
        worlds = draw_worlds(state, cfg, POLICY, BIDDER, SETTINGS, new_rng(seed))
        assert np.array_equal(worlds, draw_worlds(other, cfg, POLICY, BIDDER, SETTINGS, new_rng(seed)))
        choices = [search_play(s, cfg, POLICY, BIDDER, SETTINGS, new_rng(seed)) for s in (state, other)]
        assert choices[0] == choices[1]
    assert changed > 60
    assert (hidden_trumps > 5) == (face_down == "trick")


def test_the_mode_search_is_honest_too():
    values, other_values = np.empty(2), np.empty(2)
    compared = 0
    for seed in range(40):
        state = started_deal(seed, 0)
        state[engine.MODE] = engine.UNDECIDED
        other = np.empty_like(state)
        sample_world(state, CFG, new_rng(seed + 1000), other)
        compared += (other != state).any()
        search_mode(state, CFG, POLICY, BIDDER, SETTINGS, new_rng(seed), values)
        search_mode(other, CFG, POLICY, BIDDER, SETTINGS, new_rng(seed), other_values)
        assert np.array_equal(values, other_values)
    assert compared > 30


def test_worlds_fit_everything_seen():
    hands, world_hands = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
    replay = np.empty(engine.STATE_SIZE, dtype=np.int64)
    for seed in range(150):
        state = started_deal(seed, seed % 51)
        me = state[engine.TURN]
        world = np.empty_like(state)
        assert sample_world(state, CFG, new_rng(seed), world) > -np.inf
        assert world[engine.HAND + me] == state[engine.HAND + me]
        full_hands(state, CFG, hands)
        full_hands(world, CFG, world_hands)
        assert world_hands[me] == hands[me]
        assert sum(world_hands) == CFG[engine.PACK]
        for seat in range(4):
            assert len(cards_of(world_hands[seat])) == 13
            assert world_hands[seat] & state[engine.BID + seat] == state[engine.BID + seat]
            assert not any(state[engine.VOID + seat] >> (c // 13) & 1 for c in cards_of(world[seat]))
        # Replaying the history with the world's hands is legal and leads to the world.
        again = world.copy()
        again[:] = 0
        again[:4], again[engine.BID : engine.BID + 4] = world_hands, state[engine.BID : engine.BID + 4]
        engine.reveal(again, CFG)
        if again[engine.MODE] == engine.UNDECIDED:
            engine.choose_mode(again, CFG, int(state[engine.MODE]))
        for i in range(state[engine.PLAYS]):
            seat, card = divmod(int(world[engine.HISTORY + i]), 64)
            assert seat == again[engine.TURN]
            assert engine.legal_plays(again, CFG) >> card & 1
            engine.play(again, CFG, card)
        assert np.array_equal(again, world)
        assert play_log_likelihood(world, CFG, POLICY, 0.3, replay) <= 0.0


def test_weighted_worlds_are_uniform():
    """Three hidden cards, two seats, one void: the importance weights undo the sampler's order of choice."""
    rules = Rules(ranks=4, suits=2, players=4)
    cfg = config(rules)
    state = np.zeros(engine.STATE_SIZE, dtype=np.int64)
    hands = ["2D 3D", "2C AC", "AD 4D", "4C 3C"]
    for seat, hand in enumerate(hands):
        state[engine.HAND + seat] = mask_of(parse_cards(hand))
    state[engine.TRUMP] = 4
    state[engine.TURN] = 0
    state[engine.VOID + 1] = 1  # seat 1 has no D: it takes two of the four C, the others share the rest
    counts: dict[tuple[int, ...], float] = {}
    rng, world = new_rng(3), np.empty_like(state)
    for _ in range(20000):
        weight = np.exp(sample_world(state, cfg, rng, world))
        key = tuple(world[1:4])
        counts[key] = counts.get(key, 0.0) + weight
    assert len(counts) == 36  # 6 pairs of C for seat 1, 6 ways to deal the other four
    shares = np.array(list(counts.values())) / sum(counts.values())
    assert abs(shares * 36 - 1).max() < 0.2


def test_ahead_chance_over_face_down_trumps():
    state = np.zeros(engine.STATE_SIZE, dtype=np.int64)
    for seat, hand in enumerate(["2H", "5D", "AD 4D", "KH"]):
        state[engine.HAND + seat] = mask_of(parse_cards(hand))
    for card in parse_cards("2H 5D"):
        engine.play(state, CFG, card)
    hidden, unseen = face_down_trumps(state, CFG), mask_of(parse_cards("2D 5D 6D KH"))
    assert hidden == 1
    four, ace, heart = parse_cards("4D AD KH")
    assert ahead_chance(state, four, unseen, hidden) == pytest.approx(1 / 3)
    assert ahead_chance(state, ace, unseen, hidden) == 1.0
    assert ahead_chance(state, heart, unseen, hidden) == 0.0
    assert unseen_cards(state, CFG) & mask_of(parse_cards("5D"))


def test_shortlist_has_the_best_set_of_every_contract():
    rng = new_rng(1)
    bids = np.empty((MAX_SHORTLIST, 3), dtype=np.int64)
    state = np.zeros(engine.STATE_SIZE, dtype=np.int64)
    for _ in range(40):
        engine.deal_cards(state, CFG, rng)
        best: dict[tuple[int, int], tuple[int, ...]] = {}
        for bid in legal_bids(cards_of(state[0]), RULES):
            key = (bid_denomination(bid), bid_number(bid))
            if key not in best or bid_rank(bid) > bid_rank(best[key]):
                best[key] = bid
        count = shortlist(state[0], CFG, bids)
        found = {
            (int(b[DENOMINATION]), int(b[COUNTED])): tuple(cards_of(int(b[CARDS]))) for b in bids[:count]
        }
        assert found == best


def test_bid_values_equal_a_plain_network():
    bids = np.empty((MAX_SHORTLIST, 3), dtype=np.int64)
    values, inputs = np.empty(MAX_SHORTLIST), np.empty(ACTIVE, dtype=np.int64)
    hand = mask_of(parse_cards("2D 9D KD 3C 4C 2H 7H QH AH 5S TS JS AS"))
    count = shortlist(hand, CFG, bids)
    net = len(BIDDER[3]) - 1
    bid_values(hand, bids, count, BIDDER, net, values)
    w1, b1, w2, b2 = (part[net] for part in BIDDER)
    for i in range(count):
        used = card_inputs(hand, bids[i, DENOMINATION], inputs)
        assert used == 13
        bid_inputs(bids[i, COUNTED], bids[i, DENOMINATION], len(cards_of(bids[i, CARDS])), inputs[13:])
        x = np.zeros(INPUTS)
        x[inputs] = 1.0
        assert x.sum() == ACTIVE
        assert values[i] == pytest.approx(np.maximum(x @ w1 + b1, 0) @ w2 + b2, abs=1e-4)
    mass = sum(np.exp(bid_log_likelihood(hand, bids[i, CARDS], CFG, BIDDER, net, 0.5)) for i in range(count))
    assert mass == pytest.approx(1.0)


def test_touching_cards_are_looked_at_once():
    state = np.zeros(engine.STATE_SIZE, dtype=np.int64)
    for seat, hand in enumerate(["2H 3H 5H KS AS", "4H", "6H", "7H"]):
        state[engine.HAND + seat] = mask_of(parse_cards(hand))
    state[engine.TRUMP] = 4
    cfg = CFG.copy()
    cfg[engine.PACK] = sum(state[:4])
    assert cards_of(distinct_plays(state, cfg)) == parse_cards("2H 5H KS")


@pytest.mark.parametrize(("mode", "wins"), [(Mode.ATAS, True), (Mode.BAWAH, False)])
def test_search_wins_when_short_and_ducks_when_done(mode, wins):
    """Last two tricks, last to play: take the trick if one is still wanted, let it go if none is."""
    state = np.zeros(engine.STATE_SIZE, dtype=np.int64)
    hands = ["2H 9H", "4H KH", "5H 8H", "3H QH"]
    for seat, hand in enumerate(hands):
        state[engine.HAND + seat] = mask_of(parse_cards(hand))
    state[engine.TRUMP], state[engine.TRICK], state[engine.MODE] = 0, 11, int(mode)
    state[engine.SEEN] = CFG[engine.PACK] & ~sum(state[:4])
    state[engine.NUMBER : engine.NUMBER + 4] = [0, 0, 0, 1 if wins else 0]
    state[engine.WON : engine.WON + 4] = [4, 4, 3, 0]
    for card in parse_cards("2H 4H 5H"):
        engine.play(state, CFG, card)
    settings = search_settings(worlds=20, proposals=1, bid_trust=0.0, play_trust=0.0)
    chosen = search_play(state, CFG, POLICY, BIDDER, settings, new_rng(1))
    assert chosen == parse_cards("QH" if wins else "3H")[0]


def test_strength_in_duplicate():
    """The tuned rollout beats the rule-based player in the same seats by far, learned bids beat rule-based ones."""
    common = {
        "deals": 4000,
        "seed": 5,
        "rules": RULES,
        "policy": POLICY,
        "bidder": BIDDER,
        "settings": SETTINGS,
    }
    rule = duplicate("rule", "rule", **common)
    rollout = duplicate("rollout", "rule", **common)
    learned = duplicate("rollout-learned", "rule", **common)
    gain, interval = mean_and_interval(rollout.points - rule.points)
    assert gain - interval > 0.4
    gain, interval = mean_and_interval(learned.points - rollout.points)
    assert gain - interval > 0.1
    again = duplicate("rollout", "rule", **common)
    assert np.array_equal(rollout.points, again.points)


def test_duplicate_refuses_nonsense():
    common = {"seed": 5, "rules": RULES, "policy": POLICY, "bidder": BIDDER, "settings": SETTINGS}
    with pytest.raises(ValueError, match="no player 'nobody'; there are random, rule"):
        duplicate("nobody", "rule", deals=10, **common)
    with pytest.raises(ValueError, match="at least 2 deals"):
        duplicate("rule", "rule", deals=1, **common)
    with pytest.raises(ValueError, match="worlds and proposals"):
        search_settings(worlds=0)
    assert RULE != ROLLOUT
