"""Baselines: shortest paths, demand pinning and POP, judged by the evaluation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.domains.traffic_engineering.networks import Case, network, random_case

import walras as wl
from walras.domains import traffic_engineering as te
from walras.domains.traffic_engineering.traffic import top_tenth

SEEDS = st.integers(0, 100_000)


def test_baselines_are_feasible_and_no_better_than_the_optimum(wan: Case) -> None:
    best = wl.solve(te.max_total_flow(wan.net, wan.demand, wan.paths))
    judged = te.evaluate(wan.demand, wan.paths, best.x)
    assert judged.total == pytest.approx(best.value)
    found = {
        "shortest": te.shortest_path(wan.net, wan.demand, wan.paths),
        "pinning": te.demand_pinning(wan.net, wan.demand, wan.paths),
        "POP-4": te.pop_flow(wan.net, wan.demand, wan.paths, 4),
        "POP-16": te.pop_flow(wan.net, wan.demand, wan.paths, 16),
    }
    value = {}
    for name, baseline in found.items():
        e = te.evaluate(wan.demand, wan.paths, baseline.flow)
        assert e.violation <= 1e-9, name
        assert e.total == pytest.approx(baseline.flow.sum())
        assert baseline.seconds > 0
        value[name] = e.total
        assert e.total <= best.bound * (1 + 1e-9), name
    assert value["shortest"] < value["pinning"] < best.value
    assert value["POP-16"] < value["POP-4"] < best.value
    assert found["POP-4"].ideal_seconds <= found["POP-4"].seconds
    assert np.isnan(found["pinning"].ideal_seconds)


@settings(max_examples=10)
@given(seed=SEEDS)
def test_pinning_of_utilisation_is_the_program_that_it_states(seed: int) -> None:
    case = random_case(seed, 8)
    net, paths = case.net, case.paths
    found = te.demand_pinning(net, case.demand, paths, objective="utilisation")
    judged = te.evaluate(case.demand, paths, found.flow)
    assert judged.satisfied == pytest.approx(1.0)
    top = paths.demands(np.where(top_tenth(case.demand), case.demand, 0.0)) > 0
    links, joins = np.zeros((net.links, paths.count)), np.zeros((paths.pairs, paths.count))
    for p in range(paths.count):
        links[paths.links[paths.pointer[p] : paths.pointer[p + 1]], p] = 1.0
        joins[paths.pair[p], p] = 1.0
    first = np.isin(np.arange(paths.count), paths.first[:-1])
    open_paths = [
        (0.0, None if top[paths.pair[p]] or first[p] else 0.0) for p in range(paths.count)
    ]
    least = linprog(
        np.append(np.zeros(paths.count), 1.0),
        np.column_stack([links, -net.capacity]),
        np.zeros(net.links),
        np.column_stack([joins, np.zeros(paths.pairs)]),
        paths.demands(case.demand),
        [*open_paths, (0.0, None)],
    )
    assert judged.max_utilisation == pytest.approx(least.fun, rel=1e-5)
    best = wl.solve(te.min_max_utilisation(net, case.demand, paths)).value
    assert judged.max_utilisation >= best * (1 - 1e-6)
    with pytest.raises(wl.InputError, match="objective: is 'fair'"):
        te.demand_pinning(net, case.demand, paths, objective="fair")  # type: ignore[arg-type]


@pytest.mark.real_data("te_topologies")
def test_pop_that_splits_the_largest_tenth_serves_nearly_all_of_uscarrier() -> None:
    net = te.load_topology("UsCarrier", synthetic=False)
    demand = te.lognormal_traffic(net, seed=0, total=0.15 * net.capacity.sum())
    paths = te.candidate_paths(net)
    best = wl.solve(te.max_total_flow(net, demand, paths), tolerance=1e-4).bound
    for parts, least in ((4, 0.995), (16, 0.99)):
        assert te.pop_flow(net, demand, paths, parts).flow.sum() > least * best


def test_pop_in_one_part_is_the_linear_program(wan: Case) -> None:
    best = wl.solve(te.max_total_flow(wan.net, wan.demand, wan.paths))
    one = te.pop_flow(wan.net, wan.demand, wan.paths, 1)
    assert one.flow.sum() == pytest.approx(best.value, rel=1e-5)


def test_pop_makes_no_more_parts_than_there_are_pairs() -> None:
    net = network([(0, 1), (1, 0)], 1.0)
    paths = te.candidate_paths(net, cache=False)
    found = te.pop_flow(net, np.array([[0.0, 5.0], [5.0, 0.0]]), paths)
    assert found.flow.tolist() == pytest.approx([0.5, 0.5])  # each part has half of every link
    assert np.array_equal(found.flow, te.pop_flow(net, np.array([[0, 5], [5, 0]]), paths, 2).flow)


def test_pinning_without_room_leaves_the_pinned_traffic() -> None:
    net = network([(0, 1)], 1.0)
    paths = te.candidate_paths(net, cache=False)
    flow = te.demand_pinning(net, np.array([[0.0, 5.0], [0.0, 0.0]]), paths).flow
    assert flow.tolist() == pytest.approx([1.0])
