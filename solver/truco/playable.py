"""What advice, tables, plots and duels need of a solution, and how to open a file of either engine."""

from __future__ import annotations

import os
from typing import Protocol

import numpy as np

from game.truco.equity import EquityTable
from game.truco.rules import Rules
from solver.storage import OtherKindError
from solver.truco.solution import SolutionInfo, load_solution
from solver.truco.strategy import Strategy


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

    def trusts(self, row: int) -> bool:
        """Whether the mix in a row of the strategy's table (-1: none) is to be believed off the own play."""


def load_playable(path: str | os.PathLike[str]) -> Playable:
    """Opens a solution of the quick engine or a policy of the vector engine.

    Raises StorageError (a ValueError) with the reason if it is neither or cannot be trusted.
    """
    try:
        return load_solution(path)
    except OtherKindError as error:
        from solver.truco.vector.files import POLICY

        if error.kind != POLICY:
            raise
    from solver.truco.vector.solution import load_vector_solution

    return load_vector_solution(path)
