"""What the policy of the vector engine forgets: every merge of contexts and of Envido values, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING

from game.truco.cards import MAX_ENVIDO

if TYPE_CHECKING:
    from solver.truco.vector.model.trees import Accept, Exit

VALUE_BUCKETS: dict[str, tuple[int, ...]] = {
    "exact": tuple(range(MAX_ENVIDO + 1)),
    "twelve": (0, 6, 20, 23, 25, 26, 27, 28, 29, 30, 31, 32),
    "eight": (0, 20, 23, 26, 27, 28, 30, 32),
    "five": (0, 20, 25, 28, 30),
    "none": (0,),
}
"""Least values of the buckets of Envido values taken for alike in tricks 2 and 3 after an accepted Envido."""
ASKED_BUCKETS: dict[tuple[object, ...], tuple[tuple[int, ...], tuple[int, ...]]] = {
    (0, "one"): ((0, 20, 23, 25, 26, 27, 28), (0, 25, 26, 27, 28, 29)),
    (1, "one"): ((0, 20, 25, 27), (0, 24, 27, 28)),
    (0, "more"): ((0, 20, 28, 30), (0, 26, 28, 30)),
    (1, "more"): ((0, 20, 30), (0, 26, 28)),
}
"""Choice `asked`: buckets of the asker's values and of the other's, by who asked last and whether with one Envido.

Finer where more hands lie by a first solution at 0-0: askers bluff, who accepts has seldom less than 23.
"""
VALUES = (*VALUE_BUCKETS, "asked")
CONTEXTS = ("exact", "chain", "opening", "caller", "none")
"""How exits of trick 1 without accepted Envido share tricks 2 and 3; see `Abstraction.context`."""
CHAINS = ("exact", "calls", "none")
"""How accepted Envidos share what follows; see `Abstraction.chain`."""


@dataclass(frozen=True)
class Abstraction:
    """Merges in tricks 2 and 3; trick 1 has none but that of `holdings` (suits).

    After an accepted Envido, trick 1 keeps both values, and of the calls all that is kept at any round value. Cards
    of the public history are kept by tier, own cards by tier. A field of four entries is by round value 1-4 at the
    end of trick 1. Raises ValueError naming an unknown choice.
    """

    contexts: tuple[str, str, str, str] = ("chain", "chain", "caller", "none")
    values: tuple[str, str, str, str] = ("eight", "five", "five", "five")
    chains: tuple[str, str, str, str] = ("none", "none", "none", "none")

    def __post_init__(self) -> None:
        for name, choices in (("contexts", CONTEXTS), ("values", VALUES), ("chains", CHAINS)):
            given = getattr(self, name)
            if len(given) != 4 or any(choice not in choices for choice in given):
                raise ValueError(f"{name} are {', '.join(given)}: give four of {', '.join(choices)}")
        if any(v == "asked" and c != "calls" for v, c in zip(self.values, self.chains, strict=True)):
            raise ValueError("values asked need chains calls at the same round value")

    @staticmethod
    def parse(
        contexts: str | None = None, values: str | None = None, chains: str | None = None
    ) -> Abstraction:
        """The merges that texts of four words with commas name; the default where there is none."""
        given = {"contexts": contexts, "values": values, "chains": chains}
        return Abstraction.read({name: text.split(",") for name, text in given.items() if text is not None})

    @staticmethod
    def read(lists: Mapping[str, Sequence[str]]) -> Abstraction:
        """The merges that words by field name give, as `lists` makes them for JSON; else the default."""
        return Abstraction(**{name: tuple(words) for name, words in lists.items()})  # type: ignore[arg-type]

    def lists(self) -> dict[str, list[str]]:
        """The merges as JSON values."""
        return {field.name: list(getattr(self, field.name)) for field in fields(self)}

    def __str__(self) -> str:
        return "; ".join(f"{name} {','.join(words)}" for name, words in self.lists().items())

    def context(self, leaving: Exit, number: int) -> tuple[object, ...]:
        """What of an exit's history its tables know, beside round value, right to raise and payoffs.

        `exact`: all of it; `chain`: the Envido chain if it had one call, else who declined it, and the order of
        Truco calls and cards; `opening`: the same, but of longer chains only who declined; `caller`: who declined, if
        anybody; `none`: nothing.
        """
        choice = self.contexts[leaving.level - 1]
        if choice == "exact":
            return (number,)
        chain, words = [], []
        for word, player in leaving.history:
            if word in ("E", "RE", "FE"):
                chain.append((word, player))
            words.append((word, player))
        declined = chain[-1] if chain else None
        if choice == "none":
            return ()
        if choice == "caller":
            return (declined[1] if declined else -1,)
        truco = tuple((word, player) for word, player in words if word in ("T", "R", "V", "card"))
        if len(chain) < 2:
            return (tuple(chain), truco)
        return (("long", declined if choice == "chain" else chain[-1][1]), truco)

    def chain(self, accepted: Accept, level: int) -> tuple[object, ...]:
        """What of the calls before an accepted Envido is kept at a round value.

        `exact`: all of them; `calls`: who asked last, and whether one Envido was all that was asked; before a Truco
        that is still to be answered nothing; `none`: nothing.
        """
        choice = self.chains[level - 1]
        if choice == "exact":
            return accepted.history
        if choice == "none":
            return ()
        said = [(word, player) for word, player in accepted.history if word in ("E", "RE", "FE")]
        if accepted.position.pending:
            return ()
        return said[-1][1], "one" if [word for word, _ in said] == ["E"] else "more"

    def buckets(self, level: int, chain: tuple[object, ...], player: int) -> tuple[tuple[int, int], ...]:
        """Buckets (first, past the last) of a player's value told apart after an accepted Envido at this round value,
        where `chain` is what is kept of the calls.
        """
        choice = self.values[level - 1]
        if choice != "asked":
            lows = VALUE_BUCKETS[choice]
        elif chain:
            lows = ASKED_BUCKETS[chain][int(chain[0] != player)]
        else:
            lows = VALUE_BUCKETS["none"]
        return tuple(pairwise((*lows, MAX_ENVIDO + 1)))
