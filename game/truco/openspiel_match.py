"""The OpenSpiel game `python_truco_match`: hands with mano alternating until a seat reaches the target.

Players are the two seats. Chance may flip for the first mano, then deals each hand one card at a time, mano's
cards first. The winner of the match gets 1, the other -1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel

from game.truco.actions import NUM_ACTIONS, action_name
from game.truco.cards import card_name, card_names
from game.truco.hand import Hand
from game.truco.match import Match
from game.truco.observer import HandObserver, history_text, information_state_text, max_decisions
from game.truco.openspiel_hand import (
    GAME_TYPE_FIELDS,
    RULES_PARAMETERS,
    deck_parameter,
    rules_from_parameters,
)
from game.truco.rules import Rules

_FLIP = -1
"""Value of `first_mano` that leaves the first mano to chance (A-1)."""
_GAME_TYPE = pyspiel.GameType(
    short_name="python_truco_match",
    long_name="Python Truco (match)",
    provides_information_state_tensor=False,
    parameter_specification=RULES_PARAMETERS | {"first_mano": _FLIP, "score0": 0, "score1": 0},
    **GAME_TYPE_FIELDS,
)


class TrucoMatchGame(pyspiel.Game):
    """`python_truco_match`: rules as in `python_truco`, `first_mano` 0, 1 or -1 (a coin flip), `score0` and `score1`.

    Raises ValueError on an unknown preset, field value, first mano or score.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        params = params or {}
        self.rules = rules_from_parameters(params)
        self.first_mano = params.get("first_mano", _FLIP)
        if self.first_mano not in (_FLIP, 0, 1):
            raise ValueError(f"first_mano is {self.first_mano}, allowed: 0, 1, or -1 for a coin flip")
        self.scores = (params.get("score0", 0), params.get("score1", 0))
        Match(self.rules, 0, self.scores)  # refuses scores outside the match
        # Each hand pays somebody at least one point.
        most_hands = 2 * self.rules.target - 1 - sum(self.scores)
        info = pyspiel.GameInfo(
            num_distinct_actions=NUM_ACTIONS,
            max_chance_outcomes=max(2, max(self.rules.deck) + 1),
            num_players=2,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=most_hands * max_decisions(self.rules),
        )
        super().__init__(_GAME_TYPE, info, params | {"deck": deck_parameter(self.rules)})

    def new_initial_state(self) -> TrucoMatchState:
        """The state before the first deal."""
        return TrucoMatchState(self, self.rules, self.first_mano, self.scores)

    def make_py_observer(
        self, iig_obs_type: Any = None, params: dict[str, Any] | None = None
    ) -> MatchObserver:
        """Observer of the states of this game; without a type, the observation (no perfect recall)."""
        return MatchObserver(
            self.rules, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), params
        )


class TrucoMatchState(pyspiel.State):
    """A match at the flip for the first mano, in a deal, or in a hand."""

    def __init__(self, game: TrucoMatchGame, rules: Rules, first_mano: int, scores: tuple[int, int]) -> None:
        super().__init__(game)
        self._size = rules.hand_size
        self.flip_due = first_mano == _FLIP
        """Whether chance still has to choose the first mano."""
        self.match = Match(rules, max(first_mano, 0), scores)
        self.dealt: list[int] = []
        """Cards of the coming hand dealt so far, in dealing order."""

    @property
    def hand(self) -> Hand | None:
        """The hand being played, None while cards are dealt; after the match its last hand."""
        if self.match.winner is not None:
            return self.match.finished[-1]
        return self.match.hand

    def mano_seat(self) -> int:
        """Seat that is mano in the hand observed now."""
        if self.match.winner is not None:
            return self.match.mano_of(len(self.match.finished) - 1)
        return self.match.mano_seat

    def dealt_to(self, player: int) -> list[int]:
        """Cards dealt so far to the player (0 = mano) in the coming hand, in dealing order."""
        return self.dealt[player * self._size : (player + 1) * self._size]

    def current_player(self) -> int:
        """Seat to move, or OpenSpiel's id for chance or the end."""
        if self.match.winner is not None:
            return pyspiel.PlayerId.TERMINAL
        mover = self.match.to_move
        return pyspiel.PlayerId.CHANCE if mover is None else mover

    def _legal_actions(self, player: int) -> list[int]:
        assert self.match.hand is not None
        return self.match.hand.legal_actions()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The seat that is mano first, then each card left in the deck, with equal chances."""
        if self.flip_due:
            return [(0, 0.5), (1, 0.5)]
        left = [card for card in self.match.rules.deck if card not in self.dealt]
        return [(card, 1.0 / len(left)) for card in left]

    def _apply_action(self, action: int) -> None:
        if self.match.hand is not None:
            self.match.apply(action)
        elif self.flip_due:
            self.flip_due = False
            self.match.mano_seat = action
        else:
            self.dealt.append(action)
            if len(self.dealt) == 2 * self._size:
                self.match.deal(self.dealt_to(0), self.dealt_to(1))
                self.dealt = []

    def _action_to_string(self, player: int, action: int) -> str:
        if player != pyspiel.PlayerId.CHANCE:
            return action_name(action)
        return f"seat {action} is mano" if self.flip_due else card_name(action)

    def is_terminal(self) -> bool:
        """Whether a seat has reached the target."""
        return self.match.winner is not None

    def returns(self) -> list[float]:
        """1 for the seat that won the match and -1 for the other; zeros before."""
        winner = self.match.winner
        return [0.0, 0.0] if winner is None else [1.0 - 2.0 * winner, 2.0 * winner - 1.0]

    def __str__(self) -> str:
        """Scores, both hands and the public history; for debugging, it shows hidden cards."""
        score = "{}-{}".format(*self.match.scores)
        if self.hand is None:
            return f"{score} {card_names(self.dealt)}"
        cards = " | ".join(card_names(cards) for cards in self.hand.cards)
        return f"{score} mano {self.mano_seat()} | {cards} | {history_text(self.hand)}"


class MatchObserver:
    """Observer of a TrucoMatchState: the seat, then what it sees of the hand being played.

    The information state adds what the seat knows of every finished hand; it has no tensor.
    """

    def __init__(self, rules: Rules, iig_obs_type: Any, params: dict[str, Any] | None) -> None:
        self._recall = iig_obs_type.perfect_recall
        self._private = iig_obs_type.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        self._hand = HandObserver(rules, iig_obs_type, params)
        self.tensor = np.zeros(2 + len(self._hand.tensor), np.float32)
        self.dict = {"seat": self.tensor[:2], "hand": self.tensor[2:]}

    def set_from(self, state: TrucoMatchState, player: int) -> None:
        """Fills `tensor` with what the seat sees."""
        self._hand.set_from(state, player ^ state.mano_seat())
        self.tensor[2:] = self._hand.tensor
        self.tensor[:2] = np.eye(2)[player]

    def string_from(self, state: TrucoMatchState, player: int) -> str:
        """What the seat sees, as one line; with perfect recall, a line of every hand parted by semicolons."""
        if state.flip_due:
            return f"seat {player}"
        score = "{}-{}".format(*state.match.scores)
        now = self._hand.string_from(state, player ^ state.mano_seat())
        if not self._recall:
            return f"seat {player} {score} {now}"
        if not self._private:
            raise ValueError("the match has no history without the private cards; ask without perfect recall")
        hands = [
            information_state_text(hand, player ^ state.match.mano_of(number))
            for number, hand in enumerate(state.match.finished)
        ]
        return "; ".join([f"seat {player} {score}", *hands, *([] if state.is_terminal() else [now])])


pyspiel.register_game(_GAME_TYPE, TrucoMatchGame)
