"""Policies of the engine as OpenSpiel policies over `python_truco` states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python import policy

from game.truco.openspiel_hand import deck_parameter
from game.truco.rules import Rules
from solver.truco.hand.engine import MAX_LEGAL, encode, legal, rules_vector
from solver.truco.hand.table import PolicyTable, table_policy

EngineKernel = Callable[[np.ndarray, np.ndarray, np.ndarray, int, np.ndarray], Any]
"""Writes probabilities: (state, rules vector, legal actions, how many, out) -> ignored."""


def load_hand_game(rules: Rules, score: tuple[int, int] = (0, 0)) -> pyspiel.Game:
    """`python_truco` with these rules, at this score (mano, pie)."""
    fields = rules.to_dict() | {"deck": deck_parameter(rules)}
    return pyspiel.load_game("python_truco", fields | {"mano_score": score[0], "pie_score": score[1]})


class EnginePolicy(policy.Policy):
    """An engine kernel as a policy. Mazo in answer to a Truco gets 0, since no_quiero is the same (R-31)."""

    def __init__(self, rules: Rules, score: tuple[int, int], kernel: EngineKernel) -> None:
        super().__init__(load_hand_game(rules, score), [0, 1])
        self._house = rules
        self._rules = rules_vector(rules)
        self._kernel = kernel

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        """Probability of each legal action of a `python_truco` state at which a player is to move.

        Raises ValueError for a state of other rules. The score of the state is not checked: a policy may be played
        at scores other than its own, as in a match.
        """
        if state.hand.rules != self._house:
            raise ValueError(f"the policy is for rules {self._house.name()}, not {state.hand.rules.name()}")
        actions = np.zeros(MAX_LEGAL, np.int32)
        probs = np.zeros(MAX_LEGAL)
        encoded = encode(state.hand)
        n = legal(encoded, self._rules, actions)
        self._kernel(encoded, self._rules, actions, n, probs)
        mix = dict.fromkeys(state.legal_actions(), 0.0)
        mix.update({int(actions[i]): float(probs[i]) for i in range(n)})
        return mix


def table_as_policy(rules: Rules, score: tuple[int, int], table: PolicyTable) -> EnginePolicy:
    """A policy table as an OpenSpiel policy; where it has no row it declines, or plays the strongest card."""
    return EnginePolicy(rules, score, lambda *arguments: table_policy(table, *arguments))
