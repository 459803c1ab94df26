"""The quick engine: its information key, its sampling, and the solutions and files it makes."""

import hashlib
import random
from dataclasses import replace

import numpy as np
import pyspiel
import pytest

from game.truco.actions import (
    ENVIDO,
    FALTA_ENVIDO,
    MAZO,
    NO_QUIERO,
    QUIERO,
    REAL_ENVIDO,
    action_name,
)
from game.truco.cards import parse_cards
from game.truco.equity import simple_equity
from game.truco.hand import Hand
from game.truco.rules import PRESETS, make_rules
from game.truco.spot import Spot, parse_history
from solver import load_solution
from solver.storage import StorageError
from solver.truco.hand.engine import (
    CARDS,
    MAX_LEGAL,
    WORTH,
    deal,
    encode,
    legal,
    mover,
    rules_vector,
    utility_table,
)
from solver.truco.hand.infokey import KEY_VERSION, info_key
from solver.truco.hand.table import PolicyTable, action_slot
from solver.truco.quick import solver as quick
from solver.truco.reading.advice import _near_best, advise

RULES = PRESETS["base"]
MORE_RULES = [
    RULES,
    PRESETS["argentino"],
    make_rules("base", {"raise_right": "any", "envido_after_truco": "allow"}),
]


def random_states(rules, hands, seed):
    """Engine states met in random hands, with the hand they come from."""
    rng = random.Random(seed)
    for _ in range(hands):
        cards = rng.sample(range(40), 6)
        hand = Hand(rules, cards[:3], cards[3:])
        while not hand.is_over:
            yield encode(hand), hand
            actions = [action for action in hand.legal_actions() if action != MAZO]
            hand.apply(rng.choice(actions))


@pytest.mark.parametrize("rules", MORE_RULES, ids=lambda rules: rules.name())
def test_a_key_tells_which_actions_are_legal(rules):
    vector, actions, slots_of = rules_vector(rules), np.zeros(MAX_LEGAL, np.int32), {}
    for state, _ in random_states(rules, 3_000, 1):
        n = legal(state, vector, actions)
        slots = tuple(action_slot(actions, i) for i in range(n))
        assert slots == tuple(sorted(slots))  # table rows list their slots in this order
        assert slots_of.setdefault(info_key(state, vector, mover(state)), slots) == slots
    assert len(slots_of) > 1_000


@pytest.mark.parametrize("rules", MORE_RULES, ids=lambda rules: rules.name())
def test_a_key_knows_nothing_of_hidden_cards(rules):
    vector, rng, changed = rules_vector(rules), random.Random(2), 0
    for state, hand in random_states(rules, 1_000, 3):
        seat = mover(state)
        other = 1 - seat
        shown = hand.envido_shown()[other]
        wins = state[WORTH] >= state[WORTH + 1]
        used = set(state[CARDS : CARDS + 6].tolist())
        free = [card for card in range(40) if card not in used]
        cards = [list(hand.cards[0]), list(hand.cards[1])]
        played = {action for who, action in hand.history if who == other}
        for i, card in enumerate(hand.cards[other]):
            if card not in played:
                cards[other][i] = free.pop(rng.randrange(len(free)))
        swapped = Hand(rules, *cards)
        values = [np.zeros_like(state), None]
        deal(values[0], np.array(cards, np.int32).ravel(), 0, 0)
        if hand.envido_accepted and (
            (shown is not None and values[0][WORTH + other] != shown)
            or (values[0][WORTH] >= values[0][WORTH + 1]) != wins
        ):
            continue  # the other hand would have shown something else
        for _, action in hand.history:
            swapped.apply(action)
        changed += 1
        assert info_key(encode(swapped), vector, seat) == info_key(state, vector, seat)
    assert changed > 1_000


def test_measured_value_of_uniform_play_is_that_of_a_plain_simulation():
    own, other, rows = quick.new_index(), quick.new_index(), quick.new_rows()
    vector, utility = rules_vector(RULES), utility_table(RULES, (0, 0), None)
    mean = quick.traverse(
        0,
        3_000,
        own,
        rows,
        rows,
        other,
        rows,
        rows,
        0.0,
        0.0,
        vector,
        (0, 0),
        utility,
        np.random.default_rng(1),
    )
    plain, draw = [], random.Random(5)
    for _ in range(20_000):
        cards = draw.sample(range(40), 6)
        hand = Hand(RULES, cards[:3], cards[3:])
        while not hand.is_over:
            # The engine leaves out mazo in answer to a Truco, since no_quiero is the same.
            actions = [a for a in hand.legal_actions() if not (hand.decision == "answer_truco" and a == MAZO)]
            hand.apply(draw.choice(actions))
        plain.append(hand.points_won()[0] - hand.points_won()[1])
    error = np.std(plain) / np.sqrt(len(plain))
    # Trying every action of mano's makes the engine's mean the more exact one.
    assert abs(mean - np.mean(plain)) < 5 * error
    assert not rows.any()  # nothing was in the index, so nothing was measured


def test_first_visits_gain_regrets_that_cancel_and_averages_of_weight_t_squared():
    own, other = quick.new_index(), quick.new_index()
    regrets, frozen, average = quick.new_rows(), quick.new_rows(), quick.new_rows()
    vector, utility = rules_vector(RULES), utility_table(RULES, (0, 0), None)
    rng = np.random.default_rng(3)
    quick.traverse(
        1, 1, own, regrets, regrets, other, frozen, average, 3.0, -9.0, vector, (0, 0), utility, rng
    )
    once = regrets[: own.used[0]]
    once = once[once[:, 10] == 3.0]  # visited once, with weight 3
    assert len(once) > 20
    assert np.abs(once[:, :10]).max() > 0
    # A first visit plays uniformly, so the regrets of its actions sum to nothing.
    assert np.allclose(once[:, :10].sum(axis=1), 0.0, atol=1e-4)
    totals = average[: other.used[0]].sum(axis=1) / 9.0
    assert np.allclose(totals, np.round(totals))
    assert not frozen.any()


def test_an_index_grows_without_losing_rows():
    index = quick.new_index()
    size = len(index.hash_keys)
    for key in range(0, 3 * size, 3):
        if quick._add(index, key, 7) < 0:
            break
        index = quick.with_room(index)
    used = int(index.used[0])
    assert used == size  # a key for each number tried
    assert len(index.hash_keys) > size
    rows = [quick._find(index, key) for key in range(0, 3 * used, 3)]
    assert rows == list(range(used))
    assert quick._find(index, 1) == -1


def test_same_seed_and_iterations_give_the_same_solution_bit_for_bit():
    def solved(seed):
        engine = quick.QuickSolver(RULES, seed=seed)
        for _ in range(3):
            engine.step()
        return engine.solution(deals=1_000)

    first, again, other = solved(7), solved(7), solved(8)
    for a, b in zip(first.table, again.table, strict=True):
        assert a.tobytes() == b.tobytes()
    assert first.values.tobytes() == again.values.tobytes()
    assert first.table.probs.tobytes() != other.table.probs.tobytes()


def test_mixes_sum_to_one_without_scraps(quick_solution):
    table = quick_solution.table
    sums = np.add.reduceat(table.probs, table.start[:-1])
    assert np.allclose(sums, 1.0, atol=1e-5)
    assert np.all(np.diff(table.keys) > 0)
    assert not np.any((table.probs > 0) & (table.probs < quick.MIN_SHARE * 0.999))


def test_a_solution_survives_its_file(quick_solution, tmp_path):
    path = tmp_path / "hand.truco"
    quick_solution.save(path)
    loaded = load_solution(path)
    assert loaded.info == quick_solution.info
    assert loaded.rules == RULES
    for a, b in zip(loaded.table, quick_solution.table, strict=True):
        assert np.array_equal(a, b)
    assert np.array_equal(loaded.values, quick_solution.values, equal_nan=True)


def test_damaged_and_foreign_files_are_refused_with_a_reason(quick_solution, tmp_path):
    path = tmp_path / "hand.truco"
    with pytest.raises(StorageError, match="cannot read solution"):
        load_solution(path)
    quick_solution.save(path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(StorageError, match="damaged"):
        load_solution(path)
    path.write_text("not a solution")
    with pytest.raises(StorageError, match="not a solver file"):
        load_solution(path)
    replace(quick_solution, info=replace(quick_solution.info, rules_hash="0" * 16)).save(path)
    with pytest.raises(StorageError, match="rules"):
        load_solution(path)


def test_the_policy_is_an_openspiel_policy(quick_solution):
    policy = quick_solution.policy
    game = pyspiel.load_game("python_truco")
    rng = random.Random(3)
    for _ in range(200):
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(rng.choice(state.legal_actions()))
                continue
            mix = policy.action_probabilities(state)
            assert sorted(mix) == state.legal_actions()
            assert sum(mix.values()) == pytest.approx(1.0)
            state.apply_action(rng.choice(state.legal_actions()))


def test_match_utility_and_score_change_what_is_learnt():
    equity = simple_equity(15)
    engine = quick.QuickSolver(RULES, (14, 0), equity, seed=1)
    for _ in range(3):
        engine.step()
    solution = engine.solution(deals=1_000)
    assert solution.info.utility == "match"
    assert -1.0 <= solution.info.mano_value <= 1.0
    restored = solution.equity
    assert restored is not None
    assert restored.rows() == equity.rows()


def at(solution, hand, history="", seat=0, shown=None, **options):
    spot = Spot(
        solution.rules, seat, parse_cards(hand), solution.info.score, tuple(parse_history(history)), shown
    )
    advice = advise(solution, spot, simple_equity(15), samples=400, **options)
    return advice, {row.action: row for row in advice.actions}


def test_advice_knows_what_giving_up_costs(quick_solution):
    _, opening = at(quick_solution, "1E 7O 3C")
    assert opening[MAZO].points == -1.0
    assert opening[MAZO].match_win == pytest.approx(simple_equity(15).after_hand(0, 1))
    _, answer = at(quick_solution, "1E 7O 3C", "truco", seat=1)
    assert answer[NO_QUIERO].points == -1.0
    assert answer[MAZO].points is None
    _, raised = at(quick_solution, "1E 7O 3C", "truco retruco")
    assert raised[NO_QUIERO].points == -2.0


def test_advice_is_exact_where_the_cards_decide(quick_solution):
    # Mano won trick 1 and leads the strongest card: whatever pie holds, the second trick is won too.
    _, rows = at(quick_solution, "1E 1B 4C", "envido no_quiero 1B 4B truco quiero")
    # One point of Envido and two of the round, or more when pie, who accepted, raises into it.
    assert rows[parse_cards("1E")[0]].points >= 3.0
    assert rows[MAZO].points == 1.0 - 2.0


def test_advice_mixes_are_those_of_the_policy(quick_solution):
    advice, rows = at(quick_solution, "7O 6O 4B")
    assert advice.own_reach == advice.other_reach == 1.0
    state = pyspiel.load_game("python_truco").new_initial_state()
    for card in parse_cards("7O 6O 4B 1E 2E 3E"):
        state.apply_action(card)
    mix = quick_solution.policy.action_probabilities(state)
    assert {action: row.probability for action, row in rows.items()} == pytest.approx(mix)


def test_advice_says_so_where_the_solution_never_comes(quick_solution):
    checked = 0
    for hand in ("4E 5C 6B", "1E 7O 3C", "10E 11C 12B", "7O 6O 4B", "1E 1B 2C"):
        _, opening = at(quick_solution, hand)
        for action in (ENVIDO, REAL_ENVIDO, FALTA_ENVIDO):
            if opening[action].probability == 0.0:
                advice, rows = at(quick_solution, hand, f"{action_name(action)} no_quiero")
                assert (advice.own_reach, advice.reached) == (0.0, False)
                assert all((row.probability is None) != advice.has_mix for row in rows.values())
                assert rows[MAZO].points == 0.0  # one point of the Envido made, one of the round conceded
                checked += 1
    assert checked
    table = quick_solution.table
    nothing = replace(quick_solution, table=table._replace(probs=np.zeros_like(table.probs)))
    advice, rows = at(nothing, "1E 7O 3C", "truco", seat=1)
    assert (advice.other_reach, advice.has_mix) == (0.0, False)
    assert all(row.probability is None for row in advice.actions)
    assert rows[NO_QUIERO].points == -1.0


def test_values_that_leave_the_table_are_not_told(quick_solution):
    table = quick_solution.table
    kept = len(table.keys) // 2  # the keys of mano come first
    mano = PolicyTable(table.keys[:kept], table.start[: kept + 1], table.slots[:kept], table.probs)
    advice, rows = at(replace(quick_solution, table=mano, visits=quick_solution.visits[:kept]), "1E 7O 3C")
    assert rows[MAZO].points == -1.0
    assert rows[ENVIDO].points is None
    assert advice.has_mix


def test_near_best_counts_what_the_deals_share():
    rng = np.random.default_rng(1)
    luck = rng.normal(size=10_000)
    samples = np.stack([luck, luck - 0.01 + rng.normal(size=10_000) * 0.01, rng.normal(size=10_000) - 0.5])
    products = samples @ samples.T / 10_000
    assert _near_best(samples.mean(axis=1), products, 3, 10_000).tolist() == [True, False, False]


def test_advice_repeats_with_the_same_seed(quick_solution):
    once, _ = at(quick_solution, "7O 6O 4B", seed=4)
    again, _ = at(quick_solution, "7O 6O 4B", seed=4)
    other, _ = at(quick_solution, "7O 6O 4B", seed=5)
    assert once == again != other


def test_advice_values_match_play_by_the_policy(quick_solution):
    # The value of quiero, simulated with plain hands and the OpenSpiel policy.
    spot = Spot(RULES, 1, parse_cards("2E 3O 12C"), (0, 0), tuple(parse_history("truco")))
    advice = advise(quick_solution, spot, simple_equity(15), samples=4_000)
    row = next(row for row in advice.actions if row.action == QUIERO)
    policy, game, rng = quick_solution.policy, pyspiel.load_game("python_truco"), random.Random(1)
    weights, results = [], []
    for _ in range(400):
        mano = rng.choice(spot.others)
        state = game.new_initial_state()
        for card in (*mano, *spot.cards):
            state.apply_action(card)
        weights.append(policy.action_probabilities(state).get(40, 0.0))
        state.apply_action(40)
        state.apply_action(QUIERO)
        while not state.is_terminal():
            mix = policy.action_probabilities(state)
            state.apply_action(rng.choices(list(mix), list(mix.values()))[0])
        results.append(state.returns()[1])
    mean = np.average(results, weights=weights)
    spread = np.sqrt(np.average((np.array(results) - mean) ** 2, weights=weights) / len(results)) * 2
    assert row.points is not None
    assert abs(row.points - mean) < 4 * spread + 0.1, (action_name(row.action), row.points, mean)


def test_a_changed_key_needs_a_new_version():
    digest = hashlib.sha256()
    for rules in MORE_RULES:
        vector = rules_vector(rules)
        for state, _ in random_states(rules, 300, 9):
            digest.update(info_key(state, vector, mover(state)).to_bytes(8, "little"))
    # If this fails, keys have changed: raise KEY_VERSION, or old solutions are misread, and record the new pair.
    assert (KEY_VERSION, digest.hexdigest()[:16]) == (1, "2c9fc68a08553fea")
