"""The parts of the smoothed matching problem against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from walras.kernels.matching import smoothed
from walras.kernels.parallel import jit
from walras.types import Floats

ELASTIC = np.array([1.0, 0.0, 0.05, 3.0])
BARRIER = np.array([0.0, 0.2, 0.05, 0.0])


@jit
def _floor(g: float, law: Floats) -> tuple[float, float, float]:
    return smoothed.floor_cost(g, law)


@jit
def _weights(y: Floats, beta: float, p: Floats) -> float:
    return smoothed.weights(y, beta, p)


@jit
def _matching(t: Floats, a: Floats, p: Floats, nu: float, tau: float, x: Floats) -> float:
    return smoothed.matching(t, a, p, nu, tau, x)


@jit
def _sums(t: Floats, a: Floats, x: Floats, y: Floats, w: Floats, k: Floats) -> None:
    smoothed.sums(t, a, x, y)
    smoothed.covariance(t, a, x, w, k)


@jit
def _curved(p: Floats, beta: float, curvature: float, v: Floats, out: Floats) -> None:
    smoothed.through_curvature(p, beta, curvature, v, out)


@pytest.mark.parametrize("law", [ELASTIC, BARRIER], ids=["elastic", "barrier"])
@pytest.mark.parametrize("g", [-0.3, -0.02, 0.04, 0.06, 0.4])
def test_the_floors_cost_has_its_slope_and_curvature(law: Floats, g: float) -> None:
    value, slope, curvature = _floor(g, law)
    ahead, behind = _floor(g + 1e-6, law), _floor(g - 1e-6, law)
    assert slope == pytest.approx(-(ahead[0] - behind[0]) / 2e-6, rel=1e-6, abs=1e-9)
    assert curvature == pytest.approx(-(ahead[1] - behind[1]) / 2e-6, rel=1e-4, abs=1e-6)
    width, price = law[2], law[3]
    if law is ELASTIC:
        assert value == pytest.approx(price * width * np.logaddexp(0.0, -g / width))
    elif g > width:
        assert value == pytest.approx(-0.2 * np.log(g))


@pytest.mark.parametrize("g", [-1e6, 1e6])
def test_far_from_the_floor_nothing_overflows(g: float) -> None:
    assert np.all(np.isfinite(_floor(g, ELASTIC)))


def test_weights_are_a_softmax_with_its_entropy() -> None:
    y, p = np.array([700.0, 1.0, 699.5, 0.8]), np.empty(3)  # the last is the success
    entropy = _weights(y, 2.0, p)
    np.testing.assert_allclose(p, softmax(2.0 * y[:3]), rtol=1e-12)
    assert entropy == pytest.approx(-np.sum(p[p > 0] * np.log(p[p > 0])), rel=1e-12)


def drawn(seed: int, m: int = 3, n: int = 5) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    t = rng.lognormal(size=(m, n))
    t[1, 2] = np.inf
    return t, rng.uniform(0.5, 1.0, (m, n)), rng.dirichlet(np.ones(m))


def test_a_matching_is_a_softmax_of_each_column() -> None:
    t, a, p = drawn(0)
    x, nu, tau = np.empty(t.shape), 0.7, 0.1
    soft = _matching(t, a, p, nu, tau, x)
    score = -(p[:, None] * t - nu / 5 * a) / tau
    np.testing.assert_allclose(x, softmax(score, axis=0), rtol=1e-12)
    assert soft == pytest.approx(float(logsumexp(score, axis=0).sum()), rel=1e-12)
    assert x[1, 2] == 0.0


def test_the_state_and_its_covariance() -> None:
    t, a, p = drawn(1)
    x = np.empty(t.shape)
    _matching(t, a, p, 0.7, 0.4, x)
    y, k = np.empty(4), np.empty((4, 4))
    _sums(t, a, x, y, np.empty(t.shape), k)
    finite = np.where(np.isfinite(t), t, 0.0)
    np.testing.assert_allclose(y, [*(finite * x).sum(axis=1), (a * x).sum() / 5], rtol=1e-12)
    wanted = np.zeros((4, 4))
    for j in range(5):  # the covariance of what cluster i brings, if it is drawn with x[i, j]
        brings = np.zeros((3, 4))
        brings[np.arange(3), np.arange(3)] = finite[:, j]
        brings[:, 3] = a[:, j] / 5
        mean = x[:, j] @ brings
        wanted += (brings - mean).T @ np.diag(x[:, j]) @ (brings - mean)
    np.testing.assert_allclose(k, wanted, rtol=1e-10, atol=1e-12)


def test_curvature_is_that_of_the_softmax_and_of_the_floor() -> None:
    p, v, out = np.array([0.2, 0.5, 0.3]), np.array([1.0, -2.0, 0.5, 3.0]), np.empty(4)
    _curved(p, 4.0, 0.6, v, out)
    dense = np.zeros((4, 4))
    dense[:3, :3] = 4.0 * (np.diag(p) - np.outer(p, p))
    dense[3, 3] = 0.6
    np.testing.assert_allclose(out, dense @ v, rtol=1e-12)
