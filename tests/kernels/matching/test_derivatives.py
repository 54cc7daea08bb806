"""Derivatives of relaxed matchings against central differences."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kernels.matching.test_relaxed import BETA, LAW, TAU, drawn

from walras.kernels.matching.derivatives import pull_back
from walras.kernels.matching.relaxed import solve_relaxed
from walras.types import Floats


def loss(t: Floats, a: Floats, floor: Floats, v: Floats) -> Floats:
    """(rounds,) v x of the matchings."""
    x, _ = solve_relaxed(t, a, floor, LAW, BETA, TAU, 1e-13, None, 1)
    return np.asarray((x * v).sum(axis=(1, 2)))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_derivative_is_the_slope_in_each_entry(threads: int) -> None:
    t, a, floor = drawn(5)
    v = np.random.default_rng(6).normal(size=t.shape)
    x, _ = solve_relaxed(t, a, floor, LAW, BETA, TAU, 1e-13, None, 1)
    by_t, by_a, by_floor = pull_back(t, a, floor, LAW, BETA, TAU, x, v, threads)
    step = 1e-5
    for i, j in ((0, 0), (1, 3), (2, 4)):
        for values, found in ((t, by_t), (a, by_a)):
            kept = values[:, i, j].copy()
            values[:, i, j] = kept + step
            ahead = loss(t, a, floor, v)
            values[:, i, j] = kept - step
            slope = (ahead - loss(t, a, floor, v)) / (2 * step)
            values[:, i, j] = kept
            np.testing.assert_allclose(found[:, i, j], slope, rtol=1e-5, atol=1e-6)
    slope = (loss(t, a, floor + step, v) - loss(t, a, floor - step, v)) / (2 * step)
    np.testing.assert_allclose(by_floor, slope, rtol=1e-5, atol=1e-6)


def test_what_does_not_depend_on_the_matching_has_no_derivative() -> None:
    t, a, floor = drawn(7)
    x, _ = solve_relaxed(t, a, floor, LAW, BETA, TAU, 1e-13, None, 1)
    found = pull_back(t, a, floor, LAW, BETA, TAU, x, np.ones_like(x), 1)  # each column adds to 1
    assert all(np.abs(part).max() < 1e-12 for part in found)
