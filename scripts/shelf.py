"""Which solution plays and judges at which score of a match, without a solve that nobody asked for."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer

from scripts.solutions import SOLVE_SECONDS, find_solution, kept_solution

if TYPE_CHECKING:
    from game.truco.rules import Rules
    from scripts.words import Words
    from solver.truco.reading.solution import Solution

EachScoreOption = Annotated[
    bool,
    typer.Option(
        "--each-score",
        help=f"Solve every score that comes up and is not kept ({SOLVE_SECONDS} s each); else a score that is not "
        "kept is played as 0-0.",
    ),
]


@dataclass
class Shelf:
    """Solutions by score (mano, pie): the given one for all; else the one kept for a score; else that of 0-0.

    The solution of 0-0 is solved if none is kept, and with `each_score` those of other scores too; both say so on
    stderr. Raises ValueError if the given solution is of other rules or, where `whole` hands are to be played by it,
    has no mix for them.
    """

    rules: Rules
    given: Solution | None
    equity: str
    """As in `load_equity`."""
    each_score: bool
    words: Words
    whole: bool = False
    found: dict[tuple[int, int], Solution] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.given is None:
            return
        if self.given.rules != self.rules:
            raise ValueError(f"the solution is for rules {self.given.rules.name()}, not {self.rules.name()}")
        if self.whole and not self.given.complete:
            raise ValueError(
                "the solution keeps trick 1 only and cannot play whole hands; give the policy it was made from, or a "
                "quick solution"
            )

    def at(self, score: tuple[int, int]) -> Solution:
        """The solution that plays at a score (mano, pie)."""
        if self.given is not None:
            return self.given
        if score not in self.found:
            kept = kept_solution(self.rules, score, None, self.equity)
            if kept is None:
                solve = score == (0, 0) or self.each_score
                kept = self._solve(score) if solve else self.at((0, 0))
            self.found[score] = kept
        return self.found[score]

    def line(self, score: tuple[int, int]) -> str:
        """What the solution at a score is, for people."""
        info = self.at(score).info
        exploitability = self.words("solution.not_certified")
        if info.exploitability is not None:
            exploitability = f"{info.exploitability:.3f}"
        return self.words(
            "solution.line",
            engine=info.engine,
            iterations=f"{info.iterations:,}",
            score=f"{info.score[0]}-{info.score[1]}",
            utility=info.utility,
            exploitability=exploitability,
        )

    def _solve(self, score: tuple[int, int]) -> Solution:
        text = f"{score[0]}-{score[1]}"
        print(
            self.words("play.solving", rules=self.rules.name(), score=text, seconds=SOLVE_SECONDS),
            file=sys.stderr,
        )
        return find_solution(None, self.rules, score, None, self.equity)
