"""Kinds of decision that tables and plots ask about, the rows they are told by, and the counts that answer them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import TYPE_CHECKING

import numpy as np

from game.truco.actions import ENVIDO, FALTA_ENVIDO, REAL_ENVIDO, TRUCO, VALE_CUATRO, action_name
from game.truco.cards import DECK_SIZE, TIERS, card_names, envido_value

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
