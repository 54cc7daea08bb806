"""Problems for Ray, and the processes of its actors."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import ray
from tests.domains.instances import draw

import walras as wl
from walras.engines.admm import ADMM
from walras.executors.ray_pool import RayPool
from walras.iterate import Iterate
from walras.settings import Settings

cs = wl.domains.cluster_scheduling
te = wl.domains.traffic_engineering


CORES = 4
QUIET = pytest.mark.filterwarnings(
    # Old versions of Ray leave files and processes of their own to the garbage collector.
    "ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning"
)


def problem_of(objective: Any, n: int = 24, m: int = 5) -> wl.Separable:
    data = draw(5, m, n)
    made: wl.Separable = objective(data.throughput, data.size, data.capacity * n / 12)
    return made


def iterate(problem: wl.Separable, iterations: int, **options: Any) -> Iterate:
    return ADMM(iterations=iterations, **options).solve(problem, Settings(tolerance=1e-12))


def pid_of(pool: RayPool, k: int) -> int:
    return int(ray.get(pool._actors.holders[k].__ray_call__.remote(lambda holder: os.getpid())))


def flows_by_link(sources: int) -> wl.Separable:
    net = te.load_topology("B4", synthetic=True)
    traffic = te.lognormal_traffic(net, seed=0, total=0.3 * float(np.sum(net.capacity)))
    traffic[sources:] = 0.0
    made: wl.Separable = te.max_total_flow_by_link(net, traffic)
    return made
