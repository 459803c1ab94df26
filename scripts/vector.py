"""The vector engine on the command line: solves with checkpoints and resume, and exact best responses."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict, replace
from functools import partial
from json import JSONDecodeError, loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scripts.console import JsonOption, print_json, progress

if TYPE_CHECKING:
    from solver.truco.vector.cfr.run import Goal
    from solver.truco.vector.model.game import Game
    from solver.truco.vector.policy.compact import CompactFacts
    from solver.truco.vector.policy.info import VectorInfo
    from solver.truco.vector.response.best import BestResponse


def parse_memory(text: str) -> float:
    """Bytes of a size such as `16GB` or `800MB`; ValueError for other texts."""
    units = {"KB": 1e3, "MB": 1e6, "GB": 1e9}
    number, unit = text[:-2], text[-2:].upper()
    try:
        size = float(number) * units[unit]
    except (ValueError, KeyError):
        raise ValueError(f"memory {text!r} is not of the form 16GB or 800MB") from None
    if not size > 0:
        raise ValueError(f"memory {text!r} is not above 0")
    return size


def vector_solve(
    game: Game, schedule: str, goal: Goal, max_memory: float, trim: float, out: Path
) -> VectorInfo:
    """Solves a game and writes the policy to `out`, trimmed.

    Measurements at tier level are kept with the policy. Goes on from `out` + `.checkpoint` where there is one, and
    keeps it up to date. Raises ValueError if it does not fit the memory, or the checkpoint is of another game.
    """
    from solver.truco.vector.cfr.run import Progress, Spent, solve
    from solver.truco.vector.cfr.solver import VectorSolver, memory_bytes
    from solver.truco.vector.policy.files import StoredPolicy, load_checkpoint, save_checkpoint
    from solver.truco.vector.policy.info import VectorInfo
    from solver.truco.vector.response.tiers.response import tier_exploitability

    parts = ", ".join(f"{name} {entries / 1e6:,.0f}M" for name, entries in game.table_entries.items())
    memory = memory_bytes(game)
    print(
        f"{sum(game.table_entries.values()) / 1e6:,.0f}M regrets ({parts}); {memory / 1e9:.1f} GB",
        file=sys.stderr,
    )
    if memory > max_memory:
        raise ValueError(
            f"needs {memory / 1e9:.1f} GB, more than --max-memory {max_memory / 1e9:.1f} GB; "
            "coarser --contexts, --values or --chains need less"
        )
    checkpoint = out.with_name(out.name + ".checkpoint")
    spent = Spent()
    if checkpoint.exists():
        solver, saved = load_checkpoint(checkpoint)
        spent = Spent(saved.seconds, saved.curve)
        if saved != VectorInfo.of(game, schedule, saved.iterations, *spent):
            raise ValueError(
                f"{checkpoint} is of another game, abstraction or schedule; move it away to start anew"
            )
    else:
        solver = VectorSolver(game)

    def keep(so_far: Spent) -> None:
        save_checkpoint(solver, VectorInfo.of(game, schedule, solver.iterations, *so_far), checkpoint)

    with progress(f"vector solve {game.rules.name()} at {game.score[0]}-{game.score[1]}") as show:

        def tell(at: Progress) -> None:
            measured = ""
            if at.curve and goal.until is not None:
                measured = (
                    f", exploitability at tier level {at.curve[-1][2]:.4f} after {at.curve[-1][0]} iterations"
                )
            show(
                at.share,
                f"iteration {solver.iterations}, {at.seconds:.1f} s each, mano {at.values[0]:+.4f}, "
                f"gap {at.values.sum():.4f}{measured}",
            )

        spent = solve(solver, schedule, goal, spent, tier_exploitability, keep, tell)
    info = VectorInfo.of(game, schedule, solver.iterations, *spent)
    if trim > 0.0:
        solver.trim(trim)
        info = replace(info, trim=trim)
    StoredPolicy.of(solver, info).save(out)
    return info


def show_vector(info: VectorInfo, path: Path, json: bool, compact_facts: CompactFacts | None = None) -> None:
    """Says what a policy file holds, whole or compact."""
    if json:
        extra: dict[str, Any] = {} if compact_facts is None else {"compact": asdict(compact_facts)}
        print_json({"file": str(path), "engine": "vector", **asdict(info), **extra})
        return
    from game.truco.rules import make_rules

    rules = make_rules("base", dict(info.rules)).name()
    unit = "points" if info.equity is None else "match"
    from solver.truco.vector.policy.certificate import kept_certificate

    measured = f"not measured: truco exploitability {path}"
    if info.curve:
        after, _, found = info.curve[-1]
        measured = (
            f"at tier level {found:.4f} after {after} iterations, a lower bound; exact: "
            f"truco exploitability {path}"
        )
    exact, remark = kept_certificate(path, info)
    if exact is not None:
        measured = f"{exact:.5f} {_unit(info)}, exact with real cards"
    elif remark:
        measured = remark
    for label, text in (
        ("file", str(path)),
        ("rules", f"{rules} ({info.rules_hash})"),
        ("score", f"mano {info.score[0]}, pie {info.score[1]}; utility {unit}"),
        ("engine", f"vector: {info.schedule}, {info.iterations:,} iterations, {info.seconds:.0f} s"),
        ("trim", f"actions below {info.trim:.1%} of their infoset dropped" if info.trim else "none"),
        ("merges", str(info.abstraction)),
        ("exploitability", measured),
    ):
        if compact_facts is None or label != "exploitability":
            print(f"{label:15}{text}")
    if compact_facts is not None:
        print(f"{'compact':15}{compact_facts.words()}")


COMPACT_EXAMPLES = "Examples:  `truco compact base.vector --out base.trick1`"


def compact(
    file: Annotated[
        Path, typer.Argument(help="A policy written by `truco solve --engine vector`.", metavar="FILE")
    ],
    out: Annotated[Path, typer.Option(help="File to write.")],
    least: Annotated[
        float,
        typer.Option(
            min=0.0, max=1.0, help="Drop what the play of either side reaches less often than this."
        ),
    ] = 0.001,
    certificate: Annotated[
        Path | None,
        typer.Option(
            help="What `truco exploitability FILE --json` said, so that advice tells the figure; by default what "
            "that command kept beside FILE.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write trick 1 of a policy as a file of megabytes; advice solves tricks 2 and 3 anew, for the spot it is asked.

    Mixes are rounded to 8 bits; infosets that the play of either side seldom reaches are left out.
    """
    from solver.truco.vector.policy.certificate import certified, kept_certificate
    from solver.truco.vector.policy.files import load_policy
    from solver.truco.vector.policy.shrink import compact_policy

    if not out.parent.is_dir():
        raise ValueError(f"folder {out.parent} does not exist")
    stored = load_policy(file)
    exploitable, remark = kept_certificate(file, stored.info)
    if remark and certificate is None:
        print(f"note: {remark}", file=sys.stderr)
    if certificate is not None:
        try:
            exploitable = certified(stored.info, loads(certificate.read_text()))
        except OSError as error:
            raise ValueError(f"cannot read {certificate}: {error.strerror}") from None
        except JSONDecodeError as error:
            raise ValueError(f"{certificate} is not JSON: {error}") from None
    made = compact_policy(stored, least, exploitable)
    made.save(out)
    show_vector(made.info, out, json, made.facts)


EXAMPLES = (
    "Examples:  `truco exploitability base.vector`  ·  `truco exploitability base.vector --leaks 20`  ·  "
    "`truco exploitability base.vector --json > certificate.json`  ·  `truco exploitability base.vector --fast`"
)
SEATS = ("mano", "pie")


def exploitability(
    file: Annotated[
        Path, typer.Argument(help="A policy written by `truco solve --engine vector`.", metavar="FILE")
    ],
    leaks: Annotated[
        int,
        typer.Option(
            min=0, help="Also the policy's own value, and so many public situations that leak most."
        ),
    ] = 0,
    keep: Annotated[
        Path | None,
        typer.Option(
            help="Folder for finished parts, from which a later call goes on (FILE.parts by default).",
            show_default=False,
        ),
    ] = None,
    fast: Annotated[
        bool,
        typer.Option(
            "--fast",
            help="Only a lower bound, in minutes: the exploiter sees tiers, not suits. It certifies nothing.",
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Exact best responses of both seats in the real game: 40 cards, all deals, an exploiter who forgets nothing.

    Minutes where no hand goes on after an accepted Envido, hours for the full hand at 0-0. When it is interrupted,
    the same command goes on. Exploitability is the mean of what the best response of each seat gains; it is kept in
    FILE.certificate, from which tables, plots, advice and `truco info` tell it.
    """
    from solver.truco.vector.cfr.average import Policy
    from solver.truco.vector.policy.certificate import save_certificate
    from solver.truco.vector.policy.files import load_policy
    from solver.truco.vector.response.cards.response import best_response
    from solver.truco.vector.response.tiers.response import tier_response

    stored = load_policy(file)
    policy = Policy(stored.game, stored.tables)
    folder = keep or (None if fast else file.with_name(file.name + ".parts"))
    respond, title = (tier_response, " at tier level") if fast else (best_response, "")
    found = []
    begin = time.monotonic()
    for player, seat in enumerate(SEATS):
        with progress(f"best response of {seat}{title}") as show:
            noted = show if folder is None else partial(show, note=f"parts kept in {folder}")
            found.append(respond(policy, player, noted, folder, gains=leaks > 0))
    seconds = time.monotonic() - begin
    mean, least = (found[0].value + found[1].value) / 2, "_at_least" if fast else ""
    result: dict[str, Any] = {
        "file": str(file),
        f"exploitability{least}": mean,
        "unit": _unit(stored.info),
        "method": LOWER_BOUND if fast else "exact best responses in the real game",
        f"best_response{least}": {seat: found[k].value for k, seat in enumerate(SEATS)},
        "seconds": round(seconds),
        "policy": asdict(stored.info),
    }
    if leaks:
        result |= _leaks(found, leaks)
    if not fast:
        save_certificate(file, result)
    if json:
        print_json(result)
        return
    bound = "at least " if fast else ""
    for seat, response in zip(SEATS, found, strict=True):
        print(f"{f'best response of {seat}':22} {bound}{response.value:+.5f}")
    if leaks:
        print(f"{'own value of mano':22} {result['mano_value']:+.5f}")
    print(f"{'exploitability':22} {bound}{mean:.5f} {result['unit']}")
    how = "lower bound at tier level: this exploiter does not see suits on the table" if fast else EXACT
    print(f"{how}, {seconds:.0f} s in this run")
    for seat, response in zip(SEATS, found, strict=True):
        _show_leaks(seat, response, leaks)


LOWER_BOUND = "lower bound: best responses at tier level, blind to suits"
EXACT = "exact in the real game"


def _unit(info: VectorInfo) -> str:
    return "points per hand" if info.equity is None else "utility: match won 1, lost -1"


def _leaks(found: list[BestResponse], count: int) -> dict[str, Any]:
    """The policy's own value, and where each best response gains over it."""
    told: dict[str, Any] = {"leaks": {}, "trunk_gain": {}}
    for seat, response in zip(SEATS, found, strict=True):
        assert response.gains is not None
        told["trunk_gain"][seat] = response.gains.trunk
        told["leaks"][seat] = [
            {
                "history": [{"seat": who, "action": action} for who, action in leak.history],
                "mass": leak.mass,
                "gain": leak.gain,
            }
            for leak in response.gains.leaks[:count]
        ]
        if response.player == 0:
            told["mano_value"] = response.gains.own_value
    return told


def _show_leaks(seat: str, response: BestResponse, count: int) -> None:
    if response.gains is None:
        return
    print(
        f"\nwhere {seat} as exploiter gains: {response.gains.trunk:+.5f} by his own choices in trick 1 before an "
        "accepted Envido; then\n(gain per hand, how often he comes there, calls and cards so far)"
    )
    for leak in response.gains.leaks[:count]:
        print(f"  {leak.gain:+.5f}  {leak.mass:7.2%}  {leak.words()}")
