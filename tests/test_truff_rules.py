"""Every case of the Truff rule sheet by its id: bids, contract winner, mode, tricks and points."""

import pytest

from game.truff.cards import NO_TRUFF, card_name, card_names, parse_card, parse_cards, parse_denomination
from game.truff.rules import (
    Mode,
    Rules,
    bid_denomination,
    bid_number,
    can_become_bid,
    check_bid,
    check_hand,
    contract_winner,
    forced_mode,
    is_legal_bid,
    legal_bids,
    legal_follows,
    legal_leads,
    points,
    shifted_numbers,
    trick_winner,
)

RULES = Rules()
D, C, H, S = range(4)


def bid(text):
    return tuple(sorted(parse_cards(text)))


@pytest.mark.parametrize(
    ("case", "cards", "number", "denomination"),
    [
        ("U01", "2C 3C", 5, C),
        ("U05", "AH", 1, H),
        ("U06a", "2H", 2, H),
        ("U06b", "4H", 4, H),
        ("U06c", "9H", 9, H),
        ("U07", "3C 4D", 7, NO_TRUFF),
        ("U09", "4C", 4, C),
        ("U10", "3C 2C 2D", 7, NO_TRUFF),
    ],
)
def test_bid_number_and_denomination(case, cards, number, denomination):
    assert is_legal_bid(bid(cards), RULES)
    assert (bid_number(bid(cards)), bid_denomination(bid(cards))) == (number, denomination)


@pytest.mark.parametrize(
    ("case", "cards"),
    [
        ("U04a", "KC"),
        ("U04b", "KC 5C"),
        ("U08a", "3C 3D"),
        ("U08b", "AC 4D"),
        ("U11", "TS 9S"),
        ("U12", ""),
        ("NT at most 13", "TS 4D"),
    ],
)
def test_illegal_bids(case, cards):
    assert not is_legal_bid(bid(cards), RULES)


def test_u11_is_legal_without_the_cap():
    assert is_legal_bid(bid("TS 9S"), Rules(bid_max=19))


def test_u02_u03_club_numbers_with_fewest_cards():
    bids = legal_bids(parse_cards("2C 3C 8C KC AC"), RULES)
    assert [b for b in bids if bid_number(b) == 5] == [bid("2C 3C")]
    fewest: dict[int, int] = {}
    for b in bids:
        fewest[bid_number(b)] = min(len(b), fewest.get(bid_number(b), 99))
    assert fewest == {1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 3, 8: 1, 9: 2, 10: 2, 11: 2, 12: 3, 13: 3}


def test_u13_the_worst_hand_still_has_a_bid():
    assert legal_bids(parse_cards("JD QD KD JC QC KC JH QH KH JS QS KS TS"), RULES) == [bid("TS")]


@pytest.mark.parametrize(
    ("case", "bids", "winner", "trump"),
    [
        ("U20", ["3C", "2H", "5S", "6D"], 3, D),
        ("U21", ["8H", "6H 2H", "AH 3H 4H"], 0, H),
        ("U22", ["6H 2H", "AH 3H 4H"], 0, H),
        ("U23", ["4D", "4C", "4H", "4S"], 3, S),
        ("U23 reversed", ["4S", "4H", "4C", "4D"], 0, S),
        ("U24", ["3C 4D", "7S"], 0, NO_TRUFF),
        ("U25", ["8D", "3C 4D"], 0, D),
        ("U26", ["7S", "3S 4S"], 0, S),
        ("U27", ["5H 3H", "6H 2H"], 1, H),
        ("U28", ["4S 3H", "5C 2D"], 1, NO_TRUFF),
        ("U29", ["4D 3C", "4S 3H"], 1, NO_TRUFF),
        ("next suit decides", ["4S 3D 2C", "4H 3S 2H"], 0, NO_TRUFF),
    ],
)
def test_contract_winner(case, bids, winner, trump):
    parsed = [bid(b) for b in bids]
    assert contract_winner(parsed) == winner
    assert bid_denomination(parsed[winner]) == trump


def test_u20_u30_to_u32_mode_from_the_sum():
    assert forced_mode(3 + 2 + 5 + 6, RULES) is Mode.ATAS  # U20
    assert forced_mode(5 + 5 + 4 + 4, RULES) is Mode.ATAS  # U30
    assert forced_mode(12, RULES) is Mode.BAWAH  # U31
    assert forced_mode(4 + 3 + 2 + 4, RULES) is None  # U32


@pytest.mark.parametrize(
    ("case", "numbers", "mode", "shifted"),
    [
        ("U33", [4, 3, 2, 4], Mode.ATAS, [5, 4, 3, 5]),
        ("U34", [4, 3, 2, 4], Mode.BAWAH, [3, 2, 1, 3]),
        ("U35", [10, 1, 1, 1], Mode.BAWAH, [9, 0, 0, 0]),
    ],
)
def test_choice_at_thirteen(case, numbers, mode, shifted):
    assert shifted_numbers(numbers, mode) == shifted
    assert forced_mode(sum(shifted), RULES) is mode


@pytest.mark.parametrize(
    ("case", "trump", "cards", "place"),
    [
        ("U40", D, "2H 5H KH 2D", 3),
        ("U41", D, "2H 3D KH 2D", 1),
        ("U42", D, "2H AS AC 3H", 3),
        ("U43", NO_TRUFF, "2H AD KH AS", 2),
        ("led trump", D, "2D AS 3D AH", 2),
    ],
)
def test_trick_winner(case, trump, cards, place):
    assert trick_winner(parse_cards(cards), trump) == place


def test_u44_u45_following():
    assert legal_follows(parse_cards("2D 5H KH AS"), H) == parse_cards("5H KH")
    assert legal_follows(parse_cards("2D 5C AS"), H) == parse_cards("2D 5C AS")


@pytest.mark.parametrize(
    ("case", "rule", "trick", "broken", "trump_legal"),
    [
        ("U46", "broken", 0, False, False),
        ("U46", "first", 0, False, False),
        ("U46", "never", 0, False, False),
        ("U48", "broken", 1, False, False),
        ("U48", "first", 1, False, True),
        ("U48", "never", 1, False, False),
        ("U49", "broken", 1, True, True),
        ("U49", "first", 1, True, True),
        ("U49", "never", 1, True, False),
    ],
)
def test_trump_leads(case, rule, trick, broken, trump_legal):
    hand = parse_cards("2D AD 5H KS")
    leads = legal_leads(hand, D, trick, broken, Rules(trump_lead=rule))
    assert leads == (hand if trump_legal else parse_cards("5H KS"))


@pytest.mark.parametrize("rule", ["broken", "first", "never"])
def test_u47_a_hand_of_trumps_may_lead_one(rule):
    hand = parse_cards("2D 3D AD")
    assert legal_leads(hand, D, 0, False, Rules(trump_lead=rule)) == hand


@pytest.mark.parametrize(
    ("case", "mode", "contract", "first_won", "row"),
    [
        ("U60 U65", Mode.ATAS, 5, 3, [-4, -2, 5, -1, -2]),
        ("U61", Mode.ATAS, 4, 5, [-1, -2]),
        ("U62 U65", Mode.BAWAH, 4, 2, [-2, -1, 4, -2, -4]),
        ("U63", Mode.BAWAH, 3, 1, [-2, -1, 3]),
        ("U66", Mode.BAWAH, 0, 0, [0, -2, -4]),
    ],
)
def test_points(case, mode, contract, first_won, row):
    assert [points(mode, contract, first_won + i) for i in range(len(row))] == row


def test_u64_worked_example_of_the_page():
    rows = zip([5, 5, 4, 4], [1, 3, 4, 5], strict=True)
    assert [points(Mode.ATAS, c, w) for c, w in rows] == [-8, -4, 4, -1]


def test_a_pile_must_be_able_to_become_a_bid():
    hand = parse_cards("3D TD 2C TC KC")
    assert can_become_bid(parse_cards("3D"), hand, RULES)
    assert not can_become_bid(parse_cards("3D KC"), hand, RULES)
    assert can_become_bid(parse_cards("3D TC"), hand, RULES)  # 13 NT
    assert not can_become_bid(parse_cards("3D 2C"), hand, RULES)  # 5 of two suits; the ten makes 15
    assert not can_become_bid(parse_cards("3D TD 2C"), hand, RULES)


@pytest.mark.parametrize("text", ["TH", "10H", "th", "10 hati", "T♥", "10♥️", "Hati 10"[5:] + " Hati"])
def test_spellings_of_a_card(text):
    assert card_name(parse_card(text)) == "TH"


def test_parse_a_hand_written_together():
    assert card_names(parse_cards("2D3d, 10C KS")) == "2D 3D TC KS"
    assert [parse_denomination(word) for word in ("wajik", "♣", "h", "Sekop", "nt")] == [0, 1, 2, 3, NO_TRUFF]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: parse_cards("2D 1H"), "not a card: '1H'"),
        (lambda: parse_cards("2D \u0410S"), "'А' is CYRILLIC CAPITAL LETTER A"),
        (lambda: parse_cards("2D 2d"), "named twice: 2D"),
        (lambda: parse_card("2D 3D"), "expected one card"),
        (lambda: parse_denomination("X"), "not a denomination"),
        (lambda: Rules(trump_lead="always"), "trump_lead must be one of broken, first, never"),
        (lambda: Rules(bid_max=9), "bid_max must be at least 10"),
        (lambda: Rules(players=3), "cannot be dealt evenly"),
        (lambda: Rules(players=4, ranks=13, suits=3), "cannot be dealt evenly"),
        (lambda: Rules(ranks=1), "ranks must be 2 to 13"),
        (lambda: check_bid(bid("2D"), bid("3D"), RULES), "not in the hand: 2D"),
        (lambda: check_bid(bid("KD"), bid("KD"), RULES), "J, Q and K"),
        (lambda: check_bid(bid("2D 3C"), bid("2D 3C"), RULES), "adds up to 5"),
        (lambda: check_bid((), bid("2D 3C"), RULES), "at least one card"),
        (lambda: check_hand(bid("2D 3C"), RULES), "13 different cards, not 2"),
        (lambda: check_hand(range(40, 53), RULES), "not in the pack"),
    ],
)
def test_errors_name_the_fault(call, message):
    with pytest.raises(ValueError, match=message):
        call()
