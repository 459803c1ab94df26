"""One deal of Truff as a state machine, and what each seat can see of it."""

import enum
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from math import comb

from game.truff.cards import NO_TRUFF, bid_value, card_name, card_names, denomination_name, suit_of
from game.truff.rules import (
    Bid,
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
    legal_follows,
    legal_leads,
    points,
    shifted_numbers,
    trick_winner,
)

DONE = 52
"""Action that closes a bid pile."""
CHOOSE_ATAS = 53
CHOOSE_BAWAH = 54
NUM_ACTIONS = 55
FACE_DOWN = -1
"""In a view: a trump whose rank the seat cannot see yet."""


class Phase(enum.Enum):
    """What the next action is."""

    DEAL = "deal"
    BID = "bid"
    MODE = "mode"
    PLAY = "play"
    OVER = "over"


@dataclass(frozen=True)
class Trick:
    """Cards of one trick in playing order, first by `leader`; in a view a card may be FACE_DOWN."""

    leader: int
    cards: tuple[int, ...]


@dataclass(frozen=True)
class View:
    """What one seat knows: its own cards and everything shown on the table. No hidden card is in it.

    seat: None for a spectator, who holds no cards. hand: cards still held, ascending. bid: own bid pile so
    far. bids: all bids, once revealed.
    numbers: the contracts in force, after the T = 13 choice. won: tricks taken by each seat.
    tricks: complete tricks and, last, the one on the table; other seats' trumps in the latter are FACE_DOWN
    under the `trick` rule (A-9).
    """

    rules: Rules
    seat: int | None
    phase: Phase
    to_move: int
    hand: tuple[int, ...]
    bid: Bid
    bids: tuple[Bid, ...] | None = None
    contract_winner: int | None = None
    trump: int | None = None
    mode: Mode | None = None
    numbers: tuple[int, ...] = ()
    won: tuple[int, ...] = ()
    tricks: tuple[Trick, ...] = ()

    def __str__(self) -> str:
        """One line; equal lines mean the same information state."""
        who = "spectator" if self.seat is None else f"seat {self.seat}"
        parts = [who, f"hand {card_names(self.hand)}", f"bid {card_names(self.bid)}"]
        if self.phase in (Phase.DEAL, Phase.BID):
            return " | ".join([*parts, self.phase.value])
        assert self.bids is not None
        assert self.trump is not None
        parts.append("bids " + ", ".join(card_names(bid) for bid in self.bids))
        if self.mode is not None:
            parts.append(f"{self.mode.name.lower()} {' '.join(map(str, self.numbers))}")
        hidden = denomination_name(self.trump) + "?"
        parts += [
            f"{trick.leader}: "
            + " ".join(hidden if card == FACE_DOWN else card_name(card) for card in trick.cards)
            for trick in self.tricks
        ]
        return " | ".join(parts)


@dataclass
class Deal:
    """A deal in progress. Change it only through `deal_card`, `apply` and `lay_bid`.

    The seats bid one after another but see no earlier bid: that is the same as all at once (R-4).
    """

    rules: Rules = field(default_factory=Rules)
    hands: list[list[int]] = field(default_factory=list)
    piles: list[list[int]] = field(default_factory=list)
    phase: Phase = Phase.DEAL
    to_move: int = 0
    winner: int | None = None
    trump: int | None = None
    mode: Mode | None = None
    numbers: list[int] = field(default_factory=list)
    won: list[int] = field(default_factory=list)
    tricks: list[Trick] = field(default_factory=list)
    broken: bool = False

    def __post_init__(self) -> None:
        self.hands = [[] for _ in range(self.rules.players)]
        self.piles = [[] for _ in range(self.rules.players)]
        self.won = [0] * self.rules.players

    @classmethod
    def from_hands(cls, hands: Sequence[Sequence[int]], rules: Rules | None = None) -> "Deal":
        """A deal that is ready for the first bid; ValueError unless the hands share out the whole pack."""
        deal = cls(rules or Rules())
        if len(hands) != deal.rules.players:
            raise ValueError(f"{deal.rules.players} hands are needed, not {len(hands)}")
        for hand in hands:
            check_hand(hand, deal.rules)
        for hand in hands:
            for card in sorted(hand):
                deal.deal_card(card)
        return deal

    # ----------------------------------------------------------------------------------------- dealing
    def undealt(self) -> list[int]:
        """Cards not in a hand yet, ascending."""
        dealt = {card for hand in self.hands for card in hand}
        return [card for card in self.rules.pack if card not in dealt]

    def deal_outcomes(self) -> list[tuple[int, float]]:
        """Next cards and their probabilities while dealing.

        A hand is dealt in ascending order, each card with the probability that it is the next lowest of a
        random hand. So every deal is reached by one path and is as likely as any other. A hand begun in
        another order is finished uniformly.
        """
        hand, cards = self.hands[self.to_move], self.undealt()
        above = [card for card in cards if card > max(hand, default=-1)]
        missing = self.rules.tricks - len(hand)
        ways = {card: comb(len(above) - 1 - i, missing - 1) for i, card in enumerate(above)}
        total = sum(ways.values())
        if total == 0:
            return [(card, 1.0 / len(cards)) for card in cards]
        return [(card, count / total) for card, count in ways.items() if count]

    def deal_card(self, card: int) -> None:
        """Give `card` to the next hand, seat 0's first; ValueError unless it is an undealt card."""
        if self.phase is not Phase.DEAL:
            raise ValueError("all cards are dealt")
        if card not in self.undealt():
            raise ValueError(f"not an undealt card of this pack: {card}")
        self.hands[self.to_move].append(card)
        if len(self.hands[self.to_move]) == self.rules.tricks:
            self.hands[self.to_move].sort()
            self.to_move += 1
            if self.to_move == self.rules.players:
                self.phase, self.to_move = Phase.BID, 0

    # ------------------------------------------------------------------------------------------ acting
    def legal_actions(self) -> list[int]:
        """Actions of the seat to move, ascending: cards 0-51, DONE, CHOOSE_ATAS, CHOOSE_BAWAH."""
        if self.phase is Phase.BID:
            hand, pile = self.hands[self.to_move], self.piles[self.to_move]
            actions = [
                card
                for card in hand
                if bid_value(card)
                and card > max(pile, default=-1)
                and can_become_bid([*pile, card], hand, self.rules)
            ]
            return [*actions, DONE] if is_legal_bid(pile, self.rules) else actions
        if self.phase is Phase.MODE:
            return [CHOOSE_ATAS, CHOOSE_BAWAH]
        if self.phase is Phase.PLAY:
            hand, trick = self.hands[self.to_move], self.tricks[-1]
            if trick.cards:
                return legal_follows(hand, suit_of(trick.cards[0]))
            assert self.trump is not None
            return legal_leads(hand, self.trump, len(self.tricks) - 1, self.broken, self.rules)
        return []

    def apply(self, action: int) -> None:
        """Make the move of the seat to move; ValueError if it is not legal."""
        if action not in self.legal_actions():
            raise ValueError(
                f"illegal action {action} in phase {self.phase.value}; legal: {self.legal_actions()}"
            )
        if self.phase is Phase.BID:
            if action == DONE:
                self._next_bidder()
            else:
                self.piles[self.to_move].append(action)
        elif self.phase is Phase.MODE:
            self.mode = Mode.ATAS if action == CHOOSE_ATAS else Mode.BAWAH
            self.numbers = shifted_numbers(self.numbers, self.mode)
            self._start_play()
        else:
            self._play(action)

    def lay_bid(self, bid: Sequence[int]) -> None:
        """Lay the whole bid of the seat to move at once; ValueError if its hand cannot make it."""
        if self.phase is not Phase.BID:
            raise ValueError(f"no bids in phase {self.phase.value}")
        check_bid(bid, self.hands[self.to_move], self.rules)
        for card in sorted(bid):
            self.apply(card)
        self.apply(DONE)

    def _next_bidder(self) -> None:
        self.to_move += 1
        if self.to_move < self.rules.players:
            return
        bids = [tuple(pile) for pile in self.piles]
        self.winner = contract_winner(bids)
        self.trump = bid_denomination(bids[self.winner])
        self.numbers = [bid_number(bid) for bid in bids]
        self.to_move = self.winner
        self.mode = forced_mode(sum(self.numbers), self.rules)
        if self.mode is None:
            self.phase = Phase.MODE
        else:
            self._start_play()

    def _start_play(self) -> None:
        assert self.winner is not None
        self.phase = Phase.PLAY
        self.tricks = [Trick(self.winner, ())]

    def _play(self, card: int) -> None:
        assert self.trump is not None
        self.hands[self.to_move].remove(card)
        self.broken = self.broken or suit_of(card) == self.trump
        trick = Trick(self.tricks[-1].leader, (*self.tricks[-1].cards, card))
        self.tricks[-1] = trick
        if len(trick.cards) < self.rules.players:
            self.to_move = (self.to_move + 1) % self.rules.players
            return
        self.to_move = (trick.leader + trick_winner(trick.cards, self.trump)) % self.rules.players
        self.won[self.to_move] += 1
        if self.hands[self.to_move]:
            self.tricks.append(Trick(self.to_move, ()))
        else:
            self.phase = Phase.OVER

    def copy(self) -> "Deal":
        """An independent deal at the same point."""
        twin = copy(self)
        twin.hands, twin.piles = [list(hand) for hand in self.hands], [list(pile) for pile in self.piles]
        twin.numbers, twin.won, twin.tricks = list(self.numbers), list(self.won), list(self.tricks)
        return twin

    # ----------------------------------------------------------------------------------------- results
    def points(self) -> list[int]:
        """Points of each seat (R-21, A-11); ValueError before the end."""
        if self.phase is not Phase.OVER or self.mode is None:
            raise ValueError("the deal is not over")
        return [points(self.mode, number, won) for number, won in zip(self.numbers, self.won, strict=True)]

    def utilities(self) -> list[float]:
        """Points, or under `relative` points minus the mean of the other players' (A-10)."""
        own = self.points()
        if self.rules.utility == "own":
            return [float(p) for p in own]
        return [p - (sum(own) - p) / (len(own) - 1) for p in own]

    def view(self, seat: int | None) -> View:
        """What `seat`, or a spectator (None), knows now."""
        hand = () if seat is None else tuple(sorted(self.hands[seat]))
        bid = () if seat is None else tuple(self.piles[seat])
        if self.phase in (Phase.DEAL, Phase.BID):
            return View(self.rules, seat, self.phase, self.to_move, hand, bid)
        tricks = list(self.tricks)
        if tricks and len(tricks[-1].cards) < self.rules.players:
            tricks[-1] = self._as_seen(tricks[-1], seat)
        return View(
            self.rules,
            seat,
            self.phase,
            self.to_move,
            hand,
            bid,
            tuple(tuple(pile) for pile in self.piles),
            self.winner,
            self.trump,
            self.mode,
            tuple(self.numbers),
            tuple(self.won),
            tuple(tricks),
        )

    def _as_seen(self, trick: Trick, seat: int | None) -> Trick:
        """The unfinished `trick` with the trumps of other seats face down (R-17, A-9)."""
        if self.rules.trump_face_down == "visual" or self.trump == NO_TRUFF:
            return trick
        return Trick(
            trick.leader,
            tuple(
                FACE_DOWN
                if suit_of(card) == self.trump and (trick.leader + place) % self.rules.players != seat
                else card
                for place, card in enumerate(trick.cards)
            ),
        )
