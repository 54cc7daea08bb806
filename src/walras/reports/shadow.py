"""What a comparison in shadow mode came to: facts, measures and clusters as tables."""

from __future__ import annotations

from typing import Any

from walras.reports.tables import Cell, Table
from walras.shadow import Shadow


def facts_of(found: Shadow) -> dict[str, Cell]:
    """What the comparison rests on, by the name of the fact.

    Args:
        found: The comparison.
    """
    return {
        "status": str(found.status),
        "log": found.origin,
        "rows left out": found.left_out,
        "jobs learned from": found.learned_from,
        "jobs replayed": int(found.jobs.sum()),
        "days replayed": len(found.jobs),
        "load": found.load,
        "jobs moved": found.moved,
        "overlap": found.overlap,
        "overlap of the moved": found.moved_overlap,
        "level of the intervals": found.level,
        "seconds between rounds": found.round_seconds,
        "rounds": found.rounds,
    }


def measures(found: Shadow) -> Table:
    """The log against the policy, with intervals and what any policy could have saved."""
    columns = ("measure", "log", "policy", "change", "from", "to", "bound")
    frame = found.frame()
    frame["measure"] += ", " + frame["unit"]
    names = ["measure", "log", "policy", "difference", "low", "high", "bound"]
    rows = [
        (name, *map(_short, numbers))
        for name, *numbers in frame[names].itertuples(index=False, name=None)
    ]
    title = f"the log against the exchange's policy; changes with {found.level:.0%} intervals"
    return Table(columns, rows, title)


def _short(value: float) -> Cell:
    """A number with as many places as people compare by."""
    if 100.0 <= abs(value) < float("inf"):
        return round(value)
    return round(value, 2 if abs(value) >= 10.0 else 4)


def clusters(found: Shadow) -> Table:
    """Slots of each cluster, and the share of the jobs that ran there."""
    rows = [
        (name, int(found.slots[i]), float(found.shares[0, i]), float(found.shares[1, i]))
        for i, name in enumerate(found.clusters)
    ]
    return Table(("cluster", "slots", "jobs in the log", "jobs by the policy"), rows, digits=3)


def document(found: Shadow) -> dict[str, Any]:
    """All of it as plain values, for JSON and YAML."""
    return {
        **Table(tuple(facts_of(found)), [tuple(facts_of(found).values())]).records()[0],
        "measures": Table(
            tuple(found.frame().columns), found.frame().to_numpy().tolist()
        ).records(),
        "clusters": clusters(found).records(),
        "days": Table(tuple(found.by_day().columns), found.by_day().to_numpy().tolist()).records(),
    }
