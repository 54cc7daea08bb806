"""Small traces for the tests of the simulator."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from walras.rounds import JobsSnapshot, Shares
from walras.simulate import Cluster, Trace

ONE = Cluster({"gpu": 1})


def on_one(steps: list[float], arrival: list[float] | None = None) -> Trace:
    """Jobs for one worker of one type, one step a second."""
    n = len(steps)
    return Trace.of(
        [f"j{k}" for k in range(n)],
        steps=steps,
        arrival=arrival if arrival is not None else np.zeros(n),
        types=("gpu",),
        speed=np.ones((n, 1)),
    )


def random_trace(seed: int, n: int = 30, types: int = 3) -> Trace:
    """Jobs of several sizes that run on some types."""
    rng = np.random.default_rng(seed)
    speed = rng.uniform(0.5, 4.0, (n, types)) * (rng.random((n, types)) < 0.8)
    speed[:, 0] = np.maximum(speed[:, 0], 0.5)
    return Trace.of(
        [f"j{k}" for k in range(n)],
        kind=[f"class {k}" for k in rng.integers(0, 4, n)],
        size=rng.choice([1, 1, 2, 4], n),
        steps=rng.integers(20, 20_000, n),
        weight=rng.choice([1.0, 2.0], n),
        arrival=np.sort(rng.uniform(0, 5e4, n)),
        types=tuple("abc"[:types]),
        speed=speed,
    )


def paired_trace(seed: int, n: int = 30) -> Trace:
    """A random trace whose jobs may share their workers; some pairs do not fit."""
    trace, rng = random_trace(seed, n), np.random.default_rng(seed + 1)
    paired = rng.uniform(0.2, 2.0, (4, 4, 3)) * (rng.random((4, 4, 3)) < 0.8)
    return replace(trace, group=rng.integers(-1, 4, n), paired=paired)


def equal_pairs(snapshot: JobsSnapshot) -> Shares:
    """Every pair and every job has the same share, as far as all may."""
    pairs = snapshot.pairs
    fits, both = snapshot.fits.astype(float), pairs.fits.astype(float)
    load = snapshot.size @ fits + snapshot.size[pairs.jobs[:, 0]] @ both
    hours = fits.sum(axis=1)
    np.add.at(hours, pairs.jobs, both.sum(axis=1)[:, None])
    each = min(1.0 / hours.max(), float((snapshot.workers / np.maximum(load, 1)).min()))
    time = each * fits * snapshot.weight[:, None] / 2
    return snapshot.shares(time, pair=pairs.jobs, pair_time=each * both, policy="equal pairs")


def equal_shares(snapshot: JobsSnapshot) -> Shares:
    """Every job has the same share of all workers, as far as it may."""
    fits = snapshot.fits.astype(float)
    load = snapshot.size @ fits
    each = np.minimum(snapshot.workers / np.maximum(load, 1), 1.0) * fits
    return snapshot.shares(each / np.maximum(each.sum(axis=1, keepdims=True), 1.0), policy="equal")
