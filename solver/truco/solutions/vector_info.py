"""What readers are told of a policy of the vector engine, whole or compact."""

from __future__ import annotations

from solver.truco.reading.solution import NOT_CERTIFIED, SolutionInfo
from solver.truco.vector.policy.info import VectorInfo


def vector_solution_info(info: VectorInfo, deals: int, exploitability: float | None) -> SolutionInfo:
    """The description of a policy with so many deals; exploitability: of all of it, None if not certified."""
    return SolutionInfo(
        rules=info.rules,
        rules_hash=info.rules_hash,
        score=info.score,
        utility="points" if info.equity is None else "match",
        equity=info.equity,
        engine="vector",
        algorithm=info.schedule,
        abstraction=str(info.abstraction),
        key_version=0,
        iterations=info.iterations,
        deals=deals,
        seed=0,
        seconds=info.seconds,
        mano_value=None,
        mano_value_error=None,
        exploitability=exploitability,
        exploitability_method=(
            NOT_CERTIFIED if exploitability is None else "exact with real cards, of the whole policy"
        ),
    )
