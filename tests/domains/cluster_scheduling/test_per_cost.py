"""Throughput for money against Charnes and Cooper's linear program, in HiGHS."""

from __future__ import annotations

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
) -> float:
    """The best ratio: all shares are in units of one over the cost, which is then one."""
    x, unit = cp.Variable(data.throughput.shape, nonneg=True), cp.Variable(nonneg=True)
    y = cp.sum(cp.multiply(data.throughput, x), axis=0)
    rules = [x @ data.size <= data.capacity * unit, cp.sum(x, axis=0) <= unit, y >= floor * unit]
    rules += [x[data.throughput == 0] == 0, cost @ (x @ data.size) == 1]
    if cap is not None:
        rules.append(x[:, 0] @ np.ones(len(cost)) * data.size[0] <= cap * unit)
    return float(cp.Problem(cp.Maximize(data.weight @ y), rules).solve(cp.HIGHS))


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
    assert found.value == pytest.approx(_in_highs(data, cost, floor, cap=1.5), rel=2e-6)
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
