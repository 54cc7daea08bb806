"""The dual of few prices: bounds from any prices, and the level of the least throughput."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.engines.prices.dual import Dual
from walras.separable.shares import Shares


def shares(alpha: float, part: float = 0.3, count: int = 200) -> Shares:
    rng = np.random.default_rng(0)
    capacity = part * count * rng.uniform(0.2, 1.0, 3)
    speed = rng.uniform(0.1, 1.0, (3, count))
    return Shares(speed, np.ones((1, count)), capacity, np.ones(count), alpha)


@settings(max_examples=40)
@given(
    st.sampled_from([0.0, 0.5, 1.0, 2.0, np.inf]),
    st.lists(st.floats(0.01, 5.0), min_size=3, max_size=3),
    st.sampled_from([0.3, 1e-3]),
)
def test_any_prices_bound_any_shares(alpha: float, prices: list[float], h: float) -> None:
    dual = Dual(shares(alpha), 1)
    point = dual.at(np.array(prices), h)
    x = dual.write(point, h)
    y = np.sum(x * dual.shares.speed.T, axis=1)
    value = {
        0.0: np.sum(y),
        0.5: np.sum(2 * np.sqrt(y)),
        1.0: np.sum(np.log(np.maximum(y, 1e-300))),
        2.0: -np.sum(1 / np.maximum(y, 1e-300)),
        np.inf: len(y) * np.log(max(y.min(), 1e-300)),
    }[alpha]
    assert np.all(x.sum(axis=0) <= dual.shares.capacity * (1 + 1e-9))
    assert dual.bound(point) >= value - 1e-9 * abs(value)


def test_the_level_balances_its_worth() -> None:
    dual = Dual(shares(np.inf, 0.1), 1)
    prices = np.array([6.0, 9.0, 12.0])
    point = dual.at(prices, 0.1)
    assert 0.0 < point.level < dual.ceiling
    lower = Dual(dual.shares, 1, ceiling=0.9 * point.level).at(prices, 0.1)
    assert lower.level == 0.9 * point.level
    assert lower.value < point.value  # the dual is the most over levels


def test_a_ceiling_that_is_met_is_the_bound() -> None:
    dual = Dual(shares(np.inf, 5.0), 1)
    point = dual.at(np.zeros(3), 1e-3)
    assert point.is_highest
    assert dual.bound(point) == pytest.approx(200 * np.log(dual.ceiling))


def test_prices_of_another_solve_are_scaled() -> None:
    least, total = Dual(shares(np.inf), 1), Dual(shares(0.0), 1)
    prices = np.array([1.0, 0.0, 2.0])
    assert least.shares.capacity @ least.scaled(prices) == pytest.approx(200.0)
    assert total.scaled(prices) is prices


def test_a_level_is_handed_on() -> None:
    first, second = Dual(shares(np.inf, 0.1), 1), Dual(shares(np.inf, 0.1), 1)
    prices = np.array([6.0, 9.0, 12.0])
    first.short = second.short = 1e-3
    found = first.at(prices, 0.1)
    second.begin_at(first)
    again = second.at(prices, 0.1)
    assert again.level == pytest.approx(found.level)
    assert second.passes == 1 < first.passes
