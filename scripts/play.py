"""`truco play`: a match against the solution in the terminal, with a record of it."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scripts.console import SetOption
from scripts.shelf import EachScoreOption, Shelf
from scripts.solutions import (
    EquityOption,
    SolutionOption,
    WantedRulesOption,
    chosen_equity,
    given_solution,
    solutions_folder,
    wanted_rules,
)
from scripts.words import LanguageOption, chosen_words

if TYPE_CHECKING:
    from game.truco.rules import Rules

EXAMPLES = (
    "Examples:  `truco play`  ·  `truco play --lang es --tutor`  ·  "
    "`truco play --score 12-9 --seat pie --show-roll`  ·  "
    "`truco play --target 5 --rules argentino --seed 7 --record match.txt`"
)


def play(
    rules: WantedRulesOption = None,
    set_: SetOption = None,
    target: Annotated[
        int | None,
        typer.Option(min=1, max=99, help="Points that win, as --set target=N.", show_default=False),
    ] = None,
    score: Annotated[str, typer.Option(help="Score to begin at, yours first.", metavar="YOU-THEY")] = "0-0",
    seat: Annotated[
        str | None,
        typer.Option(
            help="Your seat in the first hand: mano, pie; drawn if not given.",
            metavar="mano|pie",
            show_default=False,
        ),
    ] = None,
    solution: SolutionOption = None,
    each_score: EachScoreOption = False,
    equity: EquityOption = "computed",
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, max=2**63 - 1, help="Seed of cards and rolls; drawn if not given.", show_default=False
        ),
    ] = None,
    tutor: Annotated[bool, typer.Option("--tutor", help="Say after each decision what it cost.")] = False,
    samples: Annotated[int, typer.Option(min=100, help="Deals simulated for the tutor's values.")] = 5_000,
    show_roll: Annotated[
        bool, typer.Option("--show-roll", help="Show the other's mix and the number drawn.")
    ] = False,
    show_hands: Annotated[
        bool, typer.Option("--show-hands", help="Show and record the other's cards after each hand.")
    ] = False,
    name: Annotated[
        str | None, typer.Option(help="Your name, also in the record.", show_default=False)
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            help="File for the record, instead of one in the folder of records.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    lang: LanguageOption = None,
) -> None:
    """Play a match against the solution. Type a number, a card or a word, Spanish or English; `help`, `quit`.

    The record of the match is saved after every decision, also when it is interrupted.
    """
    from rich.console import Console

    from game.truco.hand import PLAYER_NAMES
    from game.truco.match import Match
    from game.truco.record import Record
    from scripts.console import parse_score
    from scripts.session import Quit, Session, Wishes

    words = chosen_words(lang)
    given = given_solution(solution)
    changes = [*(set_ or []), *([f"target={target}"] if target is not None else [])]
    chosen = wanted_rules(given, rules, changes)
    _check_rules(chosen)
    scores = parse_score(score, chosen.target)
    if seat not in (None, *PLAYER_NAMES):
        raise ValueError(f"seat {seat!r} is unknown, allowed: {', '.join(PLAYER_NAMES)}")
    seed = random.SystemRandom().randrange(10**6) if seed is None else seed
    first_mano = random.Random(f"{seed}/mano").randrange(2) if seat is None else PLAYER_NAMES.index(seat)
    shelf = Shelf(chosen, given, equity, each_score, words, whole=True)
    now = datetime.now()
    begins = Record(chosen, (name or "you", "solution"), (), seed, now.strftime("%Y-%m-%d %H:%M"))
    file = new_record_file(record, now, seed)
    worth = chosen_equity(chosen, equity)
    match = Match(chosen, first_mano, scores)
    # Solves before anything is asked, if it has to.
    opponent = shelf.line((scores[first_mano], scores[1 - first_mano]))
    told = words("play.by", solution=opponent)
    console = Console()

    def show(line: str, style: str) -> None:
        console.print(line, style=style or None, markup=False, highlight=False, soft_wrap=True)

    session = Session(
        match,
        replace(begins, notes=(told,)),
        (name or words("play.you"), words("play.other")),
        file,
        shelf.at,
        lambda at: words("play.by", solution=shelf.line(at)),
        worth,
        words,
        lambda prompt: console.input(prompt, markup=False),
        show,
        Wishes(show_roll, show_hands, tutor, samples),
    )
    show(words("play.start", target=chosen.target, rules=chosen.name(), seed=seed), "")
    if not each_score:
        opponent += f"; {words('solution.every_score')}"
    show(words("play.opponent", solution=opponent), "")
    show(words("play.record", file=file), "")
    try:
        session.run()
    except (Quit, EOFError, KeyboardInterrupt) as left:
        show("", "")
        show(words("play.interrupted", file=file), "")
        raise typer.Exit(130 if isinstance(left, KeyboardInterrupt) else 0) from None
    show(words("play.saved", file=file), "")


def _check_rules(rules: Rules) -> None:
    from game.truco.cards import DECK_SIZE

    if rules.envido_reveal == "hands":
        raise ValueError(
            "a match against a solution plays envido_reveal values or buenas; with hands nothing is left to guess"
        )
    if len(rules.deck) != DECK_SIZE or rules.hand_size != 3:
        raise ValueError("a match against a solution plays the 40-card deck with three cards each")


def records_folder() -> Path:
    """Folder of records: `records` beside the kept solutions."""
    return solutions_folder() / "records"


def new_record_file(wanted: Path | None, now: datetime, seed: int) -> Path:
    """A file for a new record that does not exist yet: the one wanted, or a new one in the folder of records.

    Raises ValueError if the wanted one exists or cannot be written for lack of its folder.
    """
    if wanted is not None:
        if wanted.exists():
            raise ValueError(f"{wanted} exists already; records are not overwritten")
        if not wanted.absolute().parent.is_dir():
            raise ValueError(f"folder {wanted.parent} does not exist")
        return wanted
    folder = records_folder()
    folder.mkdir(parents=True, exist_ok=True)
    stem, count = f"{now:%Y-%m-%d_%H%M%S}_seed{seed}", 1
    while (file := folder / f"{stem}{f'_{count}' if count > 1 else ''}.txt").exists():
        count += 1
    return file
