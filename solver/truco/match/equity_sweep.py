"""Computes the match equity table: one hand solved at every score, backwards from the last one, in worker processes.

V(a, b) is the chance that the player who is mano wins the match when he has a points and the other b. A hand pays
somebody at least one point and the other player is mano next, so V(a, b) is the value of a hand whose end at
(a', b') is worth 1 - V(b', a') to mano: states are solved when all scores that can follow are. Engines work in the
utility 2 x probability - 1; all values here are probabilities.

A finished state is one small JSON file. It names the values it was solved against by a hash, so that a file that no
longer belongs to its successors is noticed.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from game.truco.equity import EquityTable
from game.truco.rules import Rules, make_rules
from solver.storage import StorageError

FORMAT = "truco-equity-state"
VERSION = 1
ENGINES = ("quick", "vector")
LATE = 2
"""A state is late when somebody needs at most so many points: much hangs on its hand, so it gets more iterations."""
_RESTARTS = 3
"""How often in a row worker processes may die without finishing a state before the sweep gives up."""

Score = tuple[int, int]


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
    contexts: tuple[str, ...] | None = None
    values: tuple[str, ...] | None = None
    chains: tuple[str, ...] | None = None
    """Merges of the vector engine, by default its own."""
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
class StateValue:
    """The value of one state and how it was found; what its file holds."""

    rules: str
    rules_hash: str
    score: Score
    """(mano, pie) at the start of the hand."""
    value: float
    """Chance that mano wins the match when both play the strategies found."""
    standard_error: float
    """Of the value, by sampling of deals alone; 0 where all deals were counted."""
    bracket: tuple[float, float] | None
    """What a perfect pie leaves mano and what a perfect mano gets, given the later states; None if not computed."""
    engine: str
    iterations: int
    pairs: int
    seed: int
    """Seed of this state, from that of the sweep and the score."""
    merges: dict[str, tuple[str, ...]] | None
    """Of the vector engine."""
    successors: str
    """Hash of the values of all scores that can follow."""
    ends: dict[str, float]
    """Share of the measured hands that ended at each score `mano-pie`; empty for the vector engine."""
    seconds: float = field(compare=False)
    """Wall time on its worker."""


@dataclass(frozen=True)
class Task:
    """All that a worker needs to solve one state; plain values, so that it travels."""

    rules: dict[str, Any]
    score: Score
    successors: dict[Score, float]
    settings: SweepSettings
    keep: str | None = None
    """Folder on the worker's machine for the strategy, as a solution file."""


def scores_after(score: Score, target: int) -> Iterator[Score]:
    """Scores (mano, pie as they were in the hand) at which a hand from `score` may end with the match undecided."""
    for a, b in product(range(score[0], target), range(score[1], target)):
        if (a, b) != score:
            yield a, b


def sweep_order(target: int) -> list[Score]:
    """All scores, by diagonals of equal sum from the last one."""
    return sorted(product(range(target), range(target)), key=lambda score: (-sum(score), score))


def state_seed(seed: int, score: Score) -> int:
    """Seed of a state: no two scores share luck, and it does not depend on who solves it when."""
    digest = hashlib.sha256(f"{seed} {score[0]} {score[1]}".encode()).digest()
    return int.from_bytes(digest[:6], "big")


def successors_hash(successors: Mapping[Score, float]) -> str:
    """Sixteen hex digits that name the values (by mano, pie of the next hand) a state is solved against."""
    text = " ".join(f"{a}-{b}:{value!r}" for (a, b), value in sorted(successors.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def successors_of(score: Score, target: int, values: Mapping[Score, float]) -> dict[Score, float] | None:
    """V of every hand that may follow one at `score`, by its own (mano, pie); None while one is missing."""
    wanted = [(b, a) for a, b in scores_after(score, target)]
    if any(after not in values for after in wanted):
        return None
    return {after: values[after] for after in wanted}


def partial_equity(target: int, successors: Mapping[Score, float]) -> EquityTable:
    """An equity table with these values; scores that the hand cannot reach count 1/2."""
    every = dict.fromkeys(product(range(target), range(target)), 0.5)
    return EquityTable(target, every | dict(successors))


# ---- one state


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
    from solver.truco.vector.cfr.schedule import schedule_step
    from solver.truco.vector.cfr.solver import VectorSolver
    from solver.truco.vector.model.abstraction import Abstraction
    from solver.truco.vector.model.game import Game
    from solver.truco.vector.response.cards.response import Policy, best_response

    settings = task.settings
    given = {name: getattr(settings, name) for name in ("contexts", "values", "chains")}
    abstraction = Abstraction(**{name: words for name, words in given.items() if words})
    iterations = settings.iterations_at(task.score, rules.target)
    solver = VectorSolver(Game(rules, task.score, equity, abstraction))
    for _ in range(iterations):
        solver.iterate(schedule_step("dcfr", solver.iterations + 1))
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
        "merges": {name: getattr(abstraction, name) for name in given},
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


# ---- files of states


def state_path(folder: Path, score: Score) -> Path:
    """File of the state of a score."""
    return folder / f"{score[0]:02d}-{score[1]:02d}.json"


def save_state(folder: Path, state: StateValue) -> None:
    """Writes the file of a state, atomically; OSError if the disk refuses."""
    content = {"format": FORMAT, "version": VERSION, **asdict(state)}
    content["sha256"] = _digest(content)
    path = state_path(folder, state.score)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(json.dumps(content, indent=1) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def load_state(path: Path) -> StateValue:
    """Reads the file of a state. Raises StorageError naming the file and the reason if it is not intact."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StorageError(f"cannot read state {path}: {error.strerror}") from None
    except ValueError:
        raise StorageError(f"{path}: truncated or damaged, not JSON") from None
    if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
        raise StorageError(f"{path}: not a state of an equity table")
    digest = content.pop("sha256", None)
    if digest != _digest({"format": FORMAT, **content}):
        raise StorageError(f"{path}: damaged (checksum differs)")
    version = content.pop("version")
    if version != VERSION:
        raise StorageError(f"{path}: format version {version!r}, this program reads version {VERSION}")
    content["score"] = tuple(content["score"])
    content["bracket"] = tuple(content["bracket"]) if content["bracket"] else None
    if content["merges"]:
        content["merges"] = {name: tuple(words) for name, words in content["merges"].items()}
    return StateValue(**content)


def _digest(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def check_state(state: StateValue, rules: Rules, successors: Mapping[Score, float], path: Path) -> None:
    """Raises StorageError unless the state is of these rules and was solved against these later values."""
    if state.rules_hash != rules.hash():
        raise StorageError(f"{path}: of rules {state.rules}, not {rules.name()}")
    if state_path(path.parent, state.score) != path:
        raise StorageError(f"{path}: holds the state of {state.score[0]}-{state.score[1]}")
    if state.successors != successors_hash(successors):
        raise StorageError(f"{path}: stale, the values of later scores have changed since it was solved")


def load_states(folder: Path, rules: Rules) -> dict[Score, StateValue]:
    """All states of a finished sweep, each checked against its successors.

    Raises StorageError with the reason for a state that is missing, damaged or stale.
    """
    states: dict[Score, StateValue] = {}
    values: dict[Score, float] = {}
    for score in sweep_order(rules.target):
        path = state_path(folder, score)
        state = load_state(path)
        check_state(state, rules, successors_of(score, rules.target, values) or {}, path)
        states[score], values[score] = state, state.value
    return states


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


# ---- what the states say together


def equity_of(states: Mapping[Score, StateValue]) -> EquityTable:
    """The table of a finished sweep."""
    target = 1 + max(a for a, _ in states)
    return EquityTable(target, {score: state.value for score, state in states.items()}, "table of a sweep")


def visits(states: Mapping[Score, StateValue], start: Score = (0, 0)) -> dict[Score, float]:
    """How likely a match from `start` comes to each score (mano, pie), by the measured ends of the hands.

    Raises ValueError for a state without measured ends (vector engine).
    """
    reach = dict.fromkeys(sweep_order(1 + max(a for a, _ in states)), 0.0)
    reach[start] = 1.0
    for score in reversed(reach):
        if reach[score] == 0.0:
            continue
        if not states[score].ends:
            raise ValueError(f"the state of {score[0]}-{score[1]} has no measured ends of hands")
        for end, share in states[score].ends.items():
            a, b = map(int, end.split("-"))
            if (b, a) in reach:
                reach[b, a] += reach[score] * share
    return reach


def accumulated_error(states: Mapping[Score, StateValue], start: Score = (0, 0)) -> float:
    """Standard error of V(start) with the sampling errors of all later states, which are independent.

    An error of a state counts as often as a match comes there; sign and correlation of strategies are left out.
    """
    reach = visits(states, start)
    return float(sum((reach[score] * state.standard_error) ** 2 for score, state in states.items()) ** 0.5)


def exceptions(states: Mapping[Score, StateValue]) -> list[tuple[Score, Score, float, float]]:
    """Neighbours where V does not rise in mano's points or not fall in pie's: (score, next, rise, its error).

    `rise` is V(next) - V(score), of which a point more of mano should make a positive and of pie a negative number.
    """
    found = []
    for (a, b), state in sorted(states.items()):
        for after, sign in (((a + 1, b), 1.0), ((a, b + 1), -1.0)):
            if after not in states:
                continue
            rise = states[after].value - state.value
            if sign * rise <= 0.0:
                error = (state.standard_error**2 + states[after].standard_error ** 2) ** 0.5
                found.append(((a, b), after, rise, error))
    return found
