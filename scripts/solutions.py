"""Where solutions are kept, and how a command comes by one: a file given, one kept, or a quick solve."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from scripts.console import progress

if TYPE_CHECKING:
    from game.truco.equity import EquityTable
    from game.truco.rules import Rules
    from solver import Solution

SOLVE_SECONDS = 60
"""How long a quick solve runs when a command needs a solution that is not kept."""
SolutionOption = typer.Option("--solution", help="Read this solution file.", metavar="FILE")
UtilityOption = typer.Option("--utility", help="What was maximised: points or match.", metavar="points|match")
UTILITIES = ("points", "match")


def solutions_folder() -> Path:
    """Folder of kept solutions: TRUCO_HOME if it is set, else the user's data folder."""
    home = os.environ.get("TRUCO_HOME")
    if home:
        return Path(home)
    import platformdirs

    return Path(platformdirs.user_data_path("truco")) / "solutions"


def kept_path(rules: Rules, score: tuple[int, int], utility: str) -> Path:
    """File where the solution for these rules, score (mano, pie) and utility is kept."""
    name = f"{rules.hash()}_{score[0]}-{score[1]}_{utility}_quick.truco"
    return solutions_folder() / name


def check_utility(utility: str) -> None:
    """Raises ValueError unless the utility is points or match."""
    if utility not in UTILITIES:
        raise ValueError(f"utility {utility!r} is unknown, allowed: {', '.join(UTILITIES)}")


def find_solution(file: Path | None, rules: Rules, score: tuple[int, int], utility: str) -> Solution:
    """The solution in `file`, else the kept one for this spot, else one solved now and kept.

    Raises ValueError if the file is damaged or was solved for other rules.
    """
    from solver import load_solution

    check_utility(utility)
    if file is not None:
        solution = load_solution(file)
        if solution.rules != rules:
            raise ValueError(f"{file} was solved for rules {solution.rules.name()}, not {rules.name()}")
        return solution
    path = kept_path(rules, score, utility)
    if path.exists():
        return load_solution(path)
    from game.truco.equity import simple_equity

    equity = simple_equity(rules.target) if utility == "match" else None
    solution = quick_solve(rules, score, equity, SOLVE_SECONDS, None, 1)
    path.parent.mkdir(parents=True, exist_ok=True)
    solution.save(path)
    return solution


def quick_solve(
    rules: Rules,
    score: tuple[int, int],
    equity: EquityTable | None,
    seconds: float,
    iterations: int | None,
    seed: int,
) -> Solution:
    """Solves in quick mode for so long, or so many iterations, with progress on stderr."""
    from solver.truco.quick import QuickSolver, memory_bytes

    solver = QuickSolver(rules, score, equity, seed)
    share_to_learn = 0.9
    title = f"quick solve {rules.name()} at {score[0]}-{score[1]} ({memory_bytes() / 1e6:.0f} MB)"
    with progress(title) as update:
        begin = time.monotonic()
        done = 0.0
        while done < 1.0:
            solver.step()
            spent = (time.monotonic() - begin) / (seconds * share_to_learn)
            done = solver.iteration / iterations if iterations else spent
            update(done * share_to_learn, f"iteration {solver.iteration}, {solver.infosets:,} infosets")
        return solver.solution(
            progress=lambda part: update(share_to_learn + part * (1 - share_to_learn), "measuring values")
        )
