"""Compact policies and tricks 2 and 3 solved anew: against the whole policy, in files, in advice."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from game.truco.actions import ENVIDO, FALTA_ENVIDO, NO_QUIERO, QUIERO, TRUCO
from game.truco.cards import envido_value, tier
from game.truco.equity import simple_equity
from game.truco.hand import MANO, Hand
from game.truco.rules import make_rules
from game.truco.spot import Spot, parse_history
from scripts.match_bots import load_bot
from solver.storage import StorageError
from solver.truco.reading.advice import advise
from solver.truco.solutions.compact_solution import CompactSolution
from solver.truco.solutions.load import load_solution
from solver.truco.vector.cfr.average import Tables, tables_of
from solver.truco.vector.cfr.evaluate import Evaluator, policy_value
from solver.truco.vector.cfr.run import iterate
from solver.truco.vector.cfr.solver import VectorSolver
from solver.truco.vector.model.abstraction import Abstraction
from solver.truco.vector.model.address import pair_sizes, table_rows
from solver.truco.vector.model.game import Game
from solver.truco.vector.model.trees import Accept
from solver.truco.vector.policy.compact import CompactFacts, CompactPolicy, kept_of, load_compact
from solver.truco.vector.policy.files import StoredPolicy
from solver.truco.vector.policy.info import VectorInfo
from solver.truco.vector.policy.locate import FORCED, action_mix, after_first_card, locate
from solver.truco.vector.policy.shrink import compact_policy, trunk_histories
from solver.truco.vector.policy.subgame import Resolver, find_entry, resolve
from solver.truco.vector.response.cards.response import Policy
from tests.test_truco_command import truco
from tests.test_vector_lookup import EXACT, NONE, SEVEN, flat_table, random_decisions, random_tables

DECK = "1E 4E 4C 4B 5B 5O 6E 7E"
CARDS = (0, 26, 32)
"""1E 7O 3C."""


GAMES = {
    "no envido": ({"deck": DECK, "envido": False}, EXACT, 150),
    "envido": ({"deck": SEVEN, "max_envido": 1}, Abstraction(("none",) * 4, ("exact",) * 4), 60),
}


@cache
def solved(name: str) -> tuple[Game, Tables, int]:
    """A small game somewhat near equilibrium: its tables after so many iterations. Values are not merged."""
    changes, abstraction, iterations = GAMES[name]
    game = Game(make_rules("base", changes), (0, 0), None, abstraction)
    solver = VectorSolver(game)
    iterate(solver, iterations)
    return game, tables_of(solver), iterations


def situations(game: Game, seed: int, hands: int) -> Iterator[Hand]:
    """Hands at their first decision of trick 2, one for each public situation."""
    seen = set()
    for hand in random_decisions(game, hands, seed):
        if len(hand.tricks) != 1 or hand.table:
            continue
        values = hand.cards if hand.envido_accepted else ()
        key = (tuple(action for _, action in hand.history), values)
        if key not in seen and hand.history[-1][1] < 40:
            seen.add(key)
            yield hand


def stored_slice(game: Game, hand: Hand) -> tuple[int, int]:
    """Table entries of the whole game for the tricks 2 and 3 of a hand's situation."""
    at = locate(game, hand).begin
    starts = np.unique(np.append(game.groups.table[:-1].ravel(), game.layout.entries))
    place = int(np.searchsorted(starts, at, side="right"))
    return int(starts[place - 1]), int(starts[place])


def played_reach(game: Game, tables: Tables, hand: Hand) -> list[float]:
    """Probability of each side's actions in the hand's history with its own cards; equal tiers are one action."""
    replay = Hand(game.rules, *hand.cards, 0, 0)
    reach = [1.0, 1.0]
    for player, action in hand.history:
        mix = action_mix(game, tables, replay)
        alike = [other for other in mix if other < 40 and action < 40 and tier(other) == tier(action)]
        reach[player] *= sum(mix[other] for other in alike or [action])
        replay.apply(action)
    return reach


@pytest.mark.parametrize("name", GAMES)
def test_solving_anew_agrees_with_the_whole_policy(name: str) -> None:
    game, tables, _ = solved(name)
    _, leaves = Evaluator.of(Policy(game, tables)).leaves(1)
    after = game.holdings.after
    joint = (game.holdings.joint / game.holdings.num_deals)[np.ix_(after.cls, after.cls)]
    accepted = exits = 0
    for hand in situations(game, 3, 400):
        if accepted >= 4 if hand.envido_accepted else exits >= 8:
            continue
        entry = find_entry(game, tables, hand)
        assert entry is not None
        reach = played_reach(game, tables, hand)
        for player in (0, 1):
            combination = after_first_card(game, hand, player)[1]
            assert entry.ranges[player][combination] == pytest.approx(reach[player], rel=1e-5, abs=1e-12)
        mass = entry.ranges[0] @ joint @ entry.ranges[1]
        if mass < 1e-6:  # hardly ever there: float32 does not resolve the values
            continue
        whole = Resolver(entry)
        first, end = stored_slice(game, hand)
        assert end - first == whole._part.stop - whole._part.start
        whole.sums[whole._part] = tables.sums[first:end]
        value, gap = whole.judged()
        anew = resolve(game, tables, hand, 300)
        assert anew is not None
        assert anew.reached
        assert -1e-6 < anew.gap < 0.005  # float32 rounds what is 0
        assert abs(anew.value - value) <= anew.gap + gap + 1e-5
        if hand.envido_accepted:
            accepted += 1
            continue
        exits += 1
        number = entry.game.exits[0]
        a, b = entry.first
        part = slice(after.start[b], after.start[b + 1])
        pie = (leaves["exit", number][a, part] * entry.ranges[1][part]).sum() / mass
        # The engine's own value of the situation, counted from the start of the hand.
        assert -pie - game.trunk.exits[number].payoffs.base == pytest.approx(value, abs=1e-3)
    assert exits == 8
    assert accepted == (0 if name == "no envido" else 4)


WORDS = {
    "T": TRUCO, "R": TRUCO + 1, "V": TRUCO + 2, "E": ENVIDO, "RE": ENVIDO + 1, "FE": FALTA_ENVIDO, "q": QUIERO,
    "nq": NO_QUIERO,
}  # fmt: skip


def after_envido(game: Game, accept: Accept, winner: int) -> Hand:
    """A hand at the first decision of trick 2, after these calls and with this winner of the Envido."""
    for mano in combinations(game.rules.deck, 3):
        for pie in combinations([card for card in game.rules.deck if card not in mano], 3):
            if winner == (0 if envido_value(mano) >= envido_value(pie) else 1):
                hand = Hand(game.rules, mano, pie, *game.score)
                for word, player in accept.history:
                    hand.apply(hand.held(player)[0] if word == "card" else WORDS[word])
                while not hand.tricks:
                    legal = hand.legal_actions()
                    hand.apply(QUIERO if QUIERO in legal else legal[0])
                return hand
    raise AssertionError("no deal has this winner")


@pytest.mark.parametrize("utility", ["points", "match"])
@pytest.mark.parametrize("chains", ["none", "calls", "exact"])
def test_every_accepted_envido_is_solved_anew(chains: str, utility: str) -> None:
    """Whatever the policy keeps of the calls, and for each winner; tables are read where they were filled."""
    rules = make_rules("base", {"deck": "1E 4C 5B 6E 7E 12O"})
    equity = simple_equity(rules.target) if utility == "match" else None
    game = Game(rules, (12, 13), equity, Abstraction(("none",) * 4, ("none",) * 4, (chains,) * 4))  # type: ignore[arg-type]
    tables = random_tables(game, 1.0, 1)
    asked = set()
    for accept in game.trunk.accepts:
        for winner in (0, 1):
            if accept.over[winner]:
                continue
            hand = after_envido(game, accept, winner)
            found = resolve(game, tables, hand, 3)
            assert found is not None
            assert found.reached
            anew = Tables(tables.trunk_sums, tables.position_sums, found.sums)
            asked.add(game.continuation_of(accept, winner))
            while not hand.is_over:
                place = locate(found.game, hand)
                assert place.table == FORCED or flat_table(anew, place.table)[place.entries()].any()
                legal = hand.legal_actions()
                hand.apply(QUIERO if QUIERO in legal else legal[0])
    assert asked == set(range(len(game.continuations)))


def test_holdings_that_never_come_get_a_mix_too() -> None:
    game, tables, _ = solved("envido")
    hand = next(situations(game, 5, 400))
    nothing = Tables([np.zeros_like(table) for table in tables.trunk_sums], tables.position_sums, tables.sums)
    anew = resolve(game, nothing, hand, 50)
    assert anew is not None
    assert not anew.reached
    here = Tables(tables.trunk_sums, tables.position_sums, anew.sums)
    rng = random.Random(1)
    while not hand.is_over:
        place = locate(anew.game, hand)
        if place.table != FORCED:
            assert sum(here.sums[entry] for entry in place.entries()) > 0
        hand.apply(rng.choice([action for action in hand.legal_actions() if action < NO_QUIERO]))
    trick_one = Hand(game.rules, *hand.cards, 0, 0)
    assert resolve(game, tables, trick_one) is None


def test_a_compact_file_keeps_what_it_says(tmp_path: Path) -> None:
    game, tables, iterations = solved("envido")
    stored = StoredPolicy(VectorInfo.of(game, "dcfr", iterations, 1.0), game, tables)
    made = compact_policy(stored, 0.01)
    path = tmp_path / "small.trick1"
    made.save(path)
    found = load_compact(path)
    assert (found.info, found.facts) == (made.info, made.facts)
    assert 0 < found.facts.kept < found.facts.infosets
    # What the first actions are worth adds up to the value of the policy.
    deals = game.holdings.num_deals
    classes = game.holdings.joint.sum(axis=1) / deals
    every = compact_policy(stored, 0.0)
    mix = every.trunk()[0] / every.trunk()[0].sum(axis=0)
    value = float((classes * (mix * every.worth()[0]).sum(axis=0)).sum())
    assert value == pytest.approx(policy_value(Policy(game, tables)), abs=0.01)
    shapes = [game.node_shape(node) for node in game.trunk.nodes]
    trunk = [table.reshape(shape) for table, shape in zip(found.trunk(), shapes, strict=True)]
    for worth, fine, mixed in zip(found.worth(), every.worth(), found.trunk(), strict=True):
        keep = mixed.any(axis=0)
        np.testing.assert_allclose(worth[:, keep], fine[:, keep], atol=found.facts.step)
        assert not worth[:, ~keep].any()
    for table, whole in zip(trunk, tables.trunk_sums, strict=True):
        own, keep = whole.sum(axis=0), table.sum(axis=0) > 0
        exact = (whole / np.maximum(own, 1))[:, keep]
        np.testing.assert_allclose(table[:, keep] / 255, exact, atol=0.5 / 255 + 1e-6)
    # Kept is what both sides reach: by enumeration of the other's hands, before a card is played.
    compacted = Tables(trunk, found.positions(), tables.sums)
    counts = {True: 0, False: 0}
    for hand in random_decisions(game, 300, 8):
        if hand.table or hand.tricks:
            continue
        player = hand.to_move
        assert player is not None
        own = played_reach(game, tables, hand)[player]
        others = []
        for other in combinations([card for card in game.rules.deck if card not in hand.cards[player]], 3):
            cards = (hand.cards[0], other) if player == 0 else (other, hand.cards[1])
            if hand.envido_accepted and envido_value(other) != envido_value(hand.cards[1 - player]):
                continue
            replay = Hand(game.rules, *cards, 0, 0)
            for _, action in hand.history:
                replay.apply(action)
            others.append(played_reach(game, tables, replay)[1 - player])
        place = locate(game, hand)
        keep = bool(flat_table(compacted, place.table)[place.entries()].any())
        least = min(own, sum(others) / len(others))
        if abs(least - 0.01) > 2e-4:
            # Tables after an accepted Envido add up the chains that end in it.
            assert keep == (least > 0.01) or (keep and hand.envido_accepted)
        counts[keep] += 1
    assert min(counts.values()) > 5
    assert compacted.position_sums.any()
    broken = bytearray(path.read_bytes())
    broken[-5] ^= 1
    path.write_bytes(broken)
    with pytest.raises(StorageError, match="damaged"):
        load_solution(path)


@pytest.fixture(scope="module")
def random_compact() -> CompactPolicy:
    """A compact policy of the full deck with random mixes; it drops nothing and keeps no worth."""
    game = Game(make_rules("base", {}), (0, 0), None, NONE)
    rng = np.random.default_rng(5)
    trunk = [rng.random(game.node_shape(node), dtype=np.float32) for node in game.trunk.nodes]
    tables = Tables(trunk, rng.random(game.position_entries, dtype=np.float32), np.zeros(64, np.float32))
    parts, trees, lists = [*tables.trunk_sums], game.positions, game.value_lists
    sizes = np.zeros(4, np.int64)
    begin = 0
    for root, continuation in zip(game.position_root, game.continuations, strict=True):
        for winner in continuation.winners:
            for one, two, _ in (outcome for outcome in game.outcomes() if outcome[2] == winner):
                pair_sizes.py_func(lists, one, two, sizes)
                for node in range(root, root + int(trees.nodes[root])):
                    role, stage = int(trees.role[node]), int(trees.stage[node])
                    end = begin + int(
                        trees.actions[node] * table_rows.py_func(role, stage, 0, sizes, 0, 0)[1]
                    )
                    parts.append(tables.position_sums[begin:end].reshape(int(trees.actions[node]), -1))
                    begin = end
    bytes_ = [np.rint(255 * part).astype(np.uint8).reshape(len(part), -1) for part in parts]
    none = [np.zeros(part.shape, np.int16) for part in bytes_[: len(game.trunk.nodes)]]
    arrays = kept_of(bytes_, none)
    facts = CompactFacts(0.0, 0.5 / 255, len(arrays.holding), len(arrays.holding), 1.0)
    return CompactPolicy(VectorInfo.of(game, "dcfr", 1, 0.0), facts, trunk_histories(game.trunk), arrays)


@pytest.mark.parametrize(
    ("words", "shown"),
    [("3C 2E", None), ("envido quiero 3C 7E truco quiero 7B", 27), ("3C envido quiero 3B", 27)],
)
def test_advice_reads_what_was_solved_anew(
    random_compact: CompactPolicy, words: str, shown: int | None
) -> None:
    compact = CompactSolution(random_compact)
    rules = compact.rules
    spot = Spot(rules, MANO, CARDS, (0, 0), tuple(parse_history(words)), shown)
    found = compact.at(spot)
    assert "solved here from the ranges of trick 1" in found.remark
    expected = action_mix(found.stored.game, found.stored.tables, spot.hand)
    advice = advise(found, spot, simple_equity(rules.target), 400)
    assert advice.has_mix
    assert {row.action: row.probability for row in advice.actions} == pytest.approx(expected, abs=1e-6)
    assert all(row.points is not None for row in advice.actions)
    # What is played most is worth nearly as much as anything for this hand: the mix answers the other seat's, but for
    # all hands of these tiers, and the suits of one may tell more.
    best = max(row.points for row in advice.actions if row.points is not None)
    most = max(advice.actions, key=lambda row: row.probability or 0.0)
    assert most.points is not None
    assert most.points > best - 0.4
    opening = Spot(rules, MANO, CARDS, (0, 0), ())
    assert compact.at(opening) is compact


def test_commands_make_and_read_a_compact_policy(capsys, tmp_path: Path) -> None:
    rules = make_rules("base", {})
    game = Game(rules, (14, 14), simple_equity(rules.target), Abstraction())
    whole, small = tmp_path / "match.vector", tmp_path / "match.trick1"
    StoredPolicy(VectorInfo.of(game, "dcfr", 1, 0.0), game, random_tables(game, 1.0, 4)).save(whole)
    status, out, err = truco(capsys, "compact", whole, "--out", small)
    assert (status, err) == (0, "")
    assert "tricks 2 and 3 dropped" in out
    assert small.stat().st_size < whole.stat().st_size / 20
    told = json.loads(truco(capsys, "info", small, "--json")[1])
    assert told["compact"]["dropped"] == "tricks 2 and 3"
    words = ("--solution", small, "--samples", 200, "--json")
    told = json.loads(truco(capsys, "advise", "1E 7O 3C", "--history", "3C 2E", *words)[1])
    assert "150 iterations" in told["remark"]
    assert sum(row["probability"] for row in told["actions"]) == pytest.approx(1.0)
    told = json.loads(truco(capsys, "advise", "1E 7O 3C", *words)[1])
    assert "not stored" in told["remark"]
    assert told["samples"] == 0
    assert all(row["points"] is None for row in told["actions"])
    assert all(0.0 <= row["match_win"] <= 1.0 for row in told["actions"])
    printed = truco(capsys, "advise", "1E 7O 3C", "--solution", small)[1]
    assert "exact over all deals" in " ".join(printed.split())
    # All of this topic lies in the trick that is kept; of the other some answers come later, and hands are played.
    told = json.loads(truco(capsys, "table", "envido", "--solution", small, "--json")[1])
    assert told["values"].startswith("exact over all deals")
    worth = told["sections"][0]["total"]["values"]
    assert 0.0 <= worth["envido"] <= 1.0
    options = ("--to", "truco", "--solution", small, "--rounds", 1, "--json")
    told = json.loads(truco(capsys, "table", "response", *options)[1])
    assert told["values"].startswith("not known")
    assert set(told["sections"][0]["total"]["values"].values()) == {None}
    with pytest.raises(ValueError, match="keeps trick 1 only"):
        load_bot(str(small), rules)
    certificate = tmp_path / "certificate.json"
    policy = json.loads(truco(capsys, "info", whole, "--json")[1])
    told = {"policy": policy, "method": "exact", "exploitability": 0.25}
    told["policy"] = {name: policy[name] for name in asdict(VectorInfo.of(game, "dcfr", 1, 0.0))}
    certificate.write_text(json.dumps(told))
    words = ("compact", whole, "--out", small, "--certificate", certificate)
    assert truco(capsys, *words)[0] == 0
    assert "exploitability 0.250" in " ".join(
        truco(capsys, "advise", "1E 7O 3C", "--solution", small)[1].split()
    )
    for wrong, reason in (
        (told | {"method": "lower bound"}, "lower bound"),
        ({}, "not what"),
        ("{", "not JSON"),
    ):
        certificate.write_text(wrong if isinstance(wrong, str) else json.dumps(wrong))
        status, _, err = truco(capsys, *words)
        assert status == 2
        assert reason in err
    assert truco(capsys, "compact", small, "--out", whole)[0] == 2
    assert truco(capsys, "compact", whole, "--out", tmp_path / "no" / "x")[2].startswith("error: folder")
