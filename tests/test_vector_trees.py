"""Holdings and public trees of the vector engine against counts, brute force and the engine's own moves."""

import dataclasses
from itertools import combinations, pairwise

import numpy as np
import pytest

from game.truco.cards import envido_value, parse_cards, tier
from game.truco.rules import Rules, make_rules
from solver.truco.hand import engine
from solver.truco.vector.model.abstraction import Abstraction
from solver.truco.vector.model.forest import START_STATES
from solver.truco.vector.model.game import Game
from solver.truco.vector.model.holdings import Holdings
from solver.truco.vector.model.trees import LEAF, TERMINAL, TURN, build_trunk, terminal_parts, trick_tree

DECK = "1E 1B 3E 3O 6C 7C 12O"


@pytest.fixture(scope="module")
def full():
    return Holdings(make_rules())


def test_sizes_of_the_full_deck(full):
    assert full.num_classes == 1476
    assert len(np.unique(full.class_tiers, axis=0)) == 502
    assert full.num_deals == 76_767_600
    assert np.array_equal(full.joint, full.joint.T)


def test_joint_weights_count_disjoint_hands():
    holdings = Holdings(make_rules("base", {"deck": DECK}))
    cards = parse_cards(DECK)

    def class_of(hand):
        value = list(holdings.values).index(envido_value(hand))
        strengths = sorted({tier(card) for card in cards})
        tiers = tuple(sorted(strengths.index(tier(card)) for card in hand))
        rows = np.column_stack([holdings.class_tiers, holdings.class_value]).tolist()
        return rows.index([*tiers, value])

    count = np.zeros((holdings.num_classes,) * 2)
    for mine in combinations(sorted(cards), 3):
        for theirs in combinations(sorted(cards), 3):
            if not set(mine) & set(theirs):
                count[class_of(mine), class_of(theirs)] += 1
    assert np.array_equal(holdings.joint, count)


def test_hands_of_two_cards_are_refused_by_name():
    with pytest.raises(ValueError, match="hand_size 2"):
        Holdings(make_rules("base", {"hand_size": 2}))


def test_revealed_hands_are_refused_by_name():
    with pytest.raises(ValueError, match="envido_reveal values or buenas"):
        build_trunk(make_rules("base", {"envido_reveal": "hands"}), (0, 0), None)


def test_a_rule_field_it_does_not_know_is_refused():
    """Unless it has its default, which leaves the game as it was."""
    wider = dataclasses.make_dataclass("Wider", [("flor", bool, False)], bases=(Rules,), frozen=True)
    small = tuple(parse_cards(DECK))
    assert Game(wider(deck=small), (0, 0), None, Abstraction()).trunk.nodes
    with pytest.raises(ValueError, match="does not play flor=True"):
        Game(wider(deck=small, flor=True), (0, 0), None, Abstraction())


def test_trunk_of_the_base_rules():
    trunk = build_trunk(make_rules(), (0, 0), None)
    assert (len(trunk.nodes), len(trunk.exits), len(trunk.accepts)) == (719, 297, 44)
    by_level = [sum(leaving.level == level for leaving in trunk.exits) for level in (1, 2, 3, 4)]
    assert by_level == [23, 57, 80, 137]
    # At 0-0 an accepted Falta, and only that, ends the match whoever wins it.
    falta = [accept for accept in trunk.accepts if any(word == "FE" for word, _ in accept.history)]
    assert all(accept.over == (True, True) for accept in falta)
    assert sum(accept.over != (False, False) for accept in trunk.accepts) == len(falta)


@pytest.mark.parametrize(
    "changes",
    [{}, {"raise_right": "any"}, {"envido_after_truco": "allow"}, {"max_envido": 1}, {"envido": False},
     {"target": 4}, {"fold_vs_envido": "both", "first_trick_fold_bonus": 1}],
)  # fmt: skip
def test_trick_trees_offer_what_the_engine_offers(changes):
    """Tricks 2 and 3 from every start: the same answers and raises as the engine in a matching state."""
    rules = make_rules("base", changes)
    vector = engine.rules_vector(rules)
    for level, mask in START_STATES:
        tree = trick_tree(rules, level, mask)
        if (mask == 3 and level > 1) if rules.raise_right == "alternate" else mask in (1, 2):
            continue  # such a start does not occur
        state = np.empty(engine.STATE_SIZE, np.int32)
        engine.deal(state, np.array([0, 1, 2, 10, 11, 12], np.int32), 0, 0)
        # Mano won trick 1 and leads: slots 0 are played.
        state[engine.TRICKS], state[engine.RESULT] = 1, 0
        state[engine.PLAYED], state[engine.PLAYED + 1] = 1, 1
        state[engine.VALUE] = level
        state[engine.TRUCO_BY] = {0: 0, 1: 1, 2: 0, 3: -1}[mask]
        state[engine.ENVIDO_STATUS] = engine.DECLINED
        _compare(tree, 0, state, vector)


def _compare(tree, node, state, vector):
    actions = np.zeros(engine.MAX_LEGAL, np.int32)
    legal = actions[: engine.legal(state, vector, actions)].tolist()
    assert engine.mover(state) == tree.role[node]
    turn = tree.kind[node] == TURN
    raises = [action for action in legal if 40 <= action <= 42]
    assert bool(raises) == (tree.child[node, 1 if turn else 2] >= 0)
    for k, action in enumerate((min(legal), *raises) if turn else (46, 47, *raises)):
        code = tree.child[node, k]
        after = state.copy()
        engine.apply(after, vector, action)
        if code <= TERMINAL:
            winner, points = terminal_parts.py_func(int(code))
            assert after[engine.OVER]
            gained = after[engine.SCORE : engine.SCORE + 2] - state[engine.SCORE : engine.SCORE + 2]
            assert gained[winner] == points
            assert gained[1 - winner] == 0
        elif code >= LEAF:
            assert after[engine.TRICKS] == 2 or after[engine.OVER]
            assert tree.leaves[code - LEAF][0] == state[engine.VALUE]
        else:
            _compare(tree, int(code), after, vector)


ASKED = Abstraction(("opening",) * 4, ("asked", "exact", "five", "none"), ("calls", "exact", "calls", "none"))


@pytest.mark.parametrize("abstraction", [Abstraction(), ASKED])
def test_every_exit_and_outcome_has_a_table(abstraction):
    game = Game(make_rules("argentino", {"deck": DECK}), (0, 0), None, abstraction)
    assert sorted(e for group in game.layout.groups for e in group.exits) == list(
        range(len(game.trunk.exits))
    )
    block = game.hand_over.block
    for mano, pie, winner in game.outcomes():
        for continuation, tree in zip(game.continuations, game.position_trees, strict=True):
            if winner in continuation.winners:
                for level, mask in tree.leaves:
                    assert block[game.leaf_group[continuation.leaf_key(level, mask)], mano, pie] >= 0


def test_unknown_merges_are_refused_by_name():
    with pytest.raises(ValueError, match="values are eight, six"):
        Abstraction(values=("eight", "six", "five", "five"))
    with pytest.raises(ValueError, match="chains are all"):
        Abstraction(chains=("all", "none", "none", "none"))
    with pytest.raises(ValueError, match="asked need chains calls"):
        Abstraction(values=("asked", "none", "none", "none"), chains=("exact", "none", "none", "none"))


def test_what_is_kept_of_the_calls():
    trunk = build_trunk(make_rules(), (0, 0), None)
    kept = {}
    for accept in trunk.accepts:
        said = " ".join(f"{word}{player}" for word, player in accept.history)
        kept[said] = [ASKED.chain(accept, level) for level in (1, 2, 4)]
    assert kept["E0 q1"] == [(0, "one"), (("E", 0), ("q", 1)), ()]
    assert kept["card0 E1 q0"][0] == (1, "one")
    assert kept["RE0 q1"][0] == kept["card0 E1 RE0 q1"][0] == (0, "more")
    assert kept["E0 E1 q0"][0] == (1, "more")
    assert kept["T0 E1 q0"][0] == ()
    declined = {
        " ".join(f"{word}{player}" for word, player in leaving.history): ASKED.context(leaving, number)
        for number, leaving in enumerate(trunk.exits)
        if leaving.level == 1
    }
    assert declined["E0 nq1 card0 card1"] != declined["RE0 nq1 card0 card1"]
    assert declined["E0 E1 RE0 nq1 card0 card1"] == declined["E0 RE1 FE0 nq1 card0 card1"]
    assert declined["E0 E1 nq0 card0 card1"] != declined["E0 E1 RE0 nq1 card0 card1"]


def test_merges_are_read_as_they_are_told():
    assert Abstraction.parse() == Abstraction()
    assert Abstraction.parse(chains="calls,exact,calls,none", contexts="opening,opening,opening,opening") == (
        dataclasses.replace(ASKED, values=Abstraction().values)
    )
    assert Abstraction.read(ASKED.lists()) == ASKED
    told = "contexts opening,opening,opening,opening; values asked,exact,five,none; chains calls,exact,calls,none"
    assert str(ASKED) == told
    with pytest.raises(ValueError, match="contexts are none: give four"):
        Abstraction.parse(contexts="none")


@pytest.mark.parametrize("chain", [(), (0, "one"), (1, "one"), (0, "more"), (1, "more")])
def test_buckets_of_values_tile_all_of_them(chain):
    for player in (0, 1):
        buckets = ASKED.buckets(1, chain, player)
        assert buckets[0][0] == 0
        assert buckets[-1][1] == 34
        assert all(left[1] == right[0] for left, right in pairwise(buckets))
    # Who asks may bluff: his low values are a bucket of their own; who answers has seldom one.
    if chain:
        asker = int(chain[0])
        assert ASKED.buckets(1, chain, asker)[0] == (0, 20)
        assert ASKED.buckets(1, chain, 1 - asker)[0][1] > 20
