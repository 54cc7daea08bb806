"""What a live network shows: its centres, links, balance and objective, and what they mean."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from walras.network.drivers.live import LiveNetwork, centres

_SLIGHT = 1e-12  # share of the budget that is not worth telling of
_SHOWN = 8  # centres that a sentence names


def report(live: LiveNetwork) -> dict[str, Any]:
    """The state of a live network, as JSON has it: a number that is not finite is None.

    Args:
        live: The network.

    Returns:
        Its round, centres, links, balance, objective, traffic, history, events and notes.

    Example:
        >>> import walras as wl
        >>> from walras.network.drivers.live import LiveNetwork
        >>> from walras.network.drivers.live_report import report
        >>> wn = wl.network
        >>> cpu = [wn.QuadraticCPU(center=c, scale=1.0) for c in (1.0, 2.0, 3.0)]
        >>> live = LiveNetwork(wn.NetworkProblem(cpu, 9.0, (0.0, 6.0)), wn.Network.ring(3))
        >>> live.advance(200)
        200
        >>> found = report(live)
        >>> found["audit"]["difference"], [round(c["share"], 3) for c in found["centres"]]
        (0, [2.0, 3.0, 4.0])
    """
    world, row = live.world, live.row()
    best = live.best(live.leased)
    learns = live.problem.loss is not None
    return {
        "round": world.now,
        "budget": live.problem.budget,
        "unit": live.problem.quanta.unit,
        "majority": live.problem.centres // 2 + 1,
        "lease": live.plan.settings.lease,
        "learns": learns,
        "centres": list(_centres(live)),
        "links": list(_links(live)),
        "audit": {
            "difference": int(live.books.difference[0]),
            "surplus_difference": int(np.abs(live.books.difference[1:]).max(initial=0)),
            "worst": live.worst,
            "alarm": live.alarm,
            "used": row.used,
            "idle": row.idle,
            "in_flight": row.in_flight,
            "owed": row.owed,
        },
        "objective": {
            "cost": _finite(live.cost(live.leased)) if live.leased.any() else None,
            "best": None if best is None else _finite(best.cost),
            "gap": _finite(row.gap),
            "loss_gap": _finite(row.loss_gap),
            "consensus": _finite(row.consensus),
        },
        "traffic": {
            "messages": sum(one.messages for one in world.traffic.values()),
            "lost": row.lost,
            "bits": row.bits,
        },
        "faults": {
            "loss": world.faults.loss,
            "duplication": world.faults.duplication,
            "delay": world.faults.delay,
            "churn": live.churn,
        },
        "notes": [{"code": code, "text": text} for code, text in notes(live)],
        "events": [asdict(event) for event in reversed(live.events)],
        "history": [_plain(asdict(one)) for one in live.rows],
    }


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: _finite(v) if isinstance(v, float) else v for name, v in row.items()}


def _finite(value: float) -> float | None:
    value = float(value)
    return value if math.isfinite(value) else None


def _centres(live: LiveNetwork) -> Iterator[dict[str, Any]]:
    problem, world, leased = live.problem, live.world, live.leased
    at, best = live.places, live.best(leased)
    for k, node in enumerate(world.nodes):
        yield {
            "centre": k,
            "x": round(float(at[k, 0]), 4),
            "y": round(float(at[k, 1]), 4),
            "state": _state(live, k, leased=bool(leased[k])),
            "life": node.life[1] + 1,
            "share": float(world.shares[k]),
            "held": problem.quanta.unit * int(node.ledger.held[0])
            if node.life not in live.settled
            else 0.0,
            "low": _finite(problem.low[k]),
            "high": _finite(problem.high[k]),
            "best": None if best is None or not leased[k] else float(best.shares[k]),
            "price": _finite(node.local.price(node.ledger.held)) if leased[k] else None,
        }


def _state(live: LiveNetwork, centre: int, *, leased: bool) -> str:
    """Whether a centre runs, and what became of its life.

    ``running`` with a lease, ``waiting`` for one, or ``ended`` by the others although it runs;
    ``stopped`` and not given up yet, ``owed`` while nobody took its holdings over, ``settled``.
    """
    life = live.world.nodes[centre].life
    if live.world.up[centre]:
        if leased:
            return "running"
        return "ended" if life in live.ended else "waiting"
    if life in live.settled:
        return "settled"
    return "owed" if life in live.ended else "stopped"


def _links(live: LiveNetwork) -> Iterator[dict[str, Any]]:
    up = live.world.up
    for a, b in live.links:
        both = [t for key in ((a, b), (b, a)) if (t := live.world.traffic.get(key)) is not None]
        cut = frozenset((a, b)) in live.world.cuts
        yield {
            "ends": [a, b],
            "state": "cut" if cut else "up" if up[a] and up[b] else "silent",
            "messages": sum(one.messages for one in both),
            "lost": sum(one.lost for one in both),
            "bits": 8 * sum(one.bytes for one in both),
        }


def notes(live: LiveNetwork) -> Iterator[tuple[str, str]]:
    """What has to be known about the state, as codes and sentences; none where all is well.

    Args:
        live: The network.

    Yields:
        A code, and what it means here.
    """
    if live.alarm:
        yield "alarm", live.alarm
    yield from _parts(live)
    yield from _leases(live)
    yield from _unsettled(live)


def _parts(live: LiveNetwork) -> Iterator[tuple[str, str]]:
    """Running centres that cannot hear one another."""
    up, n = live.world.up, live.problem.centres
    whole = [
        (a, b)
        for a, b in live.links
        if up[a] and up[b] and frozenset((a, b)) not in live.world.cuts
    ]
    ends = np.array(whole, np.int64).reshape(-1, 2)
    graph = sparse.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    label = csgraph.connected_components(graph, directed=False)[1]
    parts = [np.flatnonzero(up & (label == one)).tolist() for one in sorted(set(label[up]))]
    if len(parts) < 2:
        return
    parts.sort(key=len, reverse=True)
    more = n // 2 + 1
    named = "; ".join(map(_named, parts))
    if len(parts[0]) >= more:
        end = (
            f"The part of {len(parts[0])} has more than half of all {n} and goes on; "
            "the others stop when their leases end, and begin anew when they are heard again."
        )
    else:
        end = (
            f"No part has the {more} that are more than half of all {n}: nobody can tell a crash "
            "from a cut, so no lease is renewed and no share is used until links are mended."
        )
    yield "partition", f"The running centres are in {len(parts)} parts: {named}. {end}"


def _named(numbers: list[int]) -> str:
    return centres(numbers) if len(numbers) <= _SHOWN else f"{len(numbers)} centres"


def _leases(live: LiveNetwork) -> Iterator[tuple[str, str]]:
    world, n = live.world, live.problem.centres
    running, more = int(world.up.sum()), n // 2 + 1
    if running < more:
        yield (
            "majority",
            f"{running} of {n} centres run, and {more} are needed: those left cannot tell a crash "
            "from a cut, on whose other side the shares may still be in use. So nobody may use a "
            "share once the leases have ended. Start centres again.",
        )
    elif world.now and not live.leased.any():
        yield "lease", "No centre has a lease yet: no share is in use, and none is lost."


def _unsettled(live: LiveNetwork) -> Iterator[tuple[str, str]]:
    """Lives that are over and whose holdings nobody has taken over."""
    world, settled, unit = live.world, live.settled, live.problem.quanta.unit
    running = {n.life for n, up in zip(world.nodes, world.up, strict=True) if up}
    over = [
        node
        for node in world.lives
        if node.life not in settled and (node.life not in running or node.life in live.ended)
    ]
    over = [node for node in over if _counts(live, int(node.ledger.held[0]))]
    if not over:
        return
    total = unit * sum(int(node.ledger.held[0]) for node in over)
    who = _named(sorted({node.life[0] for node in over}))
    silent = [node for node in over if node.life not in live.ended]
    first = f"{total:.4g} of the budget was held by {who} and is used by nobody now."
    leaders = [world.nodes[k] for k in np.flatnonzero(live.leased)]
    if not leaders:
        yield "owed", f"{first} It stays so until more than half of all centres hear one another."
    elif silent:
        wait = live.plan.settings.lease + live.plan.settings.margin
        yield (
            "owed",
            f"{first} The others give a centre up after {wait} rounds of silence; its neighbours "
            "then claim what went over their links, and a coordinator takes the rest over.",
        )
    elif all(node.view.ended.all() for node in leaders):
        yield (
            "no coordinator",
            f"{first} Only a centre in its first life can take it over, and none is left: the "
            "shares in use stay valid, and this part of the budget stays idle. Start a new network "
            "to use it.",
        )
    else:
        yield "owed", f"{first} It moves on once the claims of all living neighbours have arrived."


def _counts(live: LiveNetwork, quanta: int) -> bool:
    return quanta > _SLIGHT * live.problem.quanta.total
