"""Compiling kernels with numba: decorators whose cache knows all that a kernel is made from, and sharing out work.

numba's own cache looks at the file of a kernel only. It would go on using a kernel after a function that it calls
from another file has changed, and would compile all kernels of a file anew when one of them has. Here a compiled
kernel is named by a digest of its own bytecode and of all that it refers to: functions, constants, named tuples.
Equal code in two checkouts is compiled once. Nothing outside the decorated functions is touched.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

try:
    import fcntl
except ImportError:  # not a Unix: processes compile on their own
    fcntl = None  # type: ignore[assignment]

import numpy as np
from numba import njit as _njit
from numba import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.dispatcher import Dispatcher
from numba.extending import intrinsic

_Intrinsic: Any = type(intrinsic(lambda typing: None))
_APART = "TRUCO_COMPILES_FOR_ANOTHER"
"""Set in a process that compiles a kernel for another one."""
_KERNEL_FILE = re.compile(r"-[0-9a-f]{16}\.py\d+\.(nbi|\d+\.nbc|lock)$")


def kernels_folder() -> Path:
    """Where compiled kernels are kept: NUMBA_CACHE_DIR if it is set, else a folder of the user's caches."""
    folder = os.environ.get("NUMBA_CACHE_DIR")
    if folder:
        return Path(folder)
    import platformdirs

    return platformdirs.user_cache_path("truco") / "kernels"


def kernel_files() -> list[Path]:
    """Files of compiled kernels, also those of versions that kept a folder for each state of the sources.

    Files of other programs are not among them, in case NUMBA_CACHE_DIR is shared.
    """
    folder = kernels_folder()
    found = [path for path in folder.glob("*") if _KERNEL_FILE.search(path.name)]
    if "NUMBA_CACHE_DIR" not in os.environ:
        found += folder.glob("*/**/*.nb[ci]")
    return sorted(found)


class _Locator(_CacheLocator):
    """Names files by the digest of the function, which is computed when the cache is first asked."""

    def __init__(self, function: Any) -> None:
        self._py_file = inspect.getfile(function)
        self._digest = _digest(function)

    def get_cache_path(self) -> str:
        return str(kernels_folder())

    def get_source_stamp(self) -> str:
        return self._digest

    def get_disambiguator(self) -> str:
        return self._digest[:16]

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _Locator | None:
        self = cls(py_func)
        try:
            self.ensure_cache_path()
        except OSError:
            return None
        return self


class _Impl(CompileResultCacheImpl):
    _locator_classes = [_Locator]  # type: ignore[list-item]  # noqa: RUF012


class _Cache(FunctionCache):
    """Of several processes that want a kernel which is not there yet, one compiles it and the others wait.

    A process holds the locks of a kernel and of those that call it, and asks for those of what it calls. Kernels call
    each other in no circle, so nobody waits forever. The system lets go of the locks of a process that dies.

    Fast arithmetic may give other last bits when a kernel has just been compiled here than when it is loaded: calls
    then go to the copy of a callee that was compiled alone, not to the one that was optimised inside its caller. So
    kernels with fast arithmetic are compiled in a process of their own and always loaded.
    """

    _impl_class = _Impl
    _under_way = 0
    """Kernels that this process is compiling, each for the one before."""

    def __init__(self, dispatcher: Any) -> None:
        super().__init__(dispatcher.py_func)
        self._dispatcher = dispatcher
        self._lock: Any = None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context)
        if found is None and not _Cache._under_way and self._compiled_apart(sig):
            found = super().load_overload(sig, target_context)
        if found is None and self._lock is None:
            found = self._locked(sig, target_context)
        if found is None:
            _Cache._under_way += 1
        return found

    def _locked(self, sig: Any, target_context: Any) -> Any:
        """Waits for its turn; what another process has compiled meanwhile, if any has."""
        if fcntl is None:
            return None
        try:
            lock = open(Path(self.cache_path) / f"{self._impl.filename_base}.lock", "w")  # noqa: SIM115
        except OSError:
            return None
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = super().load_overload(sig, target_context)
        if found is None:
            self._lock = lock
        else:
            lock.close()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        super().save_overload(sig, data)
        _Cache._under_way = max(0, _Cache._under_way - 1)
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _compiled_apart(self, sig: Any) -> bool:
        """Has a kernel with fast arithmetic compiled by another process; False where there is no need or no way."""
        function = self._py_func
        found = getattr(sys.modules.get(function.__module__), function.__name__, None)
        if _APART in os.environ or function.__module__ == "__main__" or found is not self._dispatcher:
            return False
        if not any(isinstance(t, Dispatcher) and t.targetoptions.get("fastmath") for t in _reached(found)):
            return False
        job = pickle.dumps((function.__module__, function.__name__, sig))
        code = "import sys; from solver.jit import compile_job; compile_job(sys.stdin.buffer.read())"
        paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
        environment = {**os.environ, "PYTHONPATH": paths, _APART: "1"}
        done = subprocess.run(
            [sys.executable, "-c", code], input=job, env=environment, capture_output=True, check=False
        )
        return done.returncode == 0


def compile_job(job: bytes) -> None:
    """Compiles the kernel that another process asked for: its module, name and argument types, pickled."""
    module, name, sig = pickle.loads(job)
    getattr(importlib.import_module(module), name).compile(sig)


class _LateCache:
    """Stands in for a dispatcher's cache until it is used: what a kernel refers to may be defined after it."""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher

    def _real(self) -> Any:
        try:
            cache: Any = _Cache(self._dispatcher)
        except RuntimeError:  # nowhere to write: compile each time
            from numba.core.caching import NullCache

            cache = NullCache()
        self._dispatcher._cache = cache
        return cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real(), name)


def njit(function: Any = None, **options: Any) -> Any:
    """`numba.njit` with the cache of this module, for use with and without options. C gets no way in: nobody asks."""
    options.setdefault("no_cfunc_wrapper", True)

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = _njit(**options)(function)
        dispatcher._cache = _LateCache(dispatcher)
        ask = dispatcher.get_call_template
        # Else numba compiles a kernel anew for each number that another one hands to it.
        dispatcher.get_call_template = lambda args, kws: ask(
            tuple(types.unliteral(kind) for kind in args),
            {name: types.unliteral(kind) for name, kind in kws.items()},
        )
        return dispatcher

    return decorate if function is None else decorate(function)


def kernel(function: Any) -> Any:
    """Decorator for kernels that make no arrays: numba then leaves out counting references to those they get.

    Counting is atomic, and threads that share an array wait for each other. Arithmetic is fastmath.
    """
    return njit(fastmath=True, _nrt=False)(function)


def lean(function: Any) -> Any:
    """As `kernel` for kernels that make no arrays, with exact arithmetic.

    Small kernels that get many arrays spend most of their time counting references otherwise.
    """
    return njit(_nrt=False)(function)


def inner(function: Any = None, *, fastmath: bool = False, arrays: bool = False) -> Any:
    """Decorator for kernels that only other kernels call, which is less code to compile.

    Division by zero gives what it does in numpy. fastmath: sums may be taken in another order; arrays: whether the
    kernel makes or returns arrays, for otherwise no references are counted.
    """
    options: dict[str, Any] = {"no_cpython_wrapper": True, "error_model": "numpy"}
    if fastmath:
        options["fastmath"] = True
    if not arrays:
        options["_nrt"] = False
    return njit(**options) if function is None else njit(**options)(function)


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


# ---- digests


def _digest(function: Any) -> str:
    """SHA-256 over a function and everything of this project that it refers to, by names and values."""
    digest = hashlib.sha256()
    for text in sorted({_described(thing)[0] for thing in _reached(function)}):
        digest.update(text.encode())
    return digest.hexdigest()


def _reached(function: Any) -> list[Any]:
    """A function or kernel and all those that it refers to, directly or by way of others."""
    found: dict[int, Any] = {}
    queue = [function]
    while queue:
        thing = queue.pop()
        if id(thing) not in found:
            found[id(thing)] = thing
            queue.extend(_described(thing)[1])
    return list(found.values())


def _described(thing: Any) -> tuple[str, list[Any]]:
    """A text that changes when the thing does, and the things it refers to."""
    if isinstance(thing, Dispatcher):
        return f"kernel {sorted(thing.targetoptions.items())!r}", [thing.py_func]
    if isinstance(thing, _Intrinsic):
        # What it generates may come from anywhere in its file.
        return _file_text(inspect.getfile(thing._defn)), []
    if isinstance(thing, FunctionType):
        code, below = _code_text(thing.__code__)
        values = [thing.__globals__[name] for name in sorted(below) if name in thing.__globals__]
        named = [
            f"{name}={_value_text(thing.__globals__[name])}"
            for name in sorted(below)
            if name in thing.__globals__
        ]
        cells = [cell.cell_contents for cell in thing.__closure__ or ()]
        text = (
            f"function {thing.__module__} {thing.__qualname__} {code} {named} {list(map(_value_text, cells))}"
        )
        return text, [value for value in (*values, *cells) if _refers(value)]
    return _value_text(thing), []


def _refers(value: Any) -> bool:
    return isinstance(value, Dispatcher | _Intrinsic | FunctionType)


def _code_text(code: CodeType) -> tuple[str, set[str]]:
    """Bytecode and constants without line numbers or docstring, and all global names in it."""
    names = set(code.co_names)
    constants = []
    for k, constant in enumerate(code.co_consts):
        if isinstance(constant, CodeType):
            text, more = _code_text(constant)
            constants.append(text)
            names |= more
        elif k > 0 or not isinstance(constant, str):
            constants.append(repr(constant))
    return f"{code.co_code.hex()} {constants} {code.co_names} {code.co_varnames} {code.co_freevars}", names


def _value_text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return (
            f"{value.dtype} {value.shape} {hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
        )
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', '')}"
    if isinstance(value, ModuleType | BuiltinFunctionType) or _refers(value) or callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return repr(value)


@lru_cache(maxsize=64)
def _file_text(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
