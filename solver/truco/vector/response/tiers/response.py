"""How much an exploiter at tier level can win against a policy: a quick lower bound of the exact best response.

He knows his class exactly (tiers and Envido value) and remembers the whole public history (cards by tier, calls,
values shown), but sees no suits of cards on the table; deals are weighed by their exact number for each pair of
classes. The exploiter with real cards can do all that this one does, so he never gets less.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from solver.truco.vector.cfr.average import Policy
from solver.truco.vector.model.trees import Target
from solver.truco.vector.response.best import BestResponse, run
from solver.truco.vector.response.book import Block, Envidos, make_book
from solver.truco.vector.response.parallel import Workers
from solver.truco.vector.response.tiers.accepted import Known, respond_accepts
from solver.truco.vector.response.tiers.exits import make_classes, respond_exits
from solver.truco.vector.response.trunk import Progress, TrunkResponse


def tier_response(
    policy: Policy,
    player: int,
    progress: Progress | None = None,
    checkpoint: Path | None = None,
    gains: bool = False,
) -> BestResponse:
    """The best response of `player` (0 mano, 1 pie) at tier level; its value is at most that of the exact one.

    Arguments and errors as of `cards.response.best_response`.
    """
    return run(TierResponse(policy, player), progress, checkpoint, gains)


def tier_exploitability(policy: Policy) -> float:
    """Mean of what the best responses of both seats at tier level get: a lower bound of the exploitability, in points
    per hand or match utility.
    """
    return (tier_response(policy, 0).value + tier_response(policy, 1).value) / 2


class TierResponse(TrunkResponse):
    """Rows are own classes; once mano's card lies, mano's combinations or pie's [tier of the card, classes]."""

    name = "tiers"
    together = {"exit": 4, "accept": 32}  # noqa: RUF012

    def __init__(self, policy: Policy, player: int) -> None:
        super().__init__(policy, player)
        holdings = self.game.holdings
        self._book = make_book(policy, player, self.group_gains)
        self._classes = make_classes(holdings, self._book)
        wins = holdings.class_value[:, None] >= holdings.class_value[None, :]
        self._won = (np.where(wins, holdings.joint, 0.0), np.where(wins, 0.0, holdings.joint))
        self._workers: Workers[None] = Workers(lambda: None)

    # ---- sums over the other's holdings

    def _sum(self, joint: np.ndarray, reach: np.ndarray, posted: bool) -> np.ndarray:
        """Sums of the other's reach by own rows; joint deals [mano's classes, pie's]."""
        if not posted:
            return (joint if self.own == 0 else joint.T) @ reach.reshape(-1)
        start, cls = self._classes.start, self._classes.cls
        parts = [slice(*ends) for ends in pairwise(start)]
        if self.own == 0:
            return np.concatenate([joint[cls[s]] @ reach[a] for a, s in enumerate(parts)])
        return np.stack([joint[cls[s]].T @ reach[s] for s in parts])

    def masses(self, reach: np.ndarray, posted: bool) -> np.ndarray:
        """See TrunkResponse."""
        return np.stack([self._sum(joint, reach, posted) for joint in self._won])

    def mass(self, reach: np.ndarray, posted: bool) -> np.ndarray:
        """See TrunkResponse."""
        return self._sum(self.game.holdings.joint, reach, posted)

    # ---- leaves

    def _stacked(self, kind: str, numbers: Sequence[int]) -> np.ndarray:
        """The other's reach at parts of one kind, [parts, rows, holdings]."""
        return np.ascontiguousarray([np.atleast_2d(self.reach[kind, number]) for number in numbers])

    def exits(self, numbers: Sequence[int]) -> list[np.ndarray]:
        """See TrunkResponse."""
        groups, position = self.game.groups, self.game.holdings.after.position
        tiers = self.game.holdings.num_tiers
        group = self.group_of[numbers[0]]
        block = Block(group, int(np.flatnonzero(groups.block_group == group)[0]), 0, 0)
        reach = self._stacked("exit", numbers)
        out = np.zeros((len(numbers), 1 if self.own == 0 else tiers, reach.shape[2]))
        chosen = np.arange(len(numbers))

        def answer(tier: int, _: None) -> None:
            respond_exits(self._book, self._classes, block, chosen, reach, tier, out)

        if reach.any():
            self._workers.share_out(answer, range(tiers))
        if self.own == 0:
            return list(out[:, 0])
        return list(np.where(position >= 0, out[:, :, position], -np.inf).max(axis=3))

    def add_accepted(
        self, numbers: Sequence[int], continuation: int, winner: int, values: list[np.ndarray]
    ) -> None:
        """See TrunkResponse."""
        game = self.game
        gains = np.zeros((2, 5))
        gains[:, 1:] = self.gains(game.continuations[continuation].extra)
        reach = self._stacked("accept", numbers)
        envidos = Envidos(
            game.positions, game.value_lists, self.policy.tables.position_sums, int(game.position_root[continuation]),
            game.position_tables[continuation], game.continuations[continuation].position.posted, gains, reach,
            len(numbers),
        )  # fmt: skip
        sets: dict[int, list[int]] = {}
        for outcome in game.outcomes():
            if outcome[2] == winner:
                sets.setdefault(outcome[1 - self.own], []).append(outcome[self.own])
        out = np.zeros((len(sets), len(numbers), *np.atleast_2d(values[0]).shape))
        tasks = [
            (k, Known(theirs, np.array(owns, np.int64))) for k, (theirs, owns) in enumerate(sets.items())
        ]

        def answer(task: tuple[int, Known], _: None) -> None:
            respond_accepts(self._book, self._classes, envidos, task[1], out[task[0]])

        self._workers.share_out(answer, tasks)
        for rows, part in zip(values, out.sum(axis=0), strict=True):
            rows += part.reshape(rows.shape)

    # ---- own rows

    def by_place(self, below: np.ndarray) -> np.ndarray:
        """See TrunkResponse."""
        position = self.game.holdings.after.position
        return np.where(position >= 0, below[position], -np.inf)

    def play(self, reach: np.ndarray, place: np.ndarray) -> np.ndarray:
        """See TrunkResponse."""
        after = self.game.holdings.after
        return reach[after.cls] * (place[after.cls] == after.slot)

    def see(self, reach: np.ndarray) -> np.ndarray:
        """See TrunkResponse."""
        return np.tile(reach, (self.game.holdings.num_tiers, 1))

    def policy_rows(self, target: Target, values: np.ndarray) -> np.ndarray:
        """See TrunkResponse."""
        position = self.game.holdings.after.position
        if self.own == 1 and target[0] == "exit":
            return np.where(position >= 0, values[:, position], -np.inf).max(axis=2)
        return values
