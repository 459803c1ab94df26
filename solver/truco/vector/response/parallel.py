"""Sharing out work to threads: kernels that let go of the interpreter, each with working memory of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Generic, TypeVar

from numba import get_num_threads

Task = TypeVar("Task")
Memory = TypeVar("Memory")


class Workers(Generic[Memory]):
    """As many threads as numba uses; `make` makes the working memory of one, when it is first needed.

    What tasks write must not overlap; then results do not depend on the number of threads.
    """

    def __init__(self, make: Callable[[], Memory]) -> None:
        self._make = make
        self._threads = get_num_threads()
        self._idle: SimpleQueue[Memory] = SimpleQueue()
        self._made = 0

    def share_out(self, work: Callable[[Task, Memory], None], tasks: Sequence[Task]) -> None:
        """Does all tasks, the first ones first. An exception of one of them is raised, and none is begun then."""
        while self._made < min(self._threads, len(tasks)):
            self._idle.put(self._make())
            self._made += 1

        def do(task: Task) -> None:
            memory = self._idle.get()
            try:
                work(task, memory)
            finally:
                self._idle.put(memory)

        if self._threads == 1 or len(tasks) == 1:
            for task in tasks:
                do(task)
            return
        with ThreadPoolExecutor(self._threads) as pool:
            try:
                for _ in pool.map(do, tasks):
                    pass
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
