"""The certificate of a point outside the separable form."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from walras.problem.proof import proved, relative_gap, worst_of


def test_gaps_are_relative_down_to_a_hundredth() -> None:
    for value, bound, gap, unit in (
        (4.0, 5.0, 0.2, "of the value"),
        (-5.0, 4.0, 1.8, "of the value"),
        (1e-3, 2e-3, 0.1, "of a hundredth"),
    ):
        found = relative_gap(value, bound)
        assert found[0] == pytest.approx(gap)
        assert found[1] == unit
    assert relative_gap(0.0, 0.0) == (0.0, "of a hundredth")
    for value, bound in ((np.nan, 1.0), (1.0, -np.inf)):
        assert relative_gap(value, bound) == (np.inf, "of the value")


def placed(value: float) -> cp.Problem:
    """Minimise 2 x with x >= 3 and x <= 9, x at a value."""
    x = cp.Variable(name="x")
    x.save_value(np.array(value))
    return cp.Problem(cp.Minimize(2 * x), [(x >= 3).set_label("least"), x <= 9])


def test_the_better_bound_is_taken_where_the_prices_prove_too_little() -> None:
    def proof(own: float, recomputed: float, tolerance: float = 1e-3) -> tuple[float, str]:
        found = proved(placed(3.0), (own, "HiGHS"), recomputed, tolerance, 0.0)
        assert (found.value, found.violation) == (6.0, 0.0)
        return found.bound, found.bound_source

    assert proof(6.0, 5.0) == (6.0, "HiGHS")
    assert proof(4.0, 5.0) == (5.0, "prices")
    assert proof(6.0, 5.999) == (5.999, "prices")  # enough for the tolerance
    assert proof(6.0, 5.999, 1e-9) == (6.0, "HiGHS")


def test_a_point_that_breaks_a_row_names_it_and_a_value_that_is_none_is_infeasible() -> None:
    problem = placed(2.5)
    found = proved(problem, (5.0, "HiGHS"), 5.0, 1e-3, 0.0)
    assert not found.feasible
    assert found.worst_row == 0
    name, far = worst_of(problem, 0.0)
    assert "least" in name
    assert far == found.violation > 1e-2
    assert proved(placed(np.nan), (5.0, "HiGHS"), 5.0, 1e-3, 0.0).violation == np.inf
