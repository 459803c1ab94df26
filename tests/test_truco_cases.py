"""The worked cases of the rules text (T01 to T120), by their ids; those of Envido are in test_truco_cases_envido.

As there, B and W are the two players, B is mano unless the case says otherwise, T R V are Truco, Retruco,
Vale Cuatro, E RE FE the Envido calls, q Quiero, nq No Quiero. Points and scores are (B, W).
"""

from collections import Counter
from itertools import combinations, permutations
from typing import Any, NamedTuple

import numpy as np
import pytest

from game.truco.actions import (
    ENVIDO,
    FALTA_ENVIDO,
    MAZO,
    NO_QUIERO,
    QUIERO,
    REAL_ENVIDO,
    RETRUCO,
    TRUCO,
    VALE_CUATRO,
)
from game.truco.cards import DECK_SIZE, card_name, parse_card, parse_cards, tier
from game.truco.hand import Hand
from game.truco.match import Match
from game.truco.rules import Rules

WORDS = {
    "T": TRUCO,
    "R": RETRUCO,
    "V": VALE_CUATRO,
    "E": ENVIDO,
    "RE": REAL_ENVIDO,
    "FE": FALTA_ENVIDO,
    "q": QUIERO,
    "nq": NO_QUIERO,
    "fold": MAZO,
}
ENVIDO_CALLS = {ENVIDO, REAL_ENVIDO, FALTA_ENVIDO}
TRUCO_ANSWERS = {QUIERO, NO_QUIERO, MAZO}
BOTH = {"fold_vs_envido": "both"}
ALLOW = {"envido_after_truco": "allow"}
ADDS = {"falta_accept": "adds"}
ANY = {"raise_right": "any"}

# The hands of the Envido cases on the pages.
THIRTY_THREE = "7O 6O 4B"
TWENTY_FIVE = "5C 10C 4E"
THIRTY_ONE = "6E 5E 4O"
SEVEN = "7B 4C 10O"

# B wins every trick of STRONG against WEAK; both have Envido value 3 and 4.
STRONG, WEAK = "1E 3B 2O", "4E 10B 11C"
B_WINS_BY_CARDS = "B 1E, W 4E, B 3B, W 10B"
W_WINS_BY_CARDS = "B 4E, W 1E, W 3B, B 10B"


def act(hand: Hand, moves: str, mano: str = "B") -> Hand:
    """Play "B T, W q, B 1E, ...", checking that the named player is the one to move."""
    for move in filter(None, moves.split(", ")):
        player, word = move.split()
        assert hand.to_move == (0 if player == mano else 1), f"{player} is not to move at '{move}'"
        hand.apply(WORDS[word] if word in WORDS else parse_card(word))
    return hand


def start(b: str, w: str, score: tuple[int, int] = (0, 0), **rules: Any) -> Hand:
    """A hand with B as mano."""
    return Hand(Rules(**rules), parse_cards(b), parse_cards(w), *score)


def play(moves: str, b: str, w: str, score: tuple[int, int] = (0, 0), **rules: Any) -> Hand:
    return act(start(b, w, score, **rules), moves)


def legal(hand: Hand) -> set[int]:
    return set(hand.legal_actions())


# ------------------------------------------------------------------------------------------ E1 card order


def wins(card: str, other: str) -> bool:
    return tier(parse_card(card)) < tier(parse_card(other))


def test_T01_tiers_and_counts() -> None:
    order = "1E | 1B | 7E | 7O | 3E 3B 3O 3C | 2E 2B 2O 2C | 1C 1O | 12E 12B 12O 12C | 11E 11B 11O 11C"
    order += " | 10E 10B 10O 10C | 7B 7C | 6E 6B 6O 6C | 5E 5B 5O 5C | 4E 4B 4O 4C"
    expected = [set(parse_cards(group)) for group in order.split(" | ")]
    assert [{c for c in range(DECK_SIZE) if tier(c) == t} for t in range(1, 15)] == expected
    assert [len(group) for group in expected] == [1, 1, 1, 1, 4, 4, 2, 4, 4, 4, 2, 4, 4, 4]
    assert DECK_SIZE == 40


def test_T02_a_three_beats_a_king() -> None:
    assert wins("3C", "12E")


def test_T03_sevens() -> None:
    assert wins("7E", "7B")
    assert wins("7O", "7C")
    assert wins("10C", "7B")


def test_T04_the_four_strongest() -> None:
    top = ["1E", "1B", "7E", "7O"]
    for card, lower in combinations(top, 2):
        assert wins(card, lower)
    others = [card_name(c) for c in range(DECK_SIZE) if card_name(c) not in top]
    assert len(others) == 36
    assert all(wins("7O", other) for other in others)


def test_T05_false_aces() -> None:
    assert tier(parse_card("1C")) == tier(parse_card("1O"))
    for ace in ("1C", "1O"):
        assert all(wins("2" + suit, ace) and wins(ace, "12" + suit) for suit in "EBOC")


def test_T06_threes_and_twos_beat_figures() -> None:
    for low in ("3", "2"):
        for figure in ("10", "11", "12"):
            assert all(wins(low + s, figure + t) for s in "EBOC" for t in "EBOC")


def test_T07_all_ordered_pairs() -> None:
    results = Counter(np.sign(tier(b) - tier(a)) for a, b in permutations(range(DECK_SIZE), 2))
    assert results == {1: 730, -1: 730, 0: 100}


# --------------------------------------------------------------------------- E2 tricks and round winner

# One pair of (B, W) cards for each trick and each result: B wins, W wins, parda.
TRICK_CARDS = [
    {"B": ("3E", "4E"), "W": ("4E", "3E"), "P": ("3E", "3O")},
    {"B": ("1E", "4C"), "W": ("4C", "1E"), "P": ("5E", "5B")},
    {"B": ("2B", "11B"), "W": ("11B", "2B"), "P": ("6E", "6B")},
]


def play_tricks(results: str, mano: str = "B") -> Hand:
    """Play out tricks with these results (B, W or P); the unplayed tricks are filled up as pardas."""
    pairs = [TRICK_CARDS[i][r] for i, r in enumerate(results.ljust(3, "P"))]
    b, w = ([parse_card(pair[side]) for pair in pairs] for side in (0, 1))
    hand = Hand(Rules(), *((b, w) if mano == "B" else (w, b)))
    leader = mano
    for result, (b_card, w_card) in zip(results, pairs, strict=False):
        order = [f"B {b_card}", f"W {w_card}"]
        act(hand, ", ".join(order if leader == "B" else reversed(order)), mano)
        leader = result if result != "P" else mano
    return hand


def b_and_w(hand: Hand, mano: str) -> tuple[int, int]:
    first, second = hand.points_won()
    return (first, second) if mano == "B" else (second, first)


@pytest.mark.parametrize(
    ("results", "mano", "expected"),
    [
        pytest.param("PB", "B", (1, 0), id="T11"),
        pytest.param("PPP", "B", (1, 0), id="T12"),
        pytest.param("PPP", "W", (0, 1), id="T13"),
        pytest.param("BB", "B", (1, 0), id="T14"),
        pytest.param("BP", "B", (1, 0), id="T15"),
        pytest.param("PW", "B", (0, 1), id="T16"),
        pytest.param("BWB", "B", (1, 0), id="T17"),
        pytest.param("BWP", "B", (1, 0), id="T18"),
        pytest.param("WBP", "B", (0, 1), id="T19"),
        pytest.param("PPW", "B", (0, 1), id="T20"),
    ],
)
def test_round_winner(results: str, mano: str, expected: tuple[int, int]) -> None:
    hand = play_tricks(results, mano)
    assert hand.is_over
    assert hand.to_move is None
    assert hand.legal_actions() == []
    assert b_and_w(hand, mano) == hand.scores[:: 1 if mano == "B" else -1] == expected


@pytest.mark.parametrize("mano", ["B", "W"])
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(
    "row", ["BB>B", "BP>B", "PB>B", "BWB>B", "BWW>W", "BWP>B", "WBP>W", "PPB>B", "PPW>W", "PPP>mano"]
)
def test_R13_outcome_table(row: str, swap: bool, mano: str) -> None:
    """The complete outcome table under R-13, its mirrored rows, and each seat as mano."""
    results, winner = row.replace("mano", mano).split(">")
    if swap:
        mirror = str.maketrans("BW", "WB")
        results = results.translate(mirror)
        winner = winner if "mano" in row else winner.translate(mirror)
    assert not play_tricks(results[:-1], mano).is_over
    hand = play_tricks(results, mano)
    assert hand.is_over
    assert b_and_w(hand, mano) == ((1, 0) if winner == "B" else (0, 1))


def test_T10_a_parda_decides_nothing() -> None:
    hand = play_tricks("P")
    assert not hand.is_over
    assert hand.points_won() == (0, 0)


def test_T21_trick_winner_leads() -> None:
    assert play_tricks("W").to_move == 1
    assert play_tricks("B").to_move == 0
    assert play_tricks("WB").to_move == 0


@pytest.mark.parametrize("mano", ["B", "W"])
def test_T22_mano_leads_after_a_parda(mano: str) -> None:
    assert play_tricks("P", mano).to_move == 0
    assert play_tricks("PP", mano).to_move == 0


@pytest.mark.parametrize(
    ("results", "winner"),
    [("BB", 0), ("BP", 0), ("PB", 0), ("BW", 0), ("PP", 0), ("WB", 1), ("WP", 1), ("PW", 1)],
)
def test_hand_size_2(results: str, winner: int) -> None:
    """Part F: with two cards a 1-1 goes to the winner of trick 1, two pardas to mano."""
    pairs = [TRICK_CARDS[i][r] for i, r in enumerate(results)]
    b, w = ([parse_card(pair[side]) for pair in pairs] for side in (0, 1))
    hand = Hand(Rules(hand_size=2), b, w)
    for trick, first in zip(range(2), (0, 1 if results[0] == "W" else 0), strict=True):
        assert hand.to_move == first
        for card in (b[trick], w[trick]) if first == 0 else (w[trick], b[trick]):
            hand.apply(card)
    assert hand.is_over
    assert hand.points_won() == ((1, 0) if winner == 0 else (0, 1))


@pytest.mark.parametrize(("result", "winner"), [("B", 0), ("P", 0), ("W", 1)])
def test_hand_size_1(result: str, winner: int) -> None:
    """Part F: with one card there is one trick, and a parda goes to mano."""
    b, w = TRICK_CARDS[0][result]
    hand = play(f"B {b}, W {w}", b, w, hand_size=1)
    assert hand.is_over
    assert hand.points_won() == ((1, 0) if winner == 0 else (0, 1))


# ------------------------------------------------------------------------------------------------ E3 Truco


def test_T30_a_pending_call_changes_no_value() -> None:
    hand = play("B T", STRONG, WEAK)
    assert hand.round_value == 1
    assert hand.to_move == 1
    assert legal(hand) == {*TRUCO_ANSWERS, RETRUCO, *ENVIDO_CALLS}


def test_T31_quiero_locks_the_value() -> None:
    hand = play("B T, W q", STRONG, WEAK)
    assert hand.round_value == 2
    assert hand.to_move == 0
    assert set(parse_cards(STRONG)) <= legal(hand)
    assert not hand.is_over


class Case(NamedTuple):
    """Moves from a fresh deal, and the points (B, W) they lead to; `over` says whether the hand has ended."""

    moves: str
    b: str
    w: str
    points: tuple[int, int]
    over: bool = True
    score: tuple[int, int] = (0, 0)
    rules: dict[str, Any] = {}  # noqa: RUF012 - never changed


TRUCO_CASES = {
    "T32": Case("B T, W nq", STRONG, WEAK, (1, 0)),
    "T33": Case(f"B T, W q, {B_WINS_BY_CARDS}", STRONG, WEAK, (2, 0)),
    "T34": Case("B T, W R, B nq", STRONG, WEAK, (0, 2)),
    "T35": Case(f"B T, W R, B q, {W_WINS_BY_CARDS}", WEAK, STRONG, (0, 3)),
    "T36": Case("B T, W R, B V, W nq", STRONG, WEAK, (3, 0)),
    "T37": Case(f"B T, W R, B V, W q, {W_WINS_BY_CARDS}", WEAK, STRONG, (0, 4)),
}

ENVIDO_CASES = {
    "T70": Case("B E, W q", THIRTY_THREE, TWENTY_FIVE, (2, 0), False),
    "T71": Case("B E, W nq", THIRTY_THREE, TWENTY_FIVE, (1, 0), False),
    "T72q": Case("B RE, W q", TWENTY_FIVE, THIRTY_THREE, (0, 3), False),
    "T72nq": Case("B RE, W nq", TWENTY_FIVE, THIRTY_THREE, (1, 0), False),
    "T73": Case("B E, W E, B nq", THIRTY_THREE, TWENTY_FIVE, (0, 2), False),
    "T74": Case("B E, W E, B q", THIRTY_THREE, TWENTY_FIVE, (4, 0), False),
    "T75q": Case("B E, W RE, B q", THIRTY_THREE, TWENTY_FIVE, (5, 0), False),
    "T75nq": Case("B E, W RE, B nq", THIRTY_THREE, TWENTY_FIVE, (0, 2), False),
    "T76q": Case("B E, W E, B RE, W q", TWENTY_FIVE, THIRTY_THREE, (0, 7), False),
    "T76nq": Case("B E, W E, B RE, W nq", TWENTY_FIVE, THIRTY_THREE, (4, 0), False),
    "T77": Case("B E, W E, B RE, W FE, B nq", THIRTY_THREE, TWENTY_FIVE, (0, 7), False),
    "T78": Case("B FE, W q", TWENTY_FIVE, THIRTY_THREE, (0, 15)),
    "T79": Case("B FE, W q", TWENTY_FIVE, THIRTY_THREE, (0, 5), False, (10, 7)),
    "T80": Case("B FE, W q", THIRTY_THREE, TWENTY_FIVE, (5, 0), True, (10, 7)),
    # B can answer an Envido with Falta Envido after his lead, since raises belong to the answer.
    "T81": Case("B 5C, W E, B FE, W q", TWENTY_FIVE, THIRTY_THREE, (0, 1), False, (14, 0)),
    "T81adds": Case("B 5C, W E, B FE, W q", TWENTY_FIVE, THIRTY_THREE, (0, 3), False, (14, 0), ADDS),
    "T82": Case("B FE, W nq", TWENTY_FIVE, THIRTY_THREE, (1, 0), False),
    "T83": Case("B E, W q", "7E 12E 3B", "7O 11O 4C", (2, 0), False),  # both 27
    "T83pie-calls": Case("B 3B, W E, B q", "7E 12E 3B", "7O 11O 4C", (2, 0), False),
    "T87": Case("B 7O, W E, B q", THIRTY_THREE, "6E 5E 10C", (2, 0), False),
}

INTERRUPTION_CASES = {
    "T91": Case("B T, W E, B q, W nq", SEVEN, THIRTY_ONE, (1, 2)),
    "T92": Case("B T, W E, B q, W q, B 3B, W 4O, B 1B, W 5E", "1B 3B 7C", THIRTY_ONE, (2, 2)),
    "T93": Case("B T, W E, B nq", SEVEN, THIRTY_ONE, (0, 1), False),
    "T94": Case("B T, W E, B q", SEVEN, THIRTY_ONE, (0, 2), True, (0, 13)),
    "T96": Case("B T, W E, B fold", SEVEN, THIRTY_ONE, (0, 1)),
    "T96both": Case("B T, W E, B fold", SEVEN, THIRTY_ONE, (0, 2), rules=BOTH),
    # `allow`: an Envido may interrupt a Retruco; folding to it then gives the accepted Truco.
    "T95retruco": Case("B T, W R, B E, W fold", SEVEN, THIRTY_ONE, (2, 0), rules=ALLOW),
    "T95retruco-both": Case("B T, W R, B E, W fold", SEVEN, THIRTY_ONE, (3, 0), rules=ALLOW | BOTH),
}

FOLD_CASES = {
    "T100": Case("B fold", STRONG, WEAK, (0, 1)),
    "T101": Case("B T, W q, B fold", STRONG, WEAK, (0, 2)),
    "T101R": Case("B T, W R, B q, B fold", STRONG, WEAK, (0, 3)),
    "T101V": Case("B T, W R, B V, W q, B fold", STRONG, WEAK, (0, 4)),
    "T102": Case("B T, W fold", STRONG, WEAK, (1, 0)),
    "T103": Case("B T, W R, B fold", STRONG, WEAK, (0, 2)),
    "T104": Case("B E, W fold", STRONG, WEAK, (1, 0)),
    "T104both": Case("B E, W fold", STRONG, WEAK, (2, 0), rules=BOTH),
    "T105": Case("B E, W E, B RE, W fold", STRONG, WEAK, (1, 0)),
    "T105both": Case("B E, W E, B RE, W fold", STRONG, WEAK, (5, 0), rules=BOTH),
    "T106": Case(B_WINS_BY_CARDS, STRONG, WEAK, (1, 0), score=(14, 3)),
    "T107": Case("B 4B, W E, B q", "7C 4B 10O", THIRTY_ONE, (0, 1), score=(14, 14)),
    "T108": Case(f"B T, W R, B V, W q, {B_WINS_BY_CARDS}", STRONG, WEAK, (1, 0), score=(14, 0)),
}


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=name)
        for table in (TRUCO_CASES, ENVIDO_CASES, INTERRUPTION_CASES, FOLD_CASES)
        for name, case in table.items()
    ],
)
def test_points(case: Case) -> None:
    hand = play(case.moves, case.b, case.w, case.score, **case.rules)
    assert hand.points_won() == case.points
    assert hand.scores == (case.score[0] + case.points[0], case.score[1] + case.points[1])
    assert hand.is_over == case.over


def test_T38_nothing_stands_above_vale_cuatro() -> None:
    assert legal(play("B T, W R, B V", STRONG, WEAK)) == TRUCO_ANSWERS


def test_T39_caller_waits_for_the_answer() -> None:
    hand = play("B T", STRONG, WEAK)
    for card in parse_cards(STRONG):
        with pytest.raises(ValueError, match=card_name(card)):
            hand.apply(card)
    assert hand.to_move == 1


def test_T40_only_the_accepter_may_raise_later() -> None:
    hand = play("B T, W q", STRONG, WEAK)
    assert RETRUCO not in legal(hand)
    act(hand, "B 1E")
    assert RETRUCO in legal(hand)
    act(hand, "W R, B q, W 4E")
    assert hand.to_move == 0
    assert VALE_CUATRO in legal(hand)  # B accepted the Retruco
    act(hand, "B 3B")
    assert VALE_CUATRO not in legal(hand)


def test_T40_any_player_on_turn_may_raise() -> None:
    hand = play("B T, W q", STRONG, WEAK, **ANY)
    assert RETRUCO in legal(hand)
    act(hand, "B R, W q")
    assert hand.round_value == 3
    assert VALE_CUATRO in legal(hand)


def test_T41_truco_before_the_last_card() -> None:
    hand = play("B 3E, W 4E, B 4C, W 1E, W 2B", "3E 4C 11B", "4E 1E 2B")
    assert legal(hand) == {parse_card("11B"), TRUCO, MAZO}
    act(hand, "B T, W q, B 11B")
    assert hand.points_won() == (0, 2)


# --------------------------------------------------------------------------------- E7 fold and match end


@pytest.mark.parametrize(
    ("moves", "points"),
    [
        pytest.param("B fold", (0, 2), id="mano-before-his-card"),
        pytest.param("B 1E, W fold", (2, 0), id="pie-before-his-card"),
        pytest.param("B E, W nq, B fold", (1, 1), id="envido-used"),
        pytest.param("B T, W q, B fold", (0, 2), id="truco-accepted"),
        pytest.param("B T, W fold", (1, 0), id="truco-pending"),
        pytest.param("B E, W fold", (1, 0), id="envido-pending"),
        pytest.param("B 1E, W 4E, B fold", (0, 1), id="trick-2"),
    ],
)
def test_first_trick_fold_bonus(moves: str, points: tuple[int, int]) -> None:
    assert play(moves, STRONG, WEAK, first_trick_fold_bonus=1).points_won() == points


def test_first_trick_fold_bonus_needs_a_callable_envido() -> None:
    assert play("B fold", STRONG, WEAK, first_trick_fold_bonus=1, envido=False).points_won() == (0, 1)
    after_truco = play("B T, W q, B fold", STRONG, WEAK, first_trick_fold_bonus=1, **ALLOW)
    assert after_truco.points_won() == (0, 3)


@pytest.mark.parametrize("case_id", ["T78", "T80", "T94", "T106", "T107", "T108"])
def test_no_move_after_the_match(case_id: str) -> None:
    case = (ENVIDO_CASES | INTERRUPTION_CASES | FOLD_CASES)[case_id]
    hand = play(case.moves, case.b, case.w, case.score)
    assert 15 in hand.scores
    assert hand.to_move is None
    assert hand.legal_actions() == []


def test_T109_mano_alternates() -> None:
    """B is seat 0; the second of the four hands ends by a fold."""
    match = Match(Rules())
    manos = []
    for moves in (["nq"], [], ["nq"], ["nq"]):
        manos.append("BW"[match.mano_seat])
        match.deal(parse_cards(STRONG), parse_cards(WEAK))
        assert match.to_move == match.mano_seat
        for word in ["T", *moves] if moves else ["fold"]:
            match.apply(WORDS[word])
    assert manos == ["B", "W", "B", "W"]
    assert match.scores == (3, 1)  # each caller's Truco was declined; W, mano of the second hand, folded
    assert match.winner is None


# ------------------------------------------------------------------------------------- E8 opening diagram


def test_T120_opening() -> None:
    hand = start(STRONG, WEAK)
    assert hand.to_move == 0
    expected = {*parse_cards(STRONG), TRUCO, ENVIDO, REAL_ENVIDO, FALTA_ENVIDO, MAZO}
    assert hand.legal_actions() == sorted(expected)
    assert len(expected) == 8
