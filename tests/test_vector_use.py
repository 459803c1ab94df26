"""Advice, tables and plots read a policy of the vector engine as they read a quick solution."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from game.truco.actions import ENVIDO, FALTA_ENVIDO, REAL_ENVIDO, TRUCO, action_name
from game.truco.equity import simple_equity
from game.truco.hand import MANO, Hand
from game.truco.rules import make_rules
from game.truco.spot import Spot, parse_history
from solver.storage import StorageError
from solver.truco.reading.advice import advise
from solver.truco.reading.census import take_census
from solver.truco.reading.questions import answer_question, turn_question
from solver.truco.solutions.compact_solution import CompactSolution
from solver.truco.solutions.load import load_solution
from solver.truco.solutions.trunk_census import covers
from solver.truco.solutions.vector_solution import VectorSolution, load_vector_solution
from solver.truco.vector.cfr.evaluate import policy_value
from solver.truco.vector.model.abstraction import Abstraction
from solver.truco.vector.model.game import Game
from solver.truco.vector.policy.files import StoredPolicy, load_policy
from solver.truco.vector.policy.info import VectorInfo
from solver.truco.vector.policy.locate import action_mix
from solver.truco.vector.policy.shrink import compact_policy
from solver.truco.vector.response.cards.response import Policy
from tests.test_truco_command import truco
from tests.test_vector_lookup import NONE, random_tables

CARDS = (0, 26, 32)
"""1E 7O 3C."""


@pytest.fixture(scope="module")
def stored() -> StoredPolicy:
    """Random tables of Truco without Envido."""
    game = Game(make_rules("base", {"envido": False}), (0, 0), None, NONE)
    return StoredPolicy(VectorInfo.of(game, "dcfr", 1, 0.0), game, random_tables(game, 1.0, 4))


@pytest.fixture(scope="module")
def match_file(tmp_path_factory) -> Path:
    """Random tables of the deciding hand, in a file."""
    rules = make_rules("base", {})
    game = Game(rules, (14, 14), simple_equity(rules.target), Abstraction())
    path = tmp_path_factory.mktemp("policies") / "match.vector"
    StoredPolicy(VectorInfo.of(game, "dcfr", 1, 0.0), game, random_tables(game, 1.0, 4)).save(path)
    return path


def test_simulated_values_of_a_census_add_up_to_the_value_of_the_policy(stored: StoredPolicy) -> None:
    rounds = 30
    (census,) = take_census(
        VectorSolution(stored), [(turn_question(MANO, 0, False, round_value=1), "hand")], rounds
    )
    assert census.seen.sum() == rounds * 9880  # mano always begins
    mean = 0.0
    for row in census.frame().to_dict("records"):
        mean += sum(row[name] * row[f"ev_{name}"] for name in census.actions()) / 9880
    value = policy_value(Policy(stored.game, stored.tables))
    # Every hand is worth at most 4 points: a standard error of less than 2.5 / sqrt(deals).
    assert abs(mean - value) < 4 * 2.5 / census.deals**0.5
    assert abs(value) > 5 * 1.5 / census.deals**0.5


@pytest.mark.parametrize("words", ["", "truco quiero 7O 4C", "3C 7E 3B 7O"])
def test_the_advised_mix_is_the_stored_one(stored: StoredPolicy, words: str) -> None:
    game = stored.game
    spot = Spot(game.rules, MANO, CARDS, (0, 0), tuple(parse_history(words)))
    hand = Hand(game.rules, spot.cards, spot.others[0], 0, 0)
    for action in spot.history:
        hand.apply(action)
    expected = action_mix(game, stored.tables, hand)
    advice = advise(VectorSolution(stored), spot, simple_equity(game.rules.target), 200)
    assert {row.action: row.probability for row in advice.actions} == pytest.approx(expected)
    assert all(row.points is not None for row in advice.actions)


def test_commands_read_a_policy(capsys, tmp_path: Path, match_file: Path) -> None:
    status, out, _ = truco(capsys, "advise", "1E 7O 3C", "--solution", match_file, "--samples", 200, "--json")
    assert status == 0
    told = json.loads(out)
    assert (told["engine"], told["score"], told["utility"]) == ("vector", {"mano": 14, "pie": 14}, "match")
    solution = load_vector_solution(match_file)
    hand = Hand(solution.rules, CARDS, (1, 2, 3), 14, 14)
    mix = action_mix(solution.stored.game, solution.stored.tables, hand)
    shown = {row["action"]: row["probability"] for row in told["actions"]}
    assert shown == pytest.approx({action_name(action): share for action, share in mix.items()})

    words = ("table", "envido", "--solution", match_file, "--rounds", 1, "--json")
    told = json.loads(truco(capsys, *words)[1])
    assert (told["engine"], told["values"], told["mano_value"]) == ("vector", "simulated", None)
    opening = told["sections"][0]["total"]
    assert opening["decisions"] == 9880
    assert sum(opening["shares"].values()) == pytest.approx(1.0)
    assert 0 < opening["values"]["play"] < 1
    status, out, _ = truco(capsys, "table", "truco", "--seat", "pie", "--solution", match_file, "--rounds", 1)
    assert status == 0
    assert "vector engine" in out

    picture = tmp_path / "envido.png"
    words = ("plot", "envido", "--solution", match_file, "--rounds", 1, "--out", picture)
    assert truco(capsys, *words)[0] == 0
    assert picture.stat().st_size > 0


@pytest.fixture(scope="module")
def match_compact(match_file: Path) -> CompactSolution:
    """Trick 1 of the same, nothing dropped."""
    return CompactSolution(compact_policy(load_policy(match_file), 0.0))


def test_all_deals_counted_agree_with_hands_played(match_file: Path, match_compact: CompactSolution) -> None:
    exact, played = match_compact, VectorSolution(load_policy(match_file))
    calls = [[ENVIDO], [ENVIDO, REAL_ENVIDO], [FALTA_ENVIDO], [TRUCO]]
    for seat in (0, 1):
        questions = [turn_question(seat, 0, seat == 1, envido_open=True, round_value=1)]
        questions += [answer_question(seat, call, True if call == calls[-1] else None) for call in calls]
        asked = [(question, "envido") for question in questions]
        both = zip(take_census(exact, asked), take_census(played, asked, 20), strict=True)
        for question, (counted, sampled) in zip(questions, both, strict=True):
            assert covers(question)
            assert counted.exact
            assert not sampled.exact
            assert counted.unknown.sum() == 0
            often, found = sampled.seen.sum() / sampled.deals, counted.seen.sum() / counted.deals
            # A hand may come to a question more than once, hence the factor.
            assert abs(often - found) < 5 * 2 * (found / sampled.deals) ** 0.5, question.name
            one, other = counted.total().iloc[0], sampled.total().iloc[0]
            if sampled.seen.sum() < 500:
                continue
            assert counted.actions() == sampled.actions()
            spread = 5 / sampled.seen.sum() ** 0.5
            for name in counted.actions():
                assert abs(one[name] - other[name]) < spread, (question.name, name)
                # Chances to win differ by at most 1 from hand to hand; mixes are rounded to 8 bits.
                if not np.isnan(other[f"ev_{name}"]):
                    assert abs(one[f"ev_{name}"] - other[f"ev_{name}"]) < spread + 0.01, (question.name, name)


def test_questions_beyond_trick_1_are_not_counted(match_compact: CompactSolution) -> None:
    asked = [(turn_question(MANO, 0, False, round_value=1), "hand")]
    assert match_compact.counts(asked) is None
    assert not any(covers(turn_question(MANO, trick, False)) for trick in range(3))
    assert not covers(answer_question(MANO, [TRUCO], False))


def test_wrong_files_are_refused_in_one_line(capsys, tmp_path: Path, match_file: Path) -> None:
    status, _, err = truco(capsys, "advise", "1E 7O 3C", "--solution", match_file, "--score", "3-3")
    assert (status, err.count("\n")) == (2, 1)
    assert "the solution is for score 14-14" in err
    broken = tmp_path / "broken.vector"
    broken.write_bytes(match_file.read_bytes()[:-1000])
    with pytest.raises(StorageError, match="damaged in its header"):
        load_solution(broken)
