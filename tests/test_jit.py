"""How tasks are shared out to numba's threads."""

from __future__ import annotations

import numpy as np
import pytest
from numba import config

from solver.jit import dealt_out


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_thread_gets_as_much(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "NUMBA_NUM_THREADS", threads)
    work = [float(w) for w in np.random.default_rng(0).permutation(200)]
    order = dealt_out(work)
    assert sorted(order) == list(range(200))
    shares = [sum(work[k] for k in part) for part in np.array_split(order, threads)]
    assert max(shares) - min(shares) <= max(work)
    assert dealt_out([]) == []
