"""Bounds where prices are rounding: residuals of zero, penalties beyond the largest."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import walras as wl


@pytest.mark.parametrize("shape", [(8, 5), (5, 8), (30, 10), (12, 30)])
@pytest.mark.parametrize("seed", range(3))
def test_least_squares_without_a_residual_are_proved(shape: tuple[int, int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, x = rng.normal(size=shape), cp.Variable(shape[1])
    s = wl.Problem(cp.Minimize(cp.sum_squares(A @ x - A @ rng.normal(size=shape[1])))).solve()
    assert s.status == "optimal"
    assert 0.0 <= s.value <= 1e-12
    assert abs(s.bound) <= 1e-12


def test_stacked_least_squares_without_a_residual_are_proved() -> None:
    rng = np.random.default_rng(0)
    C, X, target = rng.normal(size=(4, 5)), cp.Variable((3, 5, 2)), rng.normal(size=(3, 5, 2))
    s = wl.Problem(cp.Minimize(cp.sum_squares(C @ X - C @ target))).solve()
    assert s.status == "optimal"
    assert s.bound == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("size", [1.0, 1e3])
@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("shape", [(10, 4), (20, 60)])
def test_lasso_beyond_its_largest_penalty_is_zero(
    shape: tuple[int, int], size: float, bounded: bool
) -> None:
    """The optimum is b'b at zero from the penalty 2 max |A'b| on."""
    rng = np.random.default_rng(1)
    A, b, x = size * rng.normal(size=shape), rng.normal(size=shape[0]), cp.Variable(shape[1])
    penalty = 2.4 * float(np.max(np.abs(A.T @ b)))
    rows = [x >= -5, x <= 5] if bounded else []
    s = wl.Problem(cp.Minimize(cp.sum_squares(A @ x - b) + penalty * cp.norm1(x)), rows).solve()
    assert s.status == "optimal"
    assert s.value == pytest.approx(float(b @ b), rel=1e-6)
    assert s.bound == pytest.approx(float(b @ b), rel=1e-6)
