"""Passes over all demands: slopes and curvature by differences, and threads that change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from walras.kernels.few_types.passes import exactly, smoothed
from walras.types import Floats, Weights

Arrays = tuple[Weights, Floats, Floats, float]


def arrays(alpha: float, count: int = 400, seed: int = 0) -> Arrays:
    rng = np.random.default_rng(seed)
    speed = rng.uniform(0.1, 1.0, (4, count)).astype(np.float32)
    return speed, rng.uniform(0.5, 2.0, (4, count)), rng.uniform(0.5, 2.0, count), alpha


PRICES = np.array([0.3, 0.1, 0.5, 0.4])


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 2.0, np.inf])
def test_usage_is_the_slope_and_falls_by_the_curvature(alpha: float) -> None:
    given, level, h = arrays(alpha), 0.05, 0.1

    def at(prices: Floats) -> tuple[float, Floats]:
        found = smoothed(given, level, prices, h, np.ones(400), 1)
        return found.utility - found.paid, found.usage

    found = smoothed(given, level, PRICES, h, np.ones(400), 1)
    for i in range(4):
        step = 1e-6 * np.eye(4)[i]
        (more, used), (less, _) = at(PRICES + step), at(PRICES - step)
        assert (less - more) / 2e-6 == pytest.approx(found.usage[i], rel=1e-5)
        np.testing.assert_allclose(
            (found.usage - used) / 1e-6, found.curvature[i], rtol=0.02, atol=1.0
        )


def test_a_higher_least_throughput_costs_its_worth() -> None:
    given, h = arrays(np.inf), 0.1
    found, more = (
        smoothed(given, level, PRICES, h, np.ones(400), 1) for level in (0.05, 0.05 * (1 + 1e-6))
    )
    assert (more.paid - found.paid) / 1e-6 == pytest.approx(found.worth, rel=1e-4)
    assert (more.worth - found.worth) / 1e-6 == pytest.approx(found.worth + found.bend, rel=0.02)
    np.testing.assert_allclose((more.usage - found.usage) / 1e-6, found.mixed, rtol=0.02, atol=0.1)


@pytest.mark.parametrize("alpha", [1.0, np.inf])
def test_runs_of_threads_add_up(alpha: float) -> None:
    given = arrays(alpha, 250_000)
    alone, together = (
        smoothed(given, 0.02, PRICES, 1e-2, np.ones(250_000), threads) for threads in (1, 2)
    )
    assert together.paid == pytest.approx(alone.paid, rel=1e-12)
    np.testing.assert_allclose(together.usage, alone.usage, rtol=1e-10)
    sums = [exactly(given, 0.02, PRICES, np.ones(250_000), threads) for threads in (1, 2)]
    np.testing.assert_allclose(sums[0], sums[1], rtol=1e-12)


def test_one_size_a_demand_is_the_same_size_on_every_resource() -> None:
    speed, sizes, weight, alpha = arrays(1.0)
    alike = np.ascontiguousarray(np.broadcast_to(sizes[:1], sizes.shape))
    found = [
        smoothed((speed, size, weight, alpha), 0.0, PRICES, 0.1, np.ones(400), 1)
        for size in (sizes[:1], alike)
    ]
    np.testing.assert_allclose(found[0].usage, found[1].usage)
