"""Keeps compiled kernels apart by source: numba alone would reuse a kernel after a function it calls has changed.

Numba looks only at the file of the kernel itself. So its cache is put in a folder named by the state of every
source file of `game` and `solver`; the newest few such folders are kept.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import suppress
from pathlib import Path

_KEPT = 4


def use_kernel_cache() -> None:
    """Points numba's cache at the folder of these sources, unless NUMBA_CACHE_DIR is set; call before numba."""
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
