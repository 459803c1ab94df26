"""Solving with the vector engine from the command line: size shown first, progress, checkpoints, resume."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.console import progress

if TYPE_CHECKING:
    from game.truco.equity import EquityTable
    from game.truco.rules import Rules
    from solver.truco.vector.abstraction import Abstraction
    from solver.truco.vector.files import VectorInfo

CHECKPOINT_SECONDS = 600.0
"""At most so much work is lost when the program is killed, besides the iteration it was in."""


def parse_memory(text: str) -> float:
    """Bytes of a size such as `16GB` or `800MB`; ValueError for other texts."""
    units = {"KB": 1e3, "MB": 1e6, "GB": 1e9}
    number, unit = text[:-2], text[-2:].upper()
    try:
        size = float(number) * units[unit]
    except (ValueError, KeyError):
        raise ValueError(f"memory {text!r} is not of the form 16GB or 800MB") from None
    if not size > 0:
        raise ValueError(f"memory {text!r} is not above 0")
    return size


def vector_solve(
    rules: Rules,
    score: tuple[int, int],
    equity: EquityTable | None,
    abstraction: Abstraction,
    schedule: str,
    seconds: float,
    iterations: int | None,
    max_memory: float,
    out: Path,
) -> VectorInfo:
    """Solves for so long, or up to so many iterations in all, and writes the policy to `out`.

    Goes on from `out` + `.checkpoint` where there is one, and keeps it up to date. Raises ValueError if the tables do
    not fit the memory, or the checkpoint is of another game.
    """
    from solver.truco.vector.files import (
        VectorInfo,
        VectorPolicy,
        load_checkpoint,
        save_checkpoint,
    )
    from solver.truco.vector.solve import Game, VectorSolver, schedule_step

    game = Game(rules, score, equity, abstraction)
    parts = ", ".join(f"{name} {entries / 1e6:,.0f}M" for name, entries in game.table_entries.items())
    print(
        f"{sum(game.table_entries.values()) / 1e6:,.0f}M regrets ({parts}); {game.memory_bytes / 1e9:.1f} GB",
        file=sys.stderr,
    )
    if game.memory_bytes > max_memory:
        raise ValueError(
            f"needs {game.memory_bytes / 1e9:.1f} GB, more than --max-memory {max_memory / 1e9:.1f} GB; "
            "coarser --contexts or --values need less"
        )
    schedule_step(schedule, 1)
    checkpoint = out.with_name(out.name + ".checkpoint")
    spent = 0.0
    if checkpoint.exists():
        solver, saved = load_checkpoint(checkpoint)
        wanted = VectorInfo.of(game, schedule, saved.iterations, saved.seconds)
        if saved != wanted:
            raise ValueError(
                f"{checkpoint} is of another game, abstraction or schedule; move it away to start anew"
            )
        spent = saved.seconds
    else:
        solver = VectorSolver(game)
    title = f"vector solve {rules.name()} at {score[0]}-{score[1]}"
    begin = last = time.monotonic()
    with progress(title) as show:
        while True:
            now = time.monotonic()
            enough = solver.iterations >= iterations if iterations else now - begin >= seconds
            if enough or now - last >= CHECKPOINT_SECONDS:
                info = VectorInfo.of(game, schedule, solver.iterations, spent + now - begin)
                save_checkpoint(solver, info, checkpoint)
                last = time.monotonic()
            if enough:
                break
            values = solver.iterate(schedule_step(schedule, solver.iterations + 1))
            done = solver.iterations / iterations if iterations else (time.monotonic() - begin) / seconds
            pace = time.monotonic() - now
            show(
                done,
                f"iteration {solver.iterations}, {pace:.1f} s each, mano {values[0]:+.4f}, gap {values.sum():.4f}",
            )
    VectorPolicy.of(solver, info).save(out)
    return info
