"""The gap's denominator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from tests.bank.statement import Entry, Row, Scalar, state

import walras as wl
from walras.certificate.certify import (
    certify,
    gap_between,
    minimised_value,
    objective_terms,
    relative_gap,
)
from walras.separable import Separable, Utility

cs = wl.domains.cluster_scheduling


@pytest.mark.parametrize("engine", ["interior", "exact", "admm"])
def test_where_nothing_is_worth_doing_the_bounds_rounding_is_no_gap(engine: str) -> None:
    T = np.exp(np.random.default_rng(0).normal(size=(5, 40)))
    problem = cs.max_min(T, np.ones(40), np.full(5, 3.0), previous=np.zeros((5, 40)), churn=0.1)
    s = wl.solve(problem, engine=engine, threads=1)
    assert s.value == pytest.approx(0.0, abs=1e-9)
    assert s.status is wl.Status.OPTIMAL, str(s)


def test_at_a_point_without_terms_a_real_distance_stays_a_gap() -> None:
    problem = cs.total_throughput(np.array([[3.0, 2.0]]), np.ones(2), [1.0])
    nothing = np.zeros(2), np.zeros(0)
    assert gap_between(problem, *nothing, 0.0, -3.0) == 1.0
    assert gap_between(problem, *nothing, 0.0, -1e-3) == 1.0
    assert gap_between(problem, *nothing, 0.0, -1e-7) == pytest.approx(1e-7 / 3.0)
    assert gap_between(problem, *nothing, 0.0, 0.0) == 0.0


@pytest.mark.parametrize("scarce", [1.0, 1e-8, 1e-10])
def test_an_empty_allocation_is_not_optimal_whatever_the_unit(scarce: float) -> None:
    """A scalar counts for what entries can bring to it, not for what it could be without rows."""
    T = np.random.default_rng(0).lognormal(size=(4, 9))
    problem = cs.max_min(T, np.ones(9), np.full(4, 3.0 * scarce))
    best = wl.solve(problem, engine="interior")
    proof = certify(problem, 0.0 * best.entries, np.zeros(1), best.prices.rows)
    assert proof.value == 0.0
    assert proof.gap == pytest.approx(1.0)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-6])
@pytest.mark.parametrize("collapse", [False, True])
def test_one_narrow_link_is_no_rounding(tolerance: float, *, collapse: bool) -> None:
    """What others could have does not make the share of all a zero."""
    te = wl.domains.traffic_engineering
    net = te.Network(("a", "b", "c"), np.array([0, 1]), np.array([1, 2]), np.array([1e-8, 1.0]))
    demand = np.zeros((3, 3))
    demand[0, 1] = demand[1, 2] = 1.0
    paths = te.candidate_paths(net, k=1, cache=False)
    problem = te.max_concurrent_flow(net, demand, paths)
    s = wl.solve(
        problem, engine=wl.engines.ADMM(collapse=collapse), tolerance=tolerance, time_limit=5.0
    )
    assert s.bound >= 1e-8 * (1.0 - 1e-9)
    if s.status is wl.Status.OPTIMAL:
        assert s.value == pytest.approx(1e-8, rel=2.0 * tolerance)
    else:
        assert s.gap > tolerance


def test_a_stopped_solve_of_a_max_min_expression_has_the_whole_gap() -> None:
    speed = np.random.default_rng(0).lognormal(size=(20, 100))
    x = cp.Variable((20, 100), nonneg=True)
    least = cp.min(cp.sum(cp.multiply(speed, x), axis=0))
    problem = wl.Problem(cp.Maximize(least), [cp.sum(x, axis=1) <= 3], [cp.sum(x, axis=0) <= 1])
    problem.solve(engine="exact", time_limit=0.0, tolerance=0.1)
    assert problem.status == "user_limit"
    assert problem.solution is not None
    assert problem.solution.gap == pytest.approx(1.0)


def test_an_empty_allocation_of_slow_jobs_is_not_optimal() -> None:
    T = np.random.default_rng(0).uniform(1, 5, (3, 40))
    problem = cs.min_makespan(T, np.ones(40), [4, 4, 4], steps=np.full(40, 5e6))
    s = wl.solve(problem, time_limit=0, threads=1)
    assert s.status is wl.Status.LIMIT
    assert s.gap == pytest.approx(1.0)
    assert not certify(problem, 0.0 * s.entries, np.zeros(1), s.prices.rows).proves(1e-6)


@pytest.mark.parametrize(
    "cost",
    [
        cp.sum_squares,
        lambda x: cp.sum(cp.power(x, 1.5)),
        lambda x: cp.sum(cp.power(cp.pos(0.1 - x), 1.5)),
    ],
)
def test_a_zero_optimum_of_squares_and_powers_is_proved(
    cost: Callable[[cp.Variable], cp.Expression],
) -> None:
    x = cp.Variable((3, 5), nonneg=True)
    problem = wl.Problem(cp.Minimize(cost(x)), [cp.sum(x, axis=1) <= 1])
    problem.solve()
    assert problem.status == "optimal"
    assert problem.value == pytest.approx(0.0, abs=1e-9)


def test_a_point_that_plainly_breaks_a_row_has_no_gap() -> None:
    # x + y == 1 and x == y == 0 or 1, x + y >= 2: no repair mends it.
    rows = [
        Row("one[0]", {0: 1.0, 1: 1.0}, lower=1.0, upper=1.0),
        Row("two[0]", {0: 1.0}, lower=2.0),
    ]
    problem = state([Entry(0, 0, cost=1.0), Entry(0, 1, cost=1.0)], rows)
    proof = certify(problem, np.array([1.0, 0.0]), np.zeros(0), np.array([-1.0, 0.0]))
    assert proof.violation > 0.1
    assert proof.gap == np.inf


def test_an_allocation_far_below_its_bound_is_none() -> None:
    # x - y == 1 and == 3: with x = y = 1e12 both are met as far as their terms tell.
    rows = [
        Row("one[0]", {0: 1.0, 1: -1.0}, lower=1.0, upper=1.0),
        Row("three[0]", {0: 1.0, 1: -1.0}, lower=3.0, upper=3.0),
    ]
    free = [Entry(0, 0, 1.0, lower=-np.inf), Entry(0, 1, -1.0, lower=-np.inf)]
    problem = state(free, rows)
    proof = certify(problem, np.full(2, 1e12), np.zeros(0), np.array([1e9, -1e9 - 1.0]))
    assert proof.feasible
    assert proof.bound == pytest.approx(2e9 + 3.0)
    assert proof.gap == np.inf


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("share", [1e-12, 1e-3])
def test_a_small_utilisation_is_no_rounding(unit: float, share: float) -> None:
    """What links allow is no limit of entries: a unit of flow is not what they could carry."""
    te = wl.domains.traffic_engineering
    net = te.Network(("a", "b", "c"), np.array([0, 0, 2]), np.array([1, 2, 1]), np.full(3, unit))
    demand = np.zeros((3, 3))
    demand[0, 1] = share * unit
    problem = te.min_max_utilisation(net, demand, te.candidate_paths(net, k=2))
    exact = wl.solve(problem, engine="exact")
    one = np.flatnonzero(problem.demand == problem.demand[np.argmax(exact.entries)])
    flow = np.where(np.isin(np.arange(problem.entries), one[:1]), 0.7, 0.3) * exact.entries / 0.5
    proof = certify(problem, flow, np.array([0.7 * share]), np.zeros(problem.rows.count))
    assert proof.gap == pytest.approx(1.0)
    s = wl.solve(problem, engine="admm", tolerance=1e-3)
    assert s.status is wl.Status.OPTIMAL
    assert s.value == pytest.approx(0.5 * share, rel=2e-3)


def test_a_gap_says_what_it_is_relative_to() -> None:
    T = np.array([[1.0, 2.0]])
    plain = wl.solve(cs.max_min(T, np.ones(2), [1.0]))
    logs = wl.solve(cs.proportional_fairness(T, np.ones(2), [1.0]))
    assert (plain.gap_unit, logs.gap_unit) == ("of the value", "nat a job")
    costly = cs.min_makespan(T, [1, 1], [1.0], steps=[3, 4], previous=[[0.5, 0.0]], churn=1e10)
    cancelled = wl.solve(costly)
    assert cancelled.value == 0.0
    assert cancelled.gap_unit == "of a thousandth of the objective's terms"
    assert f"({cancelled.gap_unit})" in str(cancelled)
    distance = abs(cancelled.value - cancelled.bound)
    assert cancelled.gap == pytest.approx(distance / (1e-3 * 0.5e10), rel=0.5)


def test_where_nothing_is_worth_doing_the_gap_is_of_what_one_entry_can_bring() -> None:
    problem = cs.total_throughput(np.array([[3.0, 2.0]]), np.ones(2), [1.0])
    rounding = certify(problem, np.zeros(2), np.zeros(0), np.array([3.0, 0.0, 0.0]), -1e-9)
    assert rounding.gap_unit == "of the most that one entry can bring"
    assert rounding.gap == pytest.approx(1e-9 / 3.0)


def test_outside_the_form_a_gap_of_little_is_of_a_hundredth() -> None:
    x = cp.Variable(2)
    for much, unit in ((3.0, "of the value"), (0.0, "of a hundredth")):
        s = wl.Problem(cp.Minimize(cp.norm(x - much)), [cp.norm(x) <= 1]).solve()
        assert s.gap_unit == unit


def mixed() -> Separable:
    """Costs of both signs, a quadratic, a scalar, a constant and a logarithm."""
    problem = state(
        [Entry(0, 0, cost=-3.0), Entry(0, 1, cost=2.0)],
        [
            Row("most[r0]", {0: 1.0, 1: 1.0}, upper=5.0),
            Row("log[d0]", {0: 2.0}, utility=Utility.LOG, weight=4.0),
        ],
        [Scalar(-1.5, -10.0, 10.0)],
    )
    return replace(problem, quadratic=np.array([0.0, 6.0]), constant=-7.0)


def test_the_terms_of_an_objective_are_the_sizes_of_its_parts() -> None:
    x, t = np.array([2.0, 3.0]), np.array([-4.0])
    # |-3 x 2| + |2 x 3| + 6 x 3^2 (twice its half) + |-1.5 x -4| + |-7| + 4 |log 4|
    assert objective_terms(mixed(), x, t) == pytest.approx(
        6.0 + 6.0 + 54.0 + 6.0 + 7.0 + 4.0 * np.log(4.0)
    )
    assert minimised_value(mixed(), x, t) == pytest.approx(
        -6.0 + 6.0 + 27.0 + 6.0 - 7.0 - 4.0 * np.log(4.0)
    )
    assert objective_terms(mixed(), -x[::-1], t) > 0.0


def test_a_gap_that_cancels_is_relative_to_a_thousandth_of_the_terms() -> None:
    problem = state(
        [Entry(0, 0, cost=100.0, upper=1.0), Entry(0, 1, cost=-100.0, upper=1.0)],
        [Row("most[r0]", {0: 1.0, 1: 1.0}, upper=2.0)],
    )
    x, t = np.ones(2), np.zeros(0)
    assert gap_between(problem, x, t, 0.0, -0.1) == pytest.approx(0.1 / 0.2)  # terms 200
    assert gap_between(problem, x, t, 0.0, -0.4) == pytest.approx(0.4 / 0.4)  # of the value
    assert gap_between(problem, x, t, 8.0, 4.0) == pytest.approx(0.5)
    assert gap_between(problem, x, t, 4.0, 8.0) == np.inf  # a value plainly below its bound
    assert gap_between(problem, x, t, 4.0, 4.0 + 2e-6) == pytest.approx(5e-7)  # by rounding
    assert gap_between(problem, x, t, np.inf, 4.0) == np.inf
    assert gap_between(problem, x, t, 4.0, -np.inf) == np.inf
    for value, bound in ((0.0, -0.1), (8.0, 4.0), (np.inf, 0.0)):
        expected = gap_between(problem, x, t, value, bound)
        assert relative_gap(problem, value, bound, 200.0) == expected


def test_nats_a_job_are_relative_to_the_jobs() -> None:
    problem = cs.proportional_fairness(np.array([[3.0, 2.0, 1.0]]), np.ones(3), [1.0])
    assert gap_between(problem, np.full(3, 0.3), np.zeros(0), 2.0, 1.4) == pytest.approx(0.2)


def test_a_value_near_its_bound_proves_and_another_does_not() -> None:
    problem = cs.total_throughput(np.array([[3.0, 2.0]]), np.ones(2), [1.0])
    best = wl.solve(problem, engine="exact")
    proof = certify(problem, np.array([1.0, 0.0]), np.zeros(0), best.prices.rows)
    assert (proof.value, proof.bound) == pytest.approx((-3.0, -3.0))
    assert proof.proves(1e-6)
    worse = certify(problem, np.array([0.99, 0.0]), np.zeros(0), best.prices.rows)
    assert worse.gap == pytest.approx(0.01)
    assert worse.proves(0.0101)
    assert not worse.proves(0.0099)
    # A better bound of another's is taken, and says whose it is; a worse one is not.
    nothing = np.zeros(problem.rows.count)
    loose = certify(problem, np.array([1.0, 0.0]), np.zeros(0), nothing, -3.5, source="HiGHS")
    assert loose.bound == -3.5
    assert loose.engine_bound
    assert loose.bound_source == "HiGHS"
    tight = certify(problem, np.array([1.0, 0.0]), np.zeros(0), best.prices.rows, -3.5)
    assert not tight.engine_bound


def test_a_bound_that_prices_prove_but_for_rounding_is_theirs() -> None:
    """The relaxation of an assignment without capacities is whole."""
    x = cp.Variable((3, 4), boolean=True)
    cost = np.random.default_rng(0).uniform(1, 2, (3, 4))
    rows = [cp.sum(x, axis=0) == 1]
    found = wl.Problem(cp.Minimize(cp.sum(cp.multiply(cost, x))), rows).solve(threads=1)
    assert found.status is wl.Status.OPTIMAL
    assert found.bound_source == "prices"
    z, y = cp.Variable(boolean=True), cp.Variable()
    branched = wl.Problem(cp.Minimize(z), [y == 1, y <= 3 * z]).solve(threads=1)
    assert branched.bound_source == "HiGHS"
