"""`truff train`: makes the files of weights that come with the package, again, and measures them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scripts.console import JsonOption, new_app, print_json, progress

train = new_app("Make the files of weights that come with the package, again.")
SeedOption = Annotated[int, typer.Option(min=0, help="Same seed and input, same answer.")]
_GAIN_DEALS = 1000


@train.command("policy")
def train_policy(
    out: Annotated[Path, typer.Option(help="File to write (JSON).")] = Path("solver/truff/data/policy.json"),
    generations: Annotated[int, typer.Option(min=1, help="Rounds of the cross-entropy method.")] = 40,
    seed: SeedOption = 1,
) -> None:
    """Tune the rollout policy against rule-based players and itself (3 minutes of one core)."""
    import json

    from game.truff.rules import Rules
    from solver.truff.engine import config
    from solver.truff.policy import START_WEIGHTS, WEIGHT_NAMES
    from solver.truff.tune import tune_policy

    check_folder(out)
    with progress("tuning the policy") as update:
        weights = tune_policy(
            START_WEIGHTS,
            config(Rules()),
            generations,
            seed,
            progress=lambda done, points, made: update(
                (done + 1) / generations, f"{points:+.3f} points, {made:.1%} made"
            ),
        )
    record = {
        "generations": generations,
        "seed": seed,
        "weights": dict(zip(WEIGHT_NAMES, weights, strict=True)),
    }
    out.write_text(json.dumps(record, indent=1) + "\n")
    print(out)


@train.command("bids")
def train_bids(
    out: Annotated[Path, typer.Option(help="File to write (npz).")] = Path("solver/truff/data/bidder.npz"),
    rounds: Annotated[int, typer.Option(min=1, help="Best responses of fictitious play.")] = 12,
    samples: Annotated[int, typer.Option(min=10000, help="Simulated bids per best response.")] = 1_000_000,
    seed: SeedOption = 1,
    json: JsonOption = False,
) -> None:
    """Learn bids by fictitious play (6 minutes of one core) and measure what a fresh deviator still gains."""
    from game.truff.rules import Rules
    from solver.truff.bidding import save_bidder
    from solver.truff.engine import config
    from solver.truff.fictitious import fictitious_play, measure_gain
    from solver.truff.policy import load_policy

    check_folder(out)
    cfg, policy = config(Rules()), load_policy()
    with progress("fictitious play") as update:
        bidder = fictitious_play(
            cfg,
            policy,
            rounds,
            samples,
            seed,
            progress=lambda done, gain, interval: update(
                done / (rounds + 1), f"round {done}: response gains {gain:+.3f} ± {interval:.3f}"
            ),
        )
        gain, interval = measure_gain(cfg, policy, bidder, samples, seed + 500)
    save_bidder(bidder, out)
    if json:
        print_json({"file": str(out), "rounds": rounds, "gain": gain, "interval": interval})
    else:
        print(f"{out}: a fresh deviator gains {gain:+.3f} ± {interval:.3f} points per deal")


@train.command("gain")
def train_gain(
    samples: Annotated[
        int, typer.Option(min=10000, help="Simulated bids to fit the deviator to.")
    ] = 1_000_000,
    hands: Annotated[int, typer.Option(min=2, help="Hands of the deviator who simulates.")] = 400,
    seed: SeedOption = 501,
    json: JsonOption = False,
) -> None:
    """Measure what unilateral deviators gain against the learned bids (2 minutes of one core)."""
    from game.truff.rules import Rules
    from solver.truff.bidding import load_bidder
    from solver.truff.engine import config, new_rng
    from solver.truff.fictitious import measure_gain, simulation_gains
    from solver.truff.policy import load_policy
    from solver.truff.tournament import mean_and_interval

    cfg, policy, bidder = config(Rules()), load_policy(), load_bidder()
    gain, interval = measure_gain(cfg, policy, bidder, samples, seed)
    gains = simulation_gains(cfg, policy, bidder, hands, _GAIN_DEALS, new_rng(seed))
    simulated, simulated_interval = mean_and_interval(gains)
    if json:
        print_json(
            {
                "network": gain,
                "network_interval": interval,
                "simulation": simulated,
                "simulation_interval": simulated_interval,
            }
        )
        return
    print(f"a deviator with a fresh network gains {gain:+.3f} ± {interval:.3f} points per deal")
    print(f"a deviator who simulates gains        {simulated:+.3f} ± {simulated_interval:.3f}")


def check_folder(path: Path) -> None:
    """Raises ValueError unless the folder of a file to write is there."""
    if not path.parent.is_dir():
        raise ValueError(f"folder {path.parent} does not exist")
