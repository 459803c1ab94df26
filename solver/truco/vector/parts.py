"""Parts of the hand as games of their own, whose solutions are known or can be had exactly: Envido, and bare cards.

Both are the vector engine's game with another trunk, so that its passes and its certificates are what is checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from game.truco.actions import ENVIDO, FALTA_ENVIDO, MAZO, NO_QUIERO, QUIERO, REAL_ENVIDO
from game.truco.rules import Rules
from solver.truco.vector.model.abstraction import Abstraction
from solver.truco.vector.model.game import Game
from solver.truco.vector.model.holdings import Holdings
from solver.truco.vector.model.trees import (
    Accept,
    Exit,
    Payoffs,
    Position,
    Terminal,
    Trunk,
    TrunkNode,
    build_trunk,
)

_ENVIDO_WORDS = (ENVIDO, REAL_ENVIDO, FALTA_ENVIDO, QUIERO, NO_QUIERO)
_MERGED = Abstraction(("none",) * 4, ("none",) * 4)
"""Loses nothing here: no hand goes on after an Envido, and there is one exit without it."""
_NOTHING = ((0.0,) * 4, (0.0,) * 4)
_ONE = ((1.0,) * 4, (-1.0,) * 4)


@dataclass(frozen=True)
class ValuesOnly(Holdings):
    """Hands of one Envido value as one class: for games where no card is played."""

    @cached_property
    def _classes(self) -> tuple[np.ndarray, np.ndarray]:
        _, first, index = np.unique(self.hand_value, return_index=True, return_inverse=True)
        # No card is played, so any tiers will do: those of the first hand.
        tiers = np.sort(self.card_tier[self.hands[first]], axis=1)
        return np.column_stack([tiers, np.arange(len(first))]), index.ravel()


class EnvidoAlone(Game):
    """Envido at the start of a hand; utility is its points. No card is played: who would play one passes.

    Players know their class, or `by_value` their Envido value only, which is a game of its own: a class tells more of
    the other's cards.
    """

    def __init__(self, rules: Rules, by_value: bool = False, score: tuple[int, int] = (0, 0)) -> None:
        holdings = ValuesOnly(rules) if by_value else Holdings(rules)
        trunk = envido_trunk(build_trunk(rules, score, None))
        super().__init__(rules, score, None, _MERGED, holdings=holdings, trunk=trunk)


class CardsAlone(Game):
    """The three tricks without a word; winning the hand is worth 1, losing it -1."""

    def __init__(self, rules: Rules) -> None:
        mano = TrunkNode(0, False, True, (), (), [("node", 1)])
        pie = TrunkNode(1, True, True, (), (("card", 0),), [("exit", 0)])
        # At round value 4 there is nothing left to call.
        leaving = Exit(4, -1, Payoffs(0.0, _ONE), (("card", 0), ("card", 1)))
        super().__init__(rules, (0, 0), None, _MERGED, trunk=Trunk([mano, pie], [], [leaving], []))


def envido_trunk(whole: Trunk) -> Trunk:
    """The Envido of a trunk: the hand ends with its points once that is settled, and other words are left out.

    Passing takes the place of playing a card; among the words of a node it is MAZO.
    """
    part = Trunk()

    def end(base: float) -> tuple[str, int]:
        part.terminals.append(Terminal(False, base))
        return "terminal", len(part.terminals) - 1

    def settled(target: tuple[str, int]) -> float:
        """Mano's utility of what has been said, whatever follows: that of any exit below."""
        kind, number = target
        while kind == "node":
            kind, number = whole.nodes[number].children[0]
        return whole.exits[number].payoffs.base

    def visit(target: tuple[str, int]) -> tuple[str, int]:
        kind, number = target
        if kind == "accept":
            found = whole.accepts[number]
            worth = (Payoffs(found.payoffs[0].base, _NOTHING), Payoffs(found.payoffs[1].base, _NOTHING))
            part.accepts.append(Accept(Position(False, 4, -1, 0), worth, (True, True), found.history))
            return "accept", len(part.accepts) - 1
        if kind == "terminal":
            return end(whole.terminals[number].utility)
        if kind == "exit":
            return end(whole.exits[number].payoffs.base)
        given = whole.nodes[number]
        words = [(k, word) for k, word in enumerate(given.words) if word in _ENVIDO_WORDS]
        said = ([MAZO] if given.plays else []) + [word for _, word in words]
        node = TrunkNode(given.player, False, False, tuple(said), given.history)
        part.nodes.append(node)
        place = len(part.nodes) - 1
        if given.plays:
            node.children.append(visit(given.children[0]))
        for k, word in words:
            below = given.children[given.plays + k]
            done = word == NO_QUIERO and below[0] != "terminal"
            node.children.append(end(settled(below)) if done else visit(below))
        return "node", place

    visit(("node", 0))
    return part


def envido_program(game: EnvidoAlone, of_pie: bool = False) -> float:
    """Mano's value of Envido alone by a linear program in sequence form (Koller, Megiddo and von Stengel 1996).

    `of_pie` solves pie's program instead of mano's, with the same result.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    holdings, trunk = game.holdings, game.trunk
    values, joint = holdings.class_value, holdings.joint / holdings.num_deals
    size = len(values)
    mano_wins = values[:, None] >= values[None, :]
    count = [1, 1]  # public sequences of each player; 0 is the empty one
    infosets: list[list[tuple[int, list[int]]]] = [[], []]  # sequence before, sequences of the actions
    payoffs: list[tuple[int, int, np.ndarray]] = []

    def walk(target: tuple[str, int], at: tuple[int, int]) -> None:
        kind, number = target
        if kind == "accept":
            won, lost = (part.base for part in trunk.accepts[number].payoffs)
            payoffs.append((*at, joint * np.where(mano_wins, won, lost)))
        elif kind == "exit":
            payoffs.append((*at, joint * trunk.exits[number].payoffs.base))
        elif kind == "terminal":
            payoffs.append((*at, joint * trunk.terminals[number].utility))
        else:
            node = trunk.nodes[number]
            made = []
            for below in node.children:
                made.append(count[node.player])
                count[node.player] += 1
                walk(below, (made[-1], at[1]) if node.player == 0 else (at[0], made[-1]))
            infosets[node.player].append((at[node.player], made))

    walk(("node", 0), (0, 0))

    def plans(player: int) -> tuple[np.ndarray, np.ndarray]:
        """Realisation plans x of a player as E x = e."""
        rows, columns, entries = [], [], []
        right: list[float] = []
        for v in range(size):
            for before, made in [(-1, [0]), *infosets[player]]:
                for sequence, entry in [(before, -1.0), *((s, 1.0) for s in made)]:
                    if sequence >= 0:
                        rows.append(len(right))
                        columns.append(sequence * size + v)
                        entries.append(entry)
                right.append(float(before < 0))
        shape = (len(right), count[player] * size)
        return coo_array((entries, (rows, columns)), shape=shape).toarray(), np.array(right)

    pay = np.zeros((count[0] * size, count[1] * size))
    for mine, theirs, matrix in payoffs:
        pay[mine * size : (mine + 1) * size, theirs * size : (theirs + 1) * size] += matrix
    own, other = (1, 0) if of_pie else (0, 1)
    pay = -pay.T if of_pie else pay
    (e, e_right), (f, f_right) = plans(own), plans(other)
    # The own plan x and numbers q: most f q with F' q <= pay' x, which is what the other's best response leaves.
    n, q = e.shape[1], f.shape[0]
    found = linprog(
        np.concatenate([np.zeros(n), -f_right]),
        A_ub=np.hstack([-pay.T, f.T]), b_ub=np.zeros(f.shape[1]),
        A_eq=np.hstack([e, np.zeros((e.shape[0], q))]), b_eq=e_right,
        bounds=[(0, None)] * n + [(None, None)] * q, method="highs",
    )  # fmt: skip
    if not found.success:
        raise ArithmeticError(f"the linear program was not solved: {found.message}")
    return float(found.fun) if of_pie else -float(found.fun)
