"""Constraints without a limit, and quadratic forms that are definite up to rounding."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import walras as wl

x = cp.Variable(2, name="x")
INF = np.inf


@pytest.mark.parametrize(
    "endless",
    [x <= INF, x <= np.array([INF, 3.0]), cp.sum(x) <= INF, cp.sum(x) >= -INF, cp.abs(x) <= INF],
    ids=str,
)
@pytest.mark.parametrize(
    ("objective", "truth"),
    [
        (cp.sum(x), 2.0),
        (cp.sum_squares(x), 2.0),
        (cp.norm(x) + cp.sum(x), 2 + np.sqrt(2)),
    ],
    ids=["linear", "quadratic", "outside the form"],
)
def test_a_constraint_without_a_limit_asks_for_nothing(
    endless: Any, objective: Any, truth: float
) -> None:
    s = wl.Problem(cp.Minimize(objective), [x >= 1, endless]).solve(threads=1)
    assert s.status == "optimal"
    assert s.value == pytest.approx(truth, rel=1e-6)
    assert np.max(np.abs(endless.dual_value)) <= 1e-6


@pytest.mark.parametrize(
    "wrong", [x >= INF, x == INF, cp.sum(x) <= -INF, x >= np.nan, cp.norm(x) <= np.nan], ids=str
)
@pytest.mark.parametrize("objective", [cp.sum(x), cp.norm(x)], ids=["in the form", "outside"])
def test_other_numbers_that_are_not_finite_are_refused(wrong: Any, objective: Any) -> None:
    with pytest.raises(wl.InputError, match="holds a number that is not finite"):
        wl.Problem(cp.Minimize(objective), [wrong]).solve(threads=1)


TURN = np.array([[0.6, -0.8], [0.8, 0.6]])


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("least", [-0.999e-10, 0.0, 1e-3])
def test_an_eigenvalue_that_is_rounding_counts_as_zero(least: float, turned: bool) -> None:
    P = np.diag([least, 10.0])
    P = TURN @ P @ TURN.T if turned else P
    s = wl.Problem(cp.Minimize(cp.quad_form(x, cp.psd_wrap(P))), [x == [1, 2]]).solve(threads=1)
    point = np.array([1.0, 2.0])
    assert s.status == "optimal"
    assert s.value == pytest.approx(point @ P @ point, abs=1e-6)


@pytest.mark.parametrize("turned", [False, True])
def test_a_matrix_with_eigenvalues_of_both_signs_is_refused(turned: bool) -> None:
    P = np.diag([-1.0, 10.0])
    P = TURN @ P @ TURN.T if turned else P
    form = cp.quad_form(x, P, assume_PSD=True)
    with pytest.raises(wl.InputError, match="has the eigenvalue -1 beside 10"):
        wl.Problem(cp.Minimize(form), [x >= 1]).solve(threads=1)
    with pytest.raises(wl.InputError, match=r"quadratic\[0\]: is -2; .*must be convex"):
        wl.Problem(cp.Minimize(cp.quad_form(x, -np.eye(2), assume_PSD=True))).solve(threads=1)


def test_what_has_no_elements_keeps_its_domain() -> None:
    y = cp.Variable()
    nothing = cp.log(y - 1) + cp.log(2 - y) + np.array([])
    s = wl.Problem(cp.Maximize(cp.sum(nothing))).solve(threads=1)
    assert (s.status, s.value) == ("optimal", 0.0)
    assert 1 < y.value < 2
    assert wl.Problem(cp.Minimize(cp.sum(x[0:0]) + cp.sum(x)), [x >= 1]).report().outside == ""
