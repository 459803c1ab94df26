"""What advice, tables, plots and duels need of a solution, and how to open a file of either engine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from game.truco.equity import EquityTable
from game.truco.rules import Rules
from game.truco.spot import Spot
from solver.storage import OtherKindError
from solver.truco.solution import SolutionInfo, load_solution
from solver.truco.strategy import Strategy

if TYPE_CHECKING:
    from solver.truco.census import Census, Question


class Playable(Protocol):
    """A solution of one hand, whichever engine found it."""

    @property
    def info(self) -> SolutionInfo:
        """What it is of and how it was found."""

    @property
    def rules(self) -> Rules:
        """The rules it was solved for."""

    @property
    def equity(self) -> EquityTable | None:
        """Worth of the scores after the hand, None where the utility is points."""

    @property
    def strategy(self) -> Strategy:
        """What the kernels play by."""

    @property
    def values(self) -> np.ndarray | None:
        """Values beside the probabilities of the strategy's table; None where they have to be simulated."""

    @property
    def complete(self) -> bool:
        """Whether it has a mix wherever its own play leads, so that hands can be played to their end."""

    @property
    def remark(self) -> str:
        """What a reader of its advice has to know, or nothing."""

    def at(self, spot: Spot) -> Playable:
        """The solution for a spot: itself, or with the rest of the hand solved anew."""

    def worth(self, spot: Spot) -> dict[int, float] | None:
        """Exact utility of each action for the average hand that it takes for alike; None: it has to be simulated."""

    def counts(self, asked: Sequence[tuple[Question, str]]) -> list[Census] | None:
        """Exact counts for questions and kinds of rows, as `census.take_census`; None: hands have to be played."""

    def trusts(self, row: int) -> bool:
        """Whether the mix in a row of the strategy's table (-1: none) is to be believed off the own play."""


def load_playable(path: str | os.PathLike[str]) -> Playable:
    """Opens a solution of the quick engine or a policy of the vector engine, whole or compact.

    Raises StorageError (a ValueError) with the reason if it is neither or cannot be trusted.
    """
    try:
        return load_solution(path)
    except OtherKindError as error:
        from solver.truco.vector.compact import COMPACT
        from solver.truco.vector.files import POLICY
        from solver.truco.vector.solution import load_compact_solution, load_vector_solution

        loaders = {POLICY: load_vector_solution, COMPACT: load_compact_solution}
        if error.kind not in loaders:
            raise
        return loaders[error.kind](path)
