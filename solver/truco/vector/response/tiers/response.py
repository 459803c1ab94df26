"""How much an exploiter at tier level can win against a policy: a quick lower bound of the exact best response.

He knows his class exactly (tiers and Envido value) and remembers the whole public history (cards by tier, calls,
values shown), but sees no suits of cards on the table; deals are weighed by their exact number for each pair of
classes. The exploiter of certify.py can do all that this one does, so he never gets less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import get_num_threads

from solver.truco.vector.cfr.average import Policy
from solver.truco.vector.model.trees import Target
from solver.truco.vector.response.tiers.tricks import Book, respond_accepts, respond_exits
from solver.truco.vector.response.trunk import TrunkResponse, left_places

_BATCH = 4
"""Exits that go through tricks 2 and 3 side by side."""


def tier_response(policy: Policy, player: int, progress: Callable[[float], None] | None = None) -> float:
    """Expected utility of the best response of `player` (0 mano, 1 pie) at tier level; float64, exact up to rounding.

    `progress` is called with the share of the work that is done.
    """
    return _TierResponse(policy, player).run(progress)


def tier_exploitability(policy: Policy) -> float:
    """Mean of what the best responses of both seats at tier level get; at most the exploitability."""
    return (tier_response(policy, 0) + tier_response(policy, 1)) / 2


def _share_out(work: Callable[[Any], None], tasks: Sequence[Any], progress: Callable[[float], None]) -> None:
    """Does all tasks on as many threads as numba uses; the kernels let go of the interpreter."""
    with ThreadPoolExecutor(get_num_threads()) as pool:
        try:
            for done, _ in enumerate(pool.map(work, tasks)):
                progress((done + 1) / len(tasks))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


class _TierResponse(TrunkResponse):
    """Rows are own classes; once mano's card lies, mano's combinations or pie's [tier of the card, classes]."""

    def __init__(self, policy: Policy, player: int) -> None:
        super().__init__(policy, player)
        game, holdings = self.game, self.game.holdings
        block, bucket = game.hand_over.block, game.hand_over.bucket
        tiers = holdings.num_tiers
        pairs = np.array([(p, q) for p in range(tiers) for q in range(p, tiers)], np.int64)
        self._book = Book(
            game.layout.trees.forest, game.layout.lists, left_places(game), policy.tables.sums, game.groups.root,
            game.groups.table, block, bucket, game.local, pairs, holdings.joint, self.group_gains,
        )  # fmt: skip
        after = holdings.after
        self._start, self._cls, self._pair = (
            part.astype(np.int64) for part in (after.start, after.cls, after.pair)
        )
        self._mano_wins = holdings.class_value[:, None] >= holdings.class_value[None, :]

    def _best_card(self, below: np.ndarray) -> np.ndarray:
        position = self.game.holdings.after.position
        return np.where(position >= 0, below[position], -np.inf).max(axis=1)

    # ---- leaves

    def _mass(self, joint: np.ndarray, reach: np.ndarray, posted: bool) -> np.ndarray:
        """Sums of the other's reach by own rows; joint deals [mano's classes, pie's]."""
        if not posted:
            return (joint if self.own == 0 else joint.T) @ reach.reshape(-1)
        parts = [slice(*ends) for ends in zip(self._start[:-1], self._start[1:], strict=True)]
        if self.own == 0:
            return np.concatenate([joint[self._cls[s]] @ reach[a] for a, s in enumerate(parts)])
        return np.stack([joint[self._cls[s]].T @ reach[s] for s in parts])

    def _terminal(self, number: int) -> np.ndarray:
        terminal = self.game.trunk.terminals[number]
        reach = self.reach["terminal", number]
        return self.sign * terminal.utility * self._mass(self.game.holdings.joint, reach, terminal.posted)

    def _exits(self, progress: Callable[[float], None]) -> dict[Target, np.ndarray]:
        game, after = self.game, self.game.holdings.after
        tiers, combos = game.holdings.num_tiers, len(after.cls)
        count = len(game.trunk.exits)
        reach = np.zeros((count, tiers if self.own == 0 else 1, combos))
        for e in range(count):
            reach[e] = self.reach["exit", e]
        block = np.searchsorted(game.groups.block_group, np.arange(len(game.layout.groups)))
        batches = []
        for g, group in enumerate(game.layout.groups):
            for first in range(0, len(group.exits), _BATCH):
                chosen = np.array(group.exits[first : first + _BATCH], np.int64)
                batches += [(g, int(block[g]), chosen, a) for a in range(tiers)]
        out = np.zeros((count, 1 if self.own == 0 else tiers, combos))

        def respond(batch: tuple[int, int, np.ndarray, int]) -> None:
            group, block, chosen, a = batch
            respond_exits(
                self._book, self._start, self._cls, self._pair, group, block, chosen, reach, self.own, a, out
            )

        _share_out(respond, batches, progress)
        found: dict[Target, np.ndarray] = {}
        for e, leaving in enumerate(game.trunk.exits):
            base = self.sign * leaving.payoffs.base
            if self.own == 0:
                # The other's reach before its card, by class.
                by_class = np.where(after.position >= 0, reach[e][:, after.position], 0.0).sum(axis=2)
                found["exit", e] = out[e, 0] + base * self._mass(game.holdings.joint, by_class, True)
            else:
                best = np.where(after.position >= 0, out[e][:, after.position], -np.inf).max(axis=2)
                found["exit", e] = best + base * self._mass(game.holdings.joint, reach[e, 0], True)
        return found

    def _accepts(self, progress: Callable[[float], None]) -> dict[Target, np.ndarray]:
        game, trunk, joint = self.game, self.game.trunk, self.game.holdings.joint
        won = (np.where(self._mano_wins, joint, 0.0), np.where(self._mano_wins, 0.0, joint))
        found: dict[Target, Any] = {}
        together: dict[tuple[int, int], list[int]] = {}
        for k, accept in enumerate(trunk.accepts):
            found["accept", k] = 0.0
            for winner in (0, 1):
                mass = self._mass(won[winner], self.reach["accept", k], accept.position.posted)
                found["accept", k] += self.sign * accept.payoffs[winner].base * mass
                if not accept.over[winner] and self.reach["accept", k].any():
                    number = game.continuation_of(accept, winner)
                    together.setdefault((number, winner), []).append(k)
        tasks, results = [], []
        for (number, winner), members in together.items():
            continuation = game.continuations[number]
            posted = continuation.position.posted
            sets: dict[int, list[int]] = {}
            for outcome in game.outcomes():
                if outcome[2] == winner:
                    sets.setdefault(outcome[1 - self.own], []).append(outcome[self.own])
            reach = np.stack([np.atleast_2d(self.reach["accept", k]) for k in members])
            gains = np.zeros((2, 5))
            gains[:, 1:] = self.gains(continuation.extra)
            shape = np.atleast_2d(found["accept", members[0]]).shape
            out = np.zeros((len(sets), len(members), *shape))
            for k, (known, own_sets) in enumerate(sets.items()):
                tasks.append((number, posted, known, np.array(own_sets, np.int64), gains, reach, out[k]))
            results.append((members, out))

        def respond(task: tuple[int, bool, int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]) -> None:
            number, posted, known, own_sets, gains, reach, out = task
            respond_accepts(
                self._book, game.positions, game.value_lists, self.policy.tables.position_sums,
                game.position_root[number], game.position_tables[number], posted, known, own_sets, gains, reach,
                self.own, out,
            )  # fmt: skip

        _share_out(respond, tasks, progress)
        for members, out in results:
            for k, part in zip(members, out.sum(axis=0), strict=True):
                found["accept", k] += part.reshape(found["accept", k].shape)
        return found

    def run(self, progress: Callable[[float], None] | None) -> float:
        """Expected utility of the best response."""

        def share(begin: float, part: float) -> None:
            if progress is not None:
                progress(begin + part / 2)

        leaves: dict[Target, np.ndarray] = {
            ("terminal", k): self._terminal(k) for k in range(len(self.game.trunk.terminals))
        }
        leaves |= self._accepts(lambda part: share(0.0, part))
        leaves |= self._exits(lambda part: share(0.5, part))
        return float(self.backward(leaves)["node", 0].sum() / self.game.holdings.num_deals)
