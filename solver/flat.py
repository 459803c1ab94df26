"""Two-player zero-sum games flattened once into arrays, in sequence form.

A *sequence* of a player is the list of own infosets and actions that leads somewhere; with perfect recall
every infoset is reached by exactly one own sequence, so the sequences of a player form a tree, and a payoff
belongs to a pair of sequences. Chance is folded into the payoffs (von Stengel 1996, "Efficient computation
of behavior strategies", Games and Economic Behavior 14).

Layout. Sequence 0 is the empty one. Infosets are sorted by (own depth, number of actions) and equal ones form
a *group*; inside a group sequences are stored action by action, so that a kernel walks each group with
plain loops over neighbouring infosets, forwards from parents to children or backwards from children to
parents, and the compiler can use vector instructions.
"""

import hashlib
import math
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyspiel

MAX_STATES = 5_000_000
"""Default limit of `flatten`: half a minute for games written in C++, five minutes for Python ones."""

_PROGRESS_STEP = 1 << 12
_BYTES_PER_STATE = 400  # measured: 110 on liars_dice, 310 on a small python_truco (longer strings)
_SOLVER_ARRAYS = 5  # float64 per sequence: strategy, reach, regrets, strategy sum and the values of a pass


class Tree(NamedTuple):
    """The infosets and sequences of one player (H infosets, S sequences, G groups); all arrays int32.

    Infoset `group_starts[g] + i` has `group_actions[g]` actions; its action a is sequence
    `group_sequences[g] + a * size + i`, where `size` is the number of infosets of group g.
    """

    parents: np.ndarray
    """(H,) the sequence that leads to the infoset."""
    group_starts: np.ndarray
    """(G + 1,) first infoset of each group, then H."""
    group_actions: np.ndarray
    """(G,) number of actions at each infoset of the group."""
    group_sequences: np.ndarray
    """(G + 1,) first sequence of each group, then S."""

    def blocks(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield for each group its first infoset and its sequences, shape (infosets, actions)."""
        for g, actions in enumerate(self.group_actions):
            sequences = np.arange(self.group_sequences[g], self.group_sequences[g + 1])
            yield int(self.group_starts[g]), sequences.reshape(actions, -1).T


class Payoffs(NamedTuple):
    """What one player gets, by sequences of the *opponent*, in compressed sparse rows.

    Row s (a sequence of the opponent) has the entries `starts[s]` to `starts[s + 1]`. With rows of the
    opponent a sweep can skip the many sequences that his current strategy never plays.
    """

    starts: np.ndarray
    """(opponent's S + 1,) int32"""
    columns: np.ndarray
    """(entries,) int32, sequences of the player"""
    values: np.ndarray
    """(entries,) float64, sum over the terminal states of chance probability times utility of the player"""


@dataclass(frozen=True)
class GameSize:
    """Exact counts of a flat game, and what it and its solver occupy in bytes."""

    states: int
    """Nodes of the game tree that were visited, chance and terminal ones included."""
    infosets: tuple[int, int]
    sequences: tuple[int, int]
    payoffs: int
    game_bytes: int
    solver_bytes: int
    """What a `FlatSolver` of the game will allocate."""


@dataclass(frozen=True)
class SizeEstimate:
    """Size of a game tree by random probing, known before anything is built; an order of magnitude."""

    states: float

    @property
    def flatten_bytes(self) -> float:
        """Peak memory of `flatten` in bytes."""
        return self.states * _BYTES_PER_STATE


@dataclass(frozen=True)
class FlatGame:
    """A game as arrays; each pair is indexed by player."""

    game: pyspiel.Game
    states: int
    trees: tuple[Tree, Tree]
    payoffs: tuple[Payoffs, Payoffs]
    actions: tuple[np.ndarray, np.ndarray]
    """(S,) int32 each: the OpenSpiel action that ends a sequence, -1 for the empty sequence."""
    infostates: tuple[tuple[str, ...], tuple[str, ...]]
    """H information state strings each."""
    histories: tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]
    """H histories (chance actions included) each: one way to reach the infoset."""

    @property
    def size(self) -> GameSize:
        """Counts and memory; cheap."""
        arrays = [*self.trees[0], *self.trees[1], *self.payoffs[0], *self.payoffs[1], *self.actions]
        sequences = (len(self.actions[0]), len(self.actions[1]))
        return GameSize(
            states=self.states,
            infosets=(len(self.infostates[0]), len(self.infostates[1])),
            sequences=sequences,
            payoffs=len(self.payoffs[0].values),
            game_bytes=sum(a.nbytes for a in arrays),
            solver_bytes=8 * _SOLVER_ARRAYS * sum(sequences),
        )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over infosets, actions and payoffs: equal for equal games, and only for them."""
        digest = hashlib.sha256()
        for player in (0, 1):
            for part in (*self.trees[player], *self.payoffs[player], self.actions[player]):
                digest.update(str(part.shape).encode() + part.tobytes())
            digest.update("\0".join(self.infostates[player]).encode())
        return digest.hexdigest()


def estimate_size(game: pyspiel.Game, probes: int = 500, seed: int = 0) -> SizeEstimate:
    """Estimate the number of states from `probes` random walks, in milliseconds to a second.

    Each walk multiplies the numbers of choices it meets (Knuth 1975, "Estimating the efficiency of backtrack
    programs"). The mean is unbiased but skewed: mostly somewhat low, now and then far too high.
    """
    rng = np.random.default_rng(seed)
    total = 0.0
    for _ in range(probes):
        state, width = game.new_initial_state(), 1.0
        total += 1.0
        while not state.is_terminal():
            actions = state.legal_actions()
            width *= len(actions)
            total += width
            state.apply_action(actions[rng.integers(len(actions))])
    return SizeEstimate(total / probes)


def flatten(
    game: pyspiel.Game,
    *,
    max_states: int = MAX_STATES,
    merge_deals: bool = False,
    progress: Callable[[int, float], None] | None = None,
) -> FlatGame:
    """Walk the whole game tree once and return it as arrays.

    With `merge_deals`, states of the opening chance moves in which both players' information state strings
    agree are taken as one. That is right only where the two strings together determine the state, as in
    Truco, where it saves the orders in which the same cards can be dealt. `progress` is called now and then
    with the states done and the fraction of the tree done (each branch of a state counting alike).

    Raises ValueError if the game does not fit: not two players, not zero-sum, not sequential, chance not
    explicit, no information state strings, imperfect recall, legal actions that differ within an infoset, or
    more than `max_states` states. A game far above the limit is refused by `estimate_size`, before the walk.
    """
    _check_type(game)
    estimate = estimate_size(game)
    # The estimate is unbiased and positive, so (Markov) at most once in 100 it exceeds 100 times the truth.
    if estimate.states > 100 * max_states * (_deal_orders(game) if merge_deals else 1):
        raise ValueError(_too_large(game, max_states, estimate))
    walk = _Walk(game, estimate, max_states, progress)
    deals = walk.merged_deals() if merge_deals else [(game.new_initial_state(), 1.0)]
    for state, chance in deals:
        walk.visit(state, chance, 1.0 / len(deals))
    return walk.flat_game()


def _check_type(game: pyspiel.Game) -> None:
    kind, name = game.get_type(), str(game)
    if game.num_players() != 2:
        raise ValueError(f"{name} has {game.num_players()} players; only two-player games can be flattened")
    if kind.utility != pyspiel.GameType.Utility.ZERO_SUM:
        raise ValueError(f"{name} is not zero-sum")
    if kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        raise ValueError(f"{name} is not sequential (players move at the same time)")
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise ValueError(f"{name} samples its chance; only explicit chance can be flattened")
    if not kind.provides_information_state_string:
        raise ValueError(f"{name} has no information state strings")


def _deal_orders(game: pyspiel.Game) -> int:
    """Return the number of orders of the opening chance moves."""
    state, moves = game.new_initial_state(), 0
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
        moves += 1
    return math.factorial(moves)


def _too_large(game: pyspiel.Game, max_states: int, estimate: SizeEstimate) -> str:
    return (
        f"{game} has more than max_states = {max_states:,} states: about {estimate.states:.2g}, "
        f"{estimate.flatten_bytes / 1e9:.2g} GB while flattening"
    )


class _Layout(NamedTuple):
    """The part of one player in a flat game, and the final number of each sequence of the walk."""

    tree: Tree
    renumber: np.ndarray
    actions: np.ndarray
    infostates: tuple[str, ...]
    histories: tuple[tuple[int, ...], ...]


class _Infosets:
    """The infosets of one player in order of discovery, sequences numbered as they come."""

    def __init__(self) -> None:
        self.index: dict[str, int] = {}
        self.parents, self.levels, self.first_sequence = array("q"), array("q"), array("q")
        self.legal: list[tuple[int, ...]] = []
        self.histories: list[tuple[int, ...]] = []
        self.owners = array("q", [-1])  # infoset of each sequence

    def add(self, infostate: str, parent: int, legal: tuple[int, ...], history: tuple[int, ...]) -> int:
        infoset = self.index[infostate] = len(self.legal)
        owner = self.owners[parent]
        self.parents.append(parent)
        self.levels.append(0 if owner < 0 else self.levels[owner] + 1)
        self.first_sequence.append(len(self.owners))
        self.legal.append(legal)
        self.histories.append(history)
        self.owners.extend([infoset] * len(legal))
        return infoset

    def layout(self) -> _Layout:
        levels = np.array(self.levels, np.int64)
        counts = np.array([len(legal) for legal in self.legal], np.int64)
        order = np.lexsort((counts, levels))
        new_group = (np.diff(levels[order], prepend=-1) != 0) | (np.diff(counts[order], prepend=-1) != 0)
        starts = np.append(np.flatnonzero(new_group), len(order))
        sizes = np.diff(starts)
        actions_of_group = counts[order][starts[:-1]]
        sequences = np.concatenate([[1], 1 + np.cumsum(sizes * actions_of_group)])
        group = np.repeat(np.arange(len(sizes)), sizes)
        first, stride = np.empty_like(order), np.empty_like(order)
        first[order] = sequences[group] + np.arange(len(order)) - starts[group]
        stride[order] = sizes[group]
        owners = np.array(self.owners[1:], np.int64)
        position = np.arange(1, len(self.owners)) - np.array(self.first_sequence, np.int64)[owners]
        renumber = np.append(0, first[owners] + position * stride[owners])
        actions = np.full(len(renumber), -1, np.int32)
        actions[renumber[1:]] = [action for legal in self.legal for action in legal]
        fields = (
            renumber[np.array(self.parents, np.int64)[order]],
            starts,
            actions_of_group,
            sequences,
        )
        infostates = tuple(self.index)
        return _Layout(
            tree=Tree(*(field.astype(np.int32) for field in fields)),
            renumber=renumber,
            actions=actions,
            infostates=tuple(infostates[infoset] for infoset in order),
            histories=tuple(self.histories[infoset] for infoset in order),
        )


class _Walk:
    """One walk over a game tree: what has been found so far."""

    def __init__(
        self,
        game: pyspiel.Game,
        estimate: SizeEstimate,
        max_states: int,
        progress: Callable[[int, float], None] | None,
    ) -> None:
        self.game, self.estimate, self.max_states, self.progress = game, estimate, max_states, progress
        self.states = 0
        self.fraction = 0.0
        self.infosets = (_Infosets(), _Infosets())
        # One entry for each terminal state: a sequence of each player, and chance times utility of player 0.
        self.terminal_sequences = (array("q"), array("q"))
        self.terminal_values = array("d")

    def count(self) -> None:
        self.states += 1
        if self.states > self.max_states:
            raise ValueError(_too_large(self.game, self.max_states, self.estimate))
        if self.progress and self.states % _PROGRESS_STEP == 0:
            self.progress(self.states, self.fraction)

    def merged_deals(self) -> list[tuple[Any, float]]:
        """Return the states after the opening chance moves, equal ones merged, with their probabilities."""
        done, frontier = [], [(self.game.new_initial_state(), 1.0)]
        while frontier:
            following: dict[tuple[str, ...], tuple[Any, float]] = {}
            for state, chance in frontier:
                if not state.is_chance_node():
                    done.append((state, chance))
                    continue
                self.count()
                for action, probability in state.chance_outcomes():
                    child = state.child(action)
                    key = tuple(map(child.information_state_string, (0, 1)))
                    same, weight = following.get(key, (child, 0.0))
                    following[key] = (same, weight + chance * probability)
            frontier = list(following.values())
        return done

    def visit(self, root: Any, root_chance: float, root_share: float) -> None:
        """Walk the tree below a state in which no player has moved yet; its share is of the whole tree."""
        stack = [(root, (0, 0), root_chance, root_share)]
        while stack:
            state, sequences, chance, share = stack.pop()
            self.count()
            if state.is_terminal():
                self.add_terminal(state, sequences, chance)
                self.fraction += share
            elif state.is_chance_node():
                outcomes = state.chance_outcomes()
                for action, probability in outcomes:
                    stack.append(
                        (state.child(action), sequences, chance * probability, share / len(outcomes))
                    )
            else:
                player = state.current_player()
                moves = self.enter(state, player, sequences[player])
                for action, sequence in moves:
                    after = (sequence, sequences[1]) if player == 0 else (sequences[0], sequence)
                    stack.append((state.child(action), after, chance, share / len(moves)))

    def enter(self, state: Any, player: int, parent: int) -> list[tuple[int, int]]:
        """Return each legal action with its sequence; adds the infoset, or checks it if it is known."""
        infosets = self.infosets[player]
        infostate, legal = state.information_state_string(player), tuple(state.legal_actions())
        infoset = infosets.index.get(infostate)
        if infoset is None:
            if infostate in self.infosets[1 - player].index:
                raise ValueError(f"information state {infostate!r} belongs to both players")
            infoset = infosets.add(infostate, parent, legal, tuple(state.history()))
        elif infosets.parents[infoset] != parent:
            raise ValueError(
                f"imperfect recall: information state {infostate!r} follows different own actions"
            )
        elif infosets.legal[infoset] != legal:
            raise ValueError(
                f"information state {infostate!r} has different legal actions in different states"
            )
        first = infosets.first_sequence[infoset]
        return [(action, first + position) for position, action in enumerate(legal)]

    def add_terminal(self, state: Any, sequences: tuple[int, int], chance: float) -> None:
        utility = state.returns()
        if abs(utility[0] + utility[1]) > 1e-9:
            raise ValueError(f"utilities {utility} of a terminal state do not add to zero")
        for ends, sequence in zip(self.terminal_sequences, sequences, strict=True):
            ends.append(sequence)
        self.terminal_values.append(chance * utility[0])

    def flat_game(self) -> FlatGame:
        one, two = self.infosets[0].layout(), self.infosets[1].layout()
        ends_one = one.renumber[np.array(self.terminal_sequences[0], np.int64)]
        ends_two = two.renumber[np.array(self.terminal_sequences[1], np.int64)]
        values, shape = np.array(self.terminal_values), (len(one.actions), len(two.actions))
        return FlatGame(
            game=self.game,
            states=self.states,
            trees=(one.tree, two.tree),
            payoffs=(
                _payoffs(ends_two, ends_one, values, shape[::-1]),
                _payoffs(ends_one, ends_two, -values, shape),
            ),
            actions=(one.actions, two.actions),
            infostates=(one.infostates, two.infostates),
            histories=(one.histories, two.histories),
        )


def _payoffs(rows: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: tuple[int, int]) -> Payoffs:
    """Compress entries into sparse rows: equal places summed, zeros left out, columns ascending."""
    places, place = np.unique(rows * shape[1] + columns, return_inverse=True)
    sums = np.bincount(place, weights=values, minlength=len(places))
    places, sums = places[sums != 0], sums[sums != 0]
    starts = np.searchsorted(places, np.arange(shape[0] + 1) * shape[1])
    return Payoffs(starts.astype(np.int32), (places % shape[1]).astype(np.int32), sums)
