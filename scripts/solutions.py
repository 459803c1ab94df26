"""Where solutions are kept, and how a command comes by one: a file given, one kept, or a quick solve."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scripts.console import chosen_rules, parse_score, progress

if TYPE_CHECKING:
    from game.truco.equity import EquityTable
    from game.truco.rules import Rules
    from solver.truco.reading.solution import Solution
    from solver.truco.solutions.quick_solution import QuickSolution

SOLVE_SECONDS = 60
"""How long a quick solve runs when a command needs a solution that is not kept."""
FEW_ITERATIONS = 1_500
"""Below so many the strategy still loses to the heuristic player."""
SolutionOption = Annotated[
    Path | None,
    typer.Option(
        "--solution",
        help="Read this solution or vector policy; rules, score and utility default to its own.",
        metavar="FILE",
    ),
]
WantedRulesOption = Annotated[
    str | None,
    typer.Option(
        "--rules", help="Preset base (default) or argentino, or a TOML file of rules.", metavar="NAME|FILE"
    ),
]
WantedUtilityOption = Annotated[
    str | None,
    typer.Option(
        "--utility",
        help="What is maximised: points (default at 0-0) or match (elsewhere).",
        metavar="points|match",
    ),
]
EquityOption = Annotated[
    str,
    typer.Option(
        "--equity",
        help="Worth of a score in the match: computed (comes with this program), simple, or a CSV table.",
        metavar="computed|simple|FILE",
    ),
]
UTILITIES = ("points", "match")


def solutions_folder() -> Path:
    """Folder of kept solutions: TRUCO_HOME if it is set, else the user's data folder."""
    home = os.environ.get("TRUCO_HOME")
    if home:
        return Path(home)
    import platformdirs

    return Path(platformdirs.user_data_path("truco")) / "solutions"


def kept_path(rules: Rules, score: tuple[int, int], equity: EquityTable | None) -> Path:
    """File where a quick solution is kept, by rules, score (mano, pie) and equity table (None: utility points)."""
    utility = "points"
    if equity is not None:
        values = repr(equity.rows()).encode()
        utility = f"match-{hashlib.sha256(values).hexdigest()[:8]}"
    return solutions_folder() / f"{rules.hash()}_{score[0]}-{score[1]}_{utility}_quick.truco"


def chosen_utility(utility: str | None, score: tuple[int, int]) -> str:
    """The utility asked for; where none is, points at 0-0 and the match elsewhere. ValueError for others."""
    if utility is None:
        return "points" if score == (0, 0) else "match"
    if utility not in UTILITIES:
        raise ValueError(f"utility {utility!r} is unknown, allowed: {', '.join(UTILITIES)}")
    return utility


def wanted_rules(given: Solution | None, name: str | None, changes: list[str] | None) -> Rules:
    """Rules that the options name; where they name none, those of the given solution, or `base`."""
    if given is not None and name is None and not changes:
        return given.rules
    return chosen_rules(name or "base", changes)


def wanted_scores(given: Solution | None, text: str | None, target: int) -> tuple[int, int]:
    """The score (mano, pie) of an option; without one, that of the given solution, or 0-0."""
    if text is not None:
        return parse_score(text, target)
    return given.info.score if given is not None else (0, 0)


def find_solution(
    given: Solution | None,
    rules: Rules,
    score: tuple[int, int],
    utility: str | None,
    equity: str = "computed",
    shipped: bool = False,
) -> Solution:
    """The given solution, else the kept one for this spot, else one solved now and kept.

    With `shipped` a policy that comes with this program goes before one kept, though it has trick 1 only.
    `equity` names the table for the utility match, as in `load_equity`. Raises ValueError if the given solution is of
    other rules, another score or utility than asked for.
    """
    wanted = chosen_utility(utility, score)
    if given is not None:
        was, asked = given.info.score, (f"{score[0]}-{score[1]}")
        if given.rules != rules:
            raise ValueError(f"the solution is for rules {given.rules.name()}, not {rules.name()}")
        if was != score:
            raise ValueError(f"the solution is for score {was[0]}-{was[1]} (mano first), not {asked}")
        if utility not in (None, given.info.utility):
            raise ValueError(f"the solution is for utility {given.info.utility}, not {utility}")
        return given
    if shipped:
        from solver.truco.solutions.load import load_solution, shipped_policy

        ready = shipped_policy(rules, score, wanted)
        if ready is not None:
            return load_solution(ready)
    from solver.truco.solutions.quick_solution import load_quick_solution

    worth = chosen_equity(rules, equity) if wanted == "match" else None
    path = kept_path(rules, score, worth)
    if not path.exists():
        solution = quick_solve(rules, score, worth, SOLVE_SECONDS, None, 1)
        path.parent.mkdir(parents=True, exist_ok=True)
        solution.save(path)
    kept = load_quick_solution(path)
    info, rows = kept.info, None if worth is None else worth.rows()
    if (kept.rules, info.score, info.equity) != (rules, score, rows):
        raise ValueError(f"{path} holds another spot than its name says: `truco cache clear` deletes it")
    return kept


def kept_solution(
    rules: Rules, score: tuple[int, int], utility: str | None, equity: str = "computed"
) -> Solution | None:
    """The quick solution kept for a spot, None where there is none."""
    worth = chosen_equity(rules, equity) if chosen_utility(utility, score) == "match" else None
    path = kept_path(rules, score, worth)
    return given_solution(path) if path.exists() else None


def chosen_equity(rules: Rules, source: str) -> EquityTable:
    """The equity table that `source` names; its name says so if it was computed for other rules."""
    from game.truco.equity import load_equity, simple_equity
    from game.truco.rules import PRESETS

    table = load_equity(source, rules.target)
    borrowed = source == "computed" and rules != PRESETS["base"] and table is not simple_equity(rules.target)
    return table.named(f"{table.name}, not {rules.name()}") if borrowed else table


def given_solution(file: Path | None) -> Solution | None:
    """The solution or policy in a file, None without a file."""
    if file is None:
        return None
    from solver.truco.solutions.load import load_solution

    return load_solution(file)


def quick_solve(
    rules: Rules,
    score: tuple[int, int],
    equity: EquityTable | None,
    seconds: float,
    iterations: int | None,
    seed: int,
) -> QuickSolution:
    """Solves in quick mode for so long, or so many iterations, with progress on stderr."""
    from solver.truco.quick.solver import QuickSolver, memory_bytes

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
        solution = solver.solution(
            progress=lambda part: update(share_to_learn + part * (1 - share_to_learn), "measuring values")
        )
    if solver.iteration < FEW_ITERATIONS:
        print(
            f"note: {solver.iteration:,} iterations are few, the strategy is rough; {FEW_ITERATIONS:,} or more are "
            "better (solve longer with --time)",
            file=sys.stderr,
        )
    return solution
