"""A problem tells what was found in it."""

from __future__ import annotations

import cvxpy as cp
import pytest
from tests.problem.cluster import Cluster, M, N

import walras as wl


def test_the_report_says_what_was_found() -> None:
    c = Cluster()
    quota = (cp.sum(c.x[:, 2:6]) <= 1.5).set_label("team-a")
    p = wl.Problem(cp.Maximize(cp.min(c.y)), [c.capacity, c.time, quota])
    report = p.report()
    assert (report.resources, report.demands, report.entries) == (M, N, M * N)
    assert report.coupled == (("team-a", 1, 4),)
    text = str(report)
    assert "maximize max-min" in text
    assert f"{M} resource groups, {N} demand groups" in text
    assert "team-a: 1 row couples 4 groups -> coupled" in text
    assert f"engine {report.engine}" in text


def test_the_report_tells_whether_parameters_are_reused() -> None:
    c = Cluster()
    a, b = cp.Parameter(nonneg=True, value=1.0), cp.Parameter(nonneg=True, value=1.0)
    good = wl.Problem(cp.Maximize(cp.sum(c.y)), [c.capacity, cp.sum(c.x, axis=0) <= a])
    assert "reuses the canonical form" in str(good.report())
    poor = wl.Problem(cp.Maximize(cp.sum(c.y)), [c.capacity, cp.sum(c.x, axis=0) * (a * b) <= 1])
    assert "not DPP" in str(poor.report())
    assert poor.solve(threads=1).value == pytest.approx(good.solve(threads=1).value)


def test_the_report_tells_which_constraints_overlap_into_one_group() -> None:
    x = cp.Variable((2, 3), nonneg=True, name="x")
    p = wl.Problem(
        cp.Maximize(cp.sum(x)),
        resource_constraints=[x[0, 0] + x[1, 1] <= 1],
        demand_constraints=[
            (x[0, 0] + x[0, 1] <= 1).set_label("a"),
            (x[0, 1] + x[1, 2] <= 1).set_label("b"),
        ],
    )
    assert "a, b: merged into one demand group because rows share entries" in str(p.report())
    c = Cluster()
    assert "merged" not in str(c.problem(cp.Maximize(cp.min(c.y))).report())


def test_the_report_speaks_of_the_solve_that_is_meant() -> None:
    x = cp.Variable((3, 4), nonneg=True)
    p = wl.Problem(cp.Maximize(cp.sum(cp.log(cp.sum(x, axis=0)))), [cp.sum(x, axis=1) <= 1])
    assert "engine admm: asked for" in str(p.report(engine="admm"))
    assert " of " in str(p.report(tolerance=1e-2)).split("against")[1]
