"""Gavel's published makespans of 100 to 700 jobs that are all there at the begin, beside ours.

The published rows are means over seeds 0 to 2: up to 300 jobs the least makespan is that of the
longest job, 165.55, 155.89 and 162.06 h, whose mean they print. ``Gavel`` is the policy of the
least makespan. ``FIFO`` is the released policy with its slips (``released_fifo``), and only that:
where all jobs come at once, it books nearly all of them on the V100s, which then take turns. The
policy that its name says, where jobs keep the worker that they begin on, takes five times as long
with 100 jobs, since a long job may begin on a K80; it is printed, too. ``Gavel w/ SS`` lets two
jobs share their workers, and ``Gandiva`` groups them at random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.simulate.published import CLUSTER, published
from benchmarks.simulate.released_fifo import released_fifo
from walras import policies
from walras.simulate import Cluster, Trace, gavel_trace, run
from walras.simulate.time_shared import Policy

TABLE = "makespan h, static-multiple, 36:36:36"
SEEDS = range(3)
POLICIES: Mapping[str, tuple[str, Callable[[int], Policy]]] = {
    "Gavel": ("least makespan", lambda seed: policies.makespan()),
    "Gavel w/ SS": ("least makespan, sharing", lambda seed: policies.makespan(sharing=True)),
    "Gandiva": ("gandiva", policies.gandiva),
    "FIFO": ("fifo as released", released_fifo),
    "FIFO, types kept": ("fifo", lambda seed: policies.fifo()),
}
"""Name -> ours: what it is, and the policy of a seed. The last one has FIFO's published rows."""


def all_at_once(jobs: int, seed: int) -> Trace:
    """The stream of Gavel's evaluation with every job there at the begin."""
    drawn = gavel_trace(1.0, jobs, seed, multiple=True, sharing=True, synthetic=False)
    return replace(drawn, arrival=np.zeros(jobs))


def rows(
    jobs: Sequence[int], names: Sequence[str] = tuple(POLICIES)
) -> Iterator[dict[str, object]]:
    """One row a policy and number of jobs: published, our mean over seeds, its deviation."""
    table = published("gavel_makespan_and_priorities.csv")
    table = table[table["table"] == TABLE]
    for count in jobs:
        for name in names:
            ours, make = POLICIES[name]
            shown = table[(table["policy"] == name.split(",")[0]) & (table["x"] == count)]["value"]
            hours = [
                run(all_at_once(count, seed), Cluster(CLUSTER), make(seed), seed=seed).makespan
                / 3600
                for seed in SEEDS
            ]
            printed = float(shown.iloc[0]) if len(shown) else float("nan")
            yield {
                "jobs": count,
                "policy": name,
                "here": ours,
                "published h": printed,
                "ours h": float(np.mean(hours)),
                "deviation %": 100.0 * (float(np.mean(hours)) / printed - 1.0),
            }
