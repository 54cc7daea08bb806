"""The most that an entry can be by itself, against its rows one by one."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bank.statement import INF, Entry, Row, state

from walras.programs.implied_bounds import equal_shares, least_limit, reach
from walras.separable import Separable


def _problem() -> Separable:
    return state(
        [Entry(0, 0, upper=5.0), Entry(0, 1), Entry(1, 1, upper=INF), Entry(1, 2, lower=2.0)],
        [
            Row("capacity[a]", {0: 1.0, 1: 2.0}, upper=6.0),
            Row("capacity[b]", {1: 4.0, 2: 1.0}, upper=8.0),
            Row("floor[c]", {2: 1.0}, lower=1.0),
        ],
    )


def test_reach_is_the_least_of_a_limit_and_each_row_alone() -> None:
    # 5 of its own; min(6/2, 8/4); 8; no row limits the last: the median of the others.
    np.testing.assert_allclose(reach(_problem()), [5.0, 2.0, 8.0, 5.0])


def test_nothing_that_limits_is_a_reach_of_one() -> None:
    free = state([Entry(0, 0), Entry(0, 1)], [Row("floor[a]", {0: 1.0, 1: 1.0}, lower=1.0)])
    np.testing.assert_array_equal(reach(free), [1.0, 1.0])


@pytest.mark.parametrize(("unit", "second"), [(False, 2.0), (True, 6.0)])
def test_a_unit_of_an_entry_uses_its_coefficient_or_one(unit: bool, second: float) -> None:
    problem = _problem()
    own = np.full(problem.entries, INF)
    found = least_limit(problem, problem.rows.upper, own, unit=unit)
    np.testing.assert_allclose(found, [6.0, second, 8.0, INF])


def test_equal_shares_use_no_row_beyond_its_bound() -> None:
    problem = _problem()
    shares = equal_shares(problem)
    used = problem.rows.matrix @ shares
    assert np.all(used[:2] <= problem.rows.upper[:2] + 1e-12)
    # 6 over 1 + 2; then 8 over 4 + 1; the last has no row and is at its lower bound of two.
    np.testing.assert_allclose(shares, [2.0, 1.6, 1.6, 2.0])
