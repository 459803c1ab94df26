"""What the wheel carries: installed in an empty folder, the program answers with what came in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXTRAS = ("pandas", "matplotlib", "pyarrow", "tabulate", "scipy", "pyspiel", "open_spiel", "distributed")
"""Packages that asking does not need."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the sources."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    for name in ("game", "solver", "scripts"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    new = int(version("setuptools").partition(".")[0]) >= 77  # else pip fetches one that builds it
    words = [
        "pip",
        "wheel",
        "--no-deps",
        "--quiet",
        *["--no-build-isolation"] * new,
        "--wheel-dir",
        str(built),
    ]
    subprocess.run([sys.executable, "-m", *words, str(source)], check=True)
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel installs."""
    folder = tmp_path_factory.mktemp("installed")
    words = ["pip", "install", "--no-deps", "--no-index", "--quiet", "--target", str(folder), str(wheel)]
    subprocess.run([sys.executable, "-m", *words], check=True)
    return folder


def run(
    installed: Path, empty: Path, *words: str, hide: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Runs the installed `truco` from an empty folder, as if the packages of `hide` were not there."""
    (empty / "sitecustomize.py").write_text(
        "from importlib.machinery import PathFinder\n"
        "found = PathFinder.find_spec\n"
        "def find(name, *words):\n"
        f"    return None if name.partition('.')[0] in {hide!r} else found(name, *words)\n"
        "PathFinder.find_spec = find\n"
    )
    code = "import sys; from scripts.truco import main; sys.argv[0] = 'truco'; main()"
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(empty), str(installed)]),
        "TRUCO_HOME": str(empty / "kept"),
    }
    return subprocess.run(
        [sys.executable, "-c", code, *words], cwd=empty, env=environment, capture_output=True, text=True
    )


def test_the_wheel_has_the_data_that_commands_read(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for folder in ("solver/truco/data", "solver/truff/data", "game/truco/data", "scripts/languages"):
        files = [path.relative_to(ROOT).as_posix() for path in (ROOT / folder).iterdir() if path.is_file()]
        assert files
        assert set(files) <= set(names)
    assert "solver/truco/data/base_0-0.trick1" in names
    assert not any(name.startswith(("tests", "results")) for name in names)


def test_asking_in_an_empty_folder_is_answered_by_the_certified_policy(
    installed: Path, tmp_path: Path
) -> None:
    done = run(installed, tmp_path, "advise", "7O 6O 4B", "--mano", "--json", hide=EXTRAS)
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert told["engine"] == "vector"
    assert told["exploitability"] == pytest.approx(0.1521, abs=1e-4)
    assert told["exploitability_method"].startswith("exact with real cards")
    mix = {row["action"]: row["probability"] for row in told["actions"]}
    assert mix["falta_envido"] > 0.3
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("table", "envido"), "tables"),
        (("plot", "envido"), "plot"),
        (("table", "envido", "--format", "parquet", "--out", "x.parquet"), "parquet"),
    ],
)
def test_what_needs_an_extra_says_which_in_one_line(
    installed: Path, tmp_path: Path, words: tuple[str, ...], extra: str
) -> None:
    done = run(installed, tmp_path, *words, hide=EXTRAS)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"pip install 'truco-theory[{extra}]'" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ("rules",),
        ("equity", "show"),
        ("cache", "list"),
        ("spot", "base.0-0.mano.4B6O7O", "--state"),
        ("info", str(ROOT / "solver/truco/data/base_0-0.trick1")),
    ],
)
def test_other_commands_need_no_extra(installed: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    done = run(installed, tmp_path, *words, hide=EXTRAS)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_what_kernels_answer_needs_no_extra(installed: Path, tmp_path: Path) -> None:
    words = ("--history", "envido quiero", "--shown", "20", "--samples", "100", "--json")
    done = run(installed, tmp_path, "advise", "7O 6O 4B", *words, hide=EXTRAS)
    assert done.returncode == 0
    assert json.loads(done.stdout)["has_mix"]
    # Where nothing has been compiled yet, the command says that this comes first.
    assert done.stderr in ("", "note: kernels are compiled now, once, in about half a minute\n")


def test_playing_and_reviewing_need_no_extra(
    installed: Path, tmp_path: Path, quick_solution_file: Path
) -> None:
    words = ("--solution", str(quick_solution_file), "--lang", "es")
    done = run(installed, tmp_path, "play", "--seed", "5", "--record", "match.txt", *words, hide=EXTRAS)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Tus cartas: " in done.stdout
    done = run(installed, tmp_path, "review", "match.txt", *words, hide=EXTRAS)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Revisión de you" in done.stdout
