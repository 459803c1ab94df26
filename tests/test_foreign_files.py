"""Files from somebody else: the checksum is right, the content is not. They are refused in one line, or harmless."""

from __future__ import annotations

import json
import math
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from game.truco.equity import load_equity, simple_equity
from game.truco.rules import PRESETS
from solver import load_solution
from solver.records import read_record
from solver.storage import StorageError, _sha256, read_arrays, write_arrays
from solver.truco.match import equity_states
from solver.truco.match.selfplay import final_scores
from solver.truco.reading.solution import SolutionInfo
from solver.truco.solutions.quick_solution import KIND, VERSION, load_quick_solution
from tests.test_truco_command import truco

ROOT = Path(__file__).parent.parent
ODD_VALUES: list[Any] = [
    None, True, -1, 0.5, 2**63, 1e308, "", "quick\nand more", [], [[]], {}, [1, 2, 3], {"target": 15}, [None, None],
]  # fmt: skip


def refusal(path: Path, load: Callable[[Path], object]) -> str:
    """The one line that refuses a file."""
    with pytest.raises(ValueError, match=r".") as caught:
        load(path)
    line = str(caught.value)
    assert "\n" not in line
    assert len(line) < 1000
    assert str(path) in line
    return line


# ---- containers


def container(path: Path, header: bytes, data: bytes = b"") -> Path:
    path.write_bytes(struct.pack("<Q", len(header)) + header + data)
    return path


def declared(path: Path, entries: dict[str, Any], data: bytes, metadata: Any = None) -> Path:
    """A container of these header entries; its checksum is that of no arrays."""
    digest = _sha256("test", 1, {}, metadata or {})
    inner = {
        "kind": "test",
        "version": 1,
        "sha256": digest,
        "metadata": {} if metadata is None else metadata,
    }
    header = json.dumps({**entries, "__metadata__": {"container": json.dumps(inner)}}).encode()
    return container(path, header + b" " * (-len(header) % 8), data)


def entry(dtype: object = "F64", shape: object = (2,), offsets: object = (0, 16)) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


def test_a_container_made_for_these_tests_is_read(tmp_path: Path) -> None:
    path = declared(tmp_path / "a", {"x": entry()}, bytes(16))
    arrays, _ = read_arrays(path, "test", 1, verify=False)
    assert arrays["x"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "entries",
    [
        {"x": entry("F128")},
        {"x": entry(["F64"])},
        {"x": entry(shape=(3,))},
        {"x": entry(shape=(-1,))},
        {"x": entry(shape=(1, -2, -1))},
        {"x": entry(shape=(2.0,))},
        {"x": entry(shape=(True, 2))},
        {"x": entry(shape=2)},
        {"x": entry(shape="2")},
        {"x": entry(shape=(0, 2**70), offsets=(0, 0)), "y": entry()},
        {"x": entry(shape=(2**40, 2**40))},
        {"x": entry(shape=(1,) * 80 + (2,))},
        {"x": entry(offsets=(0, 24), shape=(3,))},
        {"x": entry(offsets=(-16, 0))},
        {"x": entry(offsets=(0, -1))},
        {"x": entry(offsets=(0, 16.0))},
        {"x": entry(offsets=(16, 0))},
        {"x": entry(offsets=(0,))},
        {"x": entry(offsets=None)},
        {"x": entry(), "y": entry()},
        {"x": entry(), "y": entry(offsets=(8, 16), shape=(1,))},
        {"x": entry("U8", (1,), (0, 1)), "y": entry("F32", (3,), (1, 13)), "z": entry("U8", (3,), (13, 16))},
        {"x": "F64"},
        {"x": None},
        {"x": entry("F64", (1,), (0, 8))},
        {},
    ],
    ids=str,
)  # fmt: skip
def test_arrays_that_cannot_be_are_refused(tmp_path: Path, entries: dict[str, Any]) -> None:
    path = declared(tmp_path / "a", entries, bytes(16))
    assert "damaged in its header" in refusal(path, lambda path: read_arrays(path, "test", 1, verify=False))


@pytest.mark.parametrize(
    "header",
    [
        b"[" * 100_000,
        b'{"__metadata__":{"container":"' + b"[" * 100_000 + b'"}}',
        b'{"__metadata__":{"container":"[1]"}}',
        b'{"__metadata__":{"container":7}}',
        b'{"__metadata__":[]}',
        b"[]",
        b"nonsense",
        b"\xff\xfe",
        b'{"x":' + b"9" * 5000 + b"}",
        b'{"__metadata__":{"container":"{\\"kind\\":[],\\"version\\":1,\\"metadata\\":{},\\"sha256\\":\\"\\"}"}}',
        b'{"__metadata__":{"container":"{\\"kind\\":\\"test\\",\\"version\\":1.0,\\"metadata\\":{},\\"sha256\\":1}"}}',
        b'{"__metadata__":{"container":"{\\"kind\\":\\"test\\",\\"version\\":1,\\"metadata\\":[],\\"sha256\\":1}"}}',
    ],
    ids=range(12),
)
def test_headers_that_cannot_be_are_refused(tmp_path: Path, header: bytes) -> None:
    path = container(tmp_path / "a", header)
    assert "not a solver file" in refusal(path, lambda path: read_arrays(path, "test", 1))


@pytest.mark.parametrize("length", [2**64 - 1, 2**63, 2**31, 100_000_001, 17])
def test_a_header_longer_than_the_file_is_refused(tmp_path: Path, length: int) -> None:
    path = tmp_path / "a"
    path.write_bytes(struct.pack("<Q", length) + b"{}" * 8)
    assert "truncated inside its header" in refusal(path, lambda path: read_arrays(path, "test", 1))


# ---- quick solutions


Content = tuple[dict[str, np.ndarray], dict[str, Any]]


@pytest.fixture(scope="module")
def content(quick_solution_file: Path) -> Content:
    """Arrays and metadata of a solution."""
    return read_arrays(quick_solution_file, KIND, VERSION)


def written(content: Content, path: Path) -> Path:
    write_arrays(path, KIND, VERSION, *content)
    return path


def changed(content: Content, name: str, at: int, value: object) -> Content:
    """The content with one number of an array replaced."""
    array = content[0][name].copy()
    array[at] = value
    return content[0] | {name: array}, content[1]


@pytest.mark.parametrize(
    ("name", "at", "value", "reason"),
    [
        ("start", 0, 1, "place of each row"),
        ("start", 5, -7, "place of each row"),
        ("start", 5, 2**31 - 1, "place of each row"),
        ("start", -1, 10**8, "place of each row"),
        ("start", -1, 0, "place of each row"),
        ("probs", 3, math.nan, "between 0 and 1"),
        ("probs", 3, math.inf, "between 0 and 1"),
        ("probs", 3, -0.25, "between 0 and 1"),
        ("probs", 3, 7.0, "between 0 and 1"),
        ("keys", 0, -1, "keys are not ascending"),
        ("keys", 7, 0, "keys are not ascending"),
        ("keys", -1, 0, "keys are not ascending"),
        ("slots", 4, 0, "slots name no action"),
        ("slots", 4, 0xFFFF, "slots name no action"),
        ("values", 4, -math.inf, "values are not all finite"),
        ("visits", 4, -1, "visits are not all 0 or more"),
    ],
)
def test_numbers_that_cannot_be_are_refused(content, tmp_path, name, at, value, reason) -> None:
    path = written(changed(content, name, at, value), tmp_path / "a.truco")
    assert reason in refusal(path, load_solution)


@pytest.mark.parametrize("name", ["keys", "start", "slots", "probs", "values", "visits"])
def test_arrays_of_another_kind_are_refused(content, tmp_path, name: str) -> None:
    arrays, metadata = content
    array = arrays[name]
    others = [
        array[:-1],
        array[:0],
        np.append(array, array[-1:]),
        array.reshape(1, -1),
        array.astype(np.float64),
    ]
    others += [array.view(np.int8), np.array(1, array.dtype)]
    for other in others:
        refusal(written((arrays | {name: other}, metadata), tmp_path / "a.truco"), load_solution)
    rest = {key: value for key, value in arrays.items() if key != name}
    refusal(written((rest, metadata), tmp_path / "a.truco"), load_solution)
    refusal(written((arrays | {"more": array}, metadata), tmp_path / "a.truco"), load_solution)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rules", {"target": -3}),
        ("rules", {"deck": [1, 1]}),
        ("rules", {"deck": {"1E": 2}}),
        ("rules", {"hand_size": 2}),
        ("rules", {"flor": True}),
        ("rules", []),
        ("rules_hash", 7),
        ("rules_hash", "0" * 16),
        ("score", [15, 0]),
        ("score", [0, -1]),
        ("score", [0]),
        ("score", [0, 0.5]),
        ("score", "00"),
        ("utility", "money"),
        ("utility", "match"),
        ("equity", [[0.5]]),
        ("engine", "slow"),
        ("engine", "vector"),
        ("algorithm", None),
        ("key_version", 2),
        ("key_version", "1"),
        ("iterations", -1),
        ("iterations", 1e30),
        ("deals", -1),
        ("seed", None),
        ("seconds", "long"),
        ("mano_value", None),
        ("mano_value_error", -0.5),
        ("exploitability", "0.1"),
        ("exploitability_method", 1),
        ("equity_name", ["a"]),
        ("more", 1),
    ],
)
def test_metadata_that_cannot_be_is_refused(content, tmp_path, name: str, value: object) -> None:
    arrays, metadata = content
    refusal(written((arrays, metadata | {name: value}), tmp_path / "a.truco"), load_solution)
    refusal(
        written((arrays, {k: v for k, v in metadata.items() if k != "score"}), tmp_path / "b"), load_solution
    )


@pytest.mark.parametrize("fault", ["short", "long row", "nan", "text", "above"])
def test_equity_tables_of_a_solution_are_checked(content, tmp_path, fault: str) -> None:
    arrays, metadata = content
    rows: list[Any] = [list(row) for row in simple_equity(15).rows()]
    match = metadata | {"utility": "match", "equity": rows}
    assert load_quick_solution(written((arrays, match), tmp_path / "good")).equity.target == 15
    if fault == "short":
        rows.pop()
    elif fault == "long row":
        rows[3].append(0.5)
    else:
        rows[3][4] = {"nan": None, "text": "0.5", "above": 1.5}[fault]
    refusal(written((arrays, match), tmp_path / "a.truco"), load_solution)


def mutated(content: Content, rng: random.Random) -> Content:
    """The content with something changed at random."""
    arrays, metadata = dict(content[0]), dict(content[1])
    name = rng.choice(sorted(arrays))
    array = arrays[name].copy()
    kind = rng.randrange(6)
    if kind == 0:
        field = rng.choice(sorted(metadata))
        metadata[field] = rng.choice(ODD_VALUES)
    elif kind == 1:
        raw = array.view(np.uint8)
        for _ in range(rng.choice([1, 4, 100])):
            raw[rng.randrange(len(raw))] ^= rng.randrange(1, 256)
    elif kind == 2:
        array = array[: rng.randrange(len(array))]
    elif kind == 3:
        array = np.roll(array, rng.randrange(1, len(array)))
    elif kind == 4:
        array[rng.randrange(len(array))] = rng.choice([0, 1, 2, 100])
    else:
        array = array[::-1].copy()
    arrays[name] = array
    return arrays, metadata


def test_a_solution_changed_at_random_is_refused_or_can_be_played(content, tmp_path: Path) -> None:
    rng = random.Random(15)
    refused = 0
    path = tmp_path / "a.truco"
    for _ in range(120):
        written(mutated(content, rng), path)
        try:
            solution = load_quick_solution(path)
        except StorageError as error:
            refused += "\n" not in str(error)
            continue
        table = solution.table
        ends = final_scores(PRESETS["base"], table, table, (0, 0), 50, seed=1)
        assert ends.min() >= 0
        assert ends.max() <= 15
    assert 80 <= refused < 120


def test_a_row_for_other_actions_counts_as_none(content, tmp_path: Path) -> None:
    """Whoever swaps the actions of rows gets play without them, not numbers of the next row."""
    arrays, metadata = content
    full = {key: arrays[key].copy() for key in arrays}
    full["slots"][:] = 1 << 9
    full["start"] = np.arange(len(full["keys"]) + 1, dtype=np.int32)
    full["probs"] = np.ones(len(full["keys"]), np.float32)
    full["values"] = np.zeros(len(full["keys"]), np.float32)
    table = load_quick_solution(written((full, metadata), tmp_path / "a.truco")).table
    ends = final_scores(PRESETS["base"], table, table, (0, 0), 200, seed=1)
    assert np.all(ends.max(axis=-1) <= 3), "calls are declined, cards are played: a hand is worth little"


# ---- states of the equity table, and tables


STATE = ROOT / "results/equity/base/13-14.json"


def state_file(folder: Path, **changes: object) -> Path:
    """The file of a state with other fields and the right checksum."""
    fields = json.loads(STATE.read_text()) | changes
    fields.pop("sha256")
    fields["sha256"] = equity_states._digest(fields)
    path = folder / STATE.name
    path.write_text(json.dumps(fields))
    return path


def test_states_that_cannot_be_are_refused(tmp_path: Path) -> None:
    rules = PRESETS["base"]
    folder = ROOT / "results/equity/base"
    later = {(14, 14): equity_states.load_state(folder / "14-14.json").value}
    later[14, 13] = equity_states.load_state(folder / "14-13.json").value

    def load(path: Path) -> object:
        state = equity_states.load_state(path)
        equity_states.check_state(state, rules, {(14, 14): later[14, 14]}, path)
        return state

    assert load(state_file(tmp_path)) == equity_states.load_state(STATE)
    harmless = [("rules", ""), ("value", 0.5), ("standard_error", 0.5), ("seconds", 0.5)]
    harmless += [
        ("standard_error", 2**63),
        ("seconds", 2**63),
        ("bracket", None),
        ("merges", None),
        ("merges", {}),
        ("ends", {}),
    ]
    names = [name for name in json.loads(STATE.read_text()) if name != "sha256"]
    for name in names:
        for value in ODD_VALUES:
            if (name, value) not in harmless:
                refusal(state_file(tmp_path, **{name: value}), load)
    for ends in (
        {"13-15": 0.5},
        {"13-16": 1.0},
        {"12-15": 1.0},
        {"13": 1.0},
        {"a-b": 1.0},
        {"13-15": -1.0, "14-14": 2},
    ):
        refusal(state_file(tmp_path, ends=ends), load)
    refusal(state_file(tmp_path, bracket=[0.2, 7.0]), load)
    refusal(state_file(tmp_path, value=1.01), load)
    refusal(state_file(tmp_path, more=1), load)
    path = tmp_path / "deep.json"
    path.write_text("[" * 100_000)
    refusal(path, load)
    path.write_bytes(b"\xff\xfe\x00")
    refusal(path, load)


def test_a_folder_with_a_state_that_cannot_be_is_one_line(tmp_path: Path, capsys) -> None:
    for path in (ROOT / "results/equity/base").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    for change in ({"ends": -1}, {"engine": -1}):
        state_file(tmp_path, **change)
        status, out, err = truco(capsys, "equity", "show", "--equity", tmp_path)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert next(iter(change)) in err


def table_text(**changes: str) -> str:
    """An equity table to 3 with some cells replaced, by `ab` for the score a-b; an empty text drops the row."""
    rows = {f"s{a}{b}": f"{a},{b},0.5" for a in range(3) for b in range(3)} | changes
    return "\n".join(["mano_score,pie_score,mano_wins", *(row for row in rows.values() if row)])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "mano_score",
        "x" * 200_000,
        ",".join(["mano_score"] * 60_000),
        table_text(s11=""),
        table_text(s11="1,1,nan"),
        table_text(s11="1,1,inf"),
        table_text(s11="1,1,1e999"),
        table_text(s11="1,1,-0.1"),
        table_text(s11="1,1,1.1"),
        table_text(s11="1,1,1_0"),
        table_text(s11="1,1,"),
        table_text(s11="1,1"),
        table_text(s11="1"),
        table_text(s11="1,1," + "9" * 200_000),
        table_text(s11="1,1," + "9" * 100_000),
        table_text(s11="9" * 100_000 + ",1,0.5"),
        table_text(s11="1.0,1,0.5"),
        table_text(s11="-1,1,0.5"),
        table_text(s11="1,0,0.5"),
        table_text(more="3,0,0.5"),
        table_text(s11='"1,1,0.5'),
        table_text(s11="1,1,0.5\0"),
    ],
    ids=range(23),
)
def test_tables_that_cannot_be_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    refusal(path, lambda path: load_equity(str(path), 3))


def test_a_table_is_text_and_its_comments_are_shown_as_they_are(tmp_path: Path, capsys) -> None:
    path = tmp_path / "table.csv"
    path.write_text("# rules: [/bold] of somebody\n" + table_text(s11="1,1,.75"))
    assert load_equity(str(path), 3).win_probability(1, 1) == 0.75
    status, out, _ = truco(capsys, "equity", "show", "--set", "target=3", "--equity", path)
    assert status == 0
    assert "[/bold] of somebody" in out
    path.write_bytes(b"\xff\xfe" * 20)
    assert "is not a text" in refusal(path, lambda path: load_equity(str(path), 3))
    refusal(tmp_path, lambda path: load_equity(str(path), 3))


# ---- kept solutions and records


def test_a_kept_solution_of_another_spot_is_refused(content, tmp_path: Path, capsys, monkeypatch) -> None:
    from scripts.solutions import kept_path

    monkeypatch.setenv("TRUCO_HOME", str(tmp_path))
    written(content, kept_path(PRESETS["argentino"], (0, 0), None))
    words = ("table", "envido", "--rules", "argentino")
    status, out, err = truco(capsys, *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "holds another spot than its name says" in err
    kept_path(PRESETS["argentino"], (0, 0), None).write_bytes(b"nonsense")
    status, out, err = truco(capsys, *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "not a solver file" in err


def test_records_name_the_field() -> None:
    with pytest.raises(ValueError, match=r"^has no field rules$"):
        read_record(SolutionInfo, {})
    with pytest.raises(ValueError, match=r"^is 7, not a table of fields$"):
        read_record(SolutionInfo, 7)
