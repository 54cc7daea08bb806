"""The smoothed matching problem of one round in numba: forces, matching, state and curvature.

The problem is that of :mod:`walras.matching.smoothed`, for sequential tasks.
"""

from __future__ import annotations

import math

import numpy as np

from walras.kernels.parallel import inner
from walras.types import Floats


@inner
def floor_cost(g: float, law: Floats) -> tuple[float, float, float]:
    """phi(g), -phi'(g) and phi''(g); ``law`` is (elastic?, weight, width, price)."""
    weight, width, price = law[1], law[2], law[3]
    u = g / width
    if law[0] > 0.0:
        decay = math.exp(-abs(u))
        soft = math.log1p(decay) + max(-u, 0.0)
        part = decay / (1.0 + decay) if u > 0 else 1.0 / (1.0 + decay)
        return price * width * soft, price * part, price * part * (1.0 - part) / width
    inside = max(g, width)
    v = (g - inside) / width
    return (
        weight * (-math.log(inside) - v + 0.5 * v * v),
        weight * (1.0 - v) / inside,
        weight / (inside * inside),
    )


@inner
def weights(y: Floats, beta: float, p: Floats) -> float:
    """Compute p = softmax(beta S) in place; return its entropy."""
    m = len(p)
    top = y[0]
    for i in range(1, m):
        top = max(top, y[i])
    total = 0.0
    for i in range(m):
        p[i] = math.exp(beta * (y[i] - top))
        total += p[i]
    entropy = 0.0
    for i in range(m):
        p[i] /= total
        if p[i] > 0.0:
            entropy -= p[i] * math.log(p[i])
    return entropy


@inner
def matching(t: Floats, a: Floats, p: Floats, nu: float, tau: float, x: Floats) -> float:
    """Compute x = softmax(-(p t - nu a / N) / tau) by columns; return its log-sum-exp total."""
    m, n = t.shape
    soft = 0.0
    for j in range(n):
        top = -np.inf
        for i in range(m):
            x[i, j] = -(p[i] * t[i, j] - nu / n * a[i, j]) / tau if t[i, j] < np.inf else -np.inf
            top = max(top, x[i, j])
        total = 0.0
        for i in range(m):
            x[i, j] = math.exp(x[i, j] - top)
            total += x[i, j]
        for i in range(m):
            x[i, j] /= total
        soft += top + math.log(total)
    return soft


@inner
def sums(t: Floats, a: Floats, x: Floats, y: Floats) -> None:
    """Compute the state (S, R) of a matching."""
    m, n = t.shape
    reached = 0.0
    for i in range(m):
        load = 0.0
        for j in range(n):
            if x[i, j] > 0.0:
                load += t[i, j] * x[i, j]
            reached += a[i, j] * x[i, j]
        y[i] = load
    y[m] = reached / n


@inner
def covariance(t: Floats, a: Floats, x: Floats, w: Floats, k: Floats) -> None:
    """Compute K tau: the sum over columns of the covariances of (t_ij e_i, a_ij / N), in place."""
    m, n = t.shape
    for i in range(m + 1):
        for other in range(m + 1):
            k[i, other] = 0.0
    for j in range(n):
        mean = 0.0
        for i in range(m):
            mean += x[i, j] * a[i, j]
        for i in range(m):
            w[i, j] = x[i, j] * t[i, j] if x[i, j] > 0.0 else 0.0
            k[i, m] += w[i, j] * (a[i, j] - mean) / n
            k[m, m] += x[i, j] * (a[i, j] - mean) ** 2 / n**2
    for i in range(m):
        for other in range(i + 1):
            both = 0.0
            for j in range(n):
                both += w[i, j] * w[other, j]
            k[i, other] = k[other, i] = -both
        for j in range(n):
            if x[i, j] > 0.0:
                k[i, i] += w[i, j] * t[i, j]
        k[m, i] = k[i, m]


@inner
def through_curvature(p: Floats, beta: float, curvature: float, v: Floats, out: Floats) -> None:
    """Compute G v."""
    m = len(p)
    mean = 0.0
    for i in range(m):
        mean += p[i] * v[i]
    for i in range(m):
        out[i] = beta * p[i] * (v[i] - mean)
    out[m] = curvature * v[m]
