"""The methods of the studies: from a scenario to a feasible flow and the seconds it took."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import walras as wl
from walras.domains import traffic_engineering as te
from walras.domains.traffic_engineering import Network, Paths
from walras.types import Floats

EXACT, LEARNED = "Walras", "Learned policy"
ONE_PER_CENT = 1e-2


@dataclass(frozen=True, eq=False)
class Scenario:
    """Traffic to be routed.

    Attributes:
        network: The network.
        demand: (nodes, nodes) traffic that some path can carry.
        paths: Candidate paths.
        asked: All traffic, also what no path can carry.
        past: A policy trained on traffic of before; None where no method learns.
    """

    network: Network
    demand: Floats
    paths: Paths
    asked: float
    past: te.LearnedPolicy | None = None

    @classmethod
    def of(
        cls, network: Network, demand: Floats, paths: Paths, past: te.LearnedPolicy | None = None
    ) -> Scenario:
        """A scenario in which demands that no path joins are lost."""
        joined = te.joined_traffic(demand, paths)
        return cls(network, joined, paths, float(demand.sum()), past)

    @property
    def unit(self) -> float:
        """The mean demand: a unit of traffic for methods whose steps depend on one."""
        return float(self.demand[self.demand > 0].mean())

    def in_units_of(self, unit: float) -> Scenario:
        """The same scenario with traffic and capacities in another unit."""
        network = replace(self.network, capacity=self.network.capacity / unit)
        paths = replace(self.paths, network=network)
        return Scenario(network, self.demand / unit, paths, self.asked / unit, self.past)


@dataclass(frozen=True, eq=False)
class Routed:
    """What a method made of a scenario.

    Attributes:
        flow: (paths,) feasible traffic on each path.
        seconds: Wall time, stating the problem included.
        gap: The proved gap, NaN where nothing is proved.
        ideal_seconds: With a machine for every part; NaN where there are no parts.
        solution: Of a method that has one.
    """

    flow: Floats
    seconds: float
    gap: float = float("nan")
    ideal_seconds: float = float("nan")
    solution: wl.Solution | None = None


Method = Callable[[Scenario, float, int, Routed | None], Routed]


def solved(
    scenario: Scenario, limit: float, threads: int, before: Routed | None = None, **options: Any
) -> Routed:
    """State and solve the maximum total flow, warm where there is a solution before."""
    start = time.perf_counter()
    problem = te.max_total_flow(scenario.network, scenario.demand, scenario.paths)
    if before is not None and before.solution is not None:
        options = {"start": before.solution, **options}
    found = wl.solve(problem, threads=threads, **options)
    seconds = time.perf_counter() - start
    return Routed(found.entries, seconds, found.gap, found.timings.ideal, found)


def _first_order(
    scenario: Scenario, limit: float, threads: int, before: Routed | None, **options: Any
) -> Routed:
    return solved(
        scenario,
        limit,
        threads,
        before,
        engine=wl.engines.ADMM(**options),
        tolerance=ONE_PER_CENT,
        time_limit=limit,
    )


def _published(scenario: Scenario, limit: float, threads: int, before: Routed | None) -> Routed:
    """The published scheme, whose fixed rho of 1 suits traffic in units of the mean demand."""
    unit = scenario.unit
    found = _first_order(scenario.in_units_of(unit), limit, threads, before, mode="paper", rho=1.0)
    return replace(found, flow=found.flow * unit)


def _interior(scenario: Scenario, limit: float, threads: int, before: Routed | None) -> Routed:
    return solved(scenario, limit, threads, before, engine="interior")


def _pop(
    scenario: Scenario, limit: float, threads: int, before: Routed | None, parts: int
) -> Routed:
    count = int(np.count_nonzero(scenario.demand))
    return solved(scenario, limit, threads, engine=wl.engines.POP(parts=min(parts, count)))


def _baseline(
    scenario: Scenario,
    limit: float,
    threads: int,
    before: Routed | None,
    run: Callable[..., te.Baseline],
) -> Routed:
    found = run(scenario.network, scenario.demand, scenario.paths)
    return Routed(found.flow, found.seconds)


def _learned(scenario: Scenario, limit: float, threads: int, before: Routed | None) -> Routed:
    """The flow of a policy that was trained before; its training is not counted."""
    if scenario.past is None:
        raise ValueError("the scenario has no policy that was trained on the past")
    start = time.perf_counter()
    flow = scenario.past.flow(scenario.demand)
    return Routed(flow, time.perf_counter() - start)


METHODS: dict[str, Method] = {
    EXACT: _interior,
    "Walras, first order": _first_order,
    "DeDe's scheme": _published,
    "POP-4": partial(_pop, parts=4),
    "POP-16": partial(_pop, parts=16),
    "POP-64": partial(_pop, parts=64),
    "Pinning": partial(_baseline, run=te.demand_pinning),
    "Shortest path": partial(_baseline, run=te.shortest_path),
    LEARNED: _learned,
}
SOLVERS = tuple(name for name in METHODS if name != LEARNED)
"""Those that need no past."""
