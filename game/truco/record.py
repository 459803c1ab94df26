"""Recorded matches: what a record holds, what each hand of it was, and the text of it (docs/record.md)."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from game.truco.actions import action_name
from game.truco.cards import card_names, envido_value
from game.truco.hand import MANO, PIE, Hand
from game.truco.rules import Rules
from game.truco.scoring import awards
from game.truco.spot import SeenHand
from game.truco.spot_id import format_rules

VERSION = 1
TITLE = "truco record"
_NAME = re.compile(r"[^\W_](?:[\w '.-]*[\w.])?")


@dataclass(frozen=True)
class RecordedHand:
    """One hand of a match. Players are numbered as the record names them, whoever is mano."""

    number: int
    mano: int
    """Player who is mano."""
    scores: tuple[int, int]
    """Points of the players before the hand."""
    cards: tuple[tuple[int, ...] | None, tuple[int, ...] | None]
    """Dealt cards of the players, None where they are not known."""
    words: tuple[int, ...]
    """All actions, in order."""
    shown: tuple[int | None, int | None] = (None, None)
    """Envido values of (mano, pie) that an accepted Envido made public."""
    notes: tuple[str, ...] = ()

    def seat(self, player: int) -> int:
        """Seat (0 = mano, 1 = pie) of a player in this hand, and the player of a seat."""
        return player ^ self.mano

    def seat_scores(self) -> tuple[int, int]:
        """Points of (mano, pie) before the hand."""
        return self.scores[self.mano], self.scores[1 - self.mano]

    def replay(self, rules: Rules) -> Hand:
        """The hand played through; cards that are not known are some that fit.

        Raises ValueError naming the action that cannot be, or why no cards fit; or that no cards are known.
        """
        mano, pie = self.cards[self.mano], self.cards[1 - self.mano]
        if mano is not None and pie is not None:
            hand = Hand(rules, mano, pie, *self.seat_scores())
            for number, action in enumerate(self.words, start=1):
                try:
                    hand.apply(action)
                except ValueError as error:
                    raise ValueError(f"history word {number}: {error}") from None
            return hand
        known, seat = (mano, MANO) if mano is not None else (pie, PIE)
        if known is None:
            raise ValueError(f"the cards of neither player are known in hand {self.number}")
        words = tuple((None, action) for action in self.words)
        return SeenHand(rules, seat, known, self.seat_scores(), words, self.shown[1 - seat]).hand


@dataclass(frozen=True)
class Record:
    """Hands that two players played, of one match or picked from several.

    Raises ValueError for names of players or notes that the text cannot hold.
    """

    rules: Rules
    players: tuple[str, str]
    hands: tuple[RecordedHand, ...] = ()
    seed: int | None = None
    """Seed of the deals, if they were drawn by this program."""
    date: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in self.players:
            if len(name) > 40 or not _NAME.fullmatch(name) or "  " in name:
                raise ValueError(
                    f"player {name!r} is no name, allowed: up to 40 letters, digits, single spaces and _ ' . -"
                )
        for line in (self.date, *self.notes, *(note for hand in self.hands for note in hand.notes)):
            if line != line.strip() or "#" in line or len(line.splitlines()) > 1:
                raise ValueError(f"note {line!r} is not one line without # and blanks around it")
        one, other = (name.casefold() + " " for name in self.players)
        if one.startswith(other) or other.startswith(one):
            raise ValueError(f"players {self.players[0]!r} and {self.players[1]!r} cannot be told apart")


def record_hand(number: int, mano: int, hand: Hand, known: tuple[bool, bool]) -> RecordedHand:
    """A hand of a match as a record has it.

    `mano` is the player who is mano, `known` says of each player whether his cards are to be recorded.
    """
    seats = (mano, 1 - mano)
    cards = tuple(hand.cards[seats[player]] if known[player] else None for player in (0, 1))
    scores = tuple(hand.start_scores[seats[player]] for player in (0, 1))
    words = tuple(action for _, action in hand.history)
    return RecordedHand(
        number, mano, (scores[0], scores[1]), (cards[0], cards[1]), words, hand.envido_shown()
    )


def format_record(record: Record) -> str:
    """The text of a record, as `record_text.parse_record` reads it."""
    lines = [
        f"{TITLE} {VERSION}",
        f"rules: {format_rules(record.rules)}",
        f"players: {', '.join(record.players)}",
    ]
    if record.seed is not None:
        lines.append(f"seed: {record.seed}")
    if record.date:
        lines.append(f"date: {record.date}")
    lines += [f"note: {note}" for note in record.notes]
    for hand in record.hands:
        lines += ["", *_hand_lines(record, hand)]
    return "\n".join(lines) + "\n"


def _hand_lines(record: Record, recorded: RecordedHand) -> list[str]:
    hand = recorded.replay(record.rules)
    lines = [
        f"hand {recorded.number}",
        f"mano: {record.players[recorded.mano]}",
        f"score: {recorded.scores[0]}-{recorded.scores[1]}",
    ]
    for name, cards in zip(record.players, recorded.cards, strict=True):
        if cards is not None:
            lines.append(f"cards: {name} {card_names(cards)} (envido {envido_value(cards)})")
    lines += [f"note: {note}" for note in recorded.notes]
    play = " ".join(f"{'mp'[seat]}:{action_name(action)}" for seat, action in hand.history)
    lines.append(f"play: {play}".rstrip())
    if hand.envido_accepted:
        lines.append("shown: " + "/".join("?" if value is None else str(value) for value in recorded.shown))
    if hand.is_over:
        won = [hand.points_won()[recorded.seat(player)] for player in (0, 1)]
        pieces = [
            f"{record.players[recorded.seat(award.player)]} {award.reason.value} {award.points}"
            for award in awards(hand)
        ]
        lines.append(f"points: {won[0]}-{won[1]} ({', '.join(pieces)})")
    return lines


def write_record(path: str | os.PathLike[str], record: Record) -> None:
    """Writes the text to a file, atomically: at any moment the file is the old or the new one, whole."""
    target = Path(path)
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        beside.write_text(format_record(record), encoding="utf-8")
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)
