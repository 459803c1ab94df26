"""Opponents to measure against: random, caller, maniac and the heuristic player, as kernels by code.

Every kernel has the signature `(state, rules, actions, n, out)`: it writes the probabilities of `actions[:n]`,
as `engine.legal` lists them, to `out[:n]`, and reads of the state only what the seat may know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from game.truco.actions import ENVIDO, FALTA_ENVIDO, QUIERO, TRUCO
from game.truco.rules import Rules
from solver.jit import njit
from solver.truco.hand.engine import mover
from solver.truco.players.heuristic import heuristic, plan

if TYPE_CHECKING:
    from solver.truco.hand.openspiel_policy import EnginePolicy

BASELINES = ("random", "caller", "maniac", "heuristic")
"""Names of the baselines; the position of a name is its code."""
RANDOM, CALLER, MANIAC, HEURISTIC = range(len(BASELINES))

CALL_RATE = 0.4
"""How often the caller calls Envido, and how often Truco, when it may."""


@njit
def random_bot(state: np.ndarray, rules: np.ndarray, actions: np.ndarray, n: int, out: np.ndarray) -> None:
    """Every legal action alike."""
    out[:n] = 1.0 / n


@njit
def caller(state: np.ndarray, rules: np.ndarray, actions: np.ndarray, n: int, out: np.ndarray) -> None:
    """Accepts everything and never raises; calls a plain Envido or Truco often, whatever it holds.

    Plays its cards as the heuristic player does, and never folds.
    """
    out[:n] = 0.0
    card = plan(state, mover(state))[1]
    left = 1.0
    for i in range(n - 1, -1, -1):  # Envido is thought of before Truco, and both before a card
        if actions[i] == QUIERO:
            out[i] = left
            return
        if actions[i] == ENVIDO or TRUCO <= actions[i] < ENVIDO:
            out[i] = CALL_RATE * left
            left -= out[i]
        elif actions[i] == card:
            out[i] = left


@njit
def maniac(state: np.ndarray, rules: np.ndarray, actions: np.ndarray, n: int, out: np.ndarray) -> None:
    """Calls the highest there is whenever it may, Falta before Truco; else accepts, and never folds.

    Plays its cards as the heuristic player does.
    """
    out[:n] = 0.0
    card = plan(state, mover(state))[1]
    choice, strongest = 0, -1
    for i in range(n):
        action = actions[i]
        if action == FALTA_ENVIDO:
            wish = 3
        elif TRUCO <= action < ENVIDO:
            wish = 2
        elif action == QUIERO:
            wish = 1
        else:
            wish = 0 if action == card else -1
        if wish > strongest:
            choice, strongest = i, wish
    out[choice] = 1.0


@njit
def baseline(
    code: int, state: np.ndarray, rules: np.ndarray, actions: np.ndarray, n: int, out: np.ndarray
) -> None:
    """The kernel of the baseline with this code."""
    if code == HEURISTIC:
        heuristic(state, rules, actions, n, out)
    elif code == CALLER:
        caller(state, rules, actions, n, out)
    elif code == MANIAC:
        maniac(state, rules, actions, n, out)
    else:
        random_bot(state, rules, actions, n, out)


def baseline_policy(name: str, rules: Rules, score: tuple[int, int] = (0, 0)) -> EnginePolicy:
    """The baseline as an OpenSpiel policy over `python_truco` states; ValueError for an unknown name."""
    from solver.truco.hand.openspiel_policy import EnginePolicy

    code = baseline_code(name)
    return EnginePolicy(rules, score, lambda *arguments: baseline(code, *arguments))


def baseline_code(name: str) -> int:
    """Code of a baseline; ValueError names the ones there are."""
    if name not in BASELINES:
        raise ValueError(f"unknown baseline {name!r}, allowed: {', '.join(BASELINES)}")
    return BASELINES.index(name)
