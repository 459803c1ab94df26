"""The rules of Truff as pure functions: bids, the contract, the mode, legal plays, tricks and points.

R-n and A-n are the rule and ambiguity numbers of the project's rule sheet for Truff.
"""

import enum
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from game.truff.cards import (
    NO_TRUFF,
    RANKS_PER_SUIT,
    bid_value,
    card_names,
    pack,
    position_of,
    suit_of,
)

TRUMP_LEADS = ("broken", "first", "never")
FACE_DOWNS = ("trick", "visual")
UTILITIES = ("own", "relative")

Bid = tuple[int, ...]
"""A set of bid cards in ascending index order."""


class Mode(enum.IntEnum):
    """Main Atas: too many tricks asked, falling short costs double. Main Bawah: going over costs double."""

    ATAS = 0
    BAWAH = 1


@dataclass(frozen=True)
class Rules:
    """The switchable rules. `ranks`, `suits` and `players` below 13, 4 and 4 give small games.

    trump_lead: when a leader may lead a trump (A-7): `broken`, once a trump has been played; `first`, always
    but for the opening lead; `never`. A hand of trumps alone may always lead one (A-8).
    trump_face_down: `trick`, the rank of a trump is hidden until the trick is complete; `visual`, never
    hidden (A-9).
    bid_max: the highest sum of a bid (A-5); 0 stands for the number of tricks, or the highest bid value in
    the pack if that is more, so that every hand can bid.
    utility: `own` points, or `relative`, own points minus the mean of the other players' (A-10).
    """

    trump_lead: str = "broken"
    trump_face_down: str = "trick"
    bid_max: int = 0
    utility: str = "own"
    ranks: int = 13
    suits: int = 4
    players: int = 4

    def __post_init__(self) -> None:
        for name, allowed in (
            ("trump_lead", TRUMP_LEADS),
            ("trump_face_down", FACE_DOWNS),
            ("utility", UTILITIES),
        ):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {getattr(self, name)!r}")
        for name, low, high in (("ranks", 2, RANKS_PER_SUIT), ("suits", 1, 4), ("players", 2, 4)):
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name} must be {low} to {high}, not {getattr(self, name)}")
        if len(self.pack) % self.players:
            raise ValueError(f"{len(self.pack)} cards cannot be dealt evenly to {self.players} players")
        if self.bid_max == 0:
            object.__setattr__(self, "bid_max", max(self.tricks, self._highest_value))
        elif self.bid_max < self._highest_value:
            raise ValueError(
                f"bid_max must be at least {self._highest_value}, the highest card: {self.bid_max}"
            )

    @cached_property
    def pack(self) -> tuple[int, ...]:
        """The cards in play, ascending."""
        return tuple(pack(self.ranks, self.suits))

    @property
    def tricks(self) -> int:
        """Cards in a hand, which is tricks in a deal: 13 in the full game."""
        return len(self.pack) // self.players

    @property
    def nt_min(self) -> int:
        """The lowest No Truff number: more than half of the tricks, 7 in the full game (R-6)."""
        return self.tricks // 2 + 1

    @property
    def _highest_value(self) -> int:
        return max(bid_value(card) for card in self.pack)


def bid_number(bid: Collection[int]) -> int:
    """Sum of the bid values (R-5)."""
    return sum(bid_value(card) for card in bid)


def bid_denomination(bid: Collection[int]) -> int:
    """The one suit of the bid, or NO_TRUFF for a mixed set (R-5, R-6)."""
    suits = {suit_of(card) for card in bid}
    return suits.pop() if len(suits) == 1 else NO_TRUFF


def is_legal_bid(bid: Collection[int], rules: Rules) -> bool:
    """Whether these cards, all from one hand, are a contract (R-3, R-5, R-6, A-5)."""
    if not bid or any(bid_value(card) == 0 for card in bid):
        return False
    least = rules.nt_min if bid_denomination(bid) == NO_TRUFF else 1
    return least <= bid_number(bid) <= rules.bid_max


def can_become_bid(pile: Collection[int], hand: Collection[int], rules: Rules) -> bool:
    """Whether `pile` (one card at least) is a legal bid or becomes one with later cards of `hand`."""
    if is_legal_bid(pile, rules):
        return True
    if any(bid_value(card) == 0 for card in pile):
        return False
    reachable = 1  # bit n: some set of the later cards adds up to n
    for card in hand:
        if card > max(pile):
            reachable |= reachable << bid_value(card)
    # A pile of one suit that is not a bid is too high; a mixed one may lack points, and any cards supply
    # them.
    number = bid_number(pile)
    return any(
        reachable >> extra & 1
        for extra in range(rules.nt_min - number, rules.bid_max - number + 1)
        if extra > 0
    )


def legal_bids(hand: Collection[int], rules: Rules) -> list[Bid]:
    """Every set of cards of `hand` that is a contract, in lexicographic order.

    A full hand has at least one: in every pack there are fewer J, Q, K than cards in a hand (R-11).
    """
    usable = sorted(card for card in hand if bid_value(card))
    bids: list[Bid] = []

    def extend(pile: Bid, start: int, number: int) -> None:
        if is_legal_bid(pile, rules):
            bids.append(pile)
        for i in range(start, len(usable)):
            if number + bid_value(usable[i]) <= rules.bid_max:
                extend((*pile, usable[i]), i + 1, number + bid_value(usable[i]))

    extend((), 0, 0)
    return bids


def bid_rank(bid: Bid) -> tuple[int, int, int, tuple[int, ...], tuple[int, ...]]:
    """Sort key of a bid; the highest key wins the contract.

    Number, denomination, fewest cards (R-8), then bid values from the highest down, then their suits (A-3).
    """
    ordered = sorted(bid, key=lambda card: (bid_value(card), suit_of(card)), reverse=True)
    return (
        bid_number(bid),
        bid_denomination(bid),
        -len(bid),
        tuple(bid_value(card) for card in ordered),
        tuple(suit_of(card) for card in ordered),
    )


def contract_winner(bids: Sequence[Bid]) -> int:
    """Seat whose bid wins the contract (R-8, A-3); bids of disjoint hands are never equal."""
    return max(range(len(bids)), key=lambda seat: bid_rank(bids[seat]))


def forced_mode(total: int, rules: Rules) -> Mode | None:
    """The mode that the sum of the numbers dictates, None if the contract winner chooses (R-12, R-13)."""
    if total == rules.tricks:
        return None
    return Mode.ATAS if total > rules.tricks else Mode.BAWAH


def shifted_numbers(numbers: Sequence[int], mode: Mode) -> list[int]:
    """The contracts after the contract winner's choice: all one more in Atas, one less in Bawah (R-13)."""
    return [number + (1 if mode is Mode.ATAS else -1) for number in numbers]


def may_lead_trump(trick: int, broken: bool, rules: Rules) -> bool:
    """Whether a leader with other suits may lead a trump (A-7); `trick` and `broken` as in `legal_leads`."""
    return {"broken": broken, "first": trick > 0, "never": False}[rules.trump_lead]


def legal_leads(hand: Collection[int], trump: int, trick: int, broken: bool, rules: Rules) -> list[int]:
    """Cards a leader may play, ascending (R-14, A-7, A-8).

    `trick` counts from 0; `broken` says whether a trump has been played in this deal.
    """
    others = sorted(card for card in hand if suit_of(card) != trump)
    return others if others and not may_lead_trump(trick, broken, rules) else sorted(hand)


def legal_follows(hand: Collection[int], led_suit: int) -> list[int]:
    """Cards a follower may play, ascending: the led suit if held, else anything (R-15, R-16)."""
    same = sorted(card for card in hand if suit_of(card) == led_suit)
    return same or sorted(hand)


def trick_winner(cards: Sequence[int], trump: int) -> int:
    """Place, in playing order, of the card that wins: highest trump, else highest of the led suit (R-18)."""
    winning_suit = trump if any(suit_of(card) == trump for card in cards) else suit_of(cards[0])
    return max(
        range(len(cards)),
        key=lambda place: (suit_of(cards[place]) == winning_suit, position_of(cards[place])),
    )


def points(mode: Mode, contract: int, won: int) -> int:
    """Points of a player for a deal: the contract if made exactly, else minus one or two a trick (R-21)."""
    if won == contract:
        return contract
    costly = (won < contract) == (mode is Mode.ATAS)
    return -abs(won - contract) * (2 if costly else 1)


def check_bid(bid: Collection[int], hand: Collection[int], rules: Rules) -> None:
    """Raise ValueError, naming the fault, unless `bid` is a contract that `hand` can lay."""
    if not bid:
        raise ValueError("a bid needs at least one card")
    missing = set(bid) - set(hand)
    if missing:
        raise ValueError(f"bid cards not in the hand: {card_names(missing)}")
    if any(bid_value(card) == 0 for card in bid):
        raise ValueError(f"J, Q and K cannot be used in a bid: {card_names(bid)}")
    if not is_legal_bid(bid, rules):
        raise ValueError(
            f"{card_names(bid)} adds up to {bid_number(bid)}: a bid is 1 to {rules.bid_max} in one suit,"
            f" {rules.nt_min} to {rules.bid_max} in several"
        )


def check_hand(hand: Collection[int], rules: Rules) -> None:
    """Raise ValueError unless `hand` is a full hand of the pack."""
    if len(hand) != rules.tricks or len(set(hand)) != len(hand):
        raise ValueError(f"a hand has {rules.tricks} different cards, not {len(hand)}")
    foreign = set(hand) - set(rules.pack)
    if foreign:
        raise ValueError(f"cards not in the pack: {sorted(foreign)}")
