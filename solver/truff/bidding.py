"""Learned bids: a small network values every bid of a hand, and a bidder lays the bid with the highest value.

The network has one hidden layer over 0/1 inputs: the cards by role (trump suit; side suits from the longest
to the shortest), the number, the denomination, and how many cards are shown. A bidder is a set of such
networks, the best responses of fictitious play; a seat draws one of them at random for each deal, which plays
the average strategy.
"""

from importlib import resources
from pathlib import Path

import numpy as np

from game.truff.cards import NO_TRUFF
from solver.jit import njit
from solver.truff.baseline import rule_bid
from solver.truff.bids import CARDS, COUNTED, DENOMINATION, MAX_SHORTLIST, shortlist
from solver.truff.engine import SUIT_MASK, bid_suit, bid_sum, lowest, popcount, random_below

Bidder = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""K networks, float32: w1 [K, INPUTS, hidden], b1 [K, hidden], w2 [K, hidden], b2 [K]."""
ACTIVE = 16
"""Inputs that are 1 for any bid: 13 cards, number, denomination, cards shown."""
RULE_BASED = -1
"""In place of a network's number: bid as the rule-based player."""
_TRUMP_ROWS, _SIDE_ROWS = 0, 13
_NUMBER_ROWS = _SIDE_ROWS + 4 * 13
_DENOMINATION_ROWS = _NUMBER_ROWS + 14
_SHOWN_ROWS = _DENOMINATION_ROWS + 5
_MOST_SHOWN = 5
INPUTS = _SHOWN_ROWS + _MOST_SHOWN
_NT = NO_TRUFF
_LIKELIHOOD_FLOOR = 0.1


def load_bidder() -> Bidder:
    """The bidder that comes with the package (made by `truff train bids`)."""
    with (
        resources.files("solver.truff").joinpath("data/bidder.npz").open("rb") as file,
        np.load(file) as data,
    ):
        return data["w1"].astype(np.float32), data["b1"], data["w2"], data["b2"]


def save_bidder(bidder: Bidder, path: Path) -> None:
    """Write a bidder where `load_bidder` reads it, w1 in half precision; the file appears whole or not at all."""
    w1, b1, w2, b2 = bidder
    partial = path.with_suffix(".partial.npz")
    np.savez_compressed(partial, w1=w1.astype(np.float16), b1=b1, w2=w2, b2=b2)
    partial.replace(path)


def blank_bidder() -> Bidder:
    """One network that values every bid at 0, for kernels that are told not to use it."""
    return (
        np.zeros((1, INPUTS, 1), np.float32),
        np.zeros((1, 1), np.float32),
        np.zeros((1, 1), np.float32),
        np.zeros(1, np.float32),
    )


@njit
def card_inputs(hand: int, denomination: int, inputs: np.ndarray) -> int:
    """Write the inputs that the cards switch on for a bid of this denomination; returns how many (13)."""
    keys = np.zeros(4, dtype=np.int64)
    n = 0
    for suit in range(4):
        cards = hand >> (13 * suit) & SUIT_MASK
        if suit == denomination:
            while cards:
                inputs[n] = _TRUMP_ROWS + lowest(cards)
                cards &= cards - 1
                n += 1
            keys[suit] = -1
        else:
            keys[suit] = popcount(cards) << 13 | cards
    keys.sort()
    place = 0
    for i in range(3, -1, -1):
        if keys[i] < 0:
            continue
        cards = keys[i] & SUIT_MASK
        while cards:
            inputs[n] = _SIDE_ROWS + 13 * place + lowest(cards)
            cards &= cards - 1
            n += 1
        place += 1
    return n


@njit
def bid_inputs(number: int, denomination: int, shown: int, inputs: np.ndarray) -> None:
    """Write the three inputs that the bid itself switches on."""
    inputs[0] = _NUMBER_ROWS + number
    inputs[1] = _DENOMINATION_ROWS + denomination
    inputs[2] = _SHOWN_ROWS + min(shown, _MOST_SHOWN) - 1


@njit
def bid_values(hand: int, bids: np.ndarray, count: int, bidder: Bidder, net: int, values: np.ndarray) -> None:
    """Expected points of the shortlisted bids by network `net` of the bidder."""
    w1, b1, w2, b2 = bidder
    hidden = b1.shape[1]
    cards = np.empty(hidden, dtype=np.float32)
    inputs = np.empty(ACTIVE, dtype=np.int64)
    denomination = -1
    for i in range(count):
        if bids[i, DENOMINATION] != denomination:
            denomination = bids[i, DENOMINATION]
            cards[:] = b1[net]
            for k in range(card_inputs(hand, denomination, inputs)):
                cards += w1[net, inputs[k]]
        bid_inputs(bids[i, COUNTED], denomination, popcount(bids[i, CARDS]), inputs)
        value = b2[net]
        for h in range(hidden):
            unit = cards[h] + w1[net, inputs[0], h] + w1[net, inputs[1], h] + w1[net, inputs[2], h]
            value += max(unit, np.float32(0.0)) * w2[net, h]
        values[i] = value


@njit
def choose_bid(hand: int, cfg: np.ndarray, bidder: Bidder, net: int) -> int:
    """The bid cards that network `net`, or the rule-based player for RULE_BASED, lays with this hand."""
    bids = np.empty((MAX_SHORTLIST, 3), dtype=np.int64)
    count = shortlist(hand, cfg, bids)
    if net == RULE_BASED:
        return rule_bid(hand, bids, count)
    values = np.empty(MAX_SHORTLIST, dtype=np.float64)
    bid_values(hand, bids, count, bidder, net, values)
    return bids[np.argmax(values[:count]), CARDS]


@njit
def random_net(bidder: Bidder, rng: np.ndarray) -> int:
    """One of the bidder's networks."""
    return random_below(rng, len(bidder[3]))


@njit
def bid_log_likelihood(
    hand: int, shown: int, cfg: np.ndarray, bidder: Bidder, net: int, temperature: float
) -> float:
    """Log chance that a player with this hand shows a bid of this denomination and number.

    The player is taken to choose by softmax(value / temperature), and one time in ten at random.
    """
    bids = np.empty((MAX_SHORTLIST, 3), dtype=np.int64)
    values = np.empty(MAX_SHORTLIST, dtype=np.float64)
    count = shortlist(hand, cfg, bids)
    bid_values(hand, bids, count, bidder, net, values)
    number, denomination = bid_sum(shown), bid_suit(shown)
    top = values[:count].max()
    mass, chosen = 0.0, 0.0
    for i in range(count):
        weight = np.exp((values[i] - top) / temperature)
        mass += weight
        if bids[i, COUNTED] == number and bids[i, DENOMINATION] == denomination:
            chosen = weight
    return np.log((1.0 - _LIKELIHOOD_FLOOR) * chosen / mass + _LIKELIHOOD_FLOOR / count)
