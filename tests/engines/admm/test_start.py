"""Where the iterations begin: no start costs much more than none."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engines.admm.test_admm import cluster, solved

import walras as wl
from walras.engines.admm.form import make_form
from walras.engines.admm.start import beginning
from walras.warm import start_from

cs = wl.domains.cluster_scheduling
OBJECTIVES = [cs.proportional_fairness, cs.total_throughput]


@pytest.mark.parametrize("collapse", [False, True], ids=["copies", "collapsed"])
@pytest.mark.parametrize("size", [1.0, 1e3, 1e9, 1e300])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_start_far_outside_costs_little(objective: object, size: float, collapse: bool) -> None:
    problem = cluster(objective)
    far = size * np.random.default_rng(0).random(problem.entries)
    cold = solved(problem, 1e-3, collapse=collapse)
    warm = solved(problem, 1e-3, collapse=collapse, start=far)
    assert warm.status is wl.Status.OPTIMAL
    assert len(warm.history) <= 2 * len(cold.history)


@pytest.mark.parametrize("unit", [1e-5, 1e5])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_prices_in_other_units_cost_little(objective: object, unit: float) -> None:
    problem = cluster(objective)
    rng, (resources, jobs) = np.random.default_rng(1), (12, 60)
    other = objective(unit * rng.random((resources, jobs)), np.ones(jobs), np.full(resources, 9.0))  # type: ignore[operator]
    cold = solved(problem, 1e-3)
    warm = solved(problem, 1e-3, start=solved(other, 1e-3))
    assert warm.status is wl.Status.OPTIMAL
    assert len(warm.history) <= 2 * len(cold.history)


def test_a_point_within_the_rows_and_its_prices_are_kept() -> None:
    problem = cluster(cs.total_throughput)
    exact = wl.solve(problem, engine="exact")
    form = make_form(problem)
    first = beginning(form, start_from(problem, exact), None)
    x = np.empty(problem.entries)
    x[form.order] = first.x
    np.testing.assert_allclose(x, start_from(problem, exact).x, rtol=1e-12, atol=1e-12)
    narrow = form.narrow.source[:-1]
    np.testing.assert_array_equal(first.pull[:-1], exact.prices.rows[narrow])
