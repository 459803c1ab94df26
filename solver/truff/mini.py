"""Small Truff games solved as a whole: flat tree, CFR+ for any number of players, NashConv.

The truth check of the search: in a game of, say, two suits of four ranks every strategy can be measured exactly.
With more than two players, or own points as utility, CFR has no guarantee; NashConv says how far the result is
from an equilibrium (0 would be one).
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from game.truff.deal import Deal, Phase, View
from game.truff.rules import Rules
from solver.jit import njit

_TERMINAL, _ROOT = -1, -2


@dataclass(frozen=True)
class FlatGame:
    """A game tree in preorder; node 0 is the chance node that deals the hands, all deals equally likely.

    Per node: player (or terminal -1, root -2), infoset, parent, action (index at the parent), level (own earlier
    actions of the player to move), payoffs float64[nodes, players] (0 but at terminals). Per infoset: actions
    (tuple of action numbers), view of a player in it. offsets int64[infosets + 1] places infosets in a strategy
    vector.
    """

    player: np.ndarray
    infoset: np.ndarray
    parent: np.ndarray
    action: np.ndarray
    level: np.ndarray
    payoffs: np.ndarray
    offsets: np.ndarray
    actions: list[tuple[int, ...]]
    views: list[View]
    deals: int


def flatten(rules: Rules, max_nodes: int = 4_000_000) -> FlatGame:
    """The whole tree of a small game; ValueError as soon as it has more than `max_nodes` nodes."""
    rows: list[tuple[int, int, int, int, int]] = [(_ROOT, 0, -1, 0, 0)]
    payoffs: list[tuple[int, tuple[float, ...]]] = []
    index: dict[str, int] = {}
    actions: list[tuple[int, ...]] = []
    views: list[View] = []

    def walk(deal: Deal, parent: int, action: int, levels: tuple[int, ...]) -> None:
        node = len(rows)
        if node >= max_nodes:
            raise ValueError(f"the game has more than {max_nodes} nodes")
        if deal.phase is Phase.OVER:
            rows.append((_TERMINAL, 0, parent, action, 0))
            payoffs.append((node, tuple(deal.utilities())))
            return
        seat = deal.to_move
        view = deal.view(seat)
        key = str(view)
        legal = deal.legal_actions()
        infoset = index.setdefault(key, len(index))
        if infoset == len(actions):
            actions.append(tuple(legal))
            views.append(view)
        rows.append((seat, infoset, parent, action, levels[seat]))
        deeper = (*levels[:seat], levels[seat] + 1, *levels[seat + 1 :])
        for i, choice in enumerate(legal):
            child = deal.copy()
            child.apply(choice)
            walk(child, node, i, deeper)

    deals = list(_all_deals(rules.pack, rules.tricks))
    for number, hands in enumerate(deals):
        walk(Deal.from_hands(hands, rules), 0, number, (0,) * rules.players)
    player, infoset, parent, action, level = np.array(rows, dtype=np.int32).T.copy()
    values = np.zeros((len(rows), rules.players))
    for node, payoff in payoffs:
        values[node] = payoff
    offsets = np.concatenate([[0], np.cumsum([len(a) for a in actions])]).astype(np.int64)
    return FlatGame(player, infoset, parent, action, level, values, offsets, actions, views, len(deals))


def _all_deals(cards: tuple[int, ...], size: int) -> list[list[tuple[int, ...]]]:
    if not cards:
        return [[]]
    return [
        [hand, *rest]
        for hand in combinations(cards, size)
        for rest in _all_deals(tuple(card for card in cards if card not in hand), size)
    ]


@njit
def _reaches(
    player: np.ndarray,
    infoset: np.ndarray,
    parent: np.ndarray,
    action: np.ndarray,
    offsets: np.ndarray,
    strategy: np.ndarray,
    reach: np.ndarray,
) -> None:
    """Fill reach float64[nodes, players]: each player's own chance to reach each node."""
    reach[0] = 1.0
    for i in range(1, len(player)):
        up = parent[i]
        for p in range(reach.shape[1]):
            reach[i, p] = reach[up, p]
        if player[up] >= 0:
            reach[i, player[up]] *= strategy[offsets[infoset[up]] + action[i]]


@njit
def _values(
    player: np.ndarray,
    infoset: np.ndarray,
    parent: np.ndarray,
    action: np.ndarray,
    payoffs: np.ndarray,
    offsets: np.ndarray,
    strategy: np.ndarray,
    deals: int,
    values: np.ndarray,
) -> None:
    """Fill values float64[nodes, players]: expected payoffs from each node on."""
    values[:] = payoffs
    for i in range(len(player) - 1, 0, -1):
        up = parent[i]
        chance = strategy[offsets[infoset[up]] + action[i]] if player[up] >= 0 else 1.0 / deals
        for p in range(values.shape[1]):
            values[up, p] += chance * values[i, p]


@njit
def _others_reach(reach: np.ndarray, node: int, player: int) -> float:
    """Chance that the players but `player` reach the node."""
    product = 1.0
    for p in range(reach.shape[1]):
        if p != player:
            product *= reach[node, p]
    return product


@njit
def _add_regrets(
    player: np.ndarray,
    infoset: np.ndarray,
    parent: np.ndarray,
    action: np.ndarray,
    offsets: np.ndarray,
    reach: np.ndarray,
    values: np.ndarray,
    regrets: np.ndarray,
    weight: float,
    strategy: np.ndarray,
    total: np.ndarray,
) -> None:
    """One CFR+ update of all players: regrets clipped at 0, average strategy weighted by `weight` and own reach."""
    for i in range(1, len(player)):
        up = parent[i]
        p = player[up]
        if p >= 0:
            at = offsets[infoset[up]] + action[i]
            regrets[at] += _others_reach(reach, up, p) * (values[i, p] - values[up, p])
            total[at] += weight * reach[up, p] * strategy[at]
    for at in range(len(regrets)):
        regrets[at] = max(regrets[at], 0.0)


@njit
def _normalise(offsets: np.ndarray, weights: np.ndarray, strategy: np.ndarray) -> None:
    """Strategy in proportion to the weights of each infoset, uniform where they are all 0."""
    for h in range(len(offsets) - 1):
        start, end = offsets[h], offsets[h + 1]
        mass = weights[start:end].sum()
        for at in range(start, end):
            strategy[at] = weights[at] / mass if mass > 0.0 else 1.0 / (end - start)


def uniform(game: FlatGame) -> np.ndarray:
    """The strategy that mixes all actions of every infoset equally."""
    sizes = np.diff(game.offsets)
    return np.repeat(1.0 / sizes, sizes)


def solve(game: FlatGame, iterations: int, progress: Callable[[int], None] = lambda done: None) -> np.ndarray:
    """Average strategy of CFR+ (Tammelin 2014) with simultaneous updates and linear weights."""
    shape = game.payoffs.shape
    reach, values = np.empty(shape), np.empty(shape)
    regrets, total = np.zeros(game.offsets[-1]), np.zeros(game.offsets[-1])
    strategy = uniform(game)
    tree = (game.player, game.infoset, game.parent, game.action)
    for iteration in range(1, iterations + 1):
        _reaches(*tree, game.offsets, strategy, reach)
        _values(*tree, game.payoffs, game.offsets, strategy, game.deals, values)
        _add_regrets(*tree, game.offsets, reach, values, regrets, float(iteration), strategy, total)
        _normalise(game.offsets, regrets, strategy)
        progress(iteration)
    _normalise(game.offsets, total, strategy)
    return strategy


def expected_payoffs(game: FlatGame, strategy: np.ndarray) -> np.ndarray:
    """Expected utility of every player, float64[players]."""
    values = np.empty(game.payoffs.shape)
    tree = (game.player, game.infoset, game.parent, game.action)
    _values(*tree, game.payoffs, game.offsets, strategy, game.deals, values)
    return values[0]


def best_response_value(game: FlatGame, strategy: np.ndarray, player: int) -> float:
    """What `player` gets with an exact best response to the others' strategy."""
    tree = (game.player, game.infoset, game.parent, game.action)
    reach, values = np.empty(game.payoffs.shape), np.empty(game.payoffs.shape)
    _reaches(*tree, game.offsets, strategy, reach)
    response = strategy.copy()
    mine = game.player == player
    # With perfect recall an infoset's nodes share the number of own earlier actions: settle the deepest first.
    for level in range(int(game.level[mine].max()), -1, -1):
        _values(*tree, game.payoffs, game.offsets, response, game.deals, values)
        _greedy(*tree, game.offsets, game.level, level, player, reach, values, response)
    return float(expected_payoffs(game, response)[player])


@njit
def _greedy(
    player: np.ndarray,
    infoset: np.ndarray,
    parent: np.ndarray,
    action: np.ndarray,
    offsets: np.ndarray,
    level: np.ndarray,
    wanted: int,
    hero: int,
    reach: np.ndarray,
    values: np.ndarray,
    response: np.ndarray,
) -> None:
    """Make the hero's infosets of one level choose their best action against the others."""
    worth = np.zeros(len(response))
    touched = np.zeros(len(offsets) - 1, dtype=np.bool_)
    for i in range(1, len(player)):
        up = parent[i]
        if player[up] == hero and level[up] == wanted:
            worth[offsets[infoset[up]] + action[i]] += _others_reach(reach, up, hero) * values[i, hero]
            touched[infoset[up]] = True
    for h in range(len(touched)):
        if touched[h]:
            start, end = offsets[h], offsets[h + 1]
            best = start + np.argmax(worth[start:end])
            response[start:end] = 0.0
            response[best] = 1.0


def nash_conv(game: FlatGame, strategy: np.ndarray) -> float:
    """Sum over the players of what an exact best response gains; 0 at an equilibrium."""
    own = expected_payoffs(game, strategy)
    return float(sum(best_response_value(game, strategy, p) - own[p] for p in range(len(own))))


def seat_losses(game: FlatGame, strategy: np.ndarray, other: np.ndarray) -> np.ndarray:
    """What each player loses by playing `other` while the rest stay with `strategy`, float64[players]."""
    own = expected_payoffs(game, strategy)
    losses = np.empty(len(own))
    for player in range(len(own)):
        mixed = strategy.copy()
        for h, view in enumerate(game.views):
            if view.seat == player:
                part = slice(game.offsets[h], game.offsets[h + 1])
                mixed[part] = other[part]
        losses[player] = own[player] - expected_payoffs(game, mixed)[player]
    return losses


def with_play(
    game: FlatGame, strategy: np.ndarray, choose: Callable[[View, tuple[int, ...]], int]
) -> np.ndarray:
    """The strategy with every decision of the play replaced by `choose(view, legal cards)`; bids and modes stay."""
    replaced = strategy.copy()
    for h, view in enumerate(game.views):
        if view.phase is Phase.PLAY and len(game.actions[h]) > 1:
            at = game.offsets[h]
            replaced[at : game.offsets[h + 1]] = 0.0
            replaced[at + game.actions[h].index(choose(view, game.actions[h]))] = 1.0
    return replaced
