"""Random Truco for hypothesis: house rules, and hands played at random by those rules."""

from __future__ import annotations

from hypothesis import strategies as st

from game.truco.cards import DECK_SIZE, card_names
from game.truco.hand import Hand
from game.truco.rules import Rules, make_rules


@st.composite
def house_rules(draw: st.DrawFn) -> Rules:
    """Rules with any fields changed, but for revealed hands."""
    preset = draw(st.sampled_from(["base", "argentino"]))
    fields: dict[str, object] = {}
    if draw(st.booleans()):
        choices: dict[str, st.SearchStrategy[object]] = {
            "target": st.sampled_from([1, 2, 9, 15, 30, 99]),
            "envido": st.booleans(),
            "envido_reveal": st.sampled_from(["values", "buenas"]),
            "raise_right": st.sampled_from(["alternate", "any"]),
            "envido_after_truco": st.sampled_from(["forbid", "allow"]),
            "max_envido": st.integers(1, 3),
            "falta_accept": st.sampled_from(["replaces", "adds"]),
            "fold_vs_envido": st.sampled_from(["round", "both"]),
            "first_trick_fold_bonus": st.integers(0, 1),
            "hand_size": st.integers(1, 3),
        }
        for name in draw(st.sets(st.sampled_from(sorted(choices)))):
            fields[name] = draw(choices[name])
        if draw(st.booleans()):
            deck = draw(st.sets(st.integers(0, DECK_SIZE - 1), min_size=6))
            fields["deck"] = card_names(sorted(deck))
        if fields.get("target") == 30 and draw(st.booleans()):
            fields["falta"] = "malas_buenas"
    return make_rules(preset, fields)


@st.composite
def played_hands(draw: st.DrawFn, to_the_end: bool | None = None) -> Hand:
    """A hand with random cards, score and legal actions; `to_the_end` over (True), still on (False), or either."""
    rules = draw(house_rules())
    cards = draw(
        st.lists(
            st.sampled_from(rules.deck),
            min_size=2 * rules.hand_size,
            max_size=2 * rules.hand_size,
            unique=True,
        )
    )
    scores = [draw(st.integers(0, rules.target - 1)) for _ in range(2)]
    hand = Hand(rules, cards[: rules.hand_size], cards[rules.hand_size :], *scores)
    steps = 99 if to_the_end else draw(st.integers(0, 15))
    for _ in range(steps):
        if hand.is_over:
            break
        # Folding is the last action listed; it would end most hands at once.
        legal = hand.legal_actions()
        if to_the_end is False or draw(st.integers(0, 9)) > 0:
            legal = legal[:-1]
        before = hand.copy()
        hand.apply(draw(st.sampled_from(legal)))
        if hand.is_over and to_the_end is False:
            return before
    return hand
