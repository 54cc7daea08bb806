"""What the first call of each family of kernels takes longer than the second: its compilation.

``interior`` is the allocation core in all: every objective, rounds solved whole and by columns, at
capacities that are short and plentiful, whole entries, and flows on a network, whose systems are
sparse. Within ``all``, a family finds compiled what it shares with those before it.

``match`` and ``solve`` are what a first user waits for: one small problem, by the clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

import walras as wl
from benchmarks.few_types import OBJECTIVES
from benchmarks.instances import Spec, build
from benchmarks.peers.walras_engine import BUILDERS, state
from benchmarks.problem import Budget, Instance, Outcome
from walras.domains import traffic_engineering as te
from walras.kernels.matching import derivatives, relaxed
from walras.separable import assignment

_BY_COLUMNS = Spec("heterogeneous", 60, 400)  # a round that the interior point solves by columns


def measure(instance: Instance, family: str, budget: Budget) -> Outcome:
    """Call one family twice, or each of ``all``; ``compile`` is the sum over the families.

    The engines for continuous problems are asked for by name, since small problems go to the exact
    one.
    """
    if family in FIRST:
        began = time.perf_counter()
        FIRST[family](instance)
        waited = time.perf_counter() - began
        return Outcome(None, 0.0, waited, numbers={"first call": waited})
    network = te.load_topology("B4", synthetic=True)
    flows = _flows(network)
    families: dict[str, Callable[[], object]] = {
        "interior": lambda: _core(instance, flows, budget),
        "first order": lambda: _first_order(instance, flows, budget),
        "candidate paths": lambda: te.candidate_paths(network, k=3, cache=False),
        "load balancing": lambda: _rebalance(instance),
        "matching": lambda: _matches(instance),
        "relaxed matching": lambda: _relaxed(instance),
        "whole assignments": lambda: _assigned(instance),
        "few types": lambda: _few_types(instance),
        "machines": _placed,
        "traffic sequences": lambda: _sequences(network),
    }
    chosen = families if family == "all" else {family: families[family]}
    seconds = {name: _longer_at_first(call) for name, call in chosen.items()}
    total = sum(seconds.values())
    return Outcome(None, 0.0, total, numbers={"compile": total, **seconds})


def _longer_at_first(call: Callable[[], object]) -> float:
    taken = []  # of the processor: compiling takes one core, and others may run beside it
    for _ in range(2):
        began = time.process_time()
        call()
        taken.append(time.process_time() - began)
    return max(0.0, taken[0] - taken[1])


def _objectives(instance: Instance, budget: Budget, engine: str) -> None:
    for name in BUILDERS:
        wl.solve(state(instance, name), engine=engine, tolerance=1e-3, threads=budget.threads)


def _core(instance: Instance, flows: Sequence[wl.Separable], budget: Budget) -> None:
    _objectives(instance, budget, "interior")
    wl.solve(state(instance, "leximin"), engine="interior", threads=budget.threads)
    wl.solve(state(instance, "total-throughput"), integer=True, threads=budget.threads)
    for capacity in (1.0, 5.0):
        _objectives(build(replace(_BY_COLUMNS, capacity=capacity)), budget, "interior")
    for problem in flows:
        wl.solve(problem, engine="interior", threads=budget.threads)


def _first_order(instance: Instance, flows: Sequence[wl.Separable], budget: Budget) -> None:
    _objectives(instance, budget, "admm")
    for problem in flows:
        wl.solve(problem, engine="admm", tolerance=1e-3, threads=budget.threads)


def _flows(network: te.Network) -> list[wl.Separable]:
    """Flows on paths of the other kind, whose search is not timed with the engines."""
    paths = te.candidate_paths(network, k=3, kind="shortest")
    demand = te.lognormal_traffic(network, seed=0)
    statements = (te.max_total_flow, te.min_max_utilisation, te.max_concurrent_flow)
    return [flow(network, demand, paths) for flow in statements]


def _rebalance(instance: Instance) -> None:
    servers, shards = instance.shape
    placement = np.zeros((servers, shards))
    placement[np.arange(shards) % servers, np.arange(shards)] = 1.0
    loads = 1.0 + np.arange(shards) / shards
    wl.domains.load_balancing.rebalance(loads, placement, band=0.1, memory=shards)


def _matches(instance: Instance) -> None:
    """Rounds by branch and bound, where ``match`` solves a small one without kernels, and a round
    too large for it.
    """
    success = np.full((1, *instance.shape), 0.9)
    few = slice(None), slice(None, 3), slice(None, 12)
    times = 1.0 / instance.throughput[None].clip(0.1)
    wl.matching.match_rounds(times[few], success[few], min_success=0.8)
    many = np.tile(1.0 / instance.throughput.clip(0.1), 20)
    wl.matching.match(many, np.full(many.shape, 0.9), min_success=0.8)


def _relaxed(instance: Instance) -> None:
    """A relaxed round and its derivative, as training calls them."""
    t = 1.0 / instance.throughput[None].clip(0.1)
    a, floor, law = np.full(t.shape, 0.9), np.array([0.8]), np.array([1.0, 0.02, 0.005, 10.0])
    x, _ = relaxed.solve_relaxed(t, a, floor, law, 20.0, 0.01, 1e-9, None, 1)
    derivatives.pull_back(t, a, floor, law, 20.0, 0.01, x, np.ones(t.shape), 1)


def _assigned(instance: Instance) -> None:
    cost = np.round(100.0 * instance.throughput[:4])
    weight = np.ones(cost.shape)
    problem = assignment(cost, weight, np.full(len(cost), 0.3 * cost.shape[1]))
    wl.solve(problem, engine=wl.engines.Integer(exact_entries=0), time_limit=1.0)


def _few_types(instance: Instance) -> None:
    speed = np.tile(instance.throughput[:2].clip(0.1), 40)
    for state_ in OBJECTIVES.values():
        wl.solve(state_(speed, np.ones(speed.shape[1]), np.full(2, 100.0)), engine="prices")


def _placed() -> None:
    nodes = pd.DataFrame({"cpu": [8.0, 16.0], "memory": [32.0, 64.0], "gpus": [2, 4]})
    tasks = pd.DataFrame({"cpu": [2.0] * 8, "memory": [4.0] * 8, "gpus": [0.5, 1.0] * 4})
    wl.domains.placement.place(nodes, tasks)
    made = wl.domains.placement.make_instance(nodes, tasks)
    wl.domains.placement.arrive(made, np.arange(len(tasks)), "fgd")


def _sequences(network: te.Network) -> None:
    paths = te.candidate_paths(network, k=3, kind="shortest")
    demands = np.stack([np.asarray(te.lognormal_traffic(network, seed=s)) for s in range(2)])
    te.min_max_utilisation_sequence(network, demands, paths)
    te.max_total_flow_sequence(network, demands, paths)


def _first_match(instance: Instance) -> None:
    times = 1.0 / instance.throughput[:3].clip(0.1)
    wl.matching.match(times, np.full(times.shape, 0.9), min_success=0.8)


FIRST: dict[str, Callable[[Instance], object]] = {
    "match": _first_match,
    "solve": lambda instance: wl.solve(state(instance, "proportional-fairness")),
}
