"""What numba needs told: a cache that knows every source file, a faster start, and how it shares out work."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

_KEPT = 12


def prepare_numba() -> None:
    """Sets numba up; to be called before a module with kernels is imported."""
    _use_cache_of_these_sources()
    _import_without_blas()


def kernel(function: Any) -> Any:
    """Decorator for kernels that make no arrays: numba then leaves out counting references to those they get.

    Counting is atomic, and threads that share an array wait for each other. Arithmetic is fastmath.
    """
    from numba import njit

    return njit(cache=True, fastmath=True, _nrt=False)(function)  # type: ignore[call-overload]


def dealt_out(work: Sequence[float]) -> list[int]:
    """An order of tasks in which every thread of a `prange` gets as much work as the others.

    numba gives each thread one contiguous part of the range, whatever it costs.
    """
    from numba import config

    # Asking get_num_threads would start them.
    threads: int = config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    shares: list[list[int]] = [[] for _ in range(threads)]
    for place, task in enumerate(sorted(range(len(work)), key=lambda task: -work[task])):
        turn, at = divmod(place, threads)
        shares[at if turn % 2 == 0 else threads - 1 - at].append(task)
    return [task for share in shares for task in share]


def _use_cache_of_these_sources() -> None:
    """Points numba's cache at a folder named by the state of every source file, unless NUMBA_CACHE_DIR is set.

    Numba alone looks only at the file of the kernel itself, and would go on using a kernel after a function that it
    calls from another file has changed. The newest few folders are kept.
    """
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    import platformdirs

    folder = platformdirs.user_cache_path("truco") / "kernels" / _sources_digest()
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    if not folder.exists():
        with suppress(OSError):
            folder.mkdir(parents=True)
            older = sorted(folder.parent.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
            for path in older[_KEPT:]:
                shutil.rmtree(path, ignore_errors=True)


def _sources_digest() -> str:
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for package in ("game", "solver"):
        for path in sorted((root / package).rglob("*.py")):
            state = path.stat()
            digest.update(f"{path} {state.st_size} {state.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def _import_without_blas() -> None:
    """Keeps numba from importing scipy.linalg, which it does for BLAS and which takes 0.2 s; no kernel uses BLAS."""
    if "numba" in sys.modules or "scipy" in sys.modules:
        return
    sys.modules["scipy"] = None  # type: ignore[assignment]
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules["scipy"]
