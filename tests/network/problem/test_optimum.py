"""The optimum of shares against closed forms, its conditions and Clarabel."""

from __future__ import annotations

import math
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.network.instances import learning, quadratic

from walras import network as wn

Stated = wn.NetworkProblem


def test_without_boxes_the_optimum_is_the_closed_form() -> None:
    problem = quadratic()
    cost = problem.costs.quadratic
    assert cost is not None
    center, scale = np.asarray(cost.center), np.asarray(cost.scale)
    over = problem.budget - center.sum()
    expected = center + scale * over / scale.sum()
    found = problem.optimum()
    np.testing.assert_allclose(found.shares, expected, rtol=1e-13)
    assert found.price == pytest.approx(over / scale.sum(), rel=1e-12)
    assert found.shares.sum() == pytest.approx(problem.budget, rel=1e-15)


@given(st.integers(0, 200))
def test_with_boxes_the_optimum_meets_its_conditions(seed: int) -> None:
    problem = quadratic(8, seed, boxes=(1.0, 4.0)) if _fits(seed) else quadratic(8, seed)
    found = problem.optimum()
    assert found.shares.sum() == pytest.approx(problem.budget, rel=1e-13)
    slope = problem.slope(found.shares) - found.price
    inside = (found.shares > problem.low + 1e-9) & (found.shares < problem.high - 1e-9)
    assert np.abs(slope[inside]).max(initial=0.0) < 1e-9
    assert (slope[found.shares >= problem.high - 1e-9] <= 1e-9).all()
    assert (slope[found.shares <= problem.low + 1e-9] >= -1e-9).all()


def _fits(seed: int) -> bool:
    return 8 * 1.0 <= quadratic(8, seed).budget <= 8 * 4.0


def test_it_agrees_with_clarabel() -> None:
    problem = quadratic(boxes=(0.5, 4.2))
    cost = problem.costs.quadratic
    assert cost is not None
    x = cp.Variable(20)
    total = cp.sum(cp.multiply(1 / (2 * cost.scale), cp.square(x - cost.center)))
    cp.Problem(cp.Minimize(total), [cp.sum(x) == problem.budget, x >= 0.5, x <= 4.2]).solve(
        solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12
    )
    np.testing.assert_allclose(problem.optimum().shares, x.value, atol=1e-6)
    assert problem.optimum().cost == pytest.approx(float(total.value), rel=1e-9)


def test_kinds_of_costs_mix() -> None:
    cpu: list[Any] = [
        wn.QuadraticCPU(2.0, 1.0),
        wn.ThroughputCPU(100.0, 20.0, efficiency=0.8),
        lambda x: math.cosh(x - 2.0),
        wn.CallableCPU(lambda x: x**4, lambda x: 4 * x**3),
    ]
    problem = Stated(cpu, 9.0, boxes=(0.2, 6.0))
    found = problem.optimum()
    slopes = problem.slope(found.shares)
    inside = (found.shares > 0.2 + 1e-9) & (found.shares < 6.0 - 1e-9)
    assert inside.sum() >= 3
    np.testing.assert_allclose(slopes[inside], found.price, atol=1e-5)
    assert found.shares.sum() == pytest.approx(9.0, rel=1e-12)


def test_the_survivors_have_an_optimum_of_their_own() -> None:
    problem = learning()
    alive = np.ones(20, bool)
    alive[[3, 7]] = False
    found = problem.optimum(alive)
    assert found.shares[[3, 7]].tolist() == [0.0, 0.0]
    assert found.shares.sum() == pytest.approx(problem.budget, rel=1e-13)
    whole = problem.optimum().model
    assert found.model is not None
    assert whole is not None
    assert not np.allclose(found.model, whole, atol=1e-6)
