"""Prints what mano gets in parts of the hand that can be solved on their own: Envido alone, card play alone.

python -m scripts.subgames [--iterations N] [--json]
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from scripts.console import JsonOption, new_app, print_json, progress, run

app = new_app("Mano's value of Envido alone and of card play alone, without a word; rules base at 0-0.")


@app.command()
def subgames(
    iterations: Annotated[int, typer.Option(min=1, help="Iterations of the vector engine for each.")] = 300,
    json: JsonOption = False,
) -> None:
    """Solve both with the vector engine and certify them; Envido of values only also by linear programs."""
    from game.truco.rules import make_rules
    from solver.truco.vector.cfr.average import Policy
    from solver.truco.vector.cfr.run import Goal, solve
    from solver.truco.vector.cfr.solver import VectorSolver
    from solver.truco.vector.model.game import Game
    from solver.truco.vector.parts import CardsAlone, EnvidoAlone, envido_program
    from solver.truco.vector.response.tiers.response import tier_response

    rules = make_rules()
    values_only = EnvidoAlone(rules, by_value=True)
    games: dict[str, Game] = {
        "envido alone, players know their values only": values_only,
        "envido alone, players know tiers and values": EnvidoAlone(rules),
        "cards alone, players know tiers, values and the tiers played": CardsAlone(rules),
    }
    rows: list[dict[str, Any]] = [
        {
            "game": "envido alone, players know their values only",
            "method": "linear programs of mano and of pie",
            "mano_at_least": envido_program(values_only),
            "mano_at_most": envido_program(values_only, of_pie=True),
        }
    ]
    for name, game in games.items():
        solver = VectorSolver(game)
        with progress(name) as show:
            solve(solver, "dcfr", Goal(iterations=iterations), show=lambda at: show(at.share))
        policy = Policy.of(solver)
        mano, pie = (tier_response(policy, player).value for player in (0, 1))
        rows.append(
            {
                "game": name,
                "method": f"dcfr, {iterations} iterations, best responses at tier level",
                "mano_at_least": -pie,
                "mano_at_most": mano,
            }
        )
    if json:
        print_json(rows)
        return
    for row in rows:
        low, high = row["mano_at_least"], row["mano_at_most"]
        print(f"{row['game']}: mano {low:+.7f} to {high:+.7f}, exploitability {(high - low) / 2:.7f}")
        print(f"  {row['method']}")


if __name__ == "__main__":
    run(app)
