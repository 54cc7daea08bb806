"""Branch and bound of one small round: its bound, its order, and what it finds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.kernels.matching.rounds import ONES, as_kernel
from tests.matching.rounds import batch, cost, enumerate_best

from walras.kernels.matching.exact import arrange, ascend, branch, cut_below, make_tree
from walras.kernels.matching.rounds import HARD
from walras.kernels.parallel import jit
from walras.types import Floats, Ints


@jit
def _searched(
    t: Floats, a: Floats, cap: Ints, goal: float, price: float, limit: int, best: Ints
) -> tuple[float, float, float, int, Floats, Floats, Floats]:
    """The bound of the ascent, what the branching finds and proves, its nodes; the tree."""
    tree = make_tree(*t.shape)
    bound, mu = ascend(t, a, cap, False, goal, price, 1.0, 200, np.inf, tree)
    arrange(t, a, mu, tree)
    upper, low, nodes = branch(tree, cap, goal, price, mu * goal, 0.0, limit, 1e9, best)
    return bound, upper, low, nodes, tree.reduced, tree.tail, tree.hope


def searched(
    seed: int, floor: float, price: float, limit: int = 10**6, n: int = 6
) -> tuple[Floats, Floats, Ints, tuple[float, float, float, int, Floats, Floats, Floats]]:
    times, success = batch(seed, 1, 3, n)
    best = np.full(n, -1, dtype=np.int32)
    cap = np.full(3, n, dtype=np.int32)
    t, a = as_kernel(times)[0], as_kernel(success)[0]
    return times[0], success[0], best, _searched(t, a, cap, n * floor, price / n, limit, best)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("price", [HARD, 5.0])
def test_the_least_placement_is_found_and_no_bound_is_above_it(seed: int, price: float) -> None:
    times, success, best, (bound, upper, low, _, *_) = searched(seed, 0.84, price)
    least = enumerate_best(times, success, 0.84, ONES, np.inf if price == HARD else price)
    if np.isfinite(least):
        assert upper == pytest.approx(least, rel=1e-12)
        assert bound <= least * (1 + 1e-12)
        assert low <= least
        assert low == pytest.approx(least, rel=1e-10)
        soft = np.inf if price == HARD else price
        assert cost(times, success, best, 0.84, ONES, soft) == pytest.approx(least, rel=1e-12)


def test_a_few_nodes_leave_a_bound_that_holds() -> None:
    _, _, _, (_, least, _, nodes, *_) = searched(1, 0.84, HARD, n=9)
    for limit in (1, 5, 30):
        _, _, _, (_, upper, low, visited, *_) = searched(1, 0.84, HARD, limit, n=9)
        assert visited == limit + 1 < nodes
        assert low <= least * (1 + 1e-12)
        assert upper >= least * (1 - 1e-12)


def test_clusters_come_by_reduced_cost_and_tails_are_sums_of_the_least() -> None:
    _, success, _, (*_, reduced, tail, hope) = searched(2, 0.8, HARD)
    assert np.all(np.diff(reduced, axis=1) >= 0.0)
    np.testing.assert_allclose(tail[:-1], np.cumsum(reduced[::-1, 0])[::-1], rtol=1e-12)
    assert hope[0] == pytest.approx(success.max(axis=0).sum())
    assert tail[-1] == hope[-1] == 0.0


@jit
def _cut(upper: float, tolerance: float) -> float:
    return cut_below(upper, tolerance)


@pytest.mark.parametrize(("upper", "tolerance"), [(4.0, 0.1), (-4.0, 0.1), (0.0, 0.1), (3.0, 0.0)])
def test_a_cut_lies_below_whatever_the_sign(upper: float, tolerance: float) -> None:
    found = _cut(upper, tolerance)
    assert found == pytest.approx(upper - abs(upper) * tolerance, abs=1e-11)
    assert found < upper or upper == 0.0


@jit
def _counted(t: Floats, a: Floats, cap: Ints, goal: float, tree_cut: float) -> float:
    return ascend(t, a, cap, True, goal, 1e9, 1.0, 300, tree_cut, make_tree(*t.shape))[0]


def test_with_counts_the_bound_is_one_on_placements_of_these_counts() -> None:
    times, success = batch(4, 1, 3, 5)
    t, a = as_kernel(times)[0], as_kernel(success)[0]
    for cap in ([5, 0, 0], [2, 2, 1], [1, 1, 3]):
        every = [
            x
            for x in itertools.product(range(3), repeat=5)
            if [x.count(i) for i in range(3)] == cap
        ]
        best = min(
            max(sum(times[0, i, j] for j in range(5) if x[j] == i) for i in range(3)) for x in every
        )
        found = _counted(t, a, np.array(cap, dtype=np.int32), 0.0, np.inf)
        assert found <= best * (1 + 1e-12)
        assert found >= 0.6 * best
        assert _counted(t, a, np.array(cap, dtype=np.int32), 0.0, 0.1 * best) <= found
