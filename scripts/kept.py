"""`truco cache`: lists and clears the solutions that commands keep, and the kernels they have compiled."""

from __future__ import annotations

import contextlib
from typing import Annotated

import typer

from scripts.console import JsonOption, new_app, parse_score, print_json
from scripts.solutions import solutions_folder

cache_app = new_app(
    "The solutions that commands have solved and keep (TRUCO_HOME names another folder), and compiled kernels."
)


@cache_app.command("list", epilog="Examples:  `truco cache list`  ·  `truco cache list --json`")
def list_kept(json: JsonOption = False) -> None:
    """List the kept solutions: rules, score, utility, iterations, size; and say how much compiled kernels take."""
    from solver.jit import kernel_files, kernels_folder
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
    compiled = [path.stat().st_size for path in kernel_files()]
    if json:
        kernels = {"folder": str(kernels_folder()), "files": len(compiled), "bytes": sum(compiled)}
        print_json({"folder": str(solutions_folder()), "solutions": rows, "kernels": kernels})
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
    print(f"{kernels_folder()}: {len(compiled)} files of compiled kernels, {sum(compiled) / 1e6:.0f} MB")


@cache_app.command(
    "clear",
    epilog="Examples:  `truco cache clear`  ·  `truco cache clear --score 13-14`  ·  `truco cache clear --kernels`",
)
def clear(
    score: Annotated[
        str | None,
        typer.Option(help="Only solutions for this score, mano first.", metavar="A-B", show_default=False),
    ] = None,
    kernels: Annotated[
        bool, typer.Option("--kernels", help="Delete the compiled kernels instead of solutions.")
    ] = False,
) -> None:
    """Delete kept solutions, or kernels; the next command that needs one solves or compiles it again."""
    if kernels:
        if score is not None:
            raise ValueError("--kernels and --score exclude each other")
        _clear_kernels()
        return
    wanted = None if score is None else "{}-{}".format(*parse_score(score, 99))
    gone = 0
    for path in sorted(solutions_folder().glob("*_*-*_*.truco")):
        if wanted is None or path.name.split("_")[1] == wanted:
            path.unlink()
            gone += 1
    print(f"deleted {gone} solutions from {solutions_folder()}")


def _clear_kernels() -> None:
    from solver.jit import kernel_files, kernels_folder

    folder, files = kernels_folder(), kernel_files()
    for path in files:
        path.unlink(missing_ok=True)
    below = {parent for path in files for parent in path.parents if folder in parent.parents}
    for parent in sorted(below, reverse=True):
        with contextlib.suppress(OSError):  # others' files in it, or compiling just now
            parent.rmdir()
    print(f"deleted {len(files)} files of compiled kernels from {folder}")
