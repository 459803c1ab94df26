"""Exact evaluation of policies on a flat game: best responses, exploitability, game value.

Two kernels carry everything here and the CFR iteration too: `spread_reach` (parents to children) and
`sequence_values` (what the opponent's reach makes each own sequence worth).
"""

import numpy as np
from open_spiel.python.policy import Policy

from solver.flat import FlatGame, Payoffs, Tree
from solver.flat_policy import PolicyVectors, policy_vectors
from solver.jit import njit


def exploitability(flat: FlatGame, policy: Policy | PolicyVectors) -> float:
    """Return NashConv / 2 of the policy, in units of the game's utility."""
    vectors = _vectors(flat, policy)
    return (best_response(flat, 0, vectors[1])[0] + best_response(flat, 1, vectors[0])[0]) / 2


def best_response(flat: FlatGame, player: int, opponent: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the value of `player`'s best response, in his utility, and the response itself.

    `opponent` and the response are policy vectors, shape (sequences,). The response is deterministic; among
    equal actions it takes the lowest.
    """
    values = _values(flat, player, opponent)
    response = np.zeros(len(values))
    response[0] = 1.0
    _maximize(flat.trees[player], values, response)
    return float(values[0]), response


def game_value(flat: FlatGame, policy: Policy | PolicyVectors) -> float:
    """Return the expected utility of player 0 when both follow the policy."""
    vectors = _vectors(flat, policy)
    return float(_reach(flat.trees[0], vectors[0]) @ _values(flat, 0, vectors[1]))


def _vectors(flat: FlatGame, policy: Policy | PolicyVectors) -> PolicyVectors:
    return policy_vectors(flat, policy) if isinstance(policy, Policy) else policy


def _reach(tree: Tree, vector: np.ndarray) -> np.ndarray:
    # The kernels check no bounds.
    if vector.shape != (tree.group_sequences[-1],):
        raise ValueError(f"policy vector of shape {vector.shape}, expected ({tree.group_sequences[-1]},)")
    reach = np.ones(len(vector))
    spread_reach(tree, vector, reach)
    return reach


def _values(flat: FlatGame, player: int, opponent: np.ndarray) -> np.ndarray:
    values = np.empty(len(flat.actions[player]))
    sequence_values(flat.payoffs[player], _reach(flat.trees[1 - player], opponent), values)
    return values


@njit
def spread_reach(tree: Tree, strategy: np.ndarray, reach: np.ndarray) -> None:
    """Set the own reach of every sequence but the empty one: reach of the parent times probability.

    `strategy` and `reach` have shape (sequences,).
    """
    for g in range(len(tree.group_actions)):
        parents = tree.parents[tree.group_starts[g] : tree.group_starts[g + 1]]
        size = len(parents)
        for a in range(tree.group_actions[g]):
            first = tree.group_sequences[g] + a * size
            probability = strategy[first : first + size]
            target = reach[first : first + size]
            for i in range(size):
                target[i] = reach[parents[i]] * probability[i]


@njit
def sequence_values(payoffs: Payoffs, opponent_reach: np.ndarray, values: np.ndarray) -> None:
    """Set the value of each own sequence: payoffs that end there times chance and the opponent's reach.

    `values` has shape (own sequences,), `opponent_reach` (opponent's sequences,). What follows later own
    actions is not yet in it; the backward pass of the caller adds it.
    """
    values[:] = 0.0
    for s in range(len(opponent_reach)):
        weight = opponent_reach[s]
        if weight != 0.0:
            # Unsigned bounds spare the check for negative indices.
            for k in range(np.uint32(payoffs.starts[s]), np.uint32(payoffs.starts[s + 1])):
                values[payoffs.columns[k]] += payoffs.values[k] * weight


@njit
def _maximize(tree: Tree, values: np.ndarray, response: np.ndarray) -> None:
    """Backward pass of a best response: add each infoset's best value to its parent, mark the best action."""
    for g in range(len(tree.group_actions) - 1, -1, -1):
        parents = tree.parents[tree.group_starts[g] : tree.group_starts[g + 1]]
        size = len(parents)
        for i in range(size):
            best = tree.group_sequences[g] + i
            for a in range(1, tree.group_actions[g]):
                candidate = tree.group_sequences[g] + a * size + i
                if values[candidate] > values[best]:
                    best = candidate
            response[best] = 1.0
            values[parents[i]] += values[best]
