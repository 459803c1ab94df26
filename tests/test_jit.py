"""The cache of compiled kernels, what importing the library leaves alone, and how tasks are shared out to threads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import config

from solver.entry import Entry, call
from solver.jit import dealt_out, lean
from solver.reference import Reference

BELOW = '''
"""A kernel that others call."""
from typing import NamedTuple

import numpy as np
from solver.jit import kernel

FACTOR = 3
TABLE = np.array([1, 2])


@kernel
def scaled(x):
    """Documentation."""
    return FACTOR * x + TABLE[1]
'''
ABOVE = """
from below import scaled
from solver.jit import njit


@njit
def twice(x):
    return scaled(later(x))


@njit
def apart(x):
    return x - 1


@njit
def later(x):
    return x + 1


print(twice(1), apart(1))
"""


@pytest.fixture
def kernels(tmp_path: Path):
    """Runs a module whose kernel calls others, in two files; returns its output and the files of compiled kernels."""
    cache = tmp_path / "cache"

    def run(below: str = BELOW, above: str = ABOVE, folder: str = "source") -> tuple[str, set[str]]:
        source = tmp_path / folder
        source.mkdir(exist_ok=True)
        (source / "below.py").write_text(below)
        (source / "above.py").write_text(above)
        root = Path(__file__).parent.parent
        done = subprocess.run(
            [sys.executable, "above.py"], cwd=source, text=True, capture_output=True, check=False,
            env={"PYTHONPATH": str(root), "NUMBA_CACHE_DIR": str(cache), "HOME": str(tmp_path), "PATH": "",
                 "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.strip(), {path.name for path in cache.glob("*.nbc")}

    return run


def test_a_kernel_is_compiled_anew_when_what_it_calls_has_changed(kernels) -> None:
    out, first = kernels()
    assert out == "8 0"
    assert {name.split("-")[0] for name in first} == {
        "above.twice",
        "above.apart",
        "above.later",
        "below.scaled",
    }
    # A constant of another file, a number in an array, a function defined later.
    for below, above, expected in (
        (BELOW.replace("FACTOR = 3", "FACTOR = 4"), ABOVE, "10 0"),
        (BELOW.replace("[1, 2]", "[1, 5]"), ABOVE, "11 0"),
        (BELOW, ABOVE.replace("return x + 1", "return x + 2"), "11 0"),
        (BELOW.replace("FACTOR * x", "x * FACTOR * FACTOR"), ABOVE, "20 0"),
    ):
        out, files = kernels(below, above)
        assert out == expected
        assert len({name for name in files if name.startswith("above.apart")}) == 1
    assert kernels()[0] == "8 0"


def test_words_lines_and_places_of_the_source_do_not_matter(kernels) -> None:
    _, first = kernels()
    moved = BELOW.replace("Documentation.", "Better documentation.").replace(
        "@kernel", "# a remark\n\n@kernel"
    )
    assert kernels(moved)[1] == first
    assert kernels(folder="elsewhere")[1] == first


def test_processes_that_start_together_compile_a_kernel_once(tmp_path: Path) -> None:
    code = """
import sys, time
from solver.jit import njit

@njit
def below(x):
    return x * x

@njit
def slow(x):
    return below(x) + 1

began = time.time()
assert slow(3) == 10
print(sum(slow._cache_misses.values()) if slow._cache_misses else 0)
"""
    (tmp_path / "run.py").write_text(code)
    root = str(Path(__file__).parent.parent)
    environment = {
        "PYTHONPATH": root,
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "HOME": str(tmp_path),
        "PATH": "",
    }
    started = [
        subprocess.Popen([sys.executable, "run.py"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE)
        for _ in range(4)
    ]
    misses = [int(process.communicate(timeout=120)[0]) for process in started]
    assert sorted(misses) == [0, 0, 0, 1]


def test_fast_arithmetic_is_always_loaded_so_that_the_first_run_has_the_bits_of_the_second(
    tmp_path: Path,
) -> None:
    (tmp_path / "below.py").write_text(BELOW)
    code = "import below; print(below.scaled(2), *(dict(found) for found in below.scaled.stats[-2:]))"
    root = str(Path(__file__).parent.parent)
    environment = {
        "PYTHONPATH": root,
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "HOME": str(tmp_path),
        "PATH": "",
    }
    told = [
        subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        for _ in range(2)
    ]
    assert told[0].stdout == told[1].stdout == "8 {(int64,): 1} {}\n", told[0].stderr


def test_importing_changes_nothing_of_its_host(tmp_path: Path) -> None:
    """Every module of the library; numba and OpenSpiel, which change things of their own, are there before."""
    code = """
import importlib, locale, multiprocessing, os, pkgutil, signal, sys, warnings
import numba, numpy, pyspiel, scipy
import numba.core.caching, numba.extending, open_spiel.python.policy

def host():
    return {
        "environment": dict(os.environ), "folder": os.getcwd(), "filters": list(warnings.filters),
        "signals": [signal.getsignal(number) for number in signal.valid_signals()], "errors": numpy.geterr(),
        "path": list(sys.path), "hooks": (sys.excepthook, list(sys.meta_path)), "depth": sys.getrecursionlimit(),
        "locale": locale.setlocale(locale.LC_ALL), "kernels": numba.config.CACHE_DIR, "scipy": sys.modules["scipy"],
        "threads": numba.config.NUMBA_NUM_THREADS, "luck": numpy.random.get_state()[1].tolist(),
    }

before = host()
import solver, game
names = [
    name
    for package in (game, solver)
    for _, name, _ in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
]
for name in names:
    importlib.import_module(name)
after = host()
assert after == before, [key for key in before if before[key] != after[key]]
print(len(names))
"""
    environment = {"HOME": str(tmp_path), "PATH": "", "PYTHONPATH": str(Path(__file__).parent.parent)}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 60
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_thread_gets_as_much(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "NUMBA_NUM_THREADS", threads)
    work = [float(w) for w in np.random.default_rng(0).permutation(200)]
    order = dealt_out(work)
    assert sorted(order) == list(range(200))
    shares = [sum(work[k] for k in part) for part in np.array_split(order, threads)]
    assert max(shares) - min(shares) <= max(work)
    assert dealt_out([]) == []


class Pair(NamedTuple):
    """Two arrays, as kernels get them."""

    table: np.ndarray
    row: np.ndarray


@lean
def _at(pair: Pair, i: int) -> float:
    return pair.table[1, i] + pair.row[i]


@lean
def _both(pair: Pair, entry: Any) -> tuple[float, float, int]:
    found: float = call(entry, (pair, 2))
    return found, _at(pair, 0) + _at(pair, 1), len(pair.row)


def test_kernels_read_a_reference_as_the_tuple_itself_and_by_address() -> None:
    pair = Pair(np.arange(6.0).reshape(2, 3)[:, ::-1], np.array([10, 20, 30]))
    expected = (33.0, _at.py_func(pair, 0) + _at.py_func(pair, 1), 3)
    for given in (pair, Reference(pair)):
        assert _both(given, Entry(_at, given, 0)) == expected
    assert Reference(pair).value is pair


def test_a_number_handed_to_a_kernel_does_not_make_another_kernel() -> None:
    ones = Reference(Pair(np.ones((2, 3)), np.zeros(3)))
    assert _both(ones, Entry(_at, ones, 0)) == (1.0, 2.0, 3)
    assert not any("Literal" in str(signature) for signature in _at.overloads)
