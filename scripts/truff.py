"""The `truff` command: which contract to bid, which mode to choose, which card to play; tournaments, tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scripts.console import JsonOption, new_app, print_json, progress, run
from scripts.truff_train import SeedOption, check_folder, train

if TYPE_CHECKING:
    from game.truff.deal import View
    from game.truff.rules import Rules
    from solver.truff.advice import BidAdvice

app = new_app(
    "Truff, the Indonesian exact-contract trick game: what to bid, how to play, and what it is worth."
)
advise = new_app("Advice for one hand: the bid, the mode at T = 13, or the next card.")
app.add_typer(advise, name="advise")
app.add_typer(train, name="train")

HandArgument = Annotated[str, typer.Argument(help="Your 13 dealt cards.", metavar='"2D 9D KD …"')]
BidsOption = Annotated[
    str,
    typer.Option(
        help="The shown bids, yours first, then round the table: 'cards / cards / cards / cards'.",
        metavar='"3C 2C / 4H / 5S / 6D"',
    ),
]
TrumpLeadOption = Annotated[
    str, typer.Option(help="When a trump may be led: broken, first or never.", metavar="RULE")
]
FaceDownOption = Annotated[
    str, typer.Option(help="Trumps are hidden within the trick (trick) or not (visual).", metavar="RULE")
]
WorldsOption = Annotated[int, typer.Option(min=1, help="Guesses of the hidden cards to play out.")]

_SHOWN_BIDS = 8


def main() -> None:
    """Entry point of the console command."""
    run(app)


@advise.command("bid", epilog='Example:  `truff advise bid "2D 9D KD 3C 4C 2H 7H QH AH 5S TS JS AS"`')
def advise_bid(
    hand: HandArgument,
    deals: Annotated[int, typer.Option(min=2, help="Simulated deals for each of the best bids.")] = 2000,
    every: Annotated[bool, typer.Option("--all", help="List every contract, not only the best.")] = False,
    trump_lead: TrumpLeadOption = "broken",
    face_down: FaceDownOption = "trick",
    seed: SeedOption = 1,
    json: JsonOption = False,
) -> None:
    """Say what each contract is worth with this hand, and with which cards to show the best one."""
    from game.truff.cards import card_names

    ranked, shown = _rank_bids(hand, deals, _rules(trump_lead, face_down), seed)
    if json:
        print_json(
            {"bids": [_bid_dict(bid) for bid in ranked], "ways_to_show": [_bid_dict(b) for b in shown]}
        )
        return
    from rich.console import Console

    console = Console()
    console.print(_bid_table("best contracts", ranked if every else ranked[:_SHOWN_BIDS]))
    if len(shown) > 1:
        console.print(_bid_table(f"ways to show {_contract(ranked[0])}", shown[:_SHOWN_BIDS]))
    console.print(f"Lay {card_names(shown[0].cards)} ({_contract(shown[0])}).")


@advise.command(
    "play",
    epilog='Example:  `truff advise play "2D 9D KD 3C 4C 2H 7H QH AH 5S TS JS AS" '
    '--bids "4C / 3D / 2S / 5H" --plays "9C 3C AC 2C / 6D TD AD"`',
)
def advise_play(
    hand: HandArgument,
    bids: BidsOption,
    plays: Annotated[
        str,
        typer.Option(
            help="All cards so far in playing order; '?' for a face-down trump of the trick on the table.",
            metavar='"9C 3C AC 2C / 6D ?"',
        ),
    ] = "",
    mode: Annotated[
        str | None, typer.Option(help="The choice at T = 13: atas or bawah.", show_default=False)
    ] = None,
    worlds: WorldsOption = 320,
    trump_lead: TrumpLeadOption = "broken",
    face_down: FaceDownOption = "trick",
    seed: SeedOption = 1,
    json: JsonOption = False,
) -> None:
    """Say what each card is worth now."""
    from game.truff.cards import card_name
    from solver.truff.advice import advise_play as search_advice
    from solver.truff.bidding import load_bidder
    from solver.truff.policy import load_policy
    from solver.truff.search import search_settings

    view = _told(hand, bids, plays, mode, _rules(trump_lead, face_down))
    ranked = search_advice(view, load_policy(), load_bidder(), search_settings(worlds), seed)
    if json:
        rows = [
            {
                "card": card_name(a.card),
                "points": a.points,
                "error": a.error,
                "made": a.made,
                "tricks": a.tricks,
            }
            for a in ranked
        ]
        print_json({"situation": _situation(view), "plays": rows})
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title=_situation_line(view), title_justify="left")
    for column in ("card", "points", "± 95 %", "made", "tricks"):
        table.add_column(column, justify="left" if column == "card" else "right")
    for a in ranked:
        tricks = sum(k * share for k, share in enumerate(a.tricks))
        error = f"{1.96 * a.error:.2f}"
        table.add_row(card_name(a.card), f"{a.points:+.2f}", error, f"{a.made:.0%}", f"{tricks:.1f}")
    Console().print(table)
    print(f"Play {card_name(ranked[0].card)}.")


@advise.command(
    "mode",
    epilog='Example:  `truff advise mode "4S AS KS 2S 3D JD 4C 7C TC 5H 6H 8H QH" --bids "4S / 2D AD / 4H / 2C"`',
)
def advise_mode(
    hand: HandArgument,
    bids: BidsOption,
    worlds: WorldsOption = 1000,
    trump_lead: TrumpLeadOption = "broken",
    face_down: FaceDownOption = "trick",
    seed: SeedOption = 1,
    json: JsonOption = False,
) -> None:
    """Say whether the contract winner should choose Main Atas or Main Bawah at T = 13."""
    from solver.truff.advice import advise_mode as search_advice
    from solver.truff.bidding import load_bidder
    from solver.truff.policy import load_policy
    from solver.truff.search import search_settings

    view = _told(hand, bids, "", None, _rules(trump_lead, face_down))
    advice = search_advice(view, load_policy(), load_bidder(), search_settings(worlds), seed)
    if json:
        print_json({"mode": advice.mode.name.lower(), "atas": advice.atas, "bawah": advice.bawah})
    else:
        print(
            f"Choose {advice.mode.name.lower()}: atas {advice.atas:+.2f} points, bawah {advice.bawah:+.2f}."
        )


@app.command(epilog="Example:  `truff simulate --hero search-simulated --others rule --deals 800`")
def simulate(
    hero: Annotated[
        str, typer.Option(help="Player in one seat, in every seat in turn.")
    ] = "search-simulated",
    others: Annotated[str, typer.Option(help="Player in the three other seats.")] = "rule",
    deals: Annotated[int, typer.Option(min=2, help="Deals; each is played in all four rotations.")] = 200,
    worlds: WorldsOption = 80,
    proposals: Annotated[
        int, typer.Option(min=1, help="Worlds drawn for each one played out, thinned by likelihood.")
    ] = 3,
    bid_trust: Annotated[float, typer.Option(min=0, help="Exponent of the likelihood of the bids.")] = 0.5,
    play_trust: Annotated[float, typer.Option(min=0, help="Exponent of the likelihood of the plays.")] = 0.5,
    trump_lead: TrumpLeadOption = "broken",
    face_down: FaceDownOption = "trick",
    seed: SeedOption = 1,
    json: JsonOption = False,
) -> None:
    """Play a duplicate tournament: a hero against three equal opponents.

    Players: random; rule (rule-based); rollout (tuned play) and search (honest search) with rule-based bids, or with
    learned or simulated bids as rollout-learned, rollout-simulated, search-learned, search-simulated.
    """
    from solver.truff.bidding import load_bidder
    from solver.truff.policy import load_policy
    from solver.truff.search import search_settings
    from solver.truff.tournament import check_player, duplicate, mean_and_interval

    check_player(hero)
    check_player(others)
    rules = _rules(trump_lead, face_down)
    settings = search_settings(worlds, proposals, bid_trust, play_trust)
    tools = (rules, load_policy(), load_bidder(), settings)
    with progress(f"{hero} against three {others}") as update:
        result = duplicate(hero, others, deals, seed, *tools, progress=lambda done: update(done / deals))
        # The yardstick: the rule-based player in the same seats with the same opponents.
        rule = duplicate("rule", others, deals, seed, *tools)
    points, interval = mean_and_interval(result.points)
    gain, gain_interval = mean_and_interval(result.points - rule.points)
    made, made_interval = mean_and_interval(result.made)
    if json:
        print_json(
            {
                "hero": hero,
                "others": others,
                "deals": deals,
                "seed": seed,
                "points": points,
                "points_interval": interval,
                "over_rule": gain,
                "over_rule_interval": gain_interval,
                "made": made,
                "made_interval": made_interval,
            }
        )
        return
    print(f"{hero} against three {others}, {deals} deals in all rotations (95 % intervals over deals)")
    print(f"points per deal           {points:+.3f} ± {interval:.3f}")
    print(f"over rule in these seats  {gain:+.3f} ± {gain_interval:.3f}")
    print(f"contract made exactly     {made:.1%} ± {made_interval:.1%}")


@app.command(epilog="Example:  `truff table --hands 5000`")
def table(
    hands: Annotated[int, typer.Option(min=10, help="Random hands.")] = 2000,
    deals: Annotated[int, typer.Option(min=2, help="Simulated deals for each hand.")] = 60,
    out: Annotated[Path | None, typer.Option(help="Write the table as CSV.", show_default=False)] = None,
    seed: SeedOption = 1,
    json: JsonOption = False,
) -> None:
    """Tabulate what the learned bidder bids by hand type: longest suit, and aces, kings and queens held."""
    import numpy as np

    from solver.truff.bidding import load_bidder
    from solver.truff.policy import load_policy
    from solver.truff.survey import survey_hands

    if out is not None:
        check_folder(out)
    survey = survey_hands(hands, deals, seed, _rules("broken", "trick"), load_policy(), load_bidder())
    rows = []
    for low, high in ((4, 4), (5, 5), (6, 6), (7, 13)):
        for few, many in ((0, 1), (2, 3), (4, 5), (6, 12)):
            chosen = (survey.longest >= low) & (survey.longest <= high)
            chosen &= (survey.honours >= few) & (survey.honours <= many)
            if not chosen.any():
                continue
            rows.append(
                {
                    "longest": str(low) if low == high else f"{low}+",
                    "honours": f"{few}-{many}" if many < 12 else f"{few}+",
                    "hands": int(chosen.sum()),
                    "number": float(survey.number[chosen].mean()),
                    "usual": int(np.bincount(survey.number[chosen]).argmax()),
                    "longest_suit": float((survey.in_longest[chosen] == 1).mean()),
                    "nt": float((survey.denomination[chosen] == 4).mean()),
                    "points": float(survey.points[chosen].mean()),
                    "made": float(survey.made[chosen].mean()),
                }
            )
    if out is not None:
        import csv

        with out.open("w", newline="", encoding="utf-8") as file:
            lines = csv.DictWriter(file, list(rows[0]) if rows else [], lineterminator="\n")
            lines.writeheader()
            lines.writerows(rows)
    if json:
        print_json(rows)
        return
    from rich.console import Console
    from rich.table import Table

    listing = Table(title=f"learned bids of {hands} random hands", title_justify="left")
    heads = ("longest", "A K Q", "hands", "mean number", "usual", "in longest suit", "NT", "points", "made")
    for head in heads:
        listing.add_column(head, justify="right")
    for row in rows:
        listing.add_row(
            str(row["longest"]),
            str(row["honours"]),
            str(row["hands"]),
            f"{row['number']:.1f}",
            str(row["usual"]),
            f"{row['longest_suit']:.0%}",
            f"{row['nt']:.0%}",
            f"{row['points']:+.2f}",
            f"{row['made']:.0%}",
        )
    Console().print(listing)


@app.command(epilog="Example:  `truff mini --players 3 --ranks 3`")
def mini(
    ranks: Annotated[int, typer.Option(min=2, max=13, help="Ranks of the small pack.")] = 3,
    suits: Annotated[int, typer.Option(min=1, max=4, help="Suits of the small pack.")] = 2,
    players: Annotated[int, typer.Option(min=2, max=4, help="Players.")] = 3,
    iterations: Annotated[int, typer.Option(min=1, help="CFR+ iterations.")] = 300,
    worlds: WorldsOption = 40,
    seed: SeedOption = 1,
    json: JsonOption = False,
) -> None:
    """Solve a small game whole and measure the players' card play against it, exactly.

    Bids and modes stay those of the solution; the play of one seat, or of all, is replaced.
    """
    from collections.abc import Callable

    from game.truff.rules import Rules
    from solver.truff.advice import state_of_view
    from solver.truff.baseline import rule_play
    from solver.truff.bidding import blank_bidder
    from solver.truff.engine import config, new_rng
    from solver.truff.mini import flatten, nash_conv, seat_losses, solve, uniform, with_play
    from solver.truff.policy import load_policy, policy_play
    from solver.truff.search import search_play, search_settings

    rules = Rules(ranks=ranks, suits=suits, players=players)
    cfg, policy, bidder = config(rules), load_policy(), blank_bidder()
    settings = search_settings(worlds, 1, 0.0, 0.0)
    choosers: dict[str, Callable[[View, tuple[int, ...]], int]] = {
        "search": lambda view, _: search_play(
            state_of_view(view), cfg, policy, bidder, settings, new_rng(seed)
        ),
        "rollout": lambda view, _: policy_play(state_of_view(view), cfg, policy),
        "rule": lambda view, _: rule_play(state_of_view(view), cfg),
    }
    game = flatten(rules)
    with progress("CFR+") as update:
        solution = solve(game, iterations, lambda done: update(done / iterations))
    rows = {}
    for name, choose in choosers.items():
        played = with_play(game, solution, choose)
        rows[name] = {
            "seat_loss": float(seat_losses(game, solution, played).mean()),
            "nash_conv": nash_conv(game, played),
        }
    facts = {
        "nodes": len(game.player),
        "infosets": len(game.views),
        "nash_conv": nash_conv(game, solution),
        "uniform_nash_conv": nash_conv(game, uniform(game)),
        "play": rows,
    }
    if json:
        print_json(facts)
        return
    print(f"{facts['nodes']} nodes, {facts['infosets']} information sets")
    print(
        f"NashConv of the solution {facts['nash_conv']:.5f}, of uniform play {facts['uniform_nash_conv']:.3f}"
    )
    for name, row in rows.items():
        print(f"{name:8} loses {row['seat_loss']:.4f} in one seat; NashConv in all {row['nash_conv']:.4f}")


@app.command(epilog='Example:  `truff plot "2D 9D KD 3C 4C 2H 7H QH AH 5S TS JS AS" --out hand.png`')
def plot(
    hand: HandArgument,
    out: Annotated[Path, typer.Option(help="Picture to write: .png, .svg or .pdf.")],
    deals: Annotated[int, typer.Option(min=2, help="Simulated deals for each of the best bids.")] = 4000,
    seed: SeedOption = 1,
) -> None:
    """Draw the expected points of every contract of a hand, and the tricks won with the best ones."""
    from scripts.truff_plot import draw_bids

    check_folder(out)
    if out.suffix not in (".png", ".svg", ".pdf"):
        raise ValueError(f"pictures are .png, .svg or .pdf, not {out.name!r}")
    ranked, _ = _rank_bids(hand, deals, _rules("broken", "trick"), seed)
    draw_bids(ranked, out)
    print(out)


@app.command(epilog="Example:  `truff speed --json`")
def speed(seed: SeedOption = 1, json: JsonOption = False) -> None:
    """Measure the engine and the players on this machine, in processor time of one core."""
    from collections.abc import Callable
    from time import process_time

    from solver.truff.bidding import load_bidder
    from solver.truff.engine import config, new_rng, play_random_deals
    from solver.truff.policy import load_policy
    from solver.truff.search import search_settings
    from solver.truff.tournament import duplicate
    from solver.truff.tune import play_out_all, rule_bid_starts

    rules, policy, bidder, settings = (
        _rules("broken", "trick"),
        load_policy(),
        load_bidder(),
        search_settings(),
    )
    cfg, rng = config(rules), new_rng(seed)
    starts = rule_bid_starts(cfg, 20_000, rng)
    works: dict[str, tuple[int, Callable[[int], object]]] = {
        "random deals": (100_000, lambda n: play_random_deals(cfg, n, rng)),
        "rollouts of a deal with bids": (20_000, lambda n: play_out_all(starts[:n], cfg, policy)),
        "deals with one searching seat": (
            20,
            lambda n: duplicate("search", "rule", n // 4, seed, rules, policy, bidder, settings),
        ),
    }
    rates = {}
    for name, (count, work) in works.items():
        work(8)  # compiles
        start = process_time()
        work(count)
        rates[name] = count / (process_time() - start)
    if json:
        print_json(rates)
        return
    for name, rate in rates.items():
        print(f"{rate:10,.0f} {name} per second")


def _rules(trump_lead: str, face_down: str) -> Rules:
    from game.truff.rules import Rules

    return Rules(trump_lead=trump_lead, trump_face_down=face_down)


def _told(hand: str, bids: str, plays: str, mode: str | None, rules: Rules) -> View:
    from game.truff.cards import parse_cards
    from game.truff.rules import Mode
    from game.truff.spot import parse_bids, parse_plays, told_view

    if mode is not None and mode.upper() not in Mode.__members__:
        raise ValueError(f"mode must be atas or bawah, not {mode!r}")
    chosen = None if mode is None else Mode[mode.upper()]
    return told_view(parse_cards(hand), parse_bids(bids), parse_plays(plays), chosen, rules)


def _rank_bids(hand: str, deals: int, rules: Rules, seed: int) -> tuple[list[BidAdvice], list[BidAdvice]]:
    from game.truff.cards import parse_cards
    from solver.truff.advice import rank_bids
    from solver.truff.bidding import load_bidder
    from solver.truff.policy import load_policy

    return rank_bids(parse_cards(hand), rules, load_policy(), load_bidder(), deals, seed)


def _contract(bid: BidAdvice) -> str:
    from game.truff.cards import denomination_name

    return f"{bid.number} {denomination_name(bid.denomination)}"


def _bid_dict(bid: BidAdvice) -> dict[str, object]:
    from game.truff.cards import card_names, denomination_name

    return {
        "cards": card_names(bid.cards),
        "number": bid.number,
        "denomination": denomination_name(bid.denomination),
        "points": bid.points,
        "error": bid.error,
        "made": bid.made,
        "wins_contract": bid.wins_contract,
        "tricks": bid.tricks,
    }


def _bid_table(title: str, bids: list[BidAdvice]) -> object:
    from rich.table import Table

    from game.truff.cards import card_names

    listing = Table(title=title, title_justify="left")
    for column in ("contract", "cards", "points", "± 95 %", "made", "names trump", "tricks"):
        listing.add_column(column, justify="left" if column in ("contract", "cards") else "right")
    for bid in bids:
        tricks = sum(k * share for k, share in enumerate(bid.tricks))
        listing.add_row(
            _contract(bid),
            card_names(bid.cards),
            f"{bid.points:+.2f}",
            f"{1.96 * bid.error:.2f}",
            f"{bid.made:.0%}",
            f"{bid.wins_contract:.0%}",
            f"{tricks:.1f}",
        )
    return listing


def _situation(view: View) -> dict[str, object]:
    from game.truff.cards import denomination_name

    assert view.trump is not None
    return {
        "trump": denomination_name(view.trump),
        "mode": None if view.mode is None else view.mode.name.lower(),
        "numbers": list(view.numbers),
        "won": list(view.won),
        "contract_winner": view.contract_winner,
    }


def _situation_line(view: View) -> str:
    facts = _situation(view)
    return (
        f"trump {facts['trump']}, main {facts['mode']}, contracts {' '.join(map(str, view.numbers))},"
        f" tricks {' '.join(map(str, view.won))} (yours first)"
    )
