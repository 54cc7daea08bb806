"""``walras rebalance``: which shards move where, to bring all servers' loads into a band."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from walras import data
from walras.cli.common.errors import ExitCode, ended
from walras.cli.common.output import Format, OutputOption, emit
from walras.cli.common.progress import Interruptible, Stages
from walras.cli.common.solving import ShowProgress, TimeLimit
from walras.cli.common.streams import put, tell
from walras.cli.common.targets import check_figure
from walras.domains import load_balancing as lb
from walras.domains.load_balancing.sequence import published_rounds
from walras.errors import InputError
from walras.reports.rebalance import (
    facts_of,
    message_of,
    moves_table,
    rounds_table,
    servers_table,
)
from walras.reports.tables import Table, of_frame, record, to_json

_SHOWN = 20  # moves and servers in the tables; json and csv have all of them

HELP = """Bring every server's load into a band with the fewest moves of shards.

The tables are CSV files:

  shards    shard, load, server; optional: footprint, cost, replicas

  servers   server; optional: weight, memory, zone, drain (yes or empty)

A shard that has several replicas names their servers with spaces between, each
with its share of the load after a colon where the shares are not equal:
"s1:0.7 s2:0.3". A shard that is nowhere yet leaves the cell empty.

With --rounds the sequence of POP and DeDe runs instead, each round from the
placement that the one before left.

Examples:

  walras rebalance --shards s.csv --servers v.csv --band 0.1 --memory 16

  walras rebalance --shards s.csv --drain s7 -o csv

  walras rebalance --rounds 100 --figure rounds.png

Exit codes: 0 done, 2 bad input, 3 no placement meets the limits, 5 the bound
was not reached, 6 file not found, 130 interrupted.
"""


def rebalance(
    shards: Annotated[Path | None, typer.Option(help="CSV table of the shards.")] = None,
    servers: Annotated[Path | None, typer.Option(help="CSV table of the servers.")] = None,
    band: Annotated[float, typer.Option(help="Half the band's width, relative.")] = 0.1,
    memory: Annotated[
        float | None,
        typer.Option(help="Room on each server where its table has none; 16 with --rounds."),
    ] = None,
    drain: Annotated[list[str] | None, typer.Option(help="A server to empty; repeat.")] = None,
    spread: Annotated[int, typer.Option(help="Zones that each shard must stand in.")] = 1,
    replicas: Annotated[
        int | None, typer.Option(help="Replicas of each shard, whatever its table says.")
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep/--drop", help="Keep replicas that others could take over from.")
    ] = True,
    rounds: Annotated[int | None, typer.Option(help="Rounds of the sequence, 1 to 100.")] = None,
    size: Annotated[
        str | None, typer.Option(help="With --rounds: servers x shards; 256x2048 if left out.")
    ] = None,
    baseline: Annotated[bool, typer.Option(help="With --rounds: E-Store's greedy too.")] = False,
    figure: Annotated[Path | None, typer.Option(help="Draw loads and moves: .png or .svg.")] = None,
    attempts: Annotated[int, typer.Option(help="Attempts of the local search.")] = 2000,
    time_limit: TimeLimit = None,
    seed: Annotated[int, typer.Option(help="Of the local search.")] = 0,
    progress: ShowProgress = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Bring every server's load into a band with the fewest moves of shards."""
    of_tables = {
        "--servers": servers,
        "--drain": drain,
        "--replicas": replicas,
        "--spread": spread > 1,
    }
    _check_ways(shards, rounds, of_tables, {"--size": size, "--baseline": baseline})
    check_figure(figure)
    options = partial(lb.Options, keep=keep, attempts=attempts, time_limit=time_limit, seed=seed)
    with (
        Interruptible() as interrupt,
        Stages({"balancing": 1.0}, 1e-3, interrupt, shown=progress) as stages,
    ):
        callback = stages.begin("balancing")
        if shards is not None:
            problem = lb.read_round(
                shards,
                servers,
                band=band,
                memory=math.inf if memory is None else memory,
                drain=drain or [],
                spread=spread,
                replicas=replicas,
            )
            result = lb.solve_round(problem, options(on_progress=callback))
        else:
            numbers = data.load("lb_random")
            played = published_rounds(
                numbers.numbers[: _checked_rounds(rounds, len(numbers.numbers))],
                size=_parsed_size(size or "256x2048"),
                band=band,
                memory=16.0 if memory is None else memory,
                options=options(),
                baseline=baseline,
                on_progress=stages.count,
            )
    if shards is None:
        _print_rounds(played, f"{numbers.source}, {numbers.origin}", figure, output)
        if stages.stopped:
            tell(f"stopped after {len(played[-1].rounds)} of {rounds} rounds")
            raise typer.Exit(ExitCode.INTERRUPTED)
        return
    _print(result, figure, output)
    raise typer.Exit(ended(result.status, result.gap, None))


def _check_ways(
    shards: Path | None,
    rounds: int | None,
    of_tables: Mapping[str, object],
    of_rounds: Mapping[str, object],
) -> None:
    """Refuse both ways of calling at once, none, and options of the other one."""
    if (shards is None) == (rounds is None):
        raise InputError(
            "give either the tables or the number of rounds",
            where="--shards, --rounds",
            allowed="one of the two",
            remedy="--shards shards.csv, or --rounds 100",
        )
    if shards is None:
        _refuse_unused(of_tables, "--rounds")
    else:
        _refuse_unused(of_rounds, "--shards")


def _refuse_unused(given: Mapping[str, object], way: str) -> None:
    """Refuse options that the other way of calling knows."""
    unused = [name for name, value in given.items() if value]
    if unused:
        raise InputError(
            f"says nothing with {way}",
            where=unused[0],
            allowed=f"with {'--shards' if way == '--rounds' else '--rounds'} only",
            remedy="leave it out",
        )


def _print(result: lb.Rebalanced, figure: Path | None, output: Format) -> None:
    if figure is not None:
        from walras.plot.files import save
        from walras.plot.rebalance import loads_figure

        save(loads_figure(result), figure)
    if output is Format.CSV:
        emit(moves_table(result), output)
        return
    facts = facts_of(result)
    if output is Format.JSON:
        summary = record(facts).records()[0]
        servers = servers_table(result, result.problem.servers).records()
        put(to_json({**summary, "transfers": moves_table(result).records(), "servers": servers}))
        return
    emit(Table(("", "rebalanced"), list(facts.items())))
    if result.moves:
        emit(moves_table(result, _SHOWN))
    emit(servers_table(result, _SHOWN))
    tell(message_of(result))


def _checked_rounds(rounds: int | None, most: int) -> int:
    if rounds is None or not 1 <= rounds <= most:
        raise InputError(
            f"is {rounds}",
            where="--rounds",
            allowed=f"1 to {most}",
            remedy="the sequence has that many rounds",
        )
    return rounds


def _parsed_size(size: str) -> tuple[int, int]:
    left, _, right = size.partition("x")
    if not (left.isdigit() and right.isdigit() and 1 < int(left) <= int(right)):
        raise InputError(
            f"is '{size}'",
            where="--size",
            allowed="servers x shards, such as 256x2048",
            remedy="at least two servers, and at least as many shards",
        )
    return int(left), int(right)


def _print_rounds(
    played: list[lb.Rounds], source: str, figure: Path | None, output: Format
) -> None:
    if figure is not None:
        from walras.plot.files import save
        from walras.plot.rebalance import rounds_figure

        save(rounds_figure(played), figure)
    if output is not Format.TABLE:
        emit(of_frame(pd.concat([one.frame() for one in played])), output)
        return
    emit(rounds_table(played, source))


app = typer.Typer(add_completion=False)
app.command("rebalance", help=HELP)(rebalance)
