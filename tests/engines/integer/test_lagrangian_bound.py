"""Knapsack bounds and branching on some entries, held against every assignment there is."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bank.whole import drawn_assignment

from walras.engines.integer.branching import branch, reassigned
from walras.engines.integer.lagrangian_bound import relax, whole
from walras.engines.integer.tasks import Tasks
from walras.kernels.local_search.assign import ascend
from walras.settings import Settings


def stated(
    kind: str, agents: int, tasks: int, seed: int, *, scale: float = 1.0, room: float = 1.3
) -> Tasks:
    cost, weight, capacity = drawn_assignment(kind, agents, tasks, seed)
    entry = np.arange(agents * tasks, dtype=np.int32).reshape(tasks, agents)
    return Tasks(
        np.ascontiguousarray(cost.T),
        np.ascontiguousarray(weight.T) * scale,
        room * capacity * scale,
        entry,
        np.arange(agents, dtype=np.int32),
    )


def every_assignment(tasks: Tasks) -> tuple[np.ndarray, np.ndarray]:
    """All assignments within the capacities, and their costs."""
    count, agents = tasks.cost.shape
    every = np.array(list(product(range(agents), repeat=count)))
    load = np.stack(
        [np.where(every == i, tasks.weight[:, i], 0.0).sum(axis=1) for i in range(agents)], axis=1
    )
    fits = every[np.all(load <= tasks.capacity + 1e-9, axis=1)]
    return fits, tasks.cost[np.arange(count), fits].sum(axis=1)


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


@pytest.mark.parametrize("kind", ["C", "D", "E"])
def test_branching_on_all_entries_finds_the_optimum(kind: str) -> None:
    tasks = stated(kind, 3, 6, 7)
    fits, cost = every_assignment(tasks)
    keep = np.ones(tasks.cost.shape, dtype=bool)
    found = branch(tasks, keep, None, Settings(1e-9, 20.0))
    assert found.agent is not None
    assert tasks.cost[np.arange(6), found.agent].sum() == pytest.approx(cost.min())
    assert found.bound <= cost.min() + 1e-6
    start = fits[np.argmax(cost)].astype(np.int32)
    alone = branch(tasks, np.zeros_like(keep), start, Settings(1e-9, 20.0))
    assert np.array_equal(alone.agent, start)  # type: ignore[arg-type]


def test_dealing_out_again_keeps_to_the_agents_chosen_and_never_costs_more() -> None:
    tasks = stated("E", 6, 40, 3)
    keep = np.ones(tasks.cost.shape, dtype=bool)
    start = branch(tasks, keep, None, Settings(0.2, 5.0)).agent
    assert start is not None
    chosen = np.array([1, 2, 4], dtype=np.int32)
    found = reassigned(tasks, keep, start, chosen, Settings(1e-9, 2.0))
    others = ~np.isin(start, chosen)
    assert np.array_equal(found[others], start[others])
    assert np.all(np.isin(found[~others], chosen))
    every = np.arange(40)
    assert tasks.cost[every, found].sum() <= tasks.cost[every, start].sum()
    assert np.all(np.bincount(found, tasks.weight[every, found], 6) <= tasks.capacity + 1e-9)
