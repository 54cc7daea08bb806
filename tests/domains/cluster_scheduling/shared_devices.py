"""Instances in which pairs of jobs share devices, and the same rows stated in cvxpy."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
from tests.domains.instances import Data, draw

from walras.domains import cluster_scheduling as cs


def drawn(seed: int) -> tuple[Data, cs.Pairs]:
    """Small jobs, of which half of the pairs fit on a device, some on one type alone."""
    data, rng = draw(seed, m=3, n=8), np.random.default_rng(seed)
    data = Data(
        data.throughput, rng.choice([1.0, 2.0], 8), data.capacity / 2.0, data.weight, data.previous
    )
    both = [(j, k) for j in range(8) for k in range(j) if data.size[j] == data.size[k]]
    both = [pair for pair in both if rng.random() < 0.6]
    alone = np.array([[data.throughput[:, j], data.throughput[:, k]] for j, k in both])
    speed = alone * rng.uniform(0.4, 0.95, alone.shape) * (rng.random((len(both), 1, 3)) < 0.7)
    speed *= np.all(speed > 0.0, axis=1, keepdims=True)
    return data, cs.Pairs([j for j, _ in both], [k for _, k in both], speed)


def stated(data: Data, pairs: cs.Pairs, unit: Any = 1.0) -> tuple[Any, Any, list[Any]]:
    """Throughputs, GPUs used by type, and the rules, of shares in units of ``unit``."""
    speed, n = np.asarray(pairs.throughput), len(data.size)
    x = cp.Variable(data.throughput.shape, nonneg=True)
    z = cp.Variable((len(pairs.first), len(data.capacity)), nonneg=True)
    time, used = [cp.sum(x[:, j]) for j in range(n)], x @ data.size
    y = [data.throughput[:, j] @ x[:, j] for j in range(n)]
    for p, (j, k) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        used = used + data.size[int(j)] * z[p]
        for job, rate in ((int(j), speed[p, 0]), (int(k), speed[p, 1])):
            time[job] = time[job] + cp.sum(z[p])
            y[job] = y[job] + rate @ z[p]
    rules = [used <= data.capacity * unit, cp.hstack(time) <= unit, x[data.throughput == 0] == 0]
    return cp.hstack(y), used, [*rules, z[speed.max(axis=1) == 0] == 0]
