"""A survey of random hands: what the learned bidder lays, and how that fares, for tables by hand type."""

from dataclasses import dataclass

import numpy as np

from game.truff.rules import Rules
from solver.jit import njit
from solver.truff.bidding import Bidder, bid_values
from solver.truff.bids import CARDS, COUNTED, DENOMINATION, MAX_SHORTLIST, shortlist
from solver.truff.engine import HAND, STATE_SIZE, config, deal_cards, new_rng, popcount, suit_cards
from solver.truff.policy import Policy
from solver.truff.simulation import CONTRACT, POINTS, TRICKS_WON, simulate_hand

_HONOURS = sum(0b1110000000000 << (13 * suit) for suit in range(4))


@dataclass(frozen=True)
class Survey:
    """One entry per hand (arrays of the same length).

    longest: cards in the longest suit. honours: aces, kings and queens. number, denomination: the bid.
    in_longest: whether its suit is a longest one. points, made: means over the simulated deals.
    """

    longest: np.ndarray
    honours: np.ndarray
    number: np.ndarray
    denomination: np.ndarray
    in_longest: np.ndarray
    points: np.ndarray
    made: np.ndarray


@njit
def _survey(
    cfg: np.ndarray, policy: Policy, bidder: Bidder, deals: int, rng: np.ndarray, rows: np.ndarray
) -> None:
    state = np.empty(STATE_SIZE, dtype=np.int64)
    bids = np.empty((MAX_SHORTLIST, 3), dtype=np.int64)
    values = np.empty(MAX_SHORTLIST, dtype=np.float64)
    for i in range(len(rows)):
        deal_cards(state, cfg, rng)
        hand = state[HAND]
        count = shortlist(hand, cfg, bids)
        mean = np.zeros(count)
        for net in range(len(bidder[3])):
            bid_values(hand, bids, count, bidder, net, values)
            mean += values[:count]
        bid = bids[np.argmax(mean)]
        lengths = np.zeros(5, dtype=np.int64)
        for suit in range(4):
            lengths[suit] = popcount(suit_cards(hand, suit))
        outcomes = simulate_hand(hand, bid[CARDS : CARDS + 1], cfg, policy, bidder, deals, rng)[0]
        rows[i, 0] = lengths.max()
        rows[i, 1] = popcount(hand & _HONOURS)
        rows[i, 2] = bid[COUNTED]
        rows[i, 3] = bid[DENOMINATION]
        rows[i, 4] = lengths[bid[DENOMINATION]] == lengths.max()
        rows[i, 5] = outcomes[:, POINTS].mean()
        rows[i, 6] = (outcomes[:, TRICKS_WON] == outcomes[:, CONTRACT]).mean()


def survey_hands(hands: int, deals: int, seed: int, rules: Rules, policy: Policy, bidder: Bidder) -> Survey:
    """`hands` random hands with the learned bid, each simulated `deals` times."""
    rows = np.empty((hands, 7))
    _survey(config(rules), policy, bidder, deals, new_rng(seed), rows)
    longest, honours, number, denomination, in_longest = rows[:, :5].T.astype(np.int64)
    return Survey(longest, honours, number, denomination, in_longest, rows[:, 5], rows[:, 6])
