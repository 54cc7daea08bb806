"""Units of conic programs: powers of two, which change no optimum and round nothing."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bank.statement import Entry, Row, state

from walras.programs.equilibration import in_units, unit_of_worth
from walras.separable import Separable


def _scaled(size: float) -> Separable:
    return state(
        [Entry(0, 0, cost=-1.0, quadratic=3.0), Entry(0, 1, cost=-2.0, upper=4.0 * size)],
        [Row("capacity[a]", {0: 1.0, 1: 1.0}, upper=6.0 * size)],
    )


def test_a_problem_whose_entries_are_near_one_stays_as_it_is() -> None:
    problem = _scaled(1.0)
    units = in_units(problem)
    assert units.problem is problem
    np.testing.assert_array_equal(units.entry, 1.0)
    np.testing.assert_array_equal(units.row, 1.0)


@pytest.mark.parametrize("size", [1e-7, 1e7])
def test_values_and_rows_are_the_same_in_other_units(size: float) -> None:
    problem = _scaled(size)
    units = in_units(problem)
    for factor in (units.entry, units.row):
        np.testing.assert_array_equal(np.log2(factor), np.round(np.log2(factor)))
    x = np.array([0.3, 0.5]) * size
    z, scaled = x / units.entry, units.problem
    assert scaled.cost @ z == problem.cost @ x
    assert scaled.quadratic @ (z * z) == problem.quadratic @ (x * x)
    np.testing.assert_allclose(scaled.rows.matrix @ z, units.row * (problem.rows.matrix @ x))
    np.testing.assert_array_equal(scaled.rows.upper, units.row * problem.rows.upper)
    np.testing.assert_array_equal(scaled.upper * units.entry, problem.upper)
    assert 0.5 <= np.max(np.abs(scaled.rows.matrix.data)) <= 2.0


def test_a_bound_that_all_entries_together_come_nowhere_near_is_left_out() -> None:
    problem = state(
        [Entry(0, 0, upper=1e7), Entry(0, 1, upper=1e7)],
        [Row("capacity[a]", {0: 1.0, 1: 1.0}, upper=1e12)],
    )
    assert in_units(problem).problem.rows.upper.tolist() == [np.inf]


@pytest.mark.parametrize(
    ("cost", "unit"), [([0.0], 1.0), ([3.0, -900.0], 1.0), ([2.0**-20], 2.0**-20), ([1e9], 2.0**30)]
)
def test_the_unit_of_worth_is_the_nearest_power_of_two(cost: list[float], unit: float) -> None:
    assert unit_of_worth(np.array(cost)) == unit
