"""``walras rebalance``: which shards move where, to bring all servers' loads into a band."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
import typer

from walras import data
from walras.cli.common.errors import ended
from walras.cli.common.figures import need_figures
from walras.cli.common.output import Format, OutputOption, emit
from walras.cli.common.progress import Interruptible, Stages
from walras.cli.common.solving import ShowProgress, TimeLimit
from walras.cli.common.streams import put, tell
from walras.data.formats.sheet import Sheet, read
from walras.domains import load_balancing as lb
from walras.domains.load_balancing.sequence import STRICTER, WARM_UP
from walras.errors import InputError
from walras.reports.tables import Cell, Table, to_json
from walras.status import Status

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
    _check_figure(figure)
    options = partial(lb.Options, keep=keep, attempts=attempts, time_limit=time_limit, seed=seed)
    with (
        Interruptible() as interrupt,
        Stages({"balancing": 1.0}, 1e-3, interrupt, shown=progress) as stages,
    ):
        callback = stages.begin("balancing")
        if shards is not None:
            problem = _problem(
                shards,
                servers,
                band,
                np.inf if memory is None else memory,
                drain or [],
                spread,
                replicas,
            )
            result = lb.solve_round(problem, options(on_progress=callback))
        else:
            room = 16.0 if memory is None else memory
            played, source = _play(
                rounds or 0, size or "256x2048", band, room, options(), stages, baseline=baseline
            )
    if shards is None:
        _print_rounds(played, source, figure, output)
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


def _check_figure(figure: Path | None) -> None:
    if figure is not None:
        need_figures("--figure")
        from walras.plot.files import check_file

        check_file(figure)


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


def _problem(
    shards: Path,
    servers: Path | None,
    band: float,
    memory: float,
    drain: list[str],
    spread: int,
    replicas: int | None,
) -> lb.Round:
    shard = read(shards, "shard", ("load", "server"), ("footprint", "cost", "replicas"))
    server = None
    if servers is not None:
        server = read(servers, "server", (), ("weight", "memory", "zone", "drain"))
    names = _servers_of(shard) if server is None else server.keys
    options: dict[str, Any] = {"band": band, "memory": memory, "spread": spread, "drain": drain}
    for column in ("footprint", "cost", "replicas"):
        if column in shard.columns:
            options[column] = shard.numbers(column)
    if replicas is not None:
        options["replicas"] = replicas
    if server is not None:
        for column in ("weight", "memory"):
            if column in server.columns:
                options[column] = server.numbers(column)
        if "zone" in server.columns:
            options["zone"] = [line["zone"].text for line in server.lines]
        if "drain" in server.columns:
            options["drain"] = [*drain, *_drained(server)]
    placed = _placement(shard, names)
    return lb.make_round(shard.numbers("load"), placed, servers=names, **options)


def _drained(server: Sheet) -> list[str]:
    out = []
    for line in server.lines:
        text = line["drain"].text.lower()
        if text not in ("", "no", "yes"):
            raise InputError(
                f"is '{text}'",
                where=line["drain"].where,
                allowed="yes, no or empty",
                remedy="write yes for a server to be emptied",
            )
        if text == "yes":
            out.append(line["server"].text)
    return out


def _servers_of(shard: Sheet) -> list[str]:
    """The servers that the shards name, in the order of their first appearance."""
    cells = (line["server"].text.split() for line in shard.lines)
    return list(dict.fromkeys(word.partition(":")[0] for words in cells for word in words))


def _placement(shard: Sheet, names: list[str]) -> sp.coo_array:
    """Shares by server and shard from the cells of the column ``server``."""
    known = {name: i for i, name in enumerate(names)}
    rows, columns, shares = [], [], []
    for j, line in enumerate(shard.lines):
        seen = set[str]()
        for word in line["server"].text.split():
            name, _, part = word.partition(":")
            if name not in known or name in seen:
                what = "is named twice" if name in seen else "is not among the servers"
                raise InputError(
                    f"server '{name}' {what}",
                    where=line["server"].where,
                    allowed=", ".join(names[:5]) + (", ..." if len(names) > 5 else ""),
                    remedy="name each known server at most once",
                )
            seen.add(name)
            rows.append(known[name])
            columns.append(j)
            shares.append(_share(part, line["server"].where))
    return sp.coo_array((shares, (rows, columns)), shape=(len(names), len(shard.lines)))


def _share(part: str, where: str) -> float:
    try:
        share = float(part) if part else 1.0
    except ValueError:
        share = -1.0
    if not 0.0 < share <= 1.0:
        raise InputError(
            f"the share is '{part}'",
            where=where,
            allowed="above 0, at most 1",
            remedy="write server:share, such as s1:0.7",
        )
    return share


def _print(result: lb.Rebalanced, figure: Path | None, output: Format) -> None:
    moves = Table(
        ("shard", "from", "to", "load"),
        [(t.shard, t.source or None, t.target, t.load) for t in result.transfers],
    )
    if figure is not None:
        from walras.plot.files import save
        from walras.plot.rebalance import loads_figure

        save(loads_figure(result), figure)
    if output is Format.CSV:
        emit(moves, output)
        return
    facts = _facts(result)
    if output is Format.JSON:
        told = Table(tuple(facts), [tuple(facts.values())]).records()[0]
        servers = _servers(result, result.problem.servers).records()
        put(to_json({**told, "transfers": moves.records(), "servers": servers}))
        return
    emit(Table(("", "rebalanced"), list(facts.items())))
    if result.moves:
        title = f"the {min(_SHOWN, result.moves)} largest of {result.moves} moves"
        emit(Table(moves.columns, moves.rows[:_SHOWN], title))
    emit(_servers(result, _SHOWN))
    tell(_message(result.status))


def _message(status: Status) -> str:
    if status is Status.OPTIMAL:
        return "No placement within the limits needs a lower cost of moves."
    return "The placement meets all limits; the bound leaves open whether fewer moves would do."


def _facts(result: lb.Rebalanced) -> dict[str, Cell]:
    p = result.problem
    mean = float(p.load.sum()) / p.servers
    before = p.loads_now() / mean
    return {
        "servers": p.servers,
        "shards": p.shards,
        "status": str(result.status),
        "moves": result.moves,
        "cost": result.value,
        "bound": result.bound,
        "gap": result.gap,
        "least and largest load before, of the mean": f"{before.min():.4g} to {before.max():.4g}",
        "after": f"{result.loads.min() / mean:.4g} to {result.loads.max() / mean:.4g}",
        "violation": result.violation,
        "method": result.method,
        "seconds": result.seconds,
    }


def _servers(result: lb.Rebalanced, most: int) -> Table:
    """Loads before and after, those that change most first."""
    p = result.problem
    before, after = p.loads_now(), result.loads
    held = np.bincount(result.server, minlength=p.servers)
    order = np.argsort(-np.abs(after - before), kind="stable")[:most].tolist()
    rows = [
        (
            p.server_names[i],
            float(before[i]),
            float(after[i]),
            float(p.lower[i]),
            float(p.upper[i]),
            int(held[i]),
        )
        for i in order
    ]
    title = f"the {len(rows)} of {p.servers} servers whose load changes most"
    return Table(("server", "before", "after", "least", "most", "replicas"), rows, title)


def _play(
    rounds: int,
    size: str,
    band: float,
    memory: float,
    options: lb.Options,
    stages: Stages,
    *,
    baseline: bool,
) -> tuple[list[lb.Rounds], str]:
    numbers = data.load("lb_random")
    if not 1 <= rounds <= len(numbers.numbers):
        raise InputError(
            f"is {rounds}",
            where="--rounds",
            allowed=f"1 to {len(numbers.numbers)}",
            remedy="the sequence has that many rounds",
        )
    servers, shards = _parsed(size)
    u = numbers.numbers[:rounds]
    first = lb.first_round(float(u[0]), servers=servers, shards=shards, band=band, memory=memory)
    word = "replicas kept" if options.keep else "replicas dropped"
    policy = partial(lb.solve_round, options=options)
    played = [lb.play(first, u, policy, f"Walras, {word}", stages.count)]
    if baseline:
        played.append(lb.play(first, u, lb.estore, "E-Store greedy", stages.count))
    return played, f"{numbers.source}, {numbers.origin}"


def _parsed(size: str) -> tuple[int, int]:
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
    frames = [one.frame() for one in played]
    columns = tuple(map(str, frames[0].columns))
    lines = Table(columns, [tuple(row) for frame in frames for row in frame.to_numpy().tolist()])
    if output is not Format.TABLE:
        emit(lines, output)
        return
    put(f"numbers: {source}")
    warm_up = WARM_UP if len(played[0].rounds) > WARM_UP else 0
    told = [_means(one, warm_up) for one in played]
    rows = [(fact, *(facts[fact] for facts in told)) for fact in told[0]]
    title = f"means over rounds {warm_up} to {len(played[0].rounds) - 1}"
    emit(Table(("", *(one.policy for one in played)), rows, title))


def _means(one: lb.Rounds, warm_up: int) -> dict[str, Cell]:
    frame = one.frame()
    counted = frame[warm_up:]
    return {
        "moves a round": one.mean_moves(),
        f"moves of loads above {STRICTER:g}": one.mean_moves(stricter=True),
        "proved least, from the same placement": float(counted["bound"].mean()),
        "rounds at the proved least": float((counted["moves"] <= counted["bound"]).mean()),
        "seconds a round, median": float(counted["seconds"].median()),
        "longest": float(frame["seconds"].max()),
        "replicas at the end": int(frame["replicas"].iloc[-1]),
        "largest violation": float(frame["violation"].max()),
    }


app = typer.Typer(add_completion=False)
app.command("rebalance", help=HELP)(rebalance)
