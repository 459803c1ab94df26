"""Simulated bids: deal the other hands at random, let those seats bid by the learned bidder, play out, and count."""

import numpy as np

from solver.jit import njit
from solver.truff.baseline import rule_mode
from solver.truff.bidding import Bidder, bid_values, choose_bid, random_net
from solver.truff.bids import CARDS, MAX_SHORTLIST, shortlist
from solver.truff.engine import (
    BID,
    HAND,
    MODE,
    NUMBER,
    PACK,
    PLAYERS,
    STATE_SIZE,
    TRICKS,
    UNDECIDED,
    WINNER,
    WON,
    choose_mode,
    points,
    random_card,
    reveal,
)
from solver.truff.policy import Policy
from solver.truff.search import play_out

POINTS, TRICKS_WON, WON_CONTRACT, CONTRACT = range(4)
"""Columns of simulated outcomes; WON_CONTRACT is 0 or 1, CONTRACT the number in force."""
_CANDIDATES = 8


@njit
def _deal_others(state: np.ndarray, cfg: np.ndarray, hand: int, rng: np.ndarray) -> None:
    """Give seat 0 `hand` and the other seats random hands of the rest."""
    state[:] = 0
    state[HAND] = hand
    rest = cfg[PACK] & ~hand
    for seat in range(1, cfg[PLAYERS]):
        for _ in range(cfg[TRICKS]):
            card = random_card(rng, rest)
            rest &= ~(1 << card)
            state[HAND + seat] |= 1 << card


@njit
def simulate_hand(
    hand: int,
    bids: np.ndarray,
    cfg: np.ndarray,
    policy: Policy,
    bidder: Bidder,
    deals: int,
    rng: np.ndarray,
) -> np.ndarray:
    """Outcomes int64[len(bids), deals, 4] of laying each bid, by the columns above.

    bids: int64[n] bitboards. The other seats' cards and bids are the same for all of them.
    """
    state = np.empty(STATE_SIZE, dtype=np.int64)
    after = np.empty(STATE_SIZE, dtype=np.int64)
    outcomes = np.empty((len(bids), deals, 4), dtype=np.int64)
    for d in range(deals):
        _deal_others(state, cfg, hand, rng)
        for seat in range(1, cfg[PLAYERS]):
            state[BID + seat] = choose_bid(state[HAND + seat], cfg, bidder, random_net(bidder, rng))
        for i in range(len(bids)):
            after[:] = state
            after[BID] = bids[i]
            reveal(after, cfg)
            if after[MODE] == UNDECIDED:
                choose_mode(after, cfg, rule_mode(after))
            play_out(after, cfg, policy)
            outcomes[i, d, POINTS] = points(after, 0)
            outcomes[i, d, TRICKS_WON] = after[WON]
            outcomes[i, d, WON_CONTRACT] = after[WINNER] == 0
            outcomes[i, d, CONTRACT] = after[NUMBER]
    return outcomes


@njit
def simulated_bid(
    hand: int, cfg: np.ndarray, policy: Policy, bidder: Bidder, deals: int, rng: np.ndarray
) -> int:
    """The bid cards with the best mean points over `deals` simulated deals.

    Tried are the eight bids that the bidder's networks value most on average.
    """
    bids = np.empty((MAX_SHORTLIST, 3), dtype=np.int64)
    values = np.empty(MAX_SHORTLIST, dtype=np.float64)
    count = shortlist(hand, cfg, bids)
    mean = np.zeros(count)
    for net in range(len(bidder[3])):
        bid_values(hand, bids, count, bidder, net, values)
        mean += values[:count]
    tried = bids[np.argsort(-mean)[:_CANDIDATES], CARDS].copy()
    outcomes = simulate_hand(hand, tried, cfg, policy, bidder, deals, rng)
    totals = np.array([outcomes[i, :, POINTS].sum() for i in range(len(tried))])
    return tried[np.argmax(totals)]
