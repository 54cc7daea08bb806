"""Gavel's published mean completion times of jobs of high and of low priority, beside ours.

A fifth of the jobs of several GPUs has weight 5; the published rows are means over seeds 0 to 2 of
the means over jobs 4000 to 4999. ``LAS`` is blind to speeds, ``Gavel`` knows them. Their runs
filled water up, level by level, until no job could rise; ``leximin`` does so here. A round of 35
jobs has some 25 levels, so that ten of them are not enough.

``one level`` has ``las`` in its place, which raises the least level alone and ends where ECOS does.
At 1.8 jobs an hour it is .2 % off blind to speeds; by speed, times of low priority are 14.5 %
longer than published, and those of high priority 2.1 %: the levels above the least count there.

All levels by speed take seven minutes of a core a seed. Over three seeds they are .4 % off for high
priority and .9 % for low. A seed alone says little: seed 0 is 13 % below the published mean of high
priority, the two others 7 and 8 % above it. Ten levels (``ten levels``) were run with seed 0 alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from benchmarks.simulate import gavel
from benchmarks.simulate.published import CLUSTER, published
from walras import policies
from walras.simulate import Cluster, Run, gavel_trace, run
from walras.simulate.time_shared import Policy

TABLE = "JCT h by priority, continuous-multiple"
SEEDS = range(3)
_ALL = 10**6  # levels: more than there are jobs
POLICIES: Mapping[str, tuple[str, Callable[[], Policy]]] = {
    "max_min_fairness_water_filling": ("LAS", lambda: policies.leximin(False, levels=_ALL)),
    "max_min_fairness_water_filling_perf": ("Gavel", lambda: policies.leximin(levels=_ALL)),
    "ten_levels_perf": ("Gavel, ten levels", lambda: policies.leximin(levels=10)),
    "max_min_fairness": ("LAS, one level", policies.las),
    "max_min_fairness_perf": ("Gavel, one level", lambda: policies.las(by_speed=True)),
}
"""A policy -> its name in the figure, and ours; the authors' names of their policies."""


def rows(
    names: Sequence[str], rates: Sequence[float], below: float, seeds: Sequence[int] = SEEDS
) -> Iterator[dict[str, object]]:
    """One row a policy, priority and rate: published hours, our mean over seeds, its deviation."""
    table = published("gavel_makespan_and_priorities.csv")
    table = table[(table["table"] == TABLE) & (table["x"] < below)].dropna(subset="value")
    shown = {(p, round(x, 1)): h for p, x, h in table[["policy", "x", "value"]].to_numpy().tolist()}
    for rate in sorted({x for _, x in shown}):
        if rates and not np.isclose(rate, rates).any():
            continue
        for policy in POLICIES:
            if policy not in names:
                continue
            name, make = POLICIES[policy]
            cpu = time.process_time()
            hours = np.mean([by_priority(rate, seed, make()) for seed in seeds], axis=0)
            cpu = time.process_time() - cpu
            for priority, ours in zip(("high", "low"), hours.tolist(), strict=True):
                printed = shown.get((f"{name.split(',')[0]} ({priority})", rate), np.nan)
                yield {
                    "trace": "multiple",
                    "policy": f"{name} ({priority})",
                    "rate": rate,
                    "published": printed,
                    "ours": ours,
                    "deviation %": 100.0 * (ours / printed - 1.0),
                    "seeds": len(seeds),
                    "cpu s": cpu / 2,
                }


def by_priority(rate: float, seed: int, policy: Policy) -> tuple[float, float]:
    """Mean hours of jobs of high and of low priority."""

    def attempt(jobs: int) -> Run:
        trace = gavel_trace(rate, jobs, seed, multiple=True, priorities=True, synthetic=False)
        return run(trace, Cluster(CLUSTER), policy, seed=seed, measured=gavel.MEASURED)

    done = gavel.while_jobs_come(rate, attempt)
    high = done.weight[gavel.MEASURED] > 1.0
    hours = done.completion.to_numpy() / 3600
    return float(hours[high].mean()), float(hours[~high].mean())
