"""The quick engine: external-sampling MCCFR on the full hand with the compact information key.

Lanctot et al. 2009, "Monte Carlo Sampling for Regret Minimization in Extensive Games". Regrets are unclipped and
weighted by the iteration number, averages by its square. An iteration is a batch of sampled deals for each seat;
both seats play a batch against the other's strategy as it stood before, so the two batches are independent, run
on two threads where there are two, and give the same result on one. While learning, the sampled seat trembles
(TREMBLE), so that every spot is met and learnt; each seat so learns to play against one who errs now and then.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from game.truco.actions import TRUCO
from game.truco.cards import TIERS
from game.truco.equity import EquityTable
from game.truco.rules import Rules
from solver.jit import lean, njit
from solver.truco.hand.engine import (
    MAX_LEGAL,
    OVER,
    SCORE,
    STATE_SIZE,
    apply,
    deal,
    legal,
    mover,
    rules_vector,
    utility_table,
)
from solver.truco.hand.infokey import KEY_VERSION, info_key
from solver.truco.hand.table import NUM_SLOTS, PolicyTable, action_slot, choose
from solver.truco.reading.solution import SolutionInfo
from solver.truco.solutions.quick_solution import MIN_VISITS, QuickSolution

BATCH = (400, 700)
"""Traversals of mano and of pie in one iteration; those of mano, who has more to decide, take longer."""
MIN_SHARE = 0.01
"""Least probability that the finished average strategy gives to an action it plays at all."""
PRUNE_BELOW = 0.02
"""Actions whose mean regret is below minus this part of the largest utility are mostly left out..."""
PRUNED_SHARE = 0.95
"""...in this share of the visits."""
TREMBLE = 0.02
"""How often the sampled seat takes a random action while learning, so that every spot is met and learnt."""
ROW_CAPACITY = 1 << 18
_FIRST_HASH = 1 << 17
_ROW_SIZE = 16
"""Numbers of a row: NUM_SLOTS, the weight of the visits, and room that fills a cache line of 64 bytes."""
_WEIGHT = NUM_SLOTS
_TIER = np.array(TIERS, np.int32)
_MAX_DEPTH = 24  # a seat decides at most 13 times in a hand


class Index(NamedTuple):
    """Row numbers of keys, by open addressing; arrays beside it hold _ROW_SIZE numbers for each row."""

    hash_keys: np.ndarray
    """int64 [a power of 2], -1 where free; small, so that it stays in the processor's cache."""
    hash_rows: np.ndarray
    """int32, row of the key beside it."""
    keys: np.ndarray
    """int64 [ROW_CAPACITY], key of each row."""
    slots: np.ndarray
    """uint16 [ROW_CAPACITY], bit s set where the action of slot s is legal."""
    used: np.ndarray
    """int64 [1], rows in use."""


def new_index() -> Index:
    """An empty index."""
    return Index(
        np.full(_FIRST_HASH, -1, np.int64),
        np.zeros(_FIRST_HASH, np.int32),
        np.zeros(ROW_CAPACITY, np.int64),
        np.zeros(ROW_CAPACITY, np.uint16),
        np.zeros(1, np.int64),
    )


def new_rows() -> np.ndarray:
    """Rows of zeros beside an index."""
    return np.zeros((ROW_CAPACITY, _ROW_SIZE), np.float32)


@lean
def _probe(index: Index, key: int) -> int:
    """Hash cell that holds the key, or the free cell where it belongs."""
    mask = len(index.hash_keys) - 1
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    cell = int(mixed >> np.uint64(40)) & mask
    while index.hash_keys[cell] >= 0 and index.hash_keys[cell] != key:
        cell = (cell + 1) & mask
    return cell


def with_room(index: Index) -> Index:
    """The index, moved to a hash of twice the size if it is more than half full."""
    used, size = int(index.used[0]), len(index.hash_keys)
    if 2 * used <= size:
        return index
    larger = index._replace(hash_keys=np.full(2 * size, -1, np.int64), hash_rows=np.zeros(2 * size, np.int32))
    fill_hash(larger)
    return larger


@njit(nogil=True)
def fill_hash(index: Index) -> None:
    """Enters every key in use into an empty hash."""
    for row in range(index.used[0]):
        cell = _probe(index, index.keys[row])
        index.hash_keys[cell] = index.keys[row]
        index.hash_rows[cell] = row


@lean
def _find(index: Index, key: int) -> int:
    """Row of the key, -1 if it has none."""
    cell = _probe(index, key)
    return index.hash_rows[cell] if index.hash_keys[cell] == key else -1


@lean
def _add(index: Index, key: int, slots: int) -> int:
    """The next free row, for a key that has none yet; -1 when there is none left."""
    row = index.used[0]
    if row == len(index.keys) or row + 1 == len(index.hash_keys):
        return -1
    cell = _probe(index, key)
    index.used[0] = row + 1
    index.hash_keys[cell] = key
    index.hash_rows[cell] = row
    index.keys[row] = key
    index.slots[row] = slots
    return row


@lean
def _slots(actions: np.ndarray, n: int) -> int:
    """Bit mask of the slots of the legal actions."""
    mask = 0
    for i in range(n):
        mask |= 1 << action_slot(actions, i)
    return mask


@lean
def _mix(weights: np.ndarray, actions: np.ndarray, n: int, out: np.ndarray) -> None:
    """Regret matching: probabilities in proportion to the positive weights, uniform if there are none."""
    total = 0.0
    for i in range(n):
        weight = max(weights[action_slot(actions, i)], np.float32(0.0))
        out[i] = weight
        total += weight
    for i in range(n):
        out[i] = out[i] / total if total > 0.0 else 1.0 / n


@lean
def _choose_left_out(
    row: np.ndarray, prune: float, mix: np.ndarray, actions: np.ndarray, n: int, rng: np.random.Generator
) -> int:
    """Bit mask of the actions that this visit leaves out: most times those whose mean regret is below `prune`.

    They are not in the mix, so the value of the node does not need them (Brown and Sandholm 2019, "Superhuman AI
    for multiplayer poker", prune so).
    """
    left_out = 0
    floor = prune * row[_WEIGHT]
    if rng.random() < PRUNED_SHARE:
        for i in range(n):
            if mix[i] == 0.0 and row[action_slot(actions, i)] < floor:
                left_out |= 1 << i
    return left_out


@lean
def _find_twins(actions: np.ndarray, n: int) -> int:
    """Bit mask of the held cards whose tier is that of the card listed before them."""
    twins = 0
    for i in range(1, min(n, 3)):
        if actions[i] < TRUCO and _TIER[actions[i]] == _TIER[actions[i - 1]]:
            twins |= 1 << i
    return twins


@lean
def shuffle_deal(rng: np.random.Generator, deck: np.ndarray) -> None:
    """Puts six random cards of the deck at its front."""
    for i in range(6):
        j = i + int(rng.random() * (len(deck) - i))
        deck[i], deck[j] = deck[j], deck[i]


@lean
def _copy(state: np.ndarray, to: np.ndarray) -> None:
    """Copies number by number: an assignment of slices would make an array in between."""
    for i in range(len(state)):
        to[i] = state[i]


class _Scratch(NamedTuple):
    """Where `_walk` keeps the path from the deal to where it stands, by the player's decision on it."""

    deck: np.ndarray
    """int32 [40]."""
    states: np.ndarray
    """int32 [depth, STATE_SIZE]."""
    actions: np.ndarray
    """int32 [depth, MAX_LEGAL], as `legal` lists them."""
    strategy: np.ndarray
    """float64 [depth, MAX_LEGAL]."""
    values: np.ndarray
    """float64 [depth, MAX_LEGAL], of the actions tried so far."""
    counts: np.ndarray
    """int64 [depth], how many actions there are; so are the others."""
    tried: np.ndarray
    left_out: np.ndarray
    """Bit masks, as of `_choose_left_out` and `_find_twins`."""
    twins: np.ndarray
    rows: np.ndarray
    """Row of the decision in the player's index."""


@lean
def _walk(
    player: int,
    traversals: int,
    own: Index,
    own_rows: np.ndarray,
    tally: np.ndarray,
    other: Index,
    other_rows: np.ndarray,
    average: np.ndarray,
    weight: float,
    prune: float,
    rules: np.ndarray,
    start: tuple[int, int],
    utility: np.ndarray,
    rng: np.random.Generator,
    scratch: _Scratch,
) -> float:
    """`traverse`, without making arrays: counting references to them took half of the time."""
    learn = weight > 0.0
    gained = np.float32(weight) if learn else np.float32(1.0)
    deck, states, actions, strategy, values, counts, tried, left_out, twins, rows = scratch
    sign = 1.0 if player == 0 else -1.0
    total = 0.0
    for _ in range(traversals):
        shuffle_deal(rng, deck)
        depth = 0
        deal(states[0], deck, start[0], start[1])
        while True:
            # Go down to the end of the hand or to the player's next decision.
            state = states[depth]
            listed = actions[depth]
            mix = strategy[depth]
            decides = False
            while state[OVER] == 0:
                n = legal(state, rules, listed)
                who = mover(state)
                key = info_key(state, rules, who)
                index = own if who == player else other
                row = _find(index, key)
                if row < 0 and learn:
                    row = _add(index, key, _slots(listed, n))
                    if row < 0:
                        return np.nan
                if row < 0:
                    mix[:n] = 1.0 / n
                elif who == player:
                    _mix(own_rows[row], listed, n, mix)
                else:
                    _mix(other_rows[row], listed, n, mix)
                if who == player:
                    decides = True
                    break
                choice = choose(mix, n, rng.random())
                if learn:
                    for i in range(n):
                        average[row, action_slot(listed, i)] += np.float32(weight * weight * mix[i])
                    if rng.random() < TREMBLE:
                        choice = int(rng.random() * n)
                apply(state, rules, listed[choice])
            if decides:
                rows[depth] = row
                counts[depth] = n
                left_out[depth] = 0
                if row >= 0:
                    tally[row, _WEIGHT] += gained
                if learn:
                    left_out[depth] = _choose_left_out(own_rows[row], prune, mix, listed, n, rng)
                twins[depth] = _find_twins(listed, n) & ~(left_out[depth] | (left_out[depth] << 1))
                skipped = left_out[depth] | twins[depth]
                first = 0
                while (skipped >> first) & 1:
                    first += 1
                tried[depth] = first
                _copy(state, states[depth + 1])
                apply(states[depth + 1], rules, listed[first])
                depth += 1
                continue
            value = sign * utility[state[SCORE], state[SCORE + 1]]
            # Go up past every decision whose actions have all been tried.
            while depth > 0:
                depth -= 1
                n = counts[depth]
                skipped = left_out[depth] | twins[depth]
                values[depth, tried[depth]] = value
                tried[depth] += 1
                while tried[depth] < n and (skipped >> tried[depth]) & 1:
                    if (twins[depth] >> tried[depth]) & 1:
                        values[depth, tried[depth]] = values[depth, tried[depth] - 1]
                    tried[depth] += 1
                if tried[depth] < n:
                    _copy(states[depth], states[depth + 1])
                    apply(states[depth + 1], rules, actions[depth, tried[depth]])
                    depth += 1
                    break
                value = 0.0
                for i in range(n):
                    if not (left_out[depth] >> i) & 1:
                        value += strategy[depth, i] * values[depth, i]
                if rows[depth] < 0:
                    continue
                base = value if learn else 0.0
                for i in range(n):
                    if not (left_out[depth] >> i) & 1:
                        gain = gained * np.float32(values[depth, i] - base)
                        tally[rows[depth], action_slot(actions[depth], i)] += gain
            else:
                break
        total += value
    return total / traversals


@njit(nogil=True)
def traverse(
    player: int,
    traversals: int,
    own: Index,
    own_rows: np.ndarray,
    tally: np.ndarray,
    other: Index,
    other_rows: np.ndarray,
    average: np.ndarray,
    weight: float,
    prune: float,
    rules: np.ndarray,
    start: tuple[int, int],
    utility: np.ndarray,
    rng: np.random.Generator,
) -> float:
    """External-sampling traversals for one player; returns the mean sampled utility of that player.

    The player tries every action; chance and the other player are sampled. Both play by regret matching on their
    rows. With t = `weight` > 0 they learn: `own_rows` (which `tally` is as well) gain regrets times t, `average`,
    beside `other_rows`, gains the other's strategy times t^2 (visits happen in proportion to the other's own reach,
    but for its trembles, as the average wants), and actions whose mean regret is below `prune` (negative) are tried
    in few of the visits. With weight 0 nothing is learnt: `tally` gains the value of each of the player's actions and
    counts the visits. Of held cards of one tier only the first is tried, the others are worth as much. Returns nan
    when an index is full.
    """
    scratch = _Scratch(
        np.arange(40).astype(np.int32),
        np.zeros((_MAX_DEPTH, STATE_SIZE), np.int32),
        np.zeros((_MAX_DEPTH, MAX_LEGAL), np.int32),
        np.zeros((_MAX_DEPTH, MAX_LEGAL)),
        np.zeros((_MAX_DEPTH, MAX_LEGAL)),
        np.zeros(_MAX_DEPTH, np.int64),
        np.zeros(_MAX_DEPTH, np.int64),
        np.zeros(_MAX_DEPTH, np.int64),
        np.zeros(_MAX_DEPTH, np.int64),
        np.zeros(_MAX_DEPTH, np.int64),
    )
    return _walk(
        player, traversals, own, own_rows, tally, other, other_rows, average, weight, prune, rules, start, utility,
        rng, scratch,
    )  # fmt: skip


@njit(nogil=True)
def _refresh(
    own: Index, regrets: np.ndarray, link: np.ndarray, known: int, other: Index, frozen: np.ndarray
) -> int:
    """Copies a seat's regrets to the rows that the other seat reads; returns how many rows have a link now.

    `link`, int32 [ROW_CAPACITY], is the other index's row of each own row, filled in for the first `known`.
    """
    used = own.used[0]
    for row in range(known, used):
        link[row] = _find(other, own.keys[row])
        if link[row] < 0:
            link[row] = _add(other, own.keys[row], own.slots[row])
        if link[row] < 0:
            return -1
    for row in range(used):
        frozen[link[row]] = regrets[row]
    return used


def memory_bytes() -> int:
    """Most memory of a QuickSolver: for each seat two full indexes and five arrays of rows."""
    return 2 * ROW_CAPACITY * (2 * (10 + 2 * 12) + 5 * 4 * _ROW_SIZE)


class _Seat:
    """What a QuickSolver holds of one seat."""

    def __init__(self, seed: int, player: int) -> None:
        self.index, self.regrets = new_index(), new_rows()
        self.link, self.linked = np.zeros(ROW_CAPACITY, np.int32), 0
        self.read_index, self.frozen, self.average = new_index(), new_rows(), new_rows()
        """What the other seat's thread reads and writes: the regrets before this batch, and the average."""
        self.rng = np.random.default_rng([seed, player])


class QuickSolver:
    """Quick-mode solver of one hand at one score. Same arguments and iterations, same result.

    `scores` are (mano, pie) in points; with an equity table the utility is 2 x match-win probability - 1, else
    points. `threads`, 1 or 2, play the batches. Raises ValueError for rules the engine does not play.
    """

    def __init__(
        self,
        rules: Rules,
        scores: tuple[int, int] = (0, 0),
        equity: EquityTable | None = None,
        seed: int = 1,
        threads: int = 2,
    ) -> None:
        self._rules = rules
        self._scores = scores
        self._equity = equity
        self._seed = seed
        self._vector = rules_vector(rules)
        self._utility = utility_table(rules, scores, equity)
        reachable = self._utility[scores[0] :, scores[1] :]
        self._prune = -PRUNE_BELOW * float(np.abs(reachable).max())
        self._seats = [_Seat(seed, player) for player in (0, 1)]
        self._pool = ThreadPoolExecutor(threads)
        self.iteration = 0
        """Iterations done."""
        self.seconds = 0.0
        """Time spent in them."""

    @property
    def infosets(self) -> int:
        """Keys met so far, over both seats."""
        return sum(int(seat.index.used[0]) for seat in self._seats)

    def step(self) -> None:
        """One iteration: a batch of traversals for each seat. Raises MemoryError when a table is full."""
        begin = time.perf_counter()
        self.iteration += 1
        means = self._pool.map(self._learn, self._seats, reversed(self._seats))
        linked = self._pool.map(self._publish, self._seats) if not np.isnan(list(means)).any() else [-1]
        if min(linked) < 0:
            raise MemoryError(f"more than {ROW_CAPACITY} information keys for one seat")
        for seat in self._seats:
            seat.index, seat.read_index = with_room(seat.index), with_room(seat.read_index)
        self.seconds += time.perf_counter() - begin

    def solution(
        self, deals: int | None = None, progress: Callable[[float], None] = lambda done: None
    ) -> QuickSolution:
        """The average strategy, and its values measured on `deals` sampled deals for each seat.

        By default it measures on a tenth of the deals learnt from, at least 20,000.
        Actions that the average gives less than MIN_SHARE are dropped: they are what is left of early iterations.
        `progress` is told the share of the deals done.
        """
        begin = time.perf_counter()
        chunks = 50
        deals = deals or max(20_000, self.iteration * sum(BATCH) // 20)
        mixes = [_without_scraps(seat.average) for seat in self._seats]
        sums = [new_rows() for _ in (0, 1)]

        def measure(player: int) -> float:
            own, other = self._seats[player], self._seats[1 - player]
            return self._traverse(
                own, deals // chunks, own.read_index, mixes[player], sums[player],
                other.read_index, mixes[1 - player], mixes[1 - player], 0.0,
            )  # fmt: skip

        means = np.zeros((chunks, 2))
        for chunk in range(chunks):
            means[chunk] = list(self._pool.map(measure, (0, 1)))
            progress((chunk + 1) / chunks)
        values = (means[:, 0] - means[:, 1]) / 2
        table, action_values, counts = pack([seat.read_index for seat in self._seats], mixes, sums)
        info = SolutionInfo(
            rules=self._rules.to_dict(),
            rules_hash=self._rules.hash(),
            score=self._scores,
            utility="match" if self._equity else "points",
            equity=self._equity.rows() if self._equity else None,
            equity_name=self._equity.name if self._equity else None,
            engine="quick",
            algorithm=f"external-sampling MCCFR, linear regrets, quadratic average, trembles {TREMBLE:.0%}, pruning",
            abstraction="compact information key, see solver/truco/infokey.py",
            key_version=KEY_VERSION,
            iterations=self.iteration,
            deals=self.iteration * sum(BATCH),
            seed=self._seed,
            seconds=round(self.seconds + time.perf_counter() - begin, 1),
            mano_value=float(values.mean()),
            mano_value_error=float(values.std(ddof=1) / np.sqrt(chunks)),
        )
        return QuickSolution(info, table, action_values, counts)

    def _learn(self, own: _Seat, other: _Seat) -> float:
        return self._traverse(
            own, BATCH[self._seats.index(own)], own.index, own.regrets, own.regrets,
            other.read_index, other.frozen, other.average, float(self.iteration),
        )  # fmt: skip

    def _publish(self, seat: _Seat) -> int:
        seat.linked = _refresh(seat.index, seat.regrets, seat.link, seat.linked, seat.read_index, seat.frozen)
        return seat.linked

    def _traverse(
        self,
        own: _Seat,
        traversals: int,
        own_index: Index,
        own_rows: np.ndarray,
        tally: np.ndarray,
        other_index: Index,
        other_rows: np.ndarray,
        average: np.ndarray,
        weight: float,
    ) -> float:
        return traverse(
            self._seats.index(own), traversals, own_index, own_rows, tally,
            other_index, other_rows, average, weight, self._prune,
            self._vector, self._scores, self._utility, own.rng,
        )  # fmt: skip


def _without_scraps(average: np.ndarray) -> np.ndarray:
    """A copy of rows with zero for what is less than MIN_SHARE of its row."""
    return np.where(average < MIN_SHARE * average.sum(axis=1, keepdims=True), np.float32(0.0), average)


def pack(
    indexes: list[Index], mixes: list[np.ndarray], sums: list[np.ndarray]
) -> tuple[PolicyTable, np.ndarray, np.ndarray]:
    """The rows with an average, of both seats in key order: policy table, action values beside its probs, visits."""
    used = [int(index.used[0]) for index in indexes]
    keys = np.concatenate([index.keys[:n] for index, n in zip(indexes, used, strict=True)])
    slots = np.concatenate([index.slots[:n] for index, n in zip(indexes, used, strict=True)])
    mix, total = (
        np.concatenate([rows[:n] for rows, n in zip(arrays, used, strict=True)]) for arrays in (mixes, sums)
    )
    order = np.argsort(keys)
    order = order[mix.sum(axis=1)[order] > 0.0]
    legal_slots = (slots[order, None] >> np.arange(NUM_SLOTS, dtype=np.uint16)) & 1 == 1
    probs = mix[order] / mix[order].sum(axis=1, keepdims=True)
    counts = total[order, _WEIGHT]
    measured = counts[:, None] >= MIN_VISITS
    values = np.where(measured, total[order] / np.maximum(counts[:, None], 1), np.float32(np.nan))
    probs, values = probs[:, :NUM_SLOTS], values[:, :NUM_SLOTS]
    start = np.concatenate([[0], np.cumsum(legal_slots.sum(axis=1))]).astype(np.int32)
    table = PolicyTable(keys[order], start, slots[order], probs[legal_slots])
    return table, values[legal_slots], counts.astype(np.int32)
