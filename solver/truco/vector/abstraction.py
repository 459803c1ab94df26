"""What the policy of the vector engine forgets: every merge of contexts and of Envido values, by name."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from solver.truco.vector.trees import Exit

VALUE_BUCKETS: dict[str, tuple[int, ...]] = {
    "exact": tuple(range(34)),
    "twelve": (0, 6, 20, 23, 25, 26, 27, 28, 29, 30, 31, 32),
    "eight": (0, 20, 23, 26, 27, 28, 30, 32),
    "five": (0, 20, 25, 28, 30),
    "none": (0,),
}
"""Lower ends of the ranges of Envido values taken for alike in tricks 2 and 3 after an accepted Envido."""
CONTEXTS = ("exact", "chain", "caller", "none")
"""How exits of trick 1 without accepted Envido share tricks 2 and 3; see `Abstraction.context`."""


@dataclass(frozen=True)
class Abstraction:
    """Merges in tricks 2 and 3; trick 1 has none but those of `holdings` (suits) and of accepted chains.

    After an accepted Envido, trick 1 keeps both values but forgets the chain. Cards of the public history are kept by
    tier, own cards by tier. A field of four entries is by round value 1-4 at the end of trick 1.
    Raises ValueError naming an unknown choice.
    """

    contexts: tuple[str, str, str, str] = ("chain", "chain", "caller", "none")
    values: tuple[str, str, str, str] = ("eight", "five", "five", "five")

    def __post_init__(self) -> None:
        for name, choices in (("contexts", CONTEXTS), ("values", tuple(VALUE_BUCKETS))):
            given = getattr(self, name)
            if len(given) != 4 or any(choice not in choices for choice in given):
                raise ValueError(f"{name} are {', '.join(given)}: give four of {', '.join(choices)}")

    def context(self, leaving: Exit, number: int) -> tuple[object, ...]:
        """What of an exit's history its tables know, beside round value, right to raise and payoffs.

        `exact`: all of it; `chain`: the Envido chain if it had one call, else who declined it, and the order of
        Truco calls and cards; `caller`: who declined, if anybody; `none`: nothing.
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
        return (tuple(chain) if len(chain) < 2 else ("long", declined), truco)

    def ranges(self, level: int) -> tuple[tuple[int, int], ...]:
        """Value ranges (first, past the last) told apart after an accepted Envido at this round value."""
        lows = VALUE_BUCKETS[self.values[level - 1]]
        return tuple(pairwise((*lows, 34)))
