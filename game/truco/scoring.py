"""What a hand paid, piece by piece: Envido, Truco, folding."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from game.truco.actions import MAZO, TRUCO
from game.truco.hand import Hand


class Reason(StrEnum):
    """Why points were made."""

    ENVIDO = "envido"
    """The higher value of an accepted Envido (R-22, R-24)."""
    ENVIDO_DECLINED = "envido_declined"
    """The other said no quiero to an Envido (R-23)."""
    TRICKS = "tricks"
    """The round was won by cards (R-13)."""
    TRUCO_DECLINED = "truco_declined"
    """The other said no quiero to a Truco call (R-18)."""
    MAZO = "mazo"
    """The other folded (R-27)."""


class Award(NamedTuple):
    """Points that one player made at once."""

    player: int
    """0 = mano, 1 = pie."""
    points: int
    """As booked, so less than the stake where the target is reached (A-16)."""
    reason: Reason
    calls: tuple[int, ...]
    """What was paid for: the Envido chain; the highest accepted Truco call, or the declined one; else nothing."""


def awards(hand: Hand) -> list[Award]:
    """All points made in the hand so far, in the order made."""
    play = Hand(hand.rules, *hand.cards, *hand.start_scores)
    found = []
    for _, action in hand.history:
        before = play.copy()
        play.apply(action)
        for player in (0, 1):
            points = play.scores[player] - before.scores[player]
            if points:
                found.append(Award(player, points, *_why(before, play, action)))
    return found


def _why(before: Hand, after: Hand, action: int) -> tuple[Reason, tuple[int, ...]]:
    if action == MAZO:
        return Reason.MAZO, ()
    if before.envido_caller is not None:
        reason = Reason.ENVIDO if after.envido_accepted else Reason.ENVIDO_DECLINED
        return reason, tuple(before.envido_chain)
    if before.pending_truco:
        return Reason.TRUCO_DECLINED, (TRUCO + before.pending_truco - 2,)
    return Reason.TRICKS, (TRUCO + after.round_value - 2,) if after.round_value > 1 else ()
