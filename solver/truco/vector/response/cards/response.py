"""How much an exploiter who remembers every card can win against the vector engine's average strategy, exactly.

The policy knows holdings by class and tier and forgets what its abstraction forgets; the exploiter of `best_response`
holds real cards and forgets nothing: his own cards, every card on the table with its suit, every call, every value
shown. His values are exact sums over all deals in float64, so what he wins bounds how far the policy is from
equilibrium in the real game.

The trunk (trick 1 while Envido is not accepted) is walked backwards in numpy; each of its exits and accepted
Envidos is one part computed by the kernels of respond.py and respond_accepted.py, up to LANES of them at once where
the policy plays on by the same tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from solver.jit import dealt_out
from solver.storage import StorageError, read_arrays, write_arrays
from solver.truco.vector.cfr.average import Policy
from solver.truco.vector.cfr.evaluate import Evaluator
from solver.truco.vector.model.game import Game
from solver.truco.vector.model.trees import Target
from solver.truco.vector.response.cards.accepted import (
    Blocks,
    Deal,
    Sets,
    split_mass,
    sweep_accept,
    sweep_exit,
)
from solver.truco.vector.response.cards.lanes import LANES
from solver.truco.vector.response.cards.tricks import GROUPS
from solver.truco.vector.response.trunk import TrunkResponse, left_places

_KIND, _VERSION = "truco-vector-response-part", 2
_STRANDS = 64
"""Strands of work that may run in parallel; fixed, and so is the order of all sums."""

Progress = Callable[[float], None]
"""Called with the share of the work that is done."""
_EXIT_COST = {1: 9.0, 2: 3.0, 3: 1.6, 4: 1.0}
_ACCEPT_COST = 180.0
"""Work of a batch, for progress only: exits by round value, and accepted Envidos, relative to the cheapest."""


class Leak(NamedTuple):
    """A public situation that ends the trunk, and what the best response gains in it over the policy."""

    history: tuple[tuple[str, int], ...]
    """(Word or `card`, player) so far."""
    mass: float
    """Probability of coming there when the exploiter plays the best response."""
    gain: float
    """Utility gained from there on, times the probability; own real hands of one class count alike in the policy's
    value, so only the sum over suits is exact."""


@dataclass(frozen=True)
class BestResponse:
    """What a best-responding player gets against the policy."""

    player: int
    value: float
    """His expected utility, exact."""
    leaks: tuple[Leak, ...]
    """Largest gain first; empty unless asked for."""


class _Table:
    """Real cards of a deck, numbered from the strongest tier to the weakest."""

    def __init__(self, game: Game) -> None:
        holdings = game.holdings
        order = np.argsort(holdings.card_tier, kind="stable")
        rank = np.argsort(order)
        tier = holdings.card_tier[order].astype(np.int64)
        cards = len(tier)
        hands = np.array(list(combinations(range(cards), 3)), np.int64)
        at = np.full((cards, cards, cards), -1, np.int64)
        for column in permutations(range(3)):
            at[hands[:, column[0]], hands[:, column[1]], hands[:, column[2]]] = np.arange(len(hands))
        found = np.sort(rank[holdings.hands], axis=1)
        ours = at[found[:, 0], found[:, 1], found[:, 2]]
        cls = np.empty(len(hands), np.int64)
        cls[ours] = holdings.hand_class
        tiers = tier[hands]
        equal = tiers[:, :, None] == tiers[:, None, :]
        slot = equal.argmax(axis=2).astype(np.int64)
        combo = holdings.after.position[cls[:, None], slot].astype(np.int64)
        value = holdings.class_value[cls].astype(np.int64)
        self.deal = Deal(
            tier, hands, cls, value, np.argsort(value, kind="stable").astype(np.int64), slot,
            1.0 / equal.sum(axis=2), combo, at,
        )  # fmt: skip
        self.cards = cards
        self.pair_number = np.zeros((cards, cards), np.int64)
        for number, (p, q) in enumerate(combinations(range(cards), 2)):
            self.pair_number[p, q] = self.pair_number[q, p] = number
        self.rest = np.stack(
            [self.pair_number[hands[:, j], hands[:, k]] for j, k in ((1, 2), (0, 2), (0, 1))], axis=1
        )
        """Pair number left after playing each card of a hand, int64 [h, 3]."""
        self.holds = np.zeros((cards, len(hands)), bool)
        for place in range(3):
            self.holds[hands[:, place], np.arange(len(hands))] = True
        self.order = np.array([a * cards + b for a in range(cards) for b in range(cards) if a != b], np.int64)
        np.random.default_rng(0).shuffle(self.order)  # evens out the strands
        self.sets = self._sets(game)

    def _sets(self, game: Game) -> Sets:
        deal, lists = self.deal, game.value_lists
        known = game.value_sets
        members = [np.flatnonzero(np.isin(deal.value, values)) for values in known]
        width = max(map(len, members))
        n = len(known)
        ints = lambda *shape: np.zeros(shape, np.int64)  # noqa: E731
        sets = Sets(
            ints(n), ints(n, width), ints(n, width), np.full((n, len(deal.hands)), -1), ints(n, self.cards + 1),
            *(ints(n, 3 * width) for _ in range(5)),
        )  # fmt: skip
        for s, part in enumerate(members):
            size = len(part)
            sets.count[s] = size
            sets.hand[s, :size] = part
            sets.row[s, :size] = np.searchsorted(lists.cls[s, : lists.count[s]], deal.cls[part])
            sets.index[s, part] = np.arange(int(size))
            hands = deal.hands[part]
            card = hands.reshape(-1)
            low = np.stack([hands[:, 1], hands[:, 0], hands[:, 0]], axis=1).reshape(-1)
            high = np.stack([hands[:, 2], hands[:, 2], hands[:, 1]], axis=1).reshape(-1)
            order = np.lexsort((high, low, card))
            sets.start[s] = np.searchsorted(card[order], np.arange(self.cards + 1))
            for column, values in (
                (sets.low, low), (sets.high, high), (sets.member, np.repeat(np.arange(size), 3)),
                (sets.place, np.tile(np.arange(3), size)),
            ):  # fmt: skip
                column[s, : 3 * size] = values[order]
            combos = deal.combo[part].reshape(-1)[order]
            for tier in range(game.holdings.num_tiers):
                here = np.flatnonzero(deal.tier[card[order]] == tier)
                there = lists.combo[s, tier, : lists.combo_count[s, tier]]
                sets.combo_place[s, here] = np.searchsorted(there, combos[here])
        return sets


def best_response(
    policy: Policy,
    player: int,
    progress: Progress | None = None,
    checkpoint: Path | None = None,
    leaks: bool = False,
) -> BestResponse:
    """The best response of `player` (0 mano, 1 pie) to the policy in the real game.

    With `checkpoint`, a directory, each finished part is kept there and found again by a later call; the result is
    the same with and without interruption. `leaks` costs a pass of the solver and memory for two more sets of
    tables. Raises StorageError for a damaged part, OSError if the disk refuses.
    """
    return _Response(policy, player).run(progress, checkpoint, leaks)


class _Response(TrunkResponse):
    """One best response with real cards. Rows are own hands [hands]; once mano's card lies, mano's [hands, place of
    his card], pie's [mano's card, hands].
    """

    def __init__(self, policy: Policy, player: int) -> None:
        super().__init__(policy, player)
        self.table = _Table(policy.game)

    # ---- sums over the other's hands

    def _masses(self, reach: np.ndarray, posted: bool) -> np.ndarray:
        """Sums of the other's reach where (mano, pie) wins the Envido, [2, own rows]; rows as in the class."""
        deal = self.table.deal
        if not posted:
            return split_mass(deal, reach.reshape(-1)[deal.cls], self.own)
        if self.own == 0:
            by_tier = np.stack([split_mass(deal, row[deal.cls], 0) for row in reach])
            tier = deal.tier[deal.hands]
            return np.stack([by_tier[tier, w, np.arange(len(tier))[:, None]] for w in (0, 1)])
        out = np.zeros((2, self.table.cards, len(deal.hands)))
        for a in range(self.table.cards):
            place = (deal.hands == a).argmax(axis=1)
            rows = np.arange(len(place))
            line = np.where(
                self.table.holds[a], reach[deal.combo[rows, place]] * deal.share[rows, place], 0.0
            )
            out[:, a] = np.where(self.table.holds[a], 0.0, split_mass(deal, line, 1))
        return out

    # ---- leaves

    def _terminal(self, number: int) -> np.ndarray:
        terminal = self.game.trunk.terminals[number]
        return (
            self.sign
            * terminal.utility
            * self._masses(self.reach["terminal", number], terminal.posted).sum(axis=0)
        )

    @cached_property
    def _blocks(self) -> Blocks:
        game = self.game
        block, bucket = game.hand_over.block, game.hand_over.bucket
        return Blocks(
            game.groups.root, game.groups.table, self.group_gains, block, bucket, game.local,
            game.holdings.pair_id, left_places(game),
        )  # fmt: skip

    def _stacked(self, kind: str, numbers: Sequence[int]) -> np.ndarray:
        """The other's reach at parts of one kind, [rows, holdings, LANES]; unused lanes are 0."""
        found = [np.atleast_2d(self.reach[kind, number]) for number in numbers]
        out = np.zeros((*found[0].shape, LANES))
        for lane, reach in enumerate(found):
            out[..., lane] = reach
        return out

    def _exits(self, numbers: Sequence[int]) -> list[np.ndarray]:
        """Rows at exits that share tables: mano's [hands, place of his card]; pie's [mano's card, hands], his best
        card chosen.
        """
        game, tables, table, deal = self.game, self.policy.tables, self.table, self.table.deal
        cards = table.cards
        group = self._group[numbers[0]]
        block = int(np.flatnonzero(game.groups.block_group == group)[0])
        rest = np.zeros((cards, cards, cards * (cards - 1) // 2, LANES))
        reaches = self._stacked("exit", numbers)
        if reaches.any():
            sweep_exit(
                game.layout.trees.forest, game.layout.lists, tables.sums, self._blocks, deal, group, block, reaches,
                self.own, table.order, _STRANDS, table.pair_number, rest,
            )  # fmt: skip
        found = []
        for lane, number in enumerate(numbers):
            reach = self.reach["exit", number]
            base = self.sign * game.trunk.exits[number].payoffs.base
            if self.own == 0:
                # The other's reach before its card, by class.
                position = game.holdings.after.position
                by_class = np.where(position >= 0, reach[:, position], 0.0).sum(axis=2)
                after = rest[..., lane].sum(axis=1)[deal.hands, table.rest]
                found.append(after + base * self._masses(by_class, True).sum(axis=0))
            else:
                best = rest[..., lane][:, deal.hands, table.rest].max(axis=2)
                found.append(np.where(table.holds, 0.0, best) + base * self._masses(reach, True).sum(axis=0))
        return found

    def _accepts(self, numbers: Sequence[int]) -> list[np.ndarray]:
        """Rows at accepted Envidos after which the hand goes on alike."""
        game, tables, table, deal = self.game, self.policy.tables, self.table, self.table.deal
        accepts = [game.trunk.accepts[number] for number in numbers]
        position, over = accepts[0].position, accepts[0].over
        posted = position.posted
        found = []
        for number, accept in zip(numbers, accepts, strict=True):
            masses = self._masses(self.reach["accept", number], posted)
            found.append(np.asarray(sum(self.sign * accept.payoffs[w].base * masses[w] for w in (0, 1))))
        reaches = self._stacked("accept", numbers)
        if not reaches.any():
            return found
        sets = table.sets
        for winner in (0, 1):
            if over[winner]:
                continue
            continuation = game.continuation_of(accepts[0], winner)
            tasks = self._tasks(winner)
            if len(tasks) == 0:
                continue
            size = np.where(tasks[:, 1:] >= 0, sets.count[tasks[:, 1:]], 0)
            if posted:
                size = size * (3 if self.own == 0 else table.cards)
            base = (np.cumsum(size) - size.ravel()).reshape(size.shape)
            out = np.zeros((int(size.sum()), LANES))
            gains = np.zeros((2, 5))
            gains[:, 1:] = self.gains(accepts[0].payoffs[winner].extra)
            sweep_accept(
                game.layout.trees.forest, game.layout.lists, tables.sums, self._blocks, deal, sets, game.positions,
                game.value_lists, tables.position_sums, game.position_root[continuation], posted,
                game.position_tables[continuation], tasks, base, _STRANDS, reaches, len(numbers), gains, self.own,
                out,
            )  # fmt: skip
            for task, g in np.argwhere(tasks[:, 1:] >= 0):
                own_set = tasks[task, 1 + g]
                hands = sets.hand[own_set, : sets.count[own_set]]
                begin = base[task, g]
                for lane, values in enumerate(found):
                    part = out[begin : begin + size[task, g], lane]
                    if not posted:
                        values[hands] += part
                    elif self.own == 0:
                        values[hands] += part.reshape(-1, 3)
                    else:
                        values[:, hands] += part.reshape(table.cards, -1)
        return found

    def _tasks(self, winner: int) -> np.ndarray:
        """What may be shown after an Envido won by this seat, as `sweep_accept` takes it."""
        sets, block = self.table.sets, self._blocks.block
        shared: dict[tuple[int, bytes], list[int]] = {}
        for mano, pie, won in self.game.outcomes():
            if won == winner:
                own, other = (mano, pie) if self.own == 0 else (pie, mano)
                shared.setdefault((other, block[:, mano, pie].tobytes()), []).append(own)
        rows = [
            (other, *owns[at : at + GROUPS])
            for (other, _), owns in shared.items()
            for at in range(0, len(owns), GROUPS)
        ]
        size = lambda row: int(sets.count[row[0]]) * sum(int(sets.count[own]) for own in row[1:])  # noqa: E731
        rows.sort(key=lambda row: -size(row))
        # Each strand takes every so many-th task: these are dealt out, so that threads get alike.
        strands = [rows[at : at + _STRANDS] for at in range(0, len(rows), _STRANDS)]
        rows = [strand[k] for strand in strands for k in dealt_out([float(size(row)) for row in strand])]
        return np.array([row + (-1,) * (1 + GROUPS - len(row)) for row in rows], np.int64).reshape(
            -1, 1 + GROUPS
        )

    # ---- backward

    @cached_property
    def _group(self) -> dict[int, int]:
        """Group of tables of each exit."""
        return {e: g for g, group in enumerate(self.game.layout.groups) for e in group.exits}

    def _batches(self) -> list[tuple[str, tuple[int, ...]]]:
        """Parts that share tables, at most LANES together; those that the policy never comes to apart."""
        trunk = self.game.trunk
        shared: dict[tuple[Any, ...], list[int]] = {}
        for number, accept in enumerate(trunk.accepts):
            after = tuple(self.game.continuation_of(accept, w) for w in (0, 1) if not accept.over[w])
            live = bool(self.reach["accept", number].any())
            shared.setdefault(("accept", accept.position, accept.over, after, live), []).append(number)
        for number in range(len(trunk.exits)):
            live = bool(self.reach["exit", number].any())
            shared.setdefault(("exit", self._group[number], live), []).append(number)
        return [
            (key[0], tuple(numbers[at : at + LANES]))
            for key, numbers in shared.items()
            for at in range(0, len(numbers), LANES)
        ]

    def _cost(self, kind: str, number: int) -> float:
        """Expected work of a batch with this part; see `_EXIT_COST`."""
        if not self.reach[kind, number].any():
            return 0.1
        if kind == "exit":
            return _EXIT_COST[self.game.trunk.exits[number].level]
        return 0.1 if all(self.game.trunk.accepts[number].over) else _ACCEPT_COST

    def _leaves(self, progress: Progress | None, checkpoint: Path | None) -> dict[Target, np.ndarray]:
        leaves = {("terminal", k): self._terminal(k) for k in range(len(self.game.trunk.terminals))}
        batches = self._batches()
        metadata = {}
        if checkpoint is not None:
            checkpoint.mkdir(parents=True, exist_ok=True)
            metadata = {"policy": self.policy.fingerprint, "player": self.own}
        cost = np.cumsum([self._cost(kind, numbers[0]) for kind, numbers in batches])
        for done, (kind, numbers) in enumerate(batches):
            path = None if checkpoint is None else checkpoint / f"{self.own}-{kind}-{numbers[0]}.safetensors"
            if path is not None and path.exists():
                arrays, found = read_arrays(path, _KIND, _VERSION)
                if found != metadata:
                    raise StorageError(f"{path}: belongs to another policy")
                leaves.update({(kind, number): arrays[str(number)] for number in numbers})
            else:
                values = self._exits(numbers) if kind == "exit" else self._accepts(numbers)
                leaves.update({(kind, n): rows for n, rows in zip(numbers, values, strict=True)})
                if path is not None:
                    named = {str(n): rows for n, rows in zip(numbers, values, strict=True)}
                    write_arrays(path, _KIND, _VERSION, named, metadata)
            if progress is not None:
                progress(float(cost[done] / cost[-1]))
        return leaves

    def _best_card(self, below: np.ndarray) -> np.ndarray:
        return below.max(axis=1)

    def run(self, progress: Progress | None, checkpoint: Path | None, leaks: bool) -> BestResponse:
        leaves = self._leaves(progress, checkpoint)
        values = self.backward(leaves)
        deals = self.game.holdings.num_deals
        value = float(values["node", 0].sum() / deals)
        return BestResponse(self.own, value, tuple(self._leaks(values)) if leaks else ())

    # ---- leaks

    def _leaks(self, values: dict[Target, np.ndarray]) -> list[Leak]:
        """Gains at the leaves of the trunk, weighted by the best response's own reach."""
        game, trunk, deal = self.game, self.game.trunk, self.table.deal
        deals = game.holdings.num_deals
        policy_values = Evaluator.of(self.policy).leaves(self.own)
        after = game.holdings.after
        class_size = np.bincount(deal.cls, minlength=game.holdings.num_classes)
        own: dict[Target, np.ndarray] = {("node", 0): np.ones(len(deal.hands))}
        found = []
        for number, node in enumerate(trunk.nodes):
            here = own.pop(("node", number))
            chosen = np.zeros(here.shape, np.int64)
            if node.player == self.own:
                chosen = np.stack([self.choice(node, k, values) for k in range(len(node.children))]).argmax(
                    axis=0
                )
            for k, target in enumerate(node.children):
                reach = np.where(chosen == k, here, 0.0) if node.player == self.own else here
                if node.plays and k == 0 and node.player == 0:
                    if self.own == 0:
                        best = values[target].argmax(axis=1)
                        reach = reach[:, None] * (best[:, None] == np.arange(3))
                    else:
                        reach = np.where(self.table.holds, 0.0, reach[None, :])
                own[target] = reach
                if target[0] not in ("exit", "accept") or not reach.any():
                    continue
                kind, leaf = target
                by_class = policy_values[target] * deals
                if self.own == 0 and by_class.shape[0] == len(after.cls):
                    # Counterfactual values of (class, card): alike for the real cards that stand for it.
                    count = np.zeros(len(after.cls))
                    np.add.at(count, deal.combo, 1.0)
                    mine = (by_class / count)[deal.combo]
                elif by_class.ndim == 1:
                    mine = (by_class / class_size)[deal.cls]
                else:
                    if kind == "exit":  # pie's best card by the policy's own values
                        position = after.position
                        by_class = np.where(position >= 0, by_class[:, position], -np.inf).max(axis=2)
                    # Rows of the policy are by the tier of mano's card: shared out by the other's mass.
                    mine = np.zeros(reach.shape)
                    mass = self._masses(self.reach[target], True).sum(axis=0)
                    for tier in range(game.holdings.num_tiers):
                        cards = np.flatnonzero(deal.tier == tier)
                        total = np.zeros(len(class_size))
                        np.add.at(total, deal.cls, mass[cards].sum(axis=0))
                        worth = np.where(total > 0, by_class[tier] / np.where(total > 0, total, 1), 0)
                        mine[cards] = mass[cards] * worth[deal.cls]
                posted = trunk.accepts[leaf].position.posted if kind == "accept" else True
                at = self.reach[target]
                if kind == "exit" and self.own == 0:
                    at = np.where(after.position >= 0, at[:, after.position], 0.0).sum(axis=2)
                mass_here = float((reach * self._masses(at, posted).sum(axis=0)).sum() / deals)
                gain = float((reach * (values[target] - mine)).sum() / deals)
                history = trunk.exits[leaf].history if kind == "exit" else trunk.accepts[leaf].history
                found.append(Leak(history, mass_here, gain))
        return sorted(found, key=lambda leak: -leak.gain)
