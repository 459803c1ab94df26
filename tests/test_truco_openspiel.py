"""The OpenSpiel games `python_truco` and `python_truco_match`: what players know, utilities and bounds.

Small games are walked through completely. Who knows what is defined by the naive twin, not by the game.
"""

import random
from collections import defaultdict
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import naive_truco as naive
import pyspiel
import pytest

import game.truco  # noqa: F401 - `game` registers the games
from game.truco.actions import action_name, parse_action
from game.truco.cards import DECK_SIZE, card_name, parse_card, parse_cards
from game.truco.equity import simple_equity
from game.truco.rules import PRESETS, Rules, make_rules

OBSERVATION = pyspiel.IIGObservationType(perfect_recall=False)
INFORMATION_STATE = pyspiel.IIGObservationType(perfect_recall=True)
PUBLIC_OBSERVATION = pyspiel.IIGObservationType(
    public_info=True, perfect_recall=False, private_info=pyspiel.PrivateInfoType.NONE
)

PARAMETER_SETS: dict[str, dict[str, Any]] = {
    "default": {},
    "argentino": {"rules": "argentino"},
    "open hands": {"envido_reveal": "hands", "envido_after_truco": "allow", "max_envido": 3},
    "target 30": {"target": 30, "falta": "malas_buenas"},
    "any": {"rules": "argentino", "raise_right": "any", "falta_accept": "adds"},
    "small": {"deck": "1E 7E 3O 2B 4C 4B", "hand_size": 2, "envido": False},
    "tiny": {"deck": "1E 4B", "hand_size": 1, "target": 2, "fold_vs_envido": "both"},
}

# Walked completely. With one card, Envido values tie (7E, 7O) or differ (4B); play goes on after an accepted
# Envido or Real Envido.
ONE_CARD = {"hand_size": 1, "deck": "7E 7O 4B", "max_envido": 1, "target": 4}
SMALL_GAMES: dict[str, dict[str, Any]] = {
    "values": ONE_CARD | {"envido_reveal": "values"},
    "buenas": ONE_CARD | {"envido_reveal": "buenas"},
    "hands": ONE_CARD | {"envido_reveal": "hands"},
    "two cards": {"hand_size": 2, "deck": "1E 3O 3B 4C 4B", "envido": False},
}


class Node(NamedTuple):
    """A state after the deal, and the same situation for the naive twin."""

    state: pyspiel.State
    deal: naive.Deal
    history: list[naive.Move]

    def knowledge(self, player: int) -> tuple[Any, ...]:
        return naive.knowledge(self.deal, self.history, player)

    def child(self, action: int) -> "Node":
        move = self.state.current_player(), action_name(action)
        return Node(self.state.child(action), self.deal, [*self.history, move])


def node_after_deal(game: pyspiel.Game, cards: list[str]) -> Node:
    """The state after these cards were dealt, mano's first."""
    state = game.new_initial_state()
    for card in cards:
        state.apply_action(parse_card(card))
    rules: Rules = game.setup.rules
    fields = {name: getattr(rules, name) for name in naive.DEFAULTS}
    mano, pie = cards[: rules.hand_size], cards[rules.hand_size :]
    return Node(state, naive.Deal(mano, pie, *game.setup.start_scores, fields), [])


def walk(node: Node) -> Iterator[Node]:
    yield node
    for action in [] if node.state.is_terminal() else node.state.legal_actions():
        yield from walk(node.child(action))


def small_deals(rules: Rules) -> list[list[str]]:
    """Every deal, each hand in one order; with two cards, only the deals that give mano the 1E."""
    size = rules.hand_size
    deals = {
        (frozenset(cards[:size]), frozenset(cards[size:])): [card_name(card) for card in cards]
        for cards in permutations(rules.deck, 2 * size)
    }
    return [cards for cards in deals.values() if size == 1 or "1E" in cards[:size]]


@pytest.fixture(scope="module", params=SMALL_GAMES)
def small_game(request: pytest.FixtureRequest) -> tuple[pyspiel.Game, list[Node]]:
    """A small game and every state of it after the deal."""
    small = pyspiel.load_game("python_truco", SMALL_GAMES[request.param])
    return small, [
        node for cards in small_deals(small.setup.rules) for node in walk(node_after_deal(small, cards))
    ]


# ------------------------------------------------------------------------------ who knows what, small games


def test_information_state_is_the_knowledge(small_game: tuple[pyspiel.Game, list[Node]]) -> None:
    """Strings, tensors and knowledge of either player are equal in exactly the same states."""
    small, nodes = small_game
    observer = small.make_py_observer(INFORMATION_STATE)
    seen = set()
    for node in nodes:
        for player in (0, 1):
            observer.set_from(node.state, player)
            string = observer.string_from(node.state, player)
            seen.add((node.knowledge(player), string, observer.tensor.tobytes()))
    for column in range(3):
        assert len({row[column] for row in seen}) == len(seen)
    assert len(seen) < 2 * len(nodes)  # hidden cards make some states alike


def test_information_state_tells_the_legal_actions(small_game: tuple[pyspiel.Game, list[Node]]) -> None:
    legal: dict[str, list[int]] = {}
    for node in small_game[1]:
        if not node.state.is_terminal():
            string, actions = node.state.information_state_string(), node.state.legal_actions()
            assert legal.setdefault(string, actions) == actions
            assert [action_name(action) for action in actions] == naive.legal_words(node.deal, node.history)


def test_observation_leaks_nothing(small_game: tuple[pyspiel.Game, list[Node]]) -> None:
    """States that a player cannot tell apart look the same to him, and to a spectator."""
    small, nodes = small_game
    observer, spectator = small.make_py_observer(OBSERVATION), small.make_py_observer(PUBLIC_OBSERVATION)
    views: dict[Any, set[tuple[str, bytes]]] = defaultdict(set)
    for node in nodes:
        for player in (0, 1):
            observer.set_from(node.state, player)
            view = node.state.observation_string(player), observer.tensor.tobytes()
            views[node.knowledge(player)].add(view)
        spectator.set_from(node.state, 0)
        view = spectator.string_from(node.state, 0), spectator.tensor.tobytes()
        views[naive.public_knowledge(node.deal, node.history)].add(view)
    assert {len(group) for group in views.values()} == {1}
    shown = {view for group in views.values() for view in group}
    assert len({string for string, _ in shown}) == len(shown)


def test_perfect_recall(small_game: tuple[pyspiel.Game, list[Node]]) -> None:
    """States in one information set share all that their player saw and did at his earlier decisions."""
    string_at: dict[Any, str] = {}
    pasts: dict[str, Any] = {}
    for node in small_game[1]:  # parents come before their children
        if node.state.is_terminal():
            continue
        cards, moves = (*node.deal.mano_cards, "/", *node.deal.pie_cards), tuple(node.history)
        mover = node.state.current_player()
        string = string_at[cards, moves] = node.state.information_state_string()
        past = [
            (string_at[cards, moves[:i]], word) for i, (player, word) in enumerate(moves) if player == mover
        ]
        assert pasts.setdefault(string, past) == past


def test_utilities_and_bounds(small_game: tuple[pyspiel.Game, list[Node]]) -> None:
    """Returns are the points of the hand; the bounds of the game hold and are as tight as they can be."""
    small, nodes = small_game
    returns, lengths = set(), set()
    for node in nodes:
        won = naive.points_won(node.deal, node.history)
        assert node.state.points_won() == won
        difference = won[0] - won[1] if node.state.is_terminal() else 0
        assert node.state.is_terminal() == naive.is_over(node.deal, node.history)
        assert node.state.returns() == [difference, -difference]
        returns.add(difference)
        lengths.add(len(node.history))
    assert (small.min_utility(), small.max_utility()) == (min(returns), max(returns))
    assert max(lengths) <= small.max_game_length()
    if small.setup.rules.hand_size > 1:  # with one card each nobody gets to call all three levels
        assert max(lengths) == small.max_game_length()


# --------------------------------------------------------------------------- who knows what, the whole deck


def swap_unseen(deal: naive.Deal, history: list[naive.Move], player: int, rng: random.Random) -> naive.Deal:
    """Another deal that this player cannot tell from the first; the same one if none is soon found."""
    played = [word for _, word in history if word in naive.CARDS]
    kept = [card for card in deal.cards_of(1 - player) if card in played]
    hidden = [card for card in naive.CARDS if card not in played and card not in deal.cards_of(player)]
    for _ in range(40):
        other = kept + rng.sample(hidden, len(deal.cards_of(1 - player)) - len(kept))
        hands = (deal.mano_cards, other) if player == naive.MANO else (other, deal.pie_cards)
        swapped = naive.Deal(*hands, deal.mano_score, deal.pie_score, deal.changed_rules)
        if naive.knowledge(swapped, history, player) == naive.knowledge(deal, history, player):
            return swapped
    return deal


def random_action(state: pyspiel.State, rng: random.Random) -> int:
    """Folds and refusals are rare, so that hands last."""
    weights = {"mazo": 0.02, "no_quiero": 0.2}
    actions = state.legal_actions()
    return rng.choices(actions, [weights.get(action_name(action), 1) for action in actions])[0]


@pytest.mark.parametrize("name", ["default", "argentino", "open hands"])
def test_swapping_unseen_cards_changes_nothing(name: str) -> None:
    rng = random.Random(name)
    whole = pyspiel.load_game("python_truco", PARAMETER_SETS[name])
    observers = [whole.make_py_observer(kind) for kind in (INFORMATION_STATE, OBSERVATION)]
    swaps = after_envido = 0
    for _ in range(100):
        node = node_after_deal(whole, rng.sample(naive.CARDS, 6))
        while not node.state.is_terminal():
            node = node.child(random_action(node.state, rng))
            player = rng.randrange(2)
            swapped = swap_unseen(node.deal, node.history, player, rng)
            twin = node_after_deal(whole, [*swapped.mano_cards, *swapped.pie_cards])
            for _, word in node.history:
                twin = twin.child(parse_action(word))
            for observer in observers:
                views = []
                for state in (node.state, twin.state):
                    observer.set_from(state, player)
                    views.append((observer.string_from(state, player), observer.tensor.tobytes()))
                assert views[0] == views[1]
            changed = set(swapped.cards_of(1 - player)) != set(node.deal.cards_of(1 - player))
            swaps += changed
            after_envido += changed and any(naive.revealed(node.deal, node.history))
    assert swaps > 300
    assert after_envido == 0 if name == "open hands" else after_envido > 30


@pytest.mark.parametrize("name", ["default", "argentino"])
def test_state_and_observer_agree(name: str) -> None:
    """The state's own strings and tensors are those of the observers."""
    whole = pyspiel.load_game("python_truco", PARAMETER_SETS[name])
    rng = random.Random(name)
    recall, now = (whole.make_py_observer(kind) for kind in (INFORMATION_STATE, OBSERVATION))
    for _ in range(10):
        node = node_after_deal(whole, rng.sample(naive.CARDS, 6))
        while not node.state.is_terminal():
            node = node.child(random_action(node.state, rng))
            for player in (0, 1):
                recall.set_from(node.state, player)
                now.set_from(node.state, player)
                assert node.state.information_state_string(player) == recall.string_from(node.state, player)
                assert node.state.observation_string(player) == now.string_from(node.state, player)
                assert node.state.information_state_tensor(player) == recall.tensor.tolist()
                assert node.state.observation_tensor(player) == now.tensor.tolist()
        assert len(recall.tensor) == whole.information_state_tensor_size()
        assert len(now.tensor) == whole.observation_tensor_size()


def test_T120_w_cards_are_unknown_to_b() -> None:
    """Before the first move each player's view names his own three cards and no other."""
    whole = pyspiel.load_game("python_truco")
    state = node_after_deal(whole, ["7O", "4C", "12E", "1B", "3O", "6E"]).state
    for player, own in ((0, {"7O", "4C", "12E"}), (1, {"1B", "3O", "6E"})):
        for text in (state.information_state_string(player), state.observation_string(player)):
            words = set(text.replace("=", " ").split())
            assert words & set(naive.CARDS) == own


def test_deal_shows_only_own_cards() -> None:
    whole = pyspiel.load_game("python_truco")
    views: dict[int, list[tuple[str, list[float]]]] = {0: [], 1: []}
    for mano, pie in (("7O 4C 12E", "1B 3O"), ("7O 4C 12E", "6E 6B"), ("1E 2E 3E", "1B 3O")):
        state = whole.new_initial_state()
        for card in parse_cards(f"{mano} {pie}"):
            state.apply_action(card)
        assert state.is_chance_node()
        for player in (0, 1):
            views[player].append(
                (state.information_state_string(player), state.information_state_tensor(player))
            )
    assert views[0][0] == views[0][1] != views[0][2]
    assert views[1][0] == views[1][2] != views[1][1]


# ------------------------------------------------------------------------------------ the interface at large


@pytest.mark.parametrize("name", PARAMETER_SETS)
@pytest.mark.parametrize("short_name", ["python_truco", "python_truco_match"])
def test_random_simulation(short_name: str, name: str) -> None:
    """OpenSpiel's own test of clones, histories, serialization, bounds and observations."""
    simulated = pyspiel.load_game(short_name, PARAMETER_SETS[name])
    sims = 1 if short_name == "python_truco_match" else 3
    pyspiel.random_sim_test(simulated, num_sims=sims, serialize=True, verbose=False)


def test_chance_deals_one_card_at_a_time() -> None:
    small = pyspiel.load_game("python_truco", {"deck": "1E 7E 3O 2B 4C 4B", "hand_size": 2})
    state = small.new_initial_state()
    left = sorted(parse_cards("1E 7E 3O 2B 4C 4B"))
    for card in parse_cards("3O 1E 4B 7E"):
        assert state.current_player() == pyspiel.PlayerId.CHANCE
        assert state.chance_outcomes() == [(other, pytest.approx(1 / len(left))) for other in left]
        assert state.action_to_string(card) == card_name(card)
        state.apply_action(card)
        left.remove(card)
    assert state.current_player() == 0
    assert [a for a in state.legal_actions() if a < DECK_SIZE] == sorted(parse_cards("3O 1E"))
    assert state.points_won() == (0, 0)


def test_action_words() -> None:
    whole = pyspiel.load_game("python_truco")
    state = node_after_deal(whole, ["7O", "4C", "12E", "1B", "3O", "6E"]).state
    assert whole.num_distinct_actions() == 49
    assert [state.action_to_string(0, action) for action in range(49)] == naive.ACTIONS


def test_game_info_of_the_whole_game() -> None:
    whole = pyspiel.load_game("python_truco")
    assert (whole.min_utility(), whole.max_utility()) == (-15, 15)  # Falta Envido at 0-0
    assert whole.max_game_length() == 6 + 6 + 5  # cards, Truco calls and answers, E E RE FE and its answer
    close = pyspiel.load_game("python_truco", {"mano_score": 14})
    assert (close.min_utility(), close.max_utility()) == (-11, 1)  # E E RE and Vale Cuatro against 1 point
    no_envido = pyspiel.load_game("python_truco", {"envido": False})
    assert (no_envido.min_utility(), no_envido.max_utility()) == (-4, 4)
    match = pyspiel.load_game("python_truco", {"utility": "match"})
    assert (match.min_utility(), match.max_utility()) == (-1, 1)
    for loaded in (whole, close, no_envido, match):
        assert loaded.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM
        assert loaded.utility_sum() == 0


@pytest.mark.parametrize(
    ("params", "moves"),
    [
        ({}, "falta_envido quiero"),
        ({"rules": "argentino"}, "falta_envido quiero"),
        (
            {"pie_score": 14},
            "envido envido real_envido quiero truco retruco vale_cuatro quiero 7O mazo",
        ),
        (
            {"target": 30, "falta": "malas_buenas"},
            "falta_envido quiero truco retruco vale_cuatro quiero 7O mazo",
        ),
        ({"envido": False}, "truco retruco vale_cuatro quiero 7O mazo"),
    ],
)
def test_max_utility_is_reached(params: dict[str, Any], moves: str) -> None:
    """Mano wins all that can be won in one hand."""
    whole = pyspiel.load_game("python_truco", params)
    state = node_after_deal(whole, ["7O", "6O", "4B", "1C", "2E", "3B"]).state
    for word in moves.split():
        state.apply_action(parse_action(word))
    assert state.is_terminal()
    assert state.returns() == [whole.max_utility(), -whole.max_utility()]


@pytest.mark.parametrize("preset", PRESETS)
def test_parameters_choose_the_rules(preset: str) -> None:
    """Each rules field is a parameter on top of the preset."""
    fields = {
        "target": 30,
        "envido": False,
        "envido_reveal": "hands",
        "raise_right": "any",
        "envido_after_truco": "allow",
        "max_envido": 3,
        "falta_accept": "adds",
        "hand_size": 2,
        "deck": "1E 7E 3O 2B",
    }
    fields |= {"fold_vs_envido": "both", "first_trick_fold_bonus": 1} if preset == "base" else {}
    fields |= {"fold_vs_envido": "round", "first_trick_fold_bonus": 0} if preset == "argentino" else {}
    assert pyspiel.load_game("python_truco", {"rules": preset}).setup.rules == PRESETS[preset]
    for name, value in fields.items():
        change = {"deck": value, "hand_size": 2} if name == "deck" else {name: value}
        expected = make_rules(preset, change)
        assert expected != PRESETS[preset]
        for short_name in ("python_truco", "python_truco_match"):
            loaded = pyspiel.load_game(short_name, {"rules": preset, **change})
            rules = loaded.setup.rules if short_name == "python_truco" else loaded.rules
            assert rules == expected


@pytest.mark.parametrize("name", PARAMETER_SETS)
def test_game_string_round_trip(name: str) -> None:
    loaded = pyspiel.load_game("python_truco", PARAMETER_SETS[name] | {"mano_score": 1})
    again = pyspiel.load_game(str(loaded))
    assert again.setup == loaded.setup
    assert str(again) == str(loaded)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"rules": "uruguayo"}, "uruguayo"),
        ({"envido_reveal": "cards"}, "envido_reveal"),
        ({"deck": "1E 8E 3O 2B", "hand_size": 1}, "8E"),
        ({"deck": "1E 1E 3O 2B", "hand_size": 1}, "1E"),
        ({"hand_size": 4}, "hand_size"),
        ({"mano_score": 15}, "15"),
        ({"utility": "money"}, "money"),
        ({"utility": "match", "equity": "/nowhere/table.csv"}, "table.csv"),
    ],
)
def test_bad_parameters_are_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pyspiel.load_game("python_truco", params)


# ---------------------------------------------------------------------------------------- utility and match


@pytest.mark.parametrize("table", ["simple", "file"])
def test_match_utility(table: str, tmp_path: Path) -> None:
    """Twice the chance to win the match after the hand, minus one, where the other player is mano next."""
    chance = {(a, b): (1 + a) / (3 + a + 2 * b) for a in range(15) for b in range(15)}  # of the next mano
    path = tmp_path / "equity.csv"
    rows = [f"{a},{b},{p!r}" for (a, b), p in chance.items()]
    path.write_text("\n".join(["# made up", "mano_score,pie_score,mano_wins", *rows]))
    params = {"utility": "match", "mano_score": 9, "pie_score": 12}
    whole = pyspiel.load_game("python_truco", params | {"equity": str(path) if table == "file" else "simple"})
    rng = random.Random(table)
    ends = set()
    for _ in range(200):
        node = node_after_deal(whole, rng.sample(naive.CARDS, 6))
        while not node.state.is_terminal():
            assert node.state.returns() == [0, 0]
            node = node.child(random_action(node.state, rng))
        mano, pie = naive.scores(node.deal, node.history)
        if max(mano, pie) == 15:
            wins = float(mano == 15)
        elif table == "file":
            wins = 1 - chance[pie, mano]
        else:
            wins = 1 - simple_equity(15).win_probability(pie, mano)
        assert node.state.returns() == pytest.approx([2 * wins - 1, 1 - 2 * wins], abs=1e-12)
        ends.add((mano, pie))
    assert len(ends) > 10
    assert any(15 in end for end in ends)


def test_simple_equity_by_hand() -> None:
    """Hands pay 1, 2, 3 points with chance .5, .3, .2 to either seat; worked out by hand up to target 2."""
    assert simple_equity(1).win_probability(0, 0) == 0.5
    assert simple_equity(2).win_probability(1, 1) == 0.5
    assert simple_equity(2).win_probability(1, 0) == pytest.approx(0.5 + 0.25 * 0.5)
    for target in (2, 15, 30):
        table = simple_equity(target)
        for a in range(target):
            for b in range(target):
                assert table.win_probability(a, b) + table.win_probability(b, a) == pytest.approx(1)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("mano,pie,wins\n0,0,0.5", "columns"),
        ("mano_score,pie_score,mano_wins\n0,0,0.5", "0-1"),
        ("mano_score,pie_score,mano_wins\n0,0,0.5\n0,1,0.4\n1,0,0.6\n1,1,1.5", "1-1"),
        ("mano_score,pie_score,mano_wins\n0,0,half", "half"),
    ],
)
def test_bad_equity_tables_are_refused(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "equity.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=named):
        pyspiel.load_game("python_truco", {"utility": "match", "target": 2, "equity": str(path)})


class PlayedHand(NamedTuple):
    """One hand of a match: who was mano, and the same hand for the naive twin."""

    mano_seat: int
    deal: naive.Deal
    history: list[naive.Move]


def play_match(loaded: pyspiel.Game, rng: random.Random) -> tuple[pyspiel.State, list[PlayedHand]]:
    """A random match, checked hand by hand against the naive twin."""
    state, hands, scores = loaded.new_initial_state(), list[PlayedHand](), [0, 0]
    state.apply_action(rng.randrange(2))
    first_mano = state.history()[0]
    while not state.is_terminal():
        seat = (first_mano + len(hands)) % 2
        cards = rng.sample(naive.CARDS, 6)
        for card in cards:
            assert state.is_chance_node()
            state.apply_action(parse_card(card))
        deal = naive.Deal(cards[:3], cards[3:], scores[seat], scores[1 - seat])
        hand = PlayedHand(seat, deal, [])
        while not naive.is_over(deal, hand.history):
            mover = naive.player_to_move(deal, hand.history)
            assert mover is not None
            assert state.current_player() == mover ^ seat
            action = random_action(state, rng)
            hand.history.append((mover, action_name(action)))
            state.apply_action(action)
        hands.append(hand)
        after = naive.scores(deal, hand.history)
        scores = [after[seat], after[1 - seat]]
        assert state.is_terminal() == (max(scores) == 15)
    winner = scores.index(15)
    assert state.returns() == ([1, -1] if winner == 0 else [-1, 1])
    return state, hands


def test_match_game_plays_hands_with_alternating_mano() -> None:
    loaded = pyspiel.load_game("python_truco_match")
    rng = random.Random(7)
    for _ in range(10):
        state, hands = play_match(loaded, rng)
        moves = sum(len(hand.history) for hand in hands)
        assert state.move_number() == 1 + 6 * len(hands) + moves
        assert moves <= loaded.max_game_length()


def test_match_information_state_leaks_nothing_and_forgets_nothing() -> None:
    """Swapping cards that a seat did not see in any hand of the match leaves its view as it is; who held
    them can tell."""
    loaded = pyspiel.load_game("python_truco_match")
    rng = random.Random(8)

    def replay(hands: list[PlayedHand]) -> pyspiel.State:
        state = loaded.new_initial_state()
        state.apply_action(hands[0].mano_seat)
        for hand in hands:
            for word in [*hand.deal.mano_cards, *hand.deal.pie_cards, *(word for _, word in hand.history)]:
                state.apply_action(parse_action(word))
        return state

    changes = 0
    for _ in range(10):
        end, hands = play_match(loaded, rng)
        for seat in (0, 1):
            swapped = [
                hand._replace(deal=swap_unseen(hand.deal, hand.history, seat ^ hand.mano_seat, rng))
                for hand in hands
            ]
            twin = replay(swapped)
            assert twin.information_state_string(seat) == end.information_state_string(seat)
            assert twin.observation_string(seat) == end.observation_string(seat)
            assert twin.observation_tensor(seat) == end.observation_tensor(seat)
            changed = any(
                set(one.deal.cards_of(1 - seat ^ one.mano_seat))
                != set(other.deal.cards_of(1 - seat ^ one.mano_seat))
                for one, other in zip(hands, swapped, strict=True)
            )
            same = twin.information_state_string(1 - seat) == end.information_state_string(1 - seat)
            assert same != changed
            changes += changed
    assert changes > 10


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"first_mano": 2}, "first_mano"),
        ({"score0": 15}, "15"),
        ({"score1": -1}, "-1"),
        ({"rules": "x"}, "'x'"),
    ],
)
def test_bad_match_parameters_are_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pyspiel.load_game("python_truco_match", params)


def test_match_parameters() -> None:
    loaded = pyspiel.load_game("python_truco_match", {"first_mano": 1, "score0": 14, "score1": 13})
    state = loaded.new_initial_state()
    for card in parse_cards("7O 4C 12E 1B 3O 6E"):
        state.apply_action(card)
    assert state.current_player() == 1
    state.apply_action(parse_action("mazo"))
    assert state.is_terminal()
    assert state.returns() == [1, -1]
    flip = pyspiel.load_game("python_truco_match").new_initial_state()
    assert flip.chance_outcomes() == [(0, 0.5), (1, 0.5)]
