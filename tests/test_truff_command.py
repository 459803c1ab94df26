"""The `truff` command as a new user types it."""

import json
import subprocess
import sys

import pytest

from game.truff.cards import parse_cards
from game.truff.rules import Rules, bid_denomination, bid_number, legal_bids
from scripts.truff import main

HAND = "2D 9D KD 3C 4C 2H 7H QH AH 5S TS JS AS"


def truff(capsys, *words):
    """Exit status, standard output and error of one command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["truff", *map(str, words)])
        with pytest.raises(SystemExit) as exit_:
            main()
    out, err = capsys.readouterr()
    return exit_.value.code, out, err


def test_advise_bid_ranks_every_contract_and_repeats_itself(capsys):
    status, out, _ = truff(capsys, "advise", "bid", HAND, "--deals", 200, "--json")
    assert status == 0
    told = json.loads(out)
    contracts = {(bid_denomination(bid), bid_number(bid)) for bid in legal_bids(parse_cards(HAND), Rules())}
    assert len(told["bids"]) == len(contracts)
    assert all(sum(bid["tricks"]) == pytest.approx(1) for bid in told["bids"])
    # A middling hand: a small number beats bidding high, and points of a hopeless bid are negative.
    assert told["bids"][0]["number"] in (2, 3, 4, 5)
    assert told["bids"][-1]["number"] >= 9
    assert told["bids"][-1]["points"] < -5
    best = told["bids"][0]
    assert {(way["number"], way["denomination"]) for way in told["ways_to_show"]} == {
        (best["number"], best["denomination"])
    }
    assert truff(capsys, "advise", "bid", HAND, "--deals", 200, "--json")[1] == out
    assert "best contracts" in truff(capsys, "advise", "bid", HAND, "--deals", 200)[1]


def test_advise_bid_bids_trumps_with_a_long_strong_suit(capsys):
    strong = "AS KS QS JS TS 5S 4S AH KH AD KD 2C 3C"
    status, out, _ = truff(capsys, "advise", "bid", strong, "--deals", 200, "--json")
    assert status == 0
    best = json.loads(out)["bids"][0]
    assert (best["denomination"], best["number"] >= 8) == ("S", True)


def test_advise_play_with_a_face_down_trump(capsys):
    story = ("--bids", "4C / 3D / 2S / 5H", "--plays", "9C 3C AC 2C / 6D ? TD")
    status, out, err = truff(capsys, "advise", "play", HAND, *story, "--json")
    assert (status, err) == (0, "")
    told = json.loads(out)
    assert told["situation"] == {
        "trump": "H",
        "mode": "atas",
        "numbers": [4, 3, 2, 5],
        "won": [0, 1, 0, 0],
        "contract_winner": 3,
    }
    # The trick is lost to a trump: 9D and KD lose alike, and the low card is worth no more than they are.
    assert {play["card"] for play in told["plays"]} == {"2D", "9D", "KD"}
    assert "Play " in truff(capsys, "advise", "play", HAND, *story)[1]


def test_advise_mode(capsys):
    hand = "4S AS KS 2S 3D JD 4C 7C TC 5H 6H 8H QH"
    status, out, _ = truff(capsys, "advise", "mode", hand, "--bids", "4S / 2D AD / 4H / 2C", "--json")
    assert status == 0
    told = json.loads(out)
    assert told["mode"] == ("atas" if told["atas"] >= told["bawah"] else "bawah")


def test_simulate_reports_intervals(capsys):
    options = ("--hero", "rollout", "--others", "rule", "--deals", 200, "--json")
    status, out, err = truff(capsys, "simulate", *options)
    assert status == 0
    assert "rollout against three rule" in err
    told = json.loads(out)
    assert told["over_rule"] - told["over_rule_interval"] > 0.3
    assert truff(capsys, "simulate", *options)[1] == out


def test_table_and_plot_write_files(capsys, tmp_path):
    csv, picture = tmp_path / "table.csv", tmp_path / "hand.png"
    status, out, _ = truff(capsys, "table", "--hands", 100, "--deals", 5, "--out", csv)
    assert status == 0
    assert "learned bids of 100 random hands" in out
    assert csv.read_text().startswith("longest,honours,hands")
    assert truff(capsys, "plot", HAND, "--deals", 50, "--out", picture)[0] == 0
    assert picture.stat().st_size > 10_000


def test_mini_measures_the_players(capsys):
    status, out, _ = truff(capsys, "mini", "--ranks", 2, "--players", 2, "--iterations", 50, "--json")
    assert status == 0
    told = json.loads(out)
    assert told["nash_conv"] < 0.05
    assert set(told["play"]) == {"search", "rollout", "rule"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["advise", "bid", "2D 3D"], "a hand has 13 different cards, not 2"),
        (["advise", "bid", HAND.replace("AS", "1S")], "not a card: '1S'"),
        (["advise", "bid", HAND, "--trump-lead", "always"], "trump_lead must be one of broken, first, never"),
        (["advise", "play", HAND, "--bids", "4C / 3D / 2S"], "4 bids are needed"),
        (["advise", "play", HAND, "--bids", "4C / 3D / 2S / 5H"], "not your turn"),
        (["advise", "mode", HAND, "--bids", "4C / 3D / 2S / 5H"], "no mode for you to choose"),
        (
            ["advise", "play", HAND, "--bids", "4C / 3D / 2S / 5H", "--mode", "x"],
            "mode must be atas or bawah",
        ),
        (["simulate", "--hero", "bob"], "no player 'bob'"),
        (["plot", HAND, "--out", "hand.gif"], "pictures are .png, .svg or .pdf"),
        (["table", "--out", "nowhere/table.csv"], "folder nowhere does not exist"),
        (["mini", "--ranks", "4"], "cannot be dealt evenly"),
    ],
)
def test_errors_are_one_line_with_status_2(capsys, words, message):
    status, out, err = truff(capsys, *words)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1


def test_help_is_light():
    code = (
        "import sys; sys.argv = ['truff', '--help']\n"
        "from scripts.truff import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([m for m in ('numpy', 'numba', 'pyspiel', 'matplotlib') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[]"
