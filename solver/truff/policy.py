"""The rollout player: a fast, tuned play policy for the exact contract.

Every card in hand gets a chance q of winning a later trick and a chance p of winning this one. Playing card c
makes the expected final tricks  p(c) + sum of q over the other cards;  the policy plays the card that brings
this nearest to what the contract still needs. So it wins cheaply when short, ducks and throws high cards away
when it has too many. The chances are logistic in few quantities and kept in tables; `tune.py` fits the
weights.
"""

import json
from importlib import resources

import numpy as np

from game.truff.cards import NO_TRUFF
from game.truff.rules import Mode
from solver.jit import njit
from solver.truff.engine import (
    COUNT,
    HAND,
    MODE,
    NUMBER,
    PLAYERS,
    SUIT_MASK,
    TRICK,
    TRICKS,
    TRUMP,
    TURN,
    WON,
    legal_plays,
    lowest,
    popcount,
    suit_cards,
)
from solver.truff.sight import ahead_chance, face_down_trumps, unseen_cards

Policy = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Tables (later, now, style) as `make_policy` returns them; the kernels take them as one argument."""
PRESSURES = 5
"""Levels of how many tricks the seats together still want, against the tricks left."""
_NT = NO_TRUFF
_ATAS = int(Mode.ATAS)

# Kinds of card: in a deal without trump, side suit, trump.
_KINDS = 3
WEIGHT_NAMES = (
    *(f"later_{what}_{kind}" for kind in ("nt", "side", "trump") for what in ("base", "higher", "length")),
    "later_power",
    "later_pressure",
    *(f"now_{what}_{kind}" for kind in ("nt", "side", "trump") for what in ("base", "higher")),
    "now_power",
    "now_ruff",
    "now_pressure",
    "aim_atas",
    "aim_bawah",
    "gamble",
    "dump",
    "shorten",
    "save_trump",
)
START_WEIGHTS = np.array(
    [
        *(1.5, 0.9, -0.1, 1.2, 0.9, 0.3, 2.0, 0.5, -0.2, 0.8, 0.5),
        *(2.5, 0.9, 2.0, 0.9, 3.0, 0.9, 0.7, 0.4, 0.5),
        *(0.2, -0.1, 0.1, 0.1, 0.05, 0.05),
    ]
)
"""Hand-set weights that tuning starts from."""


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-x))


class _Weights(dict[str, float]):
    def __init__(self, weights: np.ndarray) -> None:
        super().__init__(zip(WEIGHT_NAMES, map(float, weights), strict=True))


def make_policy(weights: np.ndarray) -> Policy:
    """Tables of the policy with these weights (float64[len(WEIGHT_NAMES)]).

    Returns (later, now, style): later float32[pressure, kind, higher unseen, own length], now
    float32[pressure, kind, higher unseen, players to come, unseen cards of the suit], style float64[6].
    """
    w = _Weights(weights)
    higher = np.arange(13.0)
    pressure = (np.arange(PRESSURES) - PRESSURES // 2) / (PRESSURES // 2)
    later = np.zeros((PRESSURES, _KINDS, 13, 14), dtype=np.float32)
    now = np.zeros((PRESSURES, _KINDS, 13, 4, 14), dtype=np.float32)
    for kind, name in enumerate(("nt", "side", "trump")):
        later[:, kind] = _logistic(
            w[f"later_base_{name}"]
            - w[f"later_higher_{name}"] * higher[None, :, None] ** np.exp(w["later_power"] - 1.0)
            - w[f"later_length_{name}"] * (np.arange(14) - 3.0)[None, None, :]
            - w["later_pressure"] * pressure[:, None, None]
        )
        to_come = np.arange(4.0)[None, None, :, None]
        ruff = w["now_ruff"] * np.maximum(0, 6 - np.arange(14.0)) if name == "side" else np.zeros(14)
        now[:, kind] = _logistic(
            w[f"now_base_{name}"]
            - w[f"now_higher_{name}"]
            * higher[None, :, None, None]
            * (to_come / 3) ** np.exp(w["now_power"] - 1.0)
            - ruff[None, None, None, :] * to_come / 3
            - w["now_pressure"] * pressure[:, None, None, None]
        )
    now[:, :, :, 0, :] = 1.0
    return later, now, np.array([w[name] for name in WEIGHT_NAMES[-6:]])


def load_policy() -> Policy:
    """The tuned policy that comes with the package (made by `truff train policy`)."""
    text = resources.files("solver.truff").joinpath("data/policy.json").read_text()
    weights = json.loads(text)["weights"]
    return make_policy(np.array([weights[name] for name in WEIGHT_NAMES]))


@njit
def pressure_level(state: np.ndarray, cfg: np.ndarray, seat: int) -> int:
    """How much the seats together still want, against the tricks left; 0 (little) to 4 (much)."""
    left = cfg[TRICKS] - state[TRICK]
    wanted = 0
    for other in range(cfg[PLAYERS]):
        if other != seat:
            wanted += max(0, state[NUMBER + other] - state[WON + other])
    surplus = wanted + max(0, state[NUMBER + seat] - state[WON + seat]) - left
    if surplus <= -3:
        return 0
    if surplus <= -1:
        return 1
    if surplus <= 0:
        return 2
    return 3 if surplus <= 2 else 4


@njit
def score_cards(
    state: np.ndarray,
    cfg: np.ndarray,
    policy: Policy,
    cards: np.ndarray,
    scores: np.ndarray,
) -> int:
    """Write the legal cards of the seat to move and their scores; returns how many. Higher is better.

    Reads what the seat sees and nothing else.
    """
    later, now, style = policy
    seat = state[TURN]
    hand = state[HAND + seat]
    trump = state[TRUMP]
    unseen = unseen_cards(state, cfg)
    hidden = face_down_trumps(state, cfg)
    level = pressure_level(state, cfg, seat)
    to_come = cfg[PLAYERS] - 1 - state[COUNT]
    need = float(state[NUMBER + seat] - state[WON + seat])
    aim = need + (style[0] if state[MODE] == _ATAS else style[1])

    total = 0.0
    for suit in range(4):
        own = hand >> (13 * suit) & SUIT_MASK
        length = popcount(own)
        others = unseen >> (13 * suit) & SUIT_MASK
        kind = 0 if trump == _NT else (2 if suit == trump else 1)
        while own:
            position = lowest(own)
            own &= own - 1
            total += later[level, kind, popcount(others >> (position + 1)), length]

    n = 0
    rest = legal_plays(state, cfg)
    over = 1.0 if total > aim else -1.0
    while rest:
        card = lowest(rest)
        rest &= rest - 1
        suit = card // 13
        position = card - 13 * suit
        kind = 0 if trump == _NT else (2 if suit == trump else 1)
        others = unseen >> (13 * suit) & SUIT_MASK
        higher = popcount(others >> (position + 1))
        length = popcount(suit_cards(hand, suit))
        chance = ahead_chance(state, card, unseen, hidden)
        if chance > 0.0:
            chance *= now[level, kind, higher, to_come, popcount(others)]
        expected = chance + total - later[level, kind, higher, length]
        score = -abs(expected - aim) - style[2] * chance * (1.0 - chance) + style[3] * over * position / 12.0
        if length == 1 and suit != trump:
            score += style[4]
        if suit == trump:
            score -= style[5]
        cards[n] = card
        scores[n] = score
        n += 1
    return n


@njit
def policy_play(state: np.ndarray, cfg: np.ndarray, policy: Policy) -> int:
    """The best-scored card of the seat to move."""
    cards = np.empty(13, dtype=np.int64)
    scores = np.empty(13, dtype=np.float64)
    n = score_cards(state, cfg, policy, cards, scores)
    best = 0
    for i in range(1, n):
        if scores[i] > scores[best]:
            best = i
    return cards[best]
