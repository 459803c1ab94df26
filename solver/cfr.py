"""Counterfactual regret minimization on a flat game: CFR, CFR+, DCFR and PCFR+ as settings of one kernel.

Alternating updates. In iteration t, for each player in turn:

    S <- S * ((t - 1) / t)^gamma + own reach * strategy          average strategy
    R <- R * d(R) + r                                            r = instantaneous counterfactual regret
    strategy ~ max(R, 0), for a predictive schedule max(R + r, 0); uniform where nothing is positive

with d = (t - 1)^alpha / ((t - 1)^alpha + 1) for R > 0 and the same with beta for R <= 0 (Brown & Sandholm
2019, "Solving imperfect-information games via discounted regret minimization"). An exponent of infinity
keeps regrets whole; beta of minus infinity drops negative ones, which is regret matching+. Prediction of the
next regret by the last one is PCFR+ (Farina, Kroer & Sandholm 2021, "Faster game solving via predictive
Blackwell approachability").
"""

import os
from typing import NamedTuple

import numpy as np

from solver.best_response import exploitability, sequence_values, spread_reach
from solver.flat import FlatGame, Payoffs, Tree
from solver.flat_policy import FlatPolicy, PolicyVectors, policy_from_vectors, uniform_vectors
from solver.jit import njit
from solver.records import shortened
from solver.schedule import DCFR, Schedule, discount
from solver.storage import StorageError, read_arrays, write_arrays

CHECKPOINT_KIND = "flat-cfr-checkpoint"
CHECKPOINT_VERSION = 1

_ITERATIONS_PER_CALL = 100  # a compiled loop cannot be interrupted; between calls Ctrl-C works


class Tables(NamedTuple):
    """What CFR keeps of one player; each (S,) float64, one entry a sequence."""

    strategy: np.ndarray
    """Current probability of the last action at its infoset."""
    reach: np.ndarray
    """Own reach under the current strategy."""
    regrets: np.ndarray
    strategy_sum: np.ndarray
    """Weighted sum of the own reach over the iterations."""


class FlatSolver:
    """CFR on a flat game. float64, single-threaded, deterministic: equal calls give equal bits."""

    def __init__(self, flat: FlatGame, schedule: Schedule = DCFR) -> None:
        self.flat, self.schedule = flat, schedule
        self._done = np.zeros(1, np.int64)
        first, second = uniform_vectors(flat)
        self._tables = (_tables(flat.trees[0], first), _tables(flat.trees[1], second))

    @property
    def iterations(self) -> int:
        """Iterations done so far."""
        return int(self._done[0])

    def run(self, iterations: int) -> None:
        """Do so many more iterations. After a KeyboardInterrupt the solver is whole and can go on."""
        schedule, end = self.schedule, self.iterations + iterations
        while self.iterations < end:
            _iterate(
                self.flat.trees,
                self.flat.payoffs,
                self._tables,
                self._done,
                min(_ITERATIONS_PER_CALL, end - self.iterations),
                (schedule.alpha, schedule.beta, schedule.gamma),
                schedule.predictive,
            )

    def average_vectors(self) -> PolicyVectors:
        """Return the average strategy as policy vectors; ValueError before the first iteration."""
        if self.iterations == 0:
            raise ValueError("there is no average strategy before the first iteration")
        first, second = (
            _normalized(tree, tables.strategy_sum)
            for tree, tables in zip(self.flat.trees, self._tables, strict=True)
        )
        return first, second

    def average_policy(self) -> FlatPolicy:
        """Return the average strategy as an OpenSpiel policy; ValueError before the first iteration."""
        return policy_from_vectors(self.flat, self.average_vectors())

    def exploitability(self) -> float:
        """Return NashConv / 2 of the average strategy, in units of the game's utility."""
        return exploitability(self.flat, self.average_vectors())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a checkpoint, atomically."""
        arrays = {f"{name}_{player}": getattr(self._tables[player], name) for player, name in _SAVED}
        write_arrays(
            path,
            CHECKPOINT_KIND,
            CHECKPOINT_VERSION,
            arrays,
            self._identity() | {"iterations": self.iterations},
        )

    def load(self, path: str | os.PathLike[str]) -> None:
        """Continue from a checkpoint: what follows equals an uninterrupted run bit for bit.

        Raises StorageError if the file is damaged or was written for another game or schedule.
        """
        arrays, metadata = read_arrays(path, CHECKPOINT_KIND, CHECKPOINT_VERSION)
        for key, own in self._identity().items():
            if metadata.get(key) != own:
                raise StorageError(
                    f"{path}: checkpoint of another {key}: {shortened(metadata.get(key))}, not {own}"
                )
        iterations = metadata.get("iterations")
        if type(iterations) is not int or not 0 <= iterations < 2**63:
            raise StorageError(
                f"{path}: not a checkpoint of this program: iterations is {shortened(iterations)}"
            )
        for player, name in _SAVED:
            own, found = getattr(self._tables[player], name), arrays.get(f"{name}_{player}")
            if (
                found is None
                or (found.dtype, found.shape) != (own.dtype, own.shape)
                or not np.isfinite(found).all()
            ):
                raise StorageError(
                    f"{path}: not a checkpoint of this program: {name}_{player} does not fit the game"
                )
        for player, name in _SAVED:
            getattr(self._tables[player], name)[:] = arrays[f"{name}_{player}"]
        for tree, tables in zip(self.flat.trees, self._tables, strict=True):
            spread_reach(tree, tables.strategy, tables.reach)
        self._done[0] = iterations

    def _identity(self) -> dict[str, str]:
        return {
            "game": str(self.flat.game),
            "game fingerprint": self.flat.fingerprint,
            "schedule": repr(self.schedule),
        }


_SAVED = [(player, name) for player in (0, 1) for name in ("strategy", "regrets", "strategy_sum")]


def _tables(tree: Tree, strategy: np.ndarray) -> Tables:
    tables = Tables(strategy, np.ones_like(strategy), np.zeros_like(strategy), np.zeros_like(strategy))
    spread_reach(tree, tables.strategy, tables.reach)
    return tables


def _normalized(tree: Tree, strategy_sum: np.ndarray) -> np.ndarray:
    vector = np.ones_like(strategy_sum)
    for _, block in tree.blocks():
        sums = strategy_sum[block]
        # Positive everywhere: the uniform strategy of the first iteration reaches every infoset.
        vector[block] = sums / sums.sum(axis=1, keepdims=True)
    return vector


@njit
def _iterate(
    trees: tuple[Tree, Tree],
    payoffs: tuple[Payoffs, Payoffs],
    tables: tuple[Tables, Tables],
    done: np.ndarray,
    iterations: int,
    exponents: tuple[float, float, float],
    predictive: bool,
) -> None:
    """Do so many iterations of the schedule with these (alpha, beta, gamma).

    `done` holds one integer, the iterations done before. It is counted up here and not by the caller, whom a
    KeyboardInterrupt stops between this call and his next statement.
    """
    values = (np.empty(len(tables[0].regrets)), np.empty(len(tables[1].regrets)))
    alpha, beta, gamma = exponents
    for t in range(done[0] + 1, done[0] + iterations + 1):
        positive, negative = _discount(alpha, t), _discount(beta, t)
        decay = ((t - 1) / t) ** gamma
        for player in range(2):
            own = tables[player]
            for s in range(len(own.reach)):
                own.strategy_sum[s] = own.strategy_sum[s] * decay + own.reach[s]
            sequence_values(payoffs[player], tables[1 - player].reach, values[player])
            _match_regrets(
                trees[player], values[player], own, positive, negative, beta == -np.inf, predictive
            )
            spread_reach(trees[player], own.strategy, own.reach)
        done[0] = t


_discount = njit(discount)


@njit
def _match_regrets(
    tree: Tree,
    values: np.ndarray,
    tables: Tables,
    positive: float,
    negative: float,
    clip: bool,
    predictive: bool,
) -> None:
    """Backward pass: update regrets, set the next strategy, add each infoset's value to its parent."""
    floor = 0.0 if clip else -np.inf
    foresight = 1.0 if predictive else 0.0
    expected_values, totals = np.empty(len(tree.parents)), np.empty(len(tree.parents))
    for g in range(len(tree.group_actions) - 1, -1, -1):
        start, end = tree.group_starts[g], tree.group_starts[g + 1]
        parents, expected, total = tree.parents[start:end], expected_values[start:end], totals[start:end]
        size, actions = end - start, tree.group_actions[g]
        expected[:] = 0.0
        total[:] = 0.0
        for a in range(actions):
            first = tree.group_sequences[g] + a * size
            value, strategy = values[first : first + size], tables.strategy[first : first + size]
            for i in range(size):
                expected[i] += strategy[i] * value[i]
        for a in range(actions):
            first = tree.group_sequences[g] + a * size
            value, strategy = values[first : first + size], tables.strategy[first : first + size]
            regret = tables.regrets[first : first + size]
            for i in range(size):
                gain = value[i] - expected[i]
                kept = regret[i] * (positive if regret[i] > 0.0 else negative)
                regret[i] = max(kept + gain, floor)
                strategy[i] = max(regret[i] + foresight * gain, 0.0)
                total[i] += strategy[i]
        for a in range(actions):
            first = tree.group_sequences[g] + a * size
            strategy = tables.strategy[first : first + size]
            for i in range(size):
                strategy[i] = strategy[i] / total[i] if total[i] > 0.0 else 1.0 / actions
        for i in range(size):
            values[parents[i]] += expected[i]
