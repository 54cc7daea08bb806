"""Objectives: closed forms, agreement with HiGHS, invariance, the real matrices."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.domains.traffic_engineering.networks import Case, diamond, matrix, network, random_case

import walras as wl
from walras import data
from walras.domains import traffic_engineering as te

SEEDS = st.integers(0, 100_000)
ENGINES = ("interior", "exact")
OBJECTIVES = {
    "total": te.max_total_flow,
    "utilisation": te.min_max_utilisation,
    "concurrent": te.max_concurrent_flow,
}


def incidence(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(links, paths), (pairs, paths) and (pairs,) demand: the textbook's matrices, path by path."""
    paths, pairs = case.paths, sorted(set(case.paths.pair.tolist()))
    links = np.zeros((case.net.links, paths.count))
    joins = np.zeros((len(pairs), paths.count))
    for p in range(paths.count):
        nodes = paths.nodes_of(p).tolist()
        for a, b in pairwise(nodes):
            links[(case.net.source == a) & (case.net.target == b), p] += 1
        joins[paths.pair[p], p] = 1
    demand = np.array([case.demand[paths.source[k], paths.target[k]] for k in pairs])
    return links, joins, demand


def optimum(found: Any) -> float:
    assert found.success, found.message
    return float(found.fun)


def textbook(case: Case, objective: str) -> float:
    """The optimum by HiGHS from the textbook's linear program."""
    links, joins, demand = incidence(case)
    n, c = case.paths.count, case.net.capacity
    if objective == "total":
        found = linprog(-np.ones(n), np.vstack([links, joins]), np.concatenate([c, demand]))
        return -optimum(found)
    cost = np.append(np.zeros(n), 1.0)
    if objective == "utilisation":
        above = np.column_stack([links, -c])
        equal = np.column_stack([joins, np.zeros(len(demand))])
        return optimum(linprog(cost, above, np.zeros(len(c)), equal, demand))
    asked = demand > 0
    above = np.vstack(
        [
            np.column_stack([links, np.zeros(len(c))]),
            np.column_stack([-joins[asked], demand[asked]]),
        ]
    )
    return -optimum(linprog(-cost, above, np.concatenate([c, np.zeros(int(asked.sum()))])))


@settings(max_examples=25)
@given(seed=SEEDS, engine=st.sampled_from(ENGINES), objective=st.sampled_from(sorted(OBJECTIVES)))
def test_every_objective_agrees_with_highs(seed: int, engine: str, objective: str) -> None:
    case = random_case(seed, scale=3.0)
    problem = OBJECTIVES[objective](case.net, case.demand, case.paths)
    solution = wl.solve(problem, engine=engine, tolerance=1e-8)
    assert solution.status == wl.Status.OPTIMAL
    assert solution.value == pytest.approx(textbook(case, objective), rel=1e-6)
    judged = te.evaluate(case.demand, case.paths, solution.x)
    if objective == "total":
        assert judged.total == pytest.approx(solution.value, rel=1e-9)
        assert judged.violation <= 1e-9
    if objective == "utilisation":
        assert judged.max_utilisation == pytest.approx(solution.value, rel=1e-9)
        assert judged.satisfied == pytest.approx(1.0, abs=1e-9)
    if objective == "concurrent":
        assert judged.least_share == pytest.approx(solution.value, rel=1e-6)


@settings(max_examples=15)
@given(seed=SEEDS, objective=st.sampled_from(sorted(OBJECTIVES)))
def test_prices_prove_the_optimum(seed: int, objective: str) -> None:
    """Weak duality with the links' prices alone, in the textbook's formulae."""
    case = random_case(seed, scale=3.0)
    solution = wl.solve(
        OBJECTIVES[objective](case.net, case.demand, case.paths), engine="exact", tolerance=1e-8
    )
    links, joins, demand = incidence(case)
    price = np.abs(solution.prices["capacity"])
    length = price @ links
    shortest = np.array([length[row > 0].min() for row in joins])
    worth = price @ case.net.capacity
    bound = {
        "total": worth + demand @ np.maximum(0.0, 1.0 - shortest),
        "utilisation": demand @ shortest / max(worth, 1e-300),
        "concurrent": worth / max(demand @ shortest, 1e-300),
    }[objective]
    assert bound == pytest.approx(solution.value, rel=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
def test_two_disjoint_paths_carry_the_sum_of_their_bottlenecks(engine: str) -> None:
    case = diamond((3.0, 1.5, 2.0, 2.0))
    solution = wl.solve(te.max_total_flow(case.net, case.demand, case.paths), engine=engine)
    assert solution.value == pytest.approx(3.5, rel=1e-6)
    assert sorted(solution.x[solution.x > 1e-3]) == pytest.approx([1.5, 2.0], rel=1e-5)
    assert solution.x.shape == (case.paths.count,)
    assert np.abs(solution.prices.resources).sum() == pytest.approx(2.0, rel=1e-4)


@pytest.mark.parametrize("engine", ENGINES)
def test_utilisation_is_evened_out_over_disjoint_paths(engine: str) -> None:
    case = diamond()  # bottlenecks 3 and 2: t = 4 / (3 + 2)
    solution = wl.solve(te.min_max_utilisation(case.net, case.demand, case.paths), engine=engine)
    assert solution.value == pytest.approx(0.8, rel=1e-6)
    assert sorted(solution.x[solution.x > 1e-3]) == pytest.approx([1.6, 2.4], rel=1e-5)


@pytest.mark.parametrize("engine", ENGINES)
def test_concurrent_flow_on_a_shared_link(engine: str) -> None:
    net = network([(0, 2), (1, 2), (2, 3)], 3.0)
    demand = matrix(4, {(0, 3): 4.0, (1, 3): 2.0})
    paths = te.candidate_paths(net, cache=False)
    solution = wl.solve(te.max_concurrent_flow(net, demand, paths), engine=engine)
    assert solution.value == pytest.approx(0.5, rel=1e-6)
    grown = wl.solve(te.max_concurrent_flow(net, demand / 8, paths), engine=engine)
    assert grown.value == pytest.approx(4.0, rel=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
def test_max_min_fair_fills_the_bottlenecks_one_after_the_other(engine: str) -> None:
    # Three on a link of 3, two of which share a link of 10 with a fourth: 1, 1, 1, 8.
    net = network([(0, 1), (1, 2), (3, 0), (1, 4)], [3.0, 9.0, 9.0, 10.0])
    demand = matrix(5, {(0, 1): 20.0, (0, 2): 20.0, (0, 4): 20.0, (1, 4): 20.0})
    paths = te.candidate_paths(net, cache=False)
    problem = te.max_min_fair(net, demand, paths, weight=np.ones((5, 5)))
    solution = wl.solve(problem, engine=engine)
    served = dict(zip(paths.pair_names, paths.served(solution.x), strict=True))
    assert served["n0->n1"] == pytest.approx(1.0, rel=1e-5)
    assert served["n0->n4"] == pytest.approx(1.0, rel=1e-5)
    assert served["n1->n4"] == pytest.approx(9.0, rel=1e-5)
    assert [level.value for level in solution.levels] == pytest.approx([1.0, 9.0], rel=1e-5)


def test_max_min_fair_begins_with_the_concurrent_flow_and_keeps_demands() -> None:
    case = random_case(7, scale=3.0)
    share = wl.solve(te.max_concurrent_flow(case.net, case.demand, case.paths)).value
    fair = wl.solve(te.max_min_fair(case.net, case.demand, case.paths, levels=4))
    assert fair.levels[0].value == pytest.approx(min(share, 1.0), rel=1e-6)
    values = [level.value for level in fair.levels]
    assert values == sorted(values)
    assert te.evaluate(case.demand, case.paths, fair.x).violation <= 1e-9


@settings(max_examples=10)
@given(seed=SEEDS, objective=st.sampled_from(sorted(OBJECTIVES)))
def test_renamed_nodes_and_reordered_links_change_nothing(seed: int, objective: str) -> None:
    case = random_case(seed)
    rng = np.random.default_rng(seed)
    node, link = rng.permutation(case.net.nodes), rng.permutation(case.net.links)
    place = np.argsort(node)
    net = te.Network(
        tuple(case.net.node_names[v] for v in node),
        place[case.net.source[link]].astype(np.int32),
        place[case.net.target[link]].astype(np.int32),
        case.net.capacity[link],
    )
    # The candidate paths themselves, since ties between them are broken by the links' order.
    paths = te.Paths.of_nodes(
        net, place[case.paths.nodes], case.paths.pointer + np.arange(case.paths.count + 1)
    )
    demand = case.demand[np.ix_(node, node)]
    first, second = (
        wl.solve(OBJECTIVES[objective](*args), tolerance=1e-8).value
        for args in ((case.net, case.demand, case.paths), (net, demand, paths))
    )
    assert first == pytest.approx(second, rel=1e-6)


@settings(max_examples=10)
@given(seed=SEEDS, factor=st.sampled_from([1e-6, 1e3, 1e9]))
def test_units_scale_out(seed: int, factor: float) -> None:
    case = random_case(seed)
    net = replace(case.net, capacity=case.net.capacity * factor)
    paths = te.Paths.of_nodes(
        net, case.paths.nodes, case.paths.pointer + np.arange(case.paths.count + 1)
    )
    flow, grown = (
        wl.solve(te.max_total_flow(*given), engine="interior", tolerance=1e-8)
        for given in ((case.net, case.demand, case.paths), (net, case.demand * factor, paths))
    )
    assert grown.value == pytest.approx(flow.value * factor, rel=1e-6)
    even, same = (
        wl.solve(te.min_max_utilisation(*given), engine="interior", tolerance=1e-8)
        for given in ((case.net, case.demand, case.paths), (net, case.demand * factor, paths))
    )
    assert same.value == pytest.approx(even.value, rel=1e-6)


@settings(max_examples=10)
@given(seed=SEEDS)
def test_more_capacity_or_more_paths_never_hurt(seed: int) -> None:
    case = random_case(seed, scale=3.0)
    few = te.candidate_paths(case.net, k=1, cache=False)
    many = te.candidate_paths(case.net, k=3, kind="shortest", cache=False)
    one, three, links = (
        wl.solve(problem, tolerance=1e-8).value
        for problem in (
            te.max_total_flow(case.net, case.demand, few),
            te.max_total_flow(case.net, case.demand, many),
            te.max_total_flow_by_link(case.net, case.demand),
        )
    )
    assert one <= three * (1 + 1e-7) <= links * (1 + 2e-7)


def test_a_solution_speaks_of_paths() -> None:
    case = diamond((3.0, 1.5, 2.0, 2.0))
    solution = wl.solve(te.max_total_flow(case.net, case.demand, case.paths), engine="exact")
    assert solution.frame()["amount"].to_dict()["flow on n0->n2->n3"] == pytest.approx(2.0)
    explained = str(solution.explain("n0->n3"))
    assert "2 of flow on n0->n2->n3" in explained
    assert "1.5 of flow on n0->n1->n3" in explained
    less = replace(case.net, capacity=case.net.capacity * np.array([1.0, 1.0, 0.0, 1.0]) + 1e-3)
    paths = te.Paths.of_nodes(
        less, case.paths.nodes, case.paths.pointer + np.arange(case.paths.count + 1)
    )
    after = wl.solve(te.max_total_flow(less, case.demand, paths), engine="exact")
    changed = str(after.diff(solution))
    assert "n0->n3" in changed
    assert "flow on n0->n2->n3" in changed


@pytest.mark.real_data("te_topologies", "te_b4_real", "te_paths")
def test_all_36_real_matrices_of_b4() -> None:
    net = te.load_topology("B4", synthetic=False)
    released = data.load("te_paths", synthetic=False).paths["B4"]
    paths = te.Paths.of_nodes(net, released.nodes, released.offset)
    for time, demand in enumerate(data.load("te_b4_real", synthetic=False).demand):
        case = Case(net, demand * 3.0, paths)
        for objective, state in OBJECTIVES.items():
            found = [
                wl.solve(state(net, case.demand, paths), engine=engine, tolerance=1e-8).value
                for engine in ENGINES
            ]
            assert found == pytest.approx([textbook(case, objective)] * 2, rel=1e-6), time


@pytest.mark.real_data("te_topologies")
def test_uscarrier_is_certified_and_served_by_link_failures_too() -> None:
    net = te.load_topology("UsCarrier", synthetic=False)
    paths = te.candidate_paths(net, cache=False)
    assert (paths.count, len(paths.links)) == (36_248, 484_208)
    demand = te.lognormal_traffic(net, seed=1)
    before = wl.solve(te.max_total_flow(net, demand, paths), engine="interior")
    assert before.status == wl.Status.OPTIMAL
    assert te.evaluate(demand, paths, before.x).violation <= 1e-9
    broken = net.without(te.random_failures(net, 10, seed=0))
    others = te.candidate_paths(broken, cache=False)
    left = te.joined_traffic(demand, others)
    after = wl.solve(te.max_total_flow(broken, left, others), engine="interior", start=before)
    assert after.status == wl.Status.OPTIMAL
    assert after.value < before.value
