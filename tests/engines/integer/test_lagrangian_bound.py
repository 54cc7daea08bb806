"""Knapsack bounds and branching on some entries, held against every assignment there is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.integer.assignments import every_assignment, stated

from walras.engines.integer.branching import branch
from walras.engines.integer.lagrangian_bound import relax, whole
from walras.kernels.local_search.assign import ascend
from walras.settings import Settings


@settings(max_examples=20)
@given(
    kind=st.sampled_from("CDE"), seed=st.integers(0, 500), scale=st.sampled_from([1.0, 0.37, 900.0])
)
def test_no_assignment_is_below_the_bounds(kind: str, seed: int, scale: float) -> None:
    tasks = stated(kind, 3, 6, seed, scale=scale)
    fits, cost = every_assignment(tasks)
    if not len(fits):
        return
    keep = np.ones(tasks.cost.shape, dtype=bool)
    found = relax(tasks, keep, tasks.cost.min(axis=1), float(cost.min()), lambda: True)
    assert found.bound <= cost.min() + 1e-6
    for task, agent in np.ndindex(*keep.shape):
        users = cost[fits[:, task] == agent]
        if len(users):
            assert found.raised[task, agent] <= users.min() + 1e-6


@pytest.mark.parametrize("kind", ["C", "D", "E"])
def test_the_bound_rises_above_that_of_linear_prices(kind: str) -> None:
    tasks = stated(kind, 5, 60, 1, room=1.0)
    prices, target = np.zeros(5), float(tasks.cost.min(axis=1).sum() * 1.1)
    linear = float(ascend(tasks.cost, tasks.weight, tasks.capacity, prices, target, 1500))
    keep = np.ones(tasks.cost.shape, dtype=bool)
    price = (tasks.cost + prices * tasks.weight).min(axis=1)
    first = relax(tasks, keep, price, target, lambda: False)
    last = relax(tasks, keep, price, target, lambda: True)
    assert linear - 1e-6 <= first.bound <= last.bound
    assert last.bound > linear + 0.5
    proved = branch(tasks, keep, None, Settings(1e-2, 10.0))
    assert proved.agent is not None
    assert last.bound <= tasks.cost[np.arange(60), proved.agent].sum()


def test_weights_in_whole_units_never_forbid_what_is_allowed() -> None:
    random = np.random.default_rng(4)
    weight, capacity = random.uniform(0.0, 1.0, (200, 3)), np.array([20.0, 0.1, 7.3])
    size, room = whole(weight, capacity)
    assert room.max() == 10_000
    for _ in range(100):
        some = random.random(200) < random.random()
        fits = weight[some].sum(axis=0) <= capacity
        assert np.all(size[some].sum(axis=0)[fits] <= room[fits])
    size, room = whole(np.floor(10.0 * weight), np.array([20.0, 3.0, 7.0]))
    assert room.tolist() == [20, 3, 7]
    assert np.array_equal(size, np.floor(10.0 * weight))


def test_weights_too_large_to_count_fit_nowhere() -> None:
    weight = np.array([[3e9, 1.0], [2.5, 1e300]])
    size, room = whole(weight, np.array([9.0, 4.0]))
    assert size[0, 0] > room[0]
    assert size[1, 1] > room[1]
    assert size[1, 0] <= room[0]
    assert size[0, 1] <= room[1]
    size, room = whole(np.array([[0.5]]), np.array([0.0]))
    assert size[0, 0] > room[0] == 0
