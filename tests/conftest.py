"""What several test modules share: a small solution of the full hand, solved once; and the order of test files."""

import os
from pathlib import Path

import numba
import pytest

from game.truco.rules import PRESETS
from solver.truco.quick.solver import QuickSolver
from solver.truco.solutions.quick_solution import QuickSolution, load_quick_solution

HEAVY = ("test_vector_certify", "test_vector_lookup", "test_vector_command", "test_vector")
"""Files that compile or compute most, first, so that no worker is left with one of them at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Heavy files first; within a file the order stays."""

    def rank(item: pytest.Item) -> int:
        return next((k for k, name in enumerate(HEAVY) if item.path.name.startswith(name)), len(HEAVY))

    items.sort(key=rank)


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Files of tests that run side by side take a core each; tests of threads ask for more themselves."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        numba.set_num_threads(1)


@pytest.fixture(scope="session")
def quick_solution_file(tmp_path_factory) -> Path:
    """A solution of the base rules at 0-0 after 120 iterations, as a file."""
    solver = QuickSolver(PRESETS["base"])
    for _ in range(120):
        solver.step()
    path = tmp_path_factory.mktemp("solutions") / "quick.truco"
    solver.solution(deals=20_000).save(path)
    return path


@pytest.fixture(scope="session")
def quick_solution(quick_solution_file) -> QuickSolution:
    """The same, read from its file as the commands read it."""
    return load_quick_solution(quick_solution_file)
