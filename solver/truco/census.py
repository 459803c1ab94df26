"""How often a solution takes each action at a kind of decision, over all hands: the data of tables and plots.

Each of the 9,880 hands of the deciding seat is dealt equally often, with random cards for the other. Both seats
play the solution, and whenever one of the kinds of decision comes up, its action mix and the values that the
solution keeps for it are recorded; where it keeps none, each action is played on once from there. Decisions for which
the solution has no mix are counted apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from game.truco.actions import ENVIDO, FALTA_ENVIDO, REAL_ENVIDO, TRUCO, VALE_CUATRO, action_name
from game.truco.cards import DECK_SIZE, TIERS, card_names, envido_value
from game.truco.hand import MANO
from solver.truco.engine import (
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
from solver.truco.infokey import info_key
from solver.truco.playable import Playable
from solver.truco.strategy import Strategy, begin_hand, follow, mix
from solver.truco.table import TRUCO_SLOT, action_slot, choose, find_row
from solver.truco.vector.cursor import CURSOR_SIZE

if TYPE_CHECKING:
    import pandas as pd

ACTIONS = ("play", "truco", "envido", "real_envido", "falta_envido", "quiero", "no_quiero", "mazo")
"""What is counted: any card, the next Truco level, and the other words."""
RARE = 30
"""Fewer recorded decisions than this say little: such rows are marked `rare`."""
ANY = -1
TURN, ANSWER_TRUCO, ANSWER_ENVIDO = range(3)
ENVIDO_VALUES = (*range(8), *range(20, 34))
"""The Envido values that exist (R-20)."""
STRENGTH_BINS = 10
_CHAIN_LIMITS = {ENVIDO: 3, REAL_ENVIDO: 1, FALTA_ENVIDO: 1}


def _hands_by_strength() -> np.ndarray:
    hands = [sorted(hand, key=lambda card: (TIERS[card], card)) for hand in combinations(range(DECK_SIZE), 3)]
    return np.array(sorted(hands, key=lambda hand: [(TIERS[card], card) for card in hand]), np.int32)


HANDS = _hands_by_strength()
"""Every hand of three cards from the strongest, each with its strongest card first; int32 [9880, 3]."""


def _card_points() -> np.ndarray:
    tiers = np.array(TIERS)
    wins = (tiers[:, None] < tiers[None, :]).sum(axis=1)
    pardas = (tiers[:, None] == tiers[None, :]).sum(axis=1) - 1
    return 2 * wins + pardas


CARD_POINTS = _card_points()
"""Two for each of the other 39 cards that a card beats, one for each parda; 78 means it beats all. int64 [40]."""
_MOST_POINTS = 2 * (DECK_SIZE - 1)


@dataclass(frozen=True)
class Question:
    """A kind of decision of one seat: its own turn, or its answer to a call. ANY leaves a condition open."""

    name: str
    seat: int
    decision: int
    """TURN, ANSWER_TRUCO or ANSWER_ENVIDO."""
    trick: int = ANY
    """0-2."""
    on_table: int = ANY
    """On turn: 1 with the other's card on the table, 0 when leading the trick."""
    envido_open: int = ANY
    """1 if the seat may open an Envido, 0 if not."""
    round_value: int = ANY
    """Highest accepted Truco level; on turn, 1 says that no Truco was called yet."""
    call: int = ANY
    """To be answered: the Truco level 2-4; or of an Envido chain, 4 x plain + 2 x Real + Falta."""

    def conditions(self) -> tuple[int, ...]:
        """All but the name, as the kernels take them."""
        return (
            self.seat, self.decision, self.trick, self.on_table, self.envido_open, self.round_value, self.call
        )  # fmt: skip


def turn_question(
    seat: int,
    trick: int,
    on_table: bool | None = None,
    envido_open: bool | None = None,
    round_value: int | None = None,
) -> Question:
    """The seat's own turn in trick 0-2; None leaves a condition open."""
    name = f"own turn in trick {trick + 1}"
    if on_table is not None:
        name += ", after a card" if on_table else ", leading"
    if round_value is not None:
        name += ", no Truco yet" if round_value == 1 else f", round worth {round_value}"
    return Question(
        name + _envido_words(envido_open),
        seat,
        TURN,
        trick,
        _condition(on_table),
        _condition(envido_open),
        _condition(round_value),
    )


def answer_question(seat: int, calls: Sequence[int], envido_open: bool | None = None) -> Question:
    """The seat's answer to one Truco-family call, to a chain of Envido calls, or to any Envido call (no calls).

    `envido_open` tells Truco calls apart before which an Envido may still be called. Raises ValueError when the
    calls are neither.
    """
    words = " ".join(map(action_name, calls))
    name = f"answer to {words or 'any Envido call'}{_envido_words(envido_open)}"
    if len(calls) == 1 and TRUCO <= calls[0] <= VALE_CUATRO:
        level = calls[0] - TRUCO + 2
        return Question(name, seat, ANSWER_TRUCO, envido_open=_condition(envido_open), call=level)
    ascending = list(calls) == sorted(calls)
    if not ascending or any(calls.count(call) > _CHAIN_LIMITS.get(call, 0) for call in calls):
        raise ValueError(
            f"{words!r} cannot be answered: write truco, retruco, vale_cuatro, or a chain of Envido calls that "
            "rises, such as envido real_envido"
        )
    weights = {ENVIDO: 4, REAL_ENVIDO: 2, FALTA_ENVIDO: 1}
    return Question(name, seat, ANSWER_ENVIDO, call=sum(weights[call] for call in calls) if calls else ANY)


def _condition(value: int | None) -> int:
    return ANY if value is None else int(value)


def _envido_words(envido_open: bool | None) -> str:
    return "" if envido_open is None else ", Envido open" if envido_open else ", Envido closed"


@njit(cache=True)
def _holds(condition: int, actual: int) -> bool:
    return condition < 0 or condition == actual  # ANY is the only negative condition


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
def _deal_against(
    state: np.ndarray, hand: np.ndarray, seat: int, scores: tuple[int, int], rng: np.random.Generator
) -> None:
    """A fresh hand in which the seat holds `hand` and the other three random cards of the rest."""
    cards = np.empty(6, np.int32)
    cards[3 * seat : 3 * seat + 3] = hand
    others = cards[3 * (1 - seat) : 3 * (1 - seat) + 3]
    dealt = 0
    while dealt < 3:
        card = int(rng.random() * DECK_SIZE)
        if card not in hand and card not in others[:dealt]:
            others[dealt] = card
            dealt += 1
    deal(state, cards, scores[0], scores[1])


@njit(cache=True)
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


@njit(cache=True)
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
        state[:], cursor[:] = start, before
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


@njit(cache=True)
def _count(
    strategy: Strategy,
    values: np.ndarray,
    utility: np.ndarray,
    rules: np.ndarray,
    scores: tuple[int, int],
    questions: np.ndarray,
    rows: np.ndarray,
    hands: np.ndarray,
    rounds: int,
    rng: np.random.Generator,
    sums: np.ndarray,
    seen: np.ndarray,
    unknown: np.ndarray,
) -> None:
    """Plays every hand `rounds` times and adds each decision asked for to `sums` and `seen`, or to `unknown`.

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
    for _ in range(rounds):
        for h in range(len(hands)):
            _deal_against(state, hands[h], seat, scores, rng)
            begin_hand(strategy, cursor, state)
            while state[OVER] == 0:
                n = legal(state, rules, actions)
                known = mix(strategy, cursor, state, rules, actions, n, probs)
                for q in range(len(questions)):
                    if not asks(state, rules, questions[q]):
                        continue
                    row = rows[q, h, strength_bin(state, seat)]
                    if not known:
                        unknown[q, row] += 1
                        continue
                    if len(values) > 0:
                        table = strategy.table
                        begin = table.start[find_row(table.keys, info_key(state, rules, seat))]
                        worth[:n] = values[begin : begin + n]
                    else:
                        _play_on(strategy, rules, state, cursor, actions, n, utility, rng, worth)
                    _record(probs, worth, actions, n, sums[q, row])
                    seen[q, row] += 1
                action = actions[choose(probs, n, rng.random())]
                follow(strategy, cursor, state, rules, action)
                apply(state, rules, action)


@dataclass(frozen=True)
class Census:
    """Counts of one question."""

    question: Question
    labels: dict[str, np.ndarray]
    """What each row stands for: `envido_value`, `strength` (lower end of the tenth) or `hand`."""
    deals: int
    """Hands played, or all there are."""
    match_values: bool
    """Whether values are match-win probabilities instead of points."""
    sums: np.ndarray
    """float64 [rows, (mix, value, values counted), ACTIONS]."""
    seen: np.ndarray
    """int64 [rows], decisions recorded."""
    unknown: np.ndarray
    """int64 [rows], decisions met for which the solution has no mix."""
    exact: bool = False
    """Whether all deals were counted instead of hands played; decisions are then expected numbers."""

    def frame(self) -> pd.DataFrame:
        """A row for each label that can occur, met or not: the labels, `decisions` recorded, `status` (`ok`, `rare`
        below RARE decisions, `never reached`, or `unsolved` if it was reached but the solution has no mix there), the
        share of each action, and its mean value `ev_...`.

        Values are of the whole hand to the seat, in points or match-win probability, as the solution keeps them
        (hands that share an information key share them) or as simulated. A value is given only for
        actions that were legal at every decision of the row, so that the values of a row compare.
        """
        import pandas as pd

        columns = self._columns(self.sums, self.seen, self.unknown)
        return pd.concat([pd.DataFrame(self.labels), columns], axis=1)

    def actions(self) -> list[str]:
        """Those of ACTIONS that the seat could take at some recorded decision."""
        taken, measured = self.sums[:, 0].sum(axis=0) > 0, self.sums[:, 2].sum(axis=0) > 0
        return [name for name, legal in zip(ACTIONS, taken | measured, strict=True) if legal]

    def total(self) -> pd.DataFrame:
        """One row over all labels, with the columns of `frame` but for the labels."""
        counts = (counts.sum(axis=0, keepdims=True) for counts in (self.sums, self.seen, self.unknown))
        return self._columns(*counts)

    def _columns(self, sums: np.ndarray, seen: np.ndarray, unknown: np.ndarray) -> pd.DataFrame:
        import pandas as pd

        none = np.where(unknown > 0, "unsolved", "never reached")
        status = np.where(seen == 0, none, np.where(seen < RARE, "rare", "ok"))
        mix, worth, counted = sums[:, 0], sums[:, 1], sums[:, 2]
        shares = mix / np.where(seen > 0, seen, np.nan)[:, None]
        always = (counted > 0) & (counted == counted.max(axis=1, keepdims=True))
        values = worth / np.where(always, counted, np.nan)
        if self.match_values:
            values = (1 + values) / 2
        columns = {"decisions": seen, "status": status, **dict(zip(ACTIONS, shares.T, strict=True))}
        return pd.DataFrame(columns | {f"ev_{name}": values[:, i] for i, name in enumerate(ACTIONS)})


def rows_by(by: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Labels of the rows, and the row of each hand and tenth of strength, int64 [9880, STRENGTH_BINS]."""
    shape = (len(HANDS), STRENGTH_BINS)
    tenths = np.arange(STRENGTH_BINS)
    if by == "strength":
        return {"strength": tenths / STRENGTH_BINS}, np.broadcast_to(tenths, shape)
    if by == "hand":
        names = np.array([card_names(hand) for hand in HANDS.tolist()])
        return {"hand": names}, np.broadcast_to(np.arange(len(HANDS))[:, None], shape)
    worth = np.searchsorted(ENVIDO_VALUES, [envido_value(hand) for hand in HANDS.tolist()])[:, None]
    if by == "envido":
        return {"envido_value": np.array(ENVIDO_VALUES)}, np.broadcast_to(worth, shape)
    if by == "envido and strength":
        values, bins = np.meshgrid(ENVIDO_VALUES, tenths / STRENGTH_BINS, indexing="ij")
        return {"envido_value": values.ravel(), "strength": bins.ravel()}, worth * STRENGTH_BINS + tenths
    raise ValueError(f"unknown rows {by!r}, allowed: envido, strength, hand, envido and strength")


def strength_tenth(cards: np.ndarray) -> np.ndarray:
    """Tenth 0-9 of strength of each row of cards, int64 [rows]; as `strength_bin`."""
    points = CARD_POINTS[cards].sum(axis=1)
    return np.minimum(points * STRENGTH_BINS // (_MOST_POINTS * cards.shape[1]), STRENGTH_BINS - 1)


def can_occur(question: Question, rows: np.ndarray) -> np.ndarray:
    """Which rows some hand can fall into at this question, bool [rows]."""
    strongest = {0: [[0, 1]], 1: [[0, 1], [0, 2], [1, 2]], 2: [[0], [1], [2]]}  # slots that count, by trick
    trick = 0 if question.decision == ANSWER_ENVIDO or question.envido_open == 1 else question.trick
    possible = np.zeros(rows.max() + 1, np.bool_)
    for slots in chain.from_iterable(strongest.values()) if trick == ANY else strongest[trick]:
        possible[rows[np.arange(len(HANDS)), strength_tenth(HANDS[:, slots])]] = True
    return possible


def take_census(
    solution: Playable, asked: Sequence[tuple[Question, str]], rounds: int = 20, seed: int = 1
) -> list[Census]:
    """Plays the solution against itself, every hand of the seat `rounds` times, and counts its decisions.

    Each question comes with what its rows are: envido, strength, hand, or "envido and strength"; all are of one
    seat. A solution that can count them exactly does. Same arguments, same counts. Raises ValueError for questions of
    both seats or unknown rows.
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
    kept = solution.values
    worth = utility_table(solution.rules, solution.info.score, solution.equity)
    if not solution.complete:
        worth[:] = np.nan  # hands cannot be played on
    _count(
        solution.strategy,
        np.empty(0, np.float32) if kept is None else kept,
        worth if asked[0][0].seat == MANO else -worth,
        rules_vector(solution.rules),
        solution.info.score,
        np.array([question.conditions() for question, _ in asked]),
        np.array(rows),
        HANDS,
        rounds,
        np.random.default_rng(seed),
        sums,
        seen,
        unknown,
    )
    deals, match_values = rounds * len(HANDS), solution.info.utility == "match"
    censuses = []
    for i, (question, _) in enumerate(asked):
        occurring = np.flatnonzero(can_occur(question, rows[i]))
        names = {name: values[occurring] for name, values in labels[i].items()}
        counts = sums[i, occurring], seen[i, occurring], unknown[i, occurring]
        censuses.append(Census(question, names, deals, match_values, *counts))
    return censuses
