"""The worked cases of the rules text that are about Envido (E4 to E6), and its regression numbers (E9), by their ids.

Notation as in test_truco_cases.
"""

from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest

from game.truco.actions import (
    MAZO,
    RETRUCO,
    TRUCO,
    VALE_CUATRO,
)
from game.truco.cards import DECK_SIZE, card_name, envido_value, parse_cards
from game.truco.hand import Hand
from tests.test_truco_cases import (
    ALLOW,
    ENVIDO_CALLS,
    SEVEN,
    STRONG,
    THIRTY_ONE,
    THIRTY_THREE,
    TRUCO_ANSWERS,
    TWENTY_FIVE,
    WEAK,
    act,
    legal,
    play,
    start,
)

# -------------------------------------------------------------------------------------- E4 Envido value


@pytest.mark.parametrize(
    ("cards", "value"),
    [
        *(
            pytest.param(f"7O 6O {card_name(c)}", 33, id=f"T50-{card_name(c)}")
            for c in range(DECK_SIZE)
            if card_name(c) not in ("7O", "6O")
        ),
        *(
            pytest.param(f"5C 10C {rank}{suit}", 25, id=f"T51-{rank}{suit}")
            for rank in (1, 2, 3, 4, 5, 10, 11, 12)
            for suit in "EBO"
        ),
        pytest.param("6E 5E 7B", 31, id="T52"),
        pytest.param("7B 6O 12C", 7, id="T53"),
        pytest.param("1E 1B 1C", 1, id="T54"),
        pytest.param("4E 5E 6E", 31, id="T55"),
        pytest.param("10E 11B 12C", 0, id="T56"),
        pytest.param("12E 11E 7B", 20, id="T57"),
        pytest.param("12E 7E 3B", 27, id="T58"),
        pytest.param("7E 6E 5E", 33, id="T59"),
        pytest.param("10E 11E 12E", 20, id="T60"),
        pytest.param("1C 2C 3C", 25, id="T61"),
        # Part F: fewer cards.
        pytest.param("7O 12O", 27, id="pair-suited"),
        pytest.param("7O 12E", 7, id="pair-unsuited"),
        pytest.param("4B", 4, id="single"),
        pytest.param("11B", 0, id="single-figure"),
    ],
)
def test_envido_value(cards: str, value: int) -> None:
    assert {envido_value(order) for order in permutations(parse_cards(cards))} == {value}


# --------------------------------------------------------------------------------------- E5 Envido bets


def test_T70_the_round_goes_on_with_value_1() -> None:
    hand = play("B E, W q", THIRTY_THREE, TWENTY_FIVE)
    assert hand.scores == (2, 0)
    assert hand.round_value == 1
    assert hand.to_move == 0
    assert legal(hand) == {*parse_cards(THIRTY_THREE), TRUCO, MAZO}


# accepted and declined value of every chain; F is counted at 3-5, so F = 10.
CHAINS = [
    ("E", 2, 1),
    ("RE", 3, 1),
    ("FE", 10, 1),
    ("E E", 4, 2),
    ("E RE", 5, 2),
    ("E FE", 10, 2),
    ("E E RE", 7, 4),
    ("E E FE", 10, 4),
    ("RE FE", 10, 3),
    ("E RE FE", 10, 5),
    ("E E RE FE", 10, 7),
]
THREE_ENVIDO_CHAINS = [("E E E", 6, 4), ("E E E RE", 9, 6), ("E E E FE", 10, 6), ("E E E RE FE", 10, 9)]


@pytest.mark.parametrize("falta_accept", ["replaces", "adds"])
@pytest.mark.parametrize(("chain", "accepted", "declined"), CHAINS + THREE_ENVIDO_CHAINS)
def test_R23_every_chain(chain: str, accepted: int, declined: int, falta_accept: str) -> None:
    rules = {"max_envido": 3 if "E E E" in chain else 2, "falta_accept": falta_accept}
    calls = chain.split()
    moves = ", ".join(f"{'BW'[i % 2]} {call}" for i, call in enumerate(calls))
    answerer = "BW"[len(calls) % 2]
    if falta_accept == "adds" and calls[-1] == "FE" and len(calls) > 1:
        accepted += declined  # the chain that stood before the Falta
    taken = play(f"{moves}, {answerer} q", THIRTY_THREE, TWENTY_FIVE, (3, 5), **rules)
    assert taken.points_won() == (min(accepted, 12), 0)
    refused = play(f"{moves}, {answerer} nq", THIRTY_THREE, TWENTY_FIVE, (3, 5), **rules)
    assert refused.points_won() == ((0, declined) if answerer == "B" else (declined, 0))
    assert not refused.is_over
    assert refused.to_move == 0
    assert not legal(refused) & ENVIDO_CALLS


@pytest.mark.parametrize(("max_envido", "count"), [(1, 7), (2, 11), (3, 15)])
def test_A11_number_of_chains(max_envido: int, count: int) -> None:
    def chains(hand: Hand) -> int:
        below = 0
        for call in legal(hand) & ENVIDO_CALLS:
            raised = hand.copy()
            raised.apply(call)
            below += 1 + chains(raised)
        return below

    assert chains(start(STRONG, WEAK, max_envido=max_envido)) == count


@pytest.mark.parametrize(
    ("score", "target", "falta", "points"),
    [
        ((10, 14), 30, "leader", 16),
        ((10, 14), 30, "malas_buenas", 1),
        ((0, 0), 30, "malas_buenas", 15),
        ((10, 15), 30, "malas_buenas", 15),
        ((29, 14), 30, "malas_buenas", 1),
        ((3, 2), 9, "leader", 6),
    ],
)
def test_falta_by_target(score: tuple[int, int], target: int, falta: str, points: int) -> None:
    hand = play("B FE, W q", THIRTY_THREE, TWENTY_FIVE, score, target=target, falta=falta)
    assert hand.points_won() == (points, 0)
    assert hand.is_over == (score[0] + points == target)


def test_T84_envido_closes_with_trick_1() -> None:
    hand = play("B 1E, W 4E", STRONG, WEAK, **ALLOW)
    assert not legal(hand) & ENVIDO_CALLS
    act(hand, "B T")
    assert legal(hand) == {*TRUCO_ANSWERS, RETRUCO}
    act(hand, "W q, B 3B")
    assert not legal(hand) & ENVIDO_CALLS


def test_T85_pie_may_call_envido_after_the_lead() -> None:
    assert legal(play("B 1E", STRONG, WEAK)) == {*parse_cards(WEAK), TRUCO, *ENVIDO_CALLS, MAZO}


@pytest.mark.parametrize("answer", ["q", "nq"])
@pytest.mark.parametrize("after_truco", ["forbid", "allow"])
def test_T86_envido_once_in_a_round(answer: str, after_truco: str) -> None:
    hand = play(f"B E, W {answer}", STRONG, WEAK, envido_after_truco=after_truco)
    assert not legal(hand) & ENVIDO_CALLS
    act(hand, "B 1E")
    assert not legal(hand) & ENVIDO_CALLS
    act(hand, "W T")
    assert not legal(hand) & ENVIDO_CALLS


def test_no_envido() -> None:
    hand = start(STRONG, WEAK, envido=False)
    assert legal(hand) == {*parse_cards(STRONG), TRUCO, MAZO}
    act(hand, "B T")
    assert legal(hand) == {*TRUCO_ANSWERS, RETRUCO}


# ------------------------------------------------------------------------- E6 Envido interrupting Truco


def test_T90_envido_is_settled_before_the_truco_answer() -> None:
    hand = play("B T, W E", SEVEN, THIRTY_ONE)
    assert legal(hand) == {*TRUCO_ANSWERS, *ENVIDO_CALLS}  # no Retruco while the Envido is pending
    act(hand, "B q")
    assert hand.scores == (0, 2)
    assert hand.round_value == 1
    assert hand.to_move == 1
    assert legal(hand) == {*TRUCO_ANSWERS, RETRUCO}


def test_T93_the_same_responder_answers_the_truco() -> None:
    hand = play("B T, W E, B E, W nq", SEVEN, THIRTY_ONE)
    assert hand.scores == (2, 0)
    assert hand.to_move == 1
    assert legal(hand) == {*TRUCO_ANSWERS, RETRUCO}


def test_mano_may_interrupt_after_his_lead() -> None:
    """A-6: having led, mano can call Envido only when answering a Truco of pie."""
    hand = play("B 4E, W T", WEAK, STRONG)
    assert legal(hand) == {*TRUCO_ANSWERS, RETRUCO, *ENVIDO_CALLS}
    act(hand, "B E, W q, B q")
    assert hand.to_move == 1


def test_T95_envido_after_an_accepted_truco() -> None:
    assert not legal(play("B T, W q", STRONG, WEAK)) & ENVIDO_CALLS
    assert not legal(play("B T, W q, B 1E", STRONG, WEAK)) & ENVIDO_CALLS
    assert not legal(play("B T, W R", STRONG, WEAK)) & ENVIDO_CALLS
    assert legal(play("B T, W q", STRONG, WEAK, **ALLOW)) >= ENVIDO_CALLS
    assert legal(play("B T, W q, B 1E", STRONG, WEAK, **ALLOW)) >= ENVIDO_CALLS
    assert legal(play("B T, W R", STRONG, WEAK, **ALLOW)) == {*TRUCO_ANSWERS, VALE_CUATRO, *ENVIDO_CALLS}
    assert legal(play("B T, W R, B V", STRONG, WEAK, **ALLOW)) == {*TRUCO_ANSWERS, *ENVIDO_CALLS}


# ----------------------------------------------------------------------------------- E9 regression numbers


@pytest.fixture(scope="module")
def hands() -> tuple[np.ndarray, np.ndarray]:
    """All 9880 hands as 0/1 rows over the 40 cards, and their Envido values."""
    triples = list(combinations(range(DECK_SIZE), 3))
    rows = np.zeros((len(triples), DECK_SIZE), dtype=np.float32)
    for row, triple in zip(rows, triples, strict=True):
        row[list(triple)] = 1
    return rows, np.array([envido_value(triple) for triple in triples])


def test_E9_envido_histogram(hands: tuple[np.ndarray, np.ndarray]) -> None:
    rows, values = hands
    text = (
        "0:108 1:148 2:244 3:364 4:508 5:676 6:868 7:1084 20:364 21:372 22:372 23:504 24:504 25:640 26:640 "
        "27:780 28:408 29:420 30:284 31:292 32:148 33:152"
    )
    expected = {int(value): int(count) for value, count in (entry.split(":") for entry in text.split())}
    assert Counter(values.tolist()) == expected
    assert len(values) == 9880
    assert values.mean() == pytest.approx(17.3611, abs=5e-5)
    assert (values >= 27).sum() == 2484
    assert (values < 20).sum() == 4000
    # "Three-suited" counts the hands with all three cards of one suit.
    assert (rows.reshape(-1, 4, 10).sum(axis=2).max(axis=1) == 3).sum() == 480


def test_E9_envido_comparisons(hands: tuple[np.ndarray, np.ndarray]) -> None:
    """Strict wins and ties over all ordered pairs of disjoint hands, and the chances by own value."""
    rows, values = hands
    is_value = (values[:, None] == np.arange(34)).astype(np.float32)
    pairs = np.zeros((34, 34))  # [own value, other's value] -> ordered pairs of disjoint hands
    for block in np.array_split(np.arange(len(values)), 10):
        disjoint = (rows[block] @ rows.T == 0).astype(np.float32)
        pairs += is_value[block].T.astype(float) @ (disjoint @ is_value)
    total = pairs.sum()
    assert total == 76_767_600
    win, tie = np.tril(pairs, -1).sum() / total, np.trace(pairs) / total
    assert win == pytest.approx(0.474276, abs=5e-7)
    assert tie == pytest.approx(0.051447, abs=5e-7)
    assert win + tie == pytest.approx(0.525724, abs=5e-7)
    by_value = {
        7: (0.4066, 0.3182),
        20: (0.4339, 0.4041),
        23: (0.5590, 0.5116),
        25: (0.6801, 0.6162),
        27: (0.8325, 0.7519),
        29: (0.9179, 0.8743),
        31: (0.9748, 0.9459),
        33: (1, 0.9872),
    }
    for value, (as_mano, as_pie) in by_value.items():
        row = pairs[value]
        assert row[: value + 1].sum() / row.sum() == pytest.approx(as_mano, abs=5e-5)
        assert row[:value].sum() / row.sum() == pytest.approx(as_pie, abs=5e-5)
