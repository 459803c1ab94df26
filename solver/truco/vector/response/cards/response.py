"""How much an exploiter who remembers every card can win against the vector engine's average strategy, exactly.

The policy knows holdings by class and tier and forgets what its abstraction forgets; the exploiter of `best_response`
holds real cards and forgets nothing: his own cards, every card on the table with its suit, every call, every value
shown. His values are exact sums over all deals in float64, so what he wins bounds how far the policy is from
equilibrium in the real game.

The trunk is walked in numpy (trunk.py); each of its exits and accepted Envidos is one part computed by the kernels
of exits.py and accepted.py, up to LANES of them at once where the policy plays on by the same tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np

from solver.entry import Entry
from solver.truco.vector.cfr.average import Policy
from solver.truco.vector.model.trees import Target
from solver.truco.vector.response.best import BestResponse, run
from solver.truco.vector.response.book import Block, Envidos, Situation, make_book
from solver.truco.vector.response.cards.accepted import respond_mano, respond_pie
from solver.truco.vector.response.cards.chunks import Chunks, Task, make_chunks, make_room1
from solver.truco.vector.response.cards.exits import Kernels, respond_exits
from solver.truco.vector.response.cards.lanes import LANES
from solver.truco.vector.response.cards.room import GROUPS, Room, make_room
from solver.truco.vector.response.cards.table import make_deck, split_mass
from solver.truco.vector.response.cards.trick2 import respond
from solver.truco.vector.response.cards.trick3 import solve_third
from solver.truco.vector.response.parallel import Workers
from solver.truco.vector.response.trunk import Progress, TrunkResponse

SHARES = 64
"""Calls among which the pairs of first cards at exits are dealt out."""


def best_response(
    policy: Policy,
    player: int,
    progress: Progress | None = None,
    checkpoint: Path | None = None,
    gains: bool = False,
) -> BestResponse:
    """The best response of `player` (0 mano, 1 pie) to the policy in the real game.

    With `checkpoint`, a directory, each finished part is kept there and found again by a later call; the result is
    the same with and without interruption. `gains` costs a pass of the solver and memory for two more sets of
    tables. Raises StorageError for a damaged part or one of another policy, OSError if the disk refuses.
    """
    return run(CardsResponse(policy, player), progress, checkpoint, gains)


class CardsResponse(TrunkResponse):
    """One best response with real cards. Rows are own hands [hands]; once mano's card lies, mano's [hands, place of
    his card], pie's [mano's card, hands].
    """

    name = "cards"
    together = {"exit": LANES, "accept": LANES}  # noqa: RUF012

    def __init__(self, policy: Policy, player: int) -> None:
        super().__init__(policy, player)
        self.deck = make_deck(policy.game)
        self._cards = len(self.deck.tier)
        self._holds = (self.deck.hands[None] == np.arange(self._cards)[:, None, None]).any(axis=2)
        """Whether a hand holds a card, bool [card, hand]."""
        self._rest = np.stack(
            [
                self.deck.pair_at[self.deck.hands[:, j], self.deck.hands[:, k]]
                for j, k in ((1, 2), (0, 2), (0, 1))
            ],
            axis=1,
        )
        """Pair left after playing each card of a hand, int64 [hand, 3]."""
        self._book = make_book(policy, player, self.group_gains)
        self._workers: Workers[Room] = Workers(lambda: make_room(self.deck.tier))

    @cached_property
    def _kernels(self) -> Kernels:
        """The large kernels, compiled for arguments of the types that they get."""
        some = Situation(0, 0, 0, 0, False, 0, np.zeros(6, np.int64))
        room = make_room(self.deck.tier)
        third = Entry(solve_third, self._book, some, room, np.zeros((2, 5)), 0, 0, 0, 0)
        return Kernels(Entry(respond, self._book, some, room, np.zeros((2, 5)), 0, 0, 0, third), third)

    # ---- sums over the other's hands

    def masses(self, reach: np.ndarray, posted: bool) -> np.ndarray:
        """See TrunkResponse."""
        deck = self.deck
        if not posted:
            return split_mass(deck, reach.reshape(-1)[deck.cls], self.own)
        if self.own == 0:
            by_tier = np.stack([split_mass(deck, row[deck.cls], 0) for row in reach])
            tier = deck.tier[deck.hands]
            return np.stack([by_tier[tier, w, np.arange(len(tier))[:, None]] for w in (0, 1)])
        out = np.zeros((2, self._cards, len(deck.hands)))
        for a in range(self._cards):
            place = (deck.hands == a).argmax(axis=1)
            rows = np.arange(len(place))
            share = reach[deck.combo[rows, place]] * deck.share[rows, place]
            found = split_mass(deck, np.where(self._holds[a], share, 0.0), 1)
            out[:, a] = np.where(self._holds[a], 0.0, found)
        return out

    # ---- leaves

    def _stacked(self, kind: str, numbers: Sequence[int]) -> np.ndarray:
        """The other's reach at parts of one kind, [rows, holdings, LANES]; unused lanes are 0."""
        found = [np.atleast_2d(self.reach[kind, number]) for number in numbers]
        out = np.zeros((*found[0].shape, LANES))
        for lane, reach in enumerate(found):
            out[..., lane] = reach
        return out

    def exits(self, numbers: Sequence[int]) -> list[np.ndarray]:
        """See TrunkResponse."""
        groups, deck, cards = self.game.groups, self.deck, self._cards
        group = self.group_of[numbers[0]]
        block = Block(group, int(np.flatnonzero(groups.block_group == group)[0]), 0, 0)
        rest = np.zeros((cards, cards, cards * (cards - 1) // 2, LANES))
        reach = self._stacked("exit", numbers)

        def answer(firsts: np.ndarray, room: Room) -> None:
            respond_exits(self._book, deck, room, self._kernels, block, reach, firsts, rest)

        if reach.any():
            order = np.flatnonzero(~np.eye(cards, dtype=bool))
            np.random.default_rng(0).shuffle(order)  # evens out the shares
            self._workers.share_out(answer, [order[share::SHARES] for share in range(SHARES)])
        found = []
        for lane in range(len(numbers)):
            if self.own == 0:
                found.append(rest[..., lane].sum(axis=1)[deck.hands, self._rest])
            else:
                best = rest[..., lane][:, deck.hands, self._rest].max(axis=2)
                found.append(np.where(self._holds, 0.0, best))
        return found

    def add_accepted(
        self, numbers: Sequence[int], continuation: int, winner: int, values: list[np.ndarray]
    ) -> None:
        """See TrunkResponse."""
        game, tables, deck = self.game, self.policy.tables, self.deck
        posted = game.continuations[continuation].position.posted
        gains = np.zeros((2, 5))
        gains[:, 1:] = self.gains(game.continuations[continuation].extra)
        envidos = Envidos(
            game.positions, game.value_lists, tables.position_sums, int(game.position_root[continuation]),
            game.position_tables[continuation], posted, gains, self._stacked("accept", numbers), len(numbers),
        )  # fmt: skip
        nodes = int(game.positions.nodes[envidos.root])
        tasks, rows = self._tasks(winner, posted, LANES // len(numbers))
        out = np.zeros((rows, LANES))
        play = respond_mano if self.own == 0 else respond_pie

        def answer(task: Task, room: Room) -> None:
            own, other = int(deck.sets.count[task.owns].max()), int(deck.sets.count[task.theirs])
            # Once his card lies, mano's holdings are (hand, card).
            memory = make_room1(nodes, own, other if self.own == 0 else 3 * other, self._cards)
            play(self._book, deck, envidos, room, memory, self._kernels, task, out)

        # Large ones first, so that threads end together.
        size = deck.sets.count
        work = sorted(tasks, key=lambda task: -int(size[task.theirs] * size[task.owns].sum()))
        self._workers.share_out(answer, work)
        for task in tasks:
            for own_set, first in zip(task.owns, task.base, strict=True):
                hands = deck.sets.hand[own_set, : size[own_set]]
                for lane, rows_of in enumerate(values):
                    part = out[first : first + len(hands) * self._per_hand(posted), lane]
                    if not posted:
                        rows_of[hands] += part
                    elif self.own == 0:
                        rows_of[hands] += part.reshape(-1, 3)
                    else:
                        rows_of[:, hands] += part.reshape(self._cards, -1)

    def _per_hand(self, posted: bool) -> int:
        """Values of a hand after an accepted Envido."""
        return (3 if self.own == 0 else self._cards) if posted else 1

    def _tasks(self, winner: int, posted: bool, copies: int) -> tuple[list[Task], int]:
        """What may be shown after an Envido won by this seat, and how many rows of values there are.

        Own sets that meet the same tables beside one of the other's go together. copies: first cards of the policy
        that are answered at once.
        """
        block, size = self._book.block, self.deck.sets.count
        shared: dict[tuple[int, bytes], list[int]] = {}
        for mano, pie, won in self.game.outcomes():
            if won == winner:
                own, other = (mano, pie) if self.own == 0 else (pie, mano)
                shared.setdefault((other, block[:, mano, pie].tobytes()), []).append(own)
        chunks: dict[int, Chunks] = {}
        tasks, rows = [], 0
        for (other, _), found in shared.items():
            if other not in chunks:
                chunks[other] = make_chunks(self.deck, other, copies)
            for first, end in pairwise([*range(0, len(found), GROUPS), len(found)]):
                owns = np.array(found[first:end], np.int64)
                counts = size[owns] * self._per_hand(posted)
                tasks.append(Task(other, owns, chunks[other], rows + np.cumsum(counts) - counts))
                rows += int(counts.sum())
        return tasks, rows

    # ---- own rows

    def by_place(self, below: np.ndarray) -> np.ndarray:
        """See TrunkResponse."""
        return below

    def play(self, reach: np.ndarray, place: np.ndarray) -> np.ndarray:
        """See TrunkResponse."""
        return reach[:, None] * (place[:, None] == np.arange(3))

    def see(self, reach: np.ndarray) -> np.ndarray:
        """See TrunkResponse."""
        return np.where(self._holds, 0.0, reach[None, :])

    def policy_rows(self, target: Target, values: np.ndarray) -> np.ndarray:
        """See TrunkResponse. Real cards that stand for one holding count alike; mano's real cards on the table by the
        mass that pie sees behind them.
        """
        deck, after = self.deck, self.game.holdings.after
        if self.own == 0 and len(values) == len(after.cls):
            count = np.bincount(deck.combo.ravel(), minlength=len(after.cls))
            return (values / count)[deck.combo]
        classes = self.game.holdings.num_classes
        if values.ndim == 1:
            return (values / np.bincount(deck.cls, minlength=classes))[deck.cls]
        if target[0] == "exit":
            values = np.where(after.position >= 0, values[:, after.position], -np.inf).max(axis=2)
        rows = self.mass(self.reach[target], True)
        for tier in range(self.game.holdings.num_tiers):
            cards = np.flatnonzero(deck.tier == tier)
            total = np.bincount(deck.cls, rows[cards].sum(axis=0), minlength=classes)
            worth = np.where(total > 0, values[tier] / np.where(total > 0, total, 1), 0)
            rows[cards] *= worth[deck.cls]
        return rows
