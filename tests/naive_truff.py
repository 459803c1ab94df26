"""A second, slow Truff written from the rule text alone, to compare the real one with.

Cards are strings such as "10H"; nothing is shared with `game/`. Only the full pack and the default rules but
for `trump_lead` and `bid_max`.
"""

from functools import lru_cache
from itertools import combinations

ORDER = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"]
SUITS = ["D", "C", "H", "S"]
DECK = [rank + suit for suit in SUITS for rank in ORDER]


def suit(card):
    return card[-1]


def value(card):
    rank = card[:-1]
    if rank == "A":
        return 1
    return int(rank) if rank.isdigit() else None


def is_contract(cards, bid_max=13):
    values = [value(card) for card in cards]
    if not cards or None in values or sum(values) > bid_max:
        return False
    return len({suit(card) for card in cards}) == 1 or sum(values) >= 7


@lru_cache(maxsize=8)
def all_contracts(hand, bid_max=13):
    usable = [card for card in hand if value(card) is not None]
    found = []
    for size in range(1, len(usable) + 1):
        sets = [set(cards) for cards in combinations(usable, size) if is_contract(cards, bid_max)]
        found += sets
    return found


def next_bid_cards(laid, hand, bid_max=13):
    """Cards that may be laid next when cards are laid in deck order, and whether the bid may be closed."""
    later = [card for card in hand if not laid or DECK.index(card) > max(DECK.index(c) for c in laid)]
    goals = [goal for goal in all_contracts(tuple(hand), bid_max) if set(laid) <= goal]
    keeps_order = [goal for goal in goals if goal - set(laid) <= set(later)]
    nexts = {min(goal - set(laid), key=DECK.index) for goal in keeps_order if goal != set(laid)}
    return nexts, is_contract(laid, bid_max)


def beats(bid, other):
    """Whether contract `bid` is higher than `other`."""

    def number(cards):
        return sum(value(card) for card in cards)

    def level(cards):
        kinds = {suit(card) for card in cards}
        return SUITS.index(kinds.pop()) if len(kinds) == 1 else 4

    if number(bid) != number(other):
        return number(bid) > number(other)
    if level(bid) != level(other):
        return level(bid) > level(other)
    if len(bid) != len(other):
        return len(bid) < len(other)
    mine = sorted((-value(c), -SUITS.index(suit(c))) for c in bid)
    yours = sorted((-value(c), -SUITS.index(suit(c))) for c in other)
    for (a, _), (b, _) in zip(mine, yours, strict=True):
        if a != b:
            return a < b
    return mine < yours


class NaiveTruff:
    def __init__(self, hands, bids, trump_lead="broken"):
        self.hands = [list(hand) for hand in hands]
        self.bids = [list(bid) for bid in bids]
        self.trump_lead = trump_lead
        self.winner = 0
        for seat in range(1, 4):
            if beats(self.bids[seat], self.bids[self.winner]):
                self.winner = seat
        kinds = {suit(card) for card in self.bids[self.winner]}
        self.trump = kinds.pop() if len(kinds) == 1 else None
        self.contracts = [sum(value(card) for card in bid) for bid in self.bids]
        total = sum(self.contracts)
        self.mode = "Atas" if total > 13 else "Bawah" if total < 13 else None
        self.turn = self.winner
        self.table = []
        self.history = []
        self.taken = [0, 0, 0, 0]

    def choose(self, mode):
        self.mode = mode
        self.contracts = [c + 1 if mode == "Atas" else c - 1 for c in self.contracts]

    def legal(self):
        hand = self.hands[self.turn]
        if self.table:
            led = suit(self.table[0][1])
            return [c for c in hand if suit(c) == led] or list(hand)
        trump_seen = any(suit(card) == self.trump for _, card in self.history)
        if self.trump_lead == "first":
            free = len(self.history) > 0
        elif self.trump_lead == "broken":
            free = trump_seen
        else:
            free = False
        plain = [c for c in hand if suit(c) != self.trump]
        return list(hand) if free or not plain else plain

    def play(self, card):
        self.hands[self.turn].remove(card)
        self.table.append((self.turn, card))
        self.history.append((self.turn, card))
        self.turn = (self.turn + 1) % 4
        if len(self.table) == 4:
            best_seat, best = self.table[0]
            for seat, other in self.table[1:]:
                higher = ORDER.index(other[:-1]) > ORDER.index(best[:-1])
                if (suit(other) == suit(best) and higher) or (suit(other) == self.trump != suit(best)):
                    best_seat, best = seat, other
            self.taken[best_seat] += 1
            self.turn = best_seat
            self.table = []

    def visible_table(self, seat):
        return [
            (who, "hidden" if suit(card) == self.trump and who != seat else card) for who, card in self.table
        ]

    def scores(self):
        result = []
        for contract, taken in zip(self.contracts, self.taken, strict=True):
            if taken == contract:
                result.append(contract)
            elif taken < contract:
                result.append(-(contract - taken) * (2 if self.mode == "Atas" else 1))
            else:
                result.append(-(taken - contract) * (1 if self.mode == "Atas" else 2))
        return result
