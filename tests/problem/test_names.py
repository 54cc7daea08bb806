"""Names of resources and demands of cvxpy problems, and cvxpy problems as they are."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import walras as wl

CLUSTERS = ["v100", "a100"]


def stated(demands: int = 3, **names: Any) -> tuple[cp.Variable, wl.Problem]:
    x = cp.Variable((2, demands), nonneg=True, name="x")
    speed = np.linspace(1.0, 3.0, 2 * demands).reshape(2, demands)
    problem = wl.Problem(
        cp.Maximize(cp.sum(cp.log(cp.sum(cp.multiply(speed, x), axis=0)))),
        resource_constraints=[cp.sum(x, axis=1) <= 1],
        demand_constraints=[cp.sum(x, axis=0) <= 1],
        **names,
    )
    return x, problem


def jobs(count: int, first: int = 0) -> list[str]:
    return [f"job{k}" for k in range(first, first + count)]


def test_names_stand_in_frames_starts_explanations_and_differences() -> None:
    x, p = stated(3, resource_names=CLUSTERS, demand_names=jobs(3))
    s = p.solve(threads=1)
    assert list(s.frame().index) == list(s.allocation.index) == CLUSTERS
    assert list(s.allocation.columns) == jobs(3)
    np.testing.assert_allclose(s.allocation, x.value)
    assert str(s.explain("job1")).startswith("job1 gets ")
    _, more = stated(4, resource_names=CLUSTERS, demand_names=jobs(4, 1))
    now = more.solve(threads=1, start=s)
    change = now.diff(s)
    assert change.arrived == ("job3", "job4")
    assert change.departed == ("job0",)


def test_without_names_problems_of_another_size_are_not_compared_by_position() -> None:
    _, p = stated(3)
    _, more = stated(4)
    s, now = p.solve(threads=1), more.solve(threads=1)
    with pytest.raises(wl.InputError, match="has 4 demands, the earlier problem 3") as caught:
        now.diff(s)
    assert "demand_names=" in caught.value.remedy
    with pytest.raises(wl.InputError, match="they have no names") as caught:
        more.solve(start=s)
    assert caught.value.where == "start"
    with pytest.raises(wl.InputError, match="they have no names"):
        more.solve(start=s.frame())
    assert p.solve(threads=1, start=s).diff(s).churn == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize(
    "names", [{"demand_names": jobs(2)}, {"demand_names": ["a", "a", "b"]}, {"resource_names": []}]
)
def test_a_wrong_number_of_names_is_one_error(names: dict[str, list[str]]) -> None:
    _, p = stated(3, **names)
    with pytest.raises(wl.InputError, match="distinct names") as caught:
        p.solve(threads=1)
    assert caught.value.where == next(iter(names))
    assert "report()" in caught.value.remedy


def test_a_whole_cvxpy_problem_is_taken_as_it_is() -> None:
    x, p = stated(3)
    plain = p.to_cvxpy()
    best = p.solve(threads=1).value
    x.value = None
    assert wl.Problem(plain).solve(threads=1).value == pytest.approx(best, rel=1e-6)
    assert x.value is not None
    x.value = None
    for problem in (plain, p):
        s = wl.solve(problem, threads=1, tolerance=1e-6)
        assert s.value == pytest.approx(best, rel=1e-6)
        assert x.value is not None
    assert repr(p) == "Problem(maximize, 2 constraints, optimal)"
    with pytest.raises(wl.InputError, match="constraints were given beside it"):
        wl.Problem(plain, plain.constraints)
    with pytest.raises(wl.InputError, match="there is no such setting"):
        wl.solve(plain, solver="CLARABEL")  # type: ignore[arg-type]
    with pytest.raises(wl.InputError, match="problem: is 'problem'; allowed: a Separable"):
        wl.solve("problem")  # type: ignore[arg-type]


def unlabelled(jobs: list[str]) -> wl.Problem:
    """Rows without labels, of a variable without a name."""
    x = cp.Variable((2, len(jobs)), nonneg=True)
    rate = np.outer([1.0, 2.0], 1.0 + np.arange(len(jobs))) + np.eye(2, len(jobs))
    objective = cp.Maximize(cp.sum(cp.log(cp.sum(cp.multiply(rate, x), axis=0))))
    rows = [cp.sum(x, axis=1) <= 1, cp.sum(x, axis=0) <= 1]
    return wl.Problem(cp.Problem(objective, rows), resource_names=CLUSTERS, demand_names=jobs)


def test_rows_are_named_by_their_owners_and_alike_in_every_round() -> None:
    jobs = ["x", "y", "z", "u", "v"]
    before = unlabelled(jobs).solve()
    named = [before.problem.rows.name(k) for k in range(before.problem.rows.count)]
    assert "log[z]" in named
    assert sum(name.endswith(("[a100]", "[v100]")) for name in named) == 2
    now = unlabelled(jobs).solve(start=before)
    assert [now.problem.rows.name(k) for k in range(now.problem.rows.count)] == named
    assert "now bind" not in str(now.diff(before))
    assert "no longer bind" not in str(now.diff(before))
