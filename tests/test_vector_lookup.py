"""The vector engine's tables at real hands: mixes, addresses, and values and regrets against exact enumeration."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from game.truco.actions import MAZO, NO_QUIERO, TRUCO
from game.truco.cards import envido_value, tier
from game.truco.hand import Hand
from game.truco.rules import Rules, make_rules
from solver.truco.hand import engine
from solver.truco.vector.cfr.average import Tables
from solver.truco.vector.cfr.schedule import Step
from solver.truco.vector.cfr.solver import VectorSolver
from solver.truco.vector.model.abstraction import Abstraction
from solver.truco.vector.model.game import Game
from solver.truco.vector.model.trees import raisers
from solver.truco.vector.policy.cursor import (
    CURSOR_SIZE,
    EMPTY_BOOK,
    LOST,
    PHASE,
    advance,
    make_book,
    start_cursor,
    vector_policy,
)
from solver.truco.vector.policy.locate import FORCED, POSITIONS, TRICKS, Place, action_mix, choice_mix, locate
from solver.truco.vector.policy.openspiel_policy import VectorPolicy

PAIRS = "1E 7E 3O 3E 4B 4E"
"""Six cards: equal tiers in one hand, pardas, equal and different Envido values."""
SEVEN = "1E 7E 3O 3E 4B 4E 12B"
EXACT = Abstraction(("exact",) * 4, ("exact",) * 4)
WHOLE = Abstraction(("exact",) * 4, ("exact",) * 4, ("exact",) * 4)
NONE = Abstraction(("none",) * 4, ("none",) * 4)
CALLS = Abstraction(("opening",) * 4, ("asked", "asked", "five", "none"), ("calls", "calls", "exact", "none"))
LOOSE = {"raise_right": "any", "envido_after_truco": "allow", "falta_accept": "adds", "max_envido": 1}

GAMES = {
    "base": ("base", {"deck": PAIRS, "max_envido": 1}, (0, 0), Abstraction()),
    "merged": ("base", {"deck": SEVEN}, (0, 0), NONE),
    "calls": ("base", {"deck": PAIRS}, (0, 0), CALLS),
    "argentino": ("argentino", {"deck": PAIRS}, (13, 12), EXACT),
    "winners": ("base", {"deck": PAIRS, "max_envido": 1}, (5, 8), Abstraction()),
    "loose": ("argentino", {"deck": PAIRS} | LOOSE, (0, 0), Abstraction()),
    "no envido": ("base", {"deck": PAIRS, "envido": False, "raise_right": "any"}, (0, 0), EXACT),
}


@cache
def game_of(name: str) -> Game:
    preset, changes, score, abstraction = GAMES[name]
    return Game(make_rules(preset, changes), score, None, abstraction)


def deals(rules: Rules) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every ordered pair of disjoint hands."""
    for mano in combinations(rules.deck, 3):
        for pie in combinations([card for card in rules.deck if card not in mano], 3):
            yield mano, pie


def random_decisions(game: Game, hands: int, seed: int) -> Iterator[Hand]:
    """Decisions of random hands that seldom end by a fold; the hand changes as it goes."""
    rng = random.Random(seed)
    for _ in range(hands):
        cards = rng.sample(game.rules.deck, 6)
        hand = Hand(game.rules, cards[:3], cards[3:], *game.score)
        while not hand.is_over:
            yield hand
            actions = hand.legal_actions()
            staying = [action for action in actions if action not in (MAZO, NO_QUIERO)]
            hand.apply(rng.choice(staying if rng.random() < 0.9 else actions))


def random_tables(game: Game, kept: float, seed: int) -> Tables:
    """Tables with random entries, a share of them kept and the others zero."""
    rng = np.random.default_rng(seed)

    def drawn(*shape: int) -> np.ndarray:
        return np.where(rng.random(shape) < kept, rng.random(shape), 0).astype(np.float32)

    nodes = game.trunk.nodes
    trunk = [drawn(*game.node_shape(node)) for node in nodes]
    return Tables(trunk, drawn(game.position_entries), drawn(game.layout.entries))


def flat_table(tables: Tables, table: int) -> np.ndarray:
    """The table of a Place."""
    if table >= 0:
        return tables.trunk_sums[table].reshape(-1)
    return tables.position_sums if table == POSITIONS else tables.sums


@pytest.mark.parametrize("name", GAMES)
def test_a_mix_is_one_over_legal_actions(name: str) -> None:
    game = game_of(name)
    tables = random_tables(game, 0.7, 1)
    folds = 0
    for hand in random_decisions(game, 150, 2):
        mix = action_mix(game, tables, hand)
        assert list(mix) == hand.legal_actions()
        assert sum(mix.values()) == pytest.approx(1.0)
        assert min(mix.values()) >= 0.0
        tiers: dict[int, set[float]] = {}
        for action, probability in mix.items():
            if action < TRUCO:
                tiers.setdefault(tier(action), set()).add(probability)
        assert all(len(found) == 1 for found in tiers.values())  # equal cards are played alike
        folds += mix[MAZO] > 0 if MAZO in mix else 0
        if hand.tricks:
            assert mix.get(MAZO, 0.0) == 0.0
    assert folds > 0 or not game.rules.envido


def told_apart(game: Game, hand: Hand, exact: bool, whole: bool) -> tuple[object, ...]:
    """What the mover's tables may depend on, derived without the layout."""
    player = hand.to_move
    assert player is not None
    held = sorted(tier(card) for card in hand.held(player))
    first = [tier(action) for _, action in hand.history if action < TRUCO][:2]
    own = (sorted(tier(card) for card in hand.cards[player]), envido_value(hand.cards[player]))
    words = [(who, "card" if action < TRUCO else action) for who, action in hand.history]
    seen = [(who, tier(action) if action < TRUCO else action) for who, action in hand.history]
    replay = Hand(game.rules, *hand.cards, *game.score)
    accepted, ended = None, None
    for done, (_, action) in enumerate(hand.history):
        before = replay.envido_accepted
        replay.apply(action)
        caller = -1 if replay.truco_caller is None else replay.truco_caller
        if replay.envido_accepted and not before:
            left = tuple(min(5, game.rules.target - score) for score in replay.scores)
            said = repr(words[: done + 1]) if whole else ""
            accepted = (
                done + 1,
                replay.round_value,
                replay.pending_truco,
                caller,
                bool(replay.table),
                left,
                said,
            )
        if len(replay.tricks) == 1 and ended is None:
            left = tuple(min(5, game.rules.target - score) for score in replay.scores)
            ended = (done + 1, replay.round_value, raisers(replay.round_value, caller, game.rules), left)
    shown = hand.envido_shown() if accepted else None
    if ended is None:
        if accepted is None:
            return ("trunk", player, repr(own), repr(seen))
        return ("position", player, repr(own), accepted[1:], shown, repr(first), repr(seen[accepted[0] :]))
    start: tuple[object, ...] = (*ended[1:], accepted is not None, tuple(first))
    if whole:
        start += (repr(words[: accepted[0]]),) if accepted else ()
    if exact:
        start += (shown if accepted else repr(words[: ended[0]]),)
    elif accepted is not None:
        start += (shown,)
    late = seen[ended[0] :]
    if len(hand.tricks) == 2:
        if hand.table and hand.on_turn != player and hand.decision != "turn":
            held = []  # the first player has no card left
        elif hand.table and len(held) == 1:
            mine, theirs = held[0], tier(hand.table[0])
            won = mine < theirs or (mine == theirs and hand.tricks[0] == player)
            holds_first = hand.to_move == hand.on_turn
            held = [int(won)] if holds_first else []
    return ("tricks", player, start, repr(held), repr(late))


@pytest.mark.parametrize(
    ("preset", "changes", "abstraction"),
    [
        ("base", {}, EXACT),
        ("base", {}, WHOLE),
        ("argentino", {"max_envido": 1}, EXACT),
        ("base", LOOSE, EXACT),
        ("base", {"envido": False}, NONE),
    ],
)
def test_entries_are_shared_by_those_who_know_the_same(preset, changes, abstraction) -> None:
    game = Game(make_rules(preset, changes | {"deck": SEVEN}), (0, 0), None, abstraction)
    owner: dict[tuple[int, int], tuple[object, ...]] = {}
    entries: dict[tuple[object, ...], list[int]] = {}
    shared = 0
    for hand in random_decisions(game, 1_000, 3):
        place = locate(game, hand)
        if place.table == FORCED:
            assert [a for a in hand.legal_actions() if a != MAZO] == [
                a for real in place.choices for a in real
            ]
            continue
        key = (place.table, *told_apart(game, hand, abstraction != NONE, abstraction == WHOLE))
        found = place.entries()
        shared += key in entries
        assert entries.setdefault(key, found) == found, hand.history
        size = tables_size(game, place.table)
        for at in found:
            assert 0 <= at < size
            assert owner.setdefault((place.table, at), key) == key, hand.history
    assert shared > 1_000


def tables_size(game: Game, table: int) -> int:
    if table >= 0:
        return int(np.prod(game.node_shape(game.trunk.nodes[table])))
    return game.position_entries if table == POSITIONS else game.layout.entries


class Enumeration:
    """Exact play over all deals, with the regrets of one player: all own actions, of the other those played.

    Tables are drawn as play comes to their places: mostly one action, at times two or the uniform mix of zeros.
    """

    def __init__(
        self, game: Game, tables: Tables, rng: random.Random, seen: dict[int, dict[int, int]]
    ) -> None:
        self.game, self.tables, self.rng = game, tables, rng
        self.seen = seen
        """Player of each entry met, by table."""

    def run(self, own: int, tries: bool = True) -> float:
        """Own expected utility; sets `regrets`, by table and entry, if it `tries` all own actions."""
        self.own, self.tries = own, tries
        self.regrets: dict[int, dict[int, float]] = {table: {} for table in self.seen}
        found = list(deals(self.game.rules))
        start = self.game.score
        return sum(self._play(Hand(self.game.rules, *hands, *start), 1 / len(found)) for hands in found)

    def _draw(self, place: Place, player: int) -> None:
        met = self.seen.setdefault(place.table, {})
        entries = place.entries()
        if entries[0] in met:
            return
        met.update(dict.fromkeys(entries, player))
        flat = flat_table(self.tables, place.table)
        kept = min(len(entries), self.rng.choice((0, 1, 1, 1, 1, 1, 1, 2)))
        for at in self.rng.sample(entries, kept):
            flat[at] = 1e-3 * self.rng.random()

    def _play(self, hand: Hand, weight: float) -> float:
        """Own utility from here on times weight: of the deal times the other's reach."""
        if hand.is_over:
            mano, pie = hand.points_won()
            return weight * (mano - pie if self.own == 0 else pie - mano)
        place = locate(self.game, hand)
        mover = hand.to_move
        assert mover is not None
        if place.table != FORCED:
            self._draw(place, mover)
        mine = mover == self.own
        value, values = 0.0, []
        for share, real in zip(choice_mix(self.tables, place), place.choices, strict=True):
            worth = 0.0
            if real and (share > 0.0 or (mine and self.tries)):
                # Equal cards are played alike and worth the same, so one stands for all.
                after = hand.copy()
                after.apply(real[0])
                worth = self._play(after, weight if mine else weight * share)
            value += share * worth if mine else worth
            values.append(worth)
        if mine and place.table != FORCED:
            table = self.regrets.setdefault(place.table, {})
            for k, real in enumerate(place.choices):
                if real:
                    at = place.begin + k * place.stride
                    table[at] = table.get(at, 0.0) + values[k] - value
        return value


@pytest.mark.parametrize("name", ["base", "calls", "argentino", "winners", "loose", "no envido"])
def test_values_and_regrets_are_those_of_enumeration(name: str) -> None:
    game = game_of(name)
    blank = VectorSolver(game)
    empty = Tables(blank.trunk_sums, blank.position_sums, blank.sums)
    exact = Enumeration(game, empty, random.Random(4), {})
    for own in (0, 1):  # places that are not drawn yet lie behind what the other never plays
        value = exact.run(own)
        solver = VectorSolver(game)
        current = Tables(solver.trunk_regrets, solver.position_regrets, solver.regrets)
        for k, given in enumerate(exact.tables.trunk_sums):
            solver.trunk_regrets[k][:] = given
        solver.position_regrets[:], solver.regrets[:] = exact.tables.position_sums, exact.tables.sums
        engine = solver.iterate(Step(positive=1.0, negative=1.0, average=0.0, floor=False), players=(own,))[0]
        assert engine == pytest.approx(value, abs=1e-5)
        for table, owner in exact.seen.items():
            before, after = flat_table(exact.tables, table), flat_table(current, table)
            at = np.array(list(owner))
            expected = [exact.regrets.get(table, {}).get(k, 0.0) for k in owner]
            np.testing.assert_allclose(after[at] - before[at], expected, atol=3e-6, err_msg=f"table {table}")
        # The updated player's new mix is that of the positive regrets of legal actions, whatever stands elsewhere.
        shown = Tables(
            [np.maximum(table, 0) for table in solver.trunk_regrets],
            np.maximum(solver.position_regrets, 0),
            np.maximum(solver.regrets, 0),
        )
        expected_value = Enumeration(game, shown, random.Random(0), exact.seen).run(own, tries=False)
        again = solver.iterate(Step(positive=1.0, negative=1.0, average=0.0, floor=False), players=(own,))[0]
        assert again == pytest.approx(expected_value, abs=1e-5)


@pytest.mark.parametrize("abstraction", [NONE, CALLS])
def test_the_cursor_finds_what_the_reference_finds(abstraction: Abstraction) -> None:
    game = Game(make_rules("argentino"), (0, 0), None, abstraction)
    rng = np.random.default_rng(5)
    trunk = [rng.random(game.node_shape(node), dtype=np.float32) for node in game.trunk.nodes]
    # Zeros take no memory until an entry is written, so only the places that are met count.
    tables = Tables(
        trunk, np.zeros(game.position_entries, np.float32), np.zeros(game.layout.entries, np.float32)
    )
    book = make_book(game, tables)
    # Kernels are compiled once for strategies with a book and without one.
    assert [part.ndim for part in EMPTY_BOOK] == [part.ndim for part in book]
    rules = engine.rules_vector(game.rules)
    state, cursor = np.zeros(engine.STATE_SIZE, np.int32), np.zeros(CURSOR_SIZE, np.int64)
    actions, probs = np.zeros(engine.MAX_LEGAL, np.int32), np.zeros(engine.MAX_LEGAL)
    phases = set()
    for hand in random_decisions(game, 500, 6):
        if not hand.history:
            engine.deal(state, np.array(hand.cards, np.int32).ravel(), *game.score)
            start_cursor(book, cursor, state)
        else:
            last = hand.history[-1][1]
            advance(book, cursor, state, rules, last)
            engine.apply(state, rules, last)
        place = locate(game, hand)
        if place.table in (POSITIONS, TRICKS) and rng.random() < 0.9:
            flat_table(tables, place.table)[place.entries()] = rng.random(len(place.entries()))
        n = engine.legal(state, rules, actions)
        known = vector_policy(book, cursor, state, rules, actions, n, probs)
        assert known == (place.table == FORCED or flat_table(tables, place.table)[place.entries()].any())
        phases.add(int(cursor[PHASE]))
        expected = action_mix(game, tables, hand)
        listed = dict(zip(actions[:n].tolist(), probs[:n].tolist(), strict=True))
        for action, probability in expected.items():
            assert listed.get(action, 0.0) == pytest.approx(probability, abs=1e-12), hand.history
    assert phases == set(range(LOST))


def test_the_openspiel_policy_is_the_mix() -> None:
    game = game_of("argentino")
    tables = random_tables(game, 0.7, 8)
    policy = VectorPolicy(game, tables)
    rng = random.Random(9)
    for _ in range(5):
        state = policy.game.new_initial_state()
        while not state.is_terminal():
            actions = state.legal_actions()
            if not state.is_chance_node():
                assert policy.action_probabilities(state) == action_mix(game, tables, state.hand)
            state.apply_action(rng.choice(actions))
