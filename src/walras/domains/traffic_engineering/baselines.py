"""Baselines: shortest paths, demand pinning, POP.

All maximise the total flow and return a feasible flow with its time; demand pinning also minimises
the utilisation.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from walras import checks
from walras.domains.traffic_engineering import matrices
from walras.domains.traffic_engineering.matrices import Demand
from walras.domains.traffic_engineering.network import Network
from walras.domains.traffic_engineering.objectives import max_total_flow, min_max_utilisation
from walras.domains.traffic_engineering.paths import Paths
from walras.domains.traffic_engineering.traffic import top_tenth
from walras.engines.base import Engine
from walras.engines.pop.engine import POP
from walras.separable import Separable
from walras.short_repr import short_repr
from walras.solving import solve
from walras.types import Bools, Floats

_FULL = 1e-9  # share of its capacity below which the rest of a link counts as full


@short_repr
@dataclass(frozen=True, eq=False)
class Baseline:
    """A heuristic's flow.

    Attributes:
        flow: (paths,) traffic on each path, feasible.
        seconds: Wall time, building the problem included.
        ideal_seconds: Time with one machine for every part, as POP's authors report it; NaN without
            parts.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> demand = [[0, 4, 8], [0, 0, 3], [0, 0, 0]]
        >>> paths = te.candidate_paths(net, k=2, cache=False)
        >>> te.shortest_path(net, demand, paths).flow
        array([4., 5., 0., 3.])
    """

    flow: Floats
    seconds: float
    ideal_seconds: float = float("nan")


def shortest_path(network: Network, demand: Demand, paths: Paths) -> Baseline:
    """Send all traffic on the first path of its pair, cut to the share that the worst link allows.

    A link with ``load > capacity`` passes the share ``capacity / load`` of all its traffic.

    Args:
        network: The network.
        demand: (nodes, nodes) traffic.
        paths: Candidate paths, the shortest of each pair first.

    Returns:
        The flow and its time.

    Raises:
        InputError: The data do not fit.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> demand = [[0, 4, 8], [0, 0, 3], [0, 0, 0]]
        >>> paths = te.candidate_paths(net, k=2, cache=False)
        >>> te.shortest_path(net, demand, paths).flow
        array([4., 5., 0., 3.])
    """
    began = time.perf_counter()
    problem = max_total_flow(network, demand, paths)  # checks the data
    own = paths.demands(matrices.traffic(demand, network))
    flow = _on_first(paths, own, problem.rows.upper[: network.links])
    return Baseline(flow, time.perf_counter() - began)


def demand_pinning(
    network: Network,
    demand: Demand,
    paths: Paths,
    *,
    objective: Literal["flow", "utilisation"] = "flow",
    engine: str | Engine = "auto",
    time_limit: float | None = None,
    threads: int | None = None,
) -> Baseline:
    """Pin small demands to their shortest paths; a linear program routes the largest tenth.

    For the total flow, the program uses the capacity that the pinned traffic leaves. For the least
    utilisation, it serves its demands in full beside the pinned load. Source: Xu et al., OSDI 2025,
    section 7.1 (``Pinning``); Namyar et al., HotNets 2022.

    Args:
        network: The network.
        demand: (nodes, nodes) traffic.
        paths: Candidate paths, the shortest of each pair first.
        objective: ``flow``: as much traffic as fits; ``utilisation``: all traffic, with the least
            maximum utilisation, which may be above 1.
        engine: The engine for the program.
        time_limit: Time limit of the program, in seconds.
        threads: Worker threads.

    Returns:
        The flow and its time.

    Raises:
        InputError: The data do not fit, or the objective is unknown.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> demand = [[0, 4, 8], [0, 0, 3], [0, 0, 0]]
        >>> paths = te.candidate_paths(net, k=2, cache=False)
        >>> print(te.demand_pinning(net, demand, paths).flow.sum().round(3))
        15.0
    """
    checks.one_of(objective, "objective", ("flow", "utilisation"))
    began = time.perf_counter()
    traffic = matrices.traffic(demand, network)
    state = _flow_beside if objective == "flow" else _utilisation_beside
    pinned, problem = state(network, traffic, paths, top_tenth(traffic))
    if problem is None:
        return Baseline(pinned, time.perf_counter() - began)
    found = solve(problem, engine=engine, time_limit=time_limit, threads=threads)
    return Baseline(pinned + found.entries, time.perf_counter() - began)


def _flow_beside(
    network: Network, traffic: Floats, paths: Paths, top: Bools
) -> tuple[Floats, Separable | None]:
    """The pinned flow that fits, and the problem of the top demands on the remaining capacity."""
    whole = max_total_flow(network, traffic, paths)
    pinned = _on_first(paths, paths.demands(np.where(top, 0.0, traffic)), network.capacity)
    left = np.maximum(network.capacity - paths.loads(pinned), 0.0)
    own = paths.demands(np.where(top, traffic, 0.0))
    return pinned, _on_capacity(whole, left, paths, own)


def _utilisation_beside(
    network: Network, traffic: Floats, paths: Paths, top: Bools
) -> tuple[Floats, Separable]:
    """All pinned flow, and the problem of least utilisation for the top demands beside it."""
    min_max_utilisation(network, traffic, paths)  # checks all data
    pinned = np.zeros(paths.count)
    pinned[paths.first[:-1]] = paths.demands(np.where(top, 0.0, traffic))
    problem = min_max_utilisation(network, np.where(top, traffic, 0.0), paths)
    upper = problem.rows.upper.copy()
    upper[: network.links] = -paths.loads(pinned)  # load + pinned <= t capacity
    return pinned, replace(problem, rows=replace(problem.rows, upper=upper))


def pop_flow(
    network: Network,
    demand: Demand,
    paths: Paths,
    parts: int | None = None,
    *,
    seed: int = 0,
    time_limit: float | None = None,
    threads: int | None = None,
) -> Baseline:
    """POP: random parts of the demands, each with a k-th of every link, solved side by side.

    Source: Narayanan et al., SOSP 2021, with their client splitting: the largest tenth of the
    demands have an equal piece in every part.

    Args:
        network: The network.
        demand: (nodes, nodes) traffic.
        paths: Candidate paths.
        parts: Number of parts k; papers use 4, 16 and 64. None: 4, or the number of pairs if that
            is less.
        seed: Seed of the split.
        time_limit: Seconds.
        threads: Worker threads.

    Returns:
        The flow and its time.

    Raises:
        InputError: The data do not fit, or ``parts`` is out of range.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> demand = [[0, 4, 8], [0, 0, 3], [0, 0, 0]]
        >>> paths = te.candidate_paths(net, k=2, cache=False)
        >>> print(te.pop_flow(net, demand, paths, parts=2).flow.sum().round(3) <= 15)
        True
    """
    began = time.perf_counter()
    problem = max_total_flow(network, demand, paths)
    engine = POP(parts=parts, seed=seed)
    found = solve(problem, engine=engine, time_limit=time_limit, threads=threads)
    return Baseline(found.entries, time.perf_counter() - began, found.timings.ideal)


def _on_first(paths: Paths, own: Floats, capacity: Floats) -> Floats:
    """Each pair's traffic on its first path, cut to the share that its worst link passes."""
    flow = np.zeros(paths.count)
    flow[paths.first[:-1]] = own
    load = paths.loads(flow)
    passes = np.minimum(1.0, capacity / np.where(load > 0, load, 1.0))
    passes = np.where(load > capacity, passes, 1.0)
    return flow * np.minimum.reduceat(passes[paths.links], paths.pointer[:-1])


def _on_capacity(whole: Separable, capacity: Floats, paths: Paths, own: Floats) -> Separable | None:
    """The problem with other capacities and some of the demands; None if nothing can flow.

    Paths over links without capacity are closed, since an interior-point method needs an interior.
    """
    m = paths.network.links
    full = capacity <= _FULL * paths.network.capacity
    closed = np.logical_or.reduceat(full[paths.links], paths.pointer[:-1])
    closed |= (own <= 0)[paths.pair]
    if np.all(closed):
        return None
    open_pairs = np.logical_or.reduceat(~closed, paths.first[:-1])
    served = whole.rows.owner[m:]
    bounds = np.where(open_pairs[served], own[served], np.inf)
    upper = np.concatenate([np.where(full, np.inf, capacity), bounds])
    rows = replace(whole.rows, upper=upper)
    return replace(whole, upper=np.where(closed, 0.0, np.inf), rows=rows)
