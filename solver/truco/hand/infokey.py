"""The compact information key of the quick engine: what a player remembers of a hand, packed into an integer.

Deliberately coarse (some 0.13M keys over both seats), so that sampling visits each key often. A key holds the
Truco calls, the trick results and, while it is asked, the Envido chain exactly; cards are bucketed as the functions
below say. Once Envido is settled there remain who called or won it, three classes of the own value (in trick 1) and
four of the other's shown value: the chain, and so the score it led to, is forgotten. Of earlier tricks only the
winners are remembered. It leaks nothing: only what the seat may know goes in.
"""

from __future__ import annotations

import numpy as np

from game.truco.cards import MAX_ENVIDO, TIERS
from solver.jit import lean
from solver.truco.hand.engine import (
    ACCEPTED,
    ASKED,
    BUENAS,
    CARDS,
    DECLINED,
    ENVIDO_BY,
    ENVIDO_STATUS,
    FALTA,
    PENDING,
    PLAIN,
    PLAYED,
    REAL,
    RESULT,
    TABLE,
    TRICK_CARDS,
    TRICKS,
    TRUCO_BY,
    VALUE,
    WORTH,
)

KEY_VERSION = 1
"""To be raised whenever a key changes: solutions of another version are refused."""

_TIER = np.array(TIERS, np.int64)
# Buckets of strength tiers 1-14 (index 0 unused).
_FINE = np.array([0, 0, 0, 1, 1, 2, 3, 4, 5, 5, 5, 6, 6, 6, 6], np.int64)  # 7 classes for two cards in hand
_COARSE = np.array(
    [0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3], np.int64
)  # 4 classes for a card on the table
_MIDDLE = np.array([0, 0, 1, 2, 2, 3, 4, 5, 6, 6, 7, 8, 8, 9, 9], np.int64)  # 10 classes after trick 1


@lean
def own_envido_class(value: int) -> int:
    """Own Envido value once Envido is settled: no pair, low pair, high pair."""
    return 0 if value < 20 else 1 if value < 27 else 2


@lean
def shown_envido_class(value: int) -> int:
    """The other's shown Envido value: no pair, 20-25, 26-28, 29 and more."""
    return 0 if value < 20 else 1 if value < 26 else 2 if value < 29 else 3


@lean
def _relation(card: int, other: int) -> int:
    """0 if card beats other, 1 if parda, 2 if it loses."""
    return 0 if _TIER[card] < _TIER[other] else 1 if _TIER[card] == _TIER[other] else 2


@lean
def _hand_class(first: int, second: int) -> int:
    """Six classes of the two strongest cards, given their _FINE classes: 0 is the best."""
    if first <= 1:
        return 0 if second <= 3 else 1
    if first <= 3:
        return 2 if second <= 3 else 3
    return 4 if first <= 5 else 5


@lean
def info_key(state: np.ndarray, rules: np.ndarray, player: int) -> int:
    """Key of what the player remembers in this state; non-negative int64, different per seat."""
    other = 1 - player
    trick = state[TRICKS]
    key = player
    # Calls and stakes. While a Truco is pending the value follows from its level.
    key = key * 4 + state[VALUE] - 1
    key = key * 2 + (1 if state[PENDING] > 0 else 0)
    key = key * 3 + (0 if state[TRUCO_BY] < 0 else 1 if state[TRUCO_BY] == player else 2)
    key = key * 3 + trick
    for i in range(2):
        result = 0
        if i < trick:
            result = 1 if state[RESULT + i] < 0 else 2 if state[RESULT + i] == player else 3
        key = key * 4 + result
    # Envido: the chain while it is asked; afterwards who called or won, and roughly how much and what was shown.
    status = state[ENVIDO_STATUS]
    envido = 0
    if status == ASKED:
        envido = 1 + 4 * state[PLAIN] + 2 * state[REAL] + state[FALTA]
    elif status == DECLINED:
        envido = 20 + (1 if state[ENVIDO_BY] == player else 0)
    elif status == ACCEPTED:
        won = 1 if (state[WORTH] >= state[WORTH + 1]) == (player == 0) else 0
        # With `buenas` pie's lower value stays hidden: mano knows no more than that he won.
        hidden = rules[BUENAS] == 1 and player == 0 and won == 1
        shown = 0 if hidden else 1 + shown_envido_class(state[WORTH + other])
        envido = 22 + won * 5 + shown
    key = key * 32 + envido
    own = 0
    if trick == 0 and status == ACCEPTED:
        own = own_envido_class(state[WORTH + player])
    elif trick == 0 and status != DECLINED:
        own = state[WORTH + player]
    key = key * (MAX_ENVIDO + 1) + own
    # Cards held, strongest first, against the card on the table where it is the other's.
    theirs = state[TABLE] >= 0 and state[TRICK_CARDS + 2 * trick + other] == state[TABLE]
    mine = state[TABLE] >= 0 and not theirs
    key = key * 3 + (1 if theirs else 2 if mine else 0)
    cards = 0
    held = 0
    pattern = 0
    first = 0
    second = 0
    for slot in range(3):
        if not (state[PLAYED + player] >> slot) & 1:
            card = state[CARDS + 3 * player + slot]
            if held == 0:
                first = _TIER[card]
            elif held == 1:
                second = _TIER[card]
            if theirs:
                pattern = pattern * 3 + _relation(card, state[TABLE])
            held += 1
    if status == ASKED:
        # The value decides; of the cards a rough class will do.
        cards = _hand_class(_FINE[first], _FINE[second])
        pattern = pattern // 9 if theirs else _COARSE[_TIER[state[TABLE]]] if mine else 0
    elif trick == 0:
        cards = _FINE[first] * 7 + _FINE[second]
        if mine:
            pattern = _FINE[_TIER[state[TABLE]]]
    elif trick == 1:
        if theirs:
            cards = _FINE[first] * 7 + _FINE[second]
        else:
            cards = _MIDDLE[first] * 10 + (_MIDDLE[second] if held > 1 else 0)
        if mine:
            pattern = _COARSE[_TIER[state[TABLE]]]
    else:
        cards = first if held > 0 and not theirs else 0
        if mine:
            pattern = _TIER[state[TABLE]]
    key = key * 108 + pattern
    return key * 100 + cards
