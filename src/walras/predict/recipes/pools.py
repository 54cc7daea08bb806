"""Pools of tasks with measured times, from the data sets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from walras import checks, data
from walras.data import gavel_pairs
from walras.data.dataset import Source
from walras.predict.graphs.graph import TaskGraph
from walras.predict.recipes import nb201
from walras.predict.tasks import Tasks
from walras.types import Floats, Longs

Requests = Literal["constant", "log-normal"]

SETTINGS: Mapping[str, tuple[str, ...]] = {
    "A": ("titan_rtx_1", "gold_6226", "pixel3"),
    "B": ("2080ti_1", "silver_4210r", "essential_ph_1"),
    "C": ("titanxp_1", "gold_6240", "raspi4"),
    "D": ("silver_4210r", "pixel3", "essential_ph_1"),
}
"""Four settings of three clusters; in D no device is quickest on most networks."""

_RATES = {"D": ("Philly", "Seren", "Earth")}  # the two quick ones are close, and both often fail

_SHORTEST_MS = 0.5
_CONVOLUTIONS = (2, 3)
_REQUESTS = 1000.0  # forward passes that a task asks for: a millisecond becomes a second
_STEPS = 10_000.0  # mini-batch steps that a training job asks for


@dataclass(frozen=True, eq=False)
class Pool:
    """Tasks with their measured times.

    Attributes:
        tasks: Times in seconds; success is unknown yet.
        fail: (M,) failure rate of each cluster.
        share: (N,) measured share of a task's runs that succeeded; ones where none was measured.
        measured: What was measured, in words.
        composed: What was composed, in words.
        hazard: Whether failures grow with a task's time.
        speedup: (M,) median time of two jobs at once over one after the other; None if unmeasured.
        source: Whether the numbers are measured or synthetic.
        origin: Where they come from.
        operations: (N, 6) of networks, from which the graphs of those that are drawn are built.
    """

    tasks: Tasks
    fail: Floats
    share: Floats
    measured: str
    composed: str
    hazard: bool
    speedup: Floats | None
    source: Source
    origin: str
    operations: Longs | None = None

    def graphs(self, part: Longs) -> tuple[TaskGraph, ...]:
        """The graphs of some tasks; none where tasks have none."""
        return () if self.operations is None else nb201.graphs(self.operations[part])


def nb201_pool(
    clusters: Sequence[str], requests: Requests, rng: np.random.Generator, synthetic: bool | None
) -> Pool:
    """Networks of NAS-Bench-201 that compute something, on devices of HELP.

    Kept are networks with a convolution that take over 0.5 ms on every device at batch size 1.
    """
    latencies = data.load("nb201_help", synthetic=synthetic)
    chosen = latencies.of(clusters)
    convolves = np.isin(latencies.operations, _CONVOLUTIONS).any(axis=1)
    keep = np.flatnonzero(convolves & (latencies.of(latencies.single).min(axis=1) > _SHORTEST_MS))
    operations = latencies.operations[keep]
    count = np.full(len(keep), _REQUESTS)
    features, names = nb201.one_hots(operations), ["".join(map(str, ops)) for ops in operations]
    if requests == "log-normal":
        count = count * rng.lognormal(0.0, 0.5, len(keep))
        features = np.column_stack([features, np.log(count / _REQUESTS)])
    times = chosen[keep].T * count / 1000.0
    unknown = np.full(times.shape, np.nan)
    return Pool(
        Tasks(tuple(names), tuple(clusters), features, times, unknown),
        fail_rates(times.mean(axis=1), clusters, synthetic),
        np.ones(len(keep)),
        "times: latency of a forward pass (HELP, HW-NAS-Bench)",
        f"tasks: {_REQUESTS:g} passes each; success: failure rates of other clusters (Helios, "
        "Acme, Philly) as exp(-rate x time / mean time)",
        True,
        None,
        latencies.source,
        latencies.origin,
        operations,
    )


def gavel_pool(clusters: Sequence[str], synthetic: bool | None) -> Pool:
    """Training jobs of Gavel that run on every chosen GPU type."""
    throughputs = data.load("gavel", synthetic=synthetic)
    rows = [_position(name, throughputs.clusters, k) for k, name in enumerate(clusters)]
    rates = throughputs.throughput[rows]
    keep = np.flatnonzero((rates > 0).all(axis=0))
    jobs = throughputs.table().iloc[keep]
    families = jobs["job_type"].str.replace(r" \(.*", "", regex=True)
    batches = [re.search(r"size (\d+)", name) for name in jobs["job_type"]]
    features = np.column_stack(
        [
            *((families == family).to_numpy(dtype=np.float64) for family in sorted(set(families))),
            [np.log2(int(found[1]) / 64) if found else 0.0 for found in batches],
            np.log2(jobs["scale_factor"].to_numpy(dtype=np.float64)),
        ]
    )
    names = [f"{job} x{k}" for job, k in zip(jobs["job_type"], jobs["scale_factor"], strict=True)]
    times = _STEPS / rates[:, keep]
    pairs = gavel_pairs.load(synthetic=synthetic)
    speedup = dict(zip(pairs.clusters, pairs.median(), strict=True))
    return Pool(
        Tasks(tuple(names), tuple(clusters), features, times, np.full(times.shape, np.nan)),
        fail_rates(times.mean(axis=1), clusters, synthetic),
        np.ones(len(keep)),
        "throughputs of training jobs, alone and two at a time (Gavel)",
        f"tasks: {_STEPS:g} steps each; success: failure rates of other clusters (Helios, Acme, "
        "Philly) as exp(-rate x time / mean time)",
        True,
        np.array([speedup[name] for name in clusters]),
        throughputs.source,
        throughputs.origin,
    )


def zeus_pool(clusters: Sequence[str], synthetic: bool | None) -> Pool:
    """Training configurations of Zeus that were measured on every chosen GPU."""
    traces = data.load("zeus", synthetic=synthetic)
    seconds = traces.epoch_seconds()
    for k, name in enumerate(clusters):
        _position(name, tuple(seconds.columns), k)
    table = seconds[list(clusters)].dropna().join(traces.reached(), how="inner")
    index = table.index.to_frame()
    datasets = sorted(set(index["dataset"]))
    kinds = [(index["dataset"] == name).to_numpy(dtype=np.float64) for name in datasets]
    batch = np.log2(index["batch_size"].to_numpy(dtype=np.float64))
    # A batch has fixed costs: their share falls with its size, differently on every data set.
    features = np.column_stack([*kinds, *(kind * batch / 10.0 for kind in kinds)])
    names = tuple(f"{d}/{n} batch {b}" for d, n, b, _ in table.index)
    times = table[list(clusters)].to_numpy(dtype=np.float64).T
    return Pool(
        Tasks(names, tuple(clusters), features, times, np.full(times.shape, np.nan)),
        fail_rates(times.mean(axis=1), clusters, synthetic),
        (table["reached"] / table["runs"]).to_numpy(dtype=np.float64),
        "seconds of an epoch; share of a configuration's runs that reached the target (Zeus)",
        "success: that share times 1 - the failure rate of another cluster (Helios, Acme, Philly)",
        False,
        None,
        traces.source,
        traces.origin,
    )


def fail_rates(mean_time: Floats, clusters: Sequence[str], synthetic: bool | None) -> Floats:
    """(M,) failure rate of each cluster: the quickest gets the worst of the production clusters'.

    The rates of the seven clusters, sorted, are read off at M equally spaced places, the largest
    for the cluster whose tasks take the least time on average. Setting D has rates of its own.

    Args:
        mean_time: (M,) mean seconds on each cluster.
        clusters: Names of the clusters.
        synthetic: As in :func:`walras.data.load`.
    """
    measured = data.load("cluster_reliability", synthetic=synthetic).fail_rates()
    if tuple(clusters) == SETTINGS["D"]:
        return measured[list(_RATES["D"])].to_numpy(dtype=np.float64)
    places = np.linspace(0.0, len(measured) - 1.0, len(clusters))
    falling = np.interp(places, np.arange(len(measured)), measured.to_numpy(dtype=np.float64))
    rates = np.empty(len(clusters))
    rates[np.argsort(mean_time, kind="stable")] = falling
    return rates


def _position(name: str, known: Sequence[str], k: int) -> int:
    return list(known).index(checks.one_of(name, f"clusters[{k}]", known, "cluster"))
