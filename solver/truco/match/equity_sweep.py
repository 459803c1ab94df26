"""Computes the match equity table: one hand solved at every score, backwards from the last one, in worker processes.

States are solved when all scores that can follow are, see `equity_states`. Engines work in the utility
2 x probability - 1.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from game.truco.equity import EquityTable
from game.truco.rules import Rules, make_rules
from solver.storage import StorageError
from solver.truco.match.equity_states import (
    Score,
    StateValue,
    check_state,
    load_state,
    save_state,
    state_path,
    successors_hash,
    successors_of,
    sweep_order,
)
from solver.truco.reading.solution import ENGINES
from solver.truco.vector.model.abstraction import Abstraction

LATE = 2
"""A state is late when somebody needs at most so many points: much hangs on its hand, so it gets more iterations."""
_RESTARTS = 3
"""How often in a row worker processes may die without finishing a state before the sweep gives up."""


@dataclass(frozen=True)
class SweepSettings:
    """How a state is solved and measured; raises ValueError naming what is out of range."""

    engine: str = "quick"
    iterations: int = 320
    late_iterations: int = 640
    """Iterations of late states, see LATE."""
    pairs: int = 60_000
    """Deals on which the value is measured, each twice with the hands swapped; quick engine only."""
    seed: int = 1
    abstraction: Abstraction = field(default_factory=Abstraction)
    """Merges of the vector engine."""
    certify: bool = False
    """Vector engine: compute the exact best responses of both seats as well, for a bracket."""

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise ValueError(f"engine {self.engine!r} is unknown, allowed: {', '.join(ENGINES)}")
        for name, least in (("iterations", 1), ("late_iterations", 1), ("pairs", 2), ("seed", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}, allowed: {least} or more")

    def iterations_at(self, score: Score, target: int) -> int:
        """Iterations spent on the state of this score."""
        return self.late_iterations if target - max(score) <= LATE else self.iterations


@dataclass(frozen=True)
class Task:
    """All that a worker needs to solve one state; plain values, so that it travels."""

    rules: dict[str, Any]
    score: Score
    successors: dict[Score, float]
    settings: SweepSettings
    keep: str | None = None
    """Folder on the worker's machine for the strategy, as a solution file."""


def state_seed(seed: int, score: Score) -> int:
    """Seed of a state: no two scores share luck, and it does not depend on who solves it when."""
    digest = hashlib.sha256(f"{seed} {score[0]} {score[1]}".encode()).digest()
    return int.from_bytes(digest[:6], "big")


def partial_equity(target: int, successors: Mapping[Score, float]) -> EquityTable:
    """An equity table with these values; scores that the hand cannot reach count 1/2."""
    every = dict.fromkeys(product(range(target), range(target)), 0.5)
    return EquityTable(target, every | dict(successors))


def solve_state(task: Task) -> StateValue:
    """Solves and measures one state; the same task, the same value, on any machine and however many run at once."""
    begin = time.perf_counter()
    rules = make_rules("base", task.rules)
    equity = partial_equity(rules.target, task.successors)
    solve = _solve_quick if task.settings.engine == "quick" else _solve_vector
    found = solve(rules, equity, task)
    return StateValue(
        rules=rules.name(),
        rules_hash=rules.hash(),
        score=task.score,
        engine=task.settings.engine,
        successors=successors_hash(task.successors),
        seconds=round(time.perf_counter() - begin, 1),
        **found,
    )


def _solve_quick(rules: Rules, equity: EquityTable, task: Task) -> dict[str, Any]:
    from solver.truco.match.selfplay import final_scores
    from solver.truco.quick.solver import QuickSolver

    settings, score = task.settings, task.score
    seed = state_seed(settings.seed, score)
    iterations = settings.iterations_at(score, rules.target)
    solver = QuickSolver(rules, score, equity, seed, threads=1)
    for _ in range(iterations):
        solver.step()
    # The values of single actions are measured on few deals: they are not needed here.
    solution = solver.solution(deals=2_000)
    ends = final_scores(rules, solution.table, solution.table, score, settings.pairs, seed + 1)
    value, error = mean_win(ends, equity)
    if task.keep is not None:
        info = replace(solution.info, mano_value=2 * value - 1, mano_value_error=2 * error)
        replace(solution, info=info).save(kept_strategy(Path(task.keep), score))
    return {
        "value": value,
        "standard_error": error,
        "bracket": None,
        "iterations": iterations,
        "pairs": settings.pairs,
        "seed": seed,
        "merges": None,
        "ends": _shares(ends),
    }


def _solve_vector(rules: Rules, equity: EquityTable, task: Task) -> dict[str, Any]:
    from solver.truco.vector.cfr.evaluate import policy_value
    from solver.truco.vector.cfr.run import iterate
    from solver.truco.vector.cfr.solver import VectorSolver
    from solver.truco.vector.model.game import Game
    from solver.truco.vector.response.cards.response import Policy, best_response

    settings = task.settings
    iterations = settings.iterations_at(task.score, rules.target)
    solver = VectorSolver(Game(rules, task.score, equity, settings.abstraction))
    iterate(solver, iterations)
    policy = Policy.of(solver)
    del solver  # its regrets take as much memory as the policy
    bracket = None
    if settings.certify:
        mano, pie = (best_response(policy, player).value for player in (0, 1))
        bracket = ((1.0 - pie) / 2.0, (1.0 + mano) / 2.0)
    return {
        "value": (1.0 + policy_value(policy)) / 2.0,
        "standard_error": 0.0,
        "bracket": bracket,
        "iterations": iterations,
        "pairs": 0,
        "seed": 0,
        "merges": settings.abstraction.lists(),
        "ends": {},
    }


def solve_again(
    rules: Rules, states: Mapping[Score, StateValue], score: Score, settings: SweepSettings
) -> StateValue:
    """The state of a score once more, with these settings, against the same later values."""
    values = {at: state.value for at, state in states.items()}
    return solve_state(
        Task(rules.to_dict(), score, successors_of(score, rules.target, values) or {}, settings)
    )


def kept_strategy(folder: Path, score: Score) -> Path:
    """File of the strategy of a score in a folder of kept strategies."""
    return folder / f"{score[0]:02d}-{score[1]:02d}.truco"


def mean_win(ends: np.ndarray, equity: EquityTable) -> tuple[float, float]:
    """Mean of mano's match-win chance after the hands, and its standard error with the pair as the unit."""
    size = equity.target + 1
    worth = np.array([[equity.after_hand(a, b) for b in range(size)] for a in range(size)])
    pairs = worth[ends[..., 0], ends[..., 1]].mean(axis=1)
    return float(pairs.mean()), float(pairs.std(ddof=1) / len(pairs) ** 0.5)


def _shares(ends: np.ndarray) -> dict[str, float]:
    scores, counts = np.unique(ends.reshape(-1, 2), axis=0, return_counts=True)
    return {f"{a}-{b}": int(n) / (ends.size // 2) for (a, b), n in zip(scores, counts, strict=True)}


# ---- the sweep


@dataclass(frozen=True)
class Progress:
    """Where a sweep stands."""

    share: float
    """Of the work, in iterations."""
    done: int
    total: int
    diagonal: int
    """a + b of the highest diagonal not finished; -1 at the end."""
    running: int


def sweep(
    rules: Rules,
    folder: Path,
    settings: SweepSettings,
    start_workers: Callable[[], Executor],
    keep: Path | None = None,
    show: Callable[[Progress], None] = lambda progress: None,
    tell: Callable[[str], None] = lambda line: None,
) -> dict[Score, StateValue]:
    """Solves every state that has no valid file in `folder` yet; returns them all.

    `start_workers` makes an executor of processes; it is called again when one of them dies. `tell` is told why a
    file was refused, and other things a person should know. Files with other settings than these are kept: each
    says how it was made. Raises BrokenExecutor when workers die again and again.
    """
    target = rules.target
    left = sweep_order(target)
    states: dict[Score, StateValue] = {}
    values: dict[Score, float] = {}
    work = {score: settings.iterations_at(score, target) for score in left}
    running: dict[Future[StateValue], Score] = {}
    deaths = 0
    workers = start_workers()
    try:
        while left or running:
            for score in list(left):
                successors = successors_of(score, target, values)
                if successors is None:
                    continue
                found = _stored(folder, score, rules, successors, tell)
                if found is not None:
                    states[score], values[score] = found, found.value
                    left.remove(score)
                    continue
                task = Task(rules.to_dict(), score, successors, settings, str(keep) if keep else None)
                try:
                    running[workers.submit(solve_state, task)] = score
                except BrokenExecutor:
                    if not running:
                        raise
                    break  # seen again below, at a state that was running
                left.remove(score)
            unfinished = [*left, *running.values()]
            share = sum(work[score] for score in states) / sum(work.values())
            show(Progress(share, len(states), len(work), max(map(sum, unfinished), default=-1), len(running)))
            if not running:
                continue
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            died: BrokenExecutor | None = None
            for future in finished:
                score = running.pop(future)
                try:
                    state = future.result()
                except BrokenExecutor as error:
                    died = error
                    left.append(score)
                    continue
                deaths = 0
                save_state(folder, state)
                states[score], values[score] = state, state.value
            if died is not None:
                deaths += 1
                if deaths > _RESTARTS:
                    raise died
                tell("a worker process died; its states are solved again")
                left += running.values()
                running.clear()
                workers.shutdown(wait=False)
                workers = start_workers()
            left.sort(key=lambda score: (-sum(score), score))
    finally:
        for future in running:
            future.cancel()
        workers.shutdown(wait=False)
    return states


def _stored(
    folder: Path, score: Score, rules: Rules, successors: Mapping[Score, float], tell: Callable[[str], None]
) -> StateValue | None:
    """The state's file if it is valid; says why not, if there is one."""
    path = state_path(folder, score)
    if not path.exists():
        return None
    try:
        state = load_state(path)
        check_state(state, rules, successors, path)
    except StorageError as error:
        tell(f"solved again: {error}")
        return None
    return state
