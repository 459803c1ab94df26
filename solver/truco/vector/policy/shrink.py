"""Makes a compact policy from a whole one: rounds mixes and worth, drops what play seldom reaches."""

from __future__ import annotations

import numpy as np

from game.truco.actions import action_name
from solver.truco.vector.cfr.average import Policy, shares
from solver.truco.vector.cfr.evaluate import Evaluator
from solver.truco.vector.cfr.schedule import schedule_step
from solver.truco.vector.model.trees import Trunk
from solver.truco.vector.policy.compact import LEVELS, CompactFacts, CompactPolicy, kept_of
from solver.truco.vector.policy.files import StoredPolicy
from solver.truco.vector.policy.reach import PositionReach, TrunkReach

_STEPS = 30_000
"""Steps from no worth to the largest."""


def compact_policy(stored: StoredPolicy, least: float, exploitability: float | None = None) -> CompactPolicy:
    """Rounds and drops: infosets are kept that their own play reaches with probability `least` or more, and the other
    side's, given the own holding and the values shown. Takes memory for two more sets of tables.
    """
    game, tables = stored.game, stored.tables
    weight = sum(schedule_step(stored.info.schedule, t).average for t in range(1, stored.info.iterations + 1))

    def rounded(sums: np.ndarray, other: np.ndarray) -> np.ndarray:
        """A table [actions, ...] in 255ths; `other` is the other's reach, [...]."""
        own = sums.sum(axis=0)
        keep = (own >= least * weight) & (own > 0) & (other >= least)
        return np.where(keep, np.rint(LEVELS * shares(sums)), 0).astype(np.uint8).reshape(len(sums), -1)

    rounded_tables, worth = [], []
    walk = TrunkReach(game.holdings, game.trunk, tables.trunk_sums)
    for gain, here in zip(Evaluator(game).gains(Policy(game, tables)), walk, strict=True):
        rounded_tables.append(rounded(here.sums, here.other))
        mass = (here.other * here.share).reshape(-1)
        mass = np.where(rounded_tables[-1].any(axis=0) & (mass > 0), mass, np.inf)
        worth.append(gain.reshape(len(gain), -1) / mass)
    for _, sums, other in PositionReach(game, tables.position_sums, walk.leaves):
        rounded_tables.append(rounded(sums, other))
    step = max(float(np.abs(table).max(initial=0.0)) for table in worth) / _STEPS or 1.0
    arrays = kept_of(rounded_tables, [np.rint(table / step).astype(np.int16) for table in worth])
    infosets = sum(table.shape[1] for table in rounded_tables)
    facts = CompactFacts(least, 0.5 / LEVELS, len(arrays.holding), infosets, step, exploitability)
    return CompactPolicy(stored.info, facts, trunk_histories(game.trunk), arrays)


def trunk_histories(trunk: Trunk) -> tuple[str, ...]:
    """The history of each node as words; `compact.history_key` of what was done so far."""
    found = [""] * len(trunk.nodes)
    for number, node in enumerate(trunk.nodes):
        words = ["card"] * node.plays + [action_name(word) for word in node.words]
        for word, (kind, target) in zip(words, node.children, strict=True):
            if kind == "node":
                found[target] = f"{found[number]} {word}".strip()
    return tuple(found)
