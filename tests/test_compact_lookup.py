"""What the look-up of a compact file says, against whole tables walked by kernels; and what it takes to ask."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from game.truco.actions import ENVIDO, MAZO, QUIERO, REAL_ENVIDO, TRUCO
from game.truco.equity import simple_equity
from game.truco.hand import Hand
from game.truco.rules import PRESETS
from game.truco.spot import Spot
from solver import load_solution
from solver.truco.reading.player import mix_at
from solver.truco.reading.simulation import simulate
from solver.truco.solutions import load, quick_solution
from solver.truco.solutions.compact_solution import CompactSolution, load_compact_solution
from solver.truco.solutions.load import shipped_policy
from solver.truco.vector.model.trees import build_trunk
from solver.truco.vector.policy import compact, files
from solver.truco.vector.policy.locate import locate
from solver.truco.vector.policy.shrink import trunk_histories
from tests.test_truco_command import truco


@pytest.fixture(scope="module")
def shipped() -> CompactSolution:
    """The policy that comes with the program."""
    path = shipped_policy(PRESETS["base"], (0, 0), "points")
    assert path is not None
    return load_compact_solution(path)


def openings(seed: int, count: int) -> list[Spot]:
    """Spots of random hands before an Envido is accepted in trick 1."""
    rng = random.Random(seed)
    spots: list[Spot] = []
    while len(spots) < count:
        cards = rng.sample(range(40), 6)
        hand = Hand(PRESETS["base"], cards[:3], cards[3:])
        for _ in range(rng.randint(0, 6)):
            after = hand.copy()
            after.apply(rng.choice([action for action in hand.legal_actions() if action != MAZO]))
            if after.is_over or after.tricks or after.envido_accepted:
                break
            hand = after
        seat = hand.to_move
        assert seat is not None
        spots.append(Spot(hand.rules, seat, hand.cards[seat], (0, 0), tuple(hand.history)))
    return spots


def test_the_look_up_says_what_whole_tables_say(shipped: CompactSolution) -> None:
    stored, worth = shipped.stored, shipped.compact.worth()
    mixed = 0
    for spot in openings(7, 150):
        told = shipped.look_up(spot)
        assert told is not None
        slow = simulate(shipped.strategy, spot, simple_equity(15), 1, 1)
        assert told.own_reach == pytest.approx(slow.own_reach, abs=1e-12)
        assert told.other_reach == pytest.approx(slow.other_reach, abs=1e-12)
        assert bool(told.mix) == slow.known
        if not told.mix:
            assert told.worth == {}
            continue
        mixed += 1
        mix = dict(zip(slow.actions, slow.probabilities.tolist(), strict=True))
        assert told.mix == pytest.approx(mix, abs=1e-12)
        played, learnt = mix_at(shipped, spot)
        assert learnt
        assert list(played) == slow.actions
        assert played == pytest.approx(mix, abs=1e-12)
        place = locate(stored.game, spot.hand)
        flat = worth[place.table].reshape(-1)
        expected = {
            action: float(flat[place.begin + k * place.stride])
            for k, real in enumerate(place.choices)
            for action in real
        }
        assert told.worth == pytest.approx(expected, abs=1e-6)
    assert mixed > 80


def test_the_look_up_leaves_what_comes_later_to_others(shipped: CompactSolution) -> None:
    for words, shown in (((REAL_ENVIDO, QUIERO), 20), ((0, 5), None)):
        said = tuple((None, word) for word in words)
        assert shipped.look_up(Spot(PRESETS["base"], 0, (0, 26, 32), (0, 0), said, shown)) is None
    assert shipped.look_up(Spot(PRESETS["base"], 0, (0, 26, 32), (0, 0), ())) is not None


@pytest.mark.parametrize(
    "changes", [{}, {"max_envido": 1}, {"envido": False}, {"envido_after_truco": "allow"}]
)
def test_histories_name_every_node_once(changes: dict[str, object]) -> None:
    from game.truco.rules import make_rules

    trunk = build_trunk(make_rules("base", changes), (0, 0), None)
    names = trunk_histories(trunk)
    assert names[0] == ""
    assert len(set(names)) == len(names) == len(trunk.nodes)
    for name, node in zip(names, trunk.nodes, strict=True):
        assert len(name.split()) == len(node.history)
    assert compact.history_key([7, TRUCO, ENVIDO]) == "card truco envido"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="tells the peak of memory on Linux only")
def test_asking_takes_no_numba_and_little_memory() -> None:
    code = (
        "import sys; sys.argv = ['truco', 'advise', '7O 6O 4B', '--mano', '--json']\n"
        "from scripts.truco import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "peak = [line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')]\n"
        "print('numba' in sys.modules, *peak, file=sys.stderr)"
    )
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        seconds.append(time.perf_counter() - begin)
        assert json.loads(done.stdout)["samples"] == 0
        numba, kilobytes = done.stderr.split()
        assert numba == "False"
        assert int(kilobytes) < 250_000
    # 0.45 s on two free cores; the best of three leaves room for a busy machine.
    assert min(seconds) < 1.5


def test_a_spot_that_nobody_reaches_is_answered_at_once(capsys, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRUCO_HOME", str(tmp_path))
    words = ("advise", "1E 7O 2B", "--pie", "--history", "3C truco retruco")
    begin = time.perf_counter()
    status, out, err = truco(capsys, *words)
    assert time.perf_counter() - begin < 5
    assert status == 0
    assert "never reaches this spot" in " ".join(out.split())
    assert "%" not in out
    assert err.startswith("note: the policy that comes with this program never comes to this spot")
    assert err.count("\n") == 1
    assert not any(tmp_path.iterdir())


def test_the_kinds_of_files_are_those_that_their_modules_write(shipped: CompactSolution) -> None:
    assert (load.QUICK, load.POLICY, load.COMPACT) == (quick_solution.KIND, files.POLICY, compact.COMPACT)
    path = shipped_policy(PRESETS["base"], (0, 0), "points")
    assert path is not None
    assert isinstance(load_solution(path), CompactSolution)
    assert shipped_policy(PRESETS["base"], (0, 1), "points") is None
    assert shipped_policy(PRESETS["argentino"], (0, 0), "points") is None
    assert shipped_policy(PRESETS["base"], (0, 0), "match") is None
