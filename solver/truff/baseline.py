"""The rule-based Truff player: what a sensible person does by counting. Frozen, because figures refer to it.

Bid: count sure and likely tricks in each denomination and bid the best count that the cards can show. Mode at
T = tricks: Atas if the own number is 5 or more. Play: while tricks are needed, win as cheaply as possible;
once they are not, lose with the highest card that loses.
"""

import numpy as np

from game.truff.cards import NO_TRUFF
from game.truff.rules import Mode
from solver.jit import njit
from solver.truff.bids import CARDS, COUNTED, DENOMINATION
from solver.truff.engine import (
    COUNT,
    HAND,
    NUMBER,
    PLAYERS,
    TABLE,
    TRUMP,
    TURN,
    WINNER,
    WON,
    legal_plays,
    lowest,
    popcount,
    suit_cards,
)
from solver.truff.sight import ahead_chance, face_down_trumps, higher_unseen, unseen_cards

_NT = NO_TRUFF
_ATAS, _BAWAH = int(Mode.ATAS), int(Mode.BAWAH)


@njit
def likely_tricks(hand: int, trump: int) -> float:
    """Tricks the hand may expect with this trump: honours, plus length and ruffs in trumps."""
    tricks = 0.0
    for suit in range(4):
        cards = suit_cards(hand, suit) >> (13 * suit)
        length = popcount(cards)
        ace, king, queen, jack = cards >> 12 & 1, cards >> 11 & 1, cards >> 10 & 1, cards >> 9 & 1
        if suit == trump:
            tricks += ace + 0.85 * king + 0.6 * queen + 0.4 * jack + 0.5 * max(0, length - 3)
            continue
        worth = 0.9 * ace + 0.6 * king * (length >= 2) + 0.25 * queen * (length >= 3)
        if trump == _NT:
            tricks += worth + 0.3 * max(0, length - 4)
        else:
            tricks += worth if length <= 4 else 0.75 * worth  # long side suits get ruffed
            if popcount(suit_cards(hand, trump)) >= 2:
                tricks += 0.4 * max(0, 2 - length)
    return tricks


@njit
def rule_bid(hand: int, bids: np.ndarray, count: int) -> int:
    """The cards of the shortlisted bid with many likely tricks that its number nearly names."""
    best, best_score = bids[0, CARDS], -1e9
    for i in range(count):
        tricks = likely_tricks(hand, bids[i, DENOMINATION])
        score = tricks - 2.0 * abs(tricks - bids[i, COUNTED])
        if score > best_score:
            best_score = score
            best = bids[i, CARDS]
    return best


@njit
def rule_mode(state: np.ndarray) -> int:
    """Atas when the contract winner asked for 5 tricks or more."""
    return _ATAS if state[NUMBER + state[WINNER]] >= 5 else _BAWAH


@njit
def rule_play(state: np.ndarray, cfg: np.ndarray) -> int:
    """The card of the seat to move. Reads what that seat sees and nothing else."""
    seat = state[TURN]
    unseen = unseen_cards(state, cfg)
    hidden = face_down_trumps(state, cfg)
    wants = state[NUMBER + seat] > state[WON + seat]
    last = state[COUNT] == cfg[PLAYERS] - 1
    led = state[TABLE] // 13
    best, best_score = -1, -1e9
    rest = legal_plays(state, cfg)
    while rest:
        card = lowest(rest)
        rest &= rest - 1
        rank = card % 13 + (13 if card // 13 == state[TRUMP] else 0)
        if state[COUNT] == 0:
            strength = -float(higher_unseen(card, unseen))
            length = popcount(suit_cards(state[HAND + seat], card // 13))
            score = strength + 0.1 * length if wants else -strength - 0.1 * length
        else:
            wins = ahead_chance(state, card, unseen, hidden) > 0.5
            if wants and wins:
                # Cheapest when nobody can overtake or when ruffing, else the strongest card of the led suit.
                score = 100.0 - rank if last or card // 13 != led else 100.0 + rank
            elif wants:
                score = -float(rank)
            elif not wins:
                score = 100.0 + card % 13 + (0.5 if card // 13 == state[TRUMP] else 0.0)
            else:
                score = float(rank) if last else -float(rank)
        if score > best_score:
            best, best_score = card, score
    return best
