"""A hand as one seat sees it: own cards, score, the words spoken and cards played so far; and its decisions."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import combinations

from game.truco.actions import action_name, parse_action
from game.truco.cards import DECK_SIZE, envido_value
from game.truco.hand import MANO, PIE, PLAYER_NAMES, Decision, Hand
from game.truco.rules import Rules

_TWO_WORDS = re.compile(r"\b(no|real|falta|vale)[\s-]+(quiero|envido|cuatro)\b", re.IGNORECASE)
_LONG_CARD = re.compile(r"\b(\w+)\s+de\s+(\w+)\b", re.IGNORECASE)


def parse_history(text: str) -> list[tuple[int | None, int]]:
    """(player, action) of each word of a history such as `envido no_quiero 7O 3C`, parted by spaces or commas.

    A word may carry its player, `m:envido` or `p:no_quiero`; otherwise the player is None and follows from the
    rules. Raises ValueError naming the word that is no action.
    """
    joined = _LONG_CARD.sub(r"\1~de~\2", _TWO_WORDS.sub(r"\1_\2", text))
    words = []
    for number, word in enumerate(filter(None, re.split(r"[\s,]+", joined)), start=1):
        speaker = {"m:": MANO, "p:": PIE}.get(word[:2].lower())
        try:
            action = parse_action((word if speaker is None else word[2:]).replace("~", " "))
        except ValueError as error:
            raise ValueError(f"history word {number}: {error}") from None
        words.append((speaker, action))
    return words


@dataclass(frozen=True)
class SeenHand:
    """What one seat knows of a hand, at any point of it and after its end.

    `shown` is the other seat's Envido value if an accepted Envido made it public, else None. Raises ValueError
    naming the word of the history that cannot be, with what could stand there; or why no hand of the other seat
    fits.
    """

    rules: Rules
    seat: int
    """0 = mano, 1 = pie."""
    cards: tuple[int, ...]
    scores: tuple[int, int]
    """Match points of (mano, pie) before the hand."""
    words: tuple[tuple[int | None, int], ...]
    """The history as (player if it was said, action)."""
    shown: int | None = None
    others: list[tuple[int, ...]] = field(init=False, repr=False, compare=False)
    """Every hand the other seat can hold."""
    hand: Hand = field(init=False, repr=False, compare=False)
    """The hand after the history, the other seat holding the first of `others`."""

    def __post_init__(self) -> None:
        if self.rules.envido_reveal == "hands":
            raise ValueError(
                "a spot plays envido_reveal values or buenas; with hands nothing is left to guess"
            )
        if len(self.cards) != self.rules.hand_size:
            raise ValueError(
                f"{PLAYER_NAMES[self.seat]} holds {len(self.cards)} cards, not {self.rules.hand_size}"
            )
        foreign = dict.fromkeys(a for a in self.history if a < DECK_SIZE and a not in self.cards)
        # More cards than the other can hold are refused when the walk comes to the one too many.
        played = list(foreign)[: self.rules.hand_size]
        others, hand = self._walk(self._hands_with(played))
        object.__setattr__(self, "others", others)
        object.__setattr__(self, "hand", hand)

    @property
    def history(self) -> tuple[int, ...]:
        """The actions so far."""
        return tuple(action for _, action in self.words)

    def deal(self, other: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Cards of (mano, pie) when the other seat holds `other`."""
        return (self.cards, other) if self.seat == MANO else (other, self.cards)

    def _hands_with(self, played: list[int]) -> list[tuple[int, ...]]:
        known = set(self.cards) | set(played)
        free = [card for card in self.rules.deck if card not in known]
        return [(*played, *rest) for rest in combinations(free, self.rules.hand_size - len(played))]

    def _walk(self, others: list[tuple[int, ...]]) -> tuple[list[tuple[int, ...]], Hand]:
        """The other's possible hands after the history, and the hand with the first of them."""
        hand = Hand(self.rules, *self.deal(others[0]), *self.scores)
        for number, (speaker, action) in enumerate(self.words, start=1):
            legal = hand.legal_actions()
            if speaker is not None and hand.to_move not in (None, speaker):
                raise ValueError(
                    f"history word {number}, {action_name(action)}, is given to {PLAYER_NAMES[speaker]}, but it is "
                    f"the turn of {PLAYER_NAMES[1 - speaker]}"
                )
            if action not in legal:
                raise ValueError(
                    f"history word {number}, {action_name(action)}, is not legal there; "
                    f"legal: {self._legal_words(hand, legal)}"
                )
            was_accepted = hand.envido_accepted
            hand.apply(action)
            if hand.envido_accepted and not was_accepted:
                # Who won the Envido can change the score and end the match: go on with a hand that fits.
                others = [cards for cards in others if self._fits(cards)]
                if not others:
                    raise ValueError(self._no_fit())
                hand = Hand(self.rules, *self.deal(others[0]), *self.scores)
                for earlier in self.history[:number]:
                    hand.apply(earlier)
        if self.shown is not None and not hand.envido_accepted:
            raise ValueError(f"no Envido was accepted in this history, so nobody showed {self.shown}")
        return others, hand

    def _legal_words(self, hand: Hand, legal: list[int]) -> str:
        if hand.is_over:
            return "nothing, the hand is over"
        mover = hand.to_move
        assert mover is not None
        names = [action_name(action) for action in legal if action >= DECK_SIZE or mover == self.seat]
        if mover != self.seat and any(action < DECK_SIZE for action in legal):
            names.insert(0, "a card you have not seen")
        return f"{', '.join(names)} (by {PLAYER_NAMES[mover]})"

    def _public_values(self) -> bool:
        """Whether the other's value is public for certain, whoever won."""
        return self.rules.envido_reveal == "values" or (
            self.rules.envido_reveal == "buenas" and self.seat == PIE
        )

    def _fits(self, other: tuple[int, ...]) -> bool:
        value = envido_value(other)
        if self.shown is None:
            # Nothing shown: pie has given way by `buenas`, having the lower value.
            return not self._public_values() and envido_value(self.cards) >= value
        hidden = (
            self.rules.envido_reveal == "buenas" and self.seat == MANO and envido_value(self.cards) >= value
        )
        return value == self.shown and not hidden

    def _no_fit(self) -> str:
        if self.shown is None:
            return "Envido was accepted: say which value the other seat showed (--shown N; in a record, shown: 33/25)"
        return f"no hand of {PLAYER_NAMES[1 - self.seat]} with these cards can have shown Envido {self.shown}"


@dataclass(frozen=True)
class Spot(SeenHand):
    """A hand at which the seat is to decide. Raises ValueError as SeenHand, and where nothing is for it to decide."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hand.is_over:
            raise ValueError("the hand is over after this history, there is nothing to decide")
        if self.hand.to_move != self.seat:
            raise ValueError(
                f"it is the turn of {PLAYER_NAMES[1 - self.seat]}, not yours, after this history"
            )

    @property
    def decision(self) -> Decision:
        """Kind of decision that is due."""
        return self.hand.decision
