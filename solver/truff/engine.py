"""Truff on bitboards: the rules of `game.truff` as numba kernels, equal move by move.

A set of cards is an int64 whose bit i is card i. One deal is an int64 vector of length STATE_SIZE, laid out
by the offsets below; the switchable rules are the int64 vector that `config` makes. The kernels trust their
callers: legality is checked in `game.truff`.
"""

import numpy as np
from numba import types
from numba.extending import intrinsic

from game.truff.cards import NO_TRUFF, bid_value
from game.truff.deal import Deal, Phase
from game.truff.rules import FACE_DOWNS, TRUMP_LEADS, Mode, Rules
from solver.jit import njit

# Offsets into a state; four entries each where a seat or a place in the trick is added.
HAND = 0  # cards held
BID = 4  # shown bid cards
NUMBER = 8  # contract in force
WON = 12  # tricks taken
VOID = 16  # bit per suit: the seat is known to have none
TABLE = 20  # cards of the trick in playing order
TRUMP = 24  # 0-3, NO_TRUFF
WINNER = 25  # seat that won the contract
MODE = 26  # of game.truff.rules.Mode, or UNDECIDED
LEADER = 27
COUNT = 28  # cards on the table
BEST = 29  # place of the card winning the trick so far
BROKEN = 30  # 1 once a trump has been played
TURN = 31
TRICK = 32  # tricks completed
SEEN = 33  # cards seen by everybody: complete tricks, and the table but for face-down trumps
PLAYS = 34  # cards played
HISTORY = 35  # 64 * seat + card, in playing order
STATE_SIZE = HISTORY + 52
UNDECIDED = -1

# Offsets into a config.
PLAYERS, TRICKS, BID_MAX, NT_MIN, TRUMP_LEAD, HIDDEN, PACK = range(7)

SUIT_MASK = (1 << 13) - 1
BID_VALUES = np.array([bid_value(card) for card in range(52)], dtype=np.int64)
_BROKEN, _FIRST, _NEVER = range(len(TRUMP_LEADS))
_ATAS, _BAWAH = int(Mode.ATAS), int(Mode.BAWAH)
_NT = NO_TRUFF


def config(rules: Rules) -> np.ndarray:
    """The rules as an int64 vector for the kernels."""
    pack = sum(1 << card for card in rules.pack)
    return np.array(
        [
            rules.players,
            rules.tricks,
            rules.bid_max,
            rules.nt_min,
            TRUMP_LEADS.index(rules.trump_lead),
            rules.trump_face_down == FACE_DOWNS[0],
            pack,
        ],
        dtype=np.int64,
    )


def mask_of(cards: list[int] | tuple[int, ...]) -> int:
    """The bitboard of some cards."""
    return sum(1 << card for card in cards)


def cards_of(mask: int) -> list[int]:
    """The cards of a bitboard, ascending."""
    return [card for card in range(52) if mask >> card & 1]


def state_of(deal: Deal) -> np.ndarray:
    """The engine's state of a deal whose cards are all dealt, with its revealed bids and its plays."""
    cfg = config(deal.rules)
    state = np.zeros(STATE_SIZE, dtype=np.int64)
    for seat, hand in enumerate(deal.hands):
        state[HAND + seat] = mask_of(hand)
    played = [
        ((trick.leader + place) % deal.rules.players, card)
        for trick in deal.tricks
        for place, card in enumerate(trick.cards)
    ]
    for seat, card in played:
        state[HAND + seat] |= 1 << card
    if deal.phase in (Phase.DEAL, Phase.BID):
        return state
    for seat, pile in enumerate(deal.piles):
        state[BID + seat] = mask_of(pile)
    reveal(state, cfg)
    if state[MODE] == UNDECIDED and deal.mode is not None:
        choose_mode(state, cfg, int(deal.mode))
    for _, card in played:
        play(state, cfg, card)
    return state


# ------------------------------------------------------------------------------------------------- bits
@intrinsic
def _ctpop(typingctx, mask):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


@intrinsic
def _cttz(typingctx, mask):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.cttz(args[0], context.get_constant(types.boolean, 0))

    return types.int64(types.int64), codegen


@intrinsic
def _ctlz(typingctx, mask):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.ctlz(args[0], context.get_constant(types.boolean, 0))

    return types.int64(types.int64), codegen


@njit
def popcount(mask: int) -> int:
    """Number of cards in a bitboard."""
    return _ctpop(mask)  # type: ignore[call-arg]


@njit
def lowest(mask: int) -> int:
    """Lowest card of a non-empty bitboard."""
    return _cttz(mask)  # type: ignore[call-arg]


@njit
def highest(mask: int) -> int:
    """Highest card of a non-empty bitboard; within a suit, the highest in trick rank."""
    return 63 - _ctlz(mask)  # type: ignore[call-arg]


@njit
def suit_cards(mask: int, suit: int) -> int:
    """The cards of one suit, still at their places."""
    return mask & (SUIT_MASK << (13 * suit))


@njit
def random_below(rng: np.ndarray, n: int) -> int:
    """A number 0 <= x < n from a splitmix64 stream; `rng` is uint64[1] and advances."""
    rng[0] += np.uint64(0x9E3779B97F4A7C15)
    z = rng[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return int(np.int64(((z >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32)))


@njit
def random_card(rng: np.ndarray, mask: int) -> int:
    """A uniformly random card of a non-empty bitboard."""
    for _ in range(random_below(rng, popcount(mask))):
        mask &= mask - 1
    return lowest(mask)


def new_rng(seed: int) -> np.ndarray:
    """A random stream for the kernels."""
    return np.array([np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]], dtype=np.uint64)


# ----------------------------------------------------------------------------------------------- a deal
@njit
def deal_cards(state: np.ndarray, cfg: np.ndarray, rng: np.ndarray) -> None:
    """Reset `state` to a fresh random deal."""
    state[:] = 0
    rest = cfg[PACK]
    cards = np.empty(52, dtype=np.int64)
    n = 0
    while rest:
        cards[n] = lowest(rest)
        rest &= rest - 1
        n += 1
    for i in range(n - 1, 0, -1):
        j = random_below(rng, i + 1)
        cards[i], cards[j] = cards[j], cards[i]
    for i in range(n):
        state[HAND + i // cfg[TRICKS]] |= 1 << cards[i]


@njit
def bid_sum(bid: int) -> int:
    """Sum of the bid values."""
    total = 0
    while bid:
        total += BID_VALUES[lowest(bid)]
        bid &= bid - 1
    return total


@njit
def bid_suit(bid: int) -> int:
    """Denomination of a non-empty bid."""
    suit = lowest(bid) // 13
    return suit if suit_cards(bid, suit) == bid else _NT


@njit
def by_value(bid: int, value: int) -> int:
    """Bit per suit: the bid has that suit's card of this value."""
    position = 12 if value == 1 else value - 2
    suits = 0
    for suit in range(4):
        suits |= (bid >> (13 * suit + position) & 1) << suit
    return suits


@njit
def beats(bid: int, other: int) -> bool:
    """Whether `bid` is higher than `other`: R-8, then A-3."""
    mine, yours = bid_sum(bid), bid_sum(other)
    if mine != yours:
        return mine > yours
    mine, yours = bid_suit(bid), bid_suit(other)
    if mine != yours:
        return mine > yours
    mine, yours = popcount(bid), popcount(other)
    if mine != yours:
        return mine < yours
    for value in range(10, 0, -1):
        mine, yours = popcount(by_value(bid, value)), popcount(by_value(other, value))
        if mine != yours:
            return mine > yours
    for value in range(10, 0, -1):
        mine, yours = by_value(bid, value), by_value(other, value)
        if mine != yours:
            return mine > yours
    return False


@njit
def reveal(state: np.ndarray, cfg: np.ndarray) -> None:
    """Turn up the bids in state[BID:]: contract winner, trump, numbers, and the mode unless T = tricks."""
    winner = 0
    total = 0
    for seat in range(cfg[PLAYERS]):
        state[NUMBER + seat] = bid_sum(state[BID + seat])
        total += state[NUMBER + seat]
        if beats(state[BID + seat], state[BID + winner]):
            winner = seat
    state[WINNER] = winner
    state[TRUMP] = bid_suit(state[BID + winner])
    state[LEADER] = winner
    state[TURN] = winner
    state[MODE] = UNDECIDED
    if total != cfg[TRICKS]:
        state[MODE] = _ATAS if total > cfg[TRICKS] else _BAWAH


@njit
def choose_mode(state: np.ndarray, cfg: np.ndarray, mode: int) -> None:
    """The contract winner's choice at T = tricks (R-13)."""
    state[MODE] = mode
    for seat in range(cfg[PLAYERS]):
        state[NUMBER + seat] += 1 if mode == _ATAS else -1


@njit
def _may_lead_trump(state: np.ndarray, cfg: np.ndarray) -> bool:
    rule = cfg[TRUMP_LEAD]
    return bool((rule == _BROKEN and state[BROKEN]) or (rule == _FIRST and state[TRICK]))


@njit
def legal_plays(state: np.ndarray, cfg: np.ndarray) -> int:
    """Cards the seat to move may play."""
    hand = state[HAND + state[TURN]]
    if state[COUNT]:
        same = suit_cards(hand, state[TABLE] // 13)
        return same if same else hand
    if state[TRUMP] == _NT:
        return hand
    if _may_lead_trump(state, cfg):
        return hand
    others = hand & ~suit_cards(hand, state[TRUMP])
    return others if others else hand


@njit
def play(state: np.ndarray, cfg: np.ndarray, card: int) -> None:
    """Play a legal card of the seat to move, and settle the trick if it is the last one."""
    seat = state[TURN]
    players = cfg[PLAYERS]
    place = state[COUNT]
    suit = card // 13
    trump = state[TRUMP]
    state[HAND + seat] &= ~(1 << card)
    state[TABLE + place] = card
    state[HISTORY + state[PLAYS]] = 64 * seat + card
    state[PLAYS] += 1
    if suit != trump or not cfg[HIDDEN]:
        state[SEEN] |= 1 << card
    if place == 0:
        state[BEST] = 0
        if suit == trump and not _may_lead_trump(state, cfg):
            state[VOID + seat] |= 15 & ~(1 << trump)  # only a hand of trumps may do this
    else:
        led = state[TABLE] // 13
        if suit != led:
            state[VOID + seat] |= 1 << led
        best = state[TABLE + state[BEST]]
        if (suit == best // 13 and card > best) or (suit == trump and best // 13 != trump):
            state[BEST] = place
    if suit == trump:
        state[BROKEN] = 1
    state[COUNT] = place + 1
    if place + 1 < players:
        state[TURN] = (seat + 1) % players
        return
    winner = (state[LEADER] + state[BEST]) % players
    for i in range(players):
        state[SEEN] |= 1 << state[TABLE + i]
    state[WON + winner] += 1
    state[LEADER] = winner
    state[TURN] = winner
    state[COUNT] = 0
    state[TRICK] += 1


@njit
def points_for(mode: int, number: int, won: int) -> int:
    """Points of a contract `number` when `won` tricks were taken."""
    gap = won - number
    if gap == 0:
        return number
    costly = (gap < 0) == (mode == _ATAS)
    return -abs(gap) * (2 if costly else 1)


@njit
def points(state: np.ndarray, seat: int) -> int:
    """Points of a seat if the deal ended with the tricks taken so far."""
    return points_for(state[MODE], state[NUMBER + seat], state[WON + seat])


@njit
def random_bid(hand: int, cfg: np.ndarray, rng: np.ndarray) -> int:
    """One random usable card as a bid."""
    usable = 0
    rest = hand
    while rest:
        card = lowest(rest)
        rest &= rest - 1
        if BID_VALUES[card]:
            usable |= 1 << card
    return 1 << random_card(rng, usable)


@njit
def play_random_deals(cfg: np.ndarray, deals: int, rng: np.ndarray) -> np.ndarray:
    """Whole deals of random one-card bids, modes and plays; mean points a seat. The engine's speed test."""
    state = np.zeros(STATE_SIZE, dtype=np.int64)
    total = np.zeros(cfg[PLAYERS])
    for _ in range(deals):
        deal_cards(state, cfg, rng)
        for seat in range(cfg[PLAYERS]):
            state[BID + seat] = random_bid(state[HAND + seat], cfg, rng)
        reveal(state, cfg)
        if state[MODE] == UNDECIDED:
            choose_mode(state, cfg, random_below(rng, 2))
        while state[TRICK] < cfg[TRICKS]:
            play(state, cfg, random_card(rng, legal_plays(state, cfg)))
        for seat in range(cfg[PLAYERS]):
            total[seat] += points(state, seat)
    return total / deals
