"""Units of steep powers: Clarabel proves alpha-fair rounds whatever alpha is."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engines.interior.steep import small_round

import walras as wl
from walras.domains import cluster_scheduling as cs
from walras.engines.exact.utility_scaling import scales_of
from walras.settings import Settings

CALM = Settings(threads=1)


def test_steep_powers_are_measured_by_what_max_min_leaves_them() -> None:
    weight = np.array([1.0, 2.0, 4.0])
    problem = cs.alpha_fair([[4.0, 4.0, 8.0]], [1, 1, 1], [2], weight, alpha=10.0)
    share = weight ** (1 / 9)
    level = 2.0 / np.sum(share / [4.0, 4.0, 8.0])  # all shares of the machines used
    jobs = problem.rows.is_utility
    np.testing.assert_allclose(scales_of(problem, CALM)[jobs], level * share, rtol=1e-6)
    mild = cs.alpha_fair([[4.0, 4.0, 8.0]], [1, 1, 1], [2], weight, alpha=2.0)
    np.testing.assert_array_equal(scales_of(mild, CALM)[jobs], [4.0, 4.0, 8.0])


def test_with_costs_by_what_is_left_of_them() -> None:
    round_ = [[4.0, 4.0, 8.0]], [1, 1, 1], [3]
    problem = cs.alpha_fair(*round_, alpha=10.0, previous=np.full((1, 3), 0.1), churn=0.5)
    found = wl.solve(problem, engine="exact")
    assert found.status == "optimal"
    y = (problem.rows.matrix @ found.entries)[problem.rows.is_utility]
    scales = scales_of(problem, CALM)[problem.rows.is_utility]
    np.testing.assert_allclose(scales, np.min(y), rtol=0.2)
    assert np.max(scales) < 2.0  # of 4.0 that max-min reaches


@pytest.mark.parametrize("alpha", [5.0, 10.0, 20.0, 50.0, 100.0])
@pytest.mark.parametrize("seed", [1, 4, 14, 17, 27])
def test_large_alpha_is_proved(alpha: float, seed: int) -> None:
    problem = small_round(seed, alpha)
    found = wl.solve(problem, engine="exact")
    assert found.status == "optimal"
    assert found.gap <= 1e-6
    assert wl.solve(problem).value == pytest.approx(found.value, rel=3e-6)
