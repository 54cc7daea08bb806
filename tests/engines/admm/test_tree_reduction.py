"""Sums over demands, and with them answers, do not depend on who holds which demands."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from tests.bank.statement import Entry, Row, state
from tests.engines.admm.test_admm import cluster

import walras as wl
from walras.engines.admm.form import make_form
from walras.engines.admm.slices.slice import cut
from walras.engines.admm.start import beginning
from walras.engines.admm.tree_reduction import Tree, leaves_of, subtrees
from walras.separable import Separable

te = wl.domains.traffic_engineering
cs = wl.domains.cluster_scheduling


@pytest.mark.parametrize(
    "objective", [te.max_total_flow, te.min_max_utilisation, te.max_concurrent_flow]
)
def test_answers_do_not_depend_on_the_number_of_threads(
    objective: Callable[..., Separable],
) -> None:
    network = te.load_topology("B4")
    paths = te.candidate_paths(network, 4, cache=False)
    demand = te.lognormal_traffic(network, seed=0, total=0.4 * network.capacity.sum())
    problem = objective(network, demand, paths)
    found = [wl.solve(problem, engine="admm", tolerance=1e-4, threads=k) for k in (1, 2, 3, 4)]
    one = found[0]
    for other in found[1:]:
        apart = np.max(np.abs(other.entries - one.entries))
        assert apart <= 1e-9 * np.max(one.entries)
        assert other.history[-1].iteration == one.history[-1].iteration


@pytest.mark.parametrize("collapse", [False, True])
def test_iterates_of_the_cluster_are_equal_to_the_last_bit(collapse: bool) -> None:
    problem = cluster(cs.total_throughput)
    one, other = (
        wl.solve(problem, engine=wl.engines.ADMM(collapse=collapse), tolerance=1e-4, threads=k)
        for k in (1, 5)
    )
    assert np.array_equal(one.entries, other.entries)


@pytest.mark.parametrize("holders", [1, 2, 3, 5, 7, 8])
def test_sums_are_equal_to_the_last_bit_whoever_holds_the_leaves(holders: int) -> None:
    rng = np.random.default_rng(0)
    leaves = rng.normal(size=(8, 3)) * 10.0 ** rng.integers(-8, 8, (8, 1))
    edges = [8 * k // holders for k in range(holders + 1)]
    runs = [range(a, b) for a, b in pairwise(edges)]
    held = [np.array([_sum(leaves, *node) for node in subtrees(run)]) for run in runs]
    assert np.array_equal(Tree(runs).total(held), _sum(leaves, 3, 0))


def _sum(leaves: np.ndarray, height: int, place: int) -> np.ndarray:
    if height == 0:
        return np.asarray(leaves[place])
    return _sum(leaves, height - 1, 2 * place) + _sum(leaves, height - 1, 2 * place + 1)


def test_a_power_of_two_holders_answer_with_one_sum_each() -> None:
    assert subtrees(range(4)) == [(2, 0)]
    assert subtrees(range(4, 8)) == [(2, 1)]
    assert subtrees(range(1, 6)) == [(0, 1), (1, 1), (1, 2)]


def test_leaves_depend_on_the_problem_and_not_on_few_holders() -> None:
    assert {leaves_of(1_000, k) for k in range(1, 9)} == {8}
    assert {leaves_of(3_000_000, k) for k in (1, 2, 3, 4, 8, 16, 32, 64)} == {64}
    assert leaves_of(300_000, 6) >= 24  # shares about even
    assert leaves_of(1_000, 20) >= 20


def test_no_slice_is_empty_where_demands_of_one_size_are_fewer_than_leaves() -> None:
    form = make_form(cluster(cs.total_throughput, 3, 5))
    first = beginning(form, None, None)
    for count in (1, 2, 5, 9):
        slices = cut(form, count, first.x, first.price)
        assert sum(len(one.groups.lower) for one in slices) == 5
        assert len(slices) <= 5
        assert all(len(one.groups.lower) for one in slices)


def test_one_demand_may_be_larger_than_several_leaves() -> None:
    wide, others = 60, 70
    entries = [Entry(r, 0, -1.0 - 0.01 * r) for r in range(wide)]
    entries += [Entry(0, 1 + j, -2.0) for j in range(others)]
    held = {r: [r] for r in range(wide)}
    held[0] += range(wide, wide + others)
    rows = [Row(f"capacity[{r}]", dict.fromkeys(q, 1.0), upper=1.0) for r, q in held.items()]
    rows.append(Row("demand[0]", dict.fromkeys(range(wide), 1.0), upper=20.0))
    rows += [Row(f"demand[{1 + j}]", {wide + j: 1.0}, upper=0.5) for j in range(others)]
    problem = state(entries, rows, maximize=True)
    form = make_form(problem)
    first = beginning(form, None, None)
    slices = cut(form, 8, first.x, first.price)
    assert any(len(one.groups.lower) == 0 for one in slices)
    one, other = (wl.solve(problem, engine="admm", tolerance=1e-4, threads=k) for k in (1, 8))
    assert one.status is wl.Status.OPTIMAL
    assert np.array_equal(one.entries, other.entries)
