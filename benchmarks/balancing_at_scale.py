"""A million shards on ten thousand servers: ``python -m benchmarks.balancing_at_scale``.

Three rounds, each from the placement that the one before left. *cold*: every shard is on random
servers. *drift*: the loads of the next number of the published sequence. *drain*: ten servers are
to be emptied.

The instance is ours, and synthetic. Loads follow the published law, 100 (1024 j / n + 1)^-z with
z = 0.25 + 0.5 u, dealt to the shards in a random order; u are the first two numbers of the data set
``lb_random``. Bytes are lognormal (sigma 1). Servers are in 20 zones, and have a quarter more
memory than the shards take on average. The band is 10 % on both sides. ``whole``: one replica a
shard.
``zoned``: two replicas a shard, in two zones, which share its load in any way. A move costs 1;
with ``--cost bytes`` it costs the bytes of the shard.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator

import numpy as np
import pandas as pd
import scipy.sparse as sp

from benchmarks import memory
from benchmarks.tables import Tables
from walras import data
from walras.domains import load_balancing as lb

TABLES = Tables("balancing_at_scale")
ZONES, BAND, SLACK = 20, 0.1, 0.25
DRAINED = 1000  # servers for each that is drained
KINDS = {"whole": 1, "zoned": 2}
NAMES = {
    "kind": "shards",
    "round": "round",
    "cost": "cost of a move",
    "moves": "moves",
    "value": "cost",
    "bound": "bound",
    "gap": "gap (%)",
    "violation": "violation",
    "cpu": "CPU seconds",
    "peak": "peak memory (GiB)",
}


def drawn(kind: str, shards: int, servers: int, cost: str, seed: int) -> tuple[lb.Round, lb.Round]:
    """The cold round, and the same with the loads of the drift.

    Args:
        kind: A key of :data:`KINDS`.
        shards: Number of shards.
        servers: Number of servers, a multiple of the zones.
        cost: ``moves`` or ``bytes``.
        seed: Of all draws.
    """
    rng, replicas = np.random.default_rng(seed), KINDS[kind]
    numbers = data.load("lb_random").numbers[:2]
    rank = rng.permutation(shards)
    loads = [lb.round_loads(shards, float(u))[rank] for u in numbers]
    footprint = rng.lognormal(0.0, 1.0, shards)
    home = rng.integers(0, servers, shards)
    places = [home]
    if replicas == 2:
        zone = (home + rng.integers(1, ZONES, shards)) % ZONES
        places.append(rng.integers(0, servers // ZONES, shards) * ZONES + zone)
    shard = np.tile(np.arange(shards), replicas)
    share = np.full(len(shard), 1.0 / replicas)
    now = sp.coo_array((share, (np.concatenate(places), shard)), shape=(servers, shards))
    memory = (1.0 + SLACK) * replicas * footprint.sum() / servers
    cold, drift = (
        lb.make_round(
            load,
            now,
            band=BAND,
            memory=memory,
            footprint=footprint,
            cost=footprint if cost == "bytes" else None,
            zone=[f"z{i % ZONES}" for i in range(servers)],
            spread=replicas,
            replicas=replicas,
        )
        for load in loads
    )
    return cold, drift


def rows(kind: str, shards: int, servers: int, cost: str, seed: int) -> Iterator[dict[str, object]]:
    """One row for each of the three rounds."""
    cold, drift = drawn(kind, shards, servers, cost, seed)
    found, row = _measured(cold, "cold")
    yield {"kind": kind, "cost": cost, **row}
    found, row = _measured(found.next_round(drift.load), "drift")
    yield {"kind": kind, "cost": cost, **row}
    count = max(1, servers // DRAINED)
    chosen = np.random.default_rng(seed + 1).choice(servers, count, replace=False).tolist()
    found, row = _measured(found.next_round(drain=chosen), "drain")
    yield {"kind": kind, "cost": cost, **row}


def _measured(problem: lb.Round, name: str) -> tuple[lb.Rebalanced, dict[str, object]]:
    memory.reset_peak()
    began, clock = time.process_time(), time.perf_counter()
    found = lb.solve_round(problem)
    spent, waited = time.process_time() - began, time.perf_counter() - clock
    return found, {
        "round": name,
        "shards": problem.shards,
        "servers": problem.servers,
        "moves": found.moves,
        "value": found.value,
        "bound": found.bound,
        "gap": 100.0 * (found.value - found.bound) / max(found.bound, 1e-300),
        "violation": found.violation,
        "cpu": spent,
        "seconds": waited,
        "peak": (memory.peak() or 0) / 2**30,
    }


def page(frame: pd.DataFrame) -> str:
    """The table in Markdown."""
    shown = frame[[*NAMES]].rename(columns=NAMES).astype(object)
    lines = ["| " + " | ".join(shown.columns) + " |", "|---|---|---|" + "--:|" * (len(NAMES) - 3)]
    for row in shown.itertuples(index=False):
        cells = [
            f"{v:,.4g}" if isinstance(v, float) else f"{v:,}" if isinstance(v, int) else v
            for v in row
        ]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    size = f"{frame['shards'].iloc[0]:,} shards on {frame['servers'].iloc[0]:,} servers"
    return f"{size}, one thread; the gap is over the bound.\n\n" + "\n".join(lines) + "\n"


def verdict(frame: pd.DataFrame) -> str:
    """Seconds by the clock, which count on an idle machine alone."""
    parts = (
        f"{kind} {name} {s:.1f} s" for kind, name, s in frame[["kind", "round", "seconds"]].values
    )
    return "by the clock: " + ", ".join(parts)


def main(arguments: list[str] | None = None, tables: Tables = TABLES) -> int:
    """Run what is asked for; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.balancing_at_scale",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--kinds", nargs="+", choices=[*KINDS], default=[*KINDS])
    parser.add_argument("--cost", nargs="+", choices=("moves", "bytes"), default=["moves"])
    parser.add_argument("--shards", type=int, default=1_000_000)
    parser.add_argument("--servers", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", action="store_true", help="write the table to results/")
    given = parser.parse_args(arguments)
    for kind in KINDS:  # compile first
        for _ in rows(kind, 2_000, 20, "moves", 0):
            pass
    found = [
        row
        for cost in given.cost
        for kind in given.kinds
        for row in rows(kind, given.shards, given.servers, cost, given.seed)
    ]
    frame = pd.DataFrame(found)
    print(page(frame))
    print(verdict(frame))
    if given.keep:
        tables.write("rounds", frame, digits=6)
        tables.write_page(page(frame), "rounds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
