"""What a comparison in shadow mode came to: facts, measures and clusters as tables."""

from __future__ import annotations

from typing import Any

from walras.reports.tables import Cell, Table
from walras.shadow import MEASURES, Shadow

MEANING = {
    "makespan": "from a day's first submission to the end of its last job, mean of the days",
    "waiting": "from a job's submission to its start, mean of the jobs",
    "turnaround": "from a job's submission to its end, mean of the jobs",
    "failures": "share of the jobs that failed",
    "cost": "of a job: slot-hours by their price, mean of the jobs",
}


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


def sentences(found: Shadow) -> list[str]:
    """What was found, in words: what is sure, what it rests on, and the most there was to save."""
    lines = []
    for k, name in enumerate(MEASURES):
        low, high = float(found.low[k]), float(found.high[k])
        if low <= 0.0 <= high:
            lines.append(f"{name}: no difference that the interval tells from 0.")
            continue
        share = abs(float(found.difference[k])) / max(abs(float(found.log[k])), 1e-12)
        words = f"{name}: {share:.0%} {'less' if high < 0.0 else 'more'} than in the log"
        if high < 0.0 and found.most_saved[k] > 0.0:
            part = min(abs(float(found.difference[k])) / float(found.most_saved[k]), 1.0)
            words += f", {part:.0%} of the most that any policy could have saved"
        lines.append(f"{words}.")
    lines.append(
        f"{found.moved:.0%} of the jobs ran elsewhere than in the log; {found.moved_overlap:.0%} "
        "of these went where five or more of their kind had run."
    )
    return lines


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
