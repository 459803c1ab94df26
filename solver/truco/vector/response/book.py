"""What both exploiters read of a policy after the trunk: its tables and the situations of tricks 2 and 3 in them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solver.jit import inner
from solver.truco.vector.cfr.average import Policy
from solver.truco.vector.model.address import block_sizes
from solver.truco.vector.model.forest import Forest, Lists
from solver.truco.vector.model.game import Game
from solver.truco.vector.model.positions import PositionTrees, ValueLists

LOWEST = -1e300
"""Below every value: what the best of no options is worth."""


class Book(NamedTuple):
    """Tables of tricks 2 and 3 and where they lie, for an exploiter in one seat."""

    own: int
    """The exploiter: 0 mano, 1 pie."""
    forest: Forest
    lists: Lists
    left: np.ndarray
    """int64 [list, tier, tier]: place of the pair of both tiers among those that hold the first, else -1."""
    sums: np.ndarray
    """float32: the policy's, read-only."""
    root: np.ndarray
    """int64 [groups, 3]: as Groups.root."""
    table: np.ndarray
    """int64 [blocks + 1, tiers, tiers]: first entry."""
    block: np.ndarray
    """int64 [groups, sets, sets]: block, bucket and local as in HandOver."""
    bucket: np.ndarray
    local: np.ndarray
    gains: np.ndarray
    """float64 [groups, 2, 5]: the exploiter's utility of the rest by (he wins, he loses) and points."""


class Block(NamedTuple):
    """Tables that exits of the trunk or accepted Envidos share."""

    group: int
    number: int
    mano: int
    """Bucket of mano's values."""
    pie: int


class Situation(NamedTuple):
    """Tricks 2 and 3 after a pair of first cards, within a block."""

    root: int
    """Node of the forest."""
    begin: int
    """First table entry."""
    gl: int
    """Holdings list of the leader of trick 2, gf of the follower."""
    gf: int
    tie: bool
    """Whether trick 1 was parda."""
    own: int
    """The exploiter's role: 0 leads trick 2, 1 follows."""
    sizes: np.ndarray
    """int64 [6]: see Forest."""


class Envidos(NamedTuple):
    """Accepted Envidos after which trick 1 goes on alike, with the other's reach and the exploiter's utility."""

    trees: PositionTrees
    lists: ValueLists
    sums: np.ndarray
    """float32: the policy's, read-only."""
    root: int
    """Node of the trees."""
    tables: np.ndarray
    """int64 [sets, sets]: first table entry by what is known of mano's and of pie's value."""
    posted: bool
    """Whether mano's card is on the table."""
    gains: np.ndarray
    """float64 [2, 5]: utility of the rest by (he wins, he loses) and points."""
    reach: np.ndarray
    """float64: the other's, see the exploiters; rows by tier of mano's card if that lies and he is the exploiter."""
    count: int  # type: ignore[assignment]
    """Number of the Envidos."""


def left_places(game: Game) -> np.ndarray:
    """Book.left of a game."""
    lists, tiers = game.layout.lists, game.holdings.num_tiers
    left = np.full((len(lists.count), tiers, tiers), -1, np.int64)
    for g, tier in np.ndindex(left.shape[:2]):
        size = lists.left_count[g, tier]
        left[g, tier, lists.left_tier[g, tier, :size]] = np.arange(int(size))
    return left


def make_book(policy: Policy, own: int, gains: np.ndarray) -> Book:
    """The book of a policy for the exploiter in seat `own`, with his `gains` [groups, 2, 5] by group."""
    game = policy.game
    return Book(
        own, game.layout.trees.forest, game.layout.lists, left_places(game), policy.tables.sums, game.groups.root,
        game.groups.table, game.hand_over.block, game.hand_over.bucket, game.local, gains,
    )  # fmt: skip


@inner
def situation_at(
    book: Book, block: Block, a: int, b: int, sizes: np.ndarray
) -> tuple[int, int, int, int, bool, int]:
    """The fields of a Situation after first cards of tiers a (mano's) and b, but for its sizes, which are written to
    `sizes`, int64 [6]. (A kernel that counts no references must not return an array.)
    """
    tiers = book.lists.left_count.shape[1]
    tie, pie_leads = a == b, b < a
    mano, pie = block.mano * tiers + a, block.pie * tiers + b
    gl, gf = (pie, mano) if pie_leads else (mano, pie)
    block_sizes(book.lists, gl, gf, tie, sizes)
    root = book.root[block.group, 2 if tie else 1 if pie_leads else 0]
    return root, book.table[block.number, a, b], gl, gf, tie, 1 - book.own if pie_leads else book.own
