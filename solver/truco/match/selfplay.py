"""Plays stored strategies against each other: the value of a hand, and matches with one strategy for each score.

Luck is that of `solver.truco.reading.duel`: numbers that depend on the seed, the pair and the hand alone. A deal is
played twice, with the two hands swapped, which takes much of the luck of the cards out of mano's mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from game.truco.cards import DECK_SIZE
from game.truco.rules import Rules
from solver.jit import njit
from solver.truco.hand.engine import (
    MAX_LEGAL,
    OVER,
    SCORE,
    STATE_SIZE,
    TARGET,
    apply,
    deal,
    legal,
    mover,
    rules_vector,
)
from solver.truco.hand.table import PolicyTable, choose, table_policy
from solver.truco.reading.duel import deal_cards, decision_draw, hand_key
from solver.truco.reading.strategy import table_strategy


class _Shelf(NamedTuple):
    """The tables of all scores, one after the other."""

    keys: np.ndarray
    start: np.ndarray
    slots: np.ndarray
    probs: np.ndarray
    row: np.ndarray
    """int64 [target, target, 2], first and last + 1 row of the table of each score (mano, pie)."""
    prob: np.ndarray
    """int64 [target, target], where its probabilities begin."""


def final_scores(
    rules: Rules, mano: PolicyTable, pie: PolicyTable, score: tuple[int, int], pairs: int, seed: int
) -> np.ndarray:
    """Scores (mano, pie) after hands that begin at `score`, the seats playing these tables; int32 [pairs, 2, 2].

    The two plays of a pair are one deal, with the hands swapped in the second. Raises ValueError for rules that the
    engine does not play.
    """
    out = np.empty((pairs, 2, 2), np.int32)
    _play_hands(
        table_strategy(mano).table,
        table_strategy(pie).table,
        rules_vector(rules),
        score[0],
        score[1],
        seed,
        out,
    )
    return out


def play_matches(
    rules: Rules, tables: Mapping[tuple[int, int], PolicyTable], pairs: int, seed: int
) -> tuple[np.ndarray, int]:
    """Plays whole matches from 0-0, at every score by the table of that score (mano, pie).

    Returns bool [pairs, 2], whether the first mano won, and the hands played. The two plays of a pair share their
    deals, with the hands swapped in the second. Raises ValueError if the table of a score is missing.
    """
    missing = [
        score for score in np.ndindex(rules.target, rules.target) if (score[0], score[1]) not in tables
    ]
    if missing:
        raise ValueError(f"no strategy for {len(missing)} scores, first {missing[0][0]}-{missing[0][1]}")
    wins = np.zeros((pairs, 2), np.bool_)
    hands = _play_matches(_shelf(rules.target, tables), rules_vector(rules), seed, wins)
    return wins, int(hands)


def _shelf(target: int, tables: Mapping[tuple[int, int], PolicyTable]) -> _Shelf:
    row, prob = np.zeros((target, target, 2), np.int64), np.zeros((target, target), np.int64)
    at = begin = 0
    ordered = []
    for score in np.ndindex(target, target):
        table = tables[score[0], score[1]]
        row[score], prob[score] = (at, at + len(table.keys)), begin
        at, begin = at + len(table.keys), begin + len(table.probs)
        ordered.append(table)
    return _Shelf(
        np.concatenate([table.keys for table in ordered]),
        np.concatenate([table.start[:-1] for table in ordered]),
        np.concatenate([table.slots for table in ordered]),
        np.concatenate([table.probs for table in ordered]),
        row,
        prob,
    )


@njit(nogil=True)
def _play_hand(
    mano: PolicyTable, pie: PolicyTable, rules: np.ndarray, key: np.uint64, swapped: int, state: np.ndarray,
    actions: np.ndarray, probs: np.ndarray,
) -> None:  # fmt: skip
    """Plays the dealt hand in `state` to its end; luck goes with the cards when hands are swapped."""
    decisions = [0, 0]
    while state[OVER] == 0:
        n = legal(state, rules, actions)
        player = mover(state)
        if player == 0:
            table_policy(mano, state, rules, actions, n, probs)
        else:
            table_policy(pie, state, rules, actions, n, probs)
        draw = decision_draw(key, player ^ swapped, decisions[player])
        decisions[player] += 1
        apply(state, rules, actions[choose(probs, n, draw)])


@njit(nogil=True)
def _swap_hands(deck: np.ndarray) -> None:
    for i in range(3):
        deck[i], deck[3 + i] = deck[3 + i], deck[i]


@njit(nogil=True)
def _play_hands(
    mano: PolicyTable, pie: PolicyTable, rules: np.ndarray, mano_score: int, pie_score: int, seed: int,
    out: np.ndarray,
) -> None:  # fmt: skip
    state, actions = np.empty(STATE_SIZE, np.int32), np.empty(MAX_LEGAL, np.int32)
    probs, deck = np.empty(MAX_LEGAL), np.empty(DECK_SIZE, np.int32)
    for pair in range(len(out)):
        key = hand_key(seed, pair, 0)
        deal_cards(key, deck)
        for swapped in range(2):
            deal(state, deck, mano_score, pie_score)
            _play_hand(mano, pie, rules, key, swapped, state, actions, probs)
            out[pair, swapped, 0], out[pair, swapped, 1] = state[SCORE], state[SCORE + 1]
            _swap_hands(deck)


@njit(nogil=True)
def _play_matches(shelf: _Shelf, rules: np.ndarray, seed: int, wins: np.ndarray) -> int:
    state, actions = np.empty(STATE_SIZE, np.int32), np.empty(MAX_LEGAL, np.int32)
    probs, deck = np.empty(MAX_LEGAL), np.empty(DECK_SIZE, np.int32)
    played = 0
    for pair in range(len(wins)):
        for swapped in range(2):
            mano, pie, hand = 0, 0, 0
            while max(mano, pie) < rules[TARGET]:
                first, last, begin = shelf.row[mano, pie, 0], shelf.row[mano, pie, 1], shelf.prob[mano, pie]
                table = PolicyTable(
                    shelf.keys[first:last], shelf.start[first:last], shelf.slots[first:last], shelf.probs[begin:]
                )  # fmt: skip
                key = hand_key(seed, pair, hand)
                deal_cards(key, deck)
                if swapped:
                    _swap_hands(deck)
                deal(state, deck, mano, pie)
                _play_hand(table, table, rules, key, swapped, state, actions, probs)
                mano, pie = state[SCORE + 1], state[SCORE]  # the other is mano next
                hand += 1
            # After an even number of hands the first mano is mano again.
            first_mano = mano if hand % 2 == 0 else pie
            wins[pair, swapped] = first_mano >= rules[TARGET]
            played += hand
    return played
