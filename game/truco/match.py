"""A match of Truco: hands one after another with mano alternating, up to the target (R-1 to R-4)."""

from __future__ import annotations

import random
from collections.abc import Sequence

from game.truco.hand import Hand
from game.truco.rules import Rules


class Match:
    """Scores and hands of two seats 0 and 1; `deal` starts a hand, `apply` plays on and books its points.

    Raises ValueError when a seat is not 0 or 1, or a score is outside 0 to target - 1.
    """

    def __init__(self, rules: Rules, first_mano: int = 0, scores: tuple[int, int] = (0, 0)) -> None:
        if first_mano not in (0, 1):
            raise ValueError(f"first_mano is {first_mano!r}, allowed: seat 0 or 1")
        for score in scores:
            if not 0 <= score < rules.target:
                raise ValueError(f"score {score} is outside 0 to {rules.target - 1}")
        self.rules = rules
        self.scores = scores
        """Points of (seat 0, seat 1), up to date within a hand."""
        self.mano_seat = first_mano
        """Seat that is mano in the hand being played, or in the next one between hands."""
        self.hand: Hand | None = None
        """The hand being played; None between hands and after the match."""
        self.finished: list[Hand] = []
        """Hands played to their end, in order."""

    @property
    def winner(self) -> int | None:
        """Seat that has reached the target, None while the match goes on."""
        return next((seat for seat in (0, 1) if self.scores[seat] >= self.rules.target), None)

    @property
    def to_move(self) -> int | None:
        """Seat to decide; None when a deal is due or the match is over."""
        mover = self.hand.to_move if self.hand else None
        return None if mover is None else self.in_hand(mover)

    def in_hand(self, seat: int) -> int:
        """Player number (0 = mano) of a seat in this hand, and the seat of a player number."""
        return seat ^ self.mano_seat

    def deal(self, mano_cards: Sequence[int], pie_cards: Sequence[int]) -> None:
        """Starts the next hand with these cards; ValueError if a hand is going on or the match is over."""
        if self.hand is not None or self.winner is not None:
            raise ValueError("no deal is due")
        mano_score, pie_score = self.scores[self.mano_seat], self.scores[1 - self.mano_seat]
        self.hand = Hand(self.rules, mano_cards, pie_cards, mano_score, pie_score)

    def deal_random(self, rng: random.Random) -> None:
        """Starts the next hand with random cards."""
        size = self.rules.hand_size
        cards = rng.sample(self.rules.deck, 2 * size)
        self.deal(cards[:size], cards[size:])

    def apply(self, action: int) -> None:
        """Plays an action for the seat to move; after a finished hand mano passes to the other seat."""
        if self.hand is None:
            raise ValueError("no hand is going on")
        self.hand.apply(action)
        self.scores = (self.hand.scores[self.in_hand(0)], self.hand.scores[self.in_hand(1)])
        if self.hand.is_over:
            self.finished.append(self.hand)
            self.hand = None
            self.mano_seat = 1 - self.mano_seat

    def mano_of(self, hand_number: int) -> int:
        """Seat that was mano in a finished hand (numbered from 0)."""
        return self.mano_seat ^ ((len(self.finished) - hand_number) & 1)

    def copy(self) -> Match:
        """An independent match in the same state."""
        other = object.__new__(Match)
        other.__dict__.update(self.__dict__)
        other.finished = list(self.finished)
        other.hand = self.hand.copy() if self.hand else None
        return other

    def __deepcopy__(self, memo: dict[int, object]) -> Match:
        """OpenSpiel clones states by deep copy; finished hands never change and are shared."""
        return self.copy()
