"""Relaxed matchings by Newton's method are minima of the smoothed problem, as SciPy finds them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from walras.kernels.matching.relaxed import solve_relaxed
from walras.types import Floats

BETA, TAU = 5.0, 0.1
LAW = np.array([1.0, 0.0, 0.05, 3.0])  # an elastic floor: width, price


def drawn(seed: int, rounds: int = 3, m: int = 3, n: int = 5) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    t, a = rng.lognormal(size=(rounds, m, n)) / n, rng.uniform(0.5, 1.0, (rounds, m, n))
    return t, a, np.full(rounds, 0.8)


def objective(z: Floats, t: Floats, a: Floats, floor: float) -> float:
    """log-sum-exp of the loads, the floor's cost, and the entropy, of x = softmax(z)."""
    x = softmax(z.reshape(t.shape), axis=0)
    loads, reached = (t * x).sum(axis=1), (a * x).sum() / t.shape[1]
    width, price = LAW[2], LAW[3]
    missing = price * width * np.logaddexp(0.0, -(reached - floor) / width)
    return float(logsumexp(BETA * loads) / BETA + missing + TAU * (x * np.log(x)).sum())


def test_no_other_matching_costs_less() -> None:
    t, a, floor = drawn(1)
    x, steps = solve_relaxed(t, a, floor, LAW, BETA, TAU, 1e-12, None, 1)
    assert np.all(steps > 0)
    np.testing.assert_allclose(x.sum(axis=1), 1.0, rtol=1e-12)
    for b in range(len(t)):
        own = objective(np.log(x[b]).ravel(), t[b], a[b], 0.8)
        best = minimize(objective, np.zeros(t[b].size), (t[b], a[b], 0.8), method="BFGS", tol=1e-9)
        assert own == pytest.approx(best.fun, abs=1e-6)
        assert own <= best.fun + 1e-9
        np.testing.assert_allclose(x[b], softmax(best.x.reshape(t[b].shape), axis=0), atol=1e-3)


def test_a_round_does_not_depend_on_the_others_nor_on_threads() -> None:
    t, a, floor = drawn(2)
    x, _ = solve_relaxed(t, a, floor, LAW, BETA, TAU, 1e-12, None, 1)
    two, _ = solve_relaxed(t, a, floor, LAW, BETA, TAU, 1e-12, None, 2)
    alone, _ = solve_relaxed(t[1:2], a[1:2], floor[1:2], LAW, BETA, TAU, 1e-12, None, 1)
    assert np.array_equal(x, two)
    assert np.array_equal(x[1:2], alone)


def test_a_cluster_that_cannot_run_a_task_gets_nothing_of_it() -> None:
    t, a, floor = drawn(3)
    t[0, 1, 2] = np.inf
    x, _ = solve_relaxed(t, a, floor, LAW, BETA, TAU, 1e-12, None, 1)
    assert x[0, 1, 2] == 0.0
    assert x[0, :, 2].sum() == pytest.approx(1.0)


def test_a_start_at_the_solution_needs_no_descent_in_temperature() -> None:
    t, a, floor = drawn(4)
    x, cold = solve_relaxed(t, a, floor, LAW, BETA, TAU, 1e-12, None, 1)
    state = np.concatenate([(t * x).sum(2), (a * x).sum((1, 2))[:, None] / t.shape[2]], axis=1)
    again, warm = solve_relaxed(t, a, floor, LAW, BETA, TAU, 1e-12, state, 1)
    assert np.all(warm < cold)
    np.testing.assert_allclose(again, x, atol=1e-10)
