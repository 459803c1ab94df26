"""How often a policy takes each action in trick 1 before any Envido is accepted, counted over all deals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from game.truco.actions import ENVIDO, FALTA_ENVIDO
from solver.truco.reading.questions import (
    ACTIONS,
    ANSWER_ENVIDO,
    ANSWER_TRUCO,
    ANY,
    HANDS,
    TURN,
    Census,
    Question,
    can_occur,
    rows_by,
    strength_tenth,
)
from solver.truco.vector.model.holdings import Holdings
from solver.truco.vector.model.trees import TrunkNode, build_trunk
from solver.truco.vector.policy.compact import CompactPolicy
from solver.truco.vector.policy.reach import Reached, TrunkReach

_CHAIN = {"E": 4, "RE": 2, "FE": 1}
_CALLS = ("T", "R", "V")


def covers(question: Question) -> bool:
    """Whether all decisions of this kind lie in the trunk: trick 1 with no Envido accepted."""
    if question.decision == ANSWER_ENVIDO:
        return True
    # While an Envido may still be opened none was accepted.
    return question.envido_open == 1 and (question.decision == ANSWER_TRUCO or question.trick == 0)


def _asks(question: Question, node: TrunkNode) -> bool:
    """Whether a node of the trunk is a decision of this kind; `census.asks` on states."""
    said = [word for word, _ in node.history]
    calls = sum(word in _CALLS for word in said)
    opens = int(any(ENVIDO <= word <= FALTA_ENVIDO for word in node.words))
    holds = lambda condition, actual: condition in (ANY, actual)  # noqa: E731
    if node.player != question.seat:
        return False
    if not node.plays and said[-1] in _CHAIN:
        chain = sum(_CHAIN.get(word, 0) for word in said)
        return question.decision == ANSWER_ENVIDO and holds(question.call, chain)
    if not holds(question.envido_open, opens):
        return False
    if not node.plays:
        return question.decision == ANSWER_TRUCO and question.call == 1 + calls
    return (
        question.decision == TURN
        and holds(question.trick, 0)
        and holds(question.on_table, int(node.posted))
        and holds(question.round_value, 1 + calls)
    )


def count_decisions(compact: CompactPolicy, asked: Sequence[tuple[Question, str]]) -> list[Census]:
    """As `census.take_census` for questions that this module `covers`, with all deals in place of hands played.

    Decisions are expected numbers in as many hands as there are deals. Infosets that the policy dropped count as
    unknown. No kernel is run, so the first answer after installing compiles nothing.
    """
    info, holdings = compact.info, compact.holdings
    trunk = build_trunk(info.make_rules(), info.score, info.make_equity())
    deals, classes = holdings.num_deals, holdings.num_classes
    of_class = _hands_of_classes(holdings)
    worth = compact.worth()
    found = [np.zeros((3, len(ACTIONS), classes)) for _ in asked]
    seen, unknown = np.zeros((len(asked), classes)), np.zeros((len(asked), classes))
    wanted = lambda node: any(_asks(question, node) for question, _ in asked)  # noqa: E731
    walk = TrunkReach(holdings, trunk, compact.trunk(), wanted)
    nodes = [(node, value) for node, value in zip(trunk.nodes, worth, strict=True) if wanted(node)]
    for (node, value), here in zip(nodes, walk, strict=True):
        for q, (question, _) in enumerate(asked):
            if _asks(question, node):
                _add(holdings, node, here, value.reshape(here.sums.shape), found[q], seen[q], unknown[q])
    censuses = []
    for q, (question, by) in enumerate(asked):
        labels, rows = rows_by(by)
        tenth = strength_tenth(HANDS[:, :2])
        row_of = rows[np.arange(len(HANDS)), tenth]
        size = len(next(iter(labels.values())))

        def by_rows(of: np.ndarray, row_of: np.ndarray = row_of, size: int = size) -> np.ndarray:
            """Sums over classes [..., classes] as sums over rows [rows, ...]; hands of a class are alike."""
            a_hand = of / np.bincount(of_class, minlength=of.shape[-1])
            out = np.zeros((size, *of.shape[:-1]))
            np.add.at(out, row_of, np.moveaxis(a_hand[..., of_class], -1, 0))
            return out

        met, lost = by_rows(seen[q]), by_rows(unknown[q])
        sums = by_rows(found[q])
        whole = np.rint(met * deals)
        # Shares and values are kept where rounding to whole decisions leaves any.
        sums *= np.where(met > 0, whole / np.where(met > 0, met, 1), 0)[:, None, None]
        here_rows = np.flatnonzero(can_occur(question, rows))
        censuses.append(
            Census(
                question,
                {name: names[here_rows] for name, names in labels.items()},
                deals,
                info.equity is not None,
                sums[here_rows],
                whole.astype(np.int64)[here_rows],
                np.rint(lost * deals).astype(np.int64)[here_rows],
                exact=True,
            )
        )
    return censuses


def _hands_of_classes(holdings: Holdings) -> np.ndarray:
    """Class of each of HANDS, int64 [9880]."""
    return holdings.classes_of(HANDS)


def _add(
    holdings: Holdings, node: TrunkNode, here: Reached, worth: np.ndarray, found: np.ndarray, seen: np.ndarray,
    unknown: np.ndarray,
) -> None:  # fmt: skip
    """Adds a node to sums over classes: mix, value and how many values [3, ACTIONS, classes], seen and unknown."""
    mass = here.own * here.other * here.share
    total = here.sums.sum(axis=0)
    kept = total > 0
    mix = here.sums / np.where(kept, total, 1)

    def add(to: np.ndarray, what: np.ndarray) -> None:
        if node.posted and node.player == 0:
            np.add.at(to, holdings.after.cls, what)
        else:
            to += what.sum(axis=0) if what.ndim == 2 else what

    add(seen, np.where(kept, mass, 0.0))
    add(unknown, np.where(kept, 0.0, mass))
    mass = np.where(kept, mass, 0.0)
    if node.plays:
        legal = holdings.class_slot_legal.T
        legal = np.broadcast_to(legal if not node.posted else legal[:, None, :], mix[:3].shape)
        play = mix[:3].sum(axis=0)
        best = np.where(legal, worth[:3], -np.inf).max(axis=0)
        value = np.where(play > 0, (mix[:3] * worth[:3]).sum(axis=0) / np.where(play > 0, play, 1), best)
        add(found[0, 0], mass * play)
        add(found[1, 0], mass * value)
        add(found[2, 0], mass)
    for k, word in enumerate(node.words):
        column = 1 if word < ENVIDO else word - ENVIDO + 2
        action = 3 * node.plays + k
        add(found[0, column], mass * mix[action])
        add(found[1, column], mass * worth[action])
        add(found[2, column], mass)
