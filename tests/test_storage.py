"""The file container: what is written comes back, and nothing but an intact file is read."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from solver.storage import StorageError, read_arrays, write_arrays

ARRAYS = {
    "floats": np.linspace(0, 1, 30).reshape(5, 6),
    "columns": np.arange(12, dtype=np.int32).reshape(3, 4).T,
    "flags": np.array([True, False, True]),
    "nothing": np.zeros((0, 3), np.float32),
    "number": np.array(7, np.uint8),
}
METADATA = {"rules": {"target": 15}, "names": ["mano", "pie", "ñ"], "value": 0.1}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.file"
    write_arrays(path, "test", 1, ARRAYS, METADATA)
    return path


@pytest.mark.parametrize("verify", [True, False])
def test_what_is_written_comes_back(path: Path, verify: bool) -> None:
    arrays, metadata = read_arrays(path, "test", 1, verify=verify)
    assert metadata == METADATA
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert np.array_equal(arrays[name], array)
        assert not arrays[name].flags.writeable
        assert not arrays[name].flags.owndata


def test_equal_input_gives_equal_bytes(path: Path, tmp_path: Path) -> None:
    write_arrays(tmp_path / "b", "test", 1, dict(reversed(ARRAYS.items())), METADATA)
    assert (tmp_path / "b").read_bytes() == path.read_bytes()


def test_other_programs_can_read_it(path: Path) -> None:
    from safetensors.numpy import load_file

    assert np.array_equal(load_file(path)["columns"], ARRAYS["columns"])


def test_the_file_has_the_usual_permissions(path: Path, tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    assert path.stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_no_byte_may_change(path: Path) -> None:
    intact = path.read_bytes()
    for place in range(len(intact)):
        path.write_bytes(intact[:place] + bytes([intact[place] ^ 1]) + intact[place + 1 :])
        with pytest.raises(StorageError):
            read_arrays(path, "test", 1)


def test_no_byte_may_be_missing_or_added(path: Path) -> None:
    intact = path.read_bytes()
    for length in range(len(intact)):
        path.write_bytes(intact[:length])
        with pytest.raises(StorageError):
            read_arrays(path, "test", 1, verify=False)
    path.write_bytes(intact + b"\0")
    with pytest.raises(StorageError, match="truncated, or damaged"):
        read_arrays(path, "test", 1, verify=False)


def test_reasons_are_told_in_one_line(path: Path, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"a\.file: holds a 'test', not a 'solution'$"):
        read_arrays(path, "solution", 1)
    with pytest.raises(StorageError, match=r"format version 1 of 'test'; this program reads version 2$"):
        read_arrays(path, "test", 2)
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(StorageError, match=r"damaged \(checksum differs\)$"):
        read_arrays(path, "test", 1)
    (tmp_path / "text").write_text("mano,pie\n" * 100)
    with pytest.raises(StorageError, match="not a solver file"):
        read_arrays(tmp_path / "text", "test", 1)
    from safetensors.numpy import save_file

    save_file({"a": np.zeros(3)}, tmp_path / "foreign")
    with pytest.raises(StorageError, match="not a solver file"):
        read_arrays(tmp_path / "foreign", "test", 1)


def test_input_that_cannot_be_kept_is_refused_and_leaves_the_old_file(path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(ValueError, match="'c' has dtype complex128"):
        write_arrays(path, "test", 1, {"c": np.zeros(2, complex)}, {})
    with pytest.raises(ValueError, match="plain JSON"):
        write_arrays(path, "test", 1, ARRAYS, {"path": path})
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_arrays(path, "test", 1, ARRAYS, {"value": float("nan")})
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_write_leaves_nothing_behind(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space"):
        write_arrays(path, "test", 1, {"a": np.zeros(3)}, {})
    assert list(path.parent.iterdir()) == [path]
    assert read_arrays(path, "test", 1)[1] == METADATA


_WRITER = """
import sys, numpy as np
from solver.storage import write_arrays
for turn in range(10**9):
    write_arrays(sys.argv[1], "test", 1, {"a": np.full(1_000_000, turn), "b": np.array(turn)}, {"turn": turn})
"""


def test_a_killed_writer_leaves_an_intact_file(tmp_path: Path) -> None:
    path, turns = tmp_path / "file", []
    for delay in (0.0, 0.013, 0.029, 0.041, 0.057, 1.0):  # the last for a busy machine
        path.unlink(missing_ok=True)
        writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(path)])
        deadline = time.monotonic() + 60
        while not path.exists():
            assert time.monotonic() < deadline, "the writer wrote nothing"
            time.sleep(0.001)
        time.sleep(delay)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        arrays, metadata = read_arrays(path, "test", 1)
        assert np.all(arrays["a"] == metadata["turn"])
        assert arrays["b"] == metadata["turn"]
        turns.append(metadata["turn"])
    assert max(turns) > 0  # at least one was killed while overwriting
