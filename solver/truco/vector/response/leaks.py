"""Where a best response gains over the policy: by leaf of the trunk, and in the trunk itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from game.truco.actions import action_name
from solver.truco.vector.cfr.evaluate import Evaluator
from solver.truco.vector.model.trees import WORD_CODES, Target
from solver.truco.vector.response.trunk import TrunkResponse

CARD = "card"
"""Any card, in a history."""
TIE = 1e-9
"""Sums over deals of values that differ by less count as equal: the exploiter takes the first such option."""
_NAMES = {code: action_name(action) for action, code in WORD_CODES.items()} | {CARD: CARD}
_SEATS = ("mano", "pie")


class Leak(NamedTuple):
    """A public situation in which the trunk ends, and what the best response gains from there on over the policy."""

    history: tuple[tuple[str, str], ...]
    """(Seat, action) so far: `mano` or `pie`, and a word's name in the specification or `card`."""
    mass: float
    """Probability of coming there when the exploiter plays the best response."""
    gain: float
    """Utility gained from there on, times the probability, to float32 accuracy of the policy's own value. Where pie's
    card ends the trunk, the policy too plays its best card. Own real hands of one class count alike in the policy's
    value, so with real cards only the sum over suits is exact.
    """

    def words(self) -> str:
        """The history for people: `mano envido, pie no_quiero, mano card`."""
        return ", ".join(f"{seat} {action}" for seat, action in self.history)


class Gains(NamedTuple):
    """What a best response gains over the policy's own value, taken apart."""

    own_value: float
    """Expected utility of the exploiter's seat when it follows the policy, to float32 accuracy."""
    trunk: float
    """Gained by his choices in the trunk, if he goes on as the policy does after it."""
    leaks: tuple[Leak, ...]
    """Gained after the trunk, largest first; own_value + trunk + the sum of these is the best response's value."""


def named(history: tuple[tuple[str, int], ...]) -> tuple[tuple[str, str], ...]:
    """A history of the trunk in the specification's words."""
    return tuple((_SEATS[player], _NAMES[word]) for word, player in history)


def first_best(options: np.ndarray, axis: int) -> np.ndarray:
    """Index of the largest option along an axis, of the first one if several are equal but for rounding."""
    return (options >= options.max(axis=axis, keepdims=True) - TIE).argmax(axis=axis)


def find_gains(response: TrunkResponse, values: dict[Target, np.ndarray]) -> Gains:
    """Takes apart what a best response gains, from its values at all nodes and leaves of the trunk.

    Costs a pass of the solver and memory for two more sets of tables.
    """
    game, trunk, own = response.game, response.game.trunk, response.own
    deals = game.holdings.num_deals
    own_value, policy = Evaluator.of(response.policy).leaves(own)
    reach: dict[Target, np.ndarray] = {("node", 0): np.ones(values["node", 0].shape)}
    found, followed = [], 0.0
    for number, node in enumerate(trunk.nodes):
        here = reach.pop(("node", number))
        mine = node.player == own
        chosen = np.zeros(here.shape, np.int64)
        if mine:
            options = [response.choice(node, k, values) for k in range(len(node.children))]
            chosen = first_best(np.stack(options), 0)
        for k, target in enumerate(node.children):
            part = np.where(chosen == k, here, 0.0) if mine else here
            if node.plays and k == 0 and node.player == 0:
                if own == 0:
                    part = response.play(part, first_best(response.by_place(values[target]), 1))
                else:
                    part = response.see(part)
            reach[target] = part
            if target[0] == "node":
                continue
            if target[0] == "terminal":
                followed += float((part * values[target]).sum() / deals)
                continue
            theirs = response.policy_rows(target, policy[target] * deals)
            followed += float((part * theirs).sum() / deals)
            leaf = (trunk.exits if target[0] == "exit" else trunk.accepts)[target[1]]
            posted = target[0] == "exit" or trunk.accepts[target[1]].position.posted
            mass = float((part * response.mass(response.before_card(target), posted)).sum() / deals)
            gain = float((part * (values[target] - theirs)).sum() / deals)
            found.append(Leak(named(leaf.history), mass, gain))
    found.sort(key=lambda leak: -leak.gain)
    return Gains(own_value, followed - own_value, tuple(found))
