"""What the seat to move can see of an engine state; honest players look at hidden cards through it only.

The seat knows its hand, the shown bids, the numbers, tricks taken, voids, and SEEN; of a face-down trump on
the table it knows the suit, not the rank.
"""

import numpy as np

from solver.jit import njit
from solver.truff.engine import (
    BEST,
    COUNT,
    HAND,
    HIDDEN,
    PACK,
    SEEN,
    TABLE,
    TRUMP,
    TURN,
    popcount,
    suit_cards,
)


@njit
def unseen_cards(state: np.ndarray, cfg: np.ndarray) -> int:
    """Cards whose place the seat to move does not see: other hands and face-down trumps on the table."""
    return cfg[PACK] & ~state[SEEN] & ~state[HAND + state[TURN]]


@njit
def face_down_trumps(state: np.ndarray, cfg: np.ndarray) -> int:
    """Trumps lying face down on the table."""
    if not cfg[HIDDEN]:
        return 0
    hidden = 0
    for place in range(state[COUNT]):
        hidden += state[TABLE + place] // 13 == state[TRUMP]
    return hidden


@njit
def ahead_chance(state: np.ndarray, card: int, unseen: int, hidden: int) -> float:
    """Chance that `card` leads the trick as it lies; strictly between 0 and 1 only above face-down trumps.

    `unseen` and `hidden` are what `unseen_cards` and `face_down_trumps` say. Face-down ranks are taken as
    uniform over the unseen trumps.
    """
    if state[COUNT] == 0:
        return 1.0
    trump = state[TRUMP]
    if hidden == 0:
        best = state[TABLE + state[BEST]]
        if card // 13 == best // 13:
            return 1.0 if card > best else 0.0
        return 1.0 if card // 13 == trump else 0.0
    if card // 13 != trump:
        return 0.0
    trumps = suit_cards(unseen, trump)
    total = popcount(trumps)
    lower = popcount(trumps & ((1 << card) - 1))
    chance = 1.0
    for i in range(hidden):
        chance *= max(0, lower - i) / (total - i)
    return chance


@njit
def higher_unseen(card: int, unseen: int) -> int:
    """Unseen cards of the suit of `card` that outrank it."""
    return popcount(suit_cards(unseen, card // 13) >> (card + 1))
