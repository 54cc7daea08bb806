"""HiGHS on some entries of an assignment, held against every assignment there is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.engines.integer.assignments import every_assignment, stated

from walras.engines.integer.branching import above_offset, branch, relaxation
from walras.settings import Settings


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


@pytest.mark.parametrize("kind", ["C", "D", "E"])
def test_the_relaxation_gives_the_prices_of_the_best_bound(kind: str) -> None:
    tasks = stated(kind, 4, 30, 3)
    every = np.ones(tasks.cost.shape, dtype=bool)
    found = relaxation(tasks, every, Settings())
    assert found is not None
    agent, price = found
    n, m = tasks.cost.shape
    rows = np.kron(np.eye(n), np.ones(m))
    weights = np.concatenate([np.diag(tasks.weight[j]) for j in range(n)], axis=1)
    plain = linprog(tasks.cost.ravel(), weights, tasks.capacity, rows, np.ones(n))
    assert plain.x is not None
    bound = (tasks.cost + price * tasks.weight).min(axis=1).sum() - price @ tasks.capacity
    assert bound == pytest.approx(plain.fun)
    # A vertex divides at most as many tasks as there are agents; the others stay where they are.
    assert np.all(price >= 0.0)
    assert np.sum(plain.x.reshape(n, m)[np.arange(n), agent] > 1.0 - 1e-6) >= n - m


def test_a_relaxation_without_a_point_is_none() -> None:
    tasks = stated("C", 3, 6, 7)
    first = np.zeros(tasks.cost.shape, dtype=bool)
    first[:, 0] = True  # all tasks on one agent
    assert relaxation(tasks, first, Settings()) is None


@pytest.mark.parametrize("tolerance", [1e-9, 1e-4, 0.05])
@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_the_gap_of_a_program_is_at_most_what_is_asked(tolerance: float, offset: float) -> None:
    tasks = stated("C", 3, 6, 7)
    moved = replace(tasks, cost=tasks.cost + offset)
    fits, cost = every_assignment(moved)
    start = fits[np.argmin(cost)].astype(np.int32)
    asked = above_offset(moved, start, Settings(tolerance)).tolerance
    if offset == 0.0:
        assert asked == tolerance
    else:
        assert asked <= max(tolerance, 0.01)
        above = tasks.cost - tasks.cost.min(axis=1, keepdims=True)
        absolute = asked * above[np.arange(6), start].sum()
        assert absolute <= tolerance * cost.min() * (1 + 1e-9)
