"""Where the iterations begin: no start costs much more than none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.engines.admm.test_admm import cluster, solved

import walras as wl
from walras.certificate import dual_bound
from walras.engines.admm import ADMM
from walras.engines.admm.form import make_form
from walras.engines.admm.start import beginning, complementary_prices
from walras.settings import Settings
from walras.start import start_from

cs = wl.domains.cluster_scheduling
te = wl.domains.traffic_engineering
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


def test_prices_that_go_with_an_optimum_prove_it() -> None:
    problem = cluster(cs.proportional_fairness)
    exact = wl.solve(problem, engine="exact", tolerance=1e-8)
    prices = complementary_prices(problem, exact.entries, exact.scalars)
    bound = dual_bound(problem, prices).value
    assert bound == pytest.approx(exact.certificate.value, abs=1e-3 * problem.shape[1])


@pytest.mark.parametrize("objective", [te.max_total_flow, te.min_max_utilisation])
def test_an_array_near_an_optimum_saves_iterations(objective: object) -> None:
    """An array carries no prices: they are those that go with it."""
    network = te.load_topology("UsCarrier")
    paths = te.candidate_paths(network, 2, cache=False)
    demand = te.lognormal_traffic(network, seed=0, total=0.15 * network.capacity.sum())
    problem = objective(network, demand, paths)  # type: ignore[operator]
    exact = wl.solve(problem)
    known = exact.entries * np.random.default_rng(0).lognormal(0.0, 0.02, problem.entries)
    cold, warm = solved(problem, 1e-2), solved(problem, 1e-2, start=known)
    assert warm.status is wl.Status.OPTIMAL
    assert len(warm.history) <= 0.8 * len(cold.history)


def test_prices_of_the_wrong_sign_do_not_stay() -> None:
    """A row without a lower bound asks a negative price for the impossible: it never moved."""
    problem = cluster(cs.total_throughput)
    start = start_from(problem, wl.solve(problem, engine="exact"))
    wrong = replace(
        start, prices=np.where(np.arange(problem.rows.count) % 7, 1.0, -1.0) * start.prices
    )
    first = beginning(make_form(problem), wrong, None)
    assert np.all(first.pull >= 0.0)
    found = ADMM().solve(problem, Settings(tolerance=1e-3, start=wrong))
    assert found.status is wl.Status.OPTIMAL
