"""The exact engine: optimality conditions for every utility, and why there is no answer."""

from __future__ import annotations

import itertools
import threading
from dataclasses import replace
from typing import Any

import cvxpy as cp
import highspy
import numpy as np
import pytest
from tests.engines.exact.problems import CALM, curved, stated
from tests.programs.pivots import count_pivots

import walras as wl
from walras.certificate import certify
from walras.diagnosis.relaxation import improving_ray, least_relaxation
from walras.engines.exact import conic, engine
from walras.engines.exact import outer_approximation as outer
from walras.engines.exact.engine import Exact
from walras.engines.exact.options import ExactOptions
from walras.quiet_highs import new_highs
from walras.separable import Separable, Utility, utility
from walras.settings import Settings, Start
from walras.status import Status


def test_prices_are_what_a_unit_of_a_bound_is_worth() -> None:
    # max 3a + 2b, a + b <= 4, a <= 3 (as a row), b >= 0.5 (as a row).
    matrix = [[1, 1], [1, 0], [0, 1]]
    lower, upper = np.array([-np.inf, -np.inf, 2.0]), np.array([4.0, 3.0, np.inf])
    problem = stated(matrix, lower, upper, [-3.0, -2.0], maximize=True)
    found = Exact().solve(problem, CALM)
    assert found.x == pytest.approx([2.0, 2.0])
    assert found.prices == pytest.approx([3.0, 0.0, -1.0])
    for row, bound in ((0, "upper"), (2, "lower")):
        relaxed = getattr(problem.rows, bound).copy()
        relaxed[row] += 0.1 if bound == "upper" else -0.1
        moved = Exact().solve(
            replace(problem, rows=replace(problem.rows, **{bound: relaxed})), CALM
        )
        assert problem.cost @ (found.x - moved.x) == pytest.approx(0.1 * abs(found.prices[row]))


def test_a_linear_optimum_brings_no_bound_of_its_own() -> None:
    found = Exact().solve(stated([[1, 1]], -np.inf, 1.0, [-1.0, -2.0]), CALM)
    assert found.bound == -np.inf
    assert found.history[-1].value == pytest.approx(-2.0)


def test_integer_optimum_equals_enumeration() -> None:
    rng = np.random.default_rng(3)
    matrix, cost = rng.uniform(0, 3, (3, 5)), -rng.uniform(0.5, 2, 5)
    problem = stated(matrix, -np.inf, [7.0, 8.0, 6.0], cost, high=3.0, integer=np.ones(5, bool))
    found = Exact().solve(problem, CALM)
    points = np.array(list(itertools.product(range(4), repeat=5)), float)
    best = np.min(points[np.all(points @ matrix.T <= [7.0, 8.0, 6.0], axis=1)] @ cost)
    assert problem.cost @ found.x == pytest.approx(best)
    assert found.bound == pytest.approx(best, rel=1e-6)
    assert np.all(found.prices >= -1e-9)
    # Prices are those of the relaxation: as good a bound as prices can give.
    relaxed = Exact().solve(replace(problem, integer=None), CALM)
    assert certify(problem, found.x, found.t, found.prices).bound == pytest.approx(
        problem.cost @ relaxed.x
    )


@pytest.mark.parametrize("kind", [Utility.QUADRATIC, Utility.LOG, Utility.ENTROPY])
def test_integers_under_utilities_equal_enumeration(kind: Utility) -> None:
    rng = np.random.default_rng(5)
    matrix = rng.uniform(0.2, 2, (4, 4))
    problem = stated(
        matrix,
        [-np.inf] * 3 + [2.0],
        [np.inf] * 3 + [9.0],
        rng.normal(0, 0.4, 4),
        kinds=[kind] * 3 + [0],
        weight=1.2,
        parameter=2.0,
        high=4.0,
        quadratic=0.3,
        integer=np.ones(4, bool),
    )
    found = Exact().solve(problem, replace(CALM, tolerance=1e-7))
    rows = problem.rows

    def value(x: np.ndarray) -> float:
        f = utility.value(rows.utility, rows.weight, rows.parameter, matrix @ x)
        return float(problem.cost @ x + problem.quadratic @ x**2 / 2 + np.sum(f))

    points = np.array(list(itertools.product(range(5), repeat=4)), float)
    load = points @ matrix[3]
    best = min(value(x) for x in points[(load <= 9.0) & (load >= 2.0)])
    assert found.status is Status.OPTIMAL
    assert value(np.round(found.x)) == pytest.approx(best, rel=1e-6)
    assert found.bound == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("kind", [Utility.LOG, Utility.CONVEX_POWER])
def test_a_search_stopped_in_its_relaxation_leaves_whole_entries(
    kind: Utility, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    n, is_packing = 12, np.arange(7) == 6
    problem = stated(
        rng.uniform(0.5, 2.0, (7, n)),
        -np.inf,
        np.where(is_packing, 9.7, np.inf),
        np.full(n, -1.0),
        kinds=np.where(is_packing, 0, kind),
        parameter=2.0,
        high=3.0,
        integer=np.ones(n, bool),
    )

    def stopped(problem: Separable, settings: Settings, options: ExactOptions) -> Any:
        assert settings.time_limit == 60.0
        found = conic.solve_conic(problem, settings, options)
        return replace(found, status=Status.LIMIT)

    monkeypatch.setattr(outer, "solve_conic", stopped)
    found = Exact().solve(problem, replace(CALM, time_limit=60.0))
    assert found.status is Status.LIMIT
    np.testing.assert_array_equal(found.x, np.round(found.x))
    proof = certify(problem, found.x, found.t, found.prices)
    np.testing.assert_array_equal(proof.x, found.x)
    assert proof.feasible


def test_infeasible_rows_come_with_multipliers_that_prove_it() -> None:
    matrix = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, -1.0]])
    lower, upper = np.array([-np.inf, 3, 3, -9]), np.array([4.0, np.inf, np.inf, 9])
    problem = stated(matrix, lower, upper, [1.0, 1.0])
    found = Exact().solve(problem, CALM)
    assert found.status is Status.INFEASIBLE
    relaxation = least_relaxation(problem)
    p = relaxation.multipliers
    # Every x >= 0 has p.Gx >= 0 here, yet the rows allow at most sup p.y < 0.
    assert np.all(matrix.T @ p >= -1e-9)
    finite = np.where(p > 0, upper, np.where(p < 0, lower, 0.0))
    assert p @ finite < -1e-9
    assert relaxation.names == ("row[0]",)
    assert relaxation.amounts == pytest.approx([2.0])
    upper = upper.copy()
    upper[relaxation.rows] += relaxation.amounts
    mended = replace(problem, rows=replace(problem.rows, upper=upper))
    assert Exact().solve(mended, CALM).status is Status.OPTIMAL


def test_relaxation_lowers_lower_bounds_and_spares_what_is_feasible() -> None:
    problem = stated([[1.0, 2.0]], 8.0, np.inf, [1.0, 1.0], high=2.0)
    relaxation = least_relaxation(problem)
    assert relaxation.amounts == pytest.approx([-2.0])
    assert "lower row[0] by 2" in relaxation.text()
    assert not least_relaxation(stated([[1.0, 2.0]], 5.0, np.inf, [1, 1], high=2.0)).is_needed


def test_a_logarithm_forced_to_zero_names_the_row_that_forces_it() -> None:
    problem = stated(
        [[1, 1], [1, 0], [0, 1]],
        [-np.inf, -np.inf, 3.0],
        [3.0, np.inf, np.inf],
        [0.0, 0.0],
        kinds=[0, Utility.LOG, 0],
    )
    assert Exact().solve(problem, CALM).status is Status.INFEASIBLE
    assert least_relaxation(problem).is_needed


@pytest.mark.parametrize("kind", [Utility.NONE, Utility.LOG, Utility.POWER])
def test_an_endless_improvement_is_found_and_named(kind: Utility) -> None:
    # Nothing holds the first entry back; the second is needed and costs.
    problem = stated(
        [[1.0, 0.0], [0.0, 1.0]],
        [-np.inf, 1.0],
        np.inf,
        [-1.0 if kind is Utility.NONE else 0.0, 1.0],
        kinds=[kind, 0],
        parameter=0.5,
    )
    assert Exact().solve(problem, CALM).status is Status.UNBOUNDED
    ray = improving_ray(problem)
    assert ray is not None
    assert ray.x == pytest.approx([1.0, 0.0])


def test_bounded_utilities_are_not_called_unbounded() -> None:
    # -1/y improves for ever but never beyond 0.
    problem = stated(
        [[1.0, 0.0], [0.0, 1.0]],
        [-np.inf, 1.0],
        np.inf,
        [0.0, 1.0],
        kinds=[Utility.POWER, 0],
        parameter=2.0,
    )
    assert improving_ray(problem) is None


@pytest.mark.parametrize("integer", [False, True])
def test_a_time_limit_returns_a_point_within_its_bounds(integer: bool) -> None:
    rng = np.random.default_rng(0)
    n = 400
    problem = stated(
        rng.uniform(0, 1, (200, n)),
        -np.inf,
        20.0,
        -rng.uniform(1, 2, n),
        high=3.0,
        integer=np.ones(n, bool) if integer else None,
    )
    found = Exact().solve(problem, replace(CALM, time_limit=1e-3))
    assert found.status is Status.LIMIT
    assert np.all((found.x >= 0) & (found.x <= 3.0))
    proof = certify(problem, found.x, found.t, found.prices, found.bound)
    assert proof.feasible
    assert proof.bound <= proof.value


@pytest.mark.parametrize("kind", [Utility.LOG, Utility.NONE])
def test_a_callback_sees_the_users_objective_and_may_stop(kind: Utility) -> None:
    seen: list[float] = []

    def stop(step: Any) -> bool:
        seen.append(step.value)
        return len(seen) >= 3

    rng = np.random.default_rng(1)
    n = 60
    problem = stated(
        rng.uniform(0.1, 1, (40, n)),
        -np.inf,
        np.where(np.arange(40) < 20, np.inf, 5.0),
        -rng.uniform(0, 1, n),
        kinds=[kind] * 20 + [0] * 20,
        high=3.0,
        maximize=True,
        integer=np.ones(n, bool) if kind is Utility.NONE else None,
    )
    found = Exact().solve(problem, replace(CALM, on_progress=stop))
    assert found.status in (Status.INTERRUPTED, Status.OPTIMAL)
    assert len(seen) >= 3 or kind is Utility.NONE
    if kind is Utility.LOG:
        assert found.status is Status.INTERRUPTED
        assert len(found.history) == 3


def test_a_start_is_taken_up_by_branch_and_bound() -> None:
    rng = np.random.default_rng(2)
    n = 40
    problem = stated(
        rng.integers(1, 30, (15, n)),
        -np.inf,
        120.0,
        -rng.integers(5, 40, n).astype(float),
        high=1.0,
        integer=np.ones(n, bool),
    )
    best = Exact().solve(problem, replace(CALM, time_limit=20.0))
    start = Start(best.x, np.zeros(15))
    again = Exact().solve(problem, replace(CALM, start=start, time_limit=1e-2))
    assert problem.cost @ again.x == pytest.approx(problem.cost @ best.x)


@pytest.mark.parametrize("speed", [1.0, 1e9])
def test_the_same_problem_again_takes_no_pivot(
    speed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    cs, rng = wl.domains.cluster_scheduling, np.random.default_rng(1)
    problem = cs.max_min(speed * rng.lognormal(size=(6, 40)), np.ones(40), np.full(6, 4.0))
    first = wl.solve(problem, engine="exact", threads=1)
    pivots = count_pivots(monkeypatch)
    again = wl.solve(problem, engine="exact", threads=1, start=first)
    monkeypatch.setattr(engine, "INTERIOR_FROM", 10)  # too large for the simplex method
    wl.solve(problem, engine="exact", threads=1, start=first)
    assert again.value == pytest.approx(first.value)
    assert pivots[0] == 0
    assert pivots[1] > 0


def test_solves_side_by_side_do_not_disturb_each_other() -> None:
    problem = curved(Utility.NONE, 0.0)
    alone = Exact().solve(problem, Settings(threads=2)).x
    results: list[np.ndarray] = []

    def work() -> None:
        results.append(Exact().solve(problem, Settings(threads=1)).x)

    workers = [threading.Thread(target=work) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(results) == 6
    for x in results:
        assert x == pytest.approx(alone)


@pytest.mark.parametrize("kind", [Utility.NONE, Utility.LOG])
@pytest.mark.parametrize("integer", [False, True])
def test_verbose_writes_lines_in_the_users_objective(
    kind: Utility, integer: bool, caplog: pytest.LogCaptureFixture
) -> None:
    problem = stated(
        [[1.0, 2.0], [1.0, 1.0]],
        -np.inf,
        [np.inf, 3.0],
        [-1.0, -1.0],
        kinds=[kind, 0],
        high=2.0,
        integer=np.ones(2, bool) if integer else None,
        maximize=True,
    )
    with caplog.at_level("INFO", logger="walras"):
        found = Exact().solve(problem, replace(CALM, verbose=True))
    best = 3.0 + (np.log(5.0) if kind is Utility.LOG else 0.0)
    assert found.history[-1].value == pytest.approx(best, rel=1e-5)
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) >= 1
    assert f"value  {best:.4f}"[:11] in lines[-1]


@pytest.mark.parametrize("unit", [1e9, 1e12])
def test_large_bounds_are_solved_in_larger_units(unit: float) -> None:
    def flows(bounds: float) -> Separable:
        return stated(
            [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]],
            -np.inf,
            [3.0 * bounds, 2.0 * bounds, 4.0 * bounds],
            [-1.0, -2.0, -1.5],
            maximize=True,
        )

    small, large = Exact().solve(flows(1.0), CALM), Exact().solve(flows(unit), CALM)
    assert large.status is Status.OPTIMAL
    assert large.x == pytest.approx(small.x * unit, rel=1e-9)
    assert large.prices == pytest.approx(small.prices, rel=1e-9)
    assert large.history[-1].value == pytest.approx(small.history[-1].value * unit, rel=1e-9)


@pytest.mark.parametrize("engine", ["exact", "integer"])
def test_whole_numbers_without_an_end_are_unbounded(engine: str) -> None:
    """HiGHS proves a bound of this one, which -784 is below."""
    cost = np.array([[4.0, 4.0], [4.0, 8.0], [8.0, 4.0]])
    x = cp.Variable((3, 2), integer=True)
    rows = [cp.sum(x, axis=1) <= 4, cp.sum(x, axis=0) == 2]
    aim = cp.Minimize(cp.sum(cp.multiply(cost, x)))
    with pytest.raises(wl.UnboundedError):
        wl.Problem(aim, rows).solve(engine=engine)
    s = wl.Problem(aim, [*rows, x >= -7, x <= 7]).solve(engine=engine)
    assert s.status is wl.Status.OPTIMAL
    assert s.value == pytest.approx(-40.0)


@pytest.mark.parametrize("others", [1, 2, 3])
def test_another_user_of_highs_with_other_threads_does_not_stop_ours(others: int) -> None:
    """HiGHS refuses a number of threads other than that of a thread's first solve."""
    speed = np.array([[4.0, 3.0], [1.0, 2.0]])
    problem = wl.domains.cluster_scheduling.max_min(speed, np.ones(2), [1.0, 1.0])
    before = wl.solve(problem, engine="exact", threads=2)
    highspy.Highs.resetGlobalScheduler(True)
    other = new_highs()
    other.setOptionValue("threads", others)
    other.addVar(0.0, 1.0)
    other.run()
    for threads in (2, None, 1):
        found = wl.solve(problem, engine="exact", threads=threads)
        assert found.status is wl.Status.OPTIMAL
        assert found.value == pytest.approx(before.value)
