"""How often a solution takes each action at a kind of decision, over all hands: the data of tables and plots.

Every one of the 9,880 hands of the deciding seat is dealt equally often, with random cards for the other; both
seats play the solution, and each time the kind of decision comes up its action mix and values are recorded.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from game.truco.actions import ENVIDO, FALTA_ENVIDO, REAL_ENVIDO, TRUCO, VALE_CUATRO, action_name
from game.truco.cards import DECK_SIZE, TIERS, card_names, envido_value
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
    STATE_SIZE,
    TABLE,
    TRICKS,
    apply,
    deal,
    legal,
    may_open_envido,
    mover,
    rules_vector,
)
from solver.truco.infokey import info_key
from solver.truco.solution import Solution
from solver.truco.table import TRUCO_SLOT, PolicyTable, action_slot, draw, find_row, table_policy

if TYPE_CHECKING:
    import pandas as pd

_ANY = -1
_TURN, _ANSWER_TRUCO, _ANSWER_ENVIDO = range(3)
ACTIONS = ("play", "truco", "envido", "real_envido", "falta_envido", "quiero", "no_quiero", "mazo")
"""What is counted: any card, the next Truco level, and the other words."""
STRENGTH_BINS = 10
HANDS = np.array(list(combinations(range(DECK_SIZE), 3)), np.int32)
"""Every hand of three cards, int32 [9880, 3]."""


def _card_strengths() -> np.ndarray:
    tiers = np.array(TIERS)
    beats = (tiers[:, None] < tiers[None, :]).sum(axis=1)
    ties = (tiers[:, None] == tiers[None, :]).sum(axis=1) - 1
    return (beats + ties / 2) / (DECK_SIZE - 1)


CARD_STRENGTH = _card_strengths()
"""Share of the other 39 cards that each card beats, a parda counting half."""


@dataclass(frozen=True)
class Question:
    """A kind of decision of one seat: its own turn, or its answer to a call."""

    name: str
    seat: int
    decision: int
    trick: int = _ANY
    """On turn: trick 0-2, or any."""
    on_table: int = _ANY
    """On turn: 1 with the other's card on the table, 0 when leading, or any."""
    envido_open: bool = False
    """On turn: whether Envido must be open to the seat."""
    call: int = 0
    """To be answered: the Truco level 2-4, or the Envido chain as `_chain_code` numbers it."""


def turn_question(seat: int, trick: int, on_table: bool | None = None, envido_open: bool = False) -> Question:
    """The seat's own turn in trick 0-2: leading it, with the other's card on the table, or either (None)."""
    where = "" if on_table is None else " after a card" if on_table else " leading"
    name = f"turn in trick {trick + 1}{where}{', Envido open' if envido_open else ''}"
    return Question(name, seat, _TURN, trick, _ANY if on_table is None else int(on_table), envido_open)


def answer_question(seat: int, calls: list[int]) -> Question:
    """The seat's answer to one Truco-family call, or to a chain of Envido calls.

    Raises ValueError when the calls are neither.
    """
    name = "answer to " + " ".join(map(action_name, calls))
    if len(calls) == 1 and TRUCO <= calls[0] <= VALE_CUATRO:
        return Question(name, seat, _ANSWER_TRUCO, call=calls[0] - TRUCO + 2)
    if calls and all(ENVIDO <= call <= FALTA_ENVIDO for call in calls):
        chain = 4 * calls.count(ENVIDO) + 2 * calls.count(REAL_ENVIDO) + calls.count(FALTA_ENVIDO)
        return Question(name, seat, _ANSWER_ENVIDO, call=chain)
    raise ValueError(f"{name}: a call to answer is truco, retruco, vale_cuatro, or a chain of Envido calls")


@njit(cache=True)
def _asks(state: np.ndarray, rules: np.ndarray, question: tuple[int, int, int, int, int, int]) -> bool:
    seat, decision, trick, on_table, envido_open, call = question
    if mover(state) != seat:
        return False
    if state[ENVIDO_STATUS] == ASKED:
        return decision == _ANSWER_ENVIDO and call == 4 * state[PLAIN] + 2 * state[REAL] + state[FALTA]
    if state[PENDING] > 0:
        return decision == _ANSWER_TRUCO and call == state[PENDING]
    return (
        decision == _TURN
        and (trick == _ANY or trick == state[TRICKS])
        and (on_table == _ANY or on_table == (1 if state[TABLE] >= 0 else 0))
        and (envido_open == 0 or may_open_envido(state, rules))
    )


@njit(cache=True)
def _strength(state: np.ndarray, seat: int) -> float:
    """Mean CARD_STRENGTH of the two strongest cards still in play, held or on the table, or of the only one."""
    total, cards = 0.0, 0
    for slot in range(3):
        card = state[CARDS + 3 * seat + slot]
        if cards < 2 and (not (state[PLAYED + seat] >> slot) & 1 or card == state[TABLE]):
            total += CARD_STRENGTH[card]
            cards += 1
    return total / cards


@njit(cache=True)
def _count(
    table: PolicyTable,
    values: np.ndarray,
    rules: np.ndarray,
    scores: tuple[int, int],
    question: tuple[int, int, int, int, int, int],
    hands: np.ndarray,
    rounds: int,
    rng: np.random.Generator,
    sums: np.ndarray,
    seen: np.ndarray,
) -> None:
    """Adds the mix, the values and how many values there were into `sums`, float64 [hands, bins, 3, actions]."""
    seat = question[0]
    deck = np.arange(DECK_SIZE).astype(np.int32)
    cards = np.empty(6, np.int32)
    state = np.empty(STATE_SIZE, np.int32)
    actions = np.empty(MAX_LEGAL, np.int32)
    probs = np.empty(MAX_LEGAL)
    for _ in range(rounds):
        for h in range(len(hands)):
            cards[3 * seat : 3 * seat + 3] = hands[h]
            dealt = 0
            while dealt < 3:
                j = dealt + int(rng.random() * (len(deck) - dealt))
                deck[dealt], deck[j] = deck[j], deck[dealt]
                card = deck[dealt]
                if card != hands[h, 0] and card != hands[h, 1] and card != hands[h, 2]:
                    cards[3 * (1 - seat) + dealt] = card
                    dealt += 1
            deal(state, cards, scores[0], scores[1])
            while state[OVER] == 0:
                n = legal(state, rules, actions)
                known = table_policy(table, state, rules, actions, n, probs)
                if known and _asks(state, rules, question):
                    b = min(STRENGTH_BINS - 1, int(_strength(state, seat) * STRENGTH_BINS))
                    begin = table.start[find_row(table.keys, info_key(state, rules, seat))]
                    seen[h, b] += 1
                    play, worth, best = 0.0, 0.0, -np.inf
                    for i in range(n):
                        slot = action_slot(actions, i)
                        value = values[begin + i]
                        if slot < TRUCO_SLOT:
                            # Playing is worth what the cards chosen are worth, or the best if none ever is.
                            play += probs[i]
                            worth += probs[i] * value
                            best = max(best, value)
                            continue
                        column = slot - TRUCO_SLOT + 1
                        sums[h, b, 0, column] += probs[i]
                        if not np.isnan(value):
                            sums[h, b, 1, column] += value
                            sums[h, b, 2, column] += 1
                    worth = worth / play if play > 0.0 else best
                    sums[h, b, 0, 0] += play
                    if np.isfinite(worth):
                        sums[h, b, 1, 0] += worth
                        sums[h, b, 2, 0] += 1
                apply(state, rules, actions[draw(rng, probs, n)])


@dataclass(frozen=True)
class Census:
    """Counts of one question over all hands."""

    question: Question
    rounds: int
    """Times every hand was dealt."""
    sums: np.ndarray
    """float64 [9880 hands, strength bins, (mix, value, values counted), ACTIONS]."""
    seen: np.ndarray
    """int64 [9880, strength bins], decisions recorded."""

    def by_envido(self) -> pd.DataFrame:
        """A row for each Envido value met: column `envido_value`, then those of `_frame`."""
        return self._grouped("envido_value", self._envido_of_hands()[:, None])

    def by_strength(self) -> pd.DataFrame:
        """A row for each tenth of strength met, `strength` being its lower end."""
        return self._grouped("strength", np.arange(STRENGTH_BINS)[None, :] / STRENGTH_BINS)

    def by_hand(self) -> pd.DataFrame:
        """A row for each hand met, `hand` being its cards from the strongest."""
        names = [card_names(sorted(map(int, hand), key=lambda card: (TIERS[card], card))) for hand in HANDS]
        return self._grouped("hand", np.array(names)[:, None])

    def by_envido_and_strength(self) -> pd.DataFrame:
        """A row for each pair of Envido value and tenth of strength met."""
        envido = np.broadcast_to(self._envido_of_hands()[:, None], self.seen.shape)
        strength = np.broadcast_to(np.arange(STRENGTH_BINS)[None, :] / STRENGTH_BINS, self.seen.shape)
        return self._frame({"envido_value": envido, "strength": strength})

    @staticmethod
    def _envido_of_hands() -> np.ndarray:
        return np.array([envido_value(hand) for hand in HANDS.tolist()])

    def _grouped(self, name: str, labels: np.ndarray) -> pd.DataFrame:
        return self._frame({name: np.broadcast_to(labels, self.seen.shape)})

    def _frame(self, labels: dict[str, np.ndarray]) -> pd.DataFrame:
        """Rows by label: `decisions` recorded, the share of each action, and `ev_` columns, the mean value."""
        import pandas as pd

        flat = {name: values.ravel() for name, values in labels.items()}
        sums = self.sums.reshape(-1, 3, len(ACTIONS))
        columns = {
            f"{kind}_{name}": sums[:, k, i] for k, kind in enumerate("mvn") for i, name in enumerate(ACTIONS)
        }
        cells = pd.DataFrame({**flat, "decisions": self.seen.ravel(), **columns})
        rows = cells[cells["decisions"] > 0].groupby(list(labels), as_index=False).sum()
        frame = rows[[*labels, "decisions"]].copy()
        for name in ACTIONS:
            frame[name] = rows[f"m_{name}"] / rows["decisions"]
        for name in ACTIONS:
            frame[f"ev_{name}"] = rows[f"v_{name}"] / rows[f"n_{name}"].where(rows[f"n_{name}"] > 0)
        return frame


def take_census(solution: Solution, question: Question, rounds: int = 20, seed: int = 1) -> Census:
    """Plays the solution against itself, every hand of the seat `rounds` times, and counts its decisions."""
    sums = np.zeros((len(HANDS), STRENGTH_BINS, 3, len(ACTIONS)))
    seen = np.zeros((len(HANDS), STRENGTH_BINS), np.int64)
    asked = (
        question.seat, question.decision, question.trick, question.on_table, int(question.envido_open), question.call
    )  # fmt: skip
    _count(
        solution.table,
        solution.values,
        rules_vector(solution.rules),
        solution.info.score,
        asked,
        HANDS,
        rounds,
        np.random.default_rng(seed),
        sums,
        seen,
    )
    return Census(question, rounds, sums, seen)
