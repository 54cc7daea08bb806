"""Rows that nothing can raise above zero are told from those that are only scarce."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import walras as wl
from walras.diagnosis.positivity import held_at_zero, least_positive
from walras.programs.highs import LinearProgram
from walras.settings import Settings

cs = wl.domains.cluster_scheduling


def program(capacity: float, closed: list[int]) -> LinearProgram:
    """Columns 0 to 3 with ``sum x <= capacity``, each alone in a row of its own, some closed."""
    upper = np.full(4, np.inf)
    upper[closed] = 0.0
    matrix = sp.csc_array(np.vstack([np.ones(4), 3.0 * np.eye(4)]))
    free = np.full(4, np.inf)
    return LinearProgram(
        np.zeros(4),
        np.zeros(4),
        upper,
        matrix,
        np.append(-np.inf, np.zeros(4)),
        np.append(capacity, free),
    )


@pytest.mark.parametrize("capacity", [1e-9, 1e-6, 1.0, 1e9])
def test_scarce_is_not_nothing(capacity: float) -> None:
    wanted = np.array([False, True, True, True, True])
    found = held_at_zero(program(capacity, [1, 2]), wanted, Settings())
    np.testing.assert_array_equal(found, [False, False, True, True, False])


def test_where_there_is_nothing_all_are_held() -> None:
    wanted = np.array([False, True, False, True, True])
    found = held_at_zero(program(0.0, []), wanted, Settings())
    np.testing.assert_array_equal(found, wanted)


def test_bounds_away_from_zero_are_scaled_with_the_point() -> None:
    """-2 <= x <= -1 cannot be above zero, and x + y with y <= 3 can."""
    p = LinearProgram(
        np.zeros(2),
        np.array([-2.0, 0.0]),
        np.array([-1.0, 3.0]),
        sp.csc_array([[1.0, 0.0], [1.0, 1.0]]),
        np.full(2, -np.inf),
        np.full(2, np.inf),
    )
    found = held_at_zero(p, np.array([True, True]), Settings())
    np.testing.assert_array_equal(found, [True, False])


@pytest.mark.parametrize("engine", ["auto", "interior", "exact"])
@pytest.mark.parametrize("unit", [1e-10, 1e-8, 1e-6])
@pytest.mark.parametrize("objective", [cs.proportional_fairness, cs.alpha_fair])
def test_scarce_capacities_are_no_contradiction(
    objective: object, unit: float, engine: str
) -> None:
    rng = np.random.default_rng(3)
    speed, size = rng.lognormal(size=(4, 20)), rng.integers(1, 8, 20).astype(float)
    more = {"alpha": 2.0} if objective is cs.alpha_fair else {}
    s = wl.solve(objective(speed, size, unit * np.arange(2.0, 6.0), **more), engine=engine)  # type: ignore[operator]
    assert s.status is wl.Status.OPTIMAL
    assert s.gap <= 1e-6


def test_of_scarce_and_closed_jobs_the_closed_one_is_named() -> None:
    x = cp.Variable((3, 4), nonneg=True, name="x")
    aim = cp.sum(cp.log(cp.sum(x, axis=0)))
    problem = wl.Problem(cp.Maximize(aim), [x[:, 2] == 0, cp.sum(x, axis=1) <= 1e-7])
    with pytest.raises(wl.InfeasibleError) as error:
        problem.solve()
    assert str(error.value).endswith("let entries of log[2] be above zero")
    assert str(error.value).startswith("log[2] with x[0, 2] <= 0")


def test_the_least_activity_of_whole_entries() -> None:
    problem = cs.alpha_fair([[3.0, 2.0], [1.0, 5.0]], [1, 2], [4, 4], alpha=0.5)
    jobs = problem.rows.is_utility
    np.testing.assert_array_equal(least_positive(problem), 0.0)
    whole = replace(problem, integer=np.ones(problem.entries, dtype=bool))
    np.testing.assert_array_equal(least_positive(whole)[jobs], [1.0, 2.0])
    some = replace(problem, integer=problem.demand == 1)
    np.testing.assert_array_equal(least_positive(some)[jobs], [0.0, 2.0])
    negative = replace(whole, lower=np.where(problem.demand == 1, -1.0, 0.0))
    np.testing.assert_array_equal(least_positive(negative)[jobs], [1.0, 0.0])
