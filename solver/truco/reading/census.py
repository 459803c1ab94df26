"""How often a solution takes each action at a kind of decision, over all hands: the data of tables and plots.

Each of the 9,880 hands of the deciding seat is dealt equally often, with random cards for the other. Both seats
play the solution, and whenever one of the kinds of decision comes up, its action mix and the values that the
solution keeps for it are recorded; where it keeps none, each action is played on once from there. Decisions for which
the solution has no mix are counted apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from game.truco.cards import DECK_SIZE
from game.truco.hand import MANO
from solver.jit import lean, njit
from solver.truco.hand.engine import (
    ASKED,
    CARDS,
    ENVIDO_STATUS,
    FALTA,
    MAX_LEGAL,
    OVER,
    PENDING,
    PLAIN,
    PLAYED,
    REAL,
    SCORE,
    STATE_SIZE,
    TABLE,
    TRICKS,
    VALUE,
    apply,
    deal,
    legal,
    may_open_envido,
    mover,
    rules_vector,
    utility_table,
)
from solver.truco.hand.table import TRUCO_SLOT, action_slot, choose
from solver.truco.reading.questions import (
    _MOST_POINTS,
    ACTIONS,
    ANSWER_ENVIDO,
    ANSWER_TRUCO,
    CARD_POINTS,
    HANDS,
    STRENGTH_BINS,
    TURN,
    Census,
    Question,
    can_occur,
    rows_by,
)
from solver.truco.reading.solution import Solution
from solver.truco.reading.strategy import Strategy, begin_hand, follow, mix, mix_row
from solver.truco.vector.policy.cursor import CURSOR_SIZE

_NO_VALUES = np.empty(0, np.float32)
_NO_VALUES.flags.writeable = False  # as those of a file are: numba compiles for one type only


@lean
def _holds(condition: int, actual: int) -> bool:
    return condition < 0 or condition == actual  # ANY is the only negative condition


@lean
def asks(state: np.ndarray, rules: np.ndarray, conditions: np.ndarray) -> bool:
    """Whether the decision due in the state is of the kind with these `Question.conditions`."""
    seat, decision, trick, on_table, envido_open, round_value, call = conditions
    if mover(state) != seat:
        return False
    if state[ENVIDO_STATUS] == ASKED:
        chain = 4 * state[PLAIN] + 2 * state[REAL] + state[FALTA]
        return decision == ANSWER_ENVIDO and _holds(call, chain)
    if not _holds(envido_open, int(may_open_envido(state, rules))):
        return False
    if state[PENDING] > 0:
        return decision == ANSWER_TRUCO and call == state[PENDING]
    return (
        decision == TURN
        and _holds(trick, state[TRICKS])
        and _holds(on_table, int(state[TABLE] >= 0))
        and _holds(round_value, state[VALUE])
    )


@lean
def strength_bin(state: np.ndarray, seat: int) -> int:
    """Tenth 0-9 of the seat's strength: the share of the other cards that its two strongest cards still in play
    (held or on the table), or its only one, beat on average, a parda counting half.
    """
    points, cards = 0, 0
    for slot in range(3):
        card = state[CARDS + 3 * seat + slot]
        if cards < 2 and (not (state[PLAYED + seat] >> slot) & 1 or card == state[TABLE]):
            points += CARD_POINTS[card]
            cards += 1
    return min(STRENGTH_BINS - 1, points * STRENGTH_BINS // (_MOST_POINTS * cards))


@njit
def _deal_against(
    state: np.ndarray, hand: np.ndarray, seat: int, scores: tuple[int, int], rng: np.random.Generator
) -> None:
    """A fresh hand in which the seat holds `hand` and the other three random cards of the rest."""
    cards = np.empty(6, np.int32)
    for i in range(3):
        cards[3 * seat + i] = hand[i]
    begin, dealt = 3 * (1 - seat), 0
    while dealt < 3:
        card = int(rng.random() * DECK_SIZE)
        new = True
        for i in range(3):
            new &= card != hand[i] and (i >= dealt or card != cards[begin + i])
        if new:
            cards[begin + dealt] = card
            dealt += 1
    deal(state, cards, scores[0], scores[1])


@lean
def _record(probs: np.ndarray, values: np.ndarray, actions: np.ndarray, n: int, sums: np.ndarray) -> None:
    """Adds one decision to `sums`, float64 [3, ACTIONS]: the mix, the values, and how many values there were.

    Playing is worth what the cards are worth that the mix plays, or the best of them if it plays none.
    """
    play, worth, best = 0.0, 0.0, -np.inf
    for i in range(n):
        slot = action_slot(actions, i)
        if slot < TRUCO_SLOT:
            play += probs[i]
            worth += probs[i] * values[i]
            best = max(best, values[i])
            continue
        column = slot - TRUCO_SLOT + 1
        sums[0, column] += probs[i]
        if not np.isnan(values[i]):
            sums[1, column] += values[i]
            sums[2, column] += 1
    worth = worth / play if play > 0.0 else best
    sums[0, 0] += play
    if np.isfinite(worth):
        sums[1, 0] += worth
        sums[2, 0] += 1


@njit
def _play_on(
    strategy: Strategy,
    rules: np.ndarray,
    start: np.ndarray,
    before: np.ndarray,
    actions: np.ndarray,
    n: int,
    utility: np.ndarray,
    rng: np.random.Generator,
    out: np.ndarray,
) -> None:
    """Plays the hand in state `start`, cursor `before`, to its end after each of `actions[:n]`; what it came to goes
    to `out`.
    """
    state, cursor = np.empty(STATE_SIZE, np.int32), np.empty(CURSOR_SIZE, np.int64)
    choices, probs = np.empty(MAX_LEGAL, np.int32), np.empty(MAX_LEGAL)
    for i in range(n):
        for k in range(STATE_SIZE):
            state[k] = start[k]
        for k in range(CURSOR_SIZE):
            cursor[k] = before[k]
        action = actions[i]
        follow(strategy, cursor, state, rules, action)
        apply(state, rules, action)
        while state[OVER] == 0:
            m = legal(state, rules, choices)
            mix(strategy, cursor, state, rules, choices, m, probs)
            action = choices[choose(probs, m, rng.random())]
            follow(strategy, cursor, state, rules, action)
            apply(state, rules, action)
        out[i] = utility[state[SCORE], state[SCORE + 1]]


@njit
def _count(
    strategy: Strategy,
    values: np.ndarray,
    utility: np.ndarray,
    rules: np.ndarray,
    scores: tuple[int, int],
    questions: np.ndarray,
    rows: np.ndarray,
    hands: np.ndarray,
    rng: np.random.Generator,
    sums: np.ndarray,
    seen: np.ndarray,
    unknown: np.ndarray,
) -> None:
    """Plays every hand once and adds each decision asked for to `sums` and `seen`, or to `unknown`.

    `values` are those beside the strategy's table; without any they are simulated, in `utility` (float64 [target + 1,
    target + 1]) of the seat. `questions` is int64 [questions, conditions] of one seat, `rows` int64 [questions, 9880,
    bins] the row that a decision counts in, `sums` float64 [questions, rows, 3, ACTIONS], `seen` and `unknown` int64
    [questions, rows].
    """
    seat = questions[0, 0]
    state = np.empty(STATE_SIZE, np.int32)
    actions = np.empty(MAX_LEGAL, np.int32)
    probs, worth = np.empty(MAX_LEGAL), np.empty(MAX_LEGAL)
    cursor = np.empty(CURSOR_SIZE, np.int64)
    for h in range(len(hands)):
        _deal_against(state, hands[h], seat, scores, rng)
        begin_hand(strategy, cursor, state)
        while state[OVER] == 0:
            n = legal(state, rules, actions)
            found = mix_row(strategy, cursor, state, rules, actions, n, probs)
            for q in range(len(questions)):
                if not asks(state, rules, questions[q]):
                    continue
                row = rows[q, h, strength_bin(state, seat)]
                if found < 0:
                    unknown[q, row] += 1
                    continue
                if len(values) > 0:
                    begin = strategy.table.start[found]
                    for i in range(n):
                        worth[i] = values[begin + i]
                else:
                    _play_on(strategy, rules, state, cursor, actions, n, utility, rng, worth)
                _record(probs, worth, actions, n, sums[q, row])
                seen[q, row] += 1
            action = actions[choose(probs, n, rng.random())]
            follow(strategy, cursor, state, rules, action)
            apply(state, rules, action)


def take_census(
    solution: Solution,
    asked: Sequence[tuple[Question, str]],
    rounds: int = 20,
    seed: int = 1,
    progress: Callable[[float], None] = lambda done: None,
) -> list[Census]:
    """Plays the solution against itself, every hand of the seat `rounds` times, and counts its decisions.

    Each question comes with what its rows are: envido, strength, hand, or "envido and strength"; all are of one
    seat. A solution that can count them exactly does. Same arguments, same counts. `progress` is told the share of
    the rounds done. Raises ValueError for questions of both seats or unknown rows.
    """
    if len({question.seat for question, _ in asked}) != 1:
        raise ValueError("a census asks one seat")
    counted = solution.counts(asked)
    if counted is not None:
        return counted
    labels, rows = zip(*(rows_by(by) for _, by in asked), strict=True)
    sizes = [len(next(iter(names.values()))) for names in labels]
    sums = np.zeros((len(asked), max(sizes), 3, len(ACTIONS)))
    seen = np.zeros((len(asked), max(sizes)), np.int64)
    unknown = np.zeros_like(seen)
    worth = utility_table(solution.rules, solution.info.score, solution.equity)
    if not solution.complete:
        worth[:] = np.nan  # hands cannot be played on
    strategy, values = solution.strategy, _NO_VALUES if solution.values is None else solution.values
    utility = worth if asked[0][0].seat == MANO else -worth
    rules, rng = rules_vector(solution.rules), np.random.default_rng(seed)
    conditions, row_of = np.array([question.conditions() for question, _ in asked]), np.array(rows)
    for done in range(rounds):
        progress(done / rounds)
        _count(
            strategy, values, utility, rules, solution.info.score, conditions, row_of, HANDS, rng,
            sums, seen, unknown,
        )  # fmt: skip
    progress(1.0)
    deals, match_values = rounds * len(HANDS), solution.info.utility == "match"
    censuses = []
    for i, (question, _) in enumerate(asked):
        occurring = np.flatnonzero(can_occur(question, rows[i]))
        names = {name: values[occurring] for name, values in labels[i].items()}
        counts = sums[i, occurring], seen[i, occurring], unknown[i, occurring]
        censuses.append(Census(question, names, deals, match_values, *counts))
    return censuses
