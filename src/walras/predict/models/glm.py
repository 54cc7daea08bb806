"""Generalised linear models by damped Gauss-Newton, many at once; needs only NumPy.

Each model minimises, over weights β (the last is the intercept, which is not penalised),

    Σ_j w_j (g(h(x_j·β)) - g(y_j))² / Σ_j w_j + λ |β|²

with h = softplus for times, which add over a task's operators, or the logistic function for
probabilities; and g the identity or the logarithm. For a probability this is the Brier score.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from walras.types import Floats

Link = Literal["softplus", "exp", "logistic"]
Loss = Literal["raw", "log"]

_STEPS = 60
_FLOOR = 1e-9  # of a mean time, or of a probability, under a logarithm


def inverse_link(link: Link, score: Floats) -> tuple[Floats, Floats]:
    """The mean h(score) and its derivative."""
    if link == "exp":
        mean = np.exp(np.clip(score, -30.0, 30.0))
        return mean, mean
    logistic = 1.0 / (1.0 + np.exp(-np.clip(score, -30.0, 30.0)))
    if link == "logistic":
        return logistic, logistic * (1.0 - logistic)
    return np.logaddexp(0.0, score), logistic


def link_of(link: Link, mean: Floats) -> Floats:
    """The score whose mean it is."""
    if link == "exp":
        return np.log(np.maximum(mean, _FLOOR))
    if link == "logistic":
        inside = np.clip(mean, 1e-3, 1.0 - 1e-3)
        return np.log(inside / (1.0 - inside))
    small = np.maximum(mean, 1e-3)
    return small + np.log(-np.expm1(-small))


def centre_and_spread(x: Floats) -> tuple[Floats, Floats]:
    """(d,) mean and standard deviation of each feature; 1 for the deviation of a constant.

    Args:
        x: (n, d) features, of any size: squares neither overflow nor vanish.
    """
    largest = np.abs(x).max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)
    scaled = x / unit
    constant = x.min(axis=0) == x.max(axis=0)
    return scaled.mean(axis=0) * unit, np.where(constant, 1.0, scaled.std(axis=0) * unit)


def fit_standard(
    x: Floats, y: Floats, weight: Floats, ridge: Floats, link: Link, loss: Loss
) -> Floats:
    """:func:`fit_glm` on features of mean 0 and deviation 1, so that no unit of theirs matters.

    Returns:
        (B, d + 1) weights of the features as given, the intercept last.
    """
    centre, spread = centre_and_spread(x)
    found = fit_glm((x - centre) / spread, y, weight, ridge, link, loss)
    slope = found[:, :-1] / spread
    return np.column_stack([slope, found[:, -1] - slope @ centre])


def fit_glm(x: Floats, y: Floats, weight: Floats, ridge: Floats, link: Link, loss: Loss) -> Floats:
    """Fit B models on the same features.

    Args:
        x: (n, d) features, without a column of ones.
        y: (B, n) targets; of order one. Not read where the weight is 0.
        weight: (B, n) >= 0.
        ridge: (B,) λ.
        link: h.
        loss: g.

    Returns:
        (B, d + 1) weights, the intercept last.
    """
    design = np.column_stack([x, np.ones(len(x))])
    share = weight / np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)
    target = np.where(weight > 0, y, 1.0)
    penalty = ridge[:, None] * np.append(np.ones(x.shape[1]), 1e-10)
    beta = _normal(design, share, link_of(link, target), penalty)
    damping = np.full(len(y), 1e-3)
    value, curvature, slope = _model(design, share, target, beta, penalty, link, loss)
    for _ in range(_STEPS):
        scale = np.einsum("bpp->bp", curvature)
        lifted = curvature + (damping[:, None] * (scale + 1e-12))[:, :, None] * np.eye(len(slope.T))
        trial = beta - np.linalg.solve(lifted, slope[..., None])[..., 0]
        new, new_curvature, new_slope = _model(design, share, target, trial, penalty, link, loss)
        better = new < value
        done = np.abs(value - new) <= 1e-10 * value
        beta[better] = trial[better]
        value = np.where(better, new, value)
        curvature[better], slope[better] = new_curvature[better], new_slope[better]
        damping = np.clip(np.where(better, damping / 5.0, damping * 4.0), 1e-12, 1e12)
        if np.all(done | (damping > 1e10)):
            break
    return beta


def _normal(design: Floats, share: Floats, score: Floats, penalty: Floats) -> Floats:
    """The ridge regression on the scores, to start from."""
    weighted = design[None] * share[..., None]
    gram = weighted.transpose(0, 2, 1) @ design
    gram += np.eye(design.shape[1]) * (penalty + 1e-9)[:, :, None]
    return np.asarray(
        np.linalg.solve(gram, weighted.transpose(0, 2, 1) @ score[..., None])[..., 0],
        dtype=np.float64,
    )


def _model(
    design: Floats, share: Floats, y: Floats, beta: Floats, penalty: Floats, link: Link, loss: Loss
) -> tuple[Floats, Floats, Floats]:
    """Value, Gauss-Newton curvature and slope (each halved) of B models."""
    mean, rate = inverse_link(link, beta @ design.T)
    if loss == "log":
        inside = np.maximum(mean, _FLOOR)
        residual, rate = np.log(inside) - np.log(np.maximum(y, _FLOOR)), rate / inside
    else:
        residual = mean - y
    jacobian = design[None] * rate[..., None]
    weighted = jacobian * share[..., None]
    curvature = weighted.transpose(0, 2, 1) @ jacobian
    curvature += np.eye(design.shape[1]) * penalty[:, :, None]
    slope = (weighted * residual[..., None]).sum(axis=1) + penalty * beta
    value = (share * residual**2).sum(axis=1) + (penalty * beta**2).sum(axis=1)
    return value, curvature, slope
