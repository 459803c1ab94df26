"""One deal, its views, the match and `python_truff`: invariants, a naive twin, and no leaks."""

import random
from collections import Counter

import numpy as np
import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_truff import DECK, NaiveTruff, next_bid_cards

import game  # noqa: F401  registers python_truff
from game.truff.cards import card_name, parse_card, parse_cards
from game.truff.deal import CHOOSE_ATAS, CHOOSE_BAWAH, DONE, FACE_DOWN, Deal, Phase
from game.truff.match import Match
from game.truff.rules import Mode, Rules, bid_number
from game.truff.spot import parse_bids, parse_plays, told_view

TRUMP_LEADS = ["broken", "first", "never"]


def random_deal(rng, rules=None):
    rules = rules or Rules()
    cards = list(rules.pack)
    rng.shuffle(cards)
    return Deal.from_hands([cards[i :: rules.players] for i in range(rules.players)], rules)


def naive_name(card):
    return card_name(card).replace("T", "10")


def deal_with(hands, rules=None):
    """A deal whose seats hold at least the cards given; the rest of the pack fills up the hands in order."""
    given_hands = [parse_cards(hand) for hand in hands]
    rest = [card for card in range(52) if not any(card in hand for hand in given_hands)]
    full = []
    for hand in given_hands:
        missing = 13 - len(hand)
        full.append(hand + rest[:missing])
        rest = rest[missing:]
    return Deal.from_hands(full, rules)


@pytest.mark.parametrize("trump_lead", TRUMP_LEADS)
def test_agrees_with_the_naive_twin(trump_lead):
    rng = random.Random(7)
    choices = 0
    for _ in range(80):
        deal = random_deal(rng, Rules(trump_lead=trump_lead))
        hands = [[naive_name(card) for card in hand] for hand in deal.hands]
        for hand in hands:
            laid: list[str] = []
            while True:
                legal = deal.legal_actions()
                cards, may_close = next_bid_cards(laid, hand)
                assert {naive_name(a) for a in legal if a != DONE} == cards
                assert (DONE in legal) == may_close
                action = (
                    DONE if DONE in legal and rng.random() < 0.9 else rng.choice([*legal[:1] * 5, *legal])
                )
                deal.apply(action)
                if action == DONE:
                    break
                laid.append(naive_name(action))
        naive = NaiveTruff(hands, [[naive_name(c) for c in pile] for pile in deal.piles], trump_lead)
        assert naive.winner == deal.winner
        if deal.phase is Phase.MODE:
            choices += 1
            assert naive.mode is None
            action = rng.choice([CHOOSE_ATAS, CHOOSE_BAWAH])
            deal.apply(action)
            naive.choose("Atas" if action == CHOOSE_ATAS else "Bawah")
        while deal.phase is Phase.PLAY:
            assert deal.to_move == naive.turn
            assert [naive_name(c) for c in deal.legal_actions()] == sorted(naive.legal(), key=DECK.index)
            for seat in range(4):
                table = deal.view(seat).tricks[-1]
                seen = [
                    ((table.leader + i) % 4, "hidden" if card == FACE_DOWN else naive_name(card))
                    for i, card in enumerate(table.cards)
                ]
                assert seen == naive.visible_table(seat)
            card = rng.choice(deal.legal_actions())
            deal.apply(card)
            naive.play(naive_name(card))
        assert (deal.numbers, deal.won, deal.points()) == (naive.contracts, naive.taken, naive.scores())
    assert choices > 0


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(TRUMP_LEADS), st.sampled_from(["trick", "visual"]))
def test_invariants_of_a_deal(seed, trump_lead, face_down):
    rng = random.Random(seed)
    deal = random_deal(rng, Rules(trump_lead=trump_lead, trump_face_down=face_down))
    while deal.phase is not Phase.OVER:
        deal.apply(rng.choice(deal.legal_actions()))
    assert sum(deal.won) == 13
    assert sorted(card for trick in deal.tricks for card in trick.cards) == list(range(52))
    assert sum(deal.numbers) != 13
    assert deal.mode is (Mode.ATAS if sum(deal.numbers) > 13 else Mode.BAWAH)
    for point, contract, won in zip(deal.points(), deal.numbers, deal.won, strict=True):
        assert (point > 0) == (won == contract >= 1)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 3))
def test_rotating_the_seats_rotates_everything(seed, shift):
    rng = random.Random(seed)
    deal = random_deal(rng)
    turned = Deal.from_hands([deal.hands[(seat - shift) % 4] for seat in range(4)])
    bids = []
    while deal.phase is Phase.BID:
        deal.apply(rng.choice(deal.legal_actions()))
    bids = [tuple(pile) for pile in deal.piles]
    for seat in range(4):
        turned.lay_bid(bids[(seat - shift) % 4])
    while deal.phase is not Phase.OVER:
        assert turned.to_move == (deal.to_move + shift) % 4
        action = rng.choice(deal.legal_actions())
        deal.apply(action)
        turned.apply(action)
    assert [turned.points()[(seat + shift) % 4] for seat in range(4)] == deal.points()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**9), st.permutations(range(4)))
def test_relabelling_the_suits_leaves_the_play_unchanged(seed, suits):
    """Suits are ranked in the bidding only: equal numbers aside, the play follows any relabelling."""
    rng = random.Random(seed)
    deal = random_deal(rng)
    while deal.phase is Phase.BID:
        deal.apply(rng.choice(deal.legal_actions()))
    if deal.numbers.count(max(deal.numbers)) > 1:
        return

    def relabel(card):
        return 13 * suits[card // 13] + card % 13

    other = Deal.from_hands([[relabel(c) for c in h] for h in deal.hands])
    for pile in deal.piles:
        other.lay_bid([relabel(card) for card in pile])
    assert other.winner == deal.winner
    while deal.phase is not Phase.OVER:
        action = rng.choice(deal.legal_actions())
        deal.apply(action)
        other.apply(relabel(action) if action < DONE else action)
    assert other.points() == deal.points()


def test_suit_rank_matters_in_the_bidding():
    """The counterpart: relabelling is no symmetry of the bids (R-8)."""
    first = deal_with(["4D", "4S", "AC", "AH"])
    for text in ("4D", "4S", "AC", "AH"):
        first.lay_bid(parse_cards(text))
    second = deal_with(["4S", "4D", "AC", "AH"])
    for text in ("4S", "4D", "AC", "AH"):
        second.lay_bid(parse_cards(text))
    assert (first.winner, second.winner) == (1, 0)


def play_ruff(rules=None):
    """Seat 0 leads 2H with trump D; seat 1 follows, seat 2 (no H) ruffs with 3D, seat 3 is to play."""
    deal = deal_with(["2H 7D KC", "5H", "3D 4D 5D 6D 8D 9D TD 2C 3C 4C 5C 6C AC", "KH AS"], rules)
    for text in ("7D", "AH" if parse_card("AH") in deal.hands[1] else "5H", "2C", "AS"):
        deal.lay_bid(parse_cards(text))
    if deal.phase is Phase.MODE:
        deal.apply(CHOOSE_BAWAH)
    assert (deal.winner, deal.trump) == (0, 0)
    for text in ("2H", "5H", "3D"):
        deal.apply(parse_card(text))
    return deal


def test_u50_a_face_down_trump_hides_its_rank_until_the_trick_is_complete():
    deal = play_ruff()
    assert deal.view(3).tricks[-1].cards == (parse_card("2H"), parse_card("5H"), FACE_DOWN)
    assert deal.view(0).tricks[-1].cards[-1] == FACE_DOWN
    assert deal.view(2).tricks[-1].cards[-1] == parse_card("3D")
    assert deal.view(None).tricks[-1].cards[-1] == FACE_DOWN
    assert "D?" in str(deal.view(3))
    deal.apply(deal.legal_actions()[0])
    assert deal.view(3).tricks[0].cards[2] == parse_card("3D")
    assert deal.to_move == 2


def test_u50_visual_rule_shows_the_rank_at_once():
    deal = play_ruff(Rules(trump_face_down="visual"))
    assert deal.view(3).tricks[-1].cards[-1] == parse_card("3D")


def test_bids_are_sealed():
    """What a seat sees before the reveal does not depend on the bids already laid."""
    rng = random.Random(3)
    deal = random_deal(rng)
    twin = Deal.from_hands(deal.hands)
    for _ in range(3):
        deal.lay_bid([deal.legal_actions()[0]])
        other = [a for a in twin.legal_actions() if a != DONE][-1]
        twin.lay_bid([other])
    assert str(deal.view(3)) == str(twin.view(3))
    deal.lay_bid([deal.legal_actions()[0]])
    assert str(deal.view(3)) != str(twin.view(3))


def other_world(deal, seat, rng):
    """The deal replayed with two cards hidden from `seat` exchanged, or None if that breaks a rule."""
    shown = {card for pile in deal.piles for card in pile} if deal.phase is not Phase.BID else set()
    table = deal.tricks[-1] if deal.tricks and len(deal.tricks[-1].cards) < 4 else None
    hidden = {s: [c for c in deal.hands[s] if c not in shown] for s in range(4) if s != seat}
    a, b = rng.sample(sorted(hidden), 2)
    if not hidden[a] or not hidden[b]:
        return None
    x, y = rng.choice(hidden[a]), rng.choice(hidden[b])
    swap = {x: y, y: x}
    played = [
        [c for t in deal.tricks for i, c in enumerate(t.cards) if (t.leader + i) % 4 == s] for s in range(4)
    ]
    hands = [[*(swap.get(c, c) for c in deal.hands[s]), *played[s]] for s in range(4)]
    twin = Deal.from_hands(hands)
    try:
        for pile in deal.piles:
            twin.lay_bid(pile)
        if twin.phase is Phase.MODE:
            twin.apply(CHOOSE_ATAS if deal.mode is Mode.ATAS else CHOOSE_BAWAH)
        for trick in deal.tricks:
            for card in trick.cards:
                twin.apply(card)
    except ValueError:
        return None
    assert table is None or twin.tricks[-1] == table
    return twin


def test_information_states_do_not_tell_hidden_cards():
    """Exchanging cards a seat cannot see changes neither its information state string nor its tensor."""
    game_ = pyspiel.load_game("python_truff")
    rng = random.Random(11)
    compared = 0
    for _ in range(25):
        deal = random_deal(rng)
        while deal.phase is Phase.BID:
            deal.apply(rng.choice(deal.legal_actions()))
        for _ in range(rng.randrange(45)):
            deal.apply(rng.choice(deal.legal_actions()))
        state, twin_state = game_.new_initial_state(), game_.new_initial_state()
        for seat in range(4):
            twin = other_world(deal, seat, rng)
            if twin is None or twin.to_move != deal.to_move:
                continue
            state.deal, twin_state.deal = deal, twin
            observer = game_.make_py_observer(pyspiel.IIGObservationType(perfect_recall=True))
            assert observer.string_from(state, seat) == observer.string_from(twin_state, seat)
            observer.set_from(state, seat)
            before = observer.tensor.copy()
            observer.set_from(twin_state, seat)
            assert np.array_equal(before, observer.tensor)
            compared += 1
    assert compared > 30


@pytest.mark.parametrize(
    "name",
    [
        "python_truff",
        "python_truff(utility=relative)",
        "python_truff(trump_lead=never,trump_face_down=visual,bid_max=20)",
        "python_truff(ranks=4,suits=2)",
        "python_truff(ranks=4,suits=2,players=2)",
        "python_truff(ranks=6,suits=2,players=3,trump_lead=first)",
    ],
)
def test_openspiel_random_play_with_serialization(name):
    pyspiel.random_sim_test(pyspiel.load_game(name), num_sims=2, serialize=True, verbose=False)


def test_every_small_deal_is_reached_once_and_equally_likely():
    deals: Counter[str] = Counter()

    def walk(state, chance):
        if not state.is_chance_node():
            deals[str(state.deal.hands)] += 1
            assert chance == pytest.approx(1 / 70)
            return
        for card, p in state.chance_outcomes():
            walk(state.child(card), chance * p)

    walk(pyspiel.load_game("python_truff(ranks=4,suits=2,players=2)").new_initial_state(), 1.0)
    assert len(deals) == 70
    assert set(deals.values()) == {1}


def test_a_hand_may_be_dealt_in_any_order():
    state = pyspiel.load_game("python_truff").new_initial_state()
    for card in reversed(range(52)):
        assert sum(p for _, p in state.chance_outcomes()) == pytest.approx(1)
        state.apply_action(card)
    assert state.deal.hands[3] == list(range(13))


def test_relative_utility_is_zero_sum_and_own_minus_the_mean():
    rng = random.Random(5)
    deal = random_deal(rng, Rules(utility="relative"))
    while deal.phase is not Phase.OVER:
        deal.apply(rng.choice(deal.legal_actions()))
    own = deal.points()
    assert sum(deal.utilities()) == pytest.approx(0)
    assert deal.utilities()[0] == pytest.approx(own[0] - sum(own[1:]) / 3)


def test_match_adds_up_and_ends():
    match = Match(deals=2)
    match.add([5, -4, 3, -1])
    match.add([-5, 4, 2, 1])
    assert (match.totals(), match.winners(), match.is_over()) == ([0, 0, 5, 0], [2], True)
    with pytest.raises(ValueError, match="over after 2"):
        match.add([0, 0, 0, 0])


def test_illegal_moves_are_refused():
    deal = random_deal(random.Random(1))
    with pytest.raises(ValueError, match="illegal action 52 in phase bid"):
        deal.apply(DONE)
    with pytest.raises(ValueError, match="not over"):
        deal.points()
    with pytest.raises(ValueError, match="all cards are dealt"):
        deal.deal_card(0)


def told(deal, seat):
    """The deal as `seat` tells it: seats renumbered from itself."""
    n = deal.rules.players
    view = deal.view(seat)
    mine = [c for t in deal.tricks for i, c in enumerate(t.cards) if (t.leader + i) % n == seat]
    bids = [tuple(deal.piles[(seat + i) % n]) for i in range(n)]
    plays = [card for trick in view.tricks for card in trick.cards]
    mode = deal.mode if sum(map(bid_number, bids)) == deal.rules.tricks else None
    return told_view([*view.hand, *mine], bids, plays, mode, deal.rules)


@pytest.mark.parametrize("trump_lead", TRUMP_LEADS)
def test_a_told_deal_gives_the_view_of_the_teller(trump_lead):
    rng = random.Random(13)
    for _ in range(60):
        deal = random_deal(rng, Rules(trump_lead=trump_lead))
        while deal.phase is Phase.BID:
            legal = deal.legal_actions()
            deal.apply(DONE if DONE in legal else legal[0])
        while True:
            for seat in range(4):
                view, again = deal.view(seat), told(deal, seat)
                turn = [(seat + i) % 4 for i in range(4)]
                assert again.hand == view.hand
                assert again.phase == view.phase
                assert (turn[again.to_move], turn[again.contract_winner]) == (
                    view.to_move,
                    view.contract_winner,
                )
                assert (again.trump, again.mode) == (view.trump, view.mode)
                assert [view.numbers[s] for s in turn] == list(again.numbers)
                assert [view.won[s] for s in turn] == list(again.won)
                assert [(turn[t.leader], t.cards) for t in again.tricks] == [
                    (t.leader, t.cards) for t in view.tricks
                ]
            if deal.phase is Phase.OVER:
                break
            for _ in range(rng.randrange(1, 9)):
                if deal.phase is not Phase.OVER:
                    deal.apply(rng.choice(deal.legal_actions()))


HAND = "2H 7D KC 2C 4C 6C 8C TC 3S 5S 7S 9S JS"
BIDS = "7D / 5H / 6S / AC"


@pytest.mark.parametrize(
    ("bids", "plays", "mode", "message"),
    [
        ("7D / 5H / 6S", "", None, "4 bids are needed"),
        ("8D / 5H / 6S / AC", "", None, "bid cards not in the hand: 8D"),
        ("7D / 2H / 6S / AC", "", None, "seat 1 cannot show 2H"),
        ("7D / 5H / KS / AC", "", None, "seat 2's cards are not a bid: KS"),
        (BIDS, "7D", None, "you cannot play 7D: legal are"),
        (BIDS, "3H", None, "not in your hand"),
        (BIDS, "2H 7S", None, "seat 1 cannot play 7S: it is in your hand"),
        (BIDS, "2H 6S", None, "seat 2 showed it"),
        (BIDS, "2H 3C", None, "seat 1 cannot play C: it showed 5H"),
        (BIDS, "2H 5H KH KH", None, "seat 3 cannot play KH: played before"),
        (BIDS, "2H 5H ? KH", None, "trick 1 is complete"),
        (BIDS, "?", None, "name your own card"),
        (BIDS, "2H 5H 3C 4H / 2C", None, "seat 1 cannot play 2C"),
        (BIDS, "2H 5H 3C 4H / KH 7H", None, "seat 2 cannot play H: earlier plays show"),
        # Seat 1 led a trump before any was played, so it has nothing else.
        (BIDS, "2H 5H 3C 4H / 8D 9D TD 7D / KH 3S 9H", None, "seat 1 cannot play H: earlier plays show"),
        (BIDS, "2H", Mode.BAWAH, "the mode is atas"),
        ("7D / AH / 4S / AC", "2H", None, "the mode must be given before plays"),
    ],
)
def test_a_story_that_cannot_be_true_is_refused(bids, plays, mode, message):
    with pytest.raises(ValueError, match=message):
        told_view(parse_cards(HAND), parse_bids(bids), parse_plays(plays), mode)
