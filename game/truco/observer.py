"""What a player knows of a hand, as strings and tensors: the information state and the observation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import pyspiel

from game.truco.actions import ENVIDO, FALTA_ENVIDO, NUM_ACTIONS, action_name
from game.truco.cards import DECK_SIZE, MAX_ENVIDO, card_names
from game.truco.hand import PLAYER_NAMES, Hand
from game.truco.rules import Rules


class ObservedState(Protocol):
    """A state of an OpenSpiel game in which a hand is dealt or played."""

    @property
    def hand(self) -> Hand | None:
        """The hand being played, None while cards are dealt."""

    def dealt_to(self, player: int) -> list[int]:
        """Cards dealt to the player (0 = mano) so far."""


def max_decisions(rules: Rules) -> int:
    """Most actions of the players in one hand: all cards, three answered Truco levels, one Envido chain."""
    return 2 * rules.hand_size + 6 + (rules.max_envido + 3 if rules.envido else 0)


def history_text(hand: Hand) -> str:
    """The public history, each action after the initial of its player: `m:envido p:quiero m:7O`."""
    return " ".join(f"{PLAYER_NAMES[player][0]}:{action_name(action)}" for player, action in hand.history)


def shown_text(hand: Hand) -> str:
    """What an accepted Envido has made public: `27/25`, `27/?` when pie hides a lower value, or nothing."""
    values = "/".join("?" if value is None else str(value) for value in hand.envido_shown())
    return values if hand.envido_accepted else ""


def information_state_text(hand: Hand, player: int) -> str:
    """All the player knows: seat, score at the start, own dealt cards, Envido shown, public history."""
    start = "-".join(map(str, hand.start_scores))
    parts = [PLAYER_NAMES[player], f"score={start}", f"hand={card_names(sorted(hand.cards[player]))}"]
    if hand.hands_shown():
        parts.append(f"other={card_names(sorted(hand.cards[1 - player]))}")
    if hand.envido_accepted:
        parts.append(f"envido={shown_text(hand)}")
    return " ".join([*parts, f"history={history_text(hand)}"])


class _Piece:
    """One named part of an observation: its shape, how to fill it and how to say it."""

    def __init__(
        self,
        name: str,
        shape: tuple[int, ...],
        fill: Callable[[np.ndarray, Hand, int], None],
        text: Callable[[Hand, int], str],
    ) -> None:
        self.name, self.shape, self.fill, self.text = name, shape, fill, text


def _fill_cards(out: np.ndarray, cards: list[int] | tuple[int, ...]) -> None:
    out[list(cards)] = 1


def _fill_shown(out: np.ndarray, hand: Hand, player: int) -> None:
    for who, value in enumerate(hand.envido_shown()):
        if value is not None:
            out[who, value] = 1


def _fill_history(out: np.ndarray, hand: Hand, player: int) -> None:
    for step, (who, action) in enumerate(hand.history):
        out[step, who] = 1
        out[step, 2 + action] = 1


def _fill_scores(out: np.ndarray, hand: Hand, player: int) -> None:
    for who, score in enumerate(hand.scores):
        out[who, score] = 1


def _played(hand: Hand, player: int) -> list[int]:
    return [action for who, action in hand.history if who == player and action < DECK_SIZE]


def _fill_tricks(out: np.ndarray, hand: Hand, player: int) -> None:
    for trick, winner in enumerate(hand.tricks):
        out[trick, winner] = 1  # PARDA, -1, is the last column


def _fill_calls(out: np.ndarray, hand: Hand, player: int) -> None:
    out[hand.round_value - 1] = 1
    if hand.truco_caller is not None:
        out[4 + hand.truco_caller] = 1
    if hand.pending_truco:
        out[6 + hand.pending_truco - 2] = 1
    for call in range(ENVIDO, FALTA_ENVIDO + 1):
        out[9 + call - ENVIDO] = hand.envido_chain.count(call)
    if hand.envido_caller is not None:
        out[12 + hand.envido_caller] = 1
    out[14] = hand.envido_accepted
    mover = hand.to_move
    if mover is not None:
        out[15 + mover] = 1


def _calls_text(hand: Hand, player: int) -> str:
    mover = hand.to_move
    words = [f"value={hand.round_value}", f"move={'-' if mover is None else PLAYER_NAMES[mover]}"]
    if hand.truco_caller is not None:
        words.append(f"truco_by={PLAYER_NAMES[hand.truco_caller]}")
    if hand.pending_truco:
        words.append(f"pending={hand.pending_truco}")
    if hand.envido_chain:
        state = (
            f"called_by_{PLAYER_NAMES[hand.envido_caller]}"
            if hand.envido_caller is not None
            else "accepted"
            if hand.envido_accepted
            else "declined"
        )
        words.append(f"envido={'+'.join(map(action_name, hand.envido_chain))}:{state}")
    return " ".join(words)


def _public_pieces(rules: Rules, perfect_recall: bool) -> list[_Piece]:
    pieces = [
        _Piece(
            "shown_envido",
            (2, MAX_ENVIDO + 1),
            _fill_shown,
            lambda hand, _: f"shown={shown_text(hand)}" if hand.envido_accepted else "",
        ),
        _Piece(
            "scores",
            (2, rules.target + 1),
            _fill_scores,
            lambda hand, _: f"score={hand.scores[0]}-{hand.scores[1]}",
        ),
    ]
    if perfect_recall:
        steps = max_decisions(rules)
        return [
            *pieces,
            _Piece(
                "history",
                (steps, 2 + NUM_ACTIONS),
                _fill_history,
                lambda hand, _: f"history={history_text(hand)}",
            ),
        ]
    for who, name in enumerate(PLAYER_NAMES):
        pieces.append(
            _Piece(
                f"{name}_played",
                (DECK_SIZE,),
                lambda out, hand, _, who=who: _fill_cards(out, _played(hand, who)),  # type: ignore[misc]
                lambda hand, _, who=who, name=name: f"{name}={card_names(_played(hand, who))}",  # type: ignore[misc]
            )
        )
    table = _Piece(
        "table",
        (DECK_SIZE,),
        lambda out, hand, _: _fill_cards(out, hand.table),
        lambda hand, _: f"table={card_names(hand.table)}",
    )
    tricks = _Piece(
        "tricks",
        (rules.hand_size, 3),
        _fill_tricks,
        lambda hand, _: "tricks=" + "".join("mp="[winner] for winner in hand.tricks),
    )
    return [*pieces, table, tricks, _Piece("calls", (17,), _fill_calls, _calls_text)]


def _private_pieces(rules: Rules, perfect_recall: bool) -> list[_Piece]:
    def own(hand: Hand, player: int) -> tuple[int, ...] | list[int]:
        return sorted(hand.cards[player]) if perfect_recall else hand.held(player)

    def other(hand: Hand, player: int) -> list[int]:
        return sorted(hand.cards[1 - player]) if hand.hands_shown() else []

    pieces = [
        _Piece(
            "hand",
            (DECK_SIZE,),
            lambda out, hand, player: _fill_cards(out, own(hand, player)),
            lambda hand, player: f"hand={card_names(own(hand, player))}",
        )
    ]
    if rules.envido_reveal == "hands":
        pieces.append(
            _Piece(
                "other_hand",
                (DECK_SIZE,),
                lambda out, hand, player: _fill_cards(out, other(hand, player)),
                lambda hand, player: f"other={card_names(other(hand, player))}",
            )
        )
    return pieces


class HandObserver:
    """Observer of a hand in OpenSpiel's PyObserver form: `tensor`, `dict`, `set_from`, `string_from`.

    With perfect recall it holds the player's dealt cards and the whole public history, else only what lies on
    the table now. The opponent's hidden cards are in neither. While cards are dealt the player sees his own.
    """

    def __init__(self, rules: Rules, iig_obs_type: Any, params: dict[str, Any] | None) -> None:
        if params:
            raise ValueError(f"observation parameters are not supported: {params}")
        recall = iig_obs_type.perfect_recall
        self._pieces: list[_Piece] = []
        self._recall = recall
        self._private = iig_obs_type.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        self._public = iig_obs_type.public_info
        if self._private:
            self._pieces += _private_pieces(rules, recall)
        if self._public:
            self._pieces += _public_pieces(rules, recall)
        sizes = [2, *(int(np.prod(piece.shape)) for piece in self._pieces)]
        self.tensor = np.zeros(sum(sizes), np.float32)
        parts = np.split(self.tensor, np.cumsum(sizes)[:-1])
        self.dict = {"player": parts[0]}
        for piece, part in zip(self._pieces, parts[1:], strict=True):
            self.dict[piece.name] = part.reshape(piece.shape)

    def set_from(self, state: ObservedState, player: int) -> None:
        """Fills `tensor` (and its views in `dict`) with what the player sees."""
        self.tensor.fill(0)
        self.dict["player"][player] = 1
        if state.hand is None:
            if self._private:
                self.dict["hand"][state.dealt_to(player)] = 1
            return
        for piece in self._pieces:
            piece.fill(self.dict[piece.name], state.hand, player)

    def string_from(self, state: ObservedState, player: int) -> str:
        """What the player sees, as one line."""
        if state.hand is None:
            dealt = card_names(sorted(state.dealt_to(player))) if self._private else ""
            return f"{PLAYER_NAMES[player]} dealt={dealt}"
        if self._recall and self._private and self._public:
            return information_state_text(state.hand, player)
        texts = [piece.text(state.hand, player) for piece in self._pieces]
        return " ".join([PLAYER_NAMES[player], *(text for text in texts if text)])
