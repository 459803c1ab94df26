"""The hand of Truco as numba kernels over a small integer array: deal, legal actions, apply.

The twin of `game.truco.hand.Hand`, and tested move by move against it. A state is an int32 array of
STATE_SIZE fields (the constants below); actions are the numbers of `game.truco.actions`. Cards lie in slots
ordered from the strongest to the weakest, so slot numbers mean strength.
"""

from __future__ import annotations

import numpy as np

from game.truco.actions import ENVIDO, FALTA_ENVIDO, MAZO, NO_QUIERO, QUIERO, REAL_ENVIDO, TRUCO
from game.truco.cards import DECK_SIZE, ENVIDO_POINTS, TIERS
from game.truco.equity import EquityTable
from game.truco.hand import Hand
from game.truco.rules import Rules
from solver.jit import lean

# Fields of a state. Players are 0 = mano, 1 = pie; -1 stands for nobody or nothing.
SCORE = 0  # two: match points of mano, pie
ON_TURN = 2  # who plays the next card once calls are settled
VALUE = 3  # round value, 1-4
PENDING = 4  # level of the unanswered Truco call, 0 if none
TRUCO_BY = 5  # who made the latest Truco call
PLAIN = 6  # plain Envidos in the chain
REAL = 7  # 1 if the chain holds a Real Envido
FALTA = 8  # 1 if the chain holds a Falta Envido
ENVIDO_STATUS = 9  # OPEN, ASKED, DECLINED or ACCEPTED
ENVIDO_BY = 10  # who made the latest Envido call
TRICKS = 11  # finished tricks
RESULT = 12  # three: winner of each finished trick, PARDA if none
TABLE = 15  # card led in the unfinished trick, -1 if none
OVER = 16
PLAYED = 17  # two: bit mask of the slots played
CARDS = 19  # six: the three slots of mano, then of pie
TRICK_CARDS = 25  # six: mano's and pie's card of each trick
WORTH = 31  # two: Envido values of the dealt hands
STATE_SIZE = 33

OPEN, ASKED, DECLINED, ACCEPTED = range(4)
PARDA = -1

# Fields of a rules vector.
TARGET, ENVIDO_ON, BUENAS, ANY_RAISE, ENVIDO_LATE, MAX_PLAIN, HALVES, ADDS, BOTH, BONUS, HAND_SIZE = range(11)

MAX_LEGAL = 10
"""Room that `legal` needs; no decision has more actions."""

_TIER = np.array(TIERS, np.int32)
_POINTS = np.array(ENVIDO_POINTS, np.int32)


def rules_vector(rules: Rules) -> np.ndarray:
    """The fields of the rules that the kernels read, int32.

    Raises ValueError for a small deck or hand and for revealed hands, which only the exact solvers play.
    """
    if len(rules.deck) != DECK_SIZE or rules.hand_size != 3:
        raise ValueError("the full-hand engine plays the 40-card deck with hands of 3, not a small game")
    if rules.envido_reveal == "hands":
        raise ValueError("the full-hand engine plays envido_reveal values or buenas, not hands")
    return np.array(
        [
            rules.target,
            rules.envido,
            rules.envido_reveal == "buenas",
            rules.raise_right == "any",
            rules.envido_after_truco == "allow",
            rules.max_envido,
            rules.falta == "malas_buenas",
            rules.falta_accept == "adds",
            rules.fold_vs_envido == "both",
            rules.first_trick_fold_bonus,
            rules.hand_size,
        ],
        np.int32,
    )


def utility_table(rules: Rules, scores: tuple[int, int], equity: EquityTable | None) -> np.ndarray:
    """Mano's utility for each score (mano, pie) after a hand that began at `scores`; float64 (target + 1)^2.

    Points made minus points conceded, or with an equity table 2 x match-win probability - 1.
    """
    size = rules.target + 1
    mano, pie = np.indices((size, size))
    if equity is None:
        return (mano - scores[0] - pie + scores[1]).astype(np.float64)
    table = np.zeros((size, size))
    for a, b in np.ndindex(size, size):
        table[a, b] = 2.0 * equity.after_hand(a, b) - 1.0
    return table


def encode(hand: Hand) -> np.ndarray:
    """The engine's state of a hand, by replaying its history."""
    state = np.empty(STATE_SIZE, np.int32)
    rules = rules_vector(hand.rules)
    deal(state, np.array(hand.cards, np.int32).ravel(), *hand.start_scores)
    for _, action in hand.history:
        apply(state, rules, action)
    return state


@lean
def stronger(a: int, b: int) -> bool:
    """Whether card a sorts before card b: by tier, equal tiers by index."""
    return _TIER[a] < _TIER[b] or (_TIER[a] == _TIER[b] and a < b)


@lean
def envido_worth(a: int, b: int, c: int) -> int:
    """Envido value of three cards (R-20)."""
    best = max(_POINTS[a], _POINTS[b], _POINTS[c])
    if a // 10 == b // 10:
        best = max(best, 20 + _POINTS[a] + _POINTS[b])
    if a // 10 == c // 10:
        best = max(best, 20 + _POINTS[a] + _POINTS[c])
    if b // 10 == c // 10:
        best = max(best, 20 + _POINTS[b] + _POINTS[c])
    return best


@lean
def deal(state: np.ndarray, cards: np.ndarray, mano_score: int, pie_score: int) -> None:
    """Fills `state` with a fresh hand; `cards` holds mano's three cards, then pie's."""
    state[:] = 0
    state[SCORE] = mano_score
    state[SCORE + 1] = pie_score
    state[VALUE] = 1
    state[TRUCO_BY] = -1
    state[ENVIDO_BY] = -1
    state[TABLE] = -1
    for i in range(6):
        state[TRICK_CARDS + i] = -1
    for player in range(2):
        a, b, c = cards[3 * player], cards[3 * player + 1], cards[3 * player + 2]
        if stronger(b, a):
            a, b = b, a
        if stronger(c, b):
            b, c = c, b
        if stronger(b, a):
            a, b = b, a
        slot = CARDS + 3 * player
        state[slot], state[slot + 1], state[slot + 2] = a, b, c
        state[WORTH + player] = envido_worth(a, b, c)


@lean
def mover(state: np.ndarray) -> int:
    """Player to decide; meaningless once the hand is over."""
    if state[ENVIDO_STATUS] == ASKED:
        return 1 - state[ENVIDO_BY]
    if state[PENDING] > 0:
        return 1 - state[TRUCO_BY]
    return state[ON_TURN]


@lean
def may_open_envido(state: np.ndarray, rules: np.ndarray) -> bool:
    """Whether the mover, not answering an Envido, may call one (A-6, A-7, A-8)."""
    return (
        rules[ENVIDO_ON] == 1
        and state[TRICKS] == 0
        and state[ENVIDO_STATUS] == OPEN
        and (state[VALUE] == 1 or rules[ENVIDO_LATE] == 1)
    )


@lean
def _add_envido_calls(state: np.ndarray, rules: np.ndarray, out: np.ndarray, n: int) -> int:
    if state[FALTA] == 1:
        return n
    if state[REAL] == 0:
        if state[PLAIN] < rules[MAX_PLAIN]:
            out[n] = ENVIDO
            n += 1
        out[n] = REAL_ENVIDO
        n += 1
    out[n] = FALTA_ENVIDO
    return n + 1


@lean
def legal(state: np.ndarray, rules: np.ndarray, out: np.ndarray) -> int:
    """Writes the legal actions to `out` (room for MAX_LEGAL) and returns how many.

    Cards come first, strongest first, then words in ascending order. In answer to a Truco call mazo is left
    out, since it pays exactly what no_quiero pays (R-31).
    """
    n = 0
    if state[ENVIDO_STATUS] == ASKED:
        n = _add_envido_calls(state, rules, out, n)
        out[n], out[n + 1], out[n + 2] = QUIERO, NO_QUIERO, MAZO
        return n + 3
    opens = may_open_envido(state, rules)
    if state[PENDING] > 0:
        if state[PENDING] < 4:
            out[n] = TRUCO + state[PENDING] - 1
            n += 1
        if opens:
            n = _add_envido_calls(state, rules, out, n)
        out[n], out[n + 1] = QUIERO, NO_QUIERO
        return n + 2
    player = state[ON_TURN]
    for slot in range(3):
        if not (state[PLAYED + player] >> slot) & 1:
            out[n] = state[CARDS + 3 * player + slot]
            n += 1
    if state[VALUE] < 4 and (rules[ANY_RAISE] == 1 or state[TRUCO_BY] != player):
        out[n] = TRUCO + state[VALUE] - 1
        n += 1
    if opens:
        n = _add_envido_calls(state, rules, out, n)
    out[n] = MAZO
    return n + 1


@lean
def _award(state: np.ndarray, rules: np.ndarray, player: int, points: int) -> None:
    score = min(rules[TARGET], state[SCORE + player] + points)
    state[SCORE + player] = score
    if score == rules[TARGET]:
        state[OVER] = 1


@lean
def declined_worth(state: np.ndarray) -> int:
    """What the Envido chain was worth before its last call, at least 1 (R-23)."""
    chain = 2 * state[PLAIN] + 3 * state[REAL]
    if state[FALTA] == 0:
        chain -= 3 if state[REAL] == 1 else 2
    return max(1, chain)


@lean
def accepted_worth(state: np.ndarray, rules: np.ndarray) -> int:
    """What the Envido chain pays when accepted (R-22)."""
    chain = 2 * state[PLAIN] + 3 * state[REAL]
    if state[FALTA] == 0:
        return chain
    best = max(state[SCORE], state[SCORE + 1])
    goal = 15 if rules[HALVES] == 1 and best < 15 else rules[TARGET]
    return goal - best + (chain if rules[ADDS] == 1 else 0)


@lean
def _finish(state: np.ndarray, rules: np.ndarray, winner: int, points: int) -> None:
    _award(state, rules, winner, points)
    state[OVER] = 1


@lean
def _play(state: np.ndarray, rules: np.ndarray, player: int, card: int) -> None:
    for slot in range(3):
        if state[CARDS + 3 * player + slot] == card:
            state[PLAYED + player] |= 1 << slot
    trick = state[TRICKS]
    state[TRICK_CARDS + 2 * trick + player] = card
    if state[TABLE] < 0:
        state[TABLE] = card
        state[ON_TURN] = 1 - player
        return
    difference = _TIER[card] - _TIER[state[TABLE]]
    winner = PARDA if difference == 0 else player if difference < 0 else 1 - player
    state[RESULT + trick] = winner
    state[TABLE] = -1
    state[TRICKS] = trick + 1
    state[ON_TURN] = 0 if winner == PARDA else winner
    lead = 0
    for i in range(trick + 1):
        if state[RESULT + i] != PARDA:
            lead += 1 if state[RESULT + i] == 0 else -1
    # from the second trick on whoever is ahead has won; level after three, trick 1 decides, then mano.
    if trick >= 1 and lead != 0:
        _finish(state, rules, 0 if lead > 0 else 1, np.int64(state[VALUE]))
    elif trick == 2:
        _finish(state, rules, np.int64(max(0, state[RESULT])), np.int64(state[VALUE]))


@lean
def apply(state: np.ndarray, rules: np.ndarray, action: int) -> None:
    """Plays a legal action for the mover, changing `state`; legality is not checked."""
    player = mover(state)
    answers_envido = state[ENVIDO_STATUS] == ASKED
    if action < TRUCO:
        _play(state, rules, player, action)
    elif action < ENVIDO:
        state[VALUE] = action - TRUCO + 1
        state[PENDING] = action - TRUCO + 2
        state[TRUCO_BY] = player
    elif action < QUIERO:
        state[PLAIN + action - ENVIDO] += 1
        state[ENVIDO_STATUS] = ASKED
        state[ENVIDO_BY] = player
    elif action == MAZO:
        points = state[VALUE]
        if answers_envido:
            if rules[BOTH] == 1:
                points += declined_worth(state)
        elif state[PENDING] == 0 and may_open_envido(state, rules):
            points += rules[BONUS]
        _finish(state, rules, 1 - player, np.int64(points))
    elif answers_envido:
        if action == QUIERO:
            state[ENVIDO_STATUS] = ACCEPTED
            winner = 0 if state[WORTH] >= state[WORTH + 1] else 1
            _award(state, rules, winner, accepted_worth(state, rules))
        else:
            state[ENVIDO_STATUS] = DECLINED
            _award(state, rules, np.int64(state[ENVIDO_BY]), declined_worth(state))
    elif action == QUIERO:
        state[VALUE] = state[PENDING]
        state[PENDING] = 0
    else:
        _finish(state, rules, 1 - player, np.int64(state[VALUE]))
