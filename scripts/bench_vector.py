"""Times iterations of the vector engine beside what memory and matrix products of this machine allow.

python -m scripts.bench_vector [--contexts C] [--values V] [--chains A] [--iterations N] [--json]
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any

import typer

from scripts.console import JsonOption, new_app, print_json, progress, run

app = new_app("Seconds of an iteration, by part, beside the machine's memory bandwidth and matrix products.")

_BYTES = 4 * (2 + 1 + 2)
"""Moved for a regret in one iteration at least: read in both passes, and in one of them written, with the average
read and written."""


def _best(work: Callable[[], Any], times: int = 5) -> float:
    """Seconds of the fastest of some runs after the first."""
    work()
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return min(found)


def bandwidth() -> float:
    """Bytes a second of a += b over arrays far larger than the cache, all threads of numba."""
    import numpy as np
    from numba import prange

    from solver.jit import njit

    @njit(parallel=True, fastmath=True)
    def add(a: np.ndarray, b: np.ndarray) -> None:
        for i in prange(len(a)):
            a[i] += b[i]

    a, b = np.ones(1 << 27, np.float32), np.ones(1 << 27, np.float32)
    return 3 * a.nbytes / _best(lambda: add(a, b))


def products() -> float:
    """Floating point operations a second of a float32 matrix product of 2,048 squared, all threads of BLAS."""
    import numpy as np

    size = 2048
    a, b = (np.random.default_rng(k).random((size, size), np.float32) for k in range(2))
    return 2 * size**3 / _best(lambda: a @ b)


@app.command()
def bench(
    contexts: Annotated[str | None, typer.Option(help="As in `truco solve`.", show_default=False)] = None,
    chains: Annotated[str | None, typer.Option(help="As in `truco solve`.", show_default=False)] = None,
    values: Annotated[str | None, typer.Option(help="As in `truco solve`.", show_default=False)] = None,
    iterations: Annotated[int, typer.Option(min=1, help="Timed, after one that is not.")] = 3,
    json: JsonOption = False,
) -> None:
    """The full hand, rules base at 0-0, points."""
    from numba import get_num_threads

    from game.truco.rules import make_rules
    from solver.truco.vector.cfr import solver as solve
    from solver.truco.vector.cfr.run import iterate
    from solver.truco.vector.cfr.solver import VectorSolver, memory_bytes
    from solver.truco.vector.model.abstraction import Abstraction
    from solver.truco.vector.model.game import Game

    game = Game(make_rules(), (0, 0), None, Abstraction.parse(contexts, values, chains))
    memory, arithmetic = bandwidth(), products()
    solver = VectorSolver(game)
    spent = {"sweep_exits": 0.0, "sweep_position": 0.0}

    def timed(name: str) -> Callable[..., None]:
        sweep = getattr(solve, name)

        def run_timed(*arguments: Any) -> None:
            begin = time.perf_counter()
            sweep(*arguments)
            spent[name] += time.perf_counter() - begin

        return run_timed

    for name in spent:
        setattr(solve, name, timed(name))
    with progress(f"{iterations + 1} iterations, {memory_bytes(game) / 1e9:.1f} GB") as show:
        iterate(solver, 1)
        spent.update(dict.fromkeys(spent, 0.0))
        begin = time.perf_counter()
        for done in range(iterations):
            show((done + 1) / (iterations + 1))
            iterate(solver, 1)
        seconds = (time.perf_counter() - begin) / iterations
    regrets = sum(game.table_entries.values())
    parts = {name: spent[name] / iterations for name in spent}
    least = _BYTES * regrets / memory
    result = {
        **game.abstraction.lists(),
        "threads": get_num_threads(),
        "regrets": regrets,
        "seconds_per_iteration": seconds,
        "tricks_2_and_3_seconds": parts["sweep_exits"],
        "trick_1_after_envido_seconds": parts["sweep_position"],
        "regrets_per_second": regrets / seconds,
        "memory_bytes_per_second": memory,
        "product_flops_per_second": arithmetic,
        "seconds_if_memory_were_all": least,
    }
    if json:
        print_json(result)
        return
    print(
        f"{regrets / 1e6:,.0f}M regrets, {seconds:.2f} s an iteration: {regrets / seconds / 1e6:,.0f}M a second"
    )
    print(
        f"  tricks 2 and 3 {parts['sweep_exits']:.2f} s, trick 1 after Envido {parts['sweep_position']:.2f} s"
    )
    print(f"memory {memory / 1e9:.1f} GB/s: {_BYTES} bytes for each regret would take {least:.2f} s")
    print(f"matrix products {arithmetic / 1e9:,.0f} GFLOP/s")


if __name__ == "__main__":
    run(app)
