"""The bids of a hand on bitboards: per denomination and number, the set that wins ties and shows least."""

import numpy as np

from game.truff.cards import NO_TRUFF
from solver.jit import njit
from solver.truff.engine import BID_MAX, BID_VALUES, NT_MIN, beats, bid_suit, lowest

MAX_SHORTLIST = 5 * 13
CARDS, COUNTED, DENOMINATION = range(3)
"""Columns of a shortlist: bid cards, number, denomination."""
_NT = NO_TRUFF


@njit
def shortlist(hand: int, cfg: np.ndarray, bids: np.ndarray) -> int:
    """Fill `bids` (int64[MAX_SHORTLIST, 3]) with one bid per denomination and number; returns how many.

    Of the sets with the same denomination and number the highest by R-8 and A-3 is kept: it has the fewest
    cards. Numbers above 13 (possible with a higher `bid_max`) are left out: they can never be made.
    """
    limit = min(cfg[BID_MAX], 13)
    best = np.zeros((5, 14), dtype=np.int64)
    usable = np.empty(40, dtype=np.int64)
    n = 0
    rest = hand
    while rest:
        card = lowest(rest)
        rest &= rest - 1
        if BID_VALUES[card]:
            usable[n] = card
            n += 1
    # Depth-first over subsets: `chosen[depth]` indexes `usable`; sums never exceed 13, so at most 13 deep.
    chosen = np.empty(16, dtype=np.int64)
    depth, mask, number, i = 0, 0, 0, 0
    while True:
        while i < n and number + BID_VALUES[usable[i]] > limit:
            i += 1
        if i < n:
            chosen[depth] = i
            depth += 1
            mask |= 1 << usable[i]
            number += BID_VALUES[usable[i]]
            suit = bid_suit(mask)
            if suit != _NT or number >= cfg[NT_MIN]:
                old = best[suit, number]
                if old == 0 or beats(mask, old):
                    best[suit, number] = mask
            i += 1
        elif depth == 0:
            break
        else:
            depth -= 1
            i = chosen[depth]
            mask &= ~(1 << usable[i])
            number -= BID_VALUES[usable[i]]
            i += 1
    count = 0
    for suit in range(5):
        for total in range(1, 14):
            if best[suit, total]:
                bids[count, CARDS] = best[suit, total]
                bids[count, COUNTED] = total
                bids[count, DENOMINATION] = suit
                count += 1
    return count
