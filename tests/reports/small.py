"""Small results for the reports."""

from __future__ import annotations

import numpy as np
import pandas as pd

import walras as wl
from walras.domains import cluster_scheduling as cs
from walras.domains.cluster_scheduling.tables import ClusterTables
from walras.matching import Plan, match
from walras.reports.cluster import ClusterResult


def cluster_result(capacity: float = 2.0) -> ClusterResult:
    """Three jobs on one resource; another one is drained, and a row was left out."""
    jobs = ["a", "b", "c"]
    throughput = pd.DataFrame([[4.0, 2.0, 3.0]], index=["v100"], columns=jobs)
    size = pd.Series(1.0, index=jobs)
    weight = pd.Series([1.0, 1.0, 2.0], index=jobs)
    room = pd.Series([capacity], index=["v100"])
    quota = cs.Quota({"ann": ["a", "b"]}, {"ann": 2.0})
    given = ClusterTables(
        throughput,
        size,
        room,
        weight,
        pd.Series([100.0, 200.0, 300.0], index=jobs),
        quota,
        None,
        drained=("k80",),
        left_out={"x": "no size"},
    )
    solution = wl.solve(cs.max_min(throughput, size, room, weight, quota=quota))
    return ClusterResult(given, solution)


def plan(**asked: object) -> Plan:
    """Four tasks on two clusters."""
    times = np.array([[3.0, 2.0, 4.0, 1.0], [2.0, 3.0, 9.0, 9.0]])
    success = np.array([[0.9, 0.9, 0.8, 0.9], [0.8, 0.9, 0.9, 0.9]])
    return match(times, success, 0.85, clusters=["east", "west"], tasks=list("abcd"), **asked)  # type: ignore[arg-type]
