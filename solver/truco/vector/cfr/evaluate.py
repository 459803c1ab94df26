"""What the policy of the vector engine is worth when both sides follow it: in all, and by action in trick 1."""

from __future__ import annotations

import numpy as np

from solver.truco.vector.cfr.average import Policy
from solver.truco.vector.cfr.schedule import Step
from solver.truco.vector.cfr.solver import VectorSolver
from solver.truco.vector.model.game import Game
from solver.truco.vector.model.trees import Target


def policy_value(policy: Policy) -> float:
    """Mano's expected utility when both follow the policy, to float32 accuracy (about 1e-6 of the stakes)."""
    return Evaluator.of(policy).value(0)


class Evaluator(VectorSolver):
    """A solver whose current strategies are the policy's average ones, to read off values of one pass."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self._found: dict[Target, np.ndarray] = {}
        self._gains: dict[int, np.ndarray] = {}

    @staticmethod
    def of(policy: Policy) -> Evaluator:
        """With copies of the tables, since a pass changes them."""
        self = Evaluator(policy.game)
        self._fill(policy)
        return self

    def _fill(self, policy: Policy) -> None:
        self.trunk_regrets = [np.array(table) for table in policy.tables.trunk_sums]
        for target, source in (
            (self.position_regrets, policy.tables.position_sums), (self.regrets, policy.tables.sums),
        ):  # fmt: skip
            size = min(len(target), len(source))
            target[:size] = source[:size]

    def _leaf_values(self, *args: object, **keywords: object) -> dict[Target, np.ndarray]:
        found = super()._leaf_values(*args, **keywords)  # type: ignore[arg-type]
        self._found = dict(found)
        return found

    def _note_gains(self, number: int, gain: np.ndarray) -> None:
        self._gains[number] = gain

    def value(self, player: int) -> float:
        """Expected utility of the player; only once, for the pass changes the tables."""
        return float(self.iterate(Step(1.0, 1.0, 0.0, False), (player,))[0])

    def leaves(self, player: int) -> tuple[float, dict[Target, np.ndarray]]:
        """The player's expected utility, and his counterfactual values at the leaves of the trunk as shares of all
        deals; only once.
        """
        value = self.value(player)
        return value, self._found

    def gains(self, policy: Policy) -> list[np.ndarray]:
        """Counterfactual value of every action at every trunk node for its player, as shares of all deals.

        Arrays of the shape `Game.node_shape`. Refills the tables with those of the policy.
        """
        for player in (0, 1):
            self._fill(policy)
            self.value(player)
        return [self._gains[number] for number in range(len(self.game.trunk.nodes))]
