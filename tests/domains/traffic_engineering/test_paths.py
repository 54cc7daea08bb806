"""Sets of paths: nodes, links, loads, and warm starts by the nodes of paths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.traffic_engineering.networks import Case, diamond, network, random_case

import walras as wl
from walras.domains import traffic_engineering as te

SEEDS = st.integers(0, 100_000)


@settings(max_examples=25)
@given(seed=SEEDS)
def test_nodes_links_and_loads_agree(seed: int) -> None:
    paths = random_case(seed).paths
    again = te.Paths.of_nodes(
        paths.network, paths.nodes, paths.pointer + np.arange(paths.count + 1)
    )
    assert np.array_equal(again.links, paths.links)
    assert np.array_equal(again.first, paths.first)
    assert np.array_equal(again.keys, paths.keys)
    assert len(set(paths.keys.tolist())) == paths.count
    flow = np.random.default_rng(seed).random(paths.count)
    load = np.zeros(paths.network.links)
    for p in range(paths.count):
        nodes = paths.nodes_of(p)
        assert (nodes[0], nodes[-1]) == (paths.source[paths.pair[p]], paths.target[paths.pair[p]])
        np.add.at(load, paths.links[paths.pointer[p] : paths.pointer[p + 1]], flow[p])
    np.testing.assert_allclose(paths.loads(flow), load)
    assert paths.served(flow).sum() == pytest.approx(flow.sum())
    assert list(paths.pair_names)[1:3] == list(paths.pair_names[1:3])


def test_mean_betweenness_of_a_line() -> None:
    # 0 -> 1 -> 2: each link serves two of the three pairs.
    paths = te.candidate_paths(network([(0, 1), (1, 2)], 1.0), cache=False)
    assert paths.mean_betweenness() == pytest.approx(2 / 3)


def test_failures_keep_names_and_warm_starts_find_the_same_paths(wan: Case) -> None:
    failed = te.random_failures(wan.net, 3, seed=1)
    assert np.array_equal(failed, te.random_failures(wan.net, 3, seed=1))
    broken = wan.net.without(failed)
    assert broken.node_names == wan.net.node_names
    assert broken.links == wan.net.links - 3
    assert set(broken.link_names) == set(wan.net.link_names) - {
        wan.net.link_name(int(e)) for e in failed
    }
    paths = te.candidate_paths(broken, cache=False)
    demand = te.joined_traffic(wan.demand, paths)
    before = wl.solve(te.max_total_flow(wan.net, wan.demand, wan.paths), engine="interior")
    problem = te.max_total_flow(broken, demand, paths)
    start = wl.start.start_from(problem, before)
    known = dict(zip(wan.paths.keys.tolist(), before.x.tolist(), strict=True))
    assert np.any(np.isnan(start.x))
    for key, flow in zip(paths.keys.tolist(), start.x.tolist(), strict=True):
        assert flow == known[key] if key in known else np.isnan(flow)
    cold = wl.solve(problem, engine="interior", tolerance=1e-8)
    warm = wl.solve(problem, engine="interior", tolerance=1e-8, start=before)
    assert warm.value == pytest.approx(cold.value, rel=1e-6)
    assert cold.value < before.value


@pytest.mark.parametrize("engine", ["interior", "exact"])
def test_any_allocation_may_be_a_start(engine: str, wan: Case) -> None:
    problem = te.max_total_flow(wan.net, wan.demand, wan.paths)
    cold = wl.solve(problem, engine=engine, tolerance=1e-8)
    guess = te.shortest_path(wan.net, wan.demand, wan.paths).flow
    guess[3] = np.nan
    warm = wl.solve(problem, engine=engine, tolerance=1e-8, start=guess)
    assert warm.value == pytest.approx(cold.value, rel=1e-7)
    with pytest.raises(wl.InputError, match=r"start: has shape \(3,\)"):
        wl.solve(problem, start=np.ones(3))
    with pytest.raises(wl.InputError, match="start: is a str"):
        wl.solve(problem, start="naive")


def test_a_start_from_another_network_is_refused(wan: Case) -> None:
    case = diamond()
    other = te.Network(("a", "b"), np.array([0]), np.array([1]), np.ones(1))
    paths = te.candidate_paths(other, cache=False)
    small = wl.solve(te.max_total_flow(case.net, case.demand, case.paths))
    # Paths are told apart by the numbers of their nodes; node 0 to node 1 exists in both.
    wl.solve(te.max_total_flow(other, np.array([[0.0, 1.0], [0.0, 0.0]]), paths), start=small)
    ring = network([(7, 8), (8, 7)], 1.0)
    lone = te.candidate_paths(ring, cache=False)
    demand = np.zeros((9, 9))
    demand[7, 8] = 1.0
    with pytest.raises(wl.InputError, match="no entry of the problem occurs"):
        wl.solve(te.max_total_flow(ring, demand, lone), start=small)
