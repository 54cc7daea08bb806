"""Costs of CPU: slopes, curvatures, and what lies beyond a box."""

from __future__ import annotations

import math

import numpy as np
import pytest

from walras import network as wn

Stated = wn.NetworkProblem


@pytest.mark.parametrize(
    "cost",
    [
        wn.QuadraticCPU(2.0, 0.7),
        wn.ThroughputCPU(50.0, 9.0, 0.8, 2.0),
        wn.CallableCPU(lambda x: math.cosh(x)),
    ],
    ids=["quadratic", "throughput", "callable"],
)
def test_slopes_are_the_derivatives(cost: wn.CPUCost) -> None:
    x, h = np.linspace(0.5, 3.0, 7), 1e-5
    slope = (cost.value(x + h) - cost.value(x - h)) / (2 * h)
    np.testing.assert_allclose(cost.slope(x), slope, rtol=1e-6)
    second = (cost.slope(x + 1e-4) - cost.slope(x - 1e-4)) / 2e-4
    np.testing.assert_allclose(cost.curvature(x), second, rtol=1e-4)


def test_a_throughput_curve_comes_back_from_its_measurements() -> None:
    shares = np.array([0.5, 1.0, 2.0, 4.0])
    cost = wn.ThroughputCPU.measured(1000.0, shares, 30.0 * shares**0.75)
    assert (cost.rate, cost.efficiency) == pytest.approx((30.0, 0.75))
    assert float(cost.seconds(np.array(2.0))) == pytest.approx(1000 / (30 * 2**0.75))


def test_beyond_its_box_a_cost_goes_on_smoothly() -> None:
    problem = Stated([wn.ThroughputCPU(10.0, 1.0)] * 2, 3.0, boxes=(0.5, 4.0))
    x = np.array([0.5, 4.0])
    h = np.array([1e-6, -1e-6])
    np.testing.assert_allclose(problem.slope(x - h), problem.slope(x), rtol=1e-4)
    gained = problem.cost(x - h) - problem.cost(x)
    np.testing.assert_allclose(gained, -h * problem.slope(x), rtol=1e-4)
    assert np.isfinite(problem.cost(np.array([-1.0, 9.0]))).all()
