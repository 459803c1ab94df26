"""Fingerprints of what the vector engine computes on two small decks: for comparing bits before and after a change.

`python -m tests.pins FILE` writes them as JSON; `python -m tests.pins FILE --compare` says which differ. Regrets and
sums are hashed after four iterations; values of best responses are written as exact hexadecimal floats. Bits depend
on the processor, since numba uses the widest vectors there are, so both runs belong on one machine.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from game.truco.equity import simple_equity
from game.truco.rules import make_rules
from solver.truco.vector.cfr.average import Policy
from solver.truco.vector.cfr.evaluate import policy_value
from solver.truco.vector.cfr.run import iterate
from solver.truco.vector.cfr.solver import VectorSolver
from solver.truco.vector.model.abstraction import Abstraction
from solver.truco.vector.model.game import Game
from solver.truco.vector.response.cards.response import best_response
from solver.truco.vector.response.tiers.response import tier_response

DECKS = {"pairs": "1E 7E 3O 3E 4B 4E", "seven": "1E 4E 4C 4B 5B 6E 7E"}
CHAINS = ("none", "calls", "exact")
UTILITIES = ("points", "match")
ITERATIONS = 4


def games() -> Iterator[tuple[str, Game]]:
    """Each deck with each chain setting and utility; contexts and values differ by round value."""
    for deck, cards in DECKS.items():
        for chains in CHAINS:
            for utility in UTILITIES:
                rules = make_rules("base", {"deck": cards, "target": 4, "max_envido": 2})
                values = "asked" if chains == "calls" else "five"
                merges = Abstraction(
                    ("opening", "caller", "none", "none"), (values, "five", "none", "none"), (chains,) * 4
                )
                equity = simple_equity(4) if utility == "match" else None
                yield f"{deck} {chains} {utility}", Game(rules, (0, 0), equity, merges)


def fingerprint(game: Game) -> dict[str, Any]:
    """What is pinned of a game."""
    solver = VectorSolver(game)
    iterate(solver, ITERATIONS)
    tables = {
        "trunk regrets": np.concatenate([table.ravel() for table in solver.trunk_regrets]),
        "trunk sums": np.concatenate([table.ravel() for table in solver.trunk_sums]),
        "position regrets": solver.position_regrets,
        "position sums": solver.position_sums,
        "regrets": solver.regrets,
        "sums": solver.sums,
    }
    found: dict[str, Any] = {
        name: hashlib.sha256(np.ascontiguousarray(table).tobytes()).hexdigest()[:16]
        for name, table in tables.items()
    }
    policy = Policy.of(solver)
    for player, seat in enumerate(("mano", "pie")):
        found[f"{seat} tiers"] = tier_response(policy, player).value.hex()
        found[f"{seat} cards"] = best_response(policy, player).value.hex()
    found["value"] = policy_value(policy).hex()
    solver.trim(0.05)
    found["trimmed sums"] = hashlib.sha256(solver.sums.tobytes()).hexdigest()[:16]
    return found


def main(path: Path, compare: bool) -> int:
    """Writes or compares; the number of differences."""
    found = {name: fingerprint(game) for name, game in games()}
    if not compare:
        path.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    before = json.loads(path.read_text())
    wrong = [
        f"{name}: {what} is {value}, was {before[name][what]}"
        for name, part in found.items()
        for what, value in part.items()
        if before[name][what] != value
    ]
    print("\n".join(wrong) or f"all {sum(map(len, found.values()))} fingerprints are equal")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(min(1, main(Path(sys.argv[1]), "--compare" in sys.argv[2:])))
