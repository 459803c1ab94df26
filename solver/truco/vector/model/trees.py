"""The public betting trees of a hand: trick 1 while Envido is not accepted, and one trick once Envido is closed.

Cards are left out: a player plays "a card" and the holdings say which. Mazo on one's own turn is kept only while
Envido may still be called: afterwards it pays what declining the next Truco pays at worst, so leaving it out costs
nothing (weakly dominated).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from game.truco.actions import ENVIDO, FALTA_ENVIDO, MAZO, NO_QUIERO, QUIERO, TRUCO
from game.truco.cards import DECK_SIZE
from game.truco.equity import EquityTable
from game.truco.hand import Decision, Hand
from game.truco.rules import Rules
from solver.jit import kernel

TURN, ANSWER = 0, 1
NO_CHILD = -1
LEAF = 1 << 20
"""Child codes from LEAF on are leaves of a trick tree: both cards are on the table."""
TERMINAL = -10
"""Child codes TERMINAL - (5 x winner's role + points) end the hand."""


Target = tuple[str, int]
"""(node, terminal, exit or accept; number) in the trunk."""


def terminal_code(winner: int, points: int) -> int:
    """Child code of a hand that ends for this role (0 leader, 1 follower) and points."""
    return TERMINAL - 5 * winner - points


@kernel
def terminal_parts(code: int) -> tuple[int, int]:
    """(Winner's role, points) of a code up to TERMINAL, the inverse of `terminal_code`."""
    return (TERMINAL - code) // 5, (TERMINAL - code) % 5


@kernel
def terminal_worth(code: int, own: int, gains: np.ndarray) -> float:
    """Utility of a code up to TERMINAL for the player in role `own`; gains [2, 5]: his by (he wins, he loses) and
    points.
    """
    winner, points = terminal_parts(code)
    return gains[0 if winner == own else 1, points]


def raisers(level: int, caller: int, rules: Rules) -> int:
    """Bit mask of the players (bit 0, bit 1) who may call the next Truco level on a later turn (A-5).

    `caller` made the latest accepted call, -1 if there was none.
    """
    if level == 4:
        return 0
    return 3 if caller < 0 or rules.raise_right == "any" else 1 << (1 - caller)


@dataclass(frozen=True)
class TrickTree:
    """Betting of one trick after Envido is closed: role 0 leads a card, role 1 follows; arrays over nodes.

    Node 0 is the root. The children of a TURN are (play, raise), of an ANSWER (quiero, no quiero, raise): node
    numbers, NO_CHILD, TERMINAL codes or LEAF + leaf number. Play in stage 0 leads on to a node of stage 1.
    """

    kind: np.ndarray
    role: np.ndarray
    stage: np.ndarray
    """0 until the leader has played, 1 afterwards."""
    child: np.ndarray
    """int32 [nodes, 3]."""
    leaves: tuple[tuple[int, int], ...]
    """(level, mask of who may raise: bit 0 leader, bit 1 follower) where both cards are on the table."""


def trick_tree(
    rules: Rules, level: int, mask: int, stage: int = 0, pending: tuple[int, int] | None = None
) -> TrickTree:
    """The tree from a round value and right to raise; with `pending` = (call level, role that called) that call is
    to be answered first.
    """
    kind: list[int] = []
    role: list[int] = []
    stages: list[int] = []
    child: list[list[int]] = []
    leaves: list[tuple[int, int]] = []

    def node(node_kind: int, node_role: int, node_stage: int) -> int:
        kind.append(node_kind)
        role.append(node_role)
        stages.append(node_stage)
        child.append([NO_CHILD] * 3)
        return len(kind) - 1

    def turn(player: int, at: int, value: int, may_raise: int) -> int:
        number = node(TURN, player, at)
        if at == 0:
            child[number][0] = turn(1 - player, 1, value, may_raise)
        else:
            child[number][0] = LEAF + len(leaves)
            leaves.append((value, may_raise))
        if value < 4 and may_raise >> player & 1:
            child[number][1] = answer(1 - player, at, value + 1, player)
        return number

    def answer(responder: int, at: int, call: int, on_turn: int) -> int:
        number = node(ANSWER, responder, at)
        child[number][0] = turn(on_turn, at, call, raisers(call, 1 - responder, rules))
        child[number][1] = terminal_code(1 - responder, call - 1)
        if call < 4:
            child[number][2] = answer(1 - responder, at, call + 1, on_turn)
        return number

    if pending is None:
        turn(stage, stage, level, mask)
    else:
        answer(1 - pending[1], stage, pending[0], stage)
    as_array = lambda rows: np.array(rows, np.int32)  # noqa: E731
    return TrickTree(as_array(kind), as_array(role), as_array(stages), as_array(child), tuple(leaves))


@dataclass(frozen=True)
class Payoffs:
    """Utility of a hand that is still on: for mano, by winner (0 mano, 1 pie) and Truco points 1-4.

    `base` is the utility of stopping now, `extra[winner][points - 1]` what the rest adds to it.
    """

    base: float
    extra: tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True)
class Exit:
    """Trick 1 is over with Envido not accepted."""

    level: int
    caller: int
    """Who made the latest Truco call, -1 if nobody."""
    payoffs: Payoffs
    history: tuple[tuple[str, int], ...]
    """(Word or `card`, player) so far."""


@dataclass(frozen=True)
class Position:
    """Where the hand goes on in trick 1 once an Envido has been accepted and paid."""

    posted: bool
    """Whether mano's card is on the table."""
    level: int
    caller: int
    pending: int
    """Level of the unanswered Truco call, 0 if none."""


@dataclass(frozen=True)
class Accept:
    """An accepted Envido, by who wins it (0 mano, 1 pie)."""

    position: Position
    payoffs: tuple[Payoffs, Payoffs]
    over: tuple[bool, bool]
    """Whether the match ends there; then `base` is all there is."""
    history: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Terminal:
    """The hand ends in trick 1 by a fold, with mano's utility."""

    posted: bool
    utility: float


@dataclass
class TrunkNode:
    """A decision in trick 1 while Envido is open, asked or declined."""

    player: int
    posted: bool
    """Whether mano's card is on the table."""
    plays: bool
    """Whether cards may be played; they are the first three actions."""
    words: tuple[int, ...]
    """Action numbers of the words that may be said."""
    history: tuple[tuple[str, int], ...]
    children: list[tuple[str, int]] = field(default_factory=list)
    """One for each word, in order, after one for playing a card if that is allowed: (kind, number)."""

    @property
    def num_actions(self) -> int:
        """Card places, then words."""
        return 3 * self.plays + len(self.words)


@dataclass
class Trunk:
    """Trick 1 while Envido is not accepted; nodes come after their parents, node 0 is the root."""

    nodes: list[TrunkNode] = field(default_factory=list)
    terminals: list[Terminal] = field(default_factory=list)
    exits: list[Exit] = field(default_factory=list)
    accepts: list[Accept] = field(default_factory=list)


def build_trunk(rules: Rules, score: tuple[int, int], equity: EquityTable | None) -> Trunk:
    """The trunk for a score (mano, pie); utility in points, or with an equity table 2 x win probability - 1.

    Raises ValueError for revealed hands, which the vector engine does not play.
    """
    if rules.envido_reveal == "hands":
        raise ValueError("the vector engine plays envido_reveal values or buenas, not hands")
    # Calls do not depend on the deck, so the tree is walked with hands of the full one; any card is as good. Plain
    # hands, not kernels: a tree of a thousand nodes is not worth compiling for.
    full = replace(rules, deck=tuple(range(DECK_SIZE)))
    trunk = Trunk()

    def utility(mano: int, pie: int) -> float:
        """Mano's, when the hand leaves this score."""
        if equity is not None:
            return 2.0 * equity.after_hand(mano, pie) - 1.0
        return float(mano - score[0] - pie + score[1])

    def payoffs(mano: int, pie: int) -> Payoffs:
        base = utility(mano, pie)
        gain = tuple(utility(min(rules.target, mano + n), pie) - base for n in range(1, 5))
        loss = tuple(utility(mano, min(rules.target, pie + n)) - base for n in range(1, 5))
        return Payoffs(base, (gain, loss))

    def step(hand: Hand, action: int) -> Hand:
        copy = hand.copy()
        copy.apply(action)
        return copy

    def accept(hand: Hand, history: tuple[tuple[str, int], ...]) -> tuple[str, int]:
        after, over = [], []
        for cards in (_MANO_WINS, _MANO_WINS[::-1]):
            copy = hand.copy()
            copy.cards = cards
            copy.apply(QUIERO)
            after.append(payoffs(*copy.scores))
            over.append(copy.is_over)
        caller = -1 if hand.truco_caller is None else hand.truco_caller
        position = Position(bool(hand.table), hand.round_value, caller, hand.pending_truco)
        trunk.accepts.append(Accept(position, (after[0], after[1]), (over[0], over[1]), history))
        return ("accept", len(trunk.accepts) - 1)

    def visit(hand: Hand, history: tuple[tuple[str, int], ...]) -> tuple[str, int]:
        player = hand.to_move
        if player is None:
            trunk.terminals.append(Terminal(bool(hand.table), utility(*hand.scores)))
            return ("terminal", len(trunk.terminals) - 1)
        if hand.tricks:
            caller = -1 if hand.truco_caller is None else hand.truco_caller
            trunk.exits.append(Exit(hand.round_value, caller, payoffs(*hand.scores), history))
            return ("exit", len(trunk.exits) - 1)
        legal = hand.legal_actions()
        words = [action for action in legal if action >= TRUCO]
        plays = hand.decision is Decision.TURN
        asked = hand.decision is Decision.ANSWER_ENVIDO
        # In answer to a Truco mazo pays what no_quiero pays.
        if not asked and not (plays and any(ENVIDO <= word <= FALTA_ENVIDO for word in words)):
            words.remove(MAZO)
        node = TrunkNode(player, bool(hand.table), plays, tuple(words), history)
        trunk.nodes.append(node)
        number = len(trunk.nodes) - 1
        if plays:
            node.children.append(visit(step(hand, legal[0]), (*history, ("card", player))))
        for word in words:
            said = (*history, (WORD_CODES[word], player))
            node.children.append(
                accept(hand, said) if word == QUIERO and asked else visit(step(hand, word), said)
            )
        return ("node", number)

    visit(Hand(full, *_MANO_WINS, *score), ())
    return trunk


_MANO_WINS = ((3, 14, 25), (0, 11, 22))
"""Two hands, the first of which has the higher Envido value."""
WORD_CODES = {
    TRUCO: "T", TRUCO + 1: "R", TRUCO + 2: "V", ENVIDO: "E", ENVIDO + 1: "RE", FALTA_ENVIDO: "FE",
    QUIERO: "q", NO_QUIERO: "nq", MAZO: "mazo",
}  # fmt: skip


def position_tree(rules: Rules, position: Position) -> TrickTree:
    """The rest of trick 1 from a position after an accepted Envido; mano is the leader (role 0)."""
    mask = raisers(position.level, position.caller, rules)
    pending = (position.pending, position.caller) if position.pending else None
    return trick_tree(rules, position.level, mask, int(position.posted), pending)
