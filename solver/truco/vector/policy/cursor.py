"""Fast lookups in the vector engine's tables during a hand: a cursor follows the hand move by move, in numba.

The twin of `lookup.py` for the full deck, and tested against it. The state of `solver.truco.hand.engine` forgets the
order of calls, so the place in the trees is kept in a cursor beside it: `start_cursor` after the deal, `advance`
before every `engine.apply`, `vector_policy` at a decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from game.truco.actions import ENVIDO, MAZO, NO_QUIERO, QUIERO, TRUCO
from game.truco.cards import DECK_SIZE, MAX_ENVIDO
from solver.jit import lean
from solver.truco.hand.engine import BUENAS, CARDS, PLAYED, RESULT, TABLE, TRICKS, WORTH, mover
from solver.truco.hand.table import fallback_policy
from solver.truco.vector.model.trees import LEAF, TURN

if TYPE_CHECKING:
    from solver.truco.vector.cfr.average import Tables
    from solver.truco.vector.model.game import Game

# Phases of a hand.
TRUNK, POSITION, SECOND, THIRD, LOST = range(5)
# Fields of a cursor.
PHASE = 0
NODE = 1  # node of the trunk, of the positions or of the forest
PLACE = 2  # trick 1 after an accepted Envido, tricks 2 and 3: first table entry of the situation
CLASS = 3  # two: class of mano's, of pie's hand
FIRST = 5  # two: tier of their cards in trick 1
COMBINATION = 7  # two: (class, first card)
KNOWN = 9  # two: value sets, after an accepted Envido
LEADER = 11  # who leads trick 2
PARDA_FIRST = 12  # 1 if trick 1 was parda
LIST = 13  # two: holdings lists of the leader of trick 2, of the other
PAIR = 15  # two: their holdings in these lists
CARD = 17  # two: tiers of their cards in trick 2
SIZE = 19  # six: sizes of the situation, see Forest; or four, see PositionTrees
CURSOR_SIZE = 25

_NODE, _TERMINAL, _EXIT, _ACCEPT = range(4)
_KINDS = ("node", "terminal", "exit", "accept")
_WORDS = MAZO - TRUCO + 1
# Where the table of a node after the trunk has a word, -1 if nowhere: on turn in tricks 1 to 3, and in answer to a
# Truco call.
_PLACES = np.full((4, _WORDS), -1, np.int64)
_PLACES[:3, :3] = np.array([3, 2, 1])[:, None]
_PLACES[3, :3], _PLACES[3, QUIERO - TRUCO], _PLACES[3, NO_QUIERO - TRUCO] = 2, 0, 1


class VectorBook(NamedTuple):
    """A Game's trees and places, and tables of sums, as arrays for the kernels; int64 but for the sums."""

    trunk_sums: np.ndarray
    """float32: tables of all trunk nodes end to end."""
    position_sums: np.ndarray
    sums: np.ndarray
    tier: np.ndarray
    """[40]: tier of each card."""
    value: np.ndarray
    """[MAX_ENVIDO + 1]: index of each Envido value."""
    class_at: np.ndarray
    """[tier, tier, tier, value]: class."""
    position: np.ndarray
    """[classes, 3]: combination (class, place)."""
    pair: np.ndarray
    """[combinations]: number of the tier pair left."""
    trunk_kind: np.ndarray
    """[trunk nodes, 1 + words]: what follows a card or a word: one of _NODE, _TERMINAL, _EXIT, _ACCEPT."""
    trunk_child: np.ndarray
    """[trunk nodes, 1 + words]: its number."""
    trunk_word: np.ndarray
    """[trunk nodes, words]: table action of each word, -1 where it is none."""
    trunk_shape: np.ndarray
    """[trunk nodes, 3]: first entry in trunk_sums, stride between actions, whether mano's card is posted."""
    exit_place: np.ndarray
    """[exits, 2]: group, block; -1 without tables."""
    continuation: np.ndarray
    """[accepts, 2]: continuation by winner of the Envido, -1 if there is none."""
    continuation_root: np.ndarray
    """[continuations]."""
    continuation_place: np.ndarray
    """[continuations, sets, sets]: first entry."""
    position_node: np.ndarray
    """[nodes, 10]: kind, role, stage, children (3), places (4)."""
    leaf_group: np.ndarray
    block: np.ndarray
    """[groups, sets, sets]; -1 without tables."""
    bucket: np.ndarray
    """[2, groups, sets]."""
    set_count: np.ndarray
    """[sets, 2]: classes and combinations."""
    set_row: np.ndarray
    """[sets, classes]: place among the set's classes."""
    set_combination: np.ndarray
    """[sets, combinations]: place among the set's combinations, by first tier."""
    local: np.ndarray
    """[buckets, tiers, pairs]: place in a holdings list."""
    group_root: np.ndarray
    """[groups, 3]."""
    table: np.ndarray
    """[blocks + 1, tiers, tiers]."""
    forest_node: np.ndarray
    """[nodes, 12]: kind, role, stage, children (3), places (6)."""
    forest_leaf: np.ndarray
    """[leaves, 7]: root of trick 3, places (6)."""
    list_count: np.ndarray
    """[lists, 4]: holdings and the three sizes, see Lists."""
    list_card: np.ndarray
    """[lists, tiers, 4]: holdings with a card, and the three offsets, see Lists."""
    list_left: np.ndarray
    """[lists, tiers, holdings]: place of a holding among those with a card."""


_DIMENSIONS = (1, 1, 1, 1, 1, 4, 2, 1, 2, 2, 2, 2, 2, 2, 1, 3, 2, 1, 3, 3, 2, 2, 2, 3, 2, 3, 2, 2, 2, 3, 3)
EMPTY_BOOK = VectorBook(
    *(np.empty((0,) * d, np.float32 if k < 3 else np.int64) for k, d in enumerate(_DIMENSIONS))
)
"""A book of no game."""


def make_book(game: Game, tables: Tables) -> VectorBook:
    """The book of a game of the full deck; sums are shared with `tables`, the trunk's if they lie end to end.

    Raises ValueError for a small deck, which the engine's states do not play.
    """
    from solver.truco.vector.policy.locate import stand_in

    if len(game.rules.deck) != DECK_SIZE:
        raise ValueError("the cursor follows hands of the 40-card deck, not a small game")
    holdings, trunk, layout, lists = game.holdings, game.trunk, game.layout, game.value_lists
    tiers, nodes = holdings.num_tiers, trunk.nodes
    value = np.full(MAX_ENVIDO + 1, -1, np.int64)
    value[holdings.values] = np.arange(len(holdings.values))
    class_at = np.full((tiers, tiers, tiers, len(holdings.values)), -1, np.int64)
    class_at[(*holdings.class_tiers.T, holdings.class_value)] = np.arange(holdings.num_classes)
    kind = np.full((len(nodes), 1 + _WORDS), -1, np.int64)
    child = np.full((len(nodes), 1 + _WORDS), -1, np.int64)
    word_place = np.full((len(nodes), _WORDS), -1, np.int64)
    shape = np.zeros((len(nodes), 3), np.int64)
    at = 0
    for k, node in enumerate(nodes):
        columns = ([0] if node.plays else []) + [1 + word - TRUCO for word in node.words]
        for column, (what, number) in zip(columns, node.children, strict=True):
            kind[k, column], child[k, column] = _KINDS.index(what), number
        for place, word in enumerate(node.words):
            word_place[k, word - TRUCO] = 3 * node.plays + place
        size = int(np.prod(game.node_shape(node)))
        shape[k] = at, size // node.num_actions, node.posted
        at += size
    exit_place = np.full((len(trunk.exits), 2), -1, np.int64)
    for g, group in enumerate(layout.groups):
        for leaving in group.exits:
            exit_place[leaving] = g, np.flatnonzero(game.groups.block_group == g)[0]
    follow = np.full((max(1, len(trunk.accepts)), 2), -1, np.int64)
    for k in range(len(trunk.accepts)):
        for winner in (0, 1):
            found = stand_in(game, k, winner)
            follow[k, winner] = -1 if found is None else found
    sets = len(game.value_sets)
    set_row = np.full((sets, holdings.num_classes), -1, np.int64)
    set_combination = np.full((sets, len(holdings.after.cls)), -1, np.int64)
    for v in range(sets):
        count = lists.count[v]
        set_row[v, lists.cls[v, :count]] = np.arange(count)
        for tier in range(tiers):
            count = lists.combo_count[v, tier]
            set_combination[v, lists.combo[v, tier, :count]] = np.arange(count) + lists.combo_offset[v, tier]
    trees, forest, pairs = game.positions, layout.trees.forest, layout.lists
    left = np.full((len(pairs.count), tiers, pairs.tiers.shape[1]), -1, np.int64)
    for g in range(len(pairs.count)):
        for tier in range(tiers):
            count = pairs.left_count[g, tier]
            left[g, tier, pairs.left_pair[g, tier, :count]] = np.arange(count)
    places = np.array(game.position_tables, np.int64).reshape(-1, sets, sets)
    columns_of = lambda *parts: np.ascontiguousarray(np.column_stack(parts), np.int64)  # noqa: E731
    stacked = lambda *parts: np.ascontiguousarray(np.stack(parts, axis=-1), np.int64)  # noqa: E731
    return VectorBook(
        _end_to_end(tables.trunk_sums), tables.position_sums, tables.sums,
        holdings.card_tier.astype(np.int64), value, class_at, holdings.after.position.astype(np.int64),
        holdings.after.pair.astype(np.int64), kind, child, word_place, shape, exit_place, follow,
        np.array(game.position_root, np.int64), places,
        columns_of(trees.kind, trees.role, trees.stage, trees.child, trees.place), trees.leaf_group,
        game.hand_over.block, game.hand_over.bucket,
        columns_of(lists.count, lists.combo_count.sum(axis=1)), set_row, set_combination, game.local,
        game.groups.root, np.ascontiguousarray(game.groups.table, np.int64),
        columns_of(forest.kind, forest.role, forest.stage, forest.child, forest.place),
        columns_of(forest.leaf_root, forest.leaf_place), columns_of(pairs.count, pairs.size),
        stacked(pairs.left_count, pairs.offset, pairs.offset_stronger, pairs.offset_weaker), left,
    )  # fmt: skip


def _end_to_end(tables: Sequence[np.ndarray]) -> np.ndarray:
    """Tables as one float32 array, the one that they are views of if they are all of it in order."""
    whole, at = tables[0].base, 0
    if isinstance(whole, np.ndarray) and whole.dtype == np.float32 and whole.ndim == 1:
        for table in tables:
            begins = table.base is whole and table.flags.c_contiguous
            if not begins or table.ctypes.data != whole.ctypes.data + whole.itemsize * at:
                break
            at += table.size
        else:
            if at == len(whole):
                return whole
    return np.concatenate([table.reshape(-1) for table in tables]).astype(np.float32, copy=False)


@lean
def start_cursor(book: VectorBook, cursor: np.ndarray, state: np.ndarray) -> None:
    """Puts the cursor, int64 [CURSOR_SIZE], to the begin of a hand just dealt."""
    cursor[:] = -1
    cursor[PHASE], cursor[NODE] = TRUNK, 0
    for player in range(2):
        at = CARDS + 3 * player
        a, b, c = book.tier[state[at]], book.tier[state[at + 1]], book.tier[state[at + 2]]
        cursor[CLASS + player] = book.class_at[a, b, c, book.value[state[WORTH + player]]]


@lean
def _place(node: np.ndarray, first: int, n: int, cursor: np.ndarray) -> int:
    """Places of a node from column `first` on, times the sizes."""
    at = 0
    for i in range(n):
        at += node[first + i] * cursor[SIZE + i]
    return at


@lean
def _post(book: VectorBook, cursor: np.ndarray, state: np.ndarray, player: int, card: int) -> None:
    """Notes a card of trick 1."""
    tier = book.tier[card]
    slot = 0
    while book.tier[state[CARDS + 3 * player + slot]] != tier:
        slot += 1
    cursor[FIRST + player] = tier
    cursor[COMBINATION + player] = book.position[cursor[CLASS + player], slot]


@lean
def _accept(book: VectorBook, cursor: np.ndarray, state: np.ndarray, rules: np.ndarray, number: int) -> None:
    """Moves on to trick 1 after an accepted Envido."""
    mano, pie = state[WORTH], state[WORTH + 1]
    follow = book.continuation[number, 0 if mano >= pie else 1]
    if follow < 0:
        cursor[PHASE] = LOST
        return
    one, two = book.value[mano], book.value[pie]
    if rules[BUENAS] == 1 and mano >= pie:
        two = book.set_row.shape[0] // 2 + one
    cursor[PHASE], cursor[NODE] = POSITION, book.continuation_root[follow]
    cursor[KNOWN], cursor[KNOWN + 1] = one, two
    cursor[PLACE] = book.continuation_place[follow, one, two]
    cursor[SIZE], cursor[SIZE + 1] = book.set_count[one, 0], book.set_count[two, 0]
    cursor[SIZE + 2] = book.set_count[two, 0] * book.table.shape[1]
    cursor[SIZE + 3] = book.set_count[one, 1]


@lean
def _second_trick(
    book: VectorBook, cursor: np.ndarray, group: int, block: int, mano_bucket: int, pie_bucket: int
) -> None:
    """Moves on to trick 2."""
    if block < 0:
        cursor[PHASE] = LOST
        return
    tiers = book.table.shape[1]
    a, b = cursor[FIRST], cursor[FIRST + 1]
    leader = 1 if b < a else 0
    tie = a == b
    cursor[PHASE], cursor[LEADER], cursor[PARDA_FIRST] = SECOND, leader, 1 if tie else 0
    cursor[NODE] = book.group_root[group, 2 if tie else leader]
    cursor[PLACE] = book.table[block, a, b]
    for player in range(2):
        bucket = mano_bucket if player == 0 else pie_bucket
        tier = cursor[FIRST + player]
        seat = 0 if player == leader else 1
        cursor[LIST + seat] = bucket * tiers + tier
        cursor[PAIR + seat] = book.local[bucket, tier, book.pair[cursor[COMBINATION + player]]]
    first, second = book.list_count[cursor[LIST]], book.list_count[cursor[LIST + 1]]
    cursor[SIZE], cursor[SIZE + 1], cursor[SIZE + 2] = first[0], second[0], second[0] * tiers
    cursor[SIZE + 3] = first[1]
    cursor[SIZE + 4] = first[1] if tie else second[3]
    cursor[SIZE + 5] = second[1] if tie else first[2]


@lean
def _step(node: np.ndarray, action: int) -> int:
    """Child of a trick tree's node (kind, role, stage, children, ...) by an action."""
    if action < TRUCO:
        return node[3]
    if action < ENVIDO:
        return node[4] if node[0] == TURN else node[5]
    return node[3] if action == QUIERO else node[4]


@lean
def advance(book: VectorBook, cursor: np.ndarray, state: np.ndarray, rules: np.ndarray, action: int) -> None:
    """Follows an action of the mover; call it with the state before the action. Ends are not marked."""
    phase, node = cursor[PHASE], cursor[NODE]
    if phase == LOST or action == MAZO:
        return
    if action < TRUCO and state[TRICKS] == 0:
        _post(book, cursor, state, mover(state), action)
    if phase == TRUNK:
        column = 0 if action < TRUCO else 1 + action - TRUCO
        kind, number = book.trunk_kind[node, column], book.trunk_child[node, column]
        if kind == _NODE:
            cursor[NODE] = number
        elif kind == _EXIT:
            _second_trick(book, cursor, book.exit_place[number, 0], book.exit_place[number, 1], 0, 0)
        elif kind == _ACCEPT:
            _accept(book, cursor, state, rules, number)
        else:
            cursor[PHASE] = LOST
        return
    if phase == POSITION:
        code = _step(book.position_node[node], action)
        if code >= LEAF:
            group, one, two = book.leaf_group[code - LEAF], cursor[KNOWN], cursor[KNOWN + 1]
            _second_trick(
                book,
                cursor,
                group,
                book.block[group, one, two],
                book.bucket[0, group, one],
                book.bucket[1, group, two],
            )
            return
    else:
        if phase == SECOND and action < TRUCO:
            cursor[CARD + (0 if state[TABLE] < 0 else 1)] = book.tier[action]
        code = _step(book.forest_node[node], action)
        if code >= LEAF:
            if phase == SECOND:
                leaf = book.forest_leaf[code - LEAF]
                cursor[PHASE], cursor[NODE] = THIRD, leaf[0]
                cursor[PLACE] += _place(leaf, 1, 6, cursor)
            return
    cursor[NODE] = code


@lean
def _position_entry(book: VectorBook, cursor: np.ndarray) -> tuple[int, int]:
    """First entry and stride of the mix in trick 1 after an accepted Envido."""
    node = book.position_node[cursor[NODE]]
    role = node[1]
    at = cursor[PLACE] + _place(node, 6, 4, cursor)
    if node[2] == 1 and role == 0:
        return at + book.set_combination[cursor[KNOWN], cursor[COMBINATION]], cursor[SIZE + 3]
    at += book.set_row[cursor[KNOWN + role], cursor[CLASS + role]]
    if node[2] == 0:
        return at, cursor[SIZE + role]
    return at + cursor[FIRST] * cursor[SIZE + 1], cursor[SIZE + 2]


@lean
def _second_entry(book: VectorBook, cursor: np.ndarray) -> tuple[int, int]:
    """First entry and stride of the mix in trick 2."""
    node = book.forest_node[cursor[NODE]]
    role = node[1]
    pair, card = cursor[PAIR + role], cursor[CARD]
    at = cursor[PLACE] + _place(node, 6, 6, cursor)
    if node[2] == 0:
        return at + pair, cursor[SIZE + role]
    if role == 1:
        return at + card * cursor[SIZE + 1] + pair, cursor[SIZE + 2]
    g = cursor[LIST]
    return at + book.list_card[g, card, 1] + book.list_left[g, card, pair], cursor[SIZE + 3]


@lean
def _third_entry(book: VectorBook, cursor: np.ndarray, wins: int) -> tuple[int, int]:
    """First entry and stride of the mix in trick 3; `wins`: 1 if the second player's card wins the hand."""
    node = book.forest_node[cursor[NODE]]
    gl, gf, x, y = cursor[LIST], cursor[LIST + 1], cursor[CARD], cursor[CARD + 1]
    i, j = book.list_left[gl, x, cursor[PAIR]], book.list_left[gf, y, cursor[PAIR + 1]]
    if cursor[PARDA_FIRST] == 1:
        one, two = book.list_card[gl, x, 1] + i, book.list_card[gf, y, 1] + j
    else:
        one = book.list_card[gf, y, 3] + (x - y - 1) * book.list_card[gf, y, 0] + j
        two = book.list_card[gl, x, 2] + y * book.list_card[gl, x, 0] + i
    entries = cursor[SIZE + 4]
    at = cursor[PLACE] + node[10] * entries + node[11] * cursor[SIZE + 5]
    if node[2] == 0 and node[1] == 1:
        return at + two, cursor[SIZE + 5]
    if node[2] == 1 and node[1] == 1:
        return at + wins * entries + one, 2 * entries
    return at + one, entries


@lean
def _wins(book: VectorBook, state: np.ndarray) -> int:
    """Whether the card left to the second player of trick 3 beats the one on the table for the hand."""
    player = 1 if state[RESULT + 1] <= 0 else 0  # mano leads after a parda
    mine = 0
    for slot in range(3):
        if not (state[PLAYED + player] >> slot) & 1:
            mine = book.tier[state[CARDS + 3 * player + slot]]
    theirs = book.tier[state[TABLE]]
    return 1 if mine < theirs or (mine == theirs and state[RESULT] == player) else 0


@lean
def _fill(
    book: VectorBook, sums: np.ndarray, begin: int, stride: int, word_place: np.ndarray, actions: np.ndarray, n: int,
    out: np.ndarray,
) -> bool:  # fmt: skip
    """Normalises the entries of `actions[:n]` into out; equal cards share one, words are placed by `word_place`.

    False, and uniform, where they are all 0.
    """
    total, live = 0.0, 0
    for i in range(n):
        action = actions[i]
        out[i] = 0.0
        if action < TRUCO:
            if i > 0 and book.tier[actions[i - 1]] == book.tier[action]:
                continue
            place = i
        else:
            place = word_place[action - TRUCO]
            if place < 0:
                continue
        out[i] = sums[begin + place * stride]
        total += out[i]
        live += 1
    i = 0
    while i < n:
        action = actions[i]
        same = 1
        if action < TRUCO:
            while (
                i + same < n
                and actions[i + same] < TRUCO
                and book.tier[actions[i + same]] == book.tier[action]
            ):
                same += 1
        elif word_place[action - TRUCO] < 0:
            i += 1
            continue
        share = (out[i] / total if total > 0.0 else 1.0 / live) / same
        for k in range(same):
            out[i + k] = share
        i += same
    return total > 0.0


@lean
def vector_policy(
    book: VectorBook, cursor: np.ndarray, state: np.ndarray, rules: np.ndarray, actions: np.ndarray, n: int,
    out: np.ndarray,
) -> bool:  # fmt: skip
    """Writes the tables' probabilities of `actions[:n]`, as `engine.legal` lists them, to `out[:n]`.

    False where the tables have none: uniform where their own play never comes, the fallback of
    `solver.truco.hand.table` where the match is over at their score or the tables are of other situations.
    """
    phase, node = cursor[PHASE], cursor[NODE]
    if phase == LOST:
        fallback_policy(actions, n, out)
        return False
    if phase == TRUNK:
        shape = book.trunk_shape[node]
        player = mover(state)
        row = cursor[CLASS + player]
        if shape[2] == 1:
            row = cursor[COMBINATION] if player == 0 else cursor[FIRST] * len(book.position) + row
        return _fill(book, book.trunk_sums, shape[0] + row, shape[1], book.trunk_word[node], actions, n, out)
    kind = book.position_node[node, 0] if phase == POSITION else book.forest_node[node, 0]
    word_place = _PLACES[state[TRICKS] if kind == TURN else 3]
    if phase == POSITION:
        begin, stride = _position_entry(book, cursor)
        return _fill(book, book.position_sums, begin, stride, word_place, actions, n, out)
    if phase == SECOND:
        begin, stride = _second_entry(book, cursor)
    else:
        if kind == TURN and actions[1] == MAZO:  # a card and no raise: no choice, no table
            out[0], out[1] = 1.0, 0.0
            return True
        begin, stride = _third_entry(book, cursor, _wins(book, state) if state[TABLE] >= 0 else 0)
    return _fill(book, book.sums, begin, stride, word_place, actions, n, out)
