"""The OpenSpiel game `python_truco`: one hand of two-player Truco with explicit chance (spec Part F).

Chance deals one card at a time, mano's hand first. Player 0 is mano. Utilities are points (own minus the
other's, clamped at the target) or the match-win probability after the hand scaled to -1..1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyspiel

from game.truco.actions import NUM_ACTIONS, action_name
from game.truco.cards import card_name, card_names
from game.truco.equity import EquityTable, load_equity
from game.truco.hand import Hand
from game.truco.observer import HandObserver, history_text, max_decisions
from game.truco.rules import FIELD_NAMES, PRESETS, Rules, make_rules

_UTILITIES = ("points", "match")
# OpenSpiel fills in defaults, so a field in which the presets differ needs a value that says "as the preset".
_AS_PRESET: dict[type, Any] = {str: "preset", int: -1}


_PRESETS_DIFFER = {
    name for name in FIELD_NAMES if len({str(preset.to_dict()[name]) for preset in PRESETS.values()}) > 1
}


def _field_default(name: str) -> Any:
    value = PRESETS["base"].to_dict()[name]
    return _AS_PRESET[type(value)] if name in _PRESETS_DIFFER else value


RULES_PARAMETERS: dict[str, Any] = {"rules": "base"} | {name: _field_default(name) for name in FIELD_NAMES}
"""Parameters that choose the rules, with their defaults: a preset, and each field on top of it."""

GAME_TYPE_FIELDS: dict[str, Any] = {
    "dynamics": pyspiel.GameType.Dynamics.SEQUENTIAL,
    "chance_mode": pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    "information": pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    "utility": pyspiel.GameType.Utility.ZERO_SUM,
    "reward_model": pyspiel.GameType.RewardModel.TERMINAL,
    "max_num_players": 2,
    "min_num_players": 2,
    "provides_information_state_string": True,
    "provides_observation_string": True,
    "provides_observation_tensor": True,
}
"""What every Truco game tells OpenSpiel of itself."""

_GAME_TYPE = pyspiel.GameType(
    short_name="python_truco",
    long_name="Python Truco (one hand)",
    provides_information_state_tensor=True,
    provides_factored_observation_string=True,
    parameter_specification=RULES_PARAMETERS
    | {"mano_score": 0, "pie_score": 0, "utility": "points", "equity": "computed"},
    **GAME_TYPE_FIELDS,
)


def rules_from_parameters(params: dict[str, Any]) -> Rules:
    """Rules of a game's parameters: the preset `rules` with the fields given on top of it."""
    given = {name: params[name] for name in FIELD_NAMES if name in params}
    overrides = {
        name: value
        for name, value in given.items()
        if name not in _PRESETS_DIFFER or value != _AS_PRESET[type(value)]
    }
    return make_rules(params.get("rules", "base"), overrides)


def deck_parameter(rules: Rules) -> str:
    """The deck as a parameter text without commas, which OpenSpiel's game strings use for themselves."""
    deck = rules.to_dict()["deck"]
    return deck if isinstance(deck, str) else " ".join(deck)


def max_points(rules: Rules, own_score: int, other_score: int) -> int:
    """Most points a player can make in the hand (an upper bound).

    A Vale Cuatro won and the dearest Envido, clamped at the target; Falta is worth most at the start score.
    """
    chain = 2 * rules.max_envido + 3
    best = max(own_score, other_score)
    goal = 15 if rules.falta == "malas_buenas" and best < 15 else rules.target
    falta = goal - best + (chain if rules.falta_accept == "adds" else 0)
    return min(rules.target - own_score, 4 + (max(chain, falta) if rules.envido else 0))


@dataclass(frozen=True)
class HandSetup:
    """What every state of one game shares."""

    rules: Rules
    start_scores: tuple[int, int]
    equity: EquityTable | None
    """Worth of the scores after the hand, or None where the utility is points."""

    def __deepcopy__(self, memo: dict[int, object]) -> HandSetup:
        """OpenSpiel clones states by deep copy; what never changes is shared."""
        return self


class TrucoGame(pyspiel.Game):
    """`python_truco`; raises ValueError on an unknown preset, field value, utility or score."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        params = params or {}
        rules = rules_from_parameters(params)
        scores = (params.get("mano_score", 0), params.get("pie_score", 0))
        utility = params.get("utility", "points")
        if utility not in _UTILITIES:
            raise ValueError(f"utility is {utility!r}, allowed: {', '.join(_UTILITIES)}")
        for score in scores:
            if not 0 <= score < rules.target:
                raise ValueError(f"score {score} is outside 0 to {rules.target - 1}")
        match = utility == "match"
        equity = load_equity(params.get("equity", "computed"), rules.target) if match else None
        self.setup = HandSetup(rules, scores, equity)
        info = pyspiel.GameInfo(
            num_distinct_actions=NUM_ACTIONS,
            max_chance_outcomes=max(rules.deck) + 1,
            num_players=2,
            min_utility=-1.0 if match else -float(max_points(rules, *reversed(scores))),
            max_utility=1.0 if match else float(max_points(rules, *scores)),
            utility_sum=0.0,
            max_game_length=max_decisions(rules),
        )
        super().__init__(_GAME_TYPE, info, params | {"deck": deck_parameter(rules)})

    def new_initial_state(self) -> TrucoState:
        """The state before the deal."""
        return TrucoState(self, self.setup)

    def make_py_observer(
        self, iig_obs_type: Any = None, params: dict[str, Any] | None = None
    ) -> HandObserver:
        """Observer of the states of this game; without a type, the observation (no perfect recall)."""
        return HandObserver(
            self.setup.rules, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), params
        )


class TrucoState(pyspiel.State):
    """A hand being dealt (`hand` is None) or played."""

    def __init__(self, game: TrucoGame, setup: HandSetup) -> None:
        super().__init__(game)
        self._setup = setup
        self.dealt: list[int] = []
        """Cards dealt so far, in dealing order."""
        self.hand: Hand | None = None
        """The hand being played, None while cards are dealt."""

    def dealt_to(self, player: int) -> list[int]:
        """Cards dealt to the player so far, in dealing order."""
        size = self._setup.rules.hand_size
        return self.dealt[player * size : (player + 1) * size]

    def points_won(self) -> tuple[int, int]:
        """Points (mano, pie) made in the hand so far."""
        return self.hand.points_won() if self.hand else (0, 0)

    def current_player(self) -> int:
        """Player to move, or OpenSpiel's id for chance or the end."""
        if self.hand is None:
            return pyspiel.PlayerId.CHANCE
        mover = self.hand.to_move
        return pyspiel.PlayerId.TERMINAL if mover is None else mover

    def _legal_actions(self, player: int) -> list[int]:
        assert self.hand is not None
        return self.hand.legal_actions()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Each card left in the deck with equal chance."""
        left = [card for card in self._setup.rules.deck if card not in self.dealt]
        return [(card, 1.0 / len(left)) for card in left]

    def _apply_action(self, action: int) -> None:
        if self.hand is not None:
            self.hand.apply(action)
            return
        self.dealt.append(action)
        if len(self.dealt) == 2 * self._setup.rules.hand_size:
            self.hand = Hand(self._setup.rules, self.dealt_to(0), self.dealt_to(1), *self._setup.start_scores)

    def _action_to_string(self, player: int, action: int) -> str:
        return card_name(action) if player == pyspiel.PlayerId.CHANCE else action_name(action)

    def is_terminal(self) -> bool:
        """Whether the hand is over."""
        return self.hand is not None and self.hand.is_over

    def returns(self) -> list[float]:
        """Utilities of (mano, pie); zeros before the end."""
        if self.hand is None or not self.hand.is_over:
            return [0.0, 0.0]
        if self._setup.equity is not None:
            mano = 2.0 * self._setup.equity.after_hand(*self.hand.scores) - 1.0
        else:
            won = self.hand.points_won()
            mano = float(won[0] - won[1])
        return [mano, -mano]

    def __str__(self) -> str:
        """Both hands and the public history; for debugging, it shows hidden cards."""
        hands = f"{card_names(self.dealt_to(0))} | {card_names(self.dealt_to(1))}"
        return f"{hands} | {history_text(self.hand)}" if self.hand else hands


pyspiel.register_game(_GAME_TYPE, TrucoGame)
