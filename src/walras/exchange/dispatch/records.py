"""What the dispatcher says it did, and where workloads stand, as it is printed."""

from __future__ import annotations

from pydantic import BaseModel

from walras.exchange.dispatch.dispatcher import Dispatcher
from walras.exchange.dispatch.nominations import Nomination
from walras.exchange.dispatch.ranking import Ranked


class Expected(BaseModel):
    """What is predicted of a workload on a cluster; null where nothing is."""

    cluster: str
    seconds: float | None
    chance: float | None


class Nominated(BaseModel):
    """Names that were written for a workload."""

    at: float
    namespace: str
    workload: str
    added: list[Expected]
    nominated: list[str]
    by: str
    why: str


class Where(BaseModel):
    """Where a workload that waits for a cluster stands."""

    namespace: str
    workload: str
    state: str
    nominated: list[str]
    text: str


def nominated(made: Nomination, found: Ranked, now: float) -> Nominated:
    """The record of a write."""
    added = []
    for name in made.added:
        known = found.predicted.get(name)
        seconds, chance = (known.seconds, known.chance) if known else (None, None)
        added.append(Expected(cluster=name, seconds=seconds, chance=chance))
    return Nominated(
        at=now,
        namespace=made.workload.namespace,
        workload=made.workload.name,
        added=added,
        nominated=list(made.names),
        by=found.by,
        why=found.why,
    )


def line(record: Nominated) -> str:
    """A record as people read it."""
    names = ", ".join(
        one.cluster
        if one.seconds is None or one.chance is None
        else f"{one.cluster} ({one.seconds:.3g} s, chance {one.chance:.3g})"
        for one in record.added
    )
    return f"{record.namespace}/{record.workload}: nominated {names}, by {record.by}"


def places(dispatcher: Dispatcher, now: float) -> list[Where]:
    """Where all open workloads stand."""
    found = []
    for (namespace, name), workload in sorted(dispatcher.open.items()):
        where = dispatcher.standing((namespace, name), now)
        found.append(
            Where(
                namespace=namespace,
                workload=name,
                state=where.state,
                nominated=list(workload.nominated),
                text=where.text,
            )
        )
    return found
