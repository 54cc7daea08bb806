"""Problems: costs, boxes, losses, and the optimum against closed forms and Clarabel."""

from __future__ import annotations

import math
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.network.instances import learning, points, quadratic

from walras import network as wn
from walras.errors import InfeasibleError, InputError

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


LOSSES = {
    "least squares": wn.LeastSquares(0.1),
    "hinge": wn.SmoothHinge(0.05),
    "logistic": wn.Logistic(0.02),
    "softmax": wn.Softmax(2, 0.01),
}


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_gradients_are_the_derivatives(loss: object) -> None:
    x, t = points(60)
    labels = (t + 1) / 2 if isinstance(loss, wn.Softmax) else t
    problem = quadratic(4, loss=loss, shards=wn.split(x, labels, 4))
    kind, data = problem.learning
    y = np.random.default_rng(0).normal(size=(4, kind.start(data, 0).size))
    for k in range(y.shape[1]):
        h = np.zeros_like(y)
        h[:, k] = 1e-6
        slope = (kind.value(y + h, data, 4) - kind.value(y - h, data, 4)) / 2e-6
        np.testing.assert_allclose(kind.gradient(y, data, 4)[:, k], slope, atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_smoothness_bounds_the_gradients_and_the_optimum_is_flat(loss: object) -> None:
    x, t = points(60)
    labels = (t + 1) / 2 if isinstance(loss, wn.Softmax) else t
    problem = quadratic(4, loss=loss, shards=wn.split(x, labels, 4))
    kind, data = problem.learning
    rng = np.random.default_rng(2)
    size = kind.start(data, 0).size
    for _ in range(50):
        a, b = rng.normal(size=(2, 4, size))
        apart = np.linalg.norm(kind.gradient(a, data, 4) - kind.gradient(b, data, 4), axis=1)
        assert (apart <= problem.smoothness * np.linalg.norm(a - b, axis=1) * (1 + 1e-9)).all()
    best = problem.optimum()
    assert best.model is not None
    everywhere = np.repeat(best.model[None], 4, axis=0)
    assert np.abs(kind.gradient(everywhere, data, 4).sum(axis=0)).max() < 1e-6


def test_least_squares_is_the_normal_equations() -> None:
    x, t = points(60)
    problem = quadratic(4, loss=wn.LeastSquares(0.1), shards=wn.split(x, t, 4))
    a = np.c_[x, np.ones(60)]
    expected = np.linalg.solve(a.T @ a / 60 + 0.1 * np.eye(3), a.T @ t / 60)
    best = problem.optimum().model
    assert best is not None
    np.testing.assert_allclose(best, expected, atol=1e-12)


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


def test_shards_of_two_classes_each_hold_few_labels() -> None:
    labels = np.repeat(np.arange(10), 60)
    shards = wn.split(np.zeros((600, 3)), labels, 20, classes_each=2)
    assert sum(len(t) for _, t in shards) == 600
    assert max(len(np.unique(t)) for _, t in shards) <= 3
    assert max(len(np.unique(t)) for _, t in wn.split(np.zeros((600, 3)), labels, 20)) == 10


QUAD = [wn.QuadraticCPU(1.0, 1.0)] * 3


@pytest.mark.parametrize(
    ("make", "error", "reason"),
    [
        (lambda: Stated([], 1.0), InputError, "cpu"),
        (
            lambda: Stated([1.0], 1.0),  # type: ignore[list-item]
            InputError,
            r"cpu\[0\]: is a float",
        ),
        (lambda: Stated(QUAD, -1.0), InputError, "budget"),
        (lambda: Stated(QUAD, "40"), InputError, "budget: is '40'"),  # type: ignore[arg-type]
        (
            lambda: Stated(QUAD, 9.0, (0.0, 2.0)),
            InfeasibleError,
            r"budget: is 9.*0 to 6",
        ),
        (lambda: Stated(QUAD, 1.0, (0.5, 2.0)), InfeasibleError, r"by \+0\.5"),
        (lambda: Stated(QUAD, 1.0, (2.0, 1.0)), InputError, "centre 0: is 2..1"),
        (lambda: Stated(QUAD, 1.0, ([0.0, 0.0], 1.0)), InputError, "boxes, low"),
        (
            lambda: Stated(QUAD, 1.0, loss=wn.Logistic()),
            InputError,
            "shards: is missing",
        ),
        (
            lambda: Stated(QUAD, 1.0, loss=wn.Logistic(), shards=[([[1.0]], [1])]),
            InputError,
            "shards: are 1",
        ),
        (
            lambda: Stated(QUAD, 1.0, loss=wn.Logistic(), shards=[([[1.0]], [2])] * 3),
            InputError,
            r"shards\[0\], target 0: is 2",
        ),
        (
            lambda: Stated(QUAD, 1.0, loss=wn.Logistic(), shards=[([[math.nan]], [1])] * 3),
            InputError,
            r"shards\[0\], sample 0: is NaN",
        ),
        (
            lambda: Stated([lambda x: -x * x] * 3, 1.0, (0.0, 1.0)),
            InputError,
            "not convex",
        ),
        (lambda: Stated([lambda x: x * x] * 3, 1.0), InputError, "no finite box"),
        (lambda: wn.QuadraticCPU(1.0, 0.0), InputError, r"QuadraticCPU\.scale"),
        (lambda: wn.ThroughputCPU(1.0, math.inf), InputError, r"ThroughputCPU\.rate"),
        (lambda: wn.ThroughputCPU.measured(1.0, [1.0, 1.0], [2.0, 2.0]), InputError, "different"),
        (lambda: wn.Softmax(1), InputError, "classes"),
        (lambda: wn.Logistic(-1.0), InputError, "regularisation"),
        (lambda: wn.split(np.zeros((3, 1)), np.zeros(3), 5), InputError, "centres"),
    ],
)
def test_problems_that_cannot_be_stated_are_refused(
    make: object, error: type[Exception], reason: str
) -> None:
    with pytest.raises(error, match=reason):
        make()  # type: ignore[operator]
