"""A comparison in words: what each measure is, what was found and how surely."""

from __future__ import annotations

from walras.shadow.measures import MEASURES
from walras.shadow.result import Shadow

MEANING = {
    "makespan": "from a day's first submission to the end of its last job, mean of the days",
    "waiting": "from a job's submission to its start, mean of the jobs",
    "turnaround": "from a job's submission to its end, mean of the jobs",
    "failures": "share of the jobs that failed",
    "cost": "of a job: slot-hours by their price, mean of the jobs",
}
"""Measure -> what it is."""


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
