"""What `truco table` and `truco plot` share: their options, the decisions they ask about, captions, output files."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from scripts.console import progress

if TYPE_CHECKING:
    from game.truco.rules import Rules
    from solver.truco.reading.questions import Census, Question
    from solver.truco.reading.solution import Solution

Topic = Literal["envido", "truco", "mazo", "response"]
Seat = Literal["mano", "pie"]
SeatOption = Annotated[Seat | None, typer.Option("--seat", help="One seat instead of both.")]
ToOption = Annotated[
    list[str] | None,
    typer.Option(
        "--to",
        help='A call to answer, such as truco or "envido real_envido"; repeat for more.',
        metavar="CALLS",
    ),
]
TrickOption = Annotated[int | None, typer.Option("--trick", min=1, max=3, help="Only this trick.")]
ScoreOption = Annotated[
    str | None, typer.Option("--score", help="Match score, mano first (0-0 by default).", metavar="A-B")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of the hands played.")]

USUAL_CALLS = (
    "envido",
    "real_envido",
    "falta_envido",
    "envido envido",
    "envido real_envido",
    "truco",
    "retruco",
    "vale_cuatro",
)
"""Calls whose answers are shown unless --to names others."""
ROUNDS = 20
"""Times every hand is played when rows gather many hands."""
ROUNDS_BY_HAND = 100
"""The same when each hand has its own row."""
ORDER = ("quiero", "envido", "real_envido", "falta_envido", "truco", "play", "no_quiero", "mazo")
"""Actions of the census in the order of columns and stacks."""
STRENGTH_NOTE = (
    "strength: share of the other 39 cards that a card beats (parda: half), mean of the two strongest cards still in "
    "play."
)
UNSOLVED_NOTE = "unsolved: decisions met for which the solution has no mix; they are left out."
_LABELS = {
    "quiero": "Quiero",
    "no_quiero": "No quiero",
    "envido": "Envido",
    "real_envido": "Real",
    "falta_envido": "Falta",
    "play": "Card",
    "mazo": "Mazo",
}


@dataclass(frozen=True)
class Survey:
    """A solution and its answers to the questions of one table or plot."""

    solution: Solution
    censuses: list[Census]
    rounds: int
    seed: int

    @property
    def deals(self) -> int:
        """Hands played for each question, or deals counted."""
        return self.censuses[0].deals

    @property
    def exact(self) -> bool:
        """Whether all deals were counted instead of hands played."""
        return all(census.exact for census in self.censuses)

    def facts(self) -> dict[str, Any]:
        """What the solution is and how it was asked, as JSON values."""
        info = self.solution.info
        value, error = info.mano_value, info.mano_value_error
        values = "kept by the solution"
        if self.exact:
            values = "exact over all deals, by the whole policy"
        elif self.solution.values is None:
            values = "simulated" if self.solution.complete else "not known, tricks 2 and 3 are not stored"
        if value is not None and info.utility == "match":
            value = (1 + value) / 2
        return {
            "rules": self.solution.rules.name(),
            "rules_hash": info.rules_hash,
            "score": {"mano": info.score[0], "pie": info.score[1]},
            "utility": info.utility,
            "value_unit": "points" if info.utility == "points" else "match-win probability",
            "engine": info.engine,
            "iterations": info.iterations,
            "mano_value": value,
            "mano_value_error": None if error is None else error * self._unit,
            "exploitability": None if info.exploitability is None else info.exploitability * self._unit,
            "exploitability_method": info.exploitability_method,
            "values": values,
            "rounds": None if self.exact else self.rounds,
            "deals": self.deals,
            "seed": None if self.exact else self.seed,
        }

    def caption(self) -> str:
        """The facts in a sentence."""
        facts, info = self.facts(), self.solution.info
        value, error, exploitability = facts["mano_value"], facts["mano_value_error"], facts["exploitability"]
        if value is None:
            worth = f"values of actions {facts['values']}"
        elif info.utility == "points":
            worth = f"mano's value {value:+.3f} ± {error:.3f} points a hand"
        else:
            worth = f"mano wins {value:.1%} ± {error:.1%} of matches"
        if info.utility == "points":
            gap = "" if exploitability is None else f"{exploitability:.3f} points a hand"
        else:
            gap = "" if exploitability is None else f"{exploitability:.2%} of matches"
        certified = f"{gap} ({info.exploitability_method})" if gap else info.exploitability_method
        return (
            f"rules {facts['rules']} · score {info.score[0]}-{info.score[1]} (mano-pie) · utility {info.utility} · "
            f"{info.engine} engine, {info.iterations:,} iterations · {worth} · exploitability {certified} · "
            f"{'all ' if self.exact else ''}{self.deals:,} {'deals counted' if self.exact else 'hands played'}"
        )

    @property
    def _unit(self) -> float:
        """Points, or match-win probability, that one unit of utility stands for."""
        return 1.0 if self.solution.info.utility == "points" else 0.5


def topic_questions(
    topic: Topic, seat: Seat | None, to: list[str] | None, trick: int | None, rules: Rules
) -> list[Question]:
    """The decisions that a topic is about, mano's first.

    Raises ValueError for an unknown call in `to`, and for `to` or `trick` where the topic has no use for it.
    """
    from game.truco.hand import MANO, PIE
    from solver.truco.reading.questions import answer_question, turn_question

    if to and topic != "response":
        raise ValueError("--to applies to response only")
    if trick and topic not in ("truco", "mazo"):
        raise ValueError("--trick applies to truco and mazo only")
    questions = []
    for player in [MANO, PIE] if seat is None else [MANO if seat == "mano" else PIE]:
        if topic == "envido":
            questions.append(turn_question(player, 0, player == PIE, envido_open=True, round_value=1))
        elif topic == "response":
            for call in to or USUAL_CALLS:
                questions += _answers(player, call, rules)
        for number in [trick - 1] if trick else range(3):
            if topic == "mazo":
                questions.append(turn_question(player, number))
            elif topic == "truco":
                # In trick 1 mano always leads and pie always follows.
                places = [player == PIE] if number == 0 else [False, True]
                questions += [turn_question(player, number, place, round_value=1) for place in places]
        if topic == "mazo" and trick in (None, 1):
            questions.append(answer_question(player, ()))
    return questions


def _answers(player: int, call: str, rules: Rules) -> list[Question]:
    """The seat's answer to a call; two questions for a Truco, before which an Envido may still be called."""
    from game.truco.actions import TRUCO, parse_action
    from solver.truco.reading.questions import answer_question

    calls = [parse_action(word) for word in call.replace(",", " ").split()]
    if not calls:
        raise ValueError("--to names no call")
    if calls == [TRUCO] and rules.envido:
        return [answer_question(player, calls, envido_open) for envido_open in (True, False)]
    return [answer_question(player, calls)]


def counts_exactly(questions: Sequence[Question]) -> bool:
    """Whether a policy of trick 1 answers the questions, by counting all deals."""
    from solver.truco.solutions.trunk_census import covers

    return all(covers(question) for question in questions)


def take_survey(
    solution: Solution, questions: Sequence[Question], by: str | None, rounds: int | None, seed: int
) -> Survey:
    """Asks the questions, with rows `by` envido, strength or hand, by default what the decision is about."""
    from solver.truco.reading.census import take_census

    rounds = rounds or (ROUNDS_BY_HAND if by == "hand" else ROUNDS)
    groups = [list(group) for _, group in groupby(questions, key=lambda question: question.seat)]
    censuses: list[Census] = []
    with progress("hands played", after=2.0) as show:
        for number, group in enumerate(groups):
            asked = [(question, by or natural_rows(question)) for question in group]
            shown = partial(_show_part, show, number, len(groups))
            censuses += take_census(solution, asked, rounds, seed, shown)
    return Survey(solution, censuses, rounds, seed)


def _show_part(show: Callable[[float], None], number: int, parts: int, done: float) -> None:
    """Shows the share done of one of several parts of equal length."""
    show((number + done) / parts)


def natural_rows(question: Question) -> str:
    """Rows that tell most about a decision: envido where Envido is at stake, else strength."""
    from solver.truco.reading.questions import ANSWER_ENVIDO

    return "envido" if question.decision == ANSWER_ENVIDO or question.envido_open == 1 else "strength"


def heading(census: Census) -> str:
    """Seat and question of a census, how many decisions it found, and how many without a mix (unsolved)."""
    from game.truco.hand import PLAYER_NAMES

    found, unknown = census.seen.sum(), census.unknown.sum()
    words = f"{found:,} decisions" if found or unknown else "never reached"
    if unknown:
        words += f", {unknown:,} unsolved"
    return f"{PLAYER_NAMES[census.question.seat].capitalize()}: {census.question.name} ({words})"


def action_label(question: Question, action: str) -> str:
    """Short name of an action of the census in answer to this question."""
    from solver.truco.reading.questions import ANSWER_TRUCO

    if action != "truco":
        return _LABELS[action]
    if question.decision == ANSWER_TRUCO:
        return {2: "Retruco", 3: "Vale 4", 4: "Raise"}[question.call]
    return "Truco" if question.round_value == 1 else "Truco, raises"


def check_folder(path: Path) -> None:
    """Raises ValueError unless the folder that a file is to be written to exists."""
    if not path.parent.is_dir():
        raise ValueError(f"cannot write {path}: folder {path.parent} does not exist")


def write_file(path: Path, content: bytes) -> None:
    """Writes a whole file or none; ValueError if it cannot be written."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise ValueError(f"cannot write {path}: {error.strerror}") from None
