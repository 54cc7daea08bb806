"""What a row wants at a price: the conjugate of its cost, or an end of its interval."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from walras.kernels.block_prox.rows import (
    CONVEX_POWER,
    ENTROPY,
    LOG,
    NONE,
    POWER,
    QUADRATIC,
    moved,
    regime,
    wanted,
)
from walras.kernels.parallel import jit

W = 1.7


@jit
def _regime(kind: int, lower: float, upper: float, price: float, activity: float) -> int:
    return regime(kind, lower, upper, price, activity)


@jit
def _moved(kind: int, lower: float, upper: float, price: float, step: float, sense: int) -> float:
    return moved(kind, lower, upper, price, step, sense)


# The slope of each cost by its activity, and prices in its domain.
SLOPES: dict[str, tuple[int, float, Callable[[float], float], tuple[float, ...]]] = {
    "log": (LOG, 0.0, lambda y: -W / y, (-3.0, -0.2)),
    "power": (POWER, 2.0, lambda y: -W * y**-2.0, (-3.0, -0.2)),
    "quadratic": (QUADRATIC, 0.7, lambda y: W * (y - 0.7), (-3.0, 0.0, 2.0)),
    "convex power": (CONVEX_POWER, 2.5, lambda y: W * 2.5 * y**1.5, (0.3, 4.0)),
    "entropy": (ENTROPY, 0.0, lambda y: W * (np.log(y) + 1.0), (-3.0, 0.0, 2.0)),
}


@pytest.mark.parametrize("name", SLOPES)
def test_the_wanted_activity_has_the_price_as_its_slope(name: str) -> None:
    kind, parameter, slope, prices = SLOPES[name]
    for p in prices:
        y, rate = wanted(kind, W, parameter, p)
        assert slope(y) == pytest.approx(p, rel=1e-12, abs=1e-12)
        near = [wanted(kind, W, parameter, p + h)[0] for h in (-1e-6, 1e-6)]
        assert rate == pytest.approx((near[1] - near[0]) / 2e-6, rel=1e-5)


def test_prices_at_the_edge_of_a_domain_leave_numbers() -> None:
    assert wanted(CONVEX_POWER, W, 2.5, 0.0) == (0.0, 0.0)
    assert wanted(CONVEX_POWER, W, 2.5, -1.0) == (0.0, 0.0)
    assert np.isfinite(wanted(LOG, W, 0.0, 0.0)[0])
    assert np.isfinite(wanted(ENTROPY, W, 0.0, 1e6)[0])


@pytest.mark.parametrize(
    ("price", "activity", "active"),
    [(0.5, 0.0, 1), (-0.5, 0.0, -1), (0.0, 3.0, 1), (0.0, 0.0, -1), (0.0, 1.5, 0), (0.0, 2.0, 0)],
)
def test_the_active_bound_is_the_prices_or_the_one_that_is_crossed(
    price: float, activity: float, active: int
) -> None:
    assert _regime(NONE, 1.0, 2.0, price, activity) == active
    assert _regime(LOG, 1.0, 2.0, price, activity) == 2


def test_a_price_stays_in_its_orthant_and_in_the_domain_of_a_cost() -> None:
    assert _moved(NONE, 0.0, 1.0, 0.3, -0.5, 1) == 0.0
    assert _moved(NONE, 0.0, 1.0, -0.3, 0.5, -1) == 0.0
    assert _moved(NONE, 1.0, 1.0, 0.3, -0.5, 1) == pytest.approx(-0.2)  # an equality's may turn
    assert _moved(LOG, 0.0, 1.0, -0.3, 0.5, 2) == pytest.approx(-0.03)
    assert _moved(LOG, 0.0, 1.0, -0.3, -0.5, 2) == pytest.approx(-0.8)
    assert _moved(QUADRATIC, 0.0, 1.0, -0.3, 0.5, 2) == pytest.approx(0.2)
