"""Holdings and public trees of the vector engine against counts, brute force and the engine's own moves."""

from itertools import combinations

import numpy as np
import pytest

from game.truco.cards import envido_value, parse_cards, tier
from game.truco.rules import make_rules
from solver.truco import engine
from solver.truco.vector.abstraction import Abstraction
from solver.truco.vector.holdings import Holdings
from solver.truco.vector.layout import START_STATES
from solver.truco.vector.solve import Game
from solver.truco.vector.trees import END, LEAF, TURN, build_trunk, trick_tree

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
        if code <= END:
            winner, points = divmod(END - int(code), 5)
            assert after[engine.OVER]
            gained = after[engine.SCORE : engine.SCORE + 2] - state[engine.SCORE : engine.SCORE + 2]
            assert gained[winner] == points
            assert gained[1 - winner] == 0
        elif code >= LEAF:
            assert after[engine.TRICKS] == 2 or after[engine.OVER]
            assert tree.leaves[code - LEAF][0] == state[engine.VALUE]
        else:
            _compare(tree, int(code), after, vector)


def test_every_exit_and_outcome_has_a_table():
    game = Game(make_rules("argentino", {"deck": DECK}), (0, 0), None, Abstraction())
    assert sorted(e for group in game.layout.groups for e in group.exits) == list(
        range(len(game.trunk.exits))
    )
    block = game._store_places[0]
    for mano, pie, winner in game.outcomes():
        for continuation, tree in zip(game.continuations, game._trees, strict=True):
            if winner in continuation.winners:
                for level, mask in tree.leaves:
                    assert block[game.leaf_group[level, mask, continuation.extra], mano, pie] >= 0


def test_unknown_merges_are_refused_by_name():
    with pytest.raises(ValueError, match="values are eight, six"):
        Abstraction(values=("eight", "six", "five", "five"))
