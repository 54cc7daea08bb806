"""What a rebalanced round, or a sequence of rounds, came to: facts and tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from walras.domains import load_balancing as lb
from walras.domains.load_balancing.sequence import STRICTER, WARM_UP
from walras.reports.tables import Cell, Table
from walras.status import Status


def moves_table(result: lb.Rebalanced, most: int | None = None) -> Table:
    """The moves, the largest loads first; the first ``most`` of them, or all."""
    rows = [(t.shard, t.source or None, t.target, t.load) for t in result.transfers]
    title = ""
    if most is not None:
        title = f"the {min(most, result.moves)} largest of {result.moves} moves"
        title += "; -o csv has all" * (most < result.moves)
    return Table(("shard", "from", "to", "load"), rows[:most], title)


def facts_of(result: lb.Rebalanced) -> dict[str, Cell]:
    """What a round came to, by the name of the fact."""
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


def servers_table(result: lb.Rebalanced, most: int) -> Table:
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


def message_of(result: lb.Rebalanced) -> str:
    """What the status says about the number of moves."""
    if result.status is Status.OPTIMAL:
        return "No placement within the limits needs a lower cost of moves."
    return (
        "The placement meets all limits; the bound leaves open whether fewer moves would do. "
        f"Gap: {100 * result.gap:.2g} %."
    )


def rounds_table(played: Sequence[lb.Rounds], source: str) -> Table:
    """Means over the rounds, one column a policy; the title says what is synthetic."""
    rounds = len(played[0].rounds)
    warm_up = WARM_UP if rounds > WARM_UP else 0
    means = [means_of(one, warm_up) for one in played]
    rows = [(fact, *(facts[fact] for facts in means)) for fact in means[0]]
    title = f"synthetic loads; means over rounds {warm_up} to {rounds - 1}; numbers: {source}"
    return Table(("", *(one.policy for one in played)), rows, title, digits=3)


def means_of(one: lb.Rounds, warm_up: int) -> dict[str, Cell]:
    """Means over the rounds after the first ``warm_up``, by the name of the fact."""
    frame = one.frame()
    counted = frame[warm_up:]
    return {
        "moves a round": one.mean_moves(),
        f"moves of loads above {STRICTER:g}": one.mean_moves(stricter=True),
        "proved least, from the same placement": float(counted["bound"].mean()),
        "share of rounds at the proved least": float((counted["moves"] <= counted["bound"]).mean()),
        "seconds a round, median": float(counted["seconds"].median()),
        "seconds of the longest round": float(frame["seconds"].max()),
        "replicas at the end": int(frame["replicas"].iloc[-1]),
        "largest violation": float(frame["violation"].max()),
    }
