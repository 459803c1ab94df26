"""A recorded match judged by a solution: what each decision cost, and what was luck.

Luck is told apart from play as a control variate does it. Along a hand the player's value changes twice over: at
his decisions, from what the solution's mix is worth to what his action is worth, which is *play*; and between them,
by the deal and by what the other does, which is *luck*. The two add up to what the hand brought. If the other plays
the solution and values are exact, luck has mean 0, so play is a less noisy measure of skill than the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from game.truco.equity import EquityTable
from game.truco.hand import MANO, PIE, Hand
from game.truco.record import Record, RecordedHand
from game.truco.spot import Spot
from solver.truco.reading.grading import Grade, Kind, Loss, grade
from solver.truco.reading.solution import UTILITIES, Solution


class Split(NamedTuple):
    """What a hand, or some hands, brought a player in one unit: points, or the chance to win the match."""

    result: float
    """What was won: luck + play."""
    luck: float
    play: float
    error: float
    """Standard error of luck and of play, from simulated values, or a bound of it; 0 where values are stored."""


@dataclass(frozen=True)
class HandReview:
    """One hand of a player."""

    recorded: RecordedHand
    won: tuple[int, int] | None
    """Points of (the player, the other); None if the hand has no end."""
    grades: list[Grade]
    points: Split | None
    """None if the hand has no end, or a value is missing: of a decision, or of the hand before the deal."""
    match: Split | None

    def split(self, unit: str) -> Split | None:
        """The split in `points` or `match`."""
        return self.points if unit == "points" else self.match


@dataclass(frozen=True)
class Review:
    """All decisions of one player of a record."""

    record: Record
    player: int
    hands: list[HandReview]
    unknown: int
    """Hands of which the player's cards are not known."""

    def grades(self) -> list[tuple[HandReview, Grade]]:
        """All decisions, in order."""
        return [(hand, judged) for hand in self.hands for judged in hand.grades]

    def total(self, unit: str) -> tuple[Split, int]:
        """Sum over the hands that could be split, and how many those are."""
        splits = [split for split in (hand.split(unit) for hand in self.hands) if split is not None]
        sums = (sum(parts) for parts in zip(*((s.result, s.luck, s.play) for s in splits), strict=True))
        result, luck, play = sums if splits else (0.0, 0.0, 0.0)
        return Split(result, luck, play, math.hypot(*(s.error for s in splits))), len(splits)


class KindSummary(NamedTuple):
    """Decisions of one kind in one unit."""

    kind: Kind
    decisions: int
    """All of them..."""
    judged: int
    """...and those whose cost is known."""
    cost: float
    """Sum of what they cost."""
    mix_below_best: float
    """Sum of what the solution's mix is worth less there than the best action; 0 for an exact solution."""


def summary(review: Review, unit: str) -> list[KindSummary]:
    """Every kind with its decisions and costs in `points` or `match`, in the order of Kind."""
    rows = []
    for kind in Kind:
        losses = [judged.loss(unit) for _, judged in review.grades() if judged.kind is kind]
        known = [loss for loss in losses if loss is not None]
        cost, rough = sum(loss.cost for loss in known), sum(loss.mix_below_best for loss in known)
        rows.append(KindSummary(kind, len(losses), len(known), cost, rough))
    return rows


def review_record(
    record: Record,
    player: int,
    solution_for: Callable[[tuple[int, int]], Solution],
    equity: EquityTable,
    samples: int = 5_000,
    seed: int = 1,
    progress: Callable[[float], None] = lambda share: None,
) -> Review:
    """Judges a player's decisions (0 or 1, as the record names them) by the solution for each score (mano, pie).

    Values are simulated on so many deals where a solution has none stored. Hands of which the player's cards are not
    known are passed over. Raises ValueError if a solution is of other rules than the record.
    """
    known = [hand for hand in record.hands if hand.cards[player] is not None]
    hands = []
    for number, recorded in enumerate(known):
        progress(number / len(known))
        solution = solution_for(recorded.seat_scores())
        hands.append(_review_hand(record, recorded, player, solution, equity, samples, seed))
    return Review(record, player, hands, len(record.hands) - len(known))


def spots_of(record: Record, recorded: RecordedHand, player: int) -> list[tuple[Spot, int]]:
    """The decisions of a player in a hand of which his cards are known, with what he did."""
    cards, seat = recorded.cards[player], recorded.seat(player)
    assert cards is not None
    hand = recorded.replay(record.rules)
    play = Hand(record.rules, *hand.cards, *hand.start_scores)
    found = []
    for number, (who, action) in enumerate(hand.history):
        if who == seat:
            words = tuple(hand.history[:number])
            shown = play.envido_shown()[1 - seat]
            found.append((Spot(record.rules, seat, cards, recorded.seat_scores(), words, shown), action))
        play.apply(action)
    return found


def _review_hand(
    record: Record,
    recorded: RecordedHand,
    player: int,
    solution: Solution,
    equity: EquityTable,
    samples: int,
    seed: int,
) -> HandReview:
    hand = recorded.replay(record.rules)
    grades = [
        grade(solution, spot, action, equity, samples, seed)
        for spot, action in spots_of(record, recorded, player)
    ]
    seat = recorded.seat(player)
    won = (hand.points_won()[seat], hand.points_won()[1 - seat]) if hand.is_over else None
    points, match = (
        _split(
            [judged.loss(unit) for judged in grades],
            value_before(solution, recorded.seat_scores(), seat, equity, unit),
            _value_after(hand, seat, equity, unit) if hand.is_over else None,
        )
        for unit in UTILITIES
    )
    return HandReview(recorded, won, grades, points, match)


def value_before(
    solution: Solution, scores: tuple[int, int], seat: int, equity: EquityTable, unit: str
) -> float | None:
    """What a hand at a score (mano, pie) is worth to a seat before the deal; None where that is not known.

    The chance to win the match is the equity table's; points are those of the solution, at its own score.
    """
    if unit == "match":
        mano = equity.win_probability(*scores)
        return mano if seat == MANO else 1.0 - mano
    info = solution.info
    if info.utility != "points" or info.score != scores or info.mano_value is None:
        return None
    return info.mano_value if seat == MANO else -info.mano_value


def _value_after(hand: Hand, seat: int, equity: EquityTable, unit: str) -> float:
    if unit == "points":
        won = hand.points_won()
        return float(won[seat] - won[1 - seat])
    mano = equity.after_hand(hand.scores[MANO], hand.scores[PIE])
    return mano if seat == MANO else 1.0 - mano


def _split(losses: list[Loss | None], before: float | None, after: float | None) -> Split | None:
    """Luck and play of a hand whose decisions had these losses."""
    if before is None or after is None:
        return None
    value, luck, play, variance = before, 0.0, 0.0, 0.0
    for loss in losses:
        if loss is None:
            return None
        luck += loss.expected - value
        play += loss.value - loss.expected
        value = loss.value
        variance += loss.error**2
    return Split(after - before, luck + after - value, play, math.sqrt(variance))
