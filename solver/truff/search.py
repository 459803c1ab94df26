"""Honest determinised search: sample worlds, play each out with the rollout policy, average the own points.

Nothing of the hidden cards is read: worlds come from `worlds.sample_world`, which sees what the seat sees.
Settings are one int64/float64 vector so that the kernels take them as one argument.
"""

import numpy as np

from game.truff.rules import Mode
from solver.jit import njit
from solver.truff.bidding import Bidder, bid_log_likelihood, random_net
from solver.truff.engine import (
    BID,
    COUNT,
    MODE,
    NUMBER,
    PLAYERS,
    STATE_SIZE,
    TABLE,
    TRICK,
    TRICKS,
    TURN,
    WON,
    choose_mode,
    legal_plays,
    lowest,
    play,
    points,
    points_for,
    popcount,
)
from solver.truff.policy import Policy, policy_play
from solver.truff.sight import unseen_cards
from solver.truff.worlds import full_hands, play_log_likelihood, resample, sample_world

WORLDS, PROPOSALS, BID_TRUST, PLAY_TRUST = range(4)
"""Offsets into search settings."""
_BID_TEMPERATURE = 0.5
_PLAY_TEMPERATURE = 0.3
_ATAS, _BAWAH = int(Mode.ATAS), int(Mode.BAWAH)


def search_settings(
    worlds: int = 80, proposals: int = 3, bid_trust: float = 0.5, play_trust: float = 0.5
) -> np.ndarray:
    """Settings of a search.

    worlds: how many are played out. proposals: worlds drawn for each of those, thinned by likelihood.
    bid_trust and play_trust: exponents of the likelihoods of bids and plays; 0 ignores them.
    """
    if worlds < 1 or proposals < 1:
        raise ValueError(f"worlds and proposals must be at least 1, not {worlds} and {proposals}")
    return np.array([worlds, proposals, bid_trust, play_trust], dtype=np.float64)


@njit
def draw_worlds(
    state: np.ndarray, cfg: np.ndarray, policy: Policy, bidder: Bidder, settings: np.ndarray, rng: np.ndarray
) -> np.ndarray:
    """Equally weighted worlds int64[settings[WORLDS], STATE_SIZE], drawn in proportion to likelihood."""
    worlds = int(settings[WORLDS])
    drawn = worlds * int(settings[PROPOSALS])
    proposals = np.empty((drawn, STATE_SIZE), dtype=np.int64)
    log_weights = np.empty(drawn, dtype=np.float64)
    replay = np.empty(STATE_SIZE, dtype=np.int64)
    hands = np.empty(4, dtype=np.int64)
    net = random_net(bidder, rng)
    for i in range(drawn):
        log_weights[i] = sample_world(state, cfg, rng, proposals[i])
        if log_weights[i] == -np.inf:
            continue
        if settings[PLAY_TRUST] > 0.0:
            log_weights[i] += settings[PLAY_TRUST] * play_log_likelihood(
                proposals[i], cfg, policy, _PLAY_TEMPERATURE, replay
            )
        if settings[BID_TRUST] > 0.0:
            full_hands(proposals[i], cfg, hands)
            for seat in range(cfg[PLAYERS]):
                if seat != state[TURN]:
                    log_weights[i] += settings[BID_TRUST] * bid_log_likelihood(
                        hands[seat], state[BID + seat], cfg, bidder, net, _BID_TEMPERATURE
                    )
    picks = np.empty(worlds, dtype=np.int64)
    resample(log_weights, picks, rng)
    return proposals[picks]


@njit
def play_out(state: np.ndarray, cfg: np.ndarray, policy: Policy) -> None:
    """Finish the deal with the rollout policy in every seat."""
    while state[TRICK] < cfg[TRICKS]:
        play(state, cfg, policy_play(state, cfg, policy))


@njit
def distinct_plays(state: np.ndarray, cfg: np.ndarray) -> int:
    """Legal cards but those that repeat a lower one: nothing unseen or on the table lies between."""
    legal = legal_plays(state, cfg)
    others = unseen_cards(state, cfg)
    for place in range(state[COUNT]):
        others |= 1 << state[TABLE + place]  # a face-down card is unseen already
    kept = 0
    last = -1
    rest = legal
    while rest:
        card = lowest(rest)
        rest &= rest - 1
        between = others >> (last + 1) & ((1 << (card - last - 1)) - 1) if last >= 0 else 1
        if last < 0 or card // 13 != last // 13 or between:
            kept |= 1 << card
        last = card
    return kept


@njit
def play_outcomes(
    state: np.ndarray, cfg: np.ndarray, policy: Policy, cards: np.ndarray, worlds: np.ndarray
) -> np.ndarray:
    """Final tricks of the seat to move, int64[len(cards), len(worlds)], if it plays each card in each world."""
    me = state[TURN]
    after = np.empty(STATE_SIZE, dtype=np.int64)
    won = np.empty((len(cards), len(worlds)), dtype=np.int64)
    for k in range(len(cards)):
        for i in range(len(worlds)):
            after[:] = worlds[i]
            play(after, cfg, cards[k])
            play_out(after, cfg, policy)
            won[k, i] = after[WON + me]
    return won


@njit
def search_play(
    state: np.ndarray, cfg: np.ndarray, policy: Policy, bidder: Bidder, settings: np.ndarray, rng: np.ndarray
) -> int:
    """The legal card with the best mean points over the worlds."""
    rest = distinct_plays(state, cfg)
    cards = np.empty(popcount(rest), dtype=np.int64)
    for k in range(len(cards)):
        cards[k] = lowest(rest)
        rest &= rest - 1
    if len(cards) == 1:
        return cards[0]
    me = state[TURN]
    won = play_outcomes(state, cfg, policy, cards, draw_worlds(state, cfg, policy, bidder, settings, rng))
    best, best_total = 0, -1 << 30
    for k in range(len(cards)):
        total = 0
        for i in range(won.shape[1]):
            total += points_for(state[MODE], state[NUMBER + me], won[k, i])
        if total > best_total:
            best, best_total = k, total
    return cards[best]


@njit
def search_mode(
    state: np.ndarray,
    cfg: np.ndarray,
    policy: Policy,
    bidder: Bidder,
    settings: np.ndarray,
    rng: np.ndarray,
    values: np.ndarray,
) -> int:
    """The contract winner's mode at T = tricks; `values` float64[2] gets mean points of Atas and Bawah."""
    me = state[TURN]
    worlds = draw_worlds(state, cfg, policy, bidder, settings, rng)
    after = np.empty(STATE_SIZE, dtype=np.int64)
    values[:] = 0.0
    for mode in (_ATAS, _BAWAH):
        for i in range(len(worlds)):
            after[:] = worlds[i]
            choose_mode(after, cfg, mode)
            play_out(after, cfg, policy)
            values[mode] += points(after, me) / len(worlds)
    return _ATAS if values[_ATAS] >= values[_BAWAH] else _BAWAH
