"""batch: all pods known at once, the largest GPU allocation with its bound.
scale: as many nodes and pods as asked for, drawn from the same lists.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from benchmarks import memory
from benchmarks.placement import openb
from walras.domains import placement as pl

TOLERANCE = 5e-4  # relative gap at which a batch ends
ENOUGH = 0.03  # at scale: relative gap at which the search ends


def rows(workloads: Sequence[str], seed: int = 42) -> Iterator[dict[str, object]]:
    """Two rows a workload: the list's pods, and the arrivals of a seed, 130 % of the GPUs."""
    nodes = openb.nodes()
    for workload in workloads:
        pods = openb.pods(workload)
        arriving = openb.arrivals(pl.make_instance(nodes, pods), seed)
        more = pods.iloc[arriving].set_axis([f"pod{k}" for k in range(len(arriving))], axis=0)
        for which, tasks in (("list", pods), (f"130 %, seed {seed}", more)):
            yield {"workload": workload, "pods": which, **_measured(nodes, tasks, TOLERANCE)}


def scale(machines: int, tasks: int, seed: int = 0) -> dict[str, object]:
    """One row: nodes and pods drawn with replacement from the lists."""
    rng = np.random.default_rng(seed)
    nodes, pods = openb.nodes(), openb.pods("default")
    many = nodes.iloc[rng.integers(0, len(nodes), machines)]
    work = pods.iloc[rng.integers(0, len(pods), tasks)]
    many = many.set_axis([f"n{k}" for k in range(machines)], axis=0)
    work = work.set_axis([f"t{k}" for k in range(tasks)], axis=0)
    return _measured(many, work, ENOUGH)


def _measured(nodes: pd.DataFrame, tasks: pd.DataFrame, tolerance: float) -> dict[str, object]:
    memory.reset_peak()
    began, clock = time.process_time(), time.perf_counter()
    placed = pl.place(nodes, tasks, tolerance=tolerance)
    spent, waited = time.process_time() - began, time.perf_counter() - clock
    gpus = float(nodes["gpus"].sum())
    return {
        "nodes": len(nodes),
        "tasks": len(tasks),
        "GPUs": gpus,
        "asked": float(tasks["gpus"].sum()),
        "allocated": placed.value,
        "bound": placed.bound,
        "gap %": 100.0 * placed.gap,
        "allocated %": 100.0 * placed.value / gpus,
        "violation": placed.violation,
        "CPU s": spent,
        "seconds": waited,
        "MiB": memory.peak_mebibytes(),
    }
