"""Derivatives of relaxed matchings in numba: the implicit function theorem, round by round."""

from __future__ import annotations

import numpy as np

from walras.kernels.matching.linear_systems import solve_small
from walras.kernels.matching.smoothed import (
    covariance,
    floor_cost,
    sums,
    through_curvature,
    weights,
)
from walras.kernels.parallel import copy, inner, jit, map_runs
from walras.kernels.room import filled_floats, float_table, floats
from walras.types import Floats


@inner
def _pull_round(
    t: Floats,
    a: Floats,
    floor: float,
    law: Floats,
    beta: float,
    tau: float,
    x: Floats,
    v: Floats,
    by_t: Floats,
    by_a: Floats,
    scratch: Floats,
) -> float:
    """The implicit derivative of one round (:mod:`walras.learn.implicit`), also by the floor."""
    m, n = t.shape
    y, p, lam = floats(m + 1), floats(m), filled_floats(m + 1, 0.0)
    sums(t, a, x, y)
    _, nu, curvature = floor_cost(y[m] - floor, law)
    weights(y, beta, p)
    _spread(x, v, tau, scratch)  # u = P v
    for i in range(m):
        for j in range(n):
            if x[i, j] > 0.0:
                lam[i] += scratch[i, j] * t[i, j]
            lam[m] += scratch[i, j] * a[i, j] / n
    k, system, image = float_table(m + 1, m + 1), float_table(m + 1, m + 1), floats(m + 1)
    covariance(t, a, x, scratch, k)
    for j in range(m + 1):  # I + G K, column by column, since K is symmetric
        through_curvature(p, beta, curvature, k[j], image)
        for i in range(m + 1):
            system[i, j] = image[i] / tau + (1.0 if i == j else 0.0)
    copy(lam, image)
    through_curvature(p, beta, curvature, image, lam)
    if not solve_small(system, lam):
        lam[:] = np.nan
    for i in range(m):
        for j in range(n):
            own = lam[i] * t[i, j] if x[i, j] > 0.0 else 0.0
            by_a[i, j] = v[i, j] - own - lam[m] / n * a[i, j]
    _spread(x, by_a, tau, scratch)  # z = P (v - U lam)
    by_floor = 0.0
    for i in range(m):
        for j in range(n):
            z = scratch[i, j]
            by_t[i, j] = -(p[i] * z + lam[i] * x[i, j])
            by_a[i, j] = (nu * z - lam[m] * x[i, j]) / n
            by_floor += curvature * z * a[i, j] / n
    return by_floor


@inner
def _spread(x: Floats, v: Floats, tau: float, out: Floats) -> None:
    """Compute P v = x (v - sum_k x_k v_k) / tau by columns."""
    m, n = x.shape
    for j in range(n):
        mean = 0.0
        for i in range(m):
            mean += x[i, j] * v[i, j]
        for i in range(m):
            out[i, j] = x[i, j] * (v[i, j] - mean) / tau


@jit
def _pull(
    first: int,
    last: int,
    t: Floats,
    a: Floats,
    floor: Floats,
    law: Floats,
    beta: float,
    tau: float,
    x: Floats,
    v: Floats,
    by_t: Floats,
    by_a: Floats,
    by_floor: Floats,
) -> None:
    scratch = float_table(x.shape[1], x.shape[2])
    for b in range(first, last):
        by_floor[b] = _pull_round(
            t[b], a[b], floor[b], law, beta, tau, x[b], v[b], by_t[b], by_a[b], scratch
        )


def pull_back(
    t: Floats,
    a: Floats,
    floor: Floats,
    law: Floats,
    beta: float,
    tau: float,
    x: Floats,
    v: Floats,
    threads: int,
) -> tuple[Floats, Floats, Floats]:
    """Derivatives of a loss by relative times, chances and floors, from its derivative v by x.

    Args:
        t: As in :func:`walras.kernels.matching.relaxed.solve_relaxed`, and so ``a`` to ``tau`` and
            ``threads``.
        a: See there.
        floor: See there.
        law: See there.
        beta: See there.
        tau: See there.
        x: (rounds, M, N) stationary matchings.
        v: (rounds, M, N).
        threads: See there.
    """
    by_t, by_a, by_floor = np.empty_like(x), np.empty_like(x), np.empty(len(x))

    def work(first: int, last: int) -> None:
        _pull(first, last, t, a, floor, law, beta, tau, x, v, by_t, by_a, by_floor)

    map_runs(threads, work, np.arange(len(x) + 1))
    return by_t, by_a, by_floor
