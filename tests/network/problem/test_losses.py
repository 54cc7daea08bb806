"""Losses of centres: gradients, smoothness, and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from tests.network.instances import points, quadratic

from walras import network as wn

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
