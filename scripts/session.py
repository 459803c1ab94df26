"""A match against a solution, spoken with a player who types: what is shown, asked, told and written down."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from game.truco.cards import DECK_SIZE, card_names, envido_value
from game.truco.equity import EquityTable
from game.truco.hand import PARDA, PLAYER_NAMES, Hand
from game.truco.match import Match
from game.truco.record import Record, record_hand, write_record
from game.truco.scoring import Award, Reason, awards
from game.truco.spot import Spot
from scripts.words import Words, meant_action, meant_command
from solver.truco.reading.grading import THRESHOLDS, Grade, grade, symbol
from solver.truco.reading.player import Roll, decide
from solver.truco.reading.solution import Solution

YOU, OTHER = 0, 1
"""Players as the record and the match number them."""


class Quit(Exception):
    """The player wants to stop."""


@dataclass(frozen=True)
class Wishes:
    """How a match is to be shown."""

    show_roll: bool = False
    """Show the other's mix and the number drawn; of its cards only the one played."""
    show_hands: bool = False
    """Show and record the other's cards at the end of a hand."""
    tutor: bool = False
    """Say after each decision what it cost."""
    samples: int = 2_000
    """Deals simulated for the tutor's values."""


@dataclass
class Session:
    """One match; `run` plays it to its end or raises what interrupted it, with everything written down.

    All luck comes from the seed: the cards of a hand from its number, a roll from its number in the hand.
    """

    match: Match
    record: Record
    """Holds the players, rules and seed; hands are added."""
    names: tuple[str, str]
    """What the players are called on the screen."""
    file: Path
    solution_at: Callable[[tuple[int, int]], Solution]
    """The other's solution at a score (mano, pie)..."""
    told: Callable[[tuple[int, int]], str]
    """...and what it is, for people."""
    equity: EquityTable
    words: Words
    read: Callable[[str], str]
    """Shows a prompt and reads a line; EOFError at the end."""
    show: Callable[[str, str], None]
    """Shows a line in a style of rich, or none (``)."""
    wishes: Wishes = Wishes()
    _rolls: int = field(default=0, init=False)

    def run(self) -> None:
        """Plays hands until the match is over. Raises Quit, EOFError or KeyboardInterrupt when it is left."""
        self._save()
        while self.match.winner is None:
            self._play_hand(len(self.match.finished) + 1)
        own, their = self.match.scores
        key = "play.won" if self.match.winner == YOU else "play.lost"
        self._show(self.words(key, own=own, their=their, hands=len(self.match.finished)))

    def _play_hand(self, number: int) -> None:
        self.match.deal_random(random.Random(f"{self.record.seed}/deal/{number}"))
        hand, mano = self.match.hand, self.match.mano_seat
        assert hand is not None
        self._rolls = 0
        own, their = self.match.scores
        you, other = self.names
        seat = self.words(f"seats.{PLAYER_NAMES[YOU ^ mano]}")
        self._show("")
        self._show(
            self.words("play.hand", number=number, you=you, own=own, other=other, their=their, seat=seat),
            "bold",
        )
        self._write_down(hand, mano)
        while not hand.is_over:
            mover = self.match.to_move
            assert mover is not None
            spot = _spot(hand)
            before = hand.copy()
            judged = None
            if mover == YOU:
                action = self._ask(hand, mano)
                judged = self._judge(spot, action)
            else:
                number_drawn = random.Random(f"{self.record.seed}/roll/{number}/{self._rolls}").random()
                self._rolls += 1
                roll = decide(self.solution_at(spot.scores), spot, number_drawn)
                action = roll.action
                self._tell_roll(roll)
            self.match.apply(action)
            self._write_down(hand, mano)
            if mover == YOU:
                self._say(YOU, action)
            if judged is not None:
                self._tell_grade(judged)
            self._tell_change(before, hand, mano)
        self._tell_end(hand, mano, number)

    def _ask(self, hand: Hand, mano: int) -> int:
        """The action that the player types; asks again until it is one."""
        seat = YOU ^ mano
        legal = hand.legal_actions()
        held = hand.held(seat)
        self._show(self.words("play.cards", cards=card_names(held), value=envido_value(hand.cards[seat])))
        if hand.table:
            self._show(self.words("play.table", cards=card_names(hand.table)))
        self._show("  ".join(f"[{k}] {self.words.action(action)}" for k, action in enumerate(legal, start=1)))
        while True:
            text = self.read(self.words("play.prompt")).strip()
            command = meant_command(text)
            if command == "quit":
                raise Quit
            action = meant_action(text)
            if text.isdecimal() and len(text) <= 2 and 1 <= int(text) <= len(legal):
                return legal[int(text) - 1]
            if action in legal:
                return action
            if command == "help":
                self._show(self.words("play.help"))
            elif action is not None:
                self._show(self.words("play.not_legal", action=self.words.action(action)))
            elif text:
                self._show(self.words("play.not_understood", text=text))

    def _judge(self, spot: Spot, action: int) -> Grade | None:
        if not self.wishes.tutor:
            return None
        solution = self.solution_at(spot.scores)
        return grade(solution, spot, action, self.equity, self.wishes.samples)

    def _say(self, player: int, action: int, aside: str = "") -> None:
        name = self.names[player]
        line = self.words("play.said", who=name, action=self.words.action(action))
        self._show(f"{line}   ({aside})" if aside else line)

    def _tell_roll(self, roll: Roll) -> None:
        if not self.wishes.show_roll:
            self._say(OTHER, roll.action)
            return
        action = self.words.action(roll.action)
        if not roll.learnt:
            self._say(OTHER, roll.action, self.words("play.roll_rule", action=action))
            return
        mix = self._mix(roll.mix, roll.action)
        self._say(OTHER, roll.action, self.words("play.roll", mix=mix, number=f"{roll.number:.3f}"))

    def _mix(self, mix: dict[int, float], played: int | None = None) -> str:
        """Actions with their shares; of the other's cards, if they are his, only the one `played` is named."""
        shares: dict[str, float] = {}
        for action, share in mix.items():
            name = self.words.action(action)
            if played is not None and action < DECK_SIZE and action != played:
                name = self.words("play.another_card" if played < DECK_SIZE else "play.a_card")
            shares[name] = shares.get(name, 0.0) + share
        return ", ".join(f"{name} {share:.0%}" for name, share in shares.items() if share >= 0.005)

    def _tell_grade(self, judged: Grade) -> None:
        action = self.words.action(judged.action)
        losses = judged.points, judged.match
        if all(loss is None for loss in losses):
            self._show(self.words("tutor.unknown", action=action))
            return
        points, match = (0.0 if loss is None else loss.cost for loss in losses)
        text = self.words("tutor.good", action=action)
        if points > 0 or match > 0:
            unit = "match" if match > 0 else "points"
            loss = judged.loss(unit)
            assert loss is not None
            costs = [self.words("tutor.points", points=f"{points:.2f}")] if points > 0 else []
            costs += [self.words("tutor.match", match=f"{100 * match:.1f}")] if match > 0 else []
            mark = symbol(loss.cost, THRESHOLDS[unit])
            text = self.words(
                "tutor.cost",
                action=f"{action} {mark}".rstrip(),
                cost=", ".join(costs),
                best=self.words.action(loss.best),
            )
        mix = {row.action: row.probability for row in judged.advice.actions if row.probability}
        if mix:
            ordered = dict(sorted(mix.items(), key=lambda item: -item[1]))
            text += " " + self.words("tutor.mix", mix=self._mix(ordered))
        self._show(text, "italic")

    def _tell_change(self, before: Hand, hand: Hand, mano: int) -> None:
        """Says what an action settled: an Envido, a trick."""
        names = self.names
        if hand.envido_accepted and not before.envido_accepted:
            hidden = self.words("play.hidden")
            mano_value, pie_value = (hidden if v is None else str(v) for v in hand.envido_shown())
            self._show(
                self.words(
                    "play.envido_shown",
                    one=names[mano],
                    one_value=mano_value,
                    two=names[1 - mano],
                    two_value=pie_value,
                )
            )
        if len(hand.tricks) > len(before.tricks):
            winner = hand.tricks[-1]
            name = self.words("play.parda") if winner == PARDA else names[winner ^ mano]
            self._show(self.words("play.trick", number=len(hand.tricks), winner=name))

    def _tell_end(self, hand: Hand, mano: int, number: int) -> None:
        you, other = self.names
        paid = awards(hand)
        why = [
            ", ".join(self._why(award) for award in paid if award.player ^ mano == player)
            for player in (0, 1)
        ]
        won = [hand.points_won()[player ^ mano] for player in (YOU, OTHER)]
        self._show(
            self.words(
                "play.hand_points",
                number=number,
                you=you,
                own=won[YOU],
                own_why=f" ({why[YOU]})" if why[YOU] else "",
                other=other,
                their=won[OTHER],
                their_why=f" ({why[OTHER]})" if why[OTHER] else "",
            )
        )
        if self.wishes.show_hands:
            cards = hand.cards[OTHER ^ mano]
            self._show(
                self.words(
                    "play.held", other=other, cards=card_names(sorted(cards)), value=envido_value(cards)
                )
            )
        own, their = self.match.scores
        self._show(self.words("play.score", you=you, own=own, other=other, their=their))

    def _why(self, award: Award) -> str:
        calls = " + ".join(self.words.action(call) for call in award.calls)
        if award.reason is Reason.TRICKS and not calls:
            calls = self.words("why.round")
        return self.words(f"why.{award.reason.value}", calls=calls, points=award.points)

    def _write_down(self, hand: Hand, mano: int) -> None:
        """Puts the hand as it is now into the record and the record into its file."""
        number = len(self.match.finished) + (0 if hand.is_over else 1)
        known = (True, hand.is_over and self.wishes.show_hands)
        written = tuple(done for done in self.record.hands if done.number != number)
        told = self.told(hand.start_scores)
        notes = () if told in self.record.notes else (told,)
        recorded = replace(record_hand(number, mano, hand, known), notes=notes)
        self.record = replace(self.record, hands=(*written, recorded))
        self._save()

    def _show(self, line: str, style: str = "") -> None:
        self.show(line, style)

    def _save(self) -> None:
        write_record(self.file, self.record)


def _spot(hand: Hand) -> Spot:
    """The decision that is due, as its mover sees it."""
    seat = hand.to_move
    assert seat is not None
    shown = hand.envido_shown()[1 - seat]
    return Spot(hand.rules, seat, hand.cards[seat], hand.start_scores, tuple(hand.history), shown)
