"""Generalised assignment: its arrays against the definition, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import walras as wl
from walras.separable import Side, assignment

COST = np.array([[4.0, np.inf, 1.0], [2.0, 3.0, np.nan]])
WEIGHT = np.array([[5.0, 6.0, 7.0], [8.0, 9.0, 10.0]])
CAPACITY = np.array([11.0, 12.0])


def test_each_allowed_pair_is_an_entry_task_by_task() -> None:
    p = assignment(COST, WEIGHT, CAPACITY)
    assert p.demand.tolist() == [0, 0, 1, 2]
    assert p.resource.tolist() == [0, 1, 1, 0]
    assert p.cost.tolist() == [4.0, 2.0, 3.0, 1.0]
    assert (p.lower.tolist(), p.upper.tolist()) == ([0.0] * 4, [1.0] * 4)
    assert p.quadratic.tolist() == [0.0] * 4
    assert p.integer is not None
    assert p.integer.tolist() == [True] * 4
    assert (p.shape, p.scalars, p.maximize, p.objective) == ((2, 3), 0, False, "assignment")


def test_rows_are_the_capacities_and_then_the_tasks() -> None:
    rows = assignment(COST, WEIGHT, CAPACITY).rows
    assert rows.matrix.toarray().tolist() == [
        [5.0, 0.0, 0.0, 7.0],
        [0.0, 8.0, 9.0, 0.0],
        [1.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]
    assert rows.lower.tolist() == [-np.inf, -np.inf, 1.0, 1.0, 1.0]
    assert rows.upper.tolist() == [11.0, 12.0, 1.0, 1.0, 1.0]
    assert rows.side.tolist() == [Side.RESOURCE] * 2 + [Side.DEMAND] * 3
    assert rows.owner.tolist() == [0, 1, 0, 1, 2]
    assert not np.any(rows.is_utility)
    assert (rows.weight.tolist(), rows.parameter.tolist()) == ([1.0] * 5, [0.0] * 5)
    assert rows.scalar_matrix.shape == (5, 0)
    names = ["capacity[0]", "capacity[1]", "assigned[0]", "assigned[1]", "assigned[2]"]
    assert [rows.name(k) for k in range(5)] == names


def test_names_are_the_users_own() -> None:
    p = assignment(COST, WEIGHT, CAPACITY, agent_names=["fast", "slow"], task_names=["a", "b", "c"])
    assert (p.resource_names, p.demand_names) == (["fast", "slow"], ["a", "b", "c"])
    assert [p.rows.name(k) for k in (1, 2)] == ["capacity[slow]", "assigned[a]"]
    assert p.entry_name(2) == "x[slow, b]"


def test_a_profit_is_stored_negated_and_tasks_may_stay_out() -> None:
    p = assignment(COST, WEIGHT, CAPACITY, all_assigned=False, maximize=True)
    assert p.maximize
    assert p.cost.tolist() == [-4.0, -2.0, -3.0, -1.0]
    assert p.rows.lower.tolist() == [-np.inf] * 5
    assert p.rows.upper.tolist() == [11.0, 12.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((COST[0], WEIGHT, CAPACITY), r"have shapes \(3,\), \(2, 3\) and \(2,\)"),
        ((COST, WEIGHT[:, :2], CAPACITY), r"have shapes \(2, 3\), \(2, 2\) and \(2,\)"),
        ((COST, WEIGHT, np.ones(3)), r"have shapes \(2, 3\), \(2, 3\) and \(3,\)"),
        ((COST, WEIGHT, np.ones((2, 1))), r"have shapes \(2, 3\), \(2, 3\) and \(2, 1\)"),
        ((COST, np.where(WEIGHT == 9, -0.5, WEIGHT), CAPACITY), r"weight\[1, 1\]: is -0.5"),
        ((COST, np.where(WEIGHT == 7, np.nan, WEIGHT), CAPACITY), r"weight\[0, 2\]: is NaN"),
        ((COST, WEIGHT, np.array([1.0, np.inf])), r"capacity\[1\]: is inf"),
        ((COST, WEIGHT, np.array([-1.0, -2.0])), r"capacity\[0\]: is -1"),
        ((np.where(COST == 3, np.inf, COST), WEIGHT, CAPACITY), "task 1: is allowed on no agent"),
    ],
)
def test_what_is_no_assignment_is_refused(given: tuple[Any, ...], message: str) -> None:
    with pytest.raises(wl.InputError, match=message):
        assignment(*given)


def test_weights_and_capacities_of_nothing_are_allowed() -> None:
    p = assignment(COST, np.zeros((2, 3)), np.zeros(2))
    assert p.rows.matrix.nnz == 4  # the tasks' rows alone
    assert p.rows.upper.tolist() == [0.0, 0.0, 1.0, 1.0, 1.0]
