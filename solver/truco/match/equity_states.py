"""States of the match equity table: the value of one hand at each score, its file, and what all of them say together.

V(a, b) is the chance that the player who is mano wins the match when he has a points and the other b. A hand pays
somebody at least one point and the other player is mano next, so V(a, b) is the value of a hand whose end at
(a', b') is worth 1 - V(b', a') to mano. Values here are probabilities.

A finished state is one small JSON file. It names the values it was solved against by a hash, so that a file that no
longer belongs to its successors is noticed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from game.truco.equity import EquityTable
from game.truco.rules import Rules
from solver.records import read_record, shortened
from solver.storage import StorageError
from solver.truco.reading.solution import ENGINES

FORMAT = "truco-equity-state"
VERSION = 1
_END = re.compile(r"\d{1,3}-\d{1,3}", re.ASCII)

Score = tuple[int, int]


@dataclass(frozen=True)
class StateValue:
    """The value of one state and how it was found; what its file holds.

    Raises ValueError naming what is out of range.
    """

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

    def __post_init__(self) -> None:
        if not self.rules.isprintable():
            raise ValueError(f"rules is {shortened(self.rules)}, which cannot be printed")
        if self.engine not in ENGINES:
            raise ValueError(f"engine is {shortened(self.engine)}, allowed: {', '.join(ENGINES)}")
        for name in ("standard_error", "iterations", "pairs", "seed", "seconds"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}, allowed: 0 or more")
        if not 0.0 <= self.value <= 1.0:
            raise ValueError(f"value is {self.value}, allowed: 0 to 1")
        if self.bracket is not None and not all(-1e-6 <= end <= 1.0 + 1e-6 for end in self.bracket):
            raise ValueError(f"bracket is {self.bracket}, allowed: 0 to 1 each")
        for end, share in self.ends.items():
            if not _END.fullmatch(end) or not 0.0 <= share <= 1.0:
                raise ValueError(
                    f"ends has {shortened(end)}: {share}, allowed: scores such as 3-1 with a share of 0 to 1"
                )
        if self.ends and abs(sum(self.ends.values()) - 1.0) > 1e-6:
            raise ValueError("the shares of ends do not add up to 1")


def scores_after(score: Score, target: int) -> Iterator[Score]:
    """Scores (mano, pie as they were in the hand) at which a hand from `score` may end with the match undecided."""
    for a, b in product(range(score[0], target), range(score[1], target)):
        if (a, b) != score:
            yield a, b


def sweep_order(target: int) -> list[Score]:
    """All scores, by diagonals of equal sum from the last one."""
    return sorted(product(range(target), range(target)), key=lambda score: (-sum(score), score))


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
    """Reads the file of a state. Raises StorageError naming the file and the reason if it cannot be trusted."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StorageError(f"cannot read state {path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise StorageError(f"{path}: truncated or damaged, not JSON") from None
    if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
        raise StorageError(f"{path}: not a state of an equity table")
    digest = content.pop("sha256", None)
    if digest != _digest({"format": FORMAT, **content}):
        raise StorageError(f"{path}: damaged (checksum differs)")
    version = content.pop("version", None)
    if type(version) is not int or version != VERSION:
        raise StorageError(
            f"{path}: format version {shortened(version)}, this program reads version {VERSION}"
        )
    try:
        return read_record(StateValue, content)
    except ValueError as error:
        raise StorageError(f"{path}: not a state of this program: {error}") from None


def ends_at(end: str) -> Score:
    """The score (mano, pie) of a text as in `StateValue.ends`."""
    mano, pie = end.split("-")
    return int(mano), int(pie)


def _digest(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def check_state(state: StateValue, rules: Rules, successors: Mapping[Score, float], path: Path) -> None:
    """Raises StorageError unless the state is of these rules and was solved against these later values."""
    if state.rules_hash != rules.hash():
        raise StorageError(f"{path}: of rules {state.rules}, not {rules.name()}")
    if state_path(path.parent, state.score) != path:
        raise StorageError(f"{path}: holds the state of {state.score[0]}-{state.score[1]}")
    for end in state.ends:
        if not all(low <= high <= rules.target for low, high in zip(state.score, ends_at(end), strict=True)):
            raise StorageError(f"{path}: a hand from {state.score[0]}-{state.score[1]} cannot end at {end}")
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


# ---- what the states say together


def equity_of(states: Mapping[Score, StateValue]) -> EquityTable:
    """The table of a finished sweep."""
    target = 1 + max(a for a, _ in states)
    return EquityTable(target, {score: state.value for score, state in states.items()}, "table of a sweep")


def sweep_facts(states: Mapping[Score, StateValue]) -> dict[str, str]:
    """What a table of these states is and how good, as words for headers and captions."""
    first = next(iter(states.values()))
    engines = sorted({state.engine for state in states.values()})
    fewest, most = (pick(state.iterations for state in states.values()) for pick in (min, max))
    worst = max(state.standard_error for state in states.values())
    facts = {
        "rules": first.rules,
        "rules_hash": first.rules_hash,
        "engine": f"{' and '.join(engines)}, {f'{fewest} to ' if fewest < most else ''}{most} iterations a state",
        "accuracy": f"standard error of a state at most {worst:.4f} given the later ones",
    }
    if all(state.ends for state in states.values()):
        facts["accuracy"] += f", of 0-0 with all later ones {accumulated_error(states):.4f}"
    facts["accuracy"] += "; no bracket" if not any(s.bracket for s in states.values()) else ""
    return facts


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
            a, b = ends_at(end)
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
