"""A point of a deal told by one player: own hand, shown bids, plays so far. Checks the story and makes a `View`."""

import re
from collections.abc import Collection, Sequence

from game.truff.cards import (
    NO_TRUFF,
    card_name,
    card_names,
    denomination_name,
    parse_card,
    parse_cards,
    suit_of,
)
from game.truff.deal import FACE_DOWN, Phase, Trick, View
from game.truff.rules import (
    Bid,
    Mode,
    Rules,
    bid_denomination,
    bid_number,
    check_bid,
    check_hand,
    contract_winner,
    forced_mode,
    is_legal_bid,
    legal_follows,
    legal_leads,
    may_lead_trump,
    shifted_numbers,
    trick_winner,
)


def parse_plays(text: str) -> list[int]:
    """Cards in playing order, ``?`` or ``D?`` for a face-down trump; a ``/`` between tricks is ignored.

    >>> parse_plays("2H 5H ? KH / AS")
    [26, 29, -1, 37, 51]
    """
    words = re.sub(r"[/|,;]", " ", text).split()
    return [FACE_DOWN if re.fullmatch(r"\w?\?", word) else parse_card(word) for word in words]


def parse_bids(text: str) -> list[Bid]:
    """Bids separated by ``/``, each in ascending order.

    >>> parse_bids("3C 2C / 4H")
    [(13, 14), (28,)]
    """
    return [tuple(sorted(parse_cards(part))) for part in text.split("/")]


def told_view(
    hand: Collection[int],
    bids: Sequence[Bid],
    plays: Sequence[int] = (),
    mode: Mode | None = None,
    rules: Rules | None = None,
) -> View:
    """The view of seat 0, the teller, who holds `hand` (as dealt); seats follow in playing order.

    bids: one per seat, the teller's first. plays: all cards so far in playing order; the contract winner led, and
    the winner of each trick leads the next. FACE_DOWN stands for another seat's trump in the unfinished trick.
    mode: the choice at T = 13, None while it is open. Raises ValueError, naming the contradiction, if the story
    breaks a rule.
    """
    rules = rules or Rules()
    check_hand(hand, rules)
    bids = [tuple(sorted(bid)) for bid in bids]
    _check_bids(hand, bids, rules)
    winner = contract_winner(bids)
    numbers = [bid_number(bid) for bid in bids]
    forced = forced_mode(sum(numbers), rules)
    if forced is None and mode is not None:
        numbers = shifted_numbers(numbers, mode)
    elif forced is not None and mode not in (None, forced):
        raise ValueError(f"the numbers add up to {sum(numbers)}: the mode is {forced.name.lower()}")
    elif forced is None and plays:
        raise ValueError(f"the numbers add up to {rules.tricks}: the mode must be given before plays")
    table = _Table(hand, bids, bid_denomination(bids[winner]), winner, rules)
    for card in plays:
        table.play(card)
    over = not table.hand and not table.cards
    phase = Phase.MODE if forced is None and mode is None else Phase.OVER if over else Phase.PLAY
    tricks = (
        table.tricks if phase is not Phase.PLAY else [*table.tricks, Trick(table.leader, tuple(table.cards))]
    )
    return View(
        rules=rules,
        seat=0,
        phase=phase,
        to_move=table.to_move,
        hand=tuple(table.hand),
        bid=bids[0],
        bids=tuple(bids),
        contract_winner=winner,
        trump=table.trump,
        mode=forced if forced is not None else mode,
        numbers=tuple(numbers),
        won=tuple(table.won),
        tricks=tuple(tricks),
    )


def _check_bids(hand: Collection[int], bids: Sequence[Bid], rules: Rules) -> None:
    if len(bids) != rules.players:
        raise ValueError(f"{rules.players} bids are needed, yours first, not {len(bids)}")
    check_bid(bids[0], hand, rules)
    shown: set[int] = set(hand)
    for seat, bid in enumerate(bids[1:], start=1):
        if shown & set(bid):
            raise ValueError(f"seat {seat} cannot show {card_names(shown & set(bid))}: held by another seat")
        if not is_legal_bid(bid, rules):
            raise ValueError(f"seat {seat}'s cards are not a bid: {card_names(bid) or 'none'}")
        shown |= set(bid)


class _Table:
    """Plays a story card by card and refuses what cannot have happened."""

    def __init__(
        self, hand: Collection[int], bids: Sequence[Bid], trump: int, leader: int, rules: Rules
    ) -> None:
        self.rules, self.trump, self.leader, self.to_move = rules, trump, leader, leader
        self.hand = sorted(hand)
        self.cards: list[int] = []
        self.tricks: list[Trick] = []
        self.won = [0] * rules.players
        self._shown = [set(bid) for bid in bids]  # bid cards not played yet
        self._voids: list[set[int]] = [set() for _ in bids]
        self._seen: set[int] = set()
        self._broken = False

    def play(self, card: int) -> None:
        if not self.hand and not self.cards:
            raise ValueError("more cards than the deal has")
        suit = self.trump if card == FACE_DOWN else suit_of(card)
        if card == FACE_DOWN:
            self._check_face_down()
        elif self.to_move == 0:
            self._check_own(card)
        else:
            self._check_other(card)
        if self.to_move:
            self._learn_voids(suit)
        if self.to_move == 0:
            self.hand.remove(card)
        self._seen |= {card} - {FACE_DOWN}
        self._shown[self.to_move].discard(card)
        self._broken = self._broken or suit == self.trump
        self.cards.append(card)
        self.to_move = (self.to_move + 1) % self.rules.players
        if len(self.cards) == self.rules.players:
            self._finish_trick()

    def _finish_trick(self) -> None:
        if FACE_DOWN in self.cards:
            raise ValueError(f"trick {len(self.tricks) + 1} is complete: name its face-down trumps")
        self.tricks.append(Trick(self.leader, tuple(self.cards)))
        self.leader = (self.leader + trick_winner(self.cards, self.trump)) % self.rules.players
        self.won[self.leader] += 1
        self.to_move, self.cards = self.leader, []

    def _check_own(self, card: int) -> None:
        if card not in self.hand:
            raise ValueError(f"you cannot play {card_name(card)}: not in your hand")
        led = self._led_suit()
        if led is None:
            legal = legal_leads(self.hand, self.trump, len(self.tricks), self._broken, self.rules)
        else:
            legal = legal_follows(self.hand, led)
        if card not in legal:
            raise ValueError(f"you cannot play {card_name(card)}: legal are {card_names(legal)}")

    def _check_other(self, card: int) -> None:
        who = f"seat {self.to_move} cannot play {card_name(card)}"
        if card not in self.rules.pack:
            raise ValueError(f"{who}: not in the pack")
        if card in self.hand:
            raise ValueError(f"{who}: it is in your hand")
        if card in self._seen:
            raise ValueError(f"{who}: played before")
        for seat, shown in enumerate(self._shown):
            if card in shown and seat != self.to_move:
                raise ValueError(f"{who}: seat {seat} showed it")

    def _check_face_down(self) -> None:
        if self.to_move == 0:
            raise ValueError("name your own card: only other seats' trumps are hidden from you")
        if self.trump == NO_TRUFF or self.rules.trump_face_down != "trick":
            raise ValueError("no card is played face down in this deal")

    def _learn_voids(self, suit: int) -> None:
        """What another seat's play of `suit` says about the suits it has not."""
        seat, led = self.to_move, self._led_suit()
        name = denomination_name(suit)
        if suit in self._voids[seat]:
            raise ValueError(f"seat {seat} cannot play {name}: earlier plays show that it has none")
        missing = set()
        if led is not None and suit != led:
            missing = {led}
        elif (
            suit == self.trump
            and led is None
            and not may_lead_trump(len(self.tricks), self._broken, self.rules)
        ):
            missing = set(range(4)) - {suit}  # only a hand of trumps may lead one now
        for card in self._shown[seat]:
            if suit_of(card) in missing:
                raise ValueError(
                    f"seat {seat} cannot play {name}: it showed {card_name(card)} and still has it"
                )
        self._voids[seat] |= missing

    def _led_suit(self) -> int | None:
        if not self.cards:
            return None
        return self.trump if self.cards[0] == FACE_DOWN else suit_of(self.cards[0])
