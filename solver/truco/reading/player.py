"""A solution as a player of one seat: its mix at a spot, and the action it draws.

It is asked by spots, which hold what a seat knows and nothing else, so it cannot see the other's cards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from game.truco.actions import TRUCO
from game.truco.cards import tier
from game.truco.spot import Spot
from solver.jit import njit
from solver.truco.hand.engine import MAX_LEGAL, STATE_SIZE, apply, deal, legal, rules_vector
from solver.truco.hand.table import choose
from solver.truco.reading.solution import Solution
from solver.truco.reading.strategy import Strategy, begin_hand, follow, mix
from solver.truco.vector.policy.cursor import CURSOR_SIZE


class Roll(NamedTuple):
    """A decision of a solution, with the luck in it."""

    mix: dict[int, float]
    """Probability of each action that it chooses from; sums to 1."""
    learnt: bool
    """Whether the mix was learnt; else it is a rule: decline, or play the strongest card."""
    number: float
    """The number of [0, 1) that was drawn."""
    action: int


@njit
def _mix_at(
    strategy: Strategy,
    rules: np.ndarray,
    scores: tuple[int, int],
    cards: np.ndarray,
    history: np.ndarray,
    actions: np.ndarray,
    probs: np.ndarray,
) -> tuple[int, bool]:
    """Fills actions and probabilities (float64) of the mover after the history, of a deal int32 [6] (mano's first).

    Returns how many there are and whether they were learnt.
    """
    state = np.empty(STATE_SIZE, np.int32)
    cursor = np.empty(CURSOR_SIZE, np.int64)
    deal(state, cards, scores[0], scores[1])
    begin_hand(strategy, cursor, state)
    for action in history:
        follow(strategy, cursor, state, rules, action)
        apply(state, rules, action)
    n = legal(state, rules, actions)
    return n, mix(strategy, cursor, state, rules, actions, n, probs)


def mix_at(solution: Solution, spot: Spot) -> tuple[dict[int, float], bool]:
    """Probability of each action at a spot by the solution, and whether it was learnt.

    The score of the spot may be another than the solution's, which then plays as at its own. Raises ValueError if the
    spot has other rules than the solution, or tricks 2 and 3 cannot be solved for it.
    """
    if spot.rules != solution.rules:
        raise ValueError("the spot has other rules than the solution")
    stored = solution.look_up(spot)
    if stored is not None and stored.mix:
        # In the order of the engine, so that a number draws the same action either way.
        order = sorted(stored.mix, key=lambda a: (a >= TRUCO, tier(a) if a < TRUCO else 0, a))
        return {action: stored.mix[action] for action in order}, True
    mano, pie = spot.deal(spot.others[0])
    actions, probs = np.empty(MAX_LEGAL, np.int32), np.empty(MAX_LEGAL)
    n, learnt = _mix_at(
        solution.at(spot).strategy,
        rules_vector(spot.rules),
        spot.scores,
        np.array([*mano, *pie], np.int32),
        np.array(spot.history, np.int32),
        actions,
        probs,
    )
    return {int(actions[i]): float(probs[i]) for i in range(n)}, bool(learnt)


def decide(solution: Solution, spot: Spot, number: float) -> Roll:
    """What the solution does at a spot if it draws this number of [0, 1). Raises ValueError as `mix_at`."""
    probabilities, learnt = mix_at(solution, spot)
    actions = list(probabilities)
    drawn = choose(np.array(list(probabilities.values())), len(actions), number)
    return Roll(probabilities, learnt, number, actions[drawn])
