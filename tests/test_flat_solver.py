"""The generic solver against OpenSpiel and plain twins: flat games, CFR, best responses, policies."""

import itertools
import math
import signal
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import expected_game_score
from open_spiel.python.algorithms import exploitability as openspiel_exploitability
from open_spiel.python.algorithms.discounted_cfr import DCFRSolver
from open_spiel.python.policy import Policy, UniformRandomPolicy

import game  # noqa: F401  (registers python_truco)
from game.truco.cards import parse_cards
from solver.best_response import best_response, exploitability, game_value
from solver.cfr import CHECKPOINT_KIND, CHECKPOINT_VERSION, FlatSolver
from solver.flat import FlatGame, estimate_size, flatten
from solver.flat_policy import (
    FlatPolicy,
    PolicyVectors,
    policy_from_vectors,
    policy_vectors,
    uniform_vectors,
)
from solver.schedule import CFR, CFR_PLUS, DCFR, PCFR_PLUS, Schedule
from solver.storage import StorageError, read_arrays, write_arrays

SCHEDULES = [CFR, CFR_PLUS, DCFR, PCFR_PLUS]
TINY_TRUCO = {"deck": "1E 7E 4B", "hand_size": 1, "envido": False}
FOUR_CARDS = {"deck": "1E 7E 3O 4B", "hand_size": 2}


def by_name(schedule: Schedule) -> str:
    return schedule.name


@pytest.fixture(scope="module")
def kuhn() -> FlatGame:
    return flatten(pyspiel.load_game("kuhn_poker"))


@pytest.fixture(scope="module")
def leduc() -> FlatGame:
    return flatten(pyspiel.load_game("leduc_poker"))


@pytest.fixture(scope="module")
def liars_dice() -> FlatGame:
    return flatten(pyspiel.load_game("liars_dice"))


def random_vectors(flat: FlatGame, seed: int) -> PolicyVectors:
    """A policy with some actions never played, so that parts of the game are out of reach."""
    rng = np.random.default_rng(seed)
    vectors = uniform_vectors(flat)
    for tree, vector in zip(flat.trees, vectors, strict=True):
        for _, block in tree.blocks():
            weights = rng.random(block.shape) * (rng.random(block.shape) < 0.8) + 1e-9
            weights[weights < 1e-8] = 0.0
            weights[weights.sum(axis=1) == 0] = 1.0
            vector[block] = weights / weights.sum(axis=1, keepdims=True)
    return vectors


def openspiel_table(policy: FlatPolicy) -> dict[str, list[tuple[int, float]]]:
    return {infostate: list(row.items()) for infostate, row in policy.table.items()}


# --- Flattening


def test_sizes_of_known_games(kuhn: FlatGame, leduc: FlatGame, liars_dice: FlatGame) -> None:
    sizes = [flat.size for flat in (kuhn, leduc, liars_dice)]
    assert [s.states for s in sizes] == [58, 9457, 294883]
    assert [s.infosets for s in sizes] == [(6, 6), (468, 468), (12288, 12288)]
    assert [s.sequences for s in sizes] == [(13, 13), (1093, 1093), (24571, 24571)]
    # Terminal states of leduc in which the same cards lie the other way round or nobody wins fold together.
    assert [s.payoffs for s in sizes] == [30, 4920, 147420]


def test_memory_of_the_solver_is_what_the_size_says(leduc: FlatGame) -> None:
    tables = FlatSolver(leduc)._tables
    values = leduc.size.sequences[0] + leduc.size.sequences[1]  # of one pass
    assert leduc.size.solver_bytes == 8 * values + sum(a.nbytes for table in tables for a in table)


def test_every_infoset_has_its_own_sequences_in_order(leduc: FlatGame) -> None:
    for player in (0, 1):
        seen = {0}
        for first, block in leduc.trees[player].blocks():
            for infoset, sequences in enumerate(block.tolist(), start=first):
                assert int(leduc.trees[player].parents[infoset]) in seen
                state = leduc.game.new_initial_state()
                for action in leduc.histories[player][infoset]:
                    state.apply_action(action)
                assert state.information_state_string(player) == leduc.infostates[player][infoset]
                assert state.legal_actions() == leduc.actions[player][sequences].tolist()
            seen.update(block.ravel().tolist())
        assert len(seen) == leduc.size.sequences[player]


def test_merging_deals_keeps_the_game() -> None:
    truco = pyspiel.load_game("python_truco", FOUR_CARDS | {"envido": False})
    plain, merged = flatten(truco), flatten(truco, merge_deals=True)
    assert merged.states < plain.states / 3
    assert merged.size.infosets == plain.size.infosets
    assert set(merged.infostates[0]) == set(plain.infostates[0])
    policy = policy_from_vectors(plain, random_vectors(plain, 5))
    assert exploitability(merged, policy) == pytest.approx(exploitability(plain, policy), abs=1e-12)
    assert game_value(merged, policy) == pytest.approx(game_value(plain, policy), abs=1e-12)


def test_progress_reaches_the_end(leduc: FlatGame) -> None:
    calls: list[tuple[int, float]] = []
    flatten(leduc.game, progress=lambda *call: calls.append(call))
    assert [states for states, _ in calls] == [4096, 8192]
    assert 0 < calls[0][1] < calls[1][1] < 1


def test_estimate_is_of_the_right_order(leduc: FlatGame) -> None:
    assert estimate_size(leduc.game).states == pytest.approx(9457, rel=0.5)


def test_too_large_a_game_is_refused(leduc: FlatGame) -> None:
    with pytest.raises(ValueError, match=r"more than max_states = 1,000 states: about"):
        flatten(leduc.game, max_states=1000)
    for merge in (False, True):  # before the walk: the full deal could not be walked at all
        with pytest.raises(ValueError, match=r"max_states = 5,000,000 states: about .* GB"):
            flatten(pyspiel.load_game("python_truco"), merge_deals=merge)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("kuhn_poker(players=3)", "3 players"),
        ("bargaining", "not zero-sum"),
        ("matrix_rps", "not sequential"),
        ("backgammon", "no information state strings"),
        ("dark_hex_ir(board_size=2)", "imperfect recall"),
    ],
)
def test_games_that_do_not_fit_are_refused(name: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        flatten(pyspiel.load_game(name))


class TreeState:
    """State of a game given as nested tuples: (player, infostate, {action: node}), or the two utilities."""

    def __init__(self, node: tuple) -> None:
        self.node, self.path = node, ()

    def is_terminal(self) -> bool:
        return len(self.node) == 2

    def is_chance_node(self) -> bool:
        return False

    def returns(self) -> tuple:
        return self.node

    def current_player(self) -> int:
        return self.node[0]

    def information_state_string(self, player: int) -> str:
        return self.node[1]

    def legal_actions(self) -> list[int]:
        return sorted(self.node[2])

    def history(self) -> tuple[int, ...]:
        return self.path

    def apply_action(self, action: int) -> None:
        self.node, self.path = self.node[2][action], (*self.path, action)

    def child(self, action: int) -> "TreeState":
        child = TreeState(self.node[2][action])
        child.path = (*self.path, action)
        return child


def tree_game(root: tuple) -> SimpleNamespace:
    kind = pyspiel.load_game("kuhn_poker").get_type()
    return SimpleNamespace(
        num_players=lambda: 2, get_type=lambda: kind, new_initial_state=lambda: TreeState(root)
    )


@pytest.mark.parametrize(
    ("root", "reason"),
    [
        ((0, "a", {0: (1, -1), 1: (1, "a", {0: (0, 0)})}), "belongs to both players"),
        ((0, "a", {0: (1, -1), 1: (2, 2)}), "do not add to zero"),
        ((0, "a", {0: (1, "b", {0: (1, -1)}), 1: (1, "b", {1: (1, -1)})}), "different legal actions"),
        ((0, "a", {0: (0, "c", {0: (1, -1)}), 1: (0, "c", {0: (1, -1)})}), "imperfect recall"),
        ((0, "a", {0: (0, "a", {0: (1, -1), 1: (0, 0)}), 1: (1, -1)}), "imperfect recall"),
    ],
)
def test_states_that_break_a_game_are_refused(root: tuple, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        flatten(tree_game(root))


def test_a_player_may_have_no_decision() -> None:
    flat = flatten(tree_game((0, "a", {0: (-1.0, 1.0), 3: (0, "b", {1: (2.0, -2.0), 2: (5.0, -5.0)})})))
    solver = FlatSolver(flat)
    solver.run(200)
    assert flat.size.sequences == (5, 1)
    assert solver.average_policy().table["b"][2] == pytest.approx(1.0, abs=1e-3)
    assert best_response(flat, 0, np.ones(1))[0] == 5.0


# --- Evaluation


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "liars_dice"])
def test_evaluation_agrees_with_openspiel(name: str, request: pytest.FixtureRequest) -> None:
    flat = request.getfixturevalue(name.removesuffix("_poker"))
    vectors = random_vectors(flat, 1)
    table = openspiel_table(policy_from_vectors(flat, vectors))
    assert exploitability(flat, vectors) == pytest.approx(pyspiel.exploitability(flat.game, table), abs=1e-9)
    start, policy = flat.game.new_initial_state(), pyspiel.TabularPolicy(table)
    value = pyspiel.expected_returns(start, policy, -1, True)[0]
    assert game_value(flat, vectors) == pytest.approx(value, abs=1e-9)


def test_a_tiny_truco_game_agrees_with_openspiel() -> None:
    flat = flatten(pyspiel.load_game("python_truco", TINY_TRUCO))
    policy = policy_from_vectors(flat, random_vectors(flat, 2))
    reference = pyspiel.exploitability(flat.game, openspiel_table(policy))
    assert exploitability(flat, policy) == pytest.approx(reference, abs=1e-9)


class GambitGame:
    """A Truco game rewritten as Gambit extensive-form text, for OpenSpiel's C++ algorithms.

    They take minutes on the Python game itself. The deals are enumerated here, each set of cards once.
    """

    def __init__(self, truco: pyspiel.Game, deck: tuple[int, ...], hand_size: int) -> None:
        self.lines = ['EFG 2 R "truco" { "mano" "pie" } ""']
        self.infosets: tuple[dict[str, int], dict[str, int]] = ({}, {})
        deals = [
            (*mano, *pie)
            for mano in itertools.combinations(sorted(deck), hand_size)
            for pie in itertools.combinations(sorted(set(deck) - set(mano)), hand_size)
        ]
        branches = " ".join(f'"{i}" {1 / len(deals)!r}' for i in range(len(deals)))
        self.lines.append(f'c "" 1 "" {{ {branches} }} 0')
        for deal in deals:
            state = truco.new_initial_state()
            for card in deal:
                state.apply_action(card)
            self.write(state)
        self.game = pyspiel.load_efg_game("\n".join(self.lines) + "\n")

    def write(self, state: pyspiel.State) -> None:
        if state.is_terminal():
            mano, pie = state.returns()
            self.lines.append(f't "" {len(self.lines)} "" {{ {mano!r} {pie!r} }}')
            return
        infosets = self.infosets[state.current_player()]
        number = infosets.setdefault(state.information_state_string(), len(infosets) + 1)
        names = " ".join(f'"{action}"' for action in state.legal_actions())
        self.lines.append(f'p "" {state.current_player() + 1} {number} "" {{ {names} }} 0')
        for action in state.legal_actions():
            self.write(state.child(action))

    def translate(self, policy: FlatPolicy) -> dict[str, list[tuple[int, float]]]:
        """The policy in the information states and action numbers of the Gambit game."""
        infostates = [dict(zip(numbers.values(), numbers, strict=True)) for numbers in self.infosets]
        table: dict[str, list[tuple[int, float]]] = {}
        stack = [self.game.new_initial_state()]
        while stack:
            state = stack.pop()
            stack += [state.child(action) for action in state.legal_actions()]
            if not state.is_terminal() and not state.is_chance_node():
                key = state.information_state_string()
                row = policy.table[infostates[state.current_player()][int(key.split("-")[2])]]
                table[key] = [(a, row[int(state.action_to_string(a))]) for a in state.legal_actions()]
        return table


@pytest.mark.parametrize(
    "parameters",
    [
        {"deck": "1E 7E 4B", "hand_size": 1, "envido": True, "target": 3},
        {"deck": "1E 2E 4B", "hand_size": 1, "envido": True, "rules": "argentino", "pie_score": 11},
        FOUR_CARDS | {"envido": False},
        FOUR_CARDS | {"envido": True, "max_envido": 1, "mano_score": 14, "pie_score": 13},
        FOUR_CARDS
        | {"envido": True, "max_envido": 1, "mano_score": 14, "pie_score": 14, "rules": "argentino"},
        {"deck": "1E 7E 3O 3E 4B 4E", "hand_size": 3, "envido": False, "mano_score": 14, "pie_score": 14},
    ],
    ids=str,
)
def test_small_truco_games_agree_with_openspiel(parameters: dict) -> None:
    truco = pyspiel.load_game("python_truco", parameters)
    flat = flatten(truco, merge_deals=True)
    vectors = random_vectors(flat, 3)
    gambit = GambitGame(truco, parse_cards(parameters["deck"]), parameters["hand_size"])
    table = gambit.translate(policy_from_vectors(flat, vectors))
    reference = pyspiel.exploitability(gambit.game, table)
    assert exploitability(flat, vectors) == pytest.approx(reference, abs=1e-9)
    value = pyspiel.expected_returns(gambit.game.new_initial_state(), pyspiel.TabularPolicy(table), -1, True)
    assert game_value(flat, vectors) == pytest.approx(value[0], abs=1e-9)


def test_a_best_response_earns_its_value(leduc: FlatGame) -> None:
    vectors = random_vectors(leduc, 4)
    value0, response0 = best_response(leduc, 0, vectors[1])
    value1, response1 = best_response(leduc, 1, vectors[0])
    assert game_value(leduc, (response0, vectors[1])) == pytest.approx(value0, abs=1e-12)
    assert game_value(leduc, (vectors[0], response1)) == pytest.approx(-value1, abs=1e-12)
    assert -value1 < game_value(leduc, vectors) < value0


def test_vectors_of_another_game_are_refused(kuhn: FlatGame, leduc: FlatGame) -> None:
    with pytest.raises(ValueError, match=r"shape \(13,\), expected \(1093,\)"):
        exploitability(leduc, uniform_vectors(kuhn))


# --- Policies


def test_policies_work_with_openspiel(leduc: FlatGame) -> None:
    solver = FlatSolver(leduc)
    solver.run(50)
    policy = solver.average_policy()
    assert isinstance(policy, Policy)
    reference = openspiel_exploitability.exploitability(leduc.game, policy)
    assert solver.exploitability() == pytest.approx(reference, abs=1e-9)
    value = expected_game_score.policy_value(leduc.game.new_initial_state(), [policy, policy])[0]
    assert game_value(leduc, policy) == pytest.approx(value, abs=1e-9)
    assert exploitability(leduc, policy.to_tabular()) == pytest.approx(reference, abs=1e-9)


def test_vectors_survive_the_way_through_a_policy(leduc: FlatGame) -> None:
    vectors = random_vectors(leduc, 6)
    again = policy_vectors(leduc, policy_from_vectors(leduc, vectors))
    assert all(np.array_equal(*pair) for pair in zip(vectors, again, strict=True))


def test_a_foreign_policy_is_evaluated(kuhn: FlatGame) -> None:
    uniform = UniformRandomPolicy(kuhn.game)
    assert exploitability(kuhn, uniform) == pytest.approx(11 / 24, abs=1e-12)
    assert all(
        np.allclose(*pair) for pair in zip(policy_vectors(kuhn, uniform), uniform_vectors(kuhn), strict=True)
    )


def test_policies_that_are_none_are_refused(kuhn: FlatGame, leduc: FlatGame) -> None:
    policy = policy_from_vectors(kuhn, uniform_vectors(kuhn))
    with pytest.raises(ValueError, match="no information state"):
        policy.action_probabilities(TreeState((0, "elsewhere", {0: (0, 0)})))
    policy.table["0"] = {0: 0.7, 1: 0.7}
    with pytest.raises(ValueError, match="no distribution"):
        policy_vectors(kuhn, policy)


# --- CFR


class TwinSolver:
    """CFR by plain recursion over OpenSpiel states and dictionaries, from the formulas of `solver.cfr`."""

    def __init__(self, openspiel_game: pyspiel.Game, schedule: Schedule) -> None:
        self.root, self.schedule, self.t = openspiel_game.new_initial_state(), schedule, 0
        self.strategy: dict[str, dict[int, float]] = {}
        self.regrets: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        self.sums: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))

    def current(self, state: pyspiel.State) -> dict[int, float]:
        legal = state.legal_actions()
        return self.strategy.setdefault(
            state.information_state_string(), {action: 1 / len(legal) for action in legal}
        )

    def run(self, iterations: int) -> None:
        for _ in range(iterations):
            self.t += 1
            for player in (0, 1):
                self.gains: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
                self.reaches: dict[str, float] = {}
                self.value(self.root, player, 1.0, 1.0)
                for infostate in self.gains:
                    self.update(infostate)

    def value(self, state: pyspiel.State, player: int, own: float, others: float) -> float:
        if state.is_terminal():
            return state.returns()[player]
        if state.is_chance_node():
            return sum(
                p * self.value(state.child(a), player, own, others * p) for a, p in state.chance_outcomes()
            )
        strategy = self.current(state)
        if state.current_player() != player:
            return sum(p * self.value(state.child(a), player, own, others * p) for a, p in strategy.items())
        values = {a: self.value(state.child(a), player, own * p, others) for a, p in strategy.items()}
        mean = sum(p * values[a] for a, p in strategy.items())
        infostate = state.information_state_string()
        self.reaches[infostate] = own
        for action, value in values.items():
            self.gains[infostate][action] += others * (value - mean)
        return mean

    def discount(self, exponent: float) -> float:
        if math.isinf(exponent):
            return float(exponent > 0)
        return (self.t - 1) ** exponent / ((self.t - 1) ** exponent + 1)

    def update(self, infostate: str) -> None:
        schedule, strategy, regrets = self.schedule, self.strategy[infostate], self.regrets[infostate]
        wish = {}
        for action, gain in self.gains[infostate].items():
            self.sums[infostate][action] += (
                self.t**schedule.gamma * self.reaches[infostate] * strategy[action]
            )
            regrets[action] *= self.discount(schedule.alpha if regrets[action] > 0 else schedule.beta)
            regrets[action] += gain
            if schedule.beta == -math.inf:
                regrets[action] = max(regrets[action], 0.0)
            wish[action] = max(regrets[action] + (gain if schedule.predictive else 0.0), 0.0)
        total = sum(wish.values())
        self.strategy[infostate] = {a: w / total if total else 1 / len(wish) for a, w in wish.items()}


def average(sums: dict[int, float]) -> dict[int, float]:
    return {action: weight / sum(sums.values()) for action, weight in sums.items()}


@pytest.mark.parametrize("schedule", SCHEDULES, ids=by_name)
@pytest.mark.parametrize(
    ("name", "parameters", "iterations"), [("kuhn_poker", {}, 100), ("python_truco", TINY_TRUCO, 8)]
)
def test_kernel_equals_its_plain_twin(
    schedule: Schedule, name: str, parameters: dict, iterations: int
) -> None:
    twin = TwinSolver(pyspiel.load_game(name, parameters), schedule)
    twin.run(iterations)
    solver = FlatSolver(flatten(pyspiel.load_game(name, parameters)), schedule)
    solver.run(iterations)
    table = solver.average_policy().table
    assert table.keys() == twin.sums.keys()
    for infostate, row in table.items():
        assert row == pytest.approx(average(twin.sums[infostate]), abs=1e-10)


@pytest.mark.parametrize(
    ("schedule", "reference", "iterations"),
    [
        (CFR, pyspiel.CFRSolver, 50),
        (CFR_PLUS, pyspiel.CFRPlusSolver, 50),
        (DCFR, DCFRSolver, 3),
    ],
)
def test_kernel_equals_openspiel(
    leduc: FlatGame, schedule: Schedule, reference: type, iterations: int
) -> None:
    solver, theirs = FlatSolver(leduc, schedule), reference(leduc.game)
    solver.run(iterations)
    for _ in range(iterations):
        theirs.evaluate_and_update_policy()
    policy = theirs.average_policy()
    for infostate, row in solver.average_policy().table.items():
        if isinstance(policy, Policy):
            probabilities = policy.policy_for_key(infostate)[list(row)]
        else:
            probabilities = [p for _, p in policy.get_state_policy(infostate)]
        assert list(row.values()) == pytest.approx(list(probabilities), abs=1e-9)


def test_value_of_kuhn(kuhn: FlatGame) -> None:
    solver = FlatSolver(kuhn, PCFR_PLUS)
    solver.run(20_000)
    vectors = solver.average_vectors()
    assert game_value(kuhn, vectors) == pytest.approx(-1 / 18, abs=1e-9)
    assert best_response(kuhn, 0, vectors[1])[0] == pytest.approx(-1 / 18, abs=1e-9)
    assert best_response(kuhn, 1, vectors[0])[0] == pytest.approx(1 / 18, abs=1e-9)


@pytest.mark.parametrize(
    ("schedule", "bounds"),
    [(CFR, (0.12, 0.015)), (CFR_PLUS, (0.02, 4e-4)), (DCFR, (0.01, 3e-4)), (PCFR_PLUS, (0.03, 1e-3))],
    ids=["CFR", "CFR+", "DCFR", "PCFR+"],
)
def test_schedules_converge(leduc: FlatGame, schedule: Schedule, bounds: tuple[float, float]) -> None:
    solver = FlatSolver(leduc, schedule)
    for iterations, bound in zip((100, 1000), bounds, strict=True):
        solver.run(iterations - solver.iterations)
        assert solver.exploitability() < bound


def test_no_average_before_the_first_iteration(kuhn: FlatGame) -> None:
    with pytest.raises(ValueError, match="before the first iteration"):
        FlatSolver(kuhn).average_policy()


# --- Checkpoints


@pytest.mark.parametrize("schedule", SCHEDULES, ids=by_name)
def test_resumed_equals_uninterrupted(leduc: FlatGame, schedule: Schedule, tmp_path: Path) -> None:
    through, stopped, resumed = (FlatSolver(leduc, schedule) for _ in range(3))
    through.run(137)
    stopped.run(60)
    stopped.save(tmp_path / "checkpoint")
    resumed.load(tmp_path / "checkpoint")
    resumed.run(77)
    assert resumed.iterations == through.iterations
    for ours, theirs in zip(resumed._tables, through._tables, strict=True):
        assert all(np.array_equal(*pair) for pair in zip(ours, theirs, strict=True))


def test_an_interrupted_run_can_go_on(leduc: FlatGame) -> None:
    stopped, through = FlatSolver(leduc), FlatSolver(leduc)
    stopped.run(1)  # compiles
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            stopped.run(10**9)
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert stopped.iterations > 1
    through.run(stopped.iterations)
    for ours, theirs in zip(stopped._tables, through._tables, strict=True):
        assert all(np.array_equal(*pair) for pair in zip(ours, theirs, strict=True))


def test_a_checkpoint_of_something_else_is_refused(kuhn: FlatGame, leduc: FlatGame, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    FlatSolver(leduc, DCFR).save(path)
    with pytest.raises(StorageError, match="another schedule"):
        FlatSolver(leduc, CFR_PLUS).load(path)
    with pytest.raises(StorageError, match="another game"):
        FlatSolver(kuhn, DCFR).load(path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StorageError, match="truncated"):
        FlatSolver(leduc, DCFR).load(path)


def test_a_checkpoint_whose_content_cannot_be_is_refused(kuhn: FlatGame, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    solver = FlatSolver(kuhn, DCFR)
    solver.run(3)
    solver.save(path)
    arrays, metadata = read_arrays(path, CHECKPOINT_KIND, CHECKPOINT_VERSION)
    before = solver.average_vectors()[0].copy()
    for change in (
        {"regrets_0": np.full_like(arrays["regrets_0"], np.nan)},
        {"regrets_1": arrays["regrets_1"][:-1]},
        {"strategy_sum_1": arrays["strategy_sum_1"].astype(np.float32)},
    ):
        write_arrays(path, CHECKPOINT_KIND, CHECKPOINT_VERSION, arrays | change, metadata)
        with pytest.raises(StorageError, match="does not fit the game"):
            solver.load(path)
    for iterations in (-1, "3", None, 2**64):
        write_arrays(path, CHECKPOINT_KIND, CHECKPOINT_VERSION, arrays, metadata | {"iterations": iterations})
        with pytest.raises(StorageError, match="iterations is"):
            solver.load(path)
    assert np.array_equal(solver.average_vectors()[0], before)
    assert solver.iterations == 3
