"""The exact best response to the vector engine's policy: against OpenSpiel's game and plain recursion over hands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import make_dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from game.truco.actions import QUIERO, TRUCO, WORDS, action_name
from game.truco.cards import parse_cards, tier
from game.truco.equity import EquityTable, simple_equity
from game.truco.hand import Hand
from game.truco.rules import make_rules
from solver import best_response as flat_response
from solver.flat import flatten
from solver.flat_policy import policy_vectors
from solver.storage import StorageError
from solver.truco.hand.openspiel_policy import load_hand_game
from solver.truco.vector.cfr.average import Policy
from solver.truco.vector.cfr.evaluate import policy_value
from solver.truco.vector.cfr.schedule import Step
from solver.truco.vector.cfr.solver import VectorSolver
from solver.truco.vector.model.abstraction import Abstraction
from solver.truco.vector.model.game import Game
from solver.truco.vector.policy.locate import action_mix
from solver.truco.vector.policy.openspiel_policy import VectorPolicy
from solver.truco.vector.response.best import BestResponse
from solver.truco.vector.response.cards.response import CardsResponse, best_response
from solver.truco.vector.response.parts import Parts, fingerprint
from solver.truco.vector.response.tiers.response import tier_response

SEATS = ("mano", "pie")
LADDER = "1E 1B 7E 3E 2E 1C 12E"
"""Seven cards of seven tiers."""
SEVEN = "1E 4E 4C 4B 5B 6E 7E"


def solved(
    deck: str,
    score: tuple[int, int] = (0, 0),
    preset: str = "base",
    iterations: int = 3,
    trim: float = 0.0,
    chains: tuple[str, str, str, str] = ("none", "none", "none", "none"),
    equity: EquityTable | None = None,
    **rules: Any,
) -> Policy:
    """The average strategy after a few iterations, with a coarse abstraction so that merges matter."""
    overrides = {"deck": deck, **rules}
    values = "asked" if chains[0] == "calls" else "five"
    abstraction = Abstraction(("caller", "none", "none", "none"), (values, "five", "none", "none"), chains)
    solver = VectorSolver(Game(make_rules(preset, overrides), score, equity, abstraction))
    for i in range(iterations):
        # Early iterations do not count: some infosets keep sums of zero, where the policy is uniform.
        solver.iterate(Step(1.0, 0.5, float(i > 0), False))
    if trim:
        solver.trim(trim)
    return Policy.of(solver)


# ------------------------------------------------------------------------------ a plain recursion over hands


class Exploiter:
    """Best response with given own cards by recursion over what he sees; `lines` are the other's possible hands."""

    def __init__(self, policy: Policy, player: int) -> None:
        self.policy, self.player = policy, player
        self.tables = policy.tables

    def value(self, cards: tuple[int, ...]) -> float:
        """Sum of utility over the other's hands."""
        rules, score = self.policy.game.rules, self.policy.game.score
        rest = [card for card in rules.deck if card not in cards]
        lines = []
        for other in combinations(rest, 3):
            dealt = (cards, other) if self.player == 0 else (other, cards)
            lines.append((Hand(rules, *dealt, *score), 1.0))
        return self.best(lines)

    def best(self, lines: list[tuple[Hand, float]]) -> float:
        hand = lines[0][0]
        if hand.is_over:
            return sum(reach * self.utility(line) for line, reach in lines)
        mine = hand.to_move == self.player
        moved: dict[Any, list[tuple[Hand, float, int]]] = {}
        for line, reach in lines:
            if mine:
                for look, action in {self.look(action): action for action in line.legal_actions()}.items():
                    moved.setdefault(look, []).append((line, reach, action))
                continue
            for action, probability in action_mix(self.policy.game, self.tables, line).items():
                if probability > 0.0:
                    moved.setdefault(self.look(action), []).append((line, reach * probability, action))
        values = [self.after(part) for part in moved.values()]
        return max(values) if mine else sum(values)

    def look(self, action: int) -> Any:
        """What he tells an action from others by."""
        return action

    def after(self, moved: list[tuple[Hand, float, int]]) -> float:
        """Value after actions of one look by either player, told apart by what they show."""
        seen: dict[Any, list[tuple[Hand, float]]] = {}
        for line, reach, action in moved:
            hand = line.copy()
            hand.apply(action)
            sees = hand.envido_shown() if action == QUIERO else None
            seen.setdefault((sees, hand.scores, hand.is_over), []).append((hand, reach))
        return sum(self.best(part) for part in seen.values())

    def utility(self, hand: Hand) -> float:
        mano, pie = hand.points_won()
        return float(mano - pie) if self.player == 0 else float(pie - mano)


GAMES: dict[str, dict[str, Any]] = {
    "base": {"target": 3, "max_envido": 1},
    "argentino": {"preset": "argentino", "target": 3, "max_envido": 1},
    "longer": {"target": 4, "max_envido": 2, "score": (1, 0)},
    "any": {"preset": "argentino", "raise_right": "any", "target": 3, "max_envido": 1},
    "allow": {"envido_after_truco": "allow", "fold_vs_envido": "both", "target": 3, "max_envido": 1},
    "no envido": {"envido": False},
    "calls": {"target": 4, "max_envido": 2, "chains": ("calls", "exact", "none", "none")},
    "trimmed": {"target": 4, "max_envido": 2, "iterations": 8, "trim": 0.1},
}


@pytest.mark.parametrize("name", GAMES)
def test_values_of_hands(name: str) -> None:
    """Hidden cards, equal tiers and suits: single hands of a deck of seven."""
    policy = solved(SEVEN, **GAMES[name])
    # The hand goes on to tricks 2 and 3 after exits, and after accepted Envidos where there are any.
    after_envido = [not group.exits for group in policy.game.layout.groups]
    assert not all(after_envido)
    assert any(after_envido) == (name != "no envido")
    deck = list(policy.game.rules.deck)
    order = np.argsort(policy.game.holdings.card_tier, kind="stable")
    for player in (0, 1):
        response = CardsResponse(policy, player)
        values = response.backward(response.leaves())["node", 0]
        cards = tuple(sorted(parse_cards(("4E 5B 7E", "4C 4B 1E")[player])))
        hand = tuple(sorted(int(np.flatnonzero(order == deck.index(card))[0]) for card in cards))
        expected = Exploiter(policy, player).value(cards)
        assert values[response.deck.hand_at[hand]] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("deck", "rules"),
    [
        ("1E 4B 4C 5O 7B 7E", {"target": 2, "max_envido": 1, "preset": "argentino"}),
        ("1E 4B 4C 4E 5O 5E 7B", {"envido": False, "target": 2}),
    ],
)  # fmt: skip
def test_whole_game(deck: str, rules: dict[str, Any]) -> None:
    """Best responses and the policy's own value in the flattened OpenSpiel game."""
    policy = solved(deck, **rules)
    flat = flatten(load_hand_game(policy.game.rules, policy.game.score), merge_deals=True)
    vectors = policy_vectors(flat, VectorPolicy(policy.game, policy.tables))
    for player in (0, 1):
        expected = flat_response.best_response(flat, player, vectors[1 - player])[0]
        assert best_response(policy, player).value == pytest.approx(expected, abs=1e-9)
    assert policy_value(policy) == pytest.approx(flat_response.game_value(flat, vectors), abs=1e-6)


def test_trim() -> None:
    """What stays of a mix are the actions with the share or more, in the same proportions."""
    rules: dict[str, Any] = {"target": 4, "max_envido": 2, "iterations": 8}
    whole, trimmed = solved(SEVEN, **rules), solved(SEVEN, trim=0.1, **rules)
    rng = np.random.default_rng(0)
    dropped = 0
    for _ in range(300):
        cards = [int(card) for card in rng.permutation(list(whole.game.rules.deck))[:6]]
        hand = Hand(whole.game.rules, tuple(sorted(cards[:3])), tuple(sorted(cards[3:])), 0, 0)
        while not hand.is_over:
            before = action_mix(whole.game, whole.tables, hand)
            after = action_mix(trimmed.game, trimmed.tables, hand)
            # Up to three cards of one tier share what their action has.
            small = {a for a, share in before.items() if share < 0.033}
            assert all(after[a] == 0.0 for a in small)
            kept = sum(before[a] for a, share in after.items() if share > 0.0)
            for a, share in after.items():
                assert share == pytest.approx(before[a] / kept if share > 0.0 else 0.0, abs=1e-6)
            dropped += sum(before[a] > 0.0 and after[a] == 0.0 for a in before)
            hand.apply(int(rng.choice(list(before))))
    assert dropped > 50


def stop_halfway(share: float) -> None:
    """A progress that ends the run."""
    if share >= 0.5:
        raise KeyboardInterrupt


@pytest.mark.parametrize("respond", [best_response, tier_response])
@pytest.mark.parametrize("utility", ["points", "match"])
def test_checkpoint(tmp_path: Path, utility: str, respond: Callable[..., BestResponse]) -> None:
    """An interrupted run goes on where it stopped and ends in the same bits; parts of another policy are refused."""
    make: dict[str, Any] = {"target": 3, "max_envido": 1}
    if utility == "match":
        make["equity"] = simple_equity(3)
    policy = solved(SEVEN, **make)
    parts: list[float] = []
    for player in (0, 1):
        whole = respond(policy, player)
        with pytest.raises(KeyboardInterrupt):
            respond(policy, player, stop_halfway, tmp_path)
        kept = len(list(tmp_path.iterdir()))
        assert kept > 0
        # A table of equal values made anew is the same utility.
        again = Policy(policy.game, policy.tables)
        if utility == "match":
            again.game.equity = EquityTable(3, dict(simple_equity(3)._values), "another name")
        assert respond(again, player, parts.append, tmp_path).value == whole.value
        assert len(list(tmp_path.iterdir())) == len(parts) > kept
    other = solved(SEVEN, **make, iterations=2)
    with pytest.raises(StorageError, match="another policy"):
        respond(other, 0, None, tmp_path)


def test_parts_belong_to_values_not_to_names(tmp_path: Path) -> None:
    """The mark of a policy depends on no name of a class, and on every value that a best response does."""
    policy = solved(SEVEN, target=3, max_envido=1, equity=simple_equity(3))
    game, before = policy.game, fingerprint(policy)
    found = {before}
    merges = game.abstraction
    game.abstraction = make_dataclass("Renamed", ["contexts", "values", "chains"])(
        merges.contexts, merges.values, merges.chains
    )
    assert fingerprint(policy) == before
    game.abstraction = Abstraction()
    found.add(fingerprint(policy))
    game.abstraction = merges
    game.score = (1, 0)
    found.add(fingerprint(policy))
    game.score = (0, 0)
    table = simple_equity(3)._values | {(0, 0): 0.625}
    for equity in (None, EquityTable(3, table)):
        game.equity = equity
        found.add(fingerprint(policy))
    game.equity = simple_equity(3)
    for place in range(3):
        tables = list(policy.tables)
        tables[place] = [part + 1 for part in tables[0]] if place == 0 else tables[place] + 1
        found.add(fingerprint(Policy(game, type(policy.tables)(*tables))))
    assert len(found) == 8
    assert fingerprint(policy) == before
    Parts(tmp_path, "cards-mano", policy).save("exit", {("exit", 0): np.ones(3)})
    assert Parts(tmp_path, "cards-mano", policy).load("exit", (0,)) is not None
    with pytest.raises(StorageError, match="another policy"):
        Parts(tmp_path, "cards-mano", solved(SEVEN, target=3, max_envido=1)).load("exit", (0,))


class Following(Exploiter):
    """One best response by plain recursion that notes what comes of each leaf of the trunk: his own hand's value
    there, and what following the policy from there on would be worth. Options that are equal but for rounding are
    taken in the order of the response: cards by their place in the hand, then words.
    """

    def __init__(self, policy: Policy, player: int) -> None:
        super().__init__(policy, player)
        self.leaves: dict[tuple[tuple[str, str], ...], np.ndarray] = {}
        self.ends = 0.0
        self._known: dict[Any, float] = {}

    def best(self, lines: list[tuple[Hand, float]]) -> float:
        ((hand, _),) = lines  # six cards: the other's hand is the rest, so history tells all
        key = hand.cards, tuple(hand.history)
        if key not in self._known:
            self._known[key] = super().best(lines)
        return self._known[key]

    def walk(self, lines: list[tuple[Hand, float]], history: tuple[tuple[str, str], ...]) -> None:
        hand = lines[0][0]
        if hand.is_over:
            self.ends += sum(reach * self.utility(line) for line, reach in lines)
            return
        mover, mine = SEATS[hand.to_move], hand.to_move == self.player
        moved: dict[int, list[tuple[Hand, float, int]]] = {}
        for line, reach in lines:
            options = dict.fromkeys(line.legal_actions(), 1.0)
            mix = options if mine else action_mix(self.policy.game, self.tables, line)
            for action, share in mix.items():
                if share > 0.0:
                    moved.setdefault(action, []).append((line, reach * share, action))
        if mine:
            moved = {action: moved[action] for action in self.chosen(hand, moved)}
        for action, part in moved.items():
            said = (*history, (mover, "card" if action < TRUCO else action_name(action)))
            after = [(self.applied(line, action), reach) for line, reach, _ in part]
            closed = after[0][0].envido_accepted
            if closed or (not after[0][0].is_over and len(after[0][0].tricks) == 1):
                self.note(said, part, mine and not closed)
            else:
                self.walk(after, said)

    def chosen(self, hand: Hand, moved: dict[int, list[tuple[Hand, float, int]]]) -> list[int]:
        """His own action: the first of those with the largest value."""
        order = sorted(
            moved, key=lambda action: (action >= TRUCO, tier(action) if action < TRUCO else action)
        )
        worth = {action: self.after(moved[action]) for action in order}
        return [next(a for a in order if worth[a] >= max(worth.values()) - 1e-9)]

    def note(
        self, said: tuple[tuple[str, str], ...], part: list[tuple[Hand, float, int]], own_card: bool
    ) -> None:
        hand, _, action = part[0]
        follow = sum(reach * self.follow(self.applied(line, action)) for line, reach, _ in part)
        if own_card:
            # The policy too plays its best card there.
            for other in hand.legal_actions():
                if other < TRUCO:
                    options = sum(reach * self.follow(self.applied(line, other)) for line, reach, _ in part)
                    follow = max(follow, options)
        mass = sum(reach for _, reach, _ in part)
        found = self.leaves.setdefault(said, np.zeros(2))
        found += mass, self.after(part) - follow
        self.ends += follow

    def follow(self, hand: Hand) -> float:
        """Utility if both sides follow the policy."""
        if hand.is_over:
            return self.utility(hand)
        mix = action_mix(self.policy.game, self.tables, hand)
        return sum(p * self.follow(self.applied(hand, a)) for a, p in mix.items() if p > 0.0)

    @staticmethod
    def applied(hand: Hand, action: int) -> Hand:
        after = hand.copy()
        after.apply(action)
        return after


def test_leaks() -> None:
    """Gains by leaf and in the trunk are those of plain recursion, on a deck of six with one hand to a class."""
    policy = solved(LADDER[:-4], **GAMES["base"])
    deck = policy.game.rules.deck
    assert len(set(policy.game.holdings.hand_class)) == len(policy.game.holdings.hand_class)
    for player in (0, 1):
        plain = Following(policy, player)
        for own in combinations(deck, 3):
            rest = [card for card in deck if card not in own]
            lines = []
            for other in combinations(rest, 3):
                dealt = (own, other) if player == 0 else (other, own)
                lines.append((Hand(policy.game.rules, *dealt, *policy.game.score), 1.0))
            plain.walk(lines, ())
        for respond in (best_response, tier_response):
            check_gains(plain, respond(policy, player, gains=True))


def check_gains(plain: Following, response: BestResponse) -> None:
    """Compares them leaf by leaf, and all of them with what the best response is worth."""
    deals, gains = plain.policy.game.holdings.num_deals, response.gains
    assert gains is not None
    found = {leak.history: (leak.mass, leak.gain) for leak in gains.leaks}
    for history, (mass, gain) in plain.leaves.items():
        assert found[history] == pytest.approx((mass / deals, gain / deals), abs=2e-6), history
    for history in found.keys() - plain.leaves.keys():
        assert found[history] == pytest.approx((0.0, 0.0), abs=1e-12)
    assert sum(gain > 1e-3 for _, gain in found.values()) > 5
    assert [leak.gain for leak in gains.leaks] == sorted((g for _, g in found.values()), reverse=True)
    own_value = policy_value(plain.policy) * (1 if plain.player == 0 else -1)
    assert gains.own_value == pytest.approx(own_value, abs=1e-6)
    assert gains.trunk == pytest.approx(plain.ends / deals - own_value, abs=2e-6)
    total = gains.own_value + gains.trunk + sum(leak.gain for leak in gains.leaks)
    assert response.value == pytest.approx(total, abs=1e-9)
    assert {seat for leak in gains.leaks for seat, _ in leak.history} == set(SEATS)
    words = {action for leak in gains.leaks for _, action in leak.history}
    assert words <= {"card", *WORDS}
    assert {"card", "envido", "no_quiero", "quiero", "truco"} <= words
