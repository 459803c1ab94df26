"""Reads the text of a record, forgiving in form and strict in substance: every fault is named with its line."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import NamedTuple, NoReturn

from game.truco.actions import action_name
from game.truco.cards import envido_value, parse_cards
from game.truco.hand import PLAYER_NAMES
from game.truco.record import TITLE, VERSION, Record, RecordedHand
from game.truco.rules import PRESETS, Rules
from game.truco.spot import parse_history
from game.truco.spot_id import parse_rules

MOST_CHARACTERS = 2_000_000
"""Longer texts are refused unread."""
HEAD_KEYS = ("rules", "players", "seed", "date", "note")
HAND_KEYS = ("mano", "score", "cards", "note", "play", "shown", "points")
_TITLE = re.compile(rf"{TITLE}\s+([0-9]+)", re.IGNORECASE)
_HAND = re.compile(r"hand\s*([0-9]{1,6})?\s*:?", re.IGNORECASE)
_PAIR = re.compile(r"([0-9]{1,2})\s*[-:]\s*([0-9]{1,2})")
_ASIDE = re.compile(r"\([^()]*\)")


class Fault(NamedTuple):
    """What is wrong in a line, numbered from 1."""

    line: int
    reason: str


class RecordError(ValueError):
    """Faults of a record, in the order of its lines; its text is the first and how many there are."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = sorted(faults)
        first, *rest = self.faults
        more = f" (and {len(rest)} more, the next in line {rest[0].line})" if rest else ""
        super().__init__(f"line {first.line}: {first.reason}{more}")


class Reading(NamedTuple):
    """A record and what of its text was passed over."""

    record: Record
    ignored: list[Fault]


class _Line(NamedTuple):
    number: int
    text: str


@dataclass
class _Block:
    """The lines of one hand, or of the head, by key."""

    begin: int
    number: int | None = None
    lines: dict[str, list[_Line]] = field(default_factory=dict)

    def line_of(self, key: str) -> int:
        return self.lines[key][0].number if key in self.lines else self.begin


class _Wrong(Exception):
    """Carries a fault out of the piece that is being read."""

    def __init__(self, line: int, reason: str) -> None:
        self.fault = Fault(line, reason)


def _wrong(line: int, reason: object) -> NoReturn:
    raise _Wrong(line, " ".join(str(reason).split()))


def parse_record(text: str) -> Reading:
    """The record of a text, with the lines that were passed over.

    Raises RecordError, a ValueError, with every fault that could be told apart.
    """
    if len(text) > MOST_CHARACTERS:
        raise RecordError([Fault(1, f"a record has at most {MOST_CHARACTERS:,} characters")])
    faults: list[Fault] = []
    ignored: list[Fault] = []
    head, blocks = _blocks(text, faults, ignored)
    try:
        record = _head(head)
    except _Wrong as wrong:
        raise RecordError([*faults, wrong.fault]) from None
    hands: list[RecordedHand] = []
    follows: _Next | None = _Next(1, 0, (0, 0))
    for block in blocks:
        if faults and not {"mano", "score"} <= block.lines.keys():
            # It may lean on a hand that could not be read.
            continue
        try:
            recorded, follows = _hand(record, block, follows, hands[-1].number if hands else 0)
            hands.append(recorded)
        except _Wrong as wrong:
            faults.append(wrong.fault)
            follows = None
    if faults:
        raise RecordError(faults)
    return Reading(replace(record, hands=tuple(hands)), ignored)


def _blocks(text: str, faults: list[Fault], ignored: list[Fault]) -> tuple[_Block, list[_Block]]:
    """The head and the hands, each with its lines by key."""
    head = block = _Block(1)
    blocks: list[_Block] = []
    for number, raw in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        line = raw.partition("#")[0].strip()
        title = _TITLE.fullmatch(line)
        start = _HAND.fullmatch(line)
        if not line:
            continue
        if title is not None:
            if int(title[1][:9]) != VERSION:
                faults.append(Fault(number, f"record of version {title[1]}, this program reads {VERSION}"))
        elif start is not None:
            block = _Block(number, int(start[1]) if start[1] else None)
            blocks.append(block)
        else:
            key, colon, value = line.partition(":")
            key = key.strip().casefold()
            if not colon:
                faults.append(Fault(number, f"{line!r} is neither `key: value` nor `hand N`"))
            elif key not in (HEAD_KEYS if block is head else HAND_KEYS):
                allowed = ", ".join(HEAD_KEYS if block is head else HAND_KEYS)
                ignored.append(Fault(number, f"unknown key {key!r} passed over, known here: {allowed}"))
            elif key in block.lines and key not in ("note", "cards", "play"):
                first = block.lines[key][0].number
                faults.append(Fault(number, f"{key} is given twice, first in line {first}"))
            else:
                block.lines.setdefault(key, []).append(_Line(number, value.strip()))
    return head, blocks


def _rules(head: _Block) -> Rules:
    for line in head.lines.get("rules", ()):
        try:
            return parse_rules("~".join(line.text.split()))
        except ValueError as error:
            _wrong(line.number, error)
    return PRESETS["base"]


def _head(head: _Block) -> Record:
    rules = _rules(head)
    seed = None
    for line in head.lines.get("seed", ()):
        if not re.fullmatch("[0-9]{1,30}", line.text):
            _wrong(line.number, f"seed {line.text!r} is not a whole number")
        seed = int(line.text)
    if "players" not in head.lines:
        _wrong(head.begin, "the players are not named: `players: Ana, Luis`")
    names = head.lines["players"][0]
    players = [" ".join(name.split()) for name in names.text.split(",")]
    if len(players) != 2:
        _wrong(names.number, f"{len(players)} players are named, allowed: two, parted by a comma")
    date = head.lines["date"][0].text if "date" in head.lines else ""
    try:
        return Record(rules, (players[0], players[1]), (), seed, date, _notes(head))
    except ValueError as error:
        _wrong(names.number, error)


def _notes(block: _Block) -> tuple[str, ...]:
    return tuple(line.text for line in block.lines.get("note", ()) if line.text)


class _Next(NamedTuple):
    """What the next hand of the match has to be."""

    number: int
    mano: int
    scores: tuple[int, int]
    over: bool = False
    told: bool = False
    """Whether a hand was played before, so that what the next one says can contradict it."""


def _hand(
    record: Record, block: _Block, before: _Next | None, last: int
) -> tuple[RecordedHand, _Next | None]:
    """One hand, and what the next has to be if this one came to its end."""
    number = block.number if block.number is not None else last + 1
    if number <= last:
        _wrong(block.begin, f"hand {number} comes after hand {last}")
    # Hands left out may have led anywhere.
    follows = before if before is not None and before.number == number else None
    if follows is not None and follows.over:
        _wrong(block.begin, f"the match was over after hand {last}")
    words = _play(block)
    recorded = RecordedHand(
        number,
        _mano(record, block, follows),
        _scores(record, block, follows),
        _cards(record, block),
        tuple(action for _, action in words),
        _shown(block),
        _notes(block),
    )
    _check_shown(record, block, recorded)
    try:
        hand = recorded.replay(record.rules)
    except ValueError as error:
        _wrong(block.line_of("play"), error)
    for place, ((said, action), (seat, _)) in enumerate(zip(words, hand.history, strict=True), start=1):
        if said not in (None, seat):
            name = f"history word {place}, {action_name(action)},"
            _wrong(
                block.line_of("play"),
                f"{name} is given to {PLAYER_NAMES[said]}, it is {PLAYER_NAMES[seat]}'s",
            )
    if recorded.shown != (None, None) and not hand.envido_accepted:
        _wrong(block.line_of("shown"), "no Envido was accepted, so nobody showed a value")
    recorded = replace(recorded, shown=hand.envido_shown())
    won = (hand.points_won()[recorded.seat(0)], hand.points_won()[recorded.seat(1)])
    _check_points(block, won, hand.is_over)
    if not hand.is_over:
        return recorded, None
    scores = (recorded.scores[0] + won[0], recorded.scores[1] + won[1])
    over = max(scores) >= record.rules.target
    return recorded, _Next(number + 1, 1 - recorded.mano, scores, over, told=True)


def _mano(record: Record, block: _Block, follows: _Next | None) -> int:
    for line in block.lines.get("mano", ()):
        names = [name.casefold() for name in record.players]
        name = " ".join(line.text.split()).casefold()
        if name not in names:
            _wrong(line.number, f"mano {line.text!r} is no player, allowed: {', '.join(record.players)}")
        mano = names.index(name)
        if follows is not None and follows.told and follows.mano != mano:
            _wrong(line.number, f"mano alternates, it is {record.players[follows.mano]}'s turn to be mano")
        return mano
    if follows is None:
        _wrong(block.begin, "it is not said who is mano, and the hand before does not tell")
    return follows.mano


def _scores(record: Record, block: _Block, follows: _Next | None) -> tuple[int, int]:
    for line in block.lines.get("score", ()):
        scores = _pair(line, "score")
        if max(scores) >= record.rules.target:
            _wrong(line.number, f"score {line.text} is outside 0 to {record.rules.target - 1}")
        if follows is not None and follows.told and follows.scores != scores:
            told = f"{follows.scores[0]}-{follows.scores[1]}"
            _wrong(line.number, f"score {line.text} after a hand that led to {told}")
        return scores
    if follows is None:
        _wrong(block.begin, "the score is not given, and the hand before does not tell")
    return follows.scores


def _pair(line: _Line, what: str) -> tuple[int, int]:
    match = _PAIR.fullmatch(_ASIDE.sub("", line.text).strip())
    if match is None:
        _wrong(line.number, f"{what} {line.text!r} is not of the form 2-1")
    return int(match[1]), int(match[2])


def _cards(record: Record, block: _Block) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
    """Cards of the players; a question mark for one of them leaves the hand unknown."""
    found: dict[int, tuple[int, ...] | None] = {}
    for line in block.lines.get("cards", ()):
        words = _ASIDE.sub(" ", line.text).split()
        player = next((k for k, name in enumerate(record.players) if _begins(words, name)), None)
        if player is None:
            _wrong(line.number, f"cards {line.text!r} begin with neither {' nor '.join(record.players)}")
        if player in found:
            _wrong(line.number, f"the cards of {record.players[player]} are given twice")
        names = " ".join(words[len(record.players[player].split()) :])
        if "?" in names or not names:
            found[player] = None
            continue
        try:
            cards = parse_cards(names)
        except ValueError as error:
            _wrong(line.number, error)
        if len(cards) != record.rules.hand_size:
            _wrong(line.number, f"{len(cards)} cards are given, not {record.rules.hand_size}")
        found[player] = cards
    return found.get(0), found.get(1)


def _begins(words: list[str], name: str) -> bool:
    size = len(name.split())
    return " ".join(words[:size]).casefold() == name.casefold()


def _play(block: _Block) -> list[tuple[int | None, int]]:
    """The actions, each with its player if he was named."""
    words = []
    for line in block.lines.get("play", ()):
        try:
            words += parse_history(_ASIDE.sub(" ", line.text))
        except ValueError as error:
            _wrong(line.number, error)
    return words


def _shown(block: _Block) -> tuple[int | None, int | None]:
    for line in block.lines.get("shown", ()):
        match = re.fullmatch(r"([0-9]{1,2}|\?)\s*/\s*([0-9]{1,2}|\?)", _ASIDE.sub(" ", line.text).strip())
        if match is None:
            _wrong(line.number, f"shown {line.text!r} is not of the form 33/25 or 33/?, mano's value first")
        mano, pie = (None if value == "?" else int(value) for value in match.groups())
        return mano, pie
    return None, None


def _check_shown(record: Record, block: _Block, recorded: RecordedHand) -> None:
    """Refuses a shown value that known cards do not have."""
    for player, cards in enumerate(recorded.cards):
        value = recorded.shown[recorded.seat(player)]
        if cards is not None and value is not None and value != envido_value(cards):
            name = record.players[player]
            _wrong(block.line_of("shown"), f"{name} holds Envido {envido_value(cards)}, not {value}")


def _check_points(block: _Block, won: tuple[int, int], over: bool) -> None:
    for line in block.lines.get("points", ()):
        points = _pair(line, "points")
        if not over:
            _wrong(line.number, "points of a hand whose play has no end")
        if points != won:
            _wrong(line.number, f"points {points[0]}-{points[1]}, but the play made {won[0]}-{won[1]}")
