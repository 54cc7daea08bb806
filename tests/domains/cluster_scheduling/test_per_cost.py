"""Throughput for money against Charnes and Cooper's linear program, in HiGHS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.cluster_scheduling.shared_devices import drawn, stated
from tests.domains.cluster_scheduling.small import CAPACITY, SIZE, T, spoiled
from tests.domains.instances import Data, draw

from walras.domains import cluster_scheduling as cs
from walras.errors import InfeasibleError, InputError
from walras.status import Status


def _in_highs(
    data: Data, cost: np.ndarray, floor: np.ndarray, *, cap: float | None = None
) -> tuple[float, np.ndarray, np.ndarray]:
    """The best ratio, and its prices of GPUs and of floors.

    All shares are in units of one over the cost, which is then one; so are the duals.
    """
    x, unit = cp.Variable(data.throughput.shape, nonneg=True), cp.Variable(nonneg=True)
    y = cp.sum(cp.multiply(data.throughput, x), axis=0)
    rules = [x @ data.size <= data.capacity * unit, y >= floor * unit, cp.sum(x, axis=0) <= unit]
    rules += [x[data.throughput == 0] == 0, cost @ (x @ data.size) == 1]
    if cap is not None:
        rules.append(x[:, 0] @ np.ones(len(cost)) * data.size[0] <= cap * unit)
    value = cp.Problem(cp.Maximize(data.weight @ y), rules).solve(cp.HIGHS)
    used, promised = (np.asarray(rule.dual_value * unit.value) for rule in rules[:2])
    return float(value), used, promised


def _promised(data: Data, share: float) -> np.ndarray:
    alone = cs.equal_share(data.throughput, data.size, data.capacity)
    return np.asarray(share * (data.throughput * alone).sum(axis=0))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.2, 0.9])
def test_agrees_with_its_definition(seed: int, share: float) -> None:
    data = draw(seed)
    cost = np.random.default_rng(seed).uniform(0.5, 3.0, len(data.capacity))
    floor = _promised(data, share)
    quota = cs.Quota({"ann": [0]}, {"ann": 1.5})
    found = cs.throughput_per_cost(
        data.throughput, data.size, data.capacity, cost, data.weight, floor=floor, quota=quota
    )
    value, used, promised = _in_highs(data, cost, floor, cap=1.5)
    assert found.value == pytest.approx(value, rel=2e-6)
    assert found.prices == pytest.approx(used, abs=1e-4)
    assert found.floor_prices == pytest.approx(promised, abs=1e-4)
    assert found.status == Status.OPTIMAL
    assert found.value <= found.bound
    judged = cs.evaluate(
        data.throughput, data.size, data.capacity, found.x, floor=floor, quota=quota
    )
    assert judged.violation <= 1e-8
    assert found.cost == pytest.approx(cost @ judged.used)
    assert found.throughput == pytest.approx(data.weight @ judged.throughput)
    assert found.value == pytest.approx(found.throughput / found.cost)


@pytest.mark.parametrize("seed", range(3))
def test_a_price_is_the_derivative_of_the_ratio(seed: int) -> None:
    """By the GPUs of a type and by the floor of a job."""
    data, step = draw(seed), 1e-4
    cost = np.random.default_rng(seed).uniform(0.5, 3.0, len(data.capacity))
    floor = _promised(data, 0.9)
    found = cs.throughput_per_cost(
        data.throughput, data.size, data.capacity, cost, data.weight, floor=floor
    )

    def slope(
        at: np.ndarray, place: int, value: Callable[[np.ndarray], float]
    ) -> tuple[float, float]:
        here, there = value(at), (np.arange(len(at)) == place) * step
        return (value(at + there) - here) / step, (here - value(at - there)) / step

    for i, price in enumerate(found.prices):
        more, less = slope(
            data.capacity, i, lambda b: _in_highs(replace(data, capacity=b), cost, floor)[0]
        )
        assert more * (1.0 - 1e-3) - 1e-4 <= price <= less * (1.0 + 1e-3) + 1e-4
    for j in np.flatnonzero(floor):
        both = slope(floor, int(j), lambda b: _in_highs(data, cost, b)[0])
        assert min(both) - 1e-3 <= -found.floor_prices[j] <= max(both) + 1e-3
    assert found.prices.max() > 0.01
    assert found.floor_prices.max() > 0.01


@pytest.mark.parametrize("seed", range(3))
def test_pairs_share_devices(seed: int) -> None:
    data, pairs = drawn(seed)
    cost = np.random.default_rng(seed).uniform(0.5, 3.0, len(data.capacity))
    floor = _promised(data, 0.9)
    found = cs.throughput_per_cost(
        data.throughput, data.size, data.capacity, cost, data.weight, floor=floor, pairs=pairs
    )
    unit = cp.Variable(nonneg=True)
    y, used, rules = stated(data, pairs, unit)
    rules += [y >= floor * unit, cost @ used == 1]
    wanted = float(cp.Problem(cp.Maximize(data.weight @ y), rules).solve(cp.HIGHS))
    assert found.value == pytest.approx(wanted, rel=2e-6)
    assert found.prices == pytest.approx(rules[0].dual_value * unit.value, abs=1e-4)
    assert found.status == Status.OPTIMAL
    assert found.value <= found.bound * (1.0 + 1e-12)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_without_promises_the_best_pair_runs_alone(seed: int) -> None:
    data = draw(seed)
    cost = np.random.default_rng(seed).uniform(0.5, 3.0, len(data.capacity))
    found = cs.throughput_per_cost(data.throughput, data.size, data.capacity, cost, data.weight)
    pairs = data.weight * data.throughput / np.outer(cost, data.size)
    assert found.value == pytest.approx(pairs.max(), rel=1e-6)
    assert found.bound >= pairs.max() * (1.0 - 1e-12)
    assert found.throughput > 0.0
    assert found.prices == pytest.approx(0.0, abs=1e-9)
    assert not found.floor_prices.any()
    assert found.status == Status.OPTIMAL


def test_a_promise_that_cannot_be_kept_is_named() -> None:
    with pytest.raises(InfeasibleError, match=r"floor\[1\]"):
        cs.throughput_per_cost(T, SIZE, CAPACITY, [1.0, 1.0], floor=[0.0, 100.0, 0.0])


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"cost": spoiled(CAPACITY, 1, 0.0)}, "cost[1]"),
        ({"cost": [1.0]}, "cost"),
        ({"floor": [0.0, -1.0, 0.0]}, "floor[1]"),
        ({"floor": [0.0, np.nan, 0.0]}, "floor[1]"),
        ({"floor": [0.0]}, "floor"),
        ({"churn": 1.0}, "churn"),
        ({"tolerance": 1.0}, "tolerance"),
    ],
)
def test_bad_input_is_named(changed: dict[str, Any], where: str) -> None:
    asked: dict[str, Any] = {"cost": CAPACITY} | changed
    with pytest.raises(InputError) as caught:
        cs.throughput_per_cost(T, SIZE, CAPACITY, **asked)
    assert caught.value.where.startswith(where)
