"""What a score is worth in a match: the chance that the player who is mano wins from it."""

from __future__ import annotations

import csv
from functools import cache
from itertools import product
from pathlib import Path

# Chance that a hand pays 1, 2 or 3 points in the built-in model; either seat gets them with chance 1/2.
_SIMPLE_POINTS = {1: 0.5, 2: 0.3, 3: 0.2}
_COLUMNS = ["mano_score", "pie_score", "mano_wins"]


class EquityTable:
    """V(a, b): match-win probability of the player who is mano with a points while the other has b.

    Raises ValueError when a score of 0 to target - 1 is missing or a value lies outside 0 to 1.
    """

    def __init__(self, target: int, values: dict[tuple[int, int], float]) -> None:
        for mano, pie in product(range(target), repeat=2):
            if not 0.0 <= values.get((mano, pie), -1.0) <= 1.0:
                raise ValueError(f"equity table lacks a probability for score {mano}-{pie}")
        self.target = target
        self._values = values

    def win_probability(self, mano_score: int, pie_score: int) -> float:
        """Match-win probability of the player who is mano; 1 or 0 once somebody has reached the target."""
        if mano_score >= self.target or pie_score >= self.target:
            return 1.0 if mano_score >= self.target else 0.0
        return self._values[mano_score, pie_score]

    def after_hand(self, mano_score: int, pie_score: int) -> float:
        """Match-win probability of the player who was mano in the hand just ended; the other is mano next."""
        return 1.0 - self.win_probability(pie_score, mano_score)

    def rows(self) -> list[list[float]]:
        """The values as a table: row = points of the player who is mano, column = points of the other."""
        return [[self._values[a, b] for b in range(self.target)] for a in range(self.target)]


@cache
def simple_equity(target: int) -> EquityTable:
    """Built-in model: each hand pays 1, 2 or 3 points (chance .5, .3, .2) to either seat with equal chance.

    It ignores who is mano and how play depends on the score; it stands in until a table is computed.
    """
    table: dict[tuple[int, int], float] = {}

    def value(a: int, b: int) -> float:
        return 1.0 if a >= target else 0.0 if b >= target else table[a, b]

    for a, b in sorted(product(range(target), repeat=2), key=sum, reverse=True):
        table[a, b] = sum(
            chance * (value(a + points, b) + value(a, b + points)) / 2
            for points, chance in _SIMPLE_POINTS.items()
        )
    return EquityTable(target, table)


def load_equity(source: str, target: int) -> EquityTable:
    """The built-in model for `simple`, else the table of a CSV file.

    The file has the columns mano_score, pie_score, mano_wins (a probability) and a row for each score;
    lines that start with `#` are comments. Raises ValueError naming the file and what is wrong in it.
    """
    if source == "simple":
        return simple_equity(target)
    try:
        lines = [line for line in Path(source).read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    except OSError as error:
        raise ValueError(f"cannot read equity table {source}: {error.strerror}") from None
    rows = csv.DictReader(lines)
    if list(rows.fieldnames or []) != _COLUMNS:
        raise ValueError(f"equity table {source} has columns {rows.fieldnames}, not {_COLUMNS}")
    try:
        values = {
            (int(row["mano_score"]), int(row["pie_score"])): float(row["mano_wins"] or "nan") for row in rows
        }
        return EquityTable(target, values)
    except (ValueError, TypeError) as error:
        raise ValueError(f"equity table {source}: {error}") from None
