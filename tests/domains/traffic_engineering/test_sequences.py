"""Sequences of matrices: each answer is HiGHS' optimum, with a proof from its prices alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.domains.traffic_engineering.networks import Case, diamond, matrix, network, random_case

import walras as wl
from walras.domains import traffic_engineering as te
from walras.errors import InputError
from walras.types import Floats

Function = Callable[..., te.FlowSequence]
BOTH = (te.min_max_utilisation_sequence, te.max_total_flow_sequence)
SEEDS = st.integers(0, 2**32 - 1)


def matrices(case: Case, seed: int, count: int = 5) -> Floats:
    """Matrices with many zeros, equal demands, jumps of size, an empty one and a repeated one."""
    rng = np.random.default_rng(seed)
    out = case.demand * rng.lognormal(0.0, 1.5, (count, *case.demand.shape))
    out *= rng.random(out.shape) < rng.uniform(0.2, 1.0, (count, 1, 1))
    out[1] = np.sign(out[1])
    out[2] *= 10.0 ** rng.integers(-9, 9)
    out[3] = 0.0
    out[4] = out[0]
    return np.asarray(out)


def links_of(paths: te.Paths) -> Floats:
    """(links, paths) how often a path takes a link."""
    out = np.zeros((paths.network.links, paths.count))
    np.add.at(out, (paths.links, np.repeat(np.arange(paths.count), paths.hops)), 1.0)
    return out


def by_highs(function: Function, case: Case, demand: Floats) -> float:
    """The optimum of one matrix, in units that suit HiGHS' absolute tolerances."""
    paths, own = case.paths, case.paths.demands(demand)
    pairs = (paths.pair == np.arange(paths.pairs)[:, None]).astype(float)
    total = function is te.max_total_flow_sequence
    if total:
        own = np.minimum(own, np.add.reduceat(paths.bottleneck(), paths.first[:-1]))
    unit = float(own.max(initial=0.0)) or 1.0
    if total:
        found = linprog(
            -np.ones(paths.count),
            A_ub=np.vstack([links_of(paths), pairs]),
            b_ub=np.concatenate([case.net.capacity, own]) / unit,
        )
        assert found.fun is not None
        return -unit * float(found.fun)
    found = linprog(
        np.append(np.zeros(paths.count), 1.0),
        A_ub=np.hstack([links_of(paths), -case.net.capacity[:, None]]),
        b_ub=np.zeros(case.net.links),
        A_eq=np.hstack([pairs, np.zeros((paths.pairs, 1))]),
        b_eq=own / unit,
    )
    assert found.fun is not None
    return unit * float(found.fun)


def check(function: Function, case: Case, demands: Floats, found: te.FlowSequence) -> None:
    """Values of the flows, bounds of the prices, and feasibility, by plain NumPy."""
    paths, capacity = case.paths, case.net.capacity
    assert np.all(found.price >= 0)
    for k, demand in enumerate(demands):
        own, judged = paths.demands(demand), te.evaluate(demand, paths, found.flow[k])
        dear = np.add.reduceat(found.price[k][paths.links], paths.pointer[:-1])
        cheapest = np.minimum.reduceat(dear, paths.first[:-1])
        assert found.flow[k].min() >= 0
        if function is te.max_total_flow_sequence:
            most = np.minimum(own, np.add.reduceat(paths.bottleneck(), paths.first[:-1]))
            bound = most @ np.maximum(0.0, 1.0 - cheapest) + found.price[k] @ capacity
            assert judged.violation <= 1e-12
            assert found.value[k] == pytest.approx(judged.served.sum(), rel=1e-12)
        else:
            bound = own @ cheapest
            assert found.price[k] @ capacity == pytest.approx(1.0, rel=1e-12)
            assert judged.served == pytest.approx(own, rel=1e-12)
            assert found.value[k] == pytest.approx(judged.max_utilisation, rel=1e-12)
        assert found.bound[k] == pytest.approx(bound, rel=1e-10, abs=1e-12 * own.sum())
    assert np.max(found.gap) <= 1e-9


@pytest.mark.parametrize("function", BOTH)
@settings(max_examples=25)
@given(seed=SEEDS)
def test_each_answer_is_the_optimum_and_proved(function: Function, seed: int) -> None:
    case = random_case(seed)
    demands = matrices(case, seed)
    found = function(case.net, demands, case.paths)
    check(function, case, demands, found)
    wanted = [by_highs(function, case, demand) for demand in demands]
    assert found.value == pytest.approx(np.array(wanted), rel=1e-8)


@pytest.mark.parametrize("function", BOTH)
@settings(max_examples=10)
@given(seed=SEEDS)
def test_the_order_and_the_calls_change_no_value(function: Function, seed: int) -> None:
    case = random_case(seed)
    demands = matrices(case, seed)
    found = function(case.net, demands, case.paths)
    order = np.random.default_rng(seed).permutation(len(demands))
    assert function(case.net, demands[order], case.paths).value == pytest.approx(
        found.value[order], rel=1e-10
    )
    last = None
    for demand, value in zip(demands, found.value, strict=True):
        last = function(case.net, demand[None], case.paths, start=last)
        assert last.value == pytest.approx([value], rel=1e-10)


@pytest.mark.parametrize("function", BOTH)
def test_a_grid_of_equal_links_and_demands_is_solved(function: Function) -> None:
    """Nearly all vertices are degenerate, primal and dual."""
    node = np.arange(25).reshape(5, 5)
    ends = [*zip(node[:, :-1].ravel(), node[:, 1:].ravel(), strict=True)]
    ends += [*zip(node[:-1].ravel(), node[1:].ravel(), strict=True)]
    net = network([(int(a), int(b)) for a, b in [*ends, *[(b, a) for a, b in ends]]], 1.0)
    demands = np.ones((3, 25, 25)) - np.eye(25)
    demands[1, :, ::2] = 0.0
    case = Case(net, demands[0], te.candidate_paths(net, k=4, kind="shortest", cache=False))
    found = function(net, demands, case.paths)
    check(function, case, demands, found)
    assert found.value[1] == pytest.approx(by_highs(function, case, demands[1]), rel=1e-9)


def test_a_matrix_that_was_just_solved_takes_no_pivot(wan: Case) -> None:
    for function in BOTH:
        found = function(
            wan.net, np.array([wan.demand, wan.demand, 1.0001 * wan.demand]), wan.paths
        )
        check(function, wan, np.array([wan.demand, wan.demand, 1.0001 * wan.demand]), found)
        assert found.pivots[0] > 10
        assert found.pivots[1] == 0
        assert found.pivots[2] <= 0.2 * found.pivots[0]


def test_the_result_of_a_network_in_closed_form() -> None:
    case = diamond()  # 4 over capacities 3 and 2
    demands = np.array([case.demand, 2.0 * case.demand])
    found = te.min_max_utilisation_sequence(case.net, demands, case.paths)
    assert found.value == pytest.approx([0.8, 1.6])
    used = found.flow[:, found.flow.any(axis=0)]
    assert used == pytest.approx(np.array([[2.4, 1.6], [4.8, 3.2]]))
    total = te.max_total_flow_sequence(case.net, demands, case.paths)
    assert total.value == pytest.approx([4.0, 5.0])
    assert len(total) == 2
    assert total.frame()["bound"].tolist() == pytest.approx([4.0, 5.0])
    assert repr(found).startswith("FlowSequence(objective='utilisation'")
    assert "\n" not in repr(found)


def test_capacities_of_very_different_size_are_no_trouble() -> None:
    for seed in range(5):
        case = random_case(seed)
        wide = te.Network(
            case.net.node_names,
            case.net.source,
            case.net.target,
            10.0 ** np.random.default_rng(seed).uniform(-4.0, 8.0, case.net.links),
        )
        paths = te.candidate_paths(wide, k=3, cache=False)
        for function in BOTH:
            found = function(wide, case.demand[None], paths)
            assert found.gap.max() <= 1e-9


def test_bad_input_is_named() -> None:
    case = diamond()
    demands = np.array([case.demand] * 3)
    call = te.min_max_utilisation_sequence
    one = case.demand
    for single in (one, one.tolist(), pd.DataFrame(one), None, 1.0):
        with pytest.raises(InputError, match=r"has shape .*put a single one in a list"):
            call(case.net, single, case.paths)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"demands: .*allowed: \(k, 4, 4\): k matrices"):
        call(case.net, one, case.paths)
    with pytest.raises(InputError, match="text is no number"):
        call(case.net, "last", case.paths)
    masked = np.ma.masked_array(demands, demands == 4.0)
    with pytest.raises(InputError, match=r"demands: .*masked entries"):
        call(case.net, masked, case.paths)
    with pytest.raises(InputError, match=r"demands\[1\]: .*masked entries"):
        call(case.net, [one, masked[0]], case.paths)
    with pytest.raises(InputError, match="masked entries"):
        te.max_total_flow(case.net, masked[0], case.paths)
    for value in (-1.0, np.nan):
        bad = demands.copy()
        bad[1, 0, 3] = value
        with pytest.raises(InputError, match=r"demands\[1, n0, n3\]"):
            call(case.net, bad, case.paths)
    lost = demands + matrix(4, {(3, 0): 1.0})
    with pytest.raises(InputError, match=r"demands\[0, n3, n0\]"):
        call(case.net, lost, case.paths)
    with pytest.raises(InputError, match=r"demands\[0, n1, n1\]"):
        call(case.net, demands + matrix(4, {(1, 1): 1.0}), case.paths)
    with pytest.raises(InputError, match="nodes"):
        call(random_case(0).net, demands, case.paths)


def test_frames_are_matched_by_name_and_may_come_one_by_one() -> None:
    case = diamond()
    names = list(case.net.node_names)
    frame = pd.DataFrame(case.demand, names, names)
    turned = frame.loc[[*names[1::-1], *names[2:]], names[::-1]]
    for function, value in zip(BOTH, (0.8, 4.0), strict=True):
        for given_ in ([frame, turned], (m for m in (turned, case.demand.tolist()))):
            found = function(case.net, given_, case.paths)
            assert found.value == pytest.approx([value] * 2)
        with pytest.raises(InputError, match=r"rows of demands\[1\]"):
            function(case.net, [frame, frame.rename(index={"n0": "x"})], case.paths)


@pytest.mark.parametrize("function", BOTH)
@settings(max_examples=6)
@given(seed=SEEDS)
def test_a_path_loads_a_link_as_often_as_it_takes_it(function: Function, seed: int) -> None:
    """The sequence, HiGHS on our own matrix, and the function for one matrix agree."""
    given_ = random_case(seed)
    net, rng = given_.net, np.random.default_rng(seed)
    walks = []
    for _ in range(12):
        walk = [int(rng.integers(net.nodes))]
        for _ in range(int(rng.integers(2, 9))):
            walk.append(int(rng.choice(net.target[net.source == walk[-1]])))
        walks.append(walk[:-1] if walk[0] == walk[-1] else walk)
    walks = [walk for walk in walks if walk[0] != walk[-1]] + [[0, 1]]
    paths = te.Paths.of_nodes(net, np.concatenate(walks), np.cumsum([0, *map(len, walks)]))
    case = Case(net, np.where(paths.joined(), rng.uniform(1.0, 9.0, (net.nodes,) * 2), 0.0), paths)
    found = function(net, case.demand[None], paths)
    wanted = by_highs(function, case, case.demand)
    assert found.value == pytest.approx([wanted], rel=1e-8)
    single = te.max_total_flow if function is te.max_total_flow_sequence else te.min_max_utilisation
    for engine in ("exact", "interior"):
        s = wl.solve(single(net, case.demand, paths), engine=engine, tolerance=1e-8)
        assert s.value == pytest.approx(wanted, rel=1e-6)


def test_a_start_of_another_problem_is_refused() -> None:
    case, other = diamond(), diamond((1.0, 1.0, 2.0, 2.0))
    found = te.min_max_utilisation_sequence(case.net, case.demand[None], case.paths)
    for function, net, paths in (
        (te.max_total_flow_sequence, case.net, case.paths),
        (te.min_max_utilisation_sequence, other.net, case.paths),
        (te.min_max_utilisation_sequence, case.net, other.paths),
    ):
        with pytest.raises(InputError, match="start"):
            function(net, case.demand[None], paths, start=found)
    with pytest.raises(InputError, match="start"):
        te.min_max_utilisation_sequence(case.net, case.demand[None], case.paths, start="last")  # type: ignore[arg-type]


@pytest.mark.parametrize("function", BOTH)
def test_the_inverse_is_found_anew_after_a_hundred_pivots_of_many_calls(function: Function) -> None:
    case = random_case(3)
    demands = np.concatenate([matrices(case, seed) for seed in range(60)])
    last, pivots, largest = None, 0, 0
    for demand in demands:
        last = function(case.net, demand[None], case.paths, start=last)
        pivots += int(last.pivots[0])
        largest = max(largest, int(last.pivots[0]))
        assert last.basis.size[1] == pivots % 100
    assert largest < 100 < pivots


@pytest.mark.parametrize("function", BOTH)
def test_a_start_with_a_lost_inverse_gives_the_optimum(function: Function, wan: Case) -> None:
    demands = np.array([wan.demand])
    found = function(wan.net, demands, wan.paths)
    found.basis.inverse[0, 0] = np.nan
    again = function(wan.net, demands, wan.paths, start=found)
    check(function, wan, demands, again)
    assert again.value == pytest.approx(found.value, rel=1e-10)


def test_no_matrix_gives_an_empty_result() -> None:
    case = diamond()
    found = te.max_total_flow_sequence(case.net, np.zeros((0, 4, 4)), case.paths)
    assert len(found) == len(found.frame()) == 0


@pytest.mark.real_data("te_figret")
@pytest.mark.parametrize("name", ["GEANT", "Facebook_pod_a", "Facebook_pod_b"])
def test_all_published_optima_are_found(name: str) -> None:
    figret = te.load_figret(Path(os.environ["WALRAS_DATA"]) / "te_figret" / name)
    for part in figret.names:
        demands, optimum = figret.matrices(part), figret.optimum(part)
        found = te.min_max_utilisation_sequence(figret.network, demands, figret.paths)
        assert np.max(np.abs(found.value / optimum - 1.0)) <= 1e-9
        assert found.gap.max() <= 1e-9
