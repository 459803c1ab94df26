"""The average strategy of the vector engine at a decision of a real hand: which table entries, and the action mix.

The plain-Python reference; `cursor.py` is the fast twin for the full deck.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from game.truco.actions import ENVIDO, NO_QUIERO, QUIERO, TRUCO
from game.truco.cards import envido_value
from game.truco.hand import Hand
from solver.truco.vector.cfr.average import Tables, average_mix
from solver.truco.vector.model.address import (
    block_sizes,
    pair_sizes,
    table_at,
    table_rows,
    third_at,
    third_rows,
    third_span,
)
from solver.truco.vector.model.game import Game
from solver.truco.vector.model.holdings import Holdings
from solver.truco.vector.model.layout import Layout
from solver.truco.vector.model.trees import LEAF, TURN

POSITIONS, TRICKS, FORCED = -1, -2, -3
"""Tables of a Place beside the trunk's: trick 1 after an accepted Envido, tricks 2 and 3, no choice and no table."""


class Place(NamedTuple):
    """Where the mix of a decision lies: the entry of action k is `begin + k x stride` of the flat table."""

    table: int
    """Number of a trunk node, or POSITIONS, TRICKS or FORCED."""
    begin: int
    stride: int
    choices: tuple[tuple[int, ...], ...]
    """Real actions that each table action stands for: cards of equal tier are one; empty where it is not legal."""

    def entries(self) -> list[int]:
        """Flat indices of the entries that are legal choices."""
        return [self.begin + k * self.stride for k, real in enumerate(self.choices) if real]


def action_mix(game: Game, tables: Tables, hand: Hand) -> dict[int, float]:
    """Probability of every legal action of the player to move; mazo gets 0 where the engine leaves it out.

    Raises ValueError as `locate`.
    """
    place = locate(game, hand)
    mix = dict.fromkeys(hand.legal_actions(), 0.0)
    for share, real in zip(choice_mix(tables, place), place.choices, strict=True):
        for action in real:
            mix[action] = share / len(real)
    return mix


def choice_mix(tables: Tables, place: Place) -> list[float]:
    """Probability of each choice of a place, 0 for those that are not legal."""
    sums = np.zeros(len(place.choices))
    if place.table != FORCED:
        flat = _flat(tables, place.table)
        for k, real in enumerate(place.choices):
            if real:
                sums[k] = flat[place.begin + k * place.stride]
    found: list[float] = average_mix(sums, np.array([bool(real) for real in place.choices])).tolist()
    return found


def _flat(tables: Tables, table: int) -> np.ndarray:
    if table == POSITIONS:
        return tables.position_sums
    return tables.sums if table == TRICKS else tables.trunk_sums[table].reshape(-1)


def locate(game: Game, hand: Hand) -> Place:
    """Where the mix of the player to move lies.

    The hand may be played at another score than the game's; an accepted Envido that ends the match at the game's
    score is then read as a smaller one. Raises ValueError for a hand that is over or of other rules, or where the
    match is over at the game's score whatever is read.
    """
    if hand.rules != game.rules:
        raise ValueError(f"the tables are for rules {game.rules.name()}, not {hand.rules.name()}")
    if hand.is_over:
        raise ValueError("the hand is over: there is nothing to decide")
    kind, number, rest = _walk_trunk(game, [action for _, action in hand.history])
    if kind == "node":
        return _trunk_place(game, hand, number)
    if kind == "exit":
        group = next(g for g, found in enumerate(game.layout.groups) if number in found.exits)
        block = int(np.flatnonzero(game.groups.block_group == group)[0])
        return _tricks_place(game, hand, group, block, (0, 0), rest)
    if kind == "terminal":
        raise ValueError(_elsewhere(game))
    known = known_values(game, hand)
    continuation = stand_in(
        game, number, 0 if envido_value(hand.cards[0]) >= envido_value(hand.cards[1]) else 1
    )
    if continuation is None:
        raise ValueError(_elsewhere(game))
    positions = game.positions
    node, rest = _walk_tree(positions.kind, positions.child, game.position_root[continuation], rest)
    if node < LEAF:
        return _position_place(game, hand, continuation, known, node)
    group = int(positions.leaf_group[node - LEAF])
    block_of, bucket = game.hand_over.block, game.hand_over.bucket
    buckets = (int(bucket[0, group, known[0]]), int(bucket[1, group, known[1]]))
    return _tricks_place(game, hand, group, int(block_of[group][known]), buckets, rest)


def accepted_tables(game: Game, hand: Hand) -> tuple[int, int]:
    """First entry in `Tables.position_sums`, and the end, of the tables that a hand passes after an accepted Envido.

    Both are 0 where none was accepted. Raises ValueError as `locate`.
    """
    kind, number, _ = _walk_trunk(game, [action for _, action in hand.history])
    if kind != "accept":
        return 0, 0
    winner = 0 if envido_value(hand.cards[0]) >= envido_value(hand.cards[1]) else 1
    continuation = stand_in(game, number, winner)
    if continuation is None:
        raise ValueError(_elsewhere(game))
    known, positions, sizes = known_values(game, hand), game.positions, np.zeros(4, np.int64)
    pair_sizes.py_func(game.value_lists, *known, sizes)
    begin = int(game.position_tables[continuation][known])
    last = game.position_root[continuation]
    last += int(positions.nodes[last]) - 1
    at = int(table_at.py_func(positions.place, last, begin, sizes))
    stride = table_rows.py_func(int(positions.role[last]), int(positions.stage[last]), at, sizes, 0, 0)[1]
    return begin, at + int(positions.actions[last] * stride)


# ---- holdings


@lru_cache(maxsize=1024)
def _tier(holdings: Holdings, card: int) -> int:
    return int(holdings.card_tier[np.searchsorted(holdings.deck, card)])


def _tiers(game: Game, cards: Sequence[int]) -> list[int]:
    """Dense tiers of real cards."""
    return [_tier(game.holdings, card) for card in cards]


@lru_cache(maxsize=65536)
def _class_at(holdings: Holdings, cards: tuple[int, ...]) -> int:
    tiers = sorted(_tier(holdings, card) for card in cards)
    value = np.searchsorted(holdings.values, envido_value(cards))
    same_tiers = (holdings.class_tiers == tiers).all(axis=1)
    return int(np.flatnonzero(same_tiers & (holdings.class_value == value))[0])


def _class_of(game: Game, cards: tuple[int, ...]) -> int:
    """Class of a dealt hand."""
    return _class_at(game.holdings, cards)


def _card_choices(game: Game, hand: Hand) -> list[tuple[int, ...]]:
    """Held cards of the mover by place, strongest first; equal tiers all at the first of their places."""
    player = hand.to_move
    assert player is not None
    held = hand.held(player)
    tiers = _tiers(game, held)
    ranked = sorted(tiers)
    return [
        tuple(card for card, t in zip(held, tiers, strict=True) if t == tier)
        if ranked.index(tier) == k
        else ()
        for k, tier in enumerate(ranked)
    ]


def after_first_card(game: Game, hand: Hand, player: int) -> tuple[int, int, int]:
    """Tier of the player's card in trick 1, combination (class, place) and tier pair left."""
    holdings = game.holdings
    card = next(action for who, action in hand.history if who == player and action < TRUCO)
    tier, cls = _tiers(game, [card])[0], _class_of(game, hand.cards[player])
    slot = int(np.flatnonzero(holdings.class_tiers[cls] == tier)[0])
    combination = int(holdings.after.position[cls, slot])
    return tier, combination, int(holdings.after.pair[combination])


def known_values(game: Game, hand: Hand) -> tuple[int, int]:
    """Value sets (mano's, pie's) that an accepted Envido made public (A-2)."""
    values = game.holdings.values
    mano, pie = (int(np.searchsorted(values, envido_value(cards))) for cards in hand.cards)
    if game.rules.envido_reveal == "buenas" and mano >= pie:
        return mano, len(values) + mano
    return mano, pie


# ---- walking


def _walk_trunk(game: Game, actions: list[int]) -> tuple[str, int, list[int]]:
    """(Kind, number) in the trunk after these actions, and the actions that come later."""
    kind, number = "node", 0
    for done, action in enumerate(actions):
        if kind != "node":
            return kind, number, actions[done:]
        node = game.trunk.nodes[number]
        child = 0 if action < TRUCO else node.plays + node.words.index(action)
        kind, number = node.children[child]
    return kind, number, []


def _walk_tree(kind: np.ndarray, child: np.ndarray, node: int, actions: list[int]) -> tuple[int, list[int]]:
    """Node of a trick tree, or LEAF + leaf, after these actions, and the actions that come later."""
    for done, action in enumerate(actions):
        if node >= LEAF:
            return node, actions[done:]
        if action in (QUIERO, NO_QUIERO):
            step = action - QUIERO
        elif action < TRUCO:
            step = 0
        else:
            step = 1 if kind[node] == TURN else 2
        node = int(child[node, step])
        if node < 0:
            raise ValueError(f"no decision follows action {action} in the trick trees")
    return node, []


def _elsewhere(game: Game) -> str:
    return f"at the tables' score {game.score[0]}-{game.score[1]} the match is over here"


def stand_in(game: Game, number: int, winner: int) -> int | None:
    """Continuation of the trunk's accepted Envido of this number, by its winner.

    Where the match is over at the game's score it is another one of the same position, None if there is none.
    """
    accept = game.trunk.accepts[number]
    if not accept.over[winner]:
        return game.continuation_of(accept, winner)
    for other, found in enumerate(game.continuations):
        if found.position == accept.position and winner in found.winners:
            return other
    return None


# ---- places


def _tree_choices(game: Game, hand: Hand, turn: bool) -> tuple[tuple[int, ...], ...]:
    """Table actions of a decision with Envido closed."""
    calls = [(action,) for action in hand.legal_actions() if TRUCO <= action < ENVIDO]
    return (*(_card_choices(game, hand) if turn else [(QUIERO,), (NO_QUIERO,)]), *calls)


def _trunk_place(game: Game, hand: Hand, number: int) -> Place:
    node = game.trunk.nodes[number]
    cls = _class_of(game, hand.cards[node.player])
    if not node.posted:
        index = cls
    elif node.player == 0:
        index = after_first_card(game, hand, 0)[1]
    else:
        index = after_first_card(game, hand, 0)[0] * game.holdings.num_classes + cls
    choices = (_card_choices(game, hand) if node.plays else []) + [(word,) for word in node.words]
    return Place(number, index, int(np.prod(game.node_shape(node)[1:])), tuple(choices))


def _position_place(game: Game, hand: Hand, continuation: int, known: tuple[int, int], node: int) -> Place:
    trees, lists = game.positions, game.value_lists
    sizes = np.zeros(4, np.int64)
    pair_sizes.py_func(lists, *known, sizes)
    role, stage = int(trees.role[node]), int(trees.stage[node])
    at = table_at.py_func(trees.place, node, game.position_tables[continuation][known], sizes)
    tier, combination, _ = after_first_card(game, hand, 0) if stage == 1 else (0, 0, 0)
    first, stride = table_rows.py_func(role, stage, at, sizes, tier, lists.combo_offset[known[0], tier])
    if stage == 1 and role == 0:
        part, holding = lists.combo[known[0], tier, : lists.combo_count[known[0], tier]], combination
    else:
        part = lists.cls[known[role], : lists.count[known[role]]]
        holding = _class_of(game, hand.cards[role])
    choices = _tree_choices(game, hand, bool(trees.kind[node] == TURN))
    return Place(POSITIONS, int(first + np.searchsorted(part, holding)), int(stride), choices)


def _left(layout: Layout, g: int, tier: int, pair: int) -> int:
    """Place of a pair among those of list g that hold a tier."""
    lists = layout.lists
    return int(np.flatnonzero(lists.left_pair[g, tier, : lists.left_count[g, tier]] == pair)[0])


def _tricks_place(
    game: Game, hand: Hand, group: int, block: int, buckets: tuple[int, int], rest: list[int]
) -> Place:
    """Place in tricks 2 and 3 of a group and block; `rest` are the actions after trick 1."""
    layout, tiers = game.layout, game.holdings.num_tiers
    forest, lists = layout.trees.forest, layout.lists
    first = [after_first_card(game, hand, player) for player in (0, 1)]
    a, b = first[0][0], first[1][0]
    tie = a == b
    leader = 1 if b < a else 0
    lists_of = [buckets[player] * tiers + first[player][0] for player in (0, 1)]
    pairs = [int(game.local[buckets[player], first[player][0], first[player][2]]) for player in (0, 1)]
    gl, gf = lists_of[leader], lists_of[1 - leader]
    pair_l, pair_f = pairs[leader], pairs[1 - leader]
    sizes = np.zeros(6, np.int64)
    block_sizes.py_func(lists, gl, gf, tie, sizes)
    begin = int(game.groups.table[block, a, b])
    node, rest = _walk_tree(
        forest.kind, forest.child, int(game.groups.root[group, 2 if tie else leader]), rest
    )
    played = _tiers(game, [action for _, action in hand.history if action < TRUCO][2:])
    if node < LEAF:
        role, stage = int(forest.role[node]), int(forest.stage[node])
        x = played[0] if stage == 1 else 0
        at = table_at.py_func(forest.place, node, begin, sizes)
        entry, stride = table_rows.py_func(role, stage, at, sizes, x, lists.offset[gl, x])
        holding = pair_f if role == 1 else pair_l if stage == 0 else _left(layout, gl, x, pair_l)
        choices = _tree_choices(game, hand, bool(forest.kind[node] == TURN))
        return Place(TRICKS, int(entry + holding), int(stride), choices)
    leaf = node - LEAF
    begin = table_at.py_func(forest.leaf_place, leaf, begin, sizes)
    node, rest = _walk_tree(forest.kind, forest.child, int(forest.leaf_root[leaf]), rest)
    choices = _tree_choices(game, hand, bool(forest.kind[node] == TURN))
    if len(choices) == 1:
        return Place(FORCED, 0, 0, choices)
    # Cards x of the leader of trick 2 and y of the other; who leads trick 3 comes first.
    x, y = played[:2]
    i, j = _left(layout, gl, x, pair_l), _left(layout, gf, y, pair_f)
    span = third_span.py_func(lists, gl, gf, tie, x, y)
    one, two = (i, j) if tie else (j, i)
    role, stage = int(forest.role[node]), int(forest.stage[node])
    wins = False
    if (role, stage) == (1, 1):
        mover = hand.to_move
        assert mover is not None
        mine, theirs = _tiers(game, hand.held(mover))[0], played[2]
        # With two pardas mano led and wins a third; else the second player has won trick 1 and wins a parda.
        wins = mine < theirs or (mine == theirs and not tie)
    at = third_at.py_func(forest.third, node, begin, span.entries, span.entries2)
    entry, stride = third_rows.py_func(role, stage, at, span, int(wins))
    return Place(TRICKS, int(entry + (two if (role, stage) == (1, 0) else one)), int(stride), choices)
