"""`truco spot ID` as a user types it: the state of the hand, the advice, and `truco advise` that prints the ID."""

import json

import pytest

from tests.test_truco_command import truco

LATER = "base.0-3.pie.4B6O7O.truco-envido-quiero.25"


def test_advice_names_its_spot_and_the_spot_gives_the_same_advice(capsys, quick_solution_file):
    options = ["--solution", quick_solution_file, "--samples", 200, "--seed", 3]
    question = ["advise", "7O 6O 4B", "--pie", "--history", "envido"]
    told = json.loads(truco(capsys, *question, *options, "--json")[1])
    assert told["spot"] == "base.0-0.pie.4B6O7O.envido"
    again = json.loads(truco(capsys, "spot", told["spot"], *options, "--json")[1])
    assert again["spot"] == told["spot"]
    assert again["advice"]["actions"] == told["actions"]
    assert "spot: base.0-0.pie.4B6O7O.envido\n" in truco(capsys, *question, *options)[1]


def test_the_state_for_machines(capsys):
    told = json.loads(truco(capsys, "spot", LATER, "--state", "--json")[1])
    assert told["score"] == {"mano": 0, "pie": 3}
    assert told["score_now"] == {"mano": 0, "pie": 5}
    assert (told["seat"], told["decision"], told["pending_truco"]) == ("pie", "answer_truco", 2)
    assert (told["envido_value"], told["envido_shown"], told["envido_state"]) == (33, 25, "accepted")
    assert told["history"][1] == {"seat": "pie", "action": "envido"}
    assert told["legal"] == ["retruco", "quiero", "no_quiero", "mazo"]
    assert told["tricks"] == []


def test_the_state_for_people(capsys):
    here = "base.0-0.mano.1B3O4O.3O-6E-truco-retruco"
    status, out, err = truco(capsys, "spot", here, "--state")
    assert (status, err) == (0, "")
    for line in (
        here,
        "mano: dealt 1B 3O 4O, Envido 27; still held 1B 4O",
        "m:3O p:6E m:truco p:retruco",
        "trick 1    mano 3O, pie 6E: mano",
        "round worth 2, retruco not answered yet",
        "decision   mano, answer truco",
    ):
        assert line in out


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("base.0-0.mano.7O6O4B", "not in canonical form, which is base.0-0.mano.4B6O7O"),
        ("base.0-0", "is not of the form RULES.SCORE.SEAT.CARDS"),
    ],
)
def test_a_wrong_id_is_one_line_and_status_2(capsys, text, reason):
    status, out, err = truco(capsys, "spot", text)
    assert (status, out) == (2, "")
    assert reason in err
    assert err.count("\n") == 1
