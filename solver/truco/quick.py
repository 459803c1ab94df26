"""The quick engine: external-sampling MCCFR on the full hand with the compact information key.

Lanctot et al. 2009, "Monte Carlo Sampling for Regret Minimization in Extensive Games". Regrets are unclipped and
weighted by the iteration number, averages by its square. An iteration is a batch of sampled deals for each seat;
both seats play a batch against the other's strategy as it stood before, so the two batches are independent, run
on two threads where there are two, and give the same result on one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numba import njit

from game.truco.equity import EquityTable
from game.truco.rules import Rules
from solver.truco.engine import (
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
from solver.truco.infokey import info_key
from solver.truco.solution import Solution, SolutionInfo
from solver.truco.table import NUM_SLOTS, PolicyTable, action_slot, draw

BATCH = 1_000
"""Traversals of each seat in one iteration."""
MIN_SHARE = 0.01
"""Least probability that the finished average strategy gives to an action it plays at all."""
ROW_CAPACITY = 1 << 19
_HASH_SIZE = 1 << 20
_MAX_DEPTH = 24  # a seat decides at most 13 times in a hand


class Rows(NamedTuple):
    """A growing table from keys to rows of NUM_SLOTS numbers, by open addressing."""

    hash_keys: np.ndarray
    """int64 [_HASH_SIZE], -1 where free."""
    hash_rows: np.ndarray
    """int32 [_HASH_SIZE], row of the key beside it."""
    keys: np.ndarray
    """int64 [ROW_CAPACITY], key of each row."""
    slots: np.ndarray
    """uint16 [ROW_CAPACITY], bit s set where the action of slot s is legal."""
    values: np.ndarray
    """float32 [ROW_CAPACITY, NUM_SLOTS]."""
    used: np.ndarray
    """int64 [1], rows in use."""


def new_rows() -> Rows:
    """An empty table."""
    return Rows(
        np.full(_HASH_SIZE, -1, np.int64),
        np.zeros(_HASH_SIZE, np.int32),
        np.zeros(ROW_CAPACITY, np.int64),
        np.zeros(ROW_CAPACITY, np.uint16),
        np.zeros((ROW_CAPACITY, NUM_SLOTS), np.float32),
        np.zeros(1, np.int64),
    )


@njit(cache=True, nogil=True)
def _probe(rows: Rows, key: int) -> int:
    """Hash cell that holds the key, or the free cell where it belongs."""
    mask = len(rows.hash_keys) - 1
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    cell = int(mixed >> np.uint64(40)) & mask
    while rows.hash_keys[cell] >= 0 and rows.hash_keys[cell] != key:
        cell = (cell + 1) & mask
    return cell


@njit(cache=True, nogil=True)
def find(rows: Rows, key: int) -> int:
    """Row of the key, -1 if it has none."""
    cell = _probe(rows, key)
    return rows.hash_rows[cell] if rows.hash_keys[cell] == key else -1


@njit(cache=True, nogil=True)
def find_or_add(rows: Rows, key: int, slots: int) -> int:
    """Row of the key, a new row of zeros if it had none; -1 when the table is full."""
    cell = _probe(rows, key)
    if rows.hash_keys[cell] == key:
        return rows.hash_rows[cell]
    row = rows.used[0]
    if row == len(rows.keys):
        return -1
    rows.used[0] = row + 1
    rows.hash_keys[cell] = key
    rows.hash_rows[cell] = row
    rows.keys[row] = key
    rows.slots[row] = slots
    return row


@njit(cache=True, nogil=True)
def copy_rows(source: Rows, target: Rows) -> None:
    """Makes `target`, an earlier copy of `source`, equal to it again."""
    for row in range(target.used[0], source.used[0]):
        find_or_add(target, source.keys[row], source.slots[row])
    n = source.used[0]
    target.values[:n] = source.values[:n]


@njit(cache=True, nogil=True)
def _slots(actions: np.ndarray, n: int) -> int:
    """Bit mask of the slots of the legal actions."""
    mask = 0
    for i in range(n):
        mask |= 1 << action_slot(actions, i)
    return mask


@njit(cache=True, nogil=True)
def _mix(weights: np.ndarray, actions: np.ndarray, n: int, out: np.ndarray) -> None:
    """Regret matching: probabilities in proportion to the positive weights, uniform if there are none."""
    total = 0.0
    for i in range(n):
        weight = max(weights[action_slot(actions, i)], np.float32(0.0))
        out[i] = weight
        total += weight
    for i in range(n):
        out[i] = out[i] / total if total > 0.0 else 1.0 / n


@njit(cache=True, nogil=True)
def shuffle_deal(rng: np.random.Generator, deck: np.ndarray) -> None:
    """Puts six random cards of the deck at its front."""
    for i in range(6):
        j = i + int(rng.random() * (len(deck) - i))
        deck[i], deck[j] = deck[j], deck[i]


@njit(cache=True, nogil=True)
def traverse(
    player: int,
    traversals: int,
    own: Rows,
    other: Rows,
    average: Rows,
    visits: np.ndarray,
    learn: bool,
    weight: float,
    rules: np.ndarray,
    start: tuple[int, int],
    utility: np.ndarray,
    rng: np.random.Generator,
) -> float:
    """External-sampling traversals for one player; returns the mean sampled utility of that player.

    The player tries every action, chance and the other player are sampled. Both play by regret matching on
    their rows. With `learn`, regrets are added to `own` and the other's strategy to `average` (each visit there
    happens in proportion to the other's own reach, as the average wants), with weights t and t^2 for t = `weight`.
    Without, `own` and `other` are read only, `average` sums the value of each action of the player's own
    infosets and `visits` (int64, by row of `average`) counts them. Returns nan when a table is full.
    """
    deck = np.arange(40).astype(np.int32)
    states = np.zeros((_MAX_DEPTH, STATE_SIZE), np.int32)
    actions = np.zeros((_MAX_DEPTH, MAX_LEGAL), np.int32)
    strategy = np.zeros((_MAX_DEPTH, MAX_LEGAL))
    values = np.zeros((_MAX_DEPTH, MAX_LEGAL))
    counts = np.zeros(_MAX_DEPTH, np.int64)
    tried = np.zeros(_MAX_DEPTH, np.int64)
    keys = np.zeros(_MAX_DEPTH, np.int64)
    sign = 1.0 if player == 0 else -1.0
    total = 0.0
    for _ in range(traversals):
        shuffle_deal(rng, deck)
        depth = 0
        deal(states[0], deck, start[0], start[1])
        while True:
            # Go down to the end of the hand or to the player's next decision.
            state = states[depth]
            list_ = actions[depth]
            mix = strategy[depth]
            decides = False
            while state[OVER] == 0:
                n = legal(state, rules, list_)
                who = mover(state)
                key = info_key(state, rules, who)
                if who == player:
                    decides = True
                    break
                row = find(other, key)
                if row < 0:
                    mix[:n] = 1.0 / n
                else:
                    _mix(other.values[row], list_, n, mix)
                if learn:
                    row = find_or_add(average, key, _slots(list_, n))
                    if row < 0:
                        return np.nan
                    for i in range(n):
                        average.values[row, action_slot(list_, i)] += np.float32(weight * weight * mix[i])
                apply(state, rules, list_[draw(rng, mix, n)])
            if decides:
                row = find_or_add(own, key, _slots(list_, n)) if learn else find(own, key)
                if row < 0:
                    if learn:
                        return np.nan
                    mix[:n] = 1.0 / n
                else:
                    _mix(own.values[row], list_, n, mix)
                keys[depth] = key
                counts[depth] = n
                tried[depth] = 0
                states[depth + 1] = state
                apply(states[depth + 1], rules, list_[0])
                depth += 1
                continue
            value = sign * utility[state[SCORE], state[SCORE + 1]]
            # Go up past every decision whose actions have all been tried.
            while depth > 0:
                depth -= 1
                n = counts[depth]
                values[depth, tried[depth]] = value
                tried[depth] += 1
                if tried[depth] < n:
                    states[depth + 1] = states[depth]
                    apply(states[depth + 1], rules, actions[depth, tried[depth]])
                    depth += 1
                    break
                value = 0.0
                for i in range(n):
                    value += strategy[depth, i] * values[depth, i]
                row = find_or_add(own if learn else average, keys[depth], _slots(actions[depth], n))
                if row < 0:
                    return np.nan
                for i in range(n):
                    slot = action_slot(actions[depth], i)
                    if learn:
                        own.values[row, slot] += np.float32(weight * (values[depth, i] - value))
                    else:
                        average.values[row, slot] += np.float32(values[depth, i])
                if not learn:
                    visits[row] += 1
            else:
                break
        total += value
    return total / traversals


def memory_bytes() -> int:
    """Memory of a QuickSolver: four tables for each seat, one of them while values are measured."""
    row = 8 + 2 + 4 * NUM_SLOTS
    return 2 * 4 * (ROW_CAPACITY * row + _HASH_SIZE * 12)


class QuickSolver:
    """Quick-mode solver of one hand at one score. Same arguments and iterations, same result.

    `scores` are (mano, pie) in points; with an equity table the utility is 2 x match-win probability - 1, else
    points. Raises ValueError for rules the engine does not play.
    """

    def __init__(
        self, rules: Rules, scores: tuple[int, int] = (0, 0), equity: EquityTable | None = None, seed: int = 1
    ) -> None:
        self._rules = rules
        self._scores = scores
        self._equity = equity
        self._seed = seed
        self._vector = rules_vector(rules)
        self._utility = utility_table(rules, scores, equity)
        self._regrets = (new_rows(), new_rows())
        self._frozen = (new_rows(), new_rows())
        self._averages = (new_rows(), new_rows())
        self._rngs = [np.random.default_rng([seed, player]) for player in (0, 1)]
        self._unused = np.zeros(0, np.int64)
        self._pool = ThreadPoolExecutor(2)
        self.iteration = 0
        """Iterations done."""
        self.seconds = 0.0
        """Time spent in them."""

    @property
    def infosets(self) -> int:
        """Keys met so far, over both seats."""
        return sum(int(rows.used[0]) for rows in self._regrets)

    def step(self) -> None:
        """One iteration: a batch of traversals for each seat. Raises MemoryError when a table is full."""
        begin = time.perf_counter()
        self.iteration += 1
        jobs = [self._pool.submit(self._learn, player) for player in (0, 1)]
        if any(np.isnan(job.result()) for job in jobs):
            raise MemoryError(f"more than {ROW_CAPACITY} information keys for one seat")
        for regrets, frozen in zip(self._regrets, self._frozen, strict=True):
            copy_rows(regrets, frozen)
        self.seconds += time.perf_counter() - begin

    def solution(
        self, deals: int = 200_000, progress: Callable[[float], None] = lambda done: None
    ) -> Solution:
        """The average strategy, and its values measured on `deals` sampled deals for each seat.

        Actions that the average gives less than MIN_SHARE are dropped: they are what is left of early iterations.
        `progress` is told the share of the deals done.
        """
        begin = time.perf_counter()
        for rows in self._averages:
            drop_small(rows)
        chunks = 50
        tallies = (new_rows(), new_rows())
        visits = [np.zeros(ROW_CAPACITY, np.int64) for _ in (0, 1)]
        means = np.zeros((2, chunks))
        for chunk in range(chunks):
            jobs = [
                self._pool.submit(self._measure, player, deals // chunks, tallies[player], visits[player])
                for player in (0, 1)
            ]
            means[:, chunk] = [job.result() for job in jobs]
            progress((chunk + 1) / chunks)
        values = (means[0] - means[1]) / 2
        table, action_values, counts = _pack(self._averages, tallies, visits)
        rules = self._rules
        info = SolutionInfo(
            rules=rules.to_dict(),
            rules_hash=rules.hash(),
            score=self._scores,
            utility="match" if self._equity else "points",
            equity=self._equity.rows() if self._equity else None,
            engine="quick",
            algorithm="external-sampling MCCFR, linear regrets, quadratic average",
            abstraction="compact information key, see solver/truco/infokey.py",
            iterations=self.iteration,
            deals=self.iteration * 2 * BATCH,
            seed=self._seed,
            seconds=round(self.seconds + time.perf_counter() - begin, 1),
            mano_value=float(values.mean()),
            mano_value_error=float(values.std(ddof=1) / np.sqrt(chunks)),
        )
        return Solution(info, table, action_values, counts)

    def _learn(self, player: int) -> float:
        return traverse(
            player,
            BATCH,
            self._regrets[player],
            self._frozen[1 - player],
            self._averages[1 - player],
            self._unused,
            True,
            float(self.iteration),
            self._vector,
            self._scores,
            self._utility,
            self._rngs[player],
        )

    def _measure(self, player: int, deals: int, tally: Rows, visits: np.ndarray) -> float:
        return traverse(
            player,
            deals,
            self._averages[player],
            self._averages[1 - player],
            tally,
            visits,
            False,
            0.0,
            self._vector,
            self._scores,
            self._utility,
            self._rngs[player],
        )


def drop_small(rows: Rows) -> None:
    """Sets to zero what is less than MIN_SHARE of its row."""
    values = rows.values[: rows.used[0]]
    values[values < MIN_SHARE * values.sum(axis=1, keepdims=True)] = 0.0


def _pack(
    averages: tuple[Rows, Rows], tallies: tuple[Rows, Rows], visits: list[np.ndarray]
) -> tuple[PolicyTable, np.ndarray, np.ndarray]:
    """The rows of both seats in key order: policy table, action values beside its probs, visits by row."""
    keys = np.concatenate([rows.keys[: rows.used[0]] for rows in averages])
    order = np.argsort(keys)
    slots = np.concatenate([rows.slots[: rows.used[0]] for rows in averages])[order]
    weights = np.concatenate([rows.values[: rows.used[0]] for rows in averages])[order]
    legal_slots = (slots[:, None] >> np.arange(NUM_SLOTS, dtype=np.uint16)) & 1 == 1
    probs = weights / weights.sum(axis=1, keepdims=True)
    start = np.concatenate([[0], np.cumsum(legal_slots.sum(axis=1))]).astype(np.int32)
    keys = keys[order]
    counts = np.zeros(len(keys), np.int32)
    values = np.full((len(keys), NUM_SLOTS), np.nan, np.float32)
    for tally, seen in zip(tallies, visits, strict=True):
        n = tally.used[0]
        row = np.searchsorted(keys, tally.keys[:n])
        known = (row < len(keys)) & (keys[np.minimum(row, len(keys) - 1)] == tally.keys[:n])
        counts[row[known]] = seen[:n][known]
        values[row[known]] = (tally.values[:n] / seen[:n, None])[known]
    table = PolicyTable(keys, start, slots, probs[legal_slots].astype(np.float32))
    return table, values[legal_slots], counts
