"""The walk through the trunk that both exploiters share: the other's reach forward, values of leaves, backward.

What a holding is (a real hand, a class) and what follows the trunk's leaves is left to subclasses. Leaves that share
tables are answered together, and kept on disk when they are done.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from solver.truco.vector.cfr.average import Policy, average_mix
from solver.truco.vector.model.trees import Target, TrunkNode
from solver.truco.vector.response.parts import Parts

Progress = Callable[[float], None]
"""Called with the share of the work that is done."""
Batch = tuple[str, tuple[int, ...]]
"""Leaves of the trunk that are answered together: kind (exit or accept) and their numbers."""
EXIT_COST = {1: 9.0, 2: 3.0, 3: 1.6, 4: 1.0}
"""Work of a batch of exits by round value, for progress only: relative to the cheapest."""
ACCEPT_COST = 180.0
IDLE_COST = 0.1
"""Of a batch that the policy never comes to."""


class TrunkResponse(ABC):
    """A best response of `player` (0 mano, 1 pie).

    Values are float64 arrays over own holdings ("rows"), sums over the other's of deals x reach x utility. Once
    mano's card lies, rows are by that card too; at exits pie's best card has been chosen.
    """

    name: str
    """Tells the exploiters apart in names of files."""
    together: dict[str, int]
    """How many exits, and accepted Envidos, are answered at once at most."""

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

    # ---- leaves

    @abstractmethod
    def masses(self, reach: np.ndarray, posted: bool) -> np.ndarray:
        """Sums of the other's reach by own rows where (mano, pie) wins the Envido, [2, rows]; posted: whether mano's
        card lies.
        """

    def mass(self, reach: np.ndarray, posted: bool) -> np.ndarray:
        """The sum of both."""
        return self.masses(reach, posted).sum(axis=0)

    @abstractmethod
    def exits(self, numbers: Sequence[int]) -> list[np.ndarray]:
        """Rows at exits of one group: what tricks 2 and 3 add."""

    @abstractmethod
    def add_accepted(
        self, numbers: Sequence[int], continuation: int, winner: int, values: list[np.ndarray]
    ) -> None:
        """Adds to the rows of accepted Envidos what the hand adds where this seat wins them and the match goes on."""

    @cached_property
    def group_of(self) -> dict[int, int]:
        """Group of tables of each exit."""
        return {e: g for g, group in enumerate(self.game.layout.groups) for e in group.exits}

    def before_card(self, target: Target) -> np.ndarray:
        """The other's reach at a leaf; at exits of a mano who exploits, that of pie before his card."""
        reach = self.reach[target]
        if target[0] == "exit" and self.own == 0:
            position = self.game.holdings.after.position
            return np.where(position >= 0, reach[:, position], 0.0).sum(axis=2)
        return reach

    def _terminal(self, number: int) -> np.ndarray:
        terminal = self.game.trunk.terminals[number]
        return self.sign * terminal.utility * self.mass(self.reach["terminal", number], terminal.posted)

    def _exit_values(self, numbers: Sequence[int]) -> list[np.ndarray]:
        found = []
        for number, rest in zip(numbers, self.exits(numbers), strict=True):
            base = self.sign * self.game.trunk.exits[number].payoffs.base
            found.append(rest + base * self.mass(self.before_card(("exit", number)), True))
        return found

    def _accept_values(self, numbers: Sequence[int]) -> list[np.ndarray]:
        accepts = [self.game.trunk.accepts[number] for number in numbers]
        found = []
        for number, accept in zip(numbers, accepts, strict=True):
            masses = self.masses(self.reach["accept", number], accept.position.posted)
            found.append(np.asarray(sum(self.sign * accept.payoffs[w].base * masses[w] for w in (0, 1))))
        if any(self.reach["accept", number].any() for number in numbers):
            for winner in (0, 1):
                if not accepts[0].over[winner]:
                    continuation = self.game.continuation_of(accepts[0], winner)
                    self.add_accepted(numbers, continuation, winner, found)
        return found

    def _batches(self) -> list[Batch]:
        """Leaves that share tables; those that the policy never comes to apart."""
        trunk = self.game.trunk
        shared: dict[tuple[Any, ...], list[int]] = {}
        for number, accept in enumerate(trunk.accepts):
            after = tuple(self.game.continuation_of(accept, w) for w in (0, 1) if not accept.over[w])
            live = bool(self.reach["accept", number].any())
            shared.setdefault(("accept", accept.position, accept.over, after, live), []).append(number)
        for number in range(len(trunk.exits)):
            live = bool(self.reach["exit", number].any())
            shared.setdefault(("exit", self.group_of[number], live), []).append(number)
        return [
            (key[0], tuple(numbers[at : at + self.together[key[0]]]))
            for key, numbers in shared.items()
            for at in range(0, len(numbers), self.together[key[0]])
        ]

    def _cost(self, batch: Batch) -> float:
        """Expected work, relative to the cheapest exit."""
        kind, numbers = batch
        if not self.reach[kind, numbers[0]].any():
            return IDLE_COST
        if kind == "exit":
            return EXIT_COST[self.game.trunk.exits[numbers[0]].level]
        return IDLE_COST if all(self.game.trunk.accepts[numbers[0]].over) else ACCEPT_COST

    def leaves(
        self, progress: Progress | None = None, checkpoint: Path | None = None
    ) -> dict[Target, np.ndarray]:
        """Values of every leaf of the trunk. Raises StorageError for a damaged part, OSError if the disk refuses."""
        values = {("terminal", k): self._terminal(k) for k in range(len(self.game.trunk.terminals))}
        parts = None
        if checkpoint is not None:
            parts = Parts(checkpoint, f"{self.name}-{'mano' if self.own == 0 else 'pie'}", self.policy)
        batches = self._batches()
        cost = np.cumsum([self._cost(batch) for batch in batches])
        for done, (kind, numbers) in enumerate(batches):
            found = None if parts is None else parts.load(kind, numbers)
            if found is None:
                rows = self._exit_values(numbers) if kind == "exit" else self._accept_values(numbers)
                found = {(kind, number): part for number, part in zip(numbers, rows, strict=True)}
                if parts is not None:
                    parts.save(kind, found)
            values |= found
            if progress is not None:
                progress(float(cost[done] / cost[-1]))
        return values

    # ---- backward

    @abstractmethod
    def by_place(self, below: np.ndarray) -> np.ndarray:
        """Values after mano's own card by the rows before it and its place in the hand, [rows, 3]; -inf where the
        place is not an action.
        """

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
            return self.by_place(below).max(axis=1) if self.own == 0 else below.sum(axis=0)
        return below

    # ---- own reach, for gains

    @abstractmethod
    def play(self, reach: np.ndarray, place: np.ndarray) -> np.ndarray:
        """Own reach [rows] after mano's own card at a place [rows], in the rows after it."""

    @abstractmethod
    def see(self, reach: np.ndarray) -> np.ndarray:
        """Pie's own reach [rows] once mano's card lies: [cards, rows], 0 where he holds that card himself."""

    @abstractmethod
    def policy_rows(self, target: Target, values: np.ndarray) -> np.ndarray:
        """Values of the policy at a leaf in own rows, from those of classes and combinations, weighted by deals."""
