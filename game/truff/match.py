"""A match of Truff: the score board over a fixed number of deals (R-21, A-10)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

MATCH_DEALS = 13
"""Deals of a match unless the players agree on another number (A-10)."""


@dataclass
class Match:
    """Running totals in points; the highest total after `deals` deals wins."""

    deals: int = MATCH_DEALS
    players: int = 4
    board: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.deals < 1:
            raise ValueError(f"a match has at least one deal, not {self.deals}")

    def add(self, points: Sequence[int]) -> None:
        """Write one deal on the board; ValueError if the match is over or a seat is missing."""
        if self.is_over():
            raise ValueError(f"the match is over after {self.deals} deals")
        if len(points) != self.players:
            raise ValueError(f"points of {self.players} seats are needed, not {len(points)}")
        self.board.append(list(points))

    def is_over(self) -> bool:
        """Whether all deals are played."""
        return len(self.board) == self.deals

    def totals(self) -> list[int]:
        """Points of each seat so far."""
        return [sum(deal[seat] for deal in self.board) for seat in range(self.players)]

    def winners(self) -> list[int]:
        """Seats with the highest total."""
        totals = self.totals()
        return [seat for seat in range(self.players) if totals[seat] == max(totals)]
