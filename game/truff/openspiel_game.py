"""`python_truff`: Truff as an OpenSpiel game.

Two to four players, the full pack or a small one, sequential moves with hidden hands. Chance deals card by
card, seat 0's hand first. The seats then bid one after another without seeing earlier bids, laying cards in
ascending index order and closing with `done`; the bids are revealed together; the contract winner may choose
the mode; the tricks follow. Actions: 0-51 cards, 52 done, 53 atas, 54 bawah (in small packs the cards keep
their indices).

Information states hold exactly what the seat can see: a trump played face down by another seat shows its suit
only, until the trick is complete.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pyspiel

from game.truff.cards import NUM_CARDS, card_name, card_names
from game.truff.deal import CHOOSE_ATAS, CHOOSE_BAWAH, DONE, FACE_DOWN, NUM_ACTIONS, Deal, Phase, View
from game.truff.rules import Mode, Rules

_ACTION_NAMES = {DONE: "done", CHOOSE_ATAS: "atas", CHOOSE_BAWAH: "bawah"}
_DEFAULTS = Rules()


def _game_type(utility: str) -> pyspiel.GameType:
    zero_sum = utility == "relative"
    return pyspiel.GameType(
        short_name="python_truff",
        long_name="Python Truff",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM if zero_sum else pyspiel.GameType.Utility.GENERAL_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=4,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={
            "trump_lead": _DEFAULTS.trump_lead,
            "trump_face_down": _DEFAULTS.trump_face_down,
            "bid_max": 0,
            "utility": _DEFAULTS.utility,
            "ranks": _DEFAULTS.ranks,
            "suits": _DEFAULTS.suits,
            "players": _DEFAULTS.players,
        },
    )


def _game_info(rules: Rules) -> pyspiel.GameInfo:
    # A contract is at most bid_max, or what T = tricks plus one allows, which is less; w is at most all
    # tricks.
    highest, lowest = float(rules.tricks), -2.0 * max(rules.bid_max, rules.tricks)
    if rules.utility == "relative":
        highest, lowest = highest - lowest, lowest - highest
    bid_actions = len(rules.pack) + rules.players
    return pyspiel.GameInfo(
        num_distinct_actions=NUM_ACTIONS,
        max_chance_outcomes=NUM_CARDS,
        num_players=rules.players,
        min_utility=lowest,
        max_utility=highest,
        utility_sum=0.0 if rules.utility == "relative" else None,
        max_game_length=bid_actions + 1 + len(rules.pack),
    )


class TruffGame(pyspiel.Game):
    """The game; parameters are those of `Rules`."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        params = params or {}
        self.rules = Rules(**params)
        super().__init__(_game_type(self.rules.utility), _game_info(self.rules), params)

    def new_initial_state(self) -> "TruffState":
        """A deal with no card dealt."""
        return TruffState(self)

    def make_py_observer(
        self, iig_obs_type: pyspiel.IIGObservationType | None = None, params: dict[str, Any] | None = None
    ) -> "TruffObserver":
        """Observer of information states (perfect recall) or of the present situation only."""
        return TruffObserver(
            iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), self.rules, params
        )


class TruffState(pyspiel.State):
    """A thin shell around `Deal`."""

    def __init__(self, game: TruffGame) -> None:
        super().__init__(game)
        self.deal = Deal(game.rules)

    def current_player(self) -> int:
        """Seat to move, or OpenSpiel's ids for chance and the end."""
        if self.deal.phase is Phase.OVER:
            return int(pyspiel.PlayerId.TERMINAL)
        return int(pyspiel.PlayerId.CHANCE) if self.deal.phase is Phase.DEAL else self.deal.to_move

    def _legal_actions(self, player: int) -> list[int]:
        return self.deal.legal_actions()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Undealt cards and their probabilities."""
        return self.deal.deal_outcomes()

    def _apply_action(self, action: int) -> None:
        if self.deal.phase is Phase.DEAL:
            self.deal.deal_card(action)
        else:
            self.deal.apply(action)

    def _action_to_string(self, player: int, action: int) -> str:
        name = _ACTION_NAMES.get(action) or card_name(action)
        return f"deal {name}" if player == pyspiel.PlayerId.CHANCE else name

    def is_terminal(self) -> bool:
        """Whether all tricks are played."""
        return self.deal.phase is Phase.OVER

    def returns(self) -> list[float]:
        """Utilities in points; zeros before the end."""
        return self.deal.utilities() if self.is_terminal() else [0.0] * self.deal.rules.players

    def __str__(self) -> str:
        return "\n".join(str(self.deal.view(seat)) for seat in range(self.deal.rules.players))


class TruffObserver:
    """Tensor and string of what a seat sees.

    Cards are 0/1 vectors of length 52. Pieces: player, phase, hand, bid (own pile), bids, winner, trump,
    mode, numbers and won as counts; then with perfect recall `tricks`, for each trick and seat the card or a
    mark "face down", and the leader; without it `played` (all cards seen in complete tricks) and `table`,
    `leader`.
    """

    def __init__(
        self, iig_obs_type: pyspiel.IIGObservationType, rules: Rules, params: dict[str, Any] | None
    ) -> None:
        if params:
            raise ValueError(f"observation parameters are not supported: {params}")
        self._rules = rules
        self._recall = iig_obs_type.perfect_recall
        self._public = iig_obs_type.public_info
        self._private = iig_obs_type.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        n, tricks = rules.players, rules.tricks
        pieces: list[tuple[str, tuple[int, ...]]] = [("player", (n,))]
        if self._private:
            pieces += [("hand", (NUM_CARDS,)), ("bid", (NUM_CARDS,))]
        if self._public:
            pieces += [
                ("phase", (len(Phase),)),
                ("to_move", (n,)),
                ("bids", (n, NUM_CARDS)),
                ("winner", (n,)),
                ("trump", (5,)),
                ("mode", (len(Mode),)),
                ("numbers", (n,)),
                ("won", (n,)),
            ]
            if self._recall:
                pieces += [("tricks", (tricks, n, NUM_CARDS + 1)), ("leaders", (tricks, n))]
            else:
                pieces += [("played", (NUM_CARDS,)), ("table", (n, NUM_CARDS + 1)), ("leader", (n,))]
        self.tensor = np.zeros(sum(int(np.prod(shape)) for _, shape in pieces), np.float32)
        self.dict: dict[str, np.ndarray] = {}
        at = 0
        for name, shape in pieces:
            size = int(np.prod(shape))
            self.dict[name] = self.tensor[at : at + size].reshape(shape)
            at += size

    def set_from(self, state: TruffState, player: int) -> None:
        """Write what `player` sees in `state` into `tensor`."""
        self.tensor.fill(0.0)
        view = self._view(state, player)
        self.dict["player"][player] = 1
        if self._private:
            self.dict["hand"][list(view.hand)] = 1
            self.dict["bid"][list(view.bid)] = 1
        if self._public:
            self._set_public(view)

    def _set_public(self, view: View) -> None:
        self.dict["phase"][list(Phase).index(view.phase)] = 1
        if view.phase in (Phase.DEAL, Phase.BID):
            return  # whose turn it is would tell how many cards the others lay
        assert view.bids is not None
        assert view.contract_winner is not None
        assert view.trump is not None
        if view.phase is not Phase.OVER:
            self.dict["to_move"][view.to_move] = 1
        for seat, bid in enumerate(view.bids):
            self.dict["bids"][seat, list(bid)] = 1
        self.dict["winner"][view.contract_winner] = 1
        self.dict["trump"][view.trump] = 1
        if view.mode is not None:
            self.dict["mode"][view.mode] = 1
        self.dict["numbers"][:] = view.numbers
        self.dict["won"][:] = view.won
        for number, trick in enumerate(view.tricks):
            complete = len(trick.cards) == self._rules.players
            if self._recall:
                seats, leader = self.dict["tricks"][number], self.dict["leaders"][number]
            elif complete:
                self.dict["played"][list(trick.cards)] = 1
                continue
            else:
                seats, leader = self.dict["table"], self.dict["leader"]
            leader[trick.leader] = 1
            for place, card in enumerate(trick.cards):
                seats[
                    (trick.leader + place) % self._rules.players, NUM_CARDS if card == FACE_DOWN else card
                ] = 1

    def string_from(self, state: TruffState, player: int) -> str:
        """The same as text; without perfect recall, complete tricks are one set of cards."""
        view = self._view(state, player)
        if not self._public:
            view = replace(view, phase=Phase.BID)
        if self._recall or not view.tricks:
            return str(view)
        complete = [trick for trick in view.tricks if len(trick.cards) == self._rules.players]
        won = " ".join(map(str, view.won))
        played = card_names(card for trick in complete for card in trick.cards)
        return f"{replace(view, tricks=view.tricks[len(complete) :])} | won {won} | played {played}"

    def _view(self, state: TruffState, player: int) -> View:
        return state.deal.view(player if self._private else None)


pyspiel.register_game(_game_type(_DEFAULTS.utility), TruffGame)
