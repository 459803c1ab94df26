"""Policies of a flat game: as vectors over its sequences, and as OpenSpiel policies."""

from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.policy import Policy

from solver.flat import FlatGame

PolicyVectors = tuple[np.ndarray, np.ndarray]
"""For each player the probability of each sequence's last action at its infoset, shape (S,) float64."""

_TOLERANCE = 1e-6


class FlatPolicy(Policy):
    """An OpenSpiel policy held as a dictionary: information state string -> {action: probability}."""

    def __init__(self, game: pyspiel.Game, table: dict[str, dict[int, float]]) -> None:
        super().__init__(game, [0, 1])
        self.table = table

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        """Return {action: probability} over the legal actions; ValueError if the table lacks the infoset."""
        infostate = state.information_state_string(state.current_player() if player_id is None else player_id)
        if infostate not in self.table:
            raise ValueError(f"the policy has no information state {infostate!r}")
        return self.table[infostate]


def policy_from_vectors(flat: FlatGame, vectors: PolicyVectors) -> FlatPolicy:
    """Return the vectors as an OpenSpiel policy, at full precision."""
    table = {}
    for player in (0, 1):
        infostates, actions = flat.infostates[player], flat.actions[player]
        for first, block in flat.trees[player].blocks():
            pairs = zip(actions[block].tolist(), vectors[player][block].tolist(), strict=True)
            for infoset, (names, probabilities) in enumerate(pairs, start=first):
                table[infostates[infoset]] = dict(zip(names, probabilities, strict=True))
    return FlatPolicy(flat.game, table)


def policy_vectors(flat: FlatGame, policy: Policy) -> PolicyVectors:
    """Ask an OpenSpiel policy at one state of every infoset and return its probabilities as vectors.

    An action that the policy leaves out has probability 0. Raises ValueError if the probabilities at an
    infoset are negative or do not add to 1.
    """
    return _vector(flat, 0, policy), _vector(flat, 1, policy)


def uniform_vectors(flat: FlatGame) -> PolicyVectors:
    """Return the policy that plays every legal action alike."""
    vectors = (np.ones(len(flat.actions[0])), np.ones(len(flat.actions[1])))
    for tree, vector in zip(flat.trees, vectors, strict=True):
        for _, block in tree.blocks():
            vector[block] = 1.0 / block.shape[1]
    return vectors


def _vector(flat: FlatGame, player: int, policy: Policy) -> np.ndarray:
    actions = flat.actions[player]
    vector = np.ones(len(actions))
    for first, block in flat.trees[player].blocks():
        for infoset, sequences in enumerate(block, start=first):
            state = flat.game.new_initial_state()
            for action in flat.histories[player][infoset]:
                state.apply_action(action)
            probabilities = policy.action_probabilities(state, player)
            row = np.array([probabilities.get(int(action), 0.0) for action in actions[sequences]])
            if row.min() < 0 or abs(row.sum() - 1) > _TOLERANCE:
                where = flat.infostates[player][infoset]
                raise ValueError(
                    f"the policy's probabilities at {where!r} are no distribution: {probabilities}"
                )
            vector[sequences] = row
    return vector
