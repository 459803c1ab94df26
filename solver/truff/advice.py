"""Advice for one player: which bid to lay, which mode to choose, which card to play, and what each is worth.

Bids are simulated against hands dealt at random to seats that bid by the learned bidder; all seats then play the
rollout policy. Mode and plays come from the honest search. Values are points of the deal.
"""

from dataclasses import dataclass

import numpy as np

from game.truff.cards import suit_of
from game.truff.deal import FACE_DOWN, Phase, View
from game.truff.rules import Bid, Mode, Rules, bid_denomination, bid_number, check_hand, legal_bids
from solver.truff.bidding import Bidder
from solver.truff.bids import CARDS, MAX_SHORTLIST, shortlist
from solver.truff.engine import (
    BID,
    HAND,
    MODE,
    STATE_SIZE,
    UNDECIDED,
    cards_of,
    choose_mode,
    config,
    mask_of,
    new_rng,
    play,
    points_for,
    reveal,
)
from solver.truff.policy import Policy
from solver.truff.search import distinct_plays, draw_worlds, play_outcomes, search_mode
from solver.truff.simulation import CONTRACT, POINTS, TRICKS_WON, WON_CONTRACT, simulate_hand

_LEADING = 6


@dataclass(frozen=True)
class BidAdvice:
    """One bid and what it earned in simulation.

    points and error: mean and its standard error. made: share of deals with the contract made exactly.
    wins_contract: share of deals in which it named the trump. tricks: shares of 0, 1, ... tricks won.
    """

    cards: Bid
    number: int
    denomination: int
    points: float
    error: float
    made: float
    wins_contract: float
    tricks: tuple[float, ...]


@dataclass(frozen=True)
class PlayAdvice:
    """One card and what playing it earned: mean points, standard error, share made exactly, shares of tricks won."""

    card: int
    points: float
    error: float
    made: float
    tricks: tuple[float, ...]


@dataclass(frozen=True)
class ModeAdvice:
    """The mode to choose and the mean points of both."""

    mode: Mode
    atas: float
    bawah: float


def shortlisted(hand: list[int], rules: Rules) -> list[Bid]:
    """One bid per denomination and number: the card set that wins ties, which has the fewest cards."""
    bids = np.empty((MAX_SHORTLIST, 3), dtype=np.int64)
    count = shortlist(mask_of(hand), config(rules), bids)
    return [tuple(cards_of(int(mask))) for mask in bids[:count, CARDS]]


def same_contract(hand: list[int], bid: Bid, rules: Rules) -> list[Bid]:
    """All card sets of the hand that show the same denomination and number as `bid`."""
    wanted = (bid_denomination(bid), bid_number(bid))
    return [b for b in legal_bids(hand, rules) if (bid_denomination(b), bid_number(b)) == wanted]


def advise_bids(
    hand: list[int],
    bids: list[Bid],
    rules: Rules,
    policy: Policy,
    bidder: Bidder,
    deals: int,
    seed: int,
) -> list[BidAdvice]:
    """The bids, best first by mean points over the same `deals` simulated deals.

    Equal means (same contract, other cards) are ordered by what they show: fewest cards, then the lowest ones.
    Raises ValueError unless the hand is full.
    """
    check_hand(hand, rules)
    cfg = config(rules)
    masks = np.array([mask_of(bid) for bid in bids], dtype=np.int64)
    outcomes = simulate_hand(mask_of(hand), masks, cfg, policy, bidder, deals, new_rng(seed))
    advice = []
    for bid, out in zip(bids, outcomes, strict=True):
        advice.append(
            BidAdvice(
                cards=bid,
                number=bid_number(bid),
                denomination=bid_denomination(bid),
                points=float(out[:, POINTS].mean()),
                error=float(out[:, POINTS].std(ddof=1) / deals**0.5),
                made=float((out[:, TRICKS_WON] == out[:, CONTRACT]).mean()),
                wins_contract=float(out[:, WON_CONTRACT].mean()),
                tricks=_shares(out[:, TRICKS_WON], rules),
            )
        )
    return sorted(advice, key=lambda a: (-a.points, len(a.cards), [card % 13 for card in a.cards]))


def rank_bids(
    hand: list[int], rules: Rules, policy: Policy, bidder: Bidder, deals: int, seed: int
) -> tuple[list[BidAdvice], list[BidAdvice]]:
    """Every contract of the hand, best first, and the ways to show the best one.

    A quarter of `deals` ranks all contracts; the best six, and the ways, get `deals` each.
    """
    check_hand(hand, rules)
    first = advise_bids(hand, shortlisted(hand, rules), rules, policy, bidder, max(2, deals // 4), seed)
    leading = [bid.cards for bid in first[:_LEADING]]
    best = advise_bids(hand, leading, rules, policy, bidder, deals, seed + 1)
    ways = same_contract(hand, best[0].cards, rules)
    return best + first[_LEADING:], advise_bids(hand, ways, rules, policy, bidder, deals, seed + 1)


def advise_play(
    view: View, policy: Policy, bidder: Bidder, settings: np.ndarray, seed: int
) -> list[PlayAdvice]:
    """The distinct plays (touching cards once, by the lowest), best first; ValueError if it is not your turn."""
    if view.phase is not Phase.PLAY or view.to_move != view.seat:
        raise ValueError("it is not your turn to play a card")
    cfg, state = config(view.rules), state_of_view(view)
    cards = np.array(cards_of(int(distinct_plays(state, cfg))), dtype=np.int64)
    worlds = draw_worlds(state, cfg, policy, bidder, settings, new_rng(seed))
    won = play_outcomes(state, cfg, policy, cards, worlds)
    number = view.numbers[view.seat]
    worth = np.array([points_for(state[MODE], number, w) for w in range(view.rules.tricks + 1)])
    advice = [
        PlayAdvice(
            card=int(card),
            points=float(worth[w].mean()),
            error=float(worth[w].std() / len(w) ** 0.5),
            made=float((w == number).mean()),
            tricks=_shares(w, view.rules),
        )
        for card, w in zip(cards, won, strict=True)
    ]
    return sorted(advice, key=lambda a: -a.points)


def advise_mode(view: View, policy: Policy, bidder: Bidder, settings: np.ndarray, seed: int) -> ModeAdvice:
    """The mode for the contract winner at T = 13; ValueError if the choice is not this seat's."""
    if view.phase is not Phase.MODE or view.to_move != view.seat:
        raise ValueError(
            "there is no mode for you to choose: the sum is not the number of tricks, or another won"
        )
    values = np.empty(2)
    mode = search_mode(
        state_of_view(view), config(view.rules), policy, bidder, settings, new_rng(seed), values
    )
    return ModeAdvice(Mode(mode), float(values[Mode.ATAS]), float(values[Mode.BAWAH]))


def state_of_view(view: View) -> np.ndarray:
    """An engine state that agrees with a view once the bids are shown; hidden cards are filled in arbitrarily.

    The search does not look at those.
    """
    assert view.bids is not None
    assert view.seat is not None
    rules, cfg = view.rules, config(view.rules)
    n = rules.players
    plays = [((t.leader + i) % n, card) for t in view.tricks for i, card in enumerate(t.cards)]
    hands = [set(bid) for bid in view.bids]
    hands[view.seat] |= set(view.hand)
    for seat, card in plays:
        if card != FACE_DOWN:
            hands[seat].add(card)
    free = [card for card in rules.pack if not any(card in hand for hand in hands)]
    seen = {card for _, card in plays}
    filled = []
    for seat, card in plays:
        if card == FACE_DOWN:
            # Any trump the seat may hold: an unseen one if not all of its cards are known, else one it has shown.
            known = sorted(hands[seat] - seen)
            choices = [*free, *known] if len(hands[seat]) < rules.tricks else known
            choices = [c for c in choices if suit_of(c) == view.trump]
            card = choices[0]
            seen.add(card)
            hands[seat].add(card)
            if card in free:
                free.remove(card)
        filled.append(card)
    for seat in range(n):
        while len(hands[seat]) < rules.tricks:
            hands[seat].add(free.pop())
    state = np.zeros(STATE_SIZE, dtype=np.int64)
    for seat in range(n):
        state[HAND + seat] = mask_of(tuple(hands[seat]))
        state[BID + seat] = mask_of(view.bids[seat])
    reveal(state, cfg)
    if state[MODE] == UNDECIDED and view.mode is not None:
        choose_mode(state, cfg, int(view.mode))
    for card in filled:
        play(state, cfg, card)
    return state


def _shares(won: np.ndarray, rules: Rules) -> tuple[float, ...]:
    counts = np.bincount(won, minlength=rules.tricks + 1) / len(won)
    return tuple(float(share) for share in counts)
