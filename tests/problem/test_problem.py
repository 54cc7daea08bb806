"""Problem: stated in cvxpy, solved by both engines, read back through cvxpy."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from tests.problem.cluster import Cluster, M, N
from tests.separable import statements

import walras as wl
from walras.engines.admm.worker_pool import Threads
from walras.separable.cvxpy import affine as from_cvxpy_affine

OBJECTIVES: dict[str, Callable[[Cluster], Any]] = {
    "max-min": lambda c: cp.Maximize(cp.min(c.y)),
    "proportional fairness": lambda c: cp.Maximize(cp.sum(cp.log(c.y))),
    "alpha 2": lambda c: cp.Maximize(-cp.sum(cp.inv_pos(c.y))),
    "throughput": lambda c: cp.Maximize(cp.sum(c.y)),
    "quadratic": lambda c: cp.Minimize(cp.sum_squares(c.y - 2) + cp.sum(c.x)),
    "entropy": lambda c: cp.Maximize(cp.sum(cp.entr(c.y)) + 2 * cp.sum(c.y)),
    "caps": lambda c: cp.Maximize(cp.sum(cp.minimum(c.y, 0.8))),
}


def by_clarabel(p: wl.Problem) -> float:
    """The optimum to Clarabel's last digits, with its dual values on the constraints."""
    tight = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
    with warnings.catch_warnings():
        # Clarabel may end "almost solved": the agreement asked for is what decides.
        warnings.simplefilter("ignore", UserWarning)
        return float(p.to_cvxpy().solve(solver=cp.CLARABEL, **tight))


@pytest.mark.parametrize("engine", ["exact", "interior"])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_both_engines_reach_clarabels_optimum_and_prices(name: str, engine: str) -> None:
    c = Cluster()
    objective = OBJECTIVES[name](c)
    p = c.problem(objective)
    s = p.solve(engine=engine, tolerance=1e-9, threads=1)
    assert p.status == "optimal"
    assert p.value == s.value
    assert s.gap <= 1e-9
    assert s.x.shape == (M, N)
    assert float(objective.expr.value) == pytest.approx(s.value, rel=1e-6, abs=1e-6)
    assert c.x.value == pytest.approx(s.x)
    assert float(np.max(c.capacity.violation())) <= 1e-8
    duals = [np.array(item.dual_value) for item in p.constraints]
    assert s.value == pytest.approx(by_clarabel(p), rel=1e-8, abs=1e-8)
    for mine, item in zip(duals, p.constraints, strict=True):
        largest = max(1.0, float(np.max(item.dual_value)))
        assert mine == pytest.approx(item.dual_value, abs=5e-6 * largest)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("engine", ["exact", "interior"])
@pytest.mark.parametrize("name", ["proportional fairness", "alpha 2", "entropy"])
def test_curved_prices_are_known_to_the_root_of_the_gap(
    name: str, engine: str, tolerance: float
) -> None:
    c = Cluster()
    p = c.problem(OBJECTIVES[name](c))
    p.solve(engine=engine, tolerance=tolerance, threads=1)
    duals = [np.array(item.dual_value) for item in p.constraints]
    by_clarabel(p)
    for mine, item in zip(duals, p.constraints, strict=True):
        largest = max(1.0, float(np.max(item.dual_value)))
        assert mine == pytest.approx(item.dual_value, abs=np.sqrt(tolerance) * largest)


@pytest.mark.parametrize("name", statements.OBJECTIVES)
def test_every_atom_is_solved_by_the_interior_point_too(name: str) -> None:
    c = statements.cluster()
    p = wl.Problem(statements.OBJECTIVES[name](c), [c.capacity, c.time])
    s = p.solve(engine="interior", threads=1)
    assert s.status == "optimal"
    assert s.value == pytest.approx(p.solve(engine="exact", threads=1).value, rel=2e-6, abs=2e-6)


def test_prices_and_bound_come_with_the_solution() -> None:
    c = Cluster()
    s = c.problem(cp.Maximize(cp.sum(c.y))).solve(threads=1)
    assert s.prices["capacity"] == pytest.approx(c.capacity.dual_value)
    assert s.prices.resources == pytest.approx(c.capacity.dual_value)
    assert s.prices.demands == pytest.approx(c.time.dual_value)
    assert s.value <= s.bound + 1e-9
    assert len(s.history) > 0
    assert s.timings.build > 0


def test_groups_without_names_are_called_what_they_are() -> None:
    c = Cluster()
    s = c.problem(cp.Maximize(cp.min(c.y))).solve(threads=1)
    text = str(s.explain(0))
    assert text.startswith("demand group 0 gets ")
    assert " of resource group " in text
    assert s.explain("demand group 3").demand == "demand group 3"


def test_a_constraint_alone_needs_no_list() -> None:
    x = cp.Variable((2, 3), nonneg=True)
    assert wl.Problem(cp.Maximize(cp.sum(x)), x <= 1).solve(threads=1).value == pytest.approx(6.0)


def test_three_positional_arguments_are_resources_and_demands() -> None:
    c = Cluster()
    p = wl.Problem(cp.Maximize(cp.sum(c.y)), [c.capacity], [c.time])
    assert p.solve(threads=1).prices["time"] == pytest.approx(c.time.dual_value)
    assert p.report().demands == N


def test_only_bounds_need_no_rows() -> None:
    x = cp.Variable(3, nonneg=True)
    ceiling = x <= np.array([1.0, 2.0, 3.0])
    p = wl.Problem(cp.Maximize(np.array([1.0, -1.0, 2.0]) @ x), [ceiling])
    assert p.solve(threads=1).value == pytest.approx(7.0)
    assert ceiling.dual_value == pytest.approx([1.0, 0.0, 2.0])


@pytest.mark.parametrize("size", [300, 30], ids=["many parameter values", "few"])
def test_solving_again_after_a_change_spares_the_work(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    canonicalised: list[int] = []  # expressions, at each call
    tensor = from_cvxpy_affine._Layout.tensor

    def counted(layout: Any, expressions: Sequence[Any], parameters: Sequence[Any]) -> Any:
        canonicalised.append(len(expressions))
        return tensor(layout, expressions, parameters)

    monkeypatch.setattr(from_cvxpy_affine._Layout, "tensor", counted)
    rng = np.random.default_rng(0)
    m, n = 10, size
    throughput = rng.lognormal(size=(m, n))
    capacity = cp.Parameter(m, value=rng.uniform(5, 9, m))
    weight = cp.Parameter(n, nonneg=True, value=np.ones(n))
    x = cp.Variable((m, n), nonneg=True)
    p = wl.Problem(
        cp.Maximize(weight @ cp.sum(cp.multiply(throughput, x), axis=0)),
        [x[i] @ np.ones(n) <= capacity[i] for i in range(m)]
        + [cp.sum(x[:, j]) <= 1 for j in range(n)],
    )
    p.solve(threads=1)
    assert sum(canonicalised) >= m + n
    for _ in range(3):
        canonicalised.clear()
        capacity.value = capacity.value * rng.uniform(0.9, 1.1, m)
        weight.value = weight.value * rng.uniform(0.9, 1.1, n)
        again = p.solve(threads=1)
        assert sum(canonicalised) <= (1 if size == 300 else 0)  # the objective, of many parameters
        assert again.value == pytest.approx(p.to_cvxpy().solve(solver=cp.HIGHS), rel=1e-6)


def test_an_integer_problem_goes_to_the_exact_engine() -> None:
    c = Cluster()
    z = cp.Variable((M, N), boolean=True)
    objective = cp.Maximize(cp.sum(cp.multiply(c.throughput, z)))
    p = wl.Problem(objective, [z @ c.size <= 5, cp.sum(z, axis=0) <= 1])
    assert p.report().engine == "exact"
    s = p.solve(threads=1)
    assert s.status == "optimal"
    assert z.value is not None
    assert set(np.unique(z.value)) <= {0.0, 1.0}
    assert s.value == pytest.approx(p.to_cvxpy().solve(solver=cp.HIGHS))


OUTSIDE: dict[str, Callable[[Cluster], Any]] = {
    "norm": lambda c: cp.Minimize(cp.norm(c.y - 1) + cp.sum(c.x)),
    "log_sum_exp": lambda c: cp.Minimize(cp.log_sum_exp(-c.y)),
    "exp": lambda c: cp.Minimize(cp.sum(cp.exp(-c.y))),
    "geo_mean": lambda c: cp.Maximize(cp.geo_mean(c.y, approx=False)),
    "max of squares": lambda c: cp.Minimize(cp.max(cp.square(c.y - 1))),
    "cumsum": lambda c: cp.Maximize(cp.min(cp.cumsum(c.y))),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_is_outside_the_form_is_solved_all_the_same(name: str) -> None:
    c = Cluster()
    p = c.problem(OUTSIDE[name](c))
    report = p.report()
    assert "outside the separable form" in str(report)
    assert report.engine == "exact"
    s = p.solve(threads=1)
    duals = [np.array(item.dual_value) for item in p.constraints]
    with warnings.catch_warnings():
        # At cvxpy's default settings Clarabel ends "almost solved" on the geometric mean.
        warnings.simplefilter("ignore", UserWarning)
        reference = float(p.to_cvxpy().solve(solver=cp.CLARABEL))
    assert s.value == pytest.approx(reference, rel=1e-6, abs=1e-6)
    assert abs(s.bound - s.value) <= 1e-6 * max(1.0, abs(s.value))
    assert s.bound_source == "prices"
    assert s.certificate.violation <= 1e-9
    assert s.message.endswith("recomputed from the prices of its cones")
    for mine, item in zip(duals, p.constraints, strict=True):
        assert mine == pytest.approx(item.dual_value, abs=1e-3)


def test_a_cone_constraint_is_outside_too() -> None:
    c = Cluster()
    p = wl.Problem(cp.Maximize(cp.sum(c.y)), [c.capacity, c.time, cp.norm(c.x[:, 0]) <= 0.3])
    assert p.solve(threads=1).value == pytest.approx(
        p.to_cvxpy().solve(solver=cp.CLARABEL), rel=1e-6
    )


@pytest.mark.parametrize(
    "declared",
    [{"diag": True}, {"symmetric": True}, {"PSD": True}],
    ids=lambda declared: next(iter(declared)),
)
def test_a_variable_of_declared_shape_is_solved(declared: dict[str, Any]) -> None:
    x = cp.Variable((2, 2), **declared)
    rows = [cp.sum(x[i, :]) <= 1 for i in range(2)]
    best = cp.Maximize(cp.sum(cp.multiply(np.array([[1.0, 2.0], [3.0, 4.0]]), x)))
    s = wl.Problem(best, [*rows, x >= -1]).solve()
    assert s.value == pytest.approx(cp.Problem(best, [*rows, x >= -1]).solve(), abs=1e-6)


def test_a_millisecond_still_returns_a_feasible_allocation() -> None:
    rng = np.random.default_rng(0)
    x = cp.Variable((20, 150), nonneg=True)
    y = cp.sum(cp.multiply(rng.lognormal(size=(20, 150)), x), axis=0)
    p = wl.Problem(
        cp.Maximize(cp.min(y)),
        resource_constraints=[cp.sum(x, axis=1) <= 3],
        demand_constraints=[cp.sum(x, axis=0) <= 1],
    )
    for engine in ("exact", "interior"):
        s = p.solve(engine=engine, time_limit=1e-3, threads=1)
        assert s.certificate.feasible
        assert np.isfinite(s.bound)
        assert s.value <= s.bound + 1e-9


def test_a_warm_start_from_the_last_solution_is_taken() -> None:
    c = Cluster()
    p = c.problem(cp.Maximize(cp.sum(cp.log(c.y))))
    first = p.solve(engine="interior", threads=1)
    again = p.solve(engine="interior", start=first, threads=1)
    assert again.value == pytest.approx(first.value, rel=1e-6)
    assert len(again.history) <= len(first.history)


@pytest.mark.parametrize("collapse", [False, True])
def test_settings_of_the_first_order_engine_reach_it(collapse: bool) -> None:
    c = Cluster()
    p = c.problem(OBJECTIVES["max-min"](c))
    known = p.solve(engine="exact").value
    s = p.solve(
        engine=wl.engines.ADMM(collapse=collapse, mode="hard", executor=Threads()),
        tolerance=1e-3,
        device="cpu",
    )
    assert (s.engine, s.status) == ("admm", wl.Status.OPTIMAL)
    assert s.value == pytest.approx(known, rel=2e-3)


def test_problems_without_constraints() -> None:
    x = cp.Variable()
    for cost in (cp.square(x - 2), cp.square(x - 2) + x):
        plain = cp.Problem(cp.Minimize(cost))
        plain.solve(solver=cp.CLARABEL)
        p = wl.Problem(cp.Minimize(cost), [])
        p.solve(threads=1)
        assert p.value == pytest.approx(plain.value, abs=1e-6)
    y = cp.Variable(4)
    p = wl.Problem(cp.Minimize(cp.max(cp.abs(y - 1))), [])
    p.solve(engine="interior", threads=1)
    assert p.value == pytest.approx(0.0, abs=1e-6)


def test_what_the_form_cannot_hold_is_solved_as_cvxpy_solves_it() -> None:
    x = cp.Variable((3, 4), nonneg=True)
    held = [cp.sum(x, axis=1) <= 1]
    over = cp.quad_over_lin(x[:, 0] - 0.3, 1 + x[0, 0]) + cp.sum(x[:, 1:])
    for cost in (over, cp.sum(cp.power(x, 0)) + cp.sum(x)):
        plain = cp.Problem(cp.Minimize(cost), held)
        plain.solve(solver=cp.CLARABEL)
        p = wl.Problem(cp.Minimize(cost), held)
        assert "outside the separable form" in str(p.report())
        p.solve(threads=1)
        assert p.value == pytest.approx(plain.value, abs=1e-6)
