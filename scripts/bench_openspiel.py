"""Compare the speed of the generic solver with OpenSpiel's C++ CFRPlusSolver, on one thread, in 2 minutes.

Both run the same algorithm, CFR+ with alternating updates and linear averaging; the default of this solver,
DCFR, is shown beside it. Seconds are CPU seconds of this process, so other load on the machine matters
little; rates are the best of several rounds in which the solvers take turns. Set-up is building the solver
(here with flattening the game) and the first iteration. Time to the target leaves out set-up and the checks
of exploitability, which are the same code for all.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import NoReturn

import pyspiel
from rich.console import Console
from rich.table import Table

from scripts.console import fail
from solver.best_response import exploitability
from solver.cfr import FlatSolver
from solver.flat import FlatGame, flatten
from solver.flat_policy import FlatPolicy
from solver.schedule import CFR_PLUS, DCFR, Schedule

TARGET = 1e-3
"""Exploitability (NashConv / 2) to reach, in units of the game's utility."""

GAMES = {"leduc_poker": (9457, 936), "liars_dice": (294_883, 24_576)}
"""States and infosets of the games that the figures are about."""

ROUND_SECONDS = 0.5


@dataclass
class Timing:
    """What one solver did on one game."""

    game: str
    solver: str
    setup_seconds: float
    iterations_per_second: float = 0.0
    times_openspiel: float = 1.0
    iterations_to_target: int = 0
    seconds_to_target: float = 0.0
    final_exploitability: float = 0.0


class OpenSpielSolver:
    """OpenSpiel's C++ CFRPlusSolver behind the interface of FlatSolver."""

    def __init__(self, flat: FlatGame) -> None:
        self.flat, self.iterations = flat, 0
        self._solver = pyspiel.CFRPlusSolver(flat.game)

    def run(self, iterations: int) -> None:
        """Do so many more iterations."""
        for _ in range(iterations):
            self._solver.evaluate_and_update_policy()
        self.iterations += iterations

    def exploitability(self) -> float:
        """Return NashConv / 2 of the average strategy."""
        table = self._solver.tabular_average_policy().policy_table()
        return exploitability(
            self.flat, FlatPolicy(self.flat.game, {infostate: dict(row) for infostate, row in table.items()})
        )


Solver = FlatSolver | OpenSpielSolver


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with an option in one line, as every other command does."""

    def error(self, message: str) -> NoReturn:
        fail(message)


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; exit status 1 if a game is not the one the figures are about."""
    parser = _Parser(prog="python -m scripts.bench_openspiel", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON text instead of a table")
    parser.add_argument("--rounds", type=int, default=5, help="rounds in which the solvers take turns (5)")
    arguments = parser.parse_args(argv)
    if arguments.rounds < 1:
        fail(f"--rounds is {arguments.rounds}, allowed: 1 or more")
    games = []
    for name, expected in GAMES.items():
        begin = time.process_time()
        flat = flatten(pyspiel.load_game(name))
        games.append((flat, time.process_time() - begin))
        found = (flat.size.states, sum(flat.size.infosets))
        if found != expected:
            print(f"{name} has {found} states and infosets, not {expected}", file=sys.stderr)
            return 1
    measured = [(flat, measure(flat, seconds, arguments.rounds)) for flat, seconds in games]
    if arguments.json:
        print(json.dumps([asdict(timing) for _, timings in measured for timing in timings], indent=2))
    else:
        for flat, timings in measured:
            Console().print(as_table(flat, timings))
    return 0


def measure(flat: FlatGame, flatten_seconds: float, rounds: int) -> list[Timing]:
    """Time OpenSpiel's solver, and CFR+ and DCFR of this project, on one game."""
    FlatSolver(flat).run(1)  # compiles, or loads what was compiled before
    makers: dict[str, Callable[[], Solver]] = {
        "OpenSpiel C++": lambda: OpenSpielSolver(flat),
        "this, CFR+": lambda: FlatSolver(flat, CFR_PLUS),
        "this, DCFR": lambda: FlatSolver(flat, DCFR),
    }
    needed = (
        iterations_needed(flat, CFR_PLUS),
        iterations_needed(flat, CFR_PLUS),
        iterations_needed(flat, DCFR),
    )
    timings, solvers = [], []
    for label, make in makers.items():
        begin = time.process_time()
        solvers.append(make())
        solvers[-1].run(1)
        seconds = time.process_time() - begin
        timings.append(Timing(flat.game.get_type().short_name, label, seconds))
    for timing in timings[1:]:
        timing.setup_seconds += flatten_seconds
    for _ in range(rounds):
        for timing, solver in zip(timings, solvers, strict=True):
            timing.iterations_per_second = max(timing.iterations_per_second, rate(solver))
    for timing, make, iterations in zip(timings, makers.values(), needed, strict=True):
        timing.times_openspiel = timing.iterations_per_second / timings[0].iterations_per_second
        reach_target(make(), iterations, timing)
    return timings


def reach_target(solver: Solver, iterations: int, timing: Timing) -> None:
    """Run the solver to the target, which it should reach after so many iterations, and note the time."""
    timing.final_exploitability = float("inf")
    while timing.final_exploitability > TARGET:
        begin = time.process_time()
        solver.run(iterations)
        timing.seconds_to_target += time.process_time() - begin
        timing.final_exploitability = solver.exploitability()
        iterations = 1  # another order of sums may cost OpenSpiel's CFR+ an iteration more than this one
    timing.iterations_to_target = solver.iterations


def rate(solver: Solver) -> float:
    """Return iterations per second over one round."""
    count, done, begin = 1, 0, time.process_time()
    while (elapsed := time.process_time() - begin) < ROUND_SECONDS:
        solver.run(count)
        done += count
        count = min(2 * count, 256)
    return done / elapsed


def iterations_needed(flat: FlatGame, schedule: Schedule) -> int:
    """Return the first iteration after which the average strategy is within the target."""
    solver = FlatSolver(flat, schedule)
    solver.run(1)
    while solver.exploitability() > TARGET:
        solver.run(1)
    return solver.iterations


def as_table(flat: FlatGame, timings: list[Timing]) -> Table:
    """Lay the timings of one game out for the terminal."""
    size = flat.size
    title = f"{timings[0].game}: {size.states:,} states, {sum(size.infosets):,} infosets"
    table = Table(title=title, caption=f"target: exploitability {TARGET:g}; CPU seconds, one thread")
    table.add_column("solver", no_wrap=True)
    for column in (
        "set-up\ns",
        "iterations\n1/s",
        "times\nOpenSpiel",
        "to target\niterations",
        "to target\ns",
    ):
        table.add_column(column, justify="right", no_wrap=True)
    for timing in timings:
        table.add_row(
            timing.solver,
            f"{timing.setup_seconds:.2f}",
            f"{timing.iterations_per_second:,.1f}",
            f"{timing.times_openspiel:.0f}",
            str(timing.iterations_to_target),
            f"{timing.seconds_to_target:.4f}",
        )
    return table


if __name__ == "__main__":
    sys.exit(main())
