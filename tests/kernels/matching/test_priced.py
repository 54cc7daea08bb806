"""The nearest clusters of tasks, and the smooth dual function of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

from walras.kernels.matching.priced import nearest, smooth
from walras.types import Floats

M, N, K = 6, 1100, 3  # more tasks than are looked at together
MOVE, LIMIT, MU = 0.3, 5.0, 0.7


def drawn(seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    times = rng.lognormal(0.5, 0.6, (M, N))
    times[rng.random((M, N)) < 0.2] = np.inf
    return {
        "times": times,
        "success": rng.uniform(0.5, 1.0, (M, N)),
        "size": rng.integers(1, 3, N).astype(np.float64),
        "start": rng.uniform(0, 2, (M, 2)),
        "kind": rng.integers(0, 2, N),
        "lam": rng.uniform(0.1, 1.0, M),
        "previous": rng.integers(-1, M, N),
    }


def costs(given: dict[str, Any]) -> Floats:
    """(tasks, clusters) reduced costs by their definition; ``inf`` where a task may not go."""
    own = np.arange(M)[:, None]
    moves = (given["previous"] >= 0) & (given["previous"] != own)
    found = given["lam"][:, None] * given["size"] * given["times"] - MU * given["success"]
    late = given["start"][:, given["kind"]] + given["times"] > LIMIT
    return np.asarray(np.where(late, np.inf, found + MOVE * moves).T)


def looked_at(given: dict[str, Any], first: int, last: int) -> tuple[Any, Floats]:
    cluster, cost = np.full((N, K), 99, dtype=np.int32), np.full((N, K), 99.0)
    arrays = (given[name] for name in ("times", "success", "size", "start", "kind", "lam"))
    nearest(first, last, *arrays, MU, given["previous"], MOVE, LIMIT, cluster, cost)
    return cluster, cost


def test_the_nearest_clusters_are_those_of_a_sort() -> None:
    given = drawn()
    cluster, cost = looked_at(given, 0, N)
    every = costs(given)
    wanted = np.sort(every, axis=1)[:, :K]
    np.testing.assert_allclose(cost, wanted, rtol=1e-12)
    assert np.array_equal(cluster < 0, np.isinf(wanted))
    assert np.isinf(wanted).any()
    assert np.isfinite(wanted).any()
    held = cluster >= 0
    rows = np.broadcast_to(np.arange(N)[:, None], (N, K))
    np.testing.assert_allclose(every[rows[held], cluster[held]], cost[held], rtol=1e-12)


def test_other_tasks_are_left_alone() -> None:
    cluster, cost = looked_at(drawn(), 500, 600)
    assert np.all(cost[:500] == 99.0)
    assert np.all(cluster[600:] == 99)
    assert np.all(cost[500:600] != 99.0)


def smoothed(given: dict[str, Any], lam: Floats, mu: float, tau: float = 0.2) -> Any:
    cluster, _ = looked_at(given, 0, N)
    row, j = np.maximum(cluster, 0), np.arange(N)[:, None]
    work = given["size"][:, None] * given["times"][row, j]
    work = np.where(cluster < 0, 0.0, work)
    base = np.where(
        (given["previous"][:, None] >= 0) & (given["previous"][:, None] != row), MOVE, 0
    )
    gradient, curvature = np.zeros(M + 1), np.zeros((M + 1, M + 1))
    chance = given["success"][row, j]
    some = cluster[:, 0] >= 0
    arrays = [np.ascontiguousarray(a[some]) for a in (cluster, work, chance, base.astype(float))]
    value = smooth(0, int(some.sum()), *arrays, lam, mu, tau, True, gradient, curvature)
    cost = arrays[3] + lam[np.maximum(arrays[0], 0)] * arrays[1] - mu * arrays[2]
    cost = np.where(arrays[0] < 0, np.inf, cost)
    return value, gradient, curvature, cost


def test_the_sum_of_soft_minima_has_its_gradient_and_curvature() -> None:
    given, tau = drawn(1), 0.2
    lam = given["lam"]
    value, gradient, curvature, cost = smoothed(given, lam, MU)
    assert value == pytest.approx(float(-tau * logsumexp(-cost / tau, axis=1).sum()), rel=1e-12)

    def at(step: Floats) -> tuple[float, Floats]:
        # The same clusters: prices move less than what changes which are nearest.
        found = smoothed(given, lam + step[:M], MU + step[M])
        return found[0], found[1]

    full = np.tril(curvature) + np.tril(curvature, -1).T
    for k in range(M + 1):
        step = np.zeros(M + 1)
        step[k] = 1e-6
        (up, slope_up), (down, slope_down) = at(step), at(-step)
        assert gradient[k] == pytest.approx((up - down) / 2e-6, rel=1e-5)
        second = -(slope_up - slope_down) / 2e-6 * tau
        np.testing.assert_allclose(full[k], second, rtol=1e-3, atol=1e-3 * np.abs(full).max())
