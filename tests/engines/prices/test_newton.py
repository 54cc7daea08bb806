"""Newton on the prices: balance, prices of zero, and a stop on request."""

from __future__ import annotations

import numpy as np
import pytest

from walras.engines.prices.dual import Dual
from walras.engines.prices.newton import minimised, shortfall
from walras.separable.shares import Shares


def dual(alpha: float) -> Dual:
    rng = np.random.default_rng(0)
    capacity = np.array([30.0, 1000.0, 60.0])  # of the second there is more than all can use
    speed = rng.uniform(0.1, 1.0, (3, 500))
    return Dual(Shares(speed, np.ones((1, 500)), capacity, np.ones(500), alpha), 1)


@pytest.mark.parametrize("alpha", [0.0, 1.0, 2.0])
def test_usage_meets_capacity_or_the_price_is_zero(alpha: float) -> None:
    own = dual(alpha)
    found = minimised(own, own.at(np.full(3, 0.2), 0.05), 0.05, 1e-9, 100, lambda point: False)
    assert shortfall(found, own.shares.capacity) <= 1e-9
    assert found.prices[1] == 0.0
    np.testing.assert_allclose(found.slope[[0, 2]], 0.0, atol=1e-5)
    lower = [own.at(found.prices + step, 0.05).value for step in 0.01 * np.eye(3)]
    assert min(lower) >= found.value


def test_it_stops_when_told() -> None:
    own, seen = dual(1.0), list[float]()

    def is_over(point: object) -> bool:
        seen.append(1.0)
        return True

    minimised(own, own.at(np.full(3, 0.2), 0.05), 0.05, 1e-12, 100, is_over)
    assert len(seen) == 1
