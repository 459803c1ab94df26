"""`truco plot score-sweep`: how often one action is taken at every score, by the strategies of an equity sweep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.console import progress
from scripts.survey import action_label, write_file

if TYPE_CHECKING:
    from game.truco.rules import Rules
    from solver.truco.reading.questions import Question

_FEWEST = 30
"""Decisions below which a score shows nothing: a share of so few says little."""


def plot_score_sweep(
    rules: Rules,
    questions: Sequence[Question],
    action: str,
    own_envido: int | None,
    strategies: Path,
    rounds: int,
    seed: int,
    path: Path,
) -> dict[str, Any]:
    """Draws the share of the action in answer to the one question, a cell for each score; returns what was found.

    Raises ValueError for more than one question, an action or Envido value that is never possible there, and for a
    folder without strategies of these rules.
    """
    import math

    from game.truco.hand import PLAYER_NAMES
    from scripts.charts import rendered
    from scripts.equity_charts import draw_table
    from solver.truco.match.equity_sweep import kept_strategy
    from solver.truco.reading.census import take_census
    from solver.truco.reading.questions import ENVIDO_VALUES
    from solver.truco.solutions.quick_solution import load_quick_solution

    if len(questions) != 1:
        names = "; ".join(f"{PLAYER_NAMES[q.seat]}: {q.name}" for q in questions)
        raise ValueError(
            f"score-sweep shows one decision, these options name {len(questions)} ({names}): add --seat"
        )
    if own_envido is not None and own_envido not in ENVIDO_VALUES:
        raise ValueError(f"--own-envido is {own_envido}, allowed: 0 to 7 and 20 to 33")
    question = questions[0]
    target = rules.target
    shares = [[math.nan] * target for _ in range(target)]
    files = {
        (a, b): kept_strategy(strategies, (a, b))
        for a in range(target)
        for b in range(target)
        if kept_strategy(strategies, (a, b)).exists()
    }
    if not files:
        raise ValueError(
            f"no strategies in {strategies}: make them with truco equity solve --keep {strategies}"
        )
    iterations: set[int] = set()
    possible: set[str] = set()
    with progress(f"{len(files)} scores") as update:
        for done, (score, file) in enumerate(files.items()):
            update(done / len(files))
            found = load_quick_solution(file)
            if found.rules != rules or found.info.score != score:
                raise ValueError(f"{file} is of rules {found.rules.name()}, score {found.info.score}")
            iterations.add(found.info.iterations)
            (census,) = take_census(found, [(question, "envido")], rounds, seed)
            possible.update(census.actions())
            frame = census.frame()
            rows = frame if own_envido is None else frame[frame["envido_value"] == own_envido]
            decisions = rows["decisions"].sum()
            if decisions >= _FEWEST:
                mano, pie = score
                own, other = (mano, pie) if question.seat == 0 else (pie, mano)
                shares[own][other] = float((rows[action].fillna(0.0) * rows["decisions"]).sum() / decisions)
    if action not in possible:
        raise ValueError(
            f"action {action} is taken at no score there, others are: {', '.join(sorted(possible))}"
        )
    who = PLAYER_NAMES[question.seat]
    hands = "" if own_envido is None else f" with Envido {own_envido}"
    title = (
        f"How often {who}{hands} chooses {action_label(question, action)}: {question.name} (% of decisions)"
    )
    caption = (
        f"rules {rules.name()} · utility match · quick engine, {' or '.join(map(str, sorted(iterations)))} "
        f"iterations a score, exploitability not certified · {rounds * 9880:,} hands played at each score · "
        f"blank: fewer than {_FEWEST} decisions"
    )
    other_seat = PLAYER_NAMES[1 - question.seat]
    figure = draw_table(
        shares, title, caption, axes_labels=(f"points of {who}", f"points of {other_seat}"),
        unit="% of decisions",
    )  # fmt: skip
    write_file(path, rendered(figure, path.suffix[1:]))
    return {
        "rules": rules.name(),
        "seat": who,
        "question": question.name,
        "action": action,
        "own_envido": own_envido,
        "rounds": rounds,
        "seed": seed,
        "shares": shares,
    }
