"""Plays two bots against each other in pairs: every deal twice, with the seats swapped.

Chance and decisions draw from numbers that depend on the seed, the pair, the hand and the seat alone, so both
plays of a pair meet the same luck: a bot against itself comes out exactly even, and A against B is exactly minus
B against A. Statistics take the pair as the unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from game.truco.actions import TRUCO, WORDS
from game.truco.cards import DECK_SIZE
from game.truco.rules import Rules
from solver.jit import lean, njit
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
from solver.truco.hand.table import choose
from solver.truco.players.baselines import BASELINES, baseline, baseline_code
from solver.truco.reading.strategy import Strategy, begin_hand, follow, mix, no_strategy
from solver.truco.vector.policy.cursor import CURSOR_SIZE

STRATEGY_BOT = len(BASELINES)
"""Code of a bot that plays by its strategy; smaller codes are the baselines."""
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_Z95 = 1.959964  # two-sided 95 % of the normal distribution


class Bot(NamedTuple):
    """A player: the code of a baseline or STRATEGY_BOT, and the strategy (none for baselines)."""

    code: int
    strategy: Strategy


def baseline_bot(name: str) -> Bot:
    """The baseline with this name; ValueError names the ones there are."""
    return Bot(baseline_code(name), no_strategy())


def strategy_bot(strategy: Strategy) -> Bot:
    """The player of a strategy."""
    return Bot(STRATEGY_BOT, strategy)


class Counts(NamedTuple):
    """Tallies of bots A and B."""

    words: np.ndarray
    """int64 [2, number of words], words said."""
    decisions: np.ndarray
    """int64 [2, 2], decisions without and with a mix in the strategy."""


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % confidence interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Duel:
    """What bot A did against bot B: in single hands its net points per hand, in matches its share of wins."""

    pairs: int
    """Deals, or sequences of deals; each was played twice."""
    result: Estimate
    as_mano: Estimate
    """The result of the plays in which A was mano (in a match: of the first hand)."""
    as_pie: Estimate
    hands: int
    """Hands played in all."""
    words: tuple[dict[str, float], dict[str, float]]
    """How often A and B said each word, per hand."""
    unknown: tuple[float, float]
    """Share of A's and of B's decisions for which its strategy has learnt no mix."""


def estimate(samples: np.ndarray) -> Estimate:
    """Mean of two or more independent samples, with the 95 % interval that its standard error gives."""
    mean = float(samples.mean())
    half = _Z95 * float(samples.std(ddof=1)) / len(samples) ** 0.5
    return Estimate(mean, mean - half, mean + half)


def duel_hands(
    a: Bot, b: Bot, rules: Rules, pairs: int, seed: int = 1, scores: tuple[int, int] = (0, 0)
) -> Duel:
    """Plays `pairs` deals twice each, from `scores` (mano, pie); the result is in points per hand.

    Raises ValueError for rules that the engine does not play or fewer than two pairs.
    """
    _check_pairs(pairs)
    points, counts = np.zeros((pairs, 2), np.int64), _new_counts()
    _duel_hands(*a, *b, rules_vector(rules), *scores, seed, points, counts)
    return _summary(points, 2 * pairs, counts)


def duel_matches(a: Bot, b: Bot, rules: Rules, pairs: int, seed: int = 1) -> Duel:
    """Plays `pairs` matches twice each, on the same sequence of deals; the result is the share A won.

    Raises ValueError for rules that the engine does not play or fewer than two pairs.
    """
    _check_pairs(pairs)
    wins, counts = np.zeros((pairs, 2), np.int64), _new_counts()
    hands = _duel_matches(*a, *b, rules_vector(rules), seed, wins, counts)
    return _summary(wins, hands, counts)


def _check_pairs(pairs: int) -> None:
    if pairs < 2:  # one pair has no spread to make an interval of
        raise ValueError(f"pairs is {pairs}, allowed: 2 or more")


def _new_counts() -> Counts:
    return Counts(np.zeros((2, len(WORDS)), np.int64), np.zeros((2, 2), np.int64))


def _summary(results: np.ndarray, hands: int, counts: Counts) -> Duel:
    """The duel whose pairs had these results of A (int64 [pairs, 2], as mano and as pie)."""
    words = [dict(zip(WORDS, (row / hands).tolist(), strict=True)) for row in counts.words]
    unknown = [float(row[0] / max(1, row.sum())) for row in counts.decisions]
    return Duel(
        pairs=len(results),
        result=estimate(results.mean(axis=1)),
        as_mano=estimate(results[:, 0]),
        as_pie=estimate(results[:, 1]),
        hands=hands,
        words=(words[0], words[1]),
        unknown=(unknown[0], unknown[1]),
    )


@lean
def mixed(x: np.uint64) -> np.uint64:
    """The splitmix64 hash of 64 bits (Steele, Lea, Flood 2014, "Fast Splittable Pseudorandom Number Generators")."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@lean
def hand_key(seed: int, pair: int, hand: int) -> np.uint64:
    """Key of the luck of one hand."""
    key = mixed(np.uint64(seed) + _GAMMA)
    key = mixed(key + _GAMMA * np.uint64(pair + 1))
    return mixed(key + _GAMMA * np.uint64(hand + 1))


@lean
def uniform(key: np.uint64, draw: int) -> float:
    """Number in [0, 1) of one draw of a hand; independent for different draws."""
    return (mixed(key + _GAMMA * np.uint64(draw + 1)) >> np.uint64(11)) * 2.0**-53


@lean
def deal_cards(key: np.uint64, deck: np.ndarray) -> None:
    """Puts the six cards of a hand, mano's first, at the front of `deck` (int32 [40]); uses draws 0-5."""
    for i in range(DECK_SIZE):
        deck[i] = i
    for i in range(6):
        j = i + int(uniform(key, i) * (DECK_SIZE - i))
        deck[i], deck[j] = deck[j], deck[i]


@lean
def decision_draw(key: np.uint64, player: int, decision: int) -> float:
    """Number in [0, 1) that settles the decision of this number (from 0) of a player in a hand."""
    return uniform(key, 6 + 2 * decision + player)


@lean
def bot_policy(
    code: int,
    strategy: Strategy,
    cursor: np.ndarray,
    state: np.ndarray,
    rules: np.ndarray,
    actions: np.ndarray,
    n: int,
    out: np.ndarray,
) -> bool:
    """Writes the bot's probabilities of `actions[:n]` to `out[:n]`; False where its strategy has learnt none."""
    if code == STRATEGY_BOT:
        return mix(strategy, cursor, state, rules, actions, n, out)
    baseline(code, state, rules, actions, n, out)
    return True


@njit
def _play_hand(
    code_a: int,
    strategy_a: Strategy,
    code_b: int,
    strategy_b: Strategy,
    rules: np.ndarray,
    a_seat: int,
    key: np.uint64,
    state: np.ndarray,
    counts: Counts,
) -> None:
    """Plays the dealt hand in `state` to its end, with A as player `a_seat`."""
    actions = np.empty(MAX_LEGAL, np.int32)
    probs = np.empty(MAX_LEGAL)
    decisions = [0, 0]
    cursors = np.empty((2, CURSOR_SIZE), np.int64)
    begin_hand(strategy_a, cursors[0], state)
    begin_hand(strategy_b, cursors[1], state)
    while state[OVER] == 0:
        n = legal(state, rules, actions)
        player = mover(state)
        who = 0 if player == a_seat else 1
        code = code_a if who == 0 else code_b
        strategy = strategy_a if who == 0 else strategy_b
        known = bot_policy(code, strategy, cursors[who], state, rules, actions, n, probs)
        action = actions[choose(probs, n, decision_draw(key, player, decisions[player]))]
        decisions[player] += 1
        counts.decisions[who, 1 if known else 0] += 1
        if action >= TRUCO:
            counts.words[who, action - TRUCO] += 1
        follow(strategy_a, cursors[0], state, rules, action)
        follow(strategy_b, cursors[1], state, rules, action)
        apply(state, rules, action)


@njit
def _duel_hands(
    code_a: int,
    strategy_a: Strategy,
    code_b: int,
    strategy_b: Strategy,
    rules: np.ndarray,
    mano_score: int,
    pie_score: int,
    seed: int,
    points: np.ndarray,
    counts: Counts,
) -> None:
    """Fills points[pair] with A's net points as mano and as pie."""
    state = np.empty(STATE_SIZE, np.int32)
    deck = np.empty(DECK_SIZE, np.int32)
    for pair in range(len(points)):
        key = hand_key(seed, pair, 0)
        for a_seat in range(2):
            deal_cards(key, deck)
            deal(state, deck, mano_score, pie_score)
            _play_hand(code_a, strategy_a, code_b, strategy_b, rules, a_seat, key, state, counts)
            net = state[SCORE] - mano_score - (state[SCORE + 1] - pie_score)
            points[pair, a_seat] = net if a_seat == 0 else -net


@njit
def _duel_matches(
    code_a: int,
    strategy_a: Strategy,
    code_b: int,
    strategy_b: Strategy,
    rules: np.ndarray,
    seed: int,
    wins: np.ndarray,
    counts: Counts,
) -> int:
    """Fills wins[pair] with 1 where A won as first mano and as first pie; returns the hands played."""
    state = np.empty(STATE_SIZE, np.int32)
    deck = np.empty(DECK_SIZE, np.int32)
    played = 0
    for pair in range(len(wins)):
        for first_seat in range(2):
            a_score, b_score, hand = 0, 0, 0
            while max(a_score, b_score) < rules[TARGET]:
                key = hand_key(seed, pair, hand)
                a_seat = (first_seat + hand) & 1
                deal_cards(key, deck)
                if a_seat == 0:
                    deal(state, deck, a_score, b_score)
                else:
                    deal(state, deck, b_score, a_score)
                _play_hand(code_a, strategy_a, code_b, strategy_b, rules, a_seat, key, state, counts)
                a_score, b_score = state[SCORE + a_seat], state[SCORE + 1 - a_seat]
                hand += 1
            wins[pair, first_seat] = 1 if a_score > b_score else 0
            played += hand
    return played
