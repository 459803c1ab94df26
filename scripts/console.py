"""How the commands talk to people and machines: one-line errors, JSON, progress on stderr, shared options."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from game.truco.rules import Rules

# Every usage error of the command line (unknown option, missing argument, bad value) derives from this one.
_UsageError: Any = typer.BadParameter.__bases__[0]

RulesOption = Annotated[
    str,
    typer.Option("--rules", help="Preset base or argentino, or a TOML file of rules.", metavar="NAME|FILE"),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", help="Change one rules field, such as max_envido=1; repeat for more.", metavar="F=V"
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def new_app(help_text: str) -> typer.Typer:
    """A command with subcommands: help without arguments, no shell-completion options, no rich tracebacks."""
    return typer.Typer(
        help=help_text,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def run(app: typer.Typer) -> None:
    """Runs the command line and exits: 0 done, 2 on bad input (one line on stderr), 130 when interrupted."""
    try:
        status = app(standalone_mode=False)
    except _UsageError as error:
        fail(error.format_message())
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        extra = next((extra for extra, packages in _EXTRAS.items() if package in packages), None)
        if extra is None:
            raise
        fail(_lacks(package, extra))
    except (ValueError, OSError, MemoryError) as error:
        fail(str(error))
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    sys.exit(status if isinstance(status, int) else 0)


def note_compiling() -> None:
    """Says on stderr that the first answer takes longer, where no kernel has been compiled yet."""
    from solver.jit import kernel_files

    if not kernel_files():
        print("note: kernels are compiled now, once, in about half a minute", file=sys.stderr)


_EXTRAS = {
    "tables": ("pandas", "tabulate"),
    "plot": ("matplotlib", "pandas"),
    "parquet": ("pyarrow", "pandas"),
    "openspiel": ("pyspiel", "open_spiel"),
    "cluster": ("distributed",),
    "test": ("scipy",),
}
"""What not everybody needs: the packages that each extra of this project brings."""


def need(extra: str) -> None:
    """Raises ValueError unless the packages of an extra are there; to be called before any work is done."""
    from importlib.util import find_spec

    for package in _EXTRAS[extra]:
        if find_spec(package) is None:
            raise ValueError(_lacks(package, extra))


def _lacks(package: str, extra: str) -> str:
    return f"this needs {package}, which is not installed: pip install 'truco-theory[{extra}]'"


def fail(reason: str) -> NoReturn:
    """Prints the reason, if there is one to give, as one line on stderr and exits with status 2."""
    if reason:
        print(f"error: {' '.join(reason.split())}", file=sys.stderr)
    sys.exit(2)


def print_json(value: Any) -> None:
    """Prints a value as JSON; numbers keep their full precision, nan becomes null."""
    print(json_text(value), end="")


def json_text(value: Any) -> str:
    """A value as the text of a JSON file; see `print_json`."""
    return json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value != value:
        return None
    return value


@contextmanager
def progress(description: str, after: float = 0.0) -> Iterator[Callable[..., None]]:
    """A progress bar with the time left on stderr; call it with the share done and a short note.

    With `after` it appears only when that many seconds have passed.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(elapsed_when_finished=False),
        TextColumn("{task.fields[note]}"),
    )
    bar = Progress(*columns, console=Console(stderr=True))
    task = bar.add_task(description, total=1.0, note="")
    begin = time.monotonic()

    def update(done: float, note: str = "") -> None:
        if time.monotonic() - begin >= after:
            bar.start()
        bar.update(task, completed=min(done, 1.0), note=note)

    try:
        if after == 0.0:
            bar.start()
        yield update
    finally:
        if bar.live.is_started:  # to stop one that never began prints an empty line
            bar.stop()


def chosen_rules(name: str, changes: list[str] | None) -> Rules:
    """Rules of a preset name or TOML file with `field=value` changes; ValueError says what is wrong."""
    from pathlib import Path

    from game.truco.rules import PRESETS, load_rules, make_rules, parse_field

    fields = dict(parse_field(text) for text in changes or [])
    if name in PRESETS:
        return make_rules(name, fields)
    if not name.endswith(".toml"):
        raise ValueError(f"unknown rules {name!r}, allowed: {', '.join(PRESETS)}, or a .toml file")
    return load_rules(Path(name), fields)


def parse_score(text: str, target: int) -> tuple[int, int]:
    """Two scores written `12-9`; ValueError unless both are 0 to target - 1."""
    parts = text.split("-")
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        raise ValueError(f"score {text!r} is not of the form 12-9")
    first, second = int(parts[0]), int(parts[1])
    if max(first, second) >= target:
        raise ValueError(f"score {text} is outside 0-0 to {target - 1}-{target - 1}")
    return first, second
