"""A second, deliberately naive Truco hand, written from the rules alone, to compare `game.truco` with.

It imports nothing of the project. Cards and actions are words ("7O", "truco"), a hand so far is the list of
its (player, word) moves, and every question (who moves, what is legal, what is the score, what does a player
know) is answered by reading that list again from the start. Slow and plain on purpose.
R-n and A-n are the numbered rules and settled ambiguities of the rules text.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

MANO, PIE = 0, 1

Move = tuple[int, str]

SUITS = ["E", "B", "O", "C"]
RANKS = ["1", "2", "3", "4", "5", "6", "7", "10", "11", "12"]
CARDS = [rank + suit for suit in SUITS for rank in RANKS]
LADDER = ["truco", "retruco", "vale_cuatro"]
ENVIDO_CALLS = ["envido", "real_envido", "falta_envido"]
ANSWERS = ["quiero", "no_quiero", "mazo"]
ACTIONS = [*CARDS, *LADDER, *ENVIDO_CALLS, *ANSWERS]  # the place of a word is its action number

# R-8, strongest first.
STRENGTH = [
    ["1E"],
    ["1B"],
    ["7E"],
    ["7O"],
    ["3E", "3B", "3O", "3C"],
    ["2E", "2B", "2O", "2C"],
    ["1O", "1C"],
    ["12E", "12B", "12O", "12C"],
    ["11E", "11B", "11O", "11C"],
    ["10E", "10B", "10O", "10C"],
    ["7B", "7C"],
    ["6E", "6B", "6O", "6C"],
    ["5E", "5B", "5O", "5C"],
    ["4E", "4B", "4O", "4C"],
]

# R-12 and the table under R-13. "M" is a trick won by mano, "Y" one by pie, "P" a parda.
ROUND_WINNER_3 = {
    "MM": MANO, "MP": MANO, "PM": MANO, "MYM": MANO, "MYP": MANO, "YMM": MANO, "PPM": MANO, "PPP": MANO,
    "YY": PIE, "YP": PIE, "PY": PIE, "YMY": PIE, "YMP": PIE, "MYY": PIE, "PPY": PIE,
}  # fmt: skip
ROUND_WINNER_2 = {
    "MM": MANO, "MP": MANO, "PM": MANO, "MY": MANO, "PP": MANO,
    "YY": PIE, "YP": PIE, "PY": PIE, "YM": PIE,
}  # fmt: skip
ROUND_WINNER_1 = {"M": MANO, "P": MANO, "Y": PIE}
ROUND_WINNER = {1: ROUND_WINNER_1, 2: ROUND_WINNER_2, 3: ROUND_WINNER_3}

DEFAULTS: dict[str, Any] = {
    "target": 15,
    "envido": True,
    "envido_reveal": "values",
    "raise_right": "alternate",
    "envido_after_truco": "forbid",
    "max_envido": 2,
    "falta": "leader",
    "falta_accept": "replaces",
    "fold_vs_envido": "round",
    "first_trick_fold_bonus": 0,
    "hand_size": 3,
}


@dataclass
class Deal:
    """What is fixed before the first move: the dealt cards, the match score and the rules that differ."""

    mano_cards: Sequence[str]
    pie_cards: Sequence[str]
    mano_score: int = 0
    pie_score: int = 0
    changed_rules: dict[str, Any] = field(default_factory=dict)

    def rule(self, name: str) -> Any:
        return self.changed_rules.get(name, DEFAULTS[name])

    def cards_of(self, player: int) -> Sequence[str]:
        return self.mano_cards if player == MANO else self.pie_cards


# ---------------------------------------------------------------------------------------------- cards


def strength_place(card: str) -> int:
    for place, cards in enumerate(STRENGTH):
        if card in cards:
            return place
    raise AssertionError(card)


def envido_points(cards: Sequence[str]) -> int:
    """R-20, A-9: the best suited pair + 20, else the highest single card."""

    def worth(card: str) -> int:
        rank = int(card[:-1])
        return rank if rank <= 7 else 0

    best = max(worth(card) for card in cards)
    for one, other in combinations(cards, 2):
        if one[-1] == other[-1]:
            best = max(best, 20 + worth(one) + worth(other))
    return best


# ---------------------------------------------------------------------------------- reading the history


def cards_played(history: list[Move]) -> list[Move]:
    return [(player, word) for player, word in history if word in CARDS]


def trick_results(history: list[Move]) -> str:
    """One letter for each finished trick: M, Y or P."""
    played = cards_played(history)
    results = ""
    while len(played) >= 2:
        (first, card), (_, reply) = played[0], played[1]
        played = played[2:]
        if strength_place(card) == strength_place(reply):
            results += "P"
        elif strength_place(card) < strength_place(reply):
            results += "MY"[first]
        else:
            results += "MY"[1 - first]
    return results


def trick_one_is_finished(history: list[Move]) -> bool:
    return len(cards_played(history)) >= 2


def player_to_play_a_card(history: list[Move]) -> int:
    """R-10, A-3: winner leads, after a parda mano leads; the other player answers."""
    played = cards_played(history)
    if len(played) % 2 == 1:
        return 1 - played[-1][0]
    results = trick_results(history)
    return PIE if results.endswith("Y") else MANO


def envido_chain(history: list[Move]) -> list[str]:
    return [word for _, word in history if word in ENVIDO_CALLS]


def envido_is_pending(history: list[Move]) -> bool:
    return bool(history) and history[-1][1] in ENVIDO_CALLS


def without_envido(history: list[Move]) -> list[Move]:
    """The hand with the Envido side bet cut out: its calls and the answer that follows the last call."""
    rest = []
    for i, move in enumerate(history):
        is_call = move[1] in ENVIDO_CALLS
        is_answer = i > 0 and history[i - 1][1] in ENVIDO_CALLS
        if not is_call and not is_answer:
            rest.append(move)
    return rest


def truco_calls(history: list[Move]) -> list[Move]:
    return [(player, word) for player, word in history if word in LADDER]


def truco_is_pending(history: list[Move]) -> bool:
    """R-25: a Truco call that an Envido interrupts stays pending."""
    rest = without_envido(history)
    return bool(rest) and rest[-1][1] in LADDER


def round_value(history: list[Move]) -> int:
    """R-16, R-18: the highest accepted level; a raise accepts the level under it."""
    value = 1
    last_level = 1
    for _, word in without_envido(history):
        if word in LADDER:
            last_level = 2 + LADDER.index(word)
            value = last_level - 1
        if word == "quiero":
            value = last_level
    return value


# --------------------------------------------------------------------------------------------- payments


def chain_worth(chain: list[str]) -> int:
    """R-22 without Falta."""
    assert "falta_envido" not in chain
    return 2 * chain.count("envido") + 3 * chain.count("real_envido")


def accepted_envido(deal: Deal, chain: list[str], score: list[int]) -> int:
    """R-22, A-12."""
    if chain[-1] != "falta_envido":
        return chain_worth(chain)
    leader = max(score)
    missing = deal.rule("target") - leader
    if deal.rule("falta") == "malas_buenas" and deal.rule("target") == 30 and leader < 15:
        missing = 15 - leader
    if deal.rule("falta_accept") == "adds":
        missing += chain_worth(chain[:-1])
    return missing


def declined_envido(chain: list[str]) -> int:
    """R-23."""
    return max(1, chain_worth(chain[:-1]))


def envido_winner(deal: Deal) -> int:
    """A-10: the dealt cards count. A-13: mano wins a tie."""
    return PIE if envido_points(deal.pie_cards) > envido_points(deal.mano_cards) else MANO


def payment(deal: Deal, before: list[Move], player: int, word: str) -> tuple[int, int]:
    """(winner, points) that this move pays out; (player, 0) if it pays nothing."""
    other = 1 - player
    if word == "quiero" and envido_is_pending(before):
        return envido_winner(deal), accepted_envido(deal, envido_chain(before), scores(deal, before))
    if word == "no_quiero" and envido_is_pending(before):
        return other, declined_envido(envido_chain(before))
    if word == "no_quiero":
        return other, round_value(before)
    if word == "mazo":
        points = round_value(before)
        if envido_is_pending(before):
            if deal.rule("fold_vs_envido") == "both":
                points += declined_envido(envido_chain(before))
        elif not truco_is_pending(before) and envido_may_start(deal, before):
            points += deal.rule("first_trick_fold_bonus")
        return other, points
    if word in CARDS:
        winner = winner_by_cards(deal, [*before, (player, word)])
        if winner is not None:
            return winner, round_value(before)
    return player, 0


def winner_by_cards(deal: Deal, history: list[Move]) -> int | None:
    return ROUND_WINNER[deal.rule("hand_size")].get(trick_results(history))


def scores(deal: Deal, history: list[Move]) -> list[int]:
    """Match score (mano, pie) after these moves; A-16: clamped at the target."""
    score = [deal.mano_score, deal.pie_score]
    for i, (player, word) in enumerate(history):
        winner, points = payment(deal, history[:i], player, word)
        score[winner] = min(deal.rule("target"), score[winner] + points)
    return score


def points_won(deal: Deal, history: list[Move]) -> tuple[int, int]:
    mano, pie = scores(deal, history)
    return mano - deal.mano_score, pie - deal.pie_score


def is_over(deal: Deal, history: list[Move]) -> bool:
    if max(scores(deal, history)) >= deal.rule("target"):
        return True
    if not history:
        return False
    _, last = history[-1]
    if last == "mazo":
        return True
    if last == "no_quiero" and not envido_is_pending(history[:-1]):
        return True
    return last in CARDS and winner_by_cards(deal, history) is not None


# ------------------------------------------------------------------------------------- who may do what


def player_to_move(deal: Deal, history: list[Move]) -> int | None:
    if is_over(deal, history):
        return None
    if envido_is_pending(history):
        return 1 - history[-1][0]
    if truco_is_pending(history):
        return 1 - truco_calls(history)[-1][0]
    return player_to_play_a_card(history)


def envido_may_start(deal: Deal, history: list[Move]) -> bool:
    """R-19, R-25, A-6, A-7, A-8: may the player to move open the Envido now (none is pending)?"""
    if not deal.rule("envido") or envido_chain(history) or trick_one_is_finished(history):
        return False
    if deal.rule("envido_after_truco") == "allow":
        return True
    calls = [word for _, word in truco_calls(history)]
    return calls == [] or (calls == ["truco"] and truco_is_pending(history))


def may_call_next_level(deal: Deal, history: list[Move], player: int) -> bool:
    """R-14 and A-5, on one's own turn with nothing pending."""
    calls = truco_calls(history)
    if len(calls) == 3:
        return False
    if not calls or deal.rule("raise_right") == "any":
        return True
    return calls[-1][0] != player


def envido_raises(deal: Deal, chain: list[str]) -> list[str]:
    """A-11: E up to `max_envido` times, then RE at most once, then FE."""
    raises = []
    if "falta_envido" not in chain:
        raises.append("falta_envido")
        if "real_envido" not in chain:
            raises.append("real_envido")
            if chain.count("envido") < deal.rule("max_envido"):
                raises.append("envido")
    return raises


def legal_words(deal: Deal, history: list[Move]) -> list[str]:
    """Part B, in the order of `ACTIONS`."""
    player = player_to_move(deal, history)
    if player is None:
        return []
    words = []
    if envido_is_pending(history):
        words += ["quiero", "no_quiero", "mazo"]
        words += envido_raises(deal, envido_chain(history))
    elif truco_is_pending(history):
        words += ["quiero", "no_quiero", "mazo"]
        words += LADDER[len(truco_calls(history)) :][:1]
        if envido_may_start(deal, history):
            words += ENVIDO_CALLS
    else:
        words += ["mazo"]
        words += [card for card in deal.cards_of(player) if (player, card) not in history]
        if may_call_next_level(deal, history, player):
            words += LADDER[len(truco_calls(history)) :][:1]
        if envido_may_start(deal, history):
            words += ENVIDO_CALLS
    return sorted(words, key=ACTIONS.index)


# ------------------------------------------------------------------------------------- what is known


def revealed(deal: Deal, history: list[Move]) -> tuple[Any, Any]:
    """What an accepted Envido made public (A-2) about (mano, pie); None where it made nothing public."""
    accepted = any(word == "quiero" and envido_is_pending(history[:i]) for i, (_, word) in enumerate(history))
    if not accepted:
        return None, None
    if deal.rule("envido_reveal") == "hands":
        return frozenset(deal.mano_cards), frozenset(deal.pie_cards)
    mano, pie = envido_points(deal.mano_cards), envido_points(deal.pie_cards)
    if deal.rule("envido_reveal") == "buenas" and envido_winner(deal) == MANO:
        return mano, None  # pie says "son buenas"
    return mano, pie


def knowledge(deal: Deal, history: list[Move], player: int) -> tuple[Any, ...]:
    """All that this player knows, as one comparable value (R-6, A-2)."""
    return (
        player,
        frozenset(deal.cards_of(player)),
        tuple(history),
        tuple(scores(deal, history)),
        revealed(deal, history),
    )


def public_knowledge(deal: Deal, history: list[Move]) -> tuple[Any, ...]:
    """What a spectator knows."""
    return tuple(history), tuple(scores(deal, history)), revealed(deal, history)
