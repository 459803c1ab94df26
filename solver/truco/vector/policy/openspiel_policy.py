"""The average strategy of the vector engine as an OpenSpiel policy over `python_truco` states."""

from __future__ import annotations

from typing import Any

from open_spiel.python import policy

from solver.truco.hand.openspiel_policy import load_hand_game
from solver.truco.vector.cfr.average import Tables
from solver.truco.vector.model.game import Game
from solver.truco.vector.policy.locate import action_mix


class VectorPolicy(policy.Policy):
    """Tables of a Game as a policy; mazo gets 0 where the engine leaves it out. Small decks work too."""

    def __init__(self, game: Game, tables: Tables) -> None:
        super().__init__(load_hand_game(game.rules, game.score), [0, 1])
        self._tables = tables
        self._truco = game

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        """Probability of each legal action of a `python_truco` state at which a player is to move.

        The score of the state may be another than the tables'. Raises ValueError as `lookup.locate`.
        """
        return action_mix(self._truco, self._tables, state.hand)
