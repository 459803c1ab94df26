"""Worlds: guesses of the hidden cards that agree with all the seat to move has seen, weighted by likelihood.

A world is an engine state in which the other hands, and the ranks of other seats' face-down trumps, are
sampled. Fixed are the own hand, the shown bid cards not played yet, known voids and hand sizes. Its weight is
how likely the other seats' plays were with those hands, by a softmax over the rollout policy's scores, and
their bids (`bidding.bid_log_likelihood`), over the chance with which the sampler proposes it.
"""

import numpy as np

from solver.jit import njit
from solver.truff.engine import (
    BEST,
    BID,
    BROKEN,
    COUNT,
    HAND,
    HIDDEN,
    HISTORY,
    LEADER,
    PLAYERS,
    PLAYS,
    SEEN,
    TABLE,
    TRICK,
    TRUMP,
    TURN,
    VOID,
    WINNER,
    WON,
    play,
    popcount,
    random_below,
    random_card,
    suit_cards,
)
from solver.truff.policy import Policy, score_cards
from solver.truff.sight import unseen_cards

_ATTEMPTS = 100


@njit
def sample_world(state: np.ndarray, cfg: np.ndarray, rng: np.ndarray, world: np.ndarray) -> float:
    """Fill `world` with a random world for the seat to move; returns its log importance weight.

    The weight undoes the sampler's bias: weighted worlds are uniform over all that fit. Returns -inf, with
    `world` unusable, if no fit is found in 100 attempts.
    """
    for _ in range(_ATTEMPTS):
        log_weight = _propose(state, cfg, rng, world)
        if log_weight > -np.inf:
            return log_weight
    return -np.inf


@njit
def _propose(state: np.ndarray, cfg: np.ndarray, rng: np.ndarray, world: np.ndarray) -> float:
    players, me, trump = cfg[PLAYERS], state[TURN], state[TRUMP]
    unseen = unseen_cards(state, cfg)
    face_down = np.zeros(4, dtype=np.int64)  # 1: the seat has a trump face down on the table
    for place in range(state[COUNT]):
        if cfg[HIDDEN] and state[TABLE + place] // 13 == trump:
            face_down[(state[LEADER] + place) % players] = 1
    held = np.zeros(4, dtype=np.int64)  # the sampled cards of each seat, with its face-down trump
    free = np.zeros(4, dtype=np.int64)
    pool = unseen
    for seat in range(players):
        if seat != me:
            held[seat] = state[BID + seat] & unseen
            free[seat] = popcount(state[HAND + seat]) + face_down[seat] - popcount(held[seat])
            pool &= ~held[seat]

    log_weight = 0.0
    for choices in range(1, players):  # suits that fewest seats can hold go first, so dead ends are rare
        cards = 0
        for suit in range(4):
            takers = 0
            for seat in range(players):
                takers += seat != me and not state[VOID + seat] >> suit & 1
            if takers == choices:
                cards |= suit_cards(pool, suit)
        while cards:
            card = random_card(rng, cards)
            cards &= ~(1 << card)
            total, room = 0, 0
            for seat in range(players):
                room += free[seat]
                if not state[VOID + seat] >> (card // 13) & 1:
                    total += free[seat]
            if total == 0:
                return -np.inf
            pick = random_below(rng, total)
            for seat in range(players):
                if not state[VOID + seat] >> (card // 13) & 1:
                    if pick < free[seat]:
                        held[seat] |= 1 << card
                        free[seat] -= 1
                        break
                    pick -= free[seat]
            # Unrestricted, the chance would be free / room: those factors are alike for all complete worlds.
            log_weight += np.log(total / room)

    world[:] = state
    for place in range(state[COUNT]):
        seat = (state[LEADER] + place) % players
        if face_down[seat]:
            trumps = suit_cards(held[seat], trump)
            if trumps == 0:
                return -np.inf
            card = random_card(rng, trumps)
            held[seat] &= ~(1 << card)
            world[TABLE + place] = card
            world[HISTORY + state[PLAYS] - state[COUNT] + place] = 64 * seat + card
    for seat in range(players):
        if seat != me:
            world[HAND + seat] = held[seat]
    if state[COUNT]:
        world[BEST] = _best_place(world, trump)
    return log_weight


@njit
def _best_place(world: np.ndarray, trump: int) -> int:
    best = 0
    for place in range(1, world[COUNT]):
        card, leading = world[TABLE + place], world[TABLE + best]
        if (card // 13 == leading // 13 and card > leading) or (card // 13 == trump != leading // 13):
            best = place
    return best


@njit
def full_hands(world: np.ndarray, cfg: np.ndarray, hands: np.ndarray) -> None:
    """The hands as dealt, from those held and the history."""
    for seat in range(cfg[PLAYERS]):
        hands[seat] = world[HAND + seat]
    for i in range(world[PLAYS]):
        hands[world[HISTORY + i] // 64] |= 1 << (world[HISTORY + i] % 64)


@njit
def play_log_likelihood(
    world: np.ndarray, cfg: np.ndarray, policy: Policy, temperature: float, replay: np.ndarray
) -> float:
    """Log chance of the other seats' plays in this world, if they choose by softmax(score / temperature).

    Every play also has a floor of 0.05 over the number of choices, for players who are not like the policy.
    `replay` is scratch of the size of a state.
    """
    me = world[TURN]
    replay[:] = world
    for i in range(cfg[PLAYERS]):
        replay[WON + i] = 0
        replay[VOID + i] = 0
    full_hands(world, cfg, replay[HAND : HAND + 4])
    replay[COUNT] = replay[BROKEN] = replay[TRICK] = replay[SEEN] = replay[PLAYS] = replay[BEST] = 0
    replay[LEADER] = replay[TURN] = world[WINNER]
    cards = np.empty(13, dtype=np.int64)
    scores = np.empty(13, dtype=np.float64)
    total = 0.0
    for i in range(world[PLAYS]):
        card = world[HISTORY + i] % 64
        if replay[TURN] != me:
            n = score_cards(replay, cfg, policy, cards, scores)
            if n > 1:
                top = scores[:n].max()
                mass, chosen = 0.0, 0.0
                for k in range(n):
                    weight = np.exp((scores[k] - top) / temperature)
                    mass += weight
                    if cards[k] == card:
                        chosen = weight
                total += np.log(0.95 * chosen / mass + 0.05 / n)
        play(replay, cfg, card)
    return total


@njit
def resample(log_weights: np.ndarray, picks: np.ndarray, rng: np.ndarray) -> None:
    """Systematic resampling: fill `picks` with indices drawn in proportion to exp(log_weights)."""
    weights = np.exp(log_weights - log_weights.max())
    step = weights.sum() / len(picks)
    at = step * (random_below(rng, 1 << 20) + 0.5) / (1 << 20)
    total, i = weights[0], 0
    for k in range(len(picks)):
        while total < at and i < len(weights) - 1:
            i += 1
            total += weights[i]
        picks[k] = i
        at += step
