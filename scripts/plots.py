"""`truco plot`: pictures of how often a solution calls, answers and folds, as PNG or SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from scripts.console import JsonOption, SetOption, need, print_json
from scripts.score_sweep import plot_score_sweep
from scripts.solutions import (
    EquityOption,
    SolutionOption,
    WantedRulesOption,
    WantedUtilityOption,
    find_solution,
    given_solution,
    wanted_rules,
    wanted_scores,
)
from scripts.survey import (
    ROUNDS,
    ScoreOption,
    SeatOption,
    SeedOption,
    ToOption,
    TrickOption,
    check_folder,
    counts_exactly,
    take_survey,
    topic_questions,
    write_file,
)

EXAMPLES = (
    "Examples:  `truco plot envido`  ·  `truco plot response --seat pie --out answers.svg`  ·  "
    "`truco plot truco`  ·  `truco plot heatmap --to envido --action quiero`  ·  "
    "`truco plot score-sweep --strategies out/strategies --seat mano --own-envido 27 --action envido`"
)

_TITLES = {
    "envido": "What to do while Envido may be called, by own hand",
    "response": "How to answer each call, by own hand",
}


def plot(
    kind: Annotated[
        Literal["envido", "response", "truco", "heatmap", "score-sweep"],
        typer.Argument(
            help="envido: calls while Envido may be opened. response: answers to calls. truco: Truco calls by "
            "strength. heatmap: share of one action by own Envido value and strength. score-sweep: share of one "
            "action at every score."
        ),
    ],
    seat: SeatOption = None,
    by: Annotated[
        Literal["envido", "strength"] | None,
        typer.Option(help="What bars stand for; by default what the decision is about.", show_default=False),
    ] = None,
    to: ToOption = None,
    trick: TrickOption = None,
    action: Annotated[
        Literal["play", "truco", "envido", "real_envido", "falta_envido", "quiero", "no_quiero", "mazo"]
        | None,
        typer.Option(
            help="Action of the heat map or sweep; truco stands for any Truco-family call.",
            show_default=False,
        ),
    ] = None,
    own_envido: Annotated[
        int | None, typer.Option(help="score-sweep: only hands of this Envido value.", show_default=False)
    ] = None,
    strategies: Annotated[
        Path | None,
        typer.Option(help="score-sweep: folder that `truco equity solve --keep` filled.", show_default=False),
    ] = None,
    rules: WantedRulesOption = None,
    set_: SetOption = None,
    score: ScoreOption = None,
    utility: WantedUtilityOption = None,
    equity: EquityOption = "computed",
    solution: SolutionOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Picture to write, .png or .svg; by default truco-KIND.png.")
    ] = None,
    json: JsonOption = False,
    rounds: Annotated[int | None, typer.Option(min=1, help=f"Times every hand is played; {ROUNDS}.")] = None,
    seed: SeedOption = 1,
) -> None:
    """Draw how often the solution takes each action, by the same solutions as `truco table`.

    Every hand of the seat is dealt equally often and both seats play the solution. Spots that it never reaches stay
    hatched, those with fewer than 30 decisions are dotted. A heat map or sweep is of the own turn while Envido may be
    opened, of the answer to a call with --to, or of the own turn in a trick with --trick.
    """
    path = out or Path(f"truco-{kind}.png")
    if path.suffix not in (".png", ".svg"):
        raise ValueError(f"a picture is .png or .svg, not {path.suffix or 'without a suffix'}: {path}")
    check_folder(path)
    need("plot")
    sweeps = kind == "score-sweep"
    if kind != "heatmap" and not sweeps and action:
        raise ValueError("--action applies to heatmap and score-sweep only")
    if kind == "heatmap" and by:
        raise ValueError("--by does not apply to heatmap")
    if not sweeps and (own_envido is not None or strategies is not None):
        raise ValueError("--own-envido and --strategies apply to score-sweep only")
    if sweeps and (strategies is None or by or score or solution or utility):
        raise ValueError(
            "score-sweep needs --strategies DIR (from `truco equity solve --keep DIR`), and no --by, --score, "
            "--utility or --solution"
        )
    if kind == "heatmap" or kind == "score-sweep":
        topic: Literal["envido", "response", "truco"] = "response" if to else "truco" if trick else "envido"
    else:
        topic = kind
    given = given_solution(solution)
    chosen = wanted_rules(given, rules, set_)
    questions = topic_questions(topic, seat, to, trick, chosen)
    if strategies is not None:
        chosen_action = action or {"response": "quiero"}.get(topic, topic)
        facts = plot_score_sweep(
            chosen, questions, chosen_action, own_envido, strategies, rounds or ROUNDS, seed, path
        )
        if json:
            print_json({"file": str(path), "plot": kind, **facts})
        else:
            typer.echo(f"wrote {path}")
        return
    scores = wanted_scores(given, score, chosen.target)
    found = find_solution(
        given, chosen, scores, utility, equity, shipped=not rounds and counts_exactly(questions)
    )
    survey = take_survey(found, questions, "envido and strength" if kind == "heatmap" else by, rounds, seed)
    from scripts.charts import draw_heatmap, draw_stacks, draw_truco, rendered

    if kind == "heatmap":
        figure = draw_heatmap(survey, action or {"response": "quiero"}.get(topic, topic))
    elif kind == "truco":
        figure = draw_truco(survey)
    else:
        figure = draw_stacks(survey, _TITLES[topic])
    write_file(path, rendered(figure, path.suffix[1:]))
    if json:
        print_json({"file": str(path), "plot": kind, **survey.facts()})
    else:
        typer.echo(f"wrote {path}")
