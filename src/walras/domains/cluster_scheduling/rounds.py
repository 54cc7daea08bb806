"""Scheduling rounds from real data: the active jobs at one moment, and a cluster."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from walras import data
from walras.errors import InputError
from walras.types import Floats

_OVERLOAD = 2.0  # requested over available GPUs in the round of a Gavel trace
_LAW_NOISE = 0.163  # s.d. of log throughput around job + type at scale 1 (DeDe's released table)
_LAW_RESTRICTED = 0.348  # share of jobs that run on some types only, each with probability 1/2
_LAW_DOUBLING = 1.87  # median factor on the throughput when the number of workers doubles


@dataclass(frozen=True, eq=False)
class Round:
    """One scheduling round as arrays, with its provenance.

    Attributes:
        throughput: (resources, jobs) labelled; steps per second; 0 where a job cannot run.
        size: (jobs,) GPUs a job occupies.
        capacity: (resources,) GPUs of each type.
        jobs: One row for each job: its type and further data of the source.
        title: A description of the round in one line.
        source: ``measured``, ``synthetic stand-in``, or drawn from the law of either.
        origin: Origin of the numbers, in words.
        left_out: Number of the trace's jobs that are left out, since they have no measured
            throughput.
    """

    throughput: pd.DataFrame
    size: Floats
    capacity: Floats
    jobs: pd.DataFrame
    title: str
    source: str
    origin: str
    left_out: int = 0

    @property
    def load(self) -> float:
        """Requested GPUs over available GPUs."""
        return float(self.size.sum() / self.capacity.sum())


def gavel(jobs: int = 300, seed: int = 0) -> Round:
    """The jobs active at one moment of a real trace, with throughputs measured on three GPU types.

    A trace is drawn among the busy ones. The moment is the first with ``jobs`` active jobs. A job
    is active from its arrival until its end at its mean speed alone, or at half, a quarter, ... of
    that speed if no trace is busy enough, since jobs that share a cluster take longer. The cluster
    has equal numbers of V100, P100 and K80, with half as many GPUs as the jobs request.

    Args:
        jobs: Number of jobs, 2 to the largest number of the busiest trace.
        seed: Seed of the draw of the trace.

    Raises:
        InputError: No trace is ever that busy.
    """
    measured, traces = data.load("gavel"), data.load("gavel_traces")
    table = traces.jobs.reset_index(drop=True)
    column = measured.columns(table["job_type"].tolist(), table["scale_factor"].to_numpy())
    known = table[column >= 0].assign(column=column[column >= 0])
    alone = known["total_steps"] / measured.throughput[:, known["column"]].mean(axis=0)
    known, name, moment = _busy_moment(known.assign(alone=alone), jobs, seed)
    trace = known[known["trace"] == name]
    active = trace[(trace["arrival_time"] <= moment) & (trace["end"] > moment)]
    active = active.sort_values("arrival_time", kind="stable").head(jobs)
    size = active["scale_factor"].to_numpy(dtype=np.float64)
    each = max(8, 8 * round(size.sum() / _OVERLOAD / len(measured.clusters) / 8))
    labels = [f"j{number}" for number in active.index]
    return Round(
        throughput=pd.DataFrame(
            measured.throughput[:, active["column"]], index=list(measured.clusters), columns=labels
        ),
        size=size,
        capacity=np.full(len(measured.clusters), float(each)),
        jobs=_described(active, moment, labels),
        title=f"{len(active)} jobs of trace {name.removesuffix('.trace')} at hour "
        f"{moment / 3600:.0f}",
        source="measured"
        if {measured.source, traces.source} == {"measured"}
        else "synthetic stand-in",
        origin=f"throughputs: {measured.origin}; jobs: {traces.origin}",
        left_out=int(np.sum((table["trace"] == name) & (column < 0))),
    )


def _described(active: pd.DataFrame, moment: float, labels: list[str]) -> pd.DataFrame:
    left = (
        active["total_steps"] * (active["end"] - moment) / (active["end"] - active["arrival_time"])
    )
    table = active[["job_type", "scale_factor", "arrival_time"]].assign(steps_left=left)
    return table.set_axis(labels, axis=0)


def _busy_moment(known: pd.DataFrame, jobs: int, seed: int) -> tuple[pd.DataFrame, str, float]:
    """The jobs with their ends, a trace, and the first moment with that many active jobs."""
    most = int(known.groupby("trace").size().max())
    if not 2 <= jobs <= most // 2:
        raise InputError(
            f"is {jobs}",
            where="jobs",
            allowed=f"2 to {most // 2}, half of the longest trace",
            remedy="choose a number in that range",
        )
    slowdown, moments = 1.0, dict[str, float]()
    while not moments:
        known = known.assign(end=known["arrival_time"] + slowdown * known["alone"])
        for name, trace in known.groupby("trace", sort=True):
            times = np.concatenate((trace["arrival_time"], trace["end"]))
            change = np.repeat((1, -1), len(trace))
            order = np.lexsort((-change, times))
            active = np.cumsum(change[order])
            if active.max() >= jobs:
                moments[str(name)] = float(times[order][np.argmax(active >= jobs)])
        slowdown *= 2.0
    name = sorted(moments)[int(np.random.default_rng(seed).integers(len(moments)))]
    return known, name, moments[name]


def dede_like(resources: int = 456, jobs: int = 2000, seed: int = 0, load: float = 8.0) -> Round:
    """A round like DeDe's largest: hundreds of GPU types, thousands of jobs, a third restricted.

    The table of 456 types is not released, but ten types are. So ``log T = job + type + noise``,
    with job and type effects drawn from the released ones; each job requests 1 to 32 GPUs. Source:
    Xu et al., OSDI 2025 (section 7.1.1), and the statistics of their released table.

    Args:
        resources: Number of GPU types.
        jobs: Number of jobs.
        seed: Seed of all draws.
        load: Requested GPUs over available GPUs.
    """
    released = data.load("dede_cluster")
    rng = np.random.default_rng(seed)
    single = released.throughput[:, :, 0]
    everywhere = np.log(single[:, (single > 0).all(axis=0)])
    job_effect = everywhere.mean(axis=0)
    type_effect = everywhere.mean(axis=1) - everywhere.mean()
    size = np.exp2(rng.integers(0, 6, jobs), dtype=np.float64)
    log_speed = (
        rng.choice(job_effect, jobs)
        + rng.choice(type_effect, resources)[:, None]
        + rng.normal(0.0, _LAW_NOISE, (resources, 1))
        + rng.normal(0.0, _LAW_NOISE, (resources, jobs))
        + np.log(_LAW_DOUBLING) * np.log2(size)
    )
    restricted = rng.random(jobs) < _LAW_RESTRICTED
    runs = ~restricted | (rng.random((resources, jobs)) < 0.5)
    capacity = rng.choice(np.arange(8.0, 65.0, 8.0), resources)
    capacity *= size.sum() / load / capacity.sum()
    return Round(
        throughput=pd.DataFrame(
            np.exp(log_speed) * runs,
            index=[f"type{i}" for i in range(resources)],
            columns=[f"j{j}" for j in range(jobs)],
        ),
        size=size,
        capacity=capacity,
        jobs=pd.DataFrame({"scale_factor": size}, index=[f"j{j}" for j in range(jobs)]),
        title=f"DeDe-{resources}-like round of {jobs:,} jobs",
        source=f"drawn from the law of a {released.source} table",
        origin=f"law of {released.origin}",
    )
