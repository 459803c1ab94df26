"""Trains an opponent against frozen strategies of every score: a lower bound on what a perfect opponent wins.

The deviator learns by the quick engine's traversals while the other seat plays its stored strategy. It remembers no
more than the strategies do, and training is finite, so a perfect opponent wins at least as much. It is trained,
accepted and measured on different deals, so that no number is the best of several tries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from game.truco.equity import EquityTable
from game.truco.rules import Rules
from solver.truco.hand.engine import rules_vector, utility_table
from solver.truco.hand.table import NUM_SLOTS, PolicyTable
from solver.truco.match.equity_states import Score, StateValue, ends_at, successors_of, sweep_order
from solver.truco.match.equity_sweep import mean_win, state_seed
from solver.truco.match.selfplay import final_scores
from solver.truco.quick.solver import (
    BATCH,
    PRUNE_BELOW,
    Index,
    fill_hash,
    new_index,
    new_rows,
    pack,
    traverse,
    with_room,
)

_FAINT = 1e-6
"""Weight of the stored strategy among the deviator's regrets: it decides only where nothing was learnt."""


@dataclass(frozen=True)
class DeviatorValue:
    """What the deviator wins from a score (mano, pie); probabilities to win the match."""

    as_mano: float
    """When the deviator is mano in the hand to come..."""
    as_pie: float
    """...and when it is pie."""
    error_as_mano: float
    """Standard errors of the hand to come, by sampling alone."""
    error_as_pie: float
    deviates: tuple[bool, bool]
    """Whether it plays a trained strategy as mano, as pie, in the hand to come; else the stored one."""


def train_deviator(
    rules: Rules,
    table: PolicyTable,
    score: Score,
    player: int,
    equity: EquityTable,
    iterations: int,
    seed: int,
) -> PolicyTable:
    """A strategy of `player` (0 mano, 1 pie) against the table, trained on so many batches of sampled deals.

    `equity` values the scores after the hand for the utility of mano, as in a solve. Raises MemoryError when there
    are more information keys than the engine has room for.
    """
    other_index, other_rows = _loaded(table)
    own_index, own_rows = _loaded(table)
    own_rows *= np.float32(_FAINT)
    utility = utility_table(rules, score, equity)
    prune = -PRUNE_BELOW * float(np.abs(utility[score[0] :, score[1] :]).max())
    rng, scratch = np.random.default_rng([seed, player]), new_rows()
    for iteration in range(1, iterations + 1):
        mean = traverse(
            player, BATCH[player], own_index, own_rows, own_rows, other_index, other_rows, scratch,
            float(iteration), prune, rules_vector(rules), score, utility, rng,
        )  # fmt: skip
        if np.isnan(mean):
            raise MemoryError("more information keys than there is room for")
        own_index, other_index = with_room(own_index), with_room(other_index)
    mix = np.maximum(own_rows, np.float32(0.0))
    mix[:, NUM_SLOTS:] = 0.0
    trained, _, _ = pack([own_index], [mix], [new_rows()])
    return trained


def _loaded(table: PolicyTable) -> tuple[Index, np.ndarray]:
    """The table as an index and rows beside it."""
    index, rows = new_index(), new_rows()
    n = len(table.keys)
    if n >= len(index.keys):
        raise MemoryError("more information keys than there is room for")
    index.keys[:n], index.slots[:n], index.used[0] = table.keys, table.slots, n
    size = len(index.hash_keys)
    while size < 4 * n:
        size *= 2
    index = index._replace(hash_keys=np.full(size, -1, np.int64), hash_rows=np.zeros(size, np.int32))
    fill_hash(index)
    row, slot = np.nonzero((table.slots[:, None] >> np.arange(NUM_SLOTS, dtype=np.uint16)) & 1)
    rows[row, slot] = table.probs
    return index, rows


def exploit(
    rules: Rules,
    states: Mapping[Score, StateValue],
    table_of: Callable[[Score], PolicyTable],
    iterations: int,
    pairs: int,
    least: int = 0,
    seed: int = 1,
    show: Callable[[float, Score], None] = lambda share, score: None,
) -> dict[Score, DeviatorValue]:
    """Backward induction over all scores of a deviator against the strategies that `table_of` reads.

    It deviates where both seats have `least` points or more, and plays the stored strategy elsewhere. Needs states
    with measured ends (quick engine).
    """
    target = rules.target
    found: dict[Score, DeviatorValue] = {}
    order = sweep_order(target)
    chosen = [score for score in order if min(score) >= least]
    for score in order:
        # What the frozen player wins after the hand, when it is mano there: as a table that `after_hand` reads.
        as_mano = _continuation(target, score, {at: 1.0 - value.as_pie for at, value in found.items()})
        as_pie = _continuation(target, score, {at: value.as_mano for at, value in found.items()})
        by_stored = _stored_value(states[score], as_mano), 1.0 - _stored_value(states[score], as_pie)
        value = DeviatorValue(
            *by_stored, states[score].standard_error, states[score].standard_error, (False, False)
        )
        if score in chosen:
            show(chosen.index(score) / len(chosen), score)
            value = _deviate(rules, table_of(score), score, (as_mano, as_pie), value, iterations, pairs, seed)
        found[score] = value
    return found


def _continuation(target: int, score: Score, values: dict[Score, float]) -> EquityTable:
    after = successors_of(score, target, values)
    assert after is not None
    every = dict.fromkeys(sweep_order(target), 0.5)
    return EquityTable(target, every | after)


def _stored_value(state: StateValue, equity: EquityTable) -> float:
    """Mano's chance when both play the stored strategy in this hand."""
    return sum(share * equity.after_hand(*ends_at(end)) for end, share in state.ends.items())


def _deviate(
    rules: Rules,
    table: PolicyTable,
    score: Score,
    equities: tuple[EquityTable, EquityTable],
    value: DeviatorValue,
    iterations: int,
    pairs: int,
    seed: int,
) -> DeviatorValue:
    """Trains both seats; takes a trained strategy that wins more on the first deals, measured on the second."""
    luck = state_seed(seed, score)
    wins, errors, taken = (
        [value.as_mano, value.as_pie],
        [value.error_as_mano, value.error_as_pie],
        [False, False],
    )
    for player, equity in enumerate(equities):
        trained = train_deviator(rules, table, score, player, equity, iterations, luck)
        seats = (trained, table) if player == 0 else (table, trained)
        measured = []
        for number in (1, 2):
            mean, error = mean_win(final_scores(rules, *seats, score, pairs, luck + number), equity)
            measured.append((mean if player == 0 else 1.0 - mean, error))
        if measured[0][0] > wins[player]:
            wins[player], errors[player] = measured[1]
            taken[player] = True
    return replace(
        value, as_mano=wins[0], as_pie=wins[1], error_as_mano=errors[0], error_as_pie=errors[1],
        deviates=(taken[0], taken[1]),
    )  # fmt: skip
