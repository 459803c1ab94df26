"""`truco equity solve`: the sweep over all scores, in worker processes or on a cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scripts.console import JsonOption, RulesOption, SetOption, chosen_rules, print_json, progress

if TYPE_CHECKING:
    from game.truco.rules import Rules
    from solver.truco.match.equity_sweep import Progress, SweepSettings

EXAMPLES = (
    "Examples:  `truco equity solve`  ·  `truco equity solve --workers 4 --keep out/strategies`  ·  "
    "`truco equity solve --set target=3 --iterations 20 --pairs 500 --out out/tiny`"
)
CLUSTER_SECONDS = 10
"""How long a scheduler may take to answer."""
DEFAULT_ITERATIONS = {"quick": (320, 640), "vector": (100, 100)}
"""By engine: of a state, and of one where somebody needs one or two points."""


def solve(
    rules: RulesOption = "base",
    set_: SetOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the states' files, results/equity/RULES by default.", show_default=False
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Worker processes, by default as many as cores.", show_default=False),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="Solve on this dask.distributed cluster instead.", metavar="ADDRESS"),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            help="quick: sampled, an hour or two; vector: every deal, far too long away from the end of the match.",
            metavar="quick|vector",
        ),
    ] = "quick",
    iterations: Annotated[
        int | None,
        typer.Option(min=1, help="Iterations a state; 320 quick, 100 vector.", show_default=False),
    ] = None,
    late: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Iterations where somebody needs one or two points; twice as many in quick mode.",
            show_default=False,
        ),
    ] = None,
    pairs: Annotated[
        int, typer.Option(min=2, help="quick: deals that measure the value, each twice.")
    ] = 60_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed; that of a state follows from it.")] = 1,
    contexts: Annotated[
        str | None, typer.Option(help="vector: as in `truco solve`.", metavar="C,C,C,C")
    ] = None,
    values: Annotated[
        str | None, typer.Option(help="vector: as in `truco solve`.", metavar="V,V,V,V")
    ] = None,
    chains: Annotated[
        str | None, typer.Option(help="vector: as in `truco solve`.", metavar="A,A,A,A")
    ] = None,
    certify: Annotated[
        bool, typer.Option("--certify", help="vector: best responses with real cards, for a bracket.")
    ] = False,
    keep: Annotated[
        Path | None,
        typer.Option(help="Keep the strategy of every score in this folder (4 MB each).", show_default=False),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Solve the hand at every score, backwards from the last one, and keep each value as a small file.

    An interrupted sweep goes on where it was. The result does not depend on the number of workers.
    """
    from solver.truco.match.equity_states import accumulated_error
    from solver.truco.match.equity_sweep import sweep

    chosen = chosen_rules(rules, set_)
    plain, double = DEFAULT_ITERATIONS.get(engine, (1, 1))
    often = iterations or plain
    merges = (contexts, values, chains)
    settings = sweep_settings(engine, often, late or (often * double // plain), pairs, seed, merges, certify)
    _check_rules(chosen, settings)
    folder = out or states_folder(chosen)
    for wanted in (folder, keep):
        if wanted is not None:
            wanted.mkdir(parents=True, exist_ok=True)
    start = _cluster(cluster) if cluster else _processes(workers or os.cpu_count() or 1)
    with progress(f"equity {chosen.name()}") as update:

        def show(at: Progress) -> None:
            note = f"diagonal {at.diagonal}, " if at.diagonal >= 0 else ""
            update(at.share, f"{note}{at.done} of {at.total} states, {at.running} running")

        try:
            states = sweep(chosen, folder, settings, start, keep, show, _tell)
        except BrokenExecutor:
            raise ValueError(
                f"worker processes die again and again (out of memory?); finished states are in {folder}"
            ) from None
    first = states[0, 0]
    measured = all(state.ends for state in states.values())
    error = accumulated_error(states) if measured else None
    seconds = sum(state.seconds for state in states.values())
    if json:
        print_json(
            {"folder": str(folder), "states": len(states), "value": first.value, "error": error, "seconds": seconds}
        )  # fmt: skip
        return
    spread = "" if error is None else f" ± {error:.2%} (sampling, accumulated over the match)"
    print(f"{folder}: {len(states)} states, {seconds / 60:.0f} worker minutes")
    print(f"at 0-0 mano wins {first.value:.2%}{spread}")


def sweep_settings(
    engine: str,
    iterations: int,
    late: int | None,
    pairs: int,
    seed: int,
    merges: tuple[str | None, str | None, str | None],
    certify: bool,
) -> SweepSettings:
    """Settings of the options; raises ValueError for options of the other engine or values out of range.

    merges: those of --contexts, --values and --chains.
    """
    from solver.truco.match.equity_sweep import SweepSettings
    from solver.truco.vector.model.abstraction import Abstraction

    if engine == "quick" and (any(merges) or certify):
        raise ValueError("--contexts, --values, --chains and --certify are choices of --engine vector")
    return SweepSettings(
        engine, iterations, late or iterations, pairs, seed, Abstraction.parse(*merges), certify
    )


def states_folder(rules: Rules) -> Path:
    """Where the states of a sweep are kept by default, relative to the working folder."""
    return Path("results") / "equity" / rules.name()


def _check_rules(rules: Rules, settings: SweepSettings) -> None:
    """Raises ValueError for rules that the engine does not play, before workers start."""
    if settings.engine == "quick":
        from solver.truco.hand.engine import rules_vector

        rules_vector(rules)


def _tell(line: str) -> None:
    print(f"note: {line}", file=sys.stderr)


def _processes(workers: int) -> Callable[[], Executor]:
    """Makes a pool of fresh processes with one numba thread each."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    os.environ["NUMBA_NUM_THREADS"] = "1"  # read by the workers when they import numba
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    context = multiprocessing.get_context("spawn")
    return lambda: ProcessPoolExecutor(workers, mp_context=context)


def _cluster(address: str) -> Callable[[], Executor]:
    """Connects to a dask.distributed cluster, whose scheduler moves the work of workers that die."""
    try:
        from distributed import Client
    except ImportError:
        raise ValueError(
            "--cluster needs the package distributed: pip install truco-theory[cluster]"
        ) from None
    try:
        client = Client(address, timeout=CLUSTER_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ValueError(f"no dask scheduler at {address}: {error}") from None
    return lambda: client.get_executor(pure=False)
