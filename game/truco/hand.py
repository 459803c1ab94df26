"""One hand of Truco after the deal, as plain Python: whose decision it is, what is legal, what it pays.

A hand has three kinds of decision (Part A7): a TURN (play a card, call, or fold), an answer to a pending
Truco call, and an answer to a pending Envido call. An Envido may interrupt a pending Truco; it is settled
first (R-25). A call never uses up the turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from game.truco.actions import (
    ENVIDO,
    FALTA_ENVIDO,
    MAZO,
    NO_QUIERO,
    QUIERO,
    REAL_ENVIDO,
    RETRUCO,
    TRUCO,
    VALE_CUATRO,
    action_name,
)
from game.truco.cards import DECK_SIZE, card_name, envido_value, tier
from game.truco.rules import Rules

MANO, PIE = 0, 1
PLAYER_NAMES = ("mano", "pie")
PARDA = -1
_ENVIDO_WORTH = {ENVIDO: 2, REAL_ENVIDO: 3}


class Decision(StrEnum):
    """What the player to move is deciding (spec Part B)."""

    TURN = "turn"
    ANSWER_TRUCO = "answer_truco"
    ANSWER_ENVIDO = "answer_envido"


def trick_winner(mano_card: int, pie_card: int) -> int:
    """Player whose card is stronger, or PARDA when both are of one tier (R-10, R-11)."""
    difference = tier(mano_card) - tier(pie_card)
    return PARDA if difference == 0 else MANO if difference < 0 else PIE


def round_winner(tricks: Sequence[int], hand_size: int) -> int | None:
    """Winner of the round by the tricks so far (R-12, Part F for fewer cards), or None while it is open.

    `tricks` holds the winner of each finished trick, or PARDA.
    """
    lead = tricks.count(MANO) - tricks.count(PIE)
    if lead and len(tricks) >= 2:
        return MANO if lead > 0 else PIE
    if len(tricks) < hand_size:
        return None
    return tricks[0] if tricks[0] != PARDA else MANO


class Hand:
    """State of one hand; player 0 is mano, 1 is pie. `apply` changes it in place, `copy` makes another.

    Scores are the match scores of (mano, pie) in points; the hand stops the instant one reaches the target
    (R-2). Raises ValueError when a hand does not fit the rules or a score is outside 0 to target - 1.
    """

    def __init__(
        self,
        rules: Rules,
        mano_cards: Sequence[int],
        pie_cards: Sequence[int],
        mano_score: int = 0,
        pie_score: int = 0,
    ) -> None:
        cards = (tuple(mano_cards), tuple(pie_cards))
        for player, dealt in enumerate(cards):
            if len(dealt) != rules.hand_size:
                raise ValueError(f"{PLAYER_NAMES[player]} holds {len(dealt)} cards, not {rules.hand_size}")
            for card in dealt:
                if card not in rules.deck:
                    raise ValueError(f"card {card_name(card)} is not in the deck")
                if (cards[0] + cards[1]).count(card) > 1:
                    raise ValueError(f"card {card_name(card)} is dealt twice")
        if not (0 <= mano_score < rules.target and 0 <= pie_score < rules.target):
            raise ValueError(f"score {mano_score}-{pie_score} is outside 0 to {rules.target - 1}")
        self.rules = rules
        self.cards: tuple[tuple[int, ...], tuple[int, ...]] = cards
        """The dealt cards of each player."""
        self.start_scores = (mano_score, pie_score)
        self.scores = (mano_score, pie_score)
        self.history: list[tuple[int, int]] = []
        """(player, action) in the order done."""
        self.is_over = False
        self.tricks: list[int] = []
        """Winner of each finished trick, or PARDA."""
        self.table: list[int] = []
        """Cards lying in the unfinished trick."""
        self.on_turn = MANO
        """Who must play the next card once every call is settled."""
        self.round_value = 1
        """Value of the highest accepted Truco level (R-16)."""
        self.pending_truco = 0
        """Level of the unanswered Truco-family call, 0 if none."""
        self.truco_caller: int | None = None
        """Who made the latest Truco-family call."""
        self.envido_chain: list[int] = []
        """Envido-family calls so far, in order."""
        self.envido_caller: int | None = None
        """Who made the latest Envido-family call, while it is unanswered."""
        self.envido_accepted = False

    @property
    def to_move(self) -> int | None:
        """Player to decide, None once the hand is over."""
        if self.is_over:
            return None
        if self.envido_caller is not None:
            return 1 - self.envido_caller
        if self.pending_truco and self.truco_caller is not None:
            return 1 - self.truco_caller
        return self.on_turn

    @property
    def decision(self) -> Decision:
        """Kind of decision that is due."""
        if self.envido_caller is not None:
            return Decision.ANSWER_ENVIDO
        return Decision.ANSWER_TRUCO if self.pending_truco else Decision.TURN

    def held(self, player: int) -> list[int]:
        """Cards the player has not played yet, ascending."""
        played = {action for who, action in self.history if who == player}
        return sorted(card for card in self.cards[player] if card not in played)

    def points_won(self) -> tuple[int, int]:
        """Points (mano, pie) made in this hand so far, clamped at the target (A-16)."""
        return self.scores[0] - self.start_scores[0], self.scores[1] - self.start_scores[1]

    def envido_shown(self) -> tuple[int | None, int | None]:
        """Envido values (mano, pie) that are public, None where not (A-2)."""
        if not self.envido_accepted:
            return None, None
        mano, pie = envido_value(self.cards[MANO]), envido_value(self.cards[PIE])
        hidden = self.rules.envido_reveal == "buenas" and mano >= pie
        return mano, None if hidden else pie

    def hands_shown(self) -> bool:
        """Whether both dealt hands are public (`envido_reveal = hands` after an accepted Envido)."""
        return self.envido_accepted and self.rules.envido_reveal == "hands"

    def legal_actions(self) -> list[int]:
        """Legal action numbers, ascending; empty once the hand is over (spec Part B)."""
        if self.is_over:
            return []
        decision = self.decision
        if decision is Decision.ANSWER_ENVIDO:
            return [*self._envido_calls(), QUIERO, NO_QUIERO, MAZO]
        envido = self._envido_calls() if self._may_open_envido() else []
        if decision is Decision.ANSWER_TRUCO:
            raises = [TRUCO + self.pending_truco - 1] if self.pending_truco < 4 else []
            return [*raises, *envido, QUIERO, NO_QUIERO, MAZO]
        call = [TRUCO + self.round_value - 1] if self._may_call_truco() else []
        return [*self.held(self.on_turn), *call, *envido, MAZO]

    def apply(self, action: int) -> None:
        """Plays the action for the player to move; an illegal one raises ValueError and changes nothing."""
        player = self.to_move
        if player is None or action not in self.legal_actions():
            allowed = ", ".join(action_name(legal) for legal in self.legal_actions()) or "none, it is over"
            name = action_name(action) if 0 <= action <= MAZO else str(action)
            raise ValueError(f"{name} is not legal here, legal: {allowed}")
        decision = self.decision
        self.history.append((player, action))
        if action == MAZO:
            self._fold(player, decision)
        elif action < DECK_SIZE:
            self._play(player, action)
        elif action in (TRUCO, RETRUCO, VALE_CUATRO):
            # A raise accepts the level before it; for a call on turn that level is accepted already.
            self.round_value = action - TRUCO + 1
            self.pending_truco = action - TRUCO + 2
            self.truco_caller = player
        elif action in (ENVIDO, REAL_ENVIDO, FALTA_ENVIDO):
            self.envido_chain.append(action)
            self.envido_caller = player
        elif decision is Decision.ANSWER_ENVIDO:
            self._settle_envido(accepted=action == QUIERO)
        else:
            self._answer_truco(player, accepted=action == QUIERO)

    def copy(self) -> Hand:
        """An independent hand in the same state."""
        other = object.__new__(Hand)
        other.__dict__.update(self.__dict__)
        for name in ("history", "tricks", "table", "envido_chain"):
            setattr(other, name, list(getattr(self, name)))
        return other

    def __deepcopy__(self, memo: dict[int, object]) -> Hand:
        """OpenSpiel clones states by deep copy; dealt cards and rules never change and are shared."""
        return self.copy()

    def _may_call_truco(self) -> bool:
        if self.round_value == 4:
            return False
        # After Quiero, `alternate` leaves the next level to who accepted.
        return self.rules.raise_right == "any" or self.truco_caller != self.on_turn

    def _may_open_envido(self) -> bool:
        window = self.rules.envido and not self.tricks and not self.envido_chain
        return window and (self.round_value == 1 or self.rules.envido_after_truco == "allow")

    def _envido_calls(self) -> list[int]:
        """Calls that may stand next: E up to `max_envido` times, RE once, FE once, never down (A-11)."""
        if FALTA_ENVIDO in self.envido_chain:
            return []
        if REAL_ENVIDO in self.envido_chain:
            return [FALTA_ENVIDO]
        plain = [ENVIDO] if len(self.envido_chain) < self.rules.max_envido else []
        return [*plain, REAL_ENVIDO, FALTA_ENVIDO]

    def _award(self, player: int, points: int) -> None:
        scores = list(self.scores)
        scores[player] = min(self.rules.target, scores[player] + points)
        self.scores = (scores[0], scores[1])
        if scores[player] == self.rules.target:
            self.is_over = True

    def _end_round(self, winner: int, points: int) -> None:
        self._award(winner, points)
        self.is_over = True

    def _play(self, player: int, card: int) -> None:
        self.table.append(card)
        if len(self.table) < 2:
            self.on_turn = 1 - player
            return
        mano_card, pie_card = self.table if player == PIE else reversed(self.table)
        self.tricks.append(trick_winner(mano_card, pie_card))
        self.table = []
        self.on_turn = MANO if self.tricks[-1] == PARDA else self.tricks[-1]
        winner = round_winner(self.tricks, self.rules.hand_size)
        if winner is not None:
            self._end_round(winner, self.round_value)

    def _answer_truco(self, player: int, accepted: bool) -> None:
        if not accepted:
            self._end_round(1 - player, self.round_value)
            return
        self.round_value = self.pending_truco
        self.pending_truco = 0

    def _settle_envido(self, accepted: bool) -> None:
        caller = self.envido_caller
        assert caller is not None
        self.envido_caller = None
        if not accepted:
            self._award(caller, self._declined_worth())
            return
        self.envido_accepted = True
        winner = MANO if envido_value(self.cards[MANO]) >= envido_value(self.cards[PIE]) else PIE
        self._award(winner, self._accepted_worth())

    def _declined_worth(self) -> int:
        """What the chain was worth before its last call, at least 1 (R-23)."""
        return max(1, sum(_ENVIDO_WORTH[call] for call in self.envido_chain[:-1]))

    def _accepted_worth(self) -> int:
        """What the chain pays when accepted (R-22)."""
        if self.envido_chain[-1] != FALTA_ENVIDO:
            return sum(_ENVIDO_WORTH[call] for call in self.envido_chain)
        best = max(self.scores)
        goal = 15 if self.rules.falta == "malas_buenas" and best < 15 else self.rules.target
        added = (
            sum(_ENVIDO_WORTH[call] for call in self.envido_chain[:-1])
            if self.rules.falta_accept == "adds"
            else 0
        )
        return goal - best + added

    def _fold(self, player: int, decision: Decision) -> None:
        points = self.round_value
        if decision is Decision.ANSWER_ENVIDO and self.rules.fold_vs_envido == "both":
            points += self._declined_worth()
        if decision is Decision.TURN and self._may_open_envido():
            points += self.rules.first_trick_fold_bonus
        self._end_round(1 - player, points)
