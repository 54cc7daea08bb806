"""Leximin with a price on churn, against a sequence of plain LPs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import walras as wl
from walras.certificate import certify
from walras.engines.exact.engine import Exact
from walras.leximin.method import leximin
from walras.settings import Settings

cs = wl.domains.cluster_scheduling
KINDS = ["all before", "new jobs", "less capacity", "best is one"]


def round_of(seed: int, kind: str, m: int = 3, n: int = 8) -> tuple[Any, ...]:
    """Throughput, size, capacity, weight, and shares that were fair to other throughputs."""
    rng = np.random.default_rng(seed)
    T = rng.lognormal(0, 1, (m, n))
    T = T / T.max(axis=0) if kind == "best is one" else T
    size, weight = rng.choice([1.0, 2.0, 4.0], n), rng.uniform(1, 3, n)
    capacity = rng.uniform(0.5, 1.5, m) * size.sum() / m * 0.6
    noised = cs.max_min(T * rng.lognormal(0, 0.3, T.shape), size, capacity, weight)
    before = np.clip(wl.solve(noised, engine="exact", threads=1).x, 0, 1)
    if kind == "new jobs":
        before = before * (rng.random(n) < 0.6)
    return T, size, 0.9 * capacity if kind == "less capacity" else capacity, weight, before


def by_definition(data: tuple[Any, ...], churn: float) -> tuple[float, np.ndarray]:
    """The first level's value and the weighted throughputs, sorted.

    An LP for the least less churn; then, with churn no more than it paid, an LP a level, and one
    a job that tells whether it is stuck there. Variables: kept shares, added shares, the level.
    """
    T, size, capacity, weight, before = data
    m, n = T.shape
    pairs = m * n
    used, share, y = np.zeros((m, pairs)), np.zeros((n, pairs)), np.zeros((n, pairs))
    for i in range(m):
        for j in range(n):
            used[i, i * n + j], share[j, i * n + j] = size[j], 1.0
            y[j, i * n + j] = T[i, j] / weight[j]
    price = np.tile(churn * size, m)
    cost = np.concatenate([-price, price, [0.0]])
    used, share, y = (np.hstack([a, a, np.zeros((len(a), 1))]) for a in (used, share, y))
    top = np.zeros(2 * pairs + 1)
    top[-1] = 1.0
    bounds = [(0.0, b) for b in [*before.ravel(), *([None] * (pairs + 1))]]

    def best(gain: np.ndarray, floor: np.ndarray, free: Any, most: float) -> np.ndarray:
        rows = np.vstack([used, share, -y + np.outer(free, top), cost])
        right = np.concatenate([capacity, np.ones(n), -floor + 1e-10, [most]])
        found = linprog(-gain, rows, right, bounds=bounds, method="highs-ds")
        assert found.status == 0, found.message
        return np.asarray(found.x)

    fixed = np.full(n, np.nan)
    x = best(top - cost, np.zeros(n), np.ones(n), 1e9)
    value, most = float(x[-1] - cost @ x - price @ before.ravel()), float(cost @ x) + 1e-10
    while np.any(free := np.isnan(fixed)):
        t = best(top, np.nan_to_num(fixed), free, most)[-1]
        floor = np.where(free, t, fixed)
        rise = [y[j] @ best(y[j], floor, np.zeros(n), most) - t for j in np.flatnonzero(free)]
        stuck = np.flatnonzero(free)[np.array(rise) <= 1e-6 * max(t, 1e-2)]
        assert len(stuck)
        fixed[stuck] = t
    return value, np.sort(fixed)


@pytest.mark.parametrize("engine", ["interior", "exact"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_later_levels_keep_the_value_of_the_first(seed: int, kind: str, engine: str) -> None:
    data, churn = round_of(seed, kind), 0.05 if seed % 2 else 0.2
    T, size, capacity, weight, before = data
    value, true = by_definition(data, churn)
    given: dict[str, Any] = {"previous": before, "churn": churn}
    problem = cs.leximin(T, size, capacity, weight, levels=20, **given)
    s = wl.solve(problem, engine=engine, threads=1)
    least = wl.solve(cs.max_min(T, size, capacity, weight, **given), engine="exact", threads=1)
    reached = np.sum(T * s.x, axis=0) / weight
    assert s.status is wl.Status.OPTIMAL
    assert s.value == pytest.approx(least.value, rel=2e-6, abs=1e-9)
    assert s.value == pytest.approx(value, rel=1e-5, abs=1e-8)
    assert np.sort(reached) == pytest.approx(true, rel=1e-4, abs=1e-6)
    levels = [level.value for level in s.levels]
    assert levels == sorted(levels)
    assert np.min(reached) == pytest.approx(levels[0], rel=1e-6, abs=1e-9)
    assert np.all(np.sum([level.frozen for level in s.levels], axis=0) == 1)


@pytest.mark.parametrize("engine", ["auto", "interior"])
@pytest.mark.parametrize("quota", [False, True])
@pytest.mark.parametrize("seed", [2, 6, 10, 13])
def test_larger_rounds_are_optimal(seed: int, quota: bool, engine: str) -> None:
    T, size, capacity, weight, before = round_of(seed, "all before", m=8, n=30)
    given: dict[str, Any] = {"previous": before, "churn": 0.05}
    if quota:
        limits = {"a": 0.4 * capacity.sum(), "b": 0.4 * capacity.sum()}
        given["quota"] = cs.Quota.of_users(["a", "b"] * 15, limits)
    s = wl.solve(cs.leximin(T, size, capacity, weight, **given), engine=engine, threads=1)
    least = wl.solve(cs.max_min(T, size, capacity, weight, **given), engine="exact", threads=1)
    assert s.status is wl.Status.OPTIMAL
    assert s.value == pytest.approx(least.value, rel=2e-6)
    assert np.min(np.sum(T * s.x, axis=0) / weight) == pytest.approx(s.levels[0].value, rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_levels_solved_to_a_coarse_tolerance_keep_the_value_by_it(seed: int) -> None:
    T, size, capacity, weight, before = round_of(seed, "all before")
    spec = cs.leximin(T, size, capacity, weight, previous=before, churn=0.05)
    found = leximin(spec, Exact().solve, Settings(tolerance=1e-2), coarse=True)
    proof = certify(spec.problem, found.iterate.x, found.iterate.t, found.iterate.prices)
    assert len(found.levels) > 1
    assert 1e-5 < proof.gap <= 2e-3
