"""`truco cache`: lists and clears the solutions that commands keep."""

from __future__ import annotations

from typing import Annotated

import typer

from scripts.console import JsonOption, new_app, parse_score, print_json
from scripts.solutions import solutions_folder

cache_app = new_app("The solutions that commands have solved and keep; TRUCO_HOME names another folder.")


@cache_app.command("list", epilog="Examples:  `truco cache list`  ·  `truco cache list --json`")
def list_kept(json: JsonOption = False) -> None:
    """List the kept solutions: rules, score, utility, iterations, size."""
    from solver.truco.solutions.quick_solution import load_quick_solution

    rows = []
    for path in sorted(solutions_folder().glob("*.truco")):
        size = path.stat().st_size
        try:
            solution = load_quick_solution(path)
        except ValueError as error:
            rows.append({"file": path.name, "bytes": size, "problem": str(error)})
            continue
        info = solution.info
        rows.append(
            {
                "file": path.name,
                "bytes": size,
                "rules": solution.rules.name(),
                "score": "{}-{}".format(*info.score),
                "utility": info.utility,
                "equity": info.equity_name,
                "iterations": info.iterations,
            }
        )
    if json:
        print_json({"folder": str(solutions_folder()), "solutions": rows})
        return
    print(
        f"{solutions_folder()}: {len(rows)} solutions, {sum(int(str(r['bytes'])) for r in rows) / 1e6:.0f} MB"
    )
    for row in rows:
        if "problem" in row:
            print(f"  {row['file']}: {row['problem']}")
            continue
        worth = f" ({row['equity']})" if row["equity"] else ""
        print(
            f"  {row['score']:>6}  {row['rules']}, {row['utility']}{worth}, {row['iterations']:,} iterations"
        )


@cache_app.command("clear", epilog="Examples:  `truco cache clear`  ·  `truco cache clear --score 13-14`")
def clear(
    score: Annotated[
        str | None,
        typer.Option(help="Only solutions for this score, mano first.", metavar="A-B", show_default=False),
    ] = None,
) -> None:
    """Delete kept solutions; the next command that needs one solves it again."""
    wanted = None if score is None else "{}-{}".format(*parse_score(score, 99))
    gone = 0
    for path in sorted(solutions_folder().glob("*_*-*_*.truco")):
        if wanted is None or path.name.split("_")[1] == wanted:
            path.unlink()
            gone += 1
    print(f"deleted {gone} solutions from {solutions_folder()}")
