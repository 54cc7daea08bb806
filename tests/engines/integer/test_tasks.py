"""Which problems are generalised assignments, and their dense arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tests.bank.bank import WHOLE
from tests.bank.whole import drawn_assignment

from walras.engines.integer import tasks
from walras.separable import assignment


def test_only_assignments_are_recognised_as_such() -> None:
    recognised = {case.name: tasks.recognised(case.base) is not None for case in WHOLE}
    assert recognised["assignment, type C"]
    assert recognised["multiple knapsack"]
    assert not recognised["bins"]
    assert not recognised["coins"]


def test_tasks_that_may_be_left_out_have_an_agent_that_costs_nothing() -> None:
    cost, weight, capacity = drawn_assignment("C", 3, 5, 1)
    every = tasks.recognised(assignment(cost, weight, capacity))
    some = tasks.recognised(assignment(cost, weight, capacity, all_assigned=False))
    assert every is not None
    assert some is not None
    np.testing.assert_array_equal(every.cost, cost.T)
    np.testing.assert_array_equal(every.weight, weight.T)
    np.testing.assert_array_equal(every.capacity, np.minimum(capacity, every.capacity))
    assert every.entry.shape == (5, 3)
    np.testing.assert_array_equal(some.cost, np.column_stack([cost.T, np.zeros(5)]))
    assert not some.weight[:, 3].any()
    assert some.capacity[3] > some.weight.sum(axis=1).max()


def test_a_pair_that_is_not_allowed_costs_more_than_any_other() -> None:
    problem = assignment(*drawn_assignment("C", 3, 5, 1))
    kept = np.arange(problem.entries) != 4
    fewer = replace(
        problem,
        resource=problem.resource[kept],
        demand=problem.demand[kept],
        cost=problem.cost[kept],
        quadratic=problem.quadratic[kept],
        lower=problem.lower[kept],
        upper=problem.upper[kept],
        integer=np.ones(kept.sum(), np.bool_),
        rows=replace(problem.rows, matrix=problem.rows.matrix[:, np.flatnonzero(kept)]),
    )
    found = tasks.recognised(fewer)
    assert found is not None
    gone = found.entry < 0
    assert gone.sum() == 1
    assert np.all(found.cost[gone] > 1e8 * found.cost[~gone].max())
