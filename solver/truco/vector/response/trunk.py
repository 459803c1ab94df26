"""The walk through the trunk that every best response shares: the other's reach forward, values backward.

What own holdings look like (real hands, classes) and what the trunk's leaves are worth is left to subclasses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from solver.truco.vector.cfr.average import Policy, average_mix
from solver.truco.vector.model.game import Game
from solver.truco.vector.model.trees import Target, TrunkNode


def left_places(game: Game) -> np.ndarray:
    """Place among the pairs that hold the first tier of the pair with the second, int64 [list, tier, tier], -1 if
    there is none.
    """
    lists, tiers = game.layout.lists, game.holdings.num_tiers
    left = np.full((len(lists.count), tiers, tiers), -1, np.int64)
    for g, tier in np.ndindex(left.shape[:2]):
        size = lists.left_count[g, tier]
        left[g, tier, lists.left_tier[g, tier, :size]] = np.arange(int(size))
    return left


class TrunkResponse(ABC):
    """A best response of `player` (0 mano, 1 pie): `reach` holds the other's reach, `backward` does the rest.

    Values are arrays over own holdings ("rows"), sums over the other's of reach x utility.
    """

    def __init__(self, policy: Policy, player: int) -> None:
        self.policy, self.own = policy, player
        self.game = policy.game
        self.sign = 1.0 if player == 0 else -1.0
        self.reach = self._reach()

    # ---- the other's reach

    def _mix(self, number: int) -> np.ndarray:
        """Average strategy of a trunk node, float64 of the shape of its table."""
        node = self.game.trunk.nodes[number]
        return average_mix(self.policy.tables.trunk_sums[number].astype(np.float64), self.game.legal(node))

    def _reach(self) -> dict[Target, np.ndarray]:
        """The other's reach at every leaf: mano's [classes], then [combinations] once his card lies; pie's [1,
        classes], then [tiers of mano's card, classes], at exits [tiers, combinations].
        """
        trunk, holdings = self.game.trunk, self.game.holdings
        after, tiers = holdings.after, holdings.num_tiers
        ones = np.ones(holdings.num_classes)
        reach: dict[Target, np.ndarray] = {("node", 0): ones if self.own == 1 else ones[None]}
        for number, node in enumerate(trunk.nodes):
            here = reach.pop(("node", number))
            mix = self._mix(number) if node.player != self.own else None
            for k, target in enumerate(node.children):
                if node.plays and k == 0:
                    if mix is not None and node.player == 0:
                        reach[target] = here[after.cls] * mix[after.slot, after.cls]
                    elif mix is not None:
                        reach[target] = here[:, after.cls] * mix[after.slot, :, after.cls].T
                    elif self.own == 0:
                        reach[target] = np.ascontiguousarray(
                            np.broadcast_to(here, (tiers, holdings.num_classes))
                        )
                    else:
                        reach[target] = here
                    continue
                reach[target] = here if mix is None else here * mix[2 + k if node.plays else k]
        return reach

    def gains(self, extra: Sequence[Sequence[float]]) -> np.ndarray:
        """Exploiter's utility by (he wins, he loses), from mano's by winner."""
        gains = np.array(extra, np.float64)
        return gains if self.own == 0 else -gains[::-1]

    @cached_property
    def group_gains(self) -> np.ndarray:
        """The exploiter's utility of the rest by group, (he wins, he loses) and points, [groups, 2, 5]."""
        gain = np.zeros((len(self.game.layout.groups), 2, 5))
        for g, group in enumerate(self.game.layout.groups):
            gain[g, :, 1:] = self.gains(group.gain)
        return gain

    # ---- backward

    @abstractmethod
    def _best_card(self, below: np.ndarray) -> np.ndarray:
        """Mano's values before his card, each row's best card taken, from those after it."""

    def backward(self, leaves: dict[Target, np.ndarray]) -> dict[Target, np.ndarray]:
        """Values of every node and leaf; rows of pie once mano's card lies are by that card first."""
        values = dict(leaves)
        trunk = self.game.trunk
        for number in range(len(trunk.nodes) - 1, -1, -1):
            node = trunk.nodes[number]
            found = [self.choice(node, k, values) for k in range(len(node.children))]
            total = found[0].copy()
            for option in found[1:]:
                if node.player == self.own:
                    np.maximum(total, option, out=total)
                else:
                    total += option
            values["node", number] = total
        return values

    def choice(self, node: TrunkNode, k: int, values: dict[Target, np.ndarray]) -> np.ndarray:
        """Values of a node's k-th child in the node's own rows."""
        below = values[node.children[k]]
        if node.plays and k == 0 and node.player == 0:
            # Mano's card: his best one, or the sum over those he may play.
            return self._best_card(below) if self.own == 0 else below.sum(axis=0)
        return below
