"""Bids by fictitious play: again and again a fresh best response to the average of all earlier ones.

Plain iterated best response cycles (overbidding follows underbidding); the average settles. A best response
is a network fitted to the points that bids earned in simulated deals. Four players and a general-sum game:
nothing guarantees an equilibrium, so the gain that a fresh best response still finds is measured and
reported.
"""

from collections.abc import Callable

import numpy as np

from solver.jit import njit
from solver.truff.baseline import rule_mode
from solver.truff.bidding import (
    ACTIVE,
    INPUTS,
    RULE_BASED,
    Bidder,
    bid_inputs,
    bid_values,
    blank_bidder,
    card_inputs,
    choose_bid,
    random_net,
)
from solver.truff.bids import CARDS, COUNTED, DENOMINATION, MAX_SHORTLIST, shortlist
from solver.truff.engine import (
    BID,
    HAND,
    MODE,
    PLAYERS,
    STATE_SIZE,
    UNDECIDED,
    choose_mode,
    deal_cards,
    new_rng,
    points,
    popcount,
    random_below,
    reveal,
)
from solver.truff.policy import Policy
from solver.truff.search import play_out
from solver.truff.simulation import POINTS, simulate_hand, simulated_bid

_RANDOM_CANDIDATES = 3
_EPOCHS = 3
_RATE = 4e-3


@njit
def deal_points(state: np.ndarray, cfg: np.ndarray, policy: Policy, after: np.ndarray) -> None:
    """Reveal the bids of `state` and play the deal out in `after`."""
    after[:] = state
    reveal(after, cfg)
    if after[MODE] == UNDECIDED:
        choose_mode(after, cfg, rule_mode(after))
    play_out(after, cfg, policy)


@njit
def simulate_bids(
    cfg: np.ndarray,
    policy: Policy,
    bidder: Bidder,
    guide: int,
    top: int,
    rng: np.ndarray,
    inputs: np.ndarray,
    targets: np.ndarray,
) -> None:
    """Fill `inputs` int64[n, ACTIVE] and `targets` float32[n] with bids and the points they earned.

    In every deal each seat bids by the average strategy; then for each seat in turn its `top` best bids by
    network `guide`, and three random ones, are played out against the other seats' bids. guide RULE_BASED:
    the seats are rule-based and all their bids are tried.
    """
    state = np.zeros(STATE_SIZE, dtype=np.int64)
    after = np.zeros(STATE_SIZE, dtype=np.int64)
    bids = np.empty((MAX_SHORTLIST, 3), dtype=np.int64)
    values = np.empty(MAX_SHORTLIST, dtype=np.float64)
    n = 0
    while n < len(targets):
        deal_cards(state, cfg, rng)
        for seat in range(cfg[PLAYERS]):
            net = RULE_BASED if guide == RULE_BASED else random_net(bidder, rng)
            state[BID + seat] = choose_bid(state[HAND + seat], cfg, bidder, net)
        for seat in range(cfg[PLAYERS]):
            hand, laid = state[HAND + seat], state[BID + seat]
            count = shortlist(hand, cfg, bids)
            order = np.arange(count)
            if guide != RULE_BASED:
                bid_values(hand, bids, count, bidder, guide, values)
                order = np.argsort(-values[:count])
                for i in range(_RANDOM_CANDIDATES):
                    if top + i < count:
                        j = top + i + random_below(rng, count - top - i)
                        order[top + i], order[j] = order[j], order[top + i]
                count = min(count, top + _RANDOM_CANDIDATES)
            for i in range(count):
                if n == len(targets):
                    return
                bid = bids[order[i]]
                state[BID + seat] = bid[CARDS]
                deal_points(state, cfg, policy, after)
                k = card_inputs(hand, bid[DENOMINATION], inputs[n])
                bid_inputs(bid[COUNTED], bid[DENOMINATION], popcount(bid[CARDS]), inputs[n, k:])
                targets[n] = points(after, seat)
                n += 1
            state[BID + seat] = laid


@njit
def compare_bids(
    cfg: np.ndarray,
    policy: Policy,
    bidder: Bidder,
    response: Bidder,
    deals: int,
    rng: np.ndarray,
) -> np.ndarray:
    """Points of one seat, float64[deals, 2]: bidding by the average strategy, and by the response's net 0.

    The other seats bid by the average strategy, with the same cards and bids both times.
    """
    state = np.zeros(STATE_SIZE, dtype=np.int64)
    after = np.zeros(STATE_SIZE, dtype=np.int64)
    result = np.empty((deals, 2), dtype=np.float64)
    for d in range(deals):
        deal_cards(state, cfg, rng)
        hero = d % cfg[PLAYERS]
        for seat in range(cfg[PLAYERS]):
            state[BID + seat] = choose_bid(state[HAND + seat], cfg, bidder, random_net(bidder, rng))
        deal_points(state, cfg, policy, after)
        result[d, 0] = points(after, hero)
        state[BID + hero] = choose_bid(state[HAND + hero], cfg, response, 0)
        deal_points(state, cfg, policy, after)
        result[d, 1] = points(after, hero)
    return result


def fit_network(inputs: np.ndarray, targets: np.ndarray, hidden: int, seed: int) -> Bidder:
    """One network fitted to (inputs int64[n, ACTIVE], targets float32[n]) by Adam on the squared error."""
    rng = np.random.default_rng(seed)
    params = [
        rng.normal(0.0, (2.0 / ACTIVE) ** 0.5, (INPUTS, hidden)).astype(np.float32),
        np.zeros(hidden, np.float32),
        rng.normal(0.0, (1.0 / hidden) ** 0.5, hidden).astype(np.float32),
        np.full(1, targets.mean(), np.float32),
    ]
    first = [np.zeros_like(p) for p in params]
    second = [np.zeros_like(p) for p in params]
    batch = 2048
    steps = _EPOCHS * (len(targets) // batch)
    step = 0
    dense = np.zeros((batch, INPUTS), np.float32)
    rows = np.arange(batch)[:, None]
    for _ in range(_EPOCHS):
        order = rng.permutation(len(targets))
        for at in range(0, len(targets) - batch + 1, batch):
            chosen = order[at : at + batch]
            dense[:] = 0.0
            dense[rows, inputs[chosen]] = 1.0
            w1, b1, w2, b2 = params
            layer = np.maximum(dense @ w1 + b1, 0.0)
            error = (layer @ w2 + b2 - targets[chosen]) / batch
            back = np.outer(error, w2) * (layer > 0)
            gradients = [dense.T @ back, back.sum(0), layer.T @ error, error.sum(keepdims=True)]
            step += 1
            step_size = _RATE * 0.5 * (1.0 + np.cos(np.pi * step / (steps + 1)))
            for p, g, m, v in zip(params, gradients, first, second, strict=True):
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                p -= (step_size * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)).astype(
                    np.float32
                )
    w1, b1, w2, b2 = params
    return w1[None], b1[None], w2[None], b2


def best_response(
    cfg: np.ndarray, policy: Policy, bidder: Bidder, rule_based: bool, samples: int, hidden: int, seed: int
) -> Bidder:
    """A network fitted to what bids earn against three seats of `bidder`, or of rule-based bidders."""
    inputs = np.empty((samples, ACTIVE), dtype=np.int64)
    targets = np.empty(samples, dtype=np.float32)
    guide = RULE_BASED if rule_based else len(bidder[3]) - 1
    simulate_bids(cfg, policy, bidder, guide, 6, new_rng(seed), inputs, targets)
    return fit_network(inputs, targets, hidden, seed)


def measure_gain(
    cfg: np.ndarray, policy: Policy, bidder: Bidder, samples: int, seed: int
) -> tuple[float, float]:
    """What a fresh best response gains on the average strategy in points per deal, and half its 95 % interval.

    The response is fitted to `samples` bids and measured on 100 000 other deals: a lower bound of the true gain,
    for bids only, with the rollout policy playing in all seats.
    """
    response = best_response(cfg, policy, bidder, False, samples, bidder[1].shape[1], seed)
    points = compare_bids(cfg, policy, bidder, response, 100_000, new_rng(seed + 1))
    return _gain(points)


@njit
def simulation_gains(
    cfg: np.ndarray, policy: Policy, bidder: Bidder, hands: int, deals: int, rng: np.ndarray
) -> np.ndarray:
    """Gain in points of a deviator who simulates, float64[hands]: unbiased for that deviator.

    The deviator lays `simulated_bid`; on as many fresh deals that is compared with the average strategy's bid.
    """
    state = np.zeros(STATE_SIZE, dtype=np.int64)
    gains = np.empty(hands, dtype=np.float64)
    for h in range(hands):
        deal_cards(state, cfg, rng)
        hand = state[HAND]
        usual = choose_bid(hand, cfg, bidder, random_net(bidder, rng))
        pair = np.array([simulated_bid(hand, cfg, policy, bidder, deals, rng), usual])
        fresh = simulate_hand(hand, pair, cfg, policy, bidder, deals, rng)
        gains[h] = fresh[0, :, POINTS].mean() - fresh[1, :, POINTS].mean()
    return gains


def fictitious_play(
    cfg: np.ndarray,
    policy: Policy,
    rounds: int,
    samples: int,
    seed: int,
    hidden: int = 48,
    progress: Callable[[int, float, float], None] = lambda round_, gain, interval: None,
) -> Bidder:
    """The average strategy after `rounds` best responses; the same arguments give the same networks.

    The first responds to rule-based bids and is dropped in the end. `progress` gets the round, what its response
    gained on the average before it, and half the 95 % interval of that.
    """
    responses = [best_response(cfg, policy, blank_bidder(), True, samples, hidden, seed)]
    for round_ in range(1, rounds + 1):
        average = join(responses)
        response = best_response(cfg, policy, average, False, samples, hidden, seed + round_)
        rng = new_rng(seed + 1000 + round_)
        progress(round_, *_gain(compare_bids(cfg, policy, average, response, 40_000, rng)))
        responses.append(response)
    return join(responses[1:])


def join(bidders: list[Bidder]) -> Bidder:
    """One bidder with all the networks."""
    w1, b1, w2, b2 = (np.concatenate(parts) for parts in zip(*bidders, strict=True))
    return w1, b1, w2, b2


def _gain(points: np.ndarray) -> tuple[float, float]:
    gains = points[:, 1] - points[:, 0]
    return float(gains.mean()), float(1.96 * gains.std(ddof=1) / len(gains) ** 0.5)
