"""Generalised linear models: closed forms, stationarity, and known weights recovered."""

from __future__ import annotations

import numpy as np
import pytest

from walras.predict.models.glm import Link, Loss, _model, fit_glm, inverse_link, link_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))


def test_the_logarithm_of_an_exponential_is_ridge_regression() -> None:
    y = np.exp(X @ [0.5, -0.2, 0.1, 0.0] + 0.3 + 0.1 * RNG.normal(size=200))
    beta = fit_glm(X, y[None], np.ones((1, 200)), np.array([0.01]), "exp", "log")[0]
    design = np.column_stack([X, np.ones(200)])
    penalty = 0.01 * np.diag([1.0, 1.0, 1.0, 1.0, 1e-10])
    closed = np.linalg.solve(design.T @ design / 200 + penalty, design.T @ np.log(y) / 200)
    np.testing.assert_allclose(beta, closed, atol=1e-8)


@pytest.mark.parametrize(
    ("link", "loss"),
    [
        ("softplus", "raw"),
        ("softplus", "log"),
        ("exp", "raw"),
        ("exp", "log"),
        ("logistic", "raw"),
    ],
)
def test_weights_are_stationary_and_noise_free_ones_are_found(link: Link, loss: Loss) -> None:
    true = np.array([[0.6, -0.3, 0.2, 0.0, 0.5], [0.1, 0.4, 0.0, -0.5, 0.2]])
    design = np.column_stack([X, np.ones(200)])
    y = inverse_link(link, true @ design.T)[0]
    weight, free = np.ones(y.shape), np.full(2, 1e-12)
    np.testing.assert_allclose(fit_glm(X, y, weight, free, link, loss), true, atol=1e-4)
    noisy = np.clip(y * np.exp(0.1 * RNG.normal(size=y.shape)), 1e-3, None)
    if link == "logistic":
        noisy = np.minimum(noisy, 1.0)
    ridge = np.array([1e-4, 1e-2])
    beta = fit_glm(X, noisy, weight, ridge, link, loss)
    penalty = ridge[:, None] * np.append(np.ones(4), 1e-10)
    _, _, slope = _model(design, weight / 200, noisy, beta, penalty, link, loss)
    assert np.abs(slope).max() < 1e-5


@pytest.mark.parametrize("link", ["softplus", "exp", "logistic"])
def test_derivatives_against_finite_differences_and_the_inverse(link: Link) -> None:
    score = np.linspace(-3.0, 3.0, 13)
    mean, rate = inverse_link(link, score)
    step = 1e-6
    difference = (inverse_link(link, score + step)[0] - inverse_link(link, score - step)[0]) / (
        2 * step
    )
    np.testing.assert_allclose(rate, difference, rtol=1e-7)
    np.testing.assert_allclose(link_of(link, mean), score, atol=1e-8)


def test_targets_without_weight_are_not_read() -> None:
    y = np.exp(X @ [0.5, -0.2, 0.1, 0.0])[None]
    weight = np.ones((1, 200))
    weight[0, 150:] = 0.0
    spoiled = y.copy()
    spoiled[0, 150:] = np.nan
    ridge = np.array([1e-3])
    kept = fit_glm(X[:150], y[:, :150], np.ones((1, 150)), ridge, "softplus", "log")
    np.testing.assert_allclose(
        fit_glm(X, spoiled, weight, ridge, "softplus", "log"), kept, atol=1e-8
    )
