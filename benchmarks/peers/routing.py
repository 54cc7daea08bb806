"""What networks do without an optimiser, or with a small one: shortest paths, demand pinning."""

from __future__ import annotations

import time

from benchmarks.flow import FlowInstance
from benchmarks.flow_instances import domain_arguments
from benchmarks.problem import Budget, Outcome
from walras.domains import traffic_engineering as te


def shortest_path(instance: FlowInstance, objective: str, budget: Budget) -> Outcome:
    """All traffic on each pair's first path, cut to what its worst link lets pass."""
    start = time.perf_counter()
    network, demand, paths = domain_arguments(instance)
    built = time.perf_counter()
    found = te.shortest_path(network, demand, paths)
    return Outcome(found.flow, built - start, time.perf_counter() - built)


def pinning(instance: FlowInstance, objective: str, budget: Budget) -> Outcome:
    """The top tenth of the demands by linear programming, with our engine; the rest pinned."""
    start = time.perf_counter()
    network, demand, paths = domain_arguments(instance)
    built = time.perf_counter()
    found = te.demand_pinning(
        network,
        demand,
        paths,
        threads=budget.threads,
        time_limit=budget.time_limit,
        objective="flow" if objective == "max-total-flow" else "utilisation",
    )
    return Outcome(found.flow, built - start, time.perf_counter() - built)
