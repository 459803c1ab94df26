"""One spot looked up in trick 1 of a compact policy, before any Envido is accepted: numpy on memory-mapped rows.

The mix and the stored worth of each action for the own hand, and how likely each seat's words so far are: the own
ones with this hand, the other's averaged over every hand that he can hold. `locate` with the whole tables says the
same and is its reference in tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from game.truco.actions import ENVIDO, FALTA_ENVIDO, MAZO, TRUCO
from game.truco.hand import Decision, Hand
from game.truco.spot import Spot
from solver.truco.vector.model.holdings import Holdings
from solver.truco.vector.policy.compact import CompactPolicy


class LookedUp(NamedTuple):
    """What a policy says at a spot without playing on."""

    mix: dict[int, float]
    """Probability of every action, mazo 0 where the engine leaves it out, and not in answer to a Truco, where it
    pays what no_quiero pays (R-31). Empty where there is no mix."""
    worth: dict[int, float]
    """Expected utility of the mover by action, for the average hand of his class; empty where there is no mix."""
    own_reach: float
    """Probability of the seat's own words so far with this hand."""
    other_reach: float
    """The same of the other seat, averaged over the hands he can hold."""


def look_up(policy: CompactPolicy, spot: Spot) -> LookedUp | None:
    """What the policy says at a spot of its rules; None where an Envido was accepted or trick 1 is over."""
    if not policy.knows(spot.history):
        return None
    hands = [np.array([spot.cards]), np.array(spot.others)]
    if spot.seat == 1:
        hands.reverse()
    reach = [np.ones(len(cards)) for cards in hands]
    replay = Hand(spot.rules, *spot.hand.cards, *spot.scores)
    for action in spot.history:
        mover = replay.to_move
        assert mover is not None
        reach[mover] *= _chance(policy, replay, hands[mover], action)
        replay.apply(action)
    mix, worth = _told(policy, replay, spot.cards)
    return LookedUp(mix, worth, float(reach[spot.seat][0]), float(reach[1 - spot.seat].mean()))


def _words(hand: Hand) -> list[int]:
    """The words that have entries in the trunk's table, in order, after those for cards."""
    words = [action for action in hand.legal_actions() if action >= TRUCO]
    opens = any(ENVIDO <= word <= FALTA_ENVIDO for word in words)
    folds = hand.decision is Decision.ANSWER_ENVIDO or (hand.decision is Decision.TURN and opens)
    return words if folds else [word for word in words if word != MAZO]


def _number(policy: CompactPolicy, hand: Hand) -> int:
    """Trunk node of a hand; ValueError if its table in the file is of another shape."""
    number = policy.number([action for _, action in hand.history])
    actions = 3 * (hand.decision is Decision.TURN) + len(_words(hand))
    if policy.arrays.actions[number] != actions or policy.arrays.holdings[number] != _size(
        policy.holdings, hand
    ):
        raise ValueError("the compact policy is damaged: a table has another shape than the game gives it")
    return number


def _size(holdings: Holdings, hand: Hand) -> int:
    """Holdings in the table of the mover."""
    if not hand.table:
        return holdings.num_classes
    return len(holdings.after.cls) if hand.to_move == 0 else holdings.num_tiers * holdings.num_classes


def _columns(holdings: Holdings, hand: Hand, cards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where hands int64 [n, 3] of the mover lie in his table, and their tiers ascending [n, 3]."""
    cls = holdings.classes_of(cards)
    tiers = holdings.class_tiers[cls]
    if not hand.table:
        return cls, tiers
    tier = holdings.tier_of(hand.table[0])
    if hand.to_move == 1:
        return tier * holdings.num_classes + cls, tiers
    return holdings.after.position[cls, np.argmax(tiers == tier, axis=1)], tiers


def _chance(policy: CompactPolicy, hand: Hand, cards: np.ndarray, action: int) -> np.ndarray:
    """Probability of an action at a decision with each of these hands [n, 3], float64 [n]; 0 without a mix."""
    holdings = policy.holdings
    columns, tiers = _columns(holdings, hand, cards)
    turn = hand.decision is Decision.TURN
    found = policy.table(_number(policy, hand))[:, columns].astype(np.float64)
    if turn:
        found[:3] *= _first_of_tier(tiers).T
    total = found.sum(axis=0)
    found /= np.where(total > 0, total, 1)
    if action >= TRUCO:
        return found[3 * turn + _words(hand).index(action)]
    # Cards of one tier are one action, and each of them as likely.
    same = tiers == holdings.tier_of(action)
    return np.where(same.any(axis=1), found[np.argmax(same, axis=1), np.arange(len(cards))], 0) / np.maximum(
        same.sum(axis=1), 1
    )


def _told(
    policy: CompactPolicy, hand: Hand, cards: Sequence[int]
) -> tuple[dict[int, float], dict[int, float]]:
    """Mix and worth of a hand at its decision."""
    holdings = policy.holdings
    columns, tiers = _columns(holdings, hand, np.array([cards]))
    row = policy.row(_number(policy, hand), int(columns[0]))
    turn = hand.decision is Decision.TURN
    words = _words(hand)
    mix = row.mix.astype(np.float64)
    if turn:
        mix[:3] *= _first_of_tier(tiers)[0]
    if row.worth is None or not mix.any():
        return {}, {}
    mix /= mix.sum()
    chances, worth = dict.fromkeys(hand.legal_actions(), 0.0), {}
    if hand.decision is Decision.ANSWER_TRUCO:
        del chances[MAZO]
    if turn:
        places = {card: int(np.argmax(tiers[0] == holdings.tier_of(card))) for card in cards}
        held = list(places.values())
        for card, place in places.items():
            chances[card], worth[card] = float(mix[place]) / held.count(place), float(row.worth[place])
    for place, word in enumerate(words, start=3 * turn):
        chances[word], worth[word] = float(mix[place]), float(row.worth[place])
    return chances, worth


def _first_of_tier(tiers: np.ndarray) -> np.ndarray:
    """Places of hands [n, 3] whose card is an action of its own: equal tiers are one, at the first; bool [n, 3]."""
    first = np.ones(tiers.shape, np.bool_)
    first[:, 1:] = tiers[:, 1:] != tiers[:, :-1]
    return first
