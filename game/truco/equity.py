"""What a score is worth in a match: the chance that the player who is mano wins from it."""

from __future__ import annotations

import csv
import re
from functools import cache
from itertools import product
from pathlib import Path

# Chance that a hand pays 1, 2 or 3 points in the built-in model; either seat gets them with chance 1/2.
_SIMPLE_POINTS = {1: 0.5, 2: 0.3, 3: 0.2}
_COLUMNS = ["mano_score", "pie_score", "mano_wins"]
_SCORE = re.compile(r"\d+", re.ASCII)
_PROBABILITY = re.compile(r"\d+(\.\d*)?([eE]-?\d+)?|\.\d+", re.ASCII)
_COMPUTED = Path(__file__).parent / "data" / "equity_base.csv"
_COMPUTED_TARGET = 15


class EquityTable:
    """V(a, b): match-win probability of the player who is mano with a points while the other has b.

    `name` says where the values come from. Raises ValueError when a score of 0 to target - 1 is missing or a value
    lies outside 0 to 1.
    """

    def __init__(
        self, target: int, values: dict[tuple[int, int], float], name: str = "a table without a name"
    ) -> None:
        for mano, pie in product(range(target), repeat=2):
            if not 0.0 <= values.get((mano, pie), -1.0) <= 1.0:
                raise ValueError(f"equity table lacks a probability for score {mano}-{pie}")
        self.target = target
        self.name = name
        self._values = values

    def named(self, name: str) -> EquityTable:
        """The same values under another name."""
        return EquityTable(self.target, self._values, name)

    def win_probability(self, mano_score: int, pie_score: int) -> float:
        """Match-win probability of the player who is mano; 1 or 0 once somebody has reached the target."""
        if mano_score >= self.target or pie_score >= self.target:
            return 1.0 if mano_score >= self.target else 0.0
        return self._values[mano_score, pie_score]

    def after_hand(self, mano_score: int, pie_score: int) -> float:
        """Match-win probability of the player who was mano in the hand just ended; the other is mano next."""
        return 1.0 - self.win_probability(pie_score, mano_score)

    def as_pie(self, own_score: int, other_score: int) -> float:
        """Match-win probability of a player with these points who is pie in the hand to come."""
        return 1.0 - self.win_probability(other_score, own_score)

    def mano_gain(self, own_score: int, other_score: int) -> float:
        """What a player with these points gains, in match-win probability, by being mano instead of pie."""
        return self.win_probability(own_score, other_score) - self.as_pie(own_score, other_score)

    def point_gain(self, own_score: int, other_score: int) -> float:
        """What one more point is worth to a player with these points, in match-win probability.

        The mean over being mano and being pie in the hand to come.
        """
        now, more = (
            self.win_probability(own, other_score) + self.as_pie(own, other_score)
            for own in (own_score, own_score + 1)
        )
        return (more - now) / 2.0

    def rows(self) -> list[list[float]]:
        """The values as a table: row = points of the player who is mano, column = points of the other."""
        return [[self._values[a, b] for b in range(self.target)] for a in range(self.target)]


@cache
def simple_equity(target: int) -> EquityTable:
    """Built-in model: each hand pays 1, 2 or 3 points (chance .5, .3, .2) to either seat with equal chance.

    It ignores who is mano and how play depends on the score; it serves targets for which no table is computed.
    """
    table: dict[tuple[int, int], float] = {}

    def value(a: int, b: int) -> float:
        return 1.0 if a >= target else 0.0 if b >= target else table[a, b]

    for a, b in sorted(product(range(target), repeat=2), key=sum, reverse=True):
        table[a, b] = sum(
            chance * (value(a + points, b) + value(a, b + points)) / 2
            for points, chance in _SIMPLE_POINTS.items()
        )
    return EquityTable(target, table, "built-in model")


def _has_computed(target: int) -> bool:
    return target == _COMPUTED_TARGET and _COMPUTED.exists()


@cache
def computed_equity(target: int) -> EquityTable:
    """The table that comes with the package, computed for the rules `base`; the built-in model for other targets, and
    where the package has none.
    """
    if not _has_computed(target):
        return simple_equity(target)
    return _read_table(str(_COMPUTED), target).named("table computed for rules base")


def load_equity(source: str, target: int) -> EquityTable:
    """The table that `computed`, `simple` (the built-in model) or a CSV file names.

    The file begins with the columns mano_score, pie_score, mano_wins (a probability) and has a row for each score;
    lines that start with `#` are comments. Raises ValueError naming the file and what is wrong in it.
    """
    if source == "computed":
        return computed_equity(target)
    return simple_equity(target) if source == "simple" else _read_table(source, target)


def table_facts(source: str, target: int) -> dict[str, str]:
    """What the comment lines `# name: text` of a table say; nothing for the built-in model.

    Raises ValueError if the file cannot be read.
    """
    if source == "simple" or (source == "computed" and not _has_computed(target)):
        return {}
    path = _COMPUTED if source == "computed" else Path(source)
    notes = [line[1:].partition(":") for line in _lines(path) if line[:1] == "#"]
    return {name.strip(): text.strip() for name, _, text in notes if text and name.strip() not in _COLUMNS}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ValueError(f"cannot read equity table {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"equity table {path} is not a text") from None


def _read_table(source: str, target: int) -> EquityTable:
    rows = csv.DictReader(line for line in _lines(Path(source)) if line[:1] != "#")
    values: dict[tuple[int, int], float] = {}
    try:
        if list(rows.fieldnames or [])[:3] != _COLUMNS:
            found = repr(rows.fieldnames)
            raise ValueError(
                f"has columns {found if len(found) < 200 else found[:200] + '...'}, not {_COLUMNS} first"
            )
        for row in rows:
            mano, pie = (int(_word(row, name, _SCORE)) for name in _COLUMNS[:2])
            if max(mano, pie) >= target or (mano, pie) in values:
                raise ValueError(f"score {mano}-{pie} is given twice, or not below the target {target}")
            values[mano, pie] = float(_word(row, _COLUMNS[2], _PROBABILITY))
        return EquityTable(target, values, f"table {source}")
    except (ValueError, csv.Error) as error:
        raise ValueError(f"equity table {source}: {error}") from None


def _word(row: dict[str, str | None], name: str, pattern: re.Pattern[str]) -> str:
    """The cell of a column; ValueError unless it is written as the pattern says."""
    text = (row[name] or "").strip()
    if len(text) > 40 or not pattern.fullmatch(text):
        raise ValueError(f"{name} is {text[:40]!r}, allowed: scores as whole numbers, chances of 0 to 1")
    return text
