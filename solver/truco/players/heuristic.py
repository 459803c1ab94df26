"""A sensible hand-written player of the full hand: a decent club player as one kernel.

It estimates two chances, to win the round by cards and to win the Envido comparison, against random cards
among those its seat has not seen, and corrects them for what the other's calls tell. Every call, answer and
fold is then judged by the match-win probability it leads to in the built-in equity model, assuming how often
people give way. A few calls at fixed rates are bluffs. Nothing here is solved or learnt.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from game.truco.actions import ENVIDO, MAZO, NO_QUIERO, QUIERO, TRUCO
from game.truco.cards import NUM_TIERS, TIERS
from game.truco.equity import simple_equity
from solver.jit import njit
from solver.truco.hand.engine import (
    ASKED,
    BOTH,
    CARDS,
    ENVIDO_STATUS,
    ON_TURN,
    PARDA,
    PENDING,
    PLAIN,
    PLAYED,
    RESULT,
    SCORE,
    TABLE,
    TARGET,
    TRICK_CARDS,
    TRICKS,
    TRUCO_BY,
    VALUE,
    WORTH,
    accepted_worth,
    declined_worth,
    mover,
)

CALL_EVIDENCE = 2.0
"""How many times likelier a Truco call comes from the side that is winning, as a likelihood ratio."""
RAISE_EVIDENCE = 3.0
"""The same of a Retruco or Vale Cuatro."""
ACCEPT_EVIDENCE = 2.0
"""The same of a Quiero to a Truco call."""
THEIR_REFUSALS = 0.3
"""Share of Truco calls that people refuse."""
CALL_LEAST = 0.6
"""Least chance of the round with which Truco is called for value on one's own turn."""
RAISE_LEAST = 0.7
"""Least chance, after the evidence of the call, with which a Truco call is raised."""
BLUFF_MOST = 0.25
"""Greatest chance of the round with which a Truco call is a bluff."""
TRUCO_BLUFF = 0.1
"""Rate of such bluffs in trick 2."""
LAST_CARD_BLUFF = 0.2
"""Rate of such bluffs in trick 3."""
TRICK_1_COST = 0.03
"""Match-win probability that waiting is worth in trick 1: later one knows more of the other's cards."""
ENVIDO_BLUFF = 0.05
"""Rate of plain Envido calls with no pair."""
THEIR_BLUFFS = 0.15
"""Share of Envido calls that people make with any value."""
ENVIDO_COST = 0.005
"""Match-win probability that an Envido call must gain, for what a raise in answer would cost."""

_TIER = np.array(TIERS, np.int64)
_EQUAL = np.bincount(TIERS, minlength=NUM_TIERS + 1)
_STRONGER = np.concatenate([[0], np.cumsum(_EQUAL)])  # cards of a stronger tier
# Hands of three by Envido value (a count of all 9,880); _LOWER[v] is the share of hands worth less than v.
_HANDS = {
    0: 108, 1: 148, 2: 244, 3: 364, 4: 508, 5: 676, 6: 868, 7: 1084, 20: 364, 21: 372, 22: 372, 23: 504,
    24: 504, 25: 640, 26: 640, 27: 780, 28: 408, 29: 420, 30: 284, 31: 292, 32: 148, 33: 152,
}  # fmt: skip
_LOWER = np.concatenate([[0.0], np.cumsum([_HANDS.get(v, 0) for v in range(34)]) / 9880])
# Match-win probability by the points that each side still needs.
_MOST = 99
_WIN = np.array(
    [
        [simple_equity(_MOST).win_probability(_MOST - own, _MOST - other) for other in range(_MOST + 1)]
        for own in range(_MOST + 1)
    ]
)


@njit
def win_chance(own: int, other: int) -> float:
    """Match-win probability when the player needs `own` points and the other needs `other`."""
    if own <= 0:
        return 1.0
    if other <= 0:
        return 0.0
    return _WIN[own, other]


@njit
def round_worth(own: int, other: int, stake: int, chance: float) -> float:
    """Match-win probability of a round for `stake` points that the player wins with `chance`."""
    if own <= 0 or other <= 0:
        return win_chance(own, other)
    return chance * win_chance(own - stake, other) + (1.0 - chance) * win_chance(own, other - stake)


@njit
def updated(chance: float, evidence: float) -> float:
    """The chance after a word of the other that is `evidence` times likelier when he is winning."""
    return chance / (chance + (1.0 - chance) * evidence)


@njit
def held_cards(state: np.ndarray, player: int) -> tuple[int, int, int]:
    """The player's unplayed cards, strongest first, filled up with -1."""
    first = second = third = -1
    for slot in range(2, -1, -1):
        if not (state[PLAYED + player] >> slot) & 1:
            first, second, third = int(state[CARDS + 3 * player + slot]), first, second
    return first, second, third


@njit
def shares(state: np.ndarray, player: int, card: int) -> tuple[float, float]:
    """Shares of the unseen cards that beat the player's card, and that tie with it."""
    rank = _TIER[card]
    above, equal, unseen = _STRONGER[rank], _EQUAL[rank], 37
    for i in range(3):
        own = _TIER[state[CARDS + 3 * player + i]]
        above -= own < rank
        equal -= own == rank
        played = state[TRICK_CARDS + 2 * i + 1 - player]
        if played >= 0:
            above -= _TIER[played] < rank
            equal -= _TIER[played] == rank
            unseen -= 1
    return above / unseen, equal / unseen


@njit
def two_cards_chance(a: tuple[float, float], b: tuple[float, float], player: int, result: int) -> float:
    """Chance with two cards against two unseen ones, after trick 1 went to `result` (a player or PARDA).

    `a` and `b` are the shares of the unseen cards that beat, and that tie, the stronger and the weaker card.
    """
    above_a, equal_a = a
    above_b, equal_b = b
    if result == player:  # lost only if one unseen card beats a and the other beats b
        return 1.0 - 2.0 * above_a * above_b + above_a * above_a
    below_a = 1.0 - above_a - equal_a
    if result == PARDA:  # the stronger card decides; if it ties, the last one does, where mano wins ties
        last = 1.0 - above_b - equal_b * player
        return below_a * below_a + (2.0 * below_a + equal_a) * equal_a * last
    below_b = 1.0 - above_b - equal_b  # both cards must win
    return 2.0 * below_a * below_b - below_b * below_b


@njit
def lead_chance(
    lead: tuple[float, float], a: tuple[float, float], b: tuple[float, float], player: int
) -> float:
    """Chance of the round when leading trick 1, with two more cards in hand; shares as in `two_cards_chance`."""
    above, equal = lead
    below = 1.0 - above - equal
    wins = below**3
    ties = (below + equal) ** 3 - wins
    chance = ties * two_cards_chance(a, b, player, PARDA)
    chance += (1.0 - wins - ties) * two_cards_chance(a, b, player, 1 - player)
    if wins > 0.0:
        # All his cards are weaker than the lead; he needs two that beat b, one of them a.
        over_a = max(0.0, a[0] - above - equal) / below
        over_b = max(0.0, b[0] - above - equal) / below
        between = over_b - over_a
        two_beat_b = over_b * over_b * (3.0 - 2.0 * over_b)
        none_beats_a = between * between * (3.0 * (1.0 - over_b) + between)
        chance += wins * (1.0 - two_beat_b + none_beats_a)
    return chance


@njit
def _lead_trick_1(state: np.ndarray, player: int) -> tuple[float, int]:
    """`plan` with three cards and none on the table."""
    first, second, third = held_cards(state, player)
    a, b, c = shares(state, player, first), shares(state, player, second), shares(state, player, third)
    best, choice = lead_chance(a, b, c, player), first
    chance = lead_chance(b, a, c, player)
    if chance > best:
        best, choice = chance, second
    chance = lead_chance(c, a, b, player)
    if chance > best:
        best, choice = chance, third
    return best, choice


@njit
def _reply_trick_1(state: np.ndarray, player: int) -> tuple[float, int]:
    """`plan` against mano's card: the lowest card that wins, one that ties, or the lowest of all."""
    first, second, third = held_cards(state, player)
    a, b, c = shares(state, player, first), shares(state, player, second), shares(state, player, third)
    rank = _TIER[state[TABLE]]
    best, choice = two_cards_chance(a, b, player, 1 - player), third
    for card in (first, second, third):
        if _TIER[card] <= rank:
            result = player if _TIER[card] < rank else PARDA
            chance = two_cards_chance(b if card == first else a, b if card == third else c, player, result)
            if chance >= best:
                best, choice = chance, card
    return best, choice


@njit
def _reply_trick_2(state: np.ndarray, player: int) -> tuple[float, int]:
    """`plan` against the lead of trick 2, which the winner of trick 1 made, or mano after a parda."""
    a, b, _ = held_cards(state, player)
    rank = _TIER[state[TABLE]]
    if state[RESULT] == PARDA:
        if _TIER[a] < rank:
            return 1.0, a
        reply = a if _TIER[a] == rank else b if _TIER[b] == rank else -1
    else:
        reply = b if _TIER[b] < rank else a if _TIER[a] < rank else -1
    if reply < 0:
        return 0.0, b
    above, equal = shares(state, player, a + b - reply)
    return 1.0 - above - equal, reply


@njit
def _plan_trick_2(state: np.ndarray, player: int) -> tuple[float, int]:
    """`plan` in trick 2 with no card of the other on the table: the lower leads when ahead, else the higher."""
    a, b, _ = held_cards(state, player)
    card = b if state[RESULT] == player else a
    if b < 0:  # the player has led
        b = int(state[TABLE])
    if _TIER[b] < _TIER[a]:
        a, b = b, a
    chance = two_cards_chance(shares(state, player, a), shares(state, player, b), player, state[RESULT])
    return chance, card


@njit
def _plan_trick_3(state: np.ndarray, player: int) -> tuple[float, int]:
    """`plan` with the last card, held or led."""
    tie_wins = state[RESULT] == player or (state[RESULT] == PARDA and player == 0)
    card = held_cards(state, player)[0]
    led = int(state[TABLE])
    if card >= 0 and led >= 0:
        margin = _TIER[led] - _TIER[card]
        return 1.0 if margin > 0 or (margin == 0 and tie_wins) else 0.0, card
    above, equal = shares(state, player, max(card, led))
    return 1.0 - above - (0.0 if tie_wins else equal), card


@njit
def plan(state: np.ndarray, player: int) -> tuple[float, int]:
    """Chance to win the round by cards, and the card to play on the player's turn."""
    led = state[TABLE] >= 0
    facing = led and state[ON_TURN] == player
    if state[TRICKS] == 2:
        return _plan_trick_3(state, player)
    if state[TRICKS] == 1:
        return _reply_trick_2(state, player) if facing else _plan_trick_2(state, player)
    if facing:
        return _reply_trick_1(state, player)
    if led:
        a, b, _ = held_cards(state, player)
        lead = shares(state, player, int(state[TABLE]))
        return lead_chance(lead, shares(state, player, a), shares(state, player, b), player), a
    return _lead_trick_1(state, player)


@njit
def envido_floor(points: int) -> int:
    """Least Envido value with which people call or accept for that many points."""
    return 23 if points <= 2 else 25 if points <= 4 else 27 if points <= 7 else 29


@njit
def envido_chance(value: int, player: int, floor: int) -> float:
    """Chance to win the comparison against a value of `floor` or more; mano wins ties (A-13)."""
    lower = _LOWER[floor]
    return max(0.0, _LOWER[value + 1 - player] - lower) / (1.0 - lower)


class View(NamedTuple):
    """What the player makes of a decision."""

    player: int
    own: int
    """Points the player still needs."""
    other: int
    """Points the other still needs."""
    value: int
    """Round value."""
    stake: int
    """Round value, or the level of the Truco call to be answered."""
    chance: float
    """Chance to win the round by cards."""
    floor: int
    """Least Envido value that the other's Envido call stands for, 0 if he made none."""


@njit
def _settled(view: View, own_points: int, other_points: int) -> float:
    """Match-win probability once Envido has paid these points and the round is still to play."""
    return round_worth(view.own - own_points, view.other - other_points, view.stake, view.chance)


@njit
def _truco_call_worth(view: View) -> float:
    """Match-win probability of calling the next Truco level."""
    refusals = 0.0 if view.stake >= view.own else THEIR_REFUSALS  # nobody refuses what loses him the match
    # Who loses the match with the round anyway has nothing to fear from what an acceptance tells.
    chance = view.chance if view.stake >= view.other else updated(view.chance, ACCEPT_EVIDENCE)
    accepted = round_worth(view.own, view.other, view.stake + 1, chance)
    return refusals * win_chance(view.own - view.stake, view.other) + (1.0 - refusals) * accepted


@njit
def _envido_call_worth(state: np.ndarray, rules: np.ndarray, view: View, action: int) -> float:
    """Match-win probability of an Envido call."""
    state[PLAIN + action - ENVIDO] += 1  # asks the engine what the chain would pay, then takes it back
    gain, pot = declined_worth(state), accepted_worth(state, rules)
    state[PLAIN + action - ENVIDO] -= 1
    refusals, floor = 0.0, view.floor
    if gain < view.own:
        floor = max(floor, envido_floor(pot))
        refusals = (_LOWER[floor] - _LOWER[view.floor]) / (1.0 - _LOWER[view.floor])
    wins = envido_chance(state[WORTH + view.player], view.player, floor)
    accepted = wins * _settled(view, pot, 0) + (1.0 - wins) * _settled(view, 0, pot)
    return refusals * _settled(view, gain, 0) + (1.0 - refusals) * accepted - ENVIDO_COST


@njit
def _envido_answer_worth(state: np.ndarray, rules: np.ndarray, view: View, action: int) -> float:
    """Match-win probability of quiero, no_quiero or mazo to an Envido call."""
    if action == NO_QUIERO:
        return _settled(view, 0, declined_worth(state))
    if action == MAZO:
        return win_chance(view.own, view.other - view.value - rules[BOTH] * declined_worth(state))
    pot = accepted_worth(state, rules)
    value = state[WORTH + view.player]
    wins = THEIR_BLUFFS * envido_chance(value, view.player, 0)
    wins += (1.0 - THEIR_BLUFFS) * envido_chance(value, view.player, view.floor)
    return wins * _settled(view, pot, 0) + (1.0 - wins) * _settled(view, 0, pot)


@njit
def heuristic(state: np.ndarray, rules: np.ndarray, actions: np.ndarray, n: int, out: np.ndarray) -> None:
    """Writes the player's probabilities of `actions[:n]`, listed by `engine.legal`, to `out[:n]`."""
    player = mover(state)
    value, pending, trick = state[VALUE], state[PENDING], state[TRICKS]
    asked = state[ENVIDO_STATUS] == ASKED
    chance, card = plan(state, player)
    if pending > 0 and state[TRUCO_BY] != player:
        chance = updated(chance, CALL_EVIDENCE if pending == 2 else RAISE_EVIDENCE)
    elif pending == 0 and value > 1:
        chance = updated(chance, ACCEPT_EVIDENCE)
    view = View(
        player,
        rules[TARGET] - state[SCORE + player],
        rules[TARGET] - state[SCORE + 1 - player],
        value,
        max(value, pending),
        chance,
        envido_floor(accepted_worth(state, rules)) if asked else 0,
    )
    has_pair = state[WORTH + player] >= 20
    best, choice = -1.0, 0
    bluff, bluff_rate = 0, 0.0
    for i in range(n):
        action = actions[i]
        worth = -1.0
        if action < TRUCO:
            if action == card:
                worth = round_worth(view.own, view.other, value, chance)
        elif action < ENVIDO:
            if view.stake >= view.other:
                worth = _truco_call_worth(view)
            elif chance >= (CALL_LEAST if pending == 0 else RAISE_LEAST):
                worth = _truco_call_worth(view) - (TRICK_1_COST if trick == 0 else 0.0)
            elif trick > 0 and pending == 0 and chance <= BLUFF_MOST and view.stake < view.own:
                bluff, bluff_rate = i, LAST_CARD_BLUFF if trick == 2 else TRUCO_BLUFF
        elif action < QUIERO:
            if envido_chance(state[WORTH + player], player, view.floor) >= 0.5:
                worth = _envido_call_worth(state, rules, view, action)
            elif action == ENVIDO and not asked and pending == 0 and not has_pair:
                bluff, bluff_rate = i, ENVIDO_BLUFF
        elif asked:
            worth = _envido_answer_worth(state, rules, view, action)
        elif action == QUIERO:
            worth = round_worth(view.own, view.other, pending, chance)
        else:  # no_quiero, or mazo on turn, which hides a card that is lost for certain
            worth = win_chance(view.own, view.other - value)
        if worth >= max(best, 0.0):
            best, choice = worth, i
    out[:n] = 0.0
    out[choice] = 1.0 - bluff_rate
    out[bluff] += bluff_rate
