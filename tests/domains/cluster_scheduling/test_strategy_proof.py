"""The partial allocation mechanism: its definition, its guarantee, and that lies do not pay."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from tests.domains.cluster_scheduling.small import CAPACITY, SIZE, T, spoiled
from tests.domains.instances import Data, draw

from walras.domains import cluster_scheduling as cs
from walras.errors import InputError


def _fair(data: Data, jobs: list[int]) -> np.ndarray:
    """Throughputs of proportional fairness among some jobs, in Clarabel."""
    speed = data.throughput[:, jobs]
    x = cp.Variable(speed.shape, nonneg=True)
    y = cp.sum(cp.multiply(speed, x), axis=0)
    rules = [x @ data.size[jobs] <= data.capacity, cp.sum(x, axis=0) <= 1, x[speed == 0] == 0]
    cp.Problem(cp.Maximize(data.weight[jobs] @ cp.log(y)), rules).solve(cp.CLARABEL)
    return np.asarray(y.value)


@pytest.mark.parametrize("seed", [0, 1])
def test_agrees_with_its_definition(seed: int) -> None:
    data = draw(seed, m=3, n=6)
    found = cs.strategy_proof(
        data.throughput, data.size, data.capacity, data.weight, tolerance=1e-8
    )
    together = _fair(data, list(range(6)))
    for j in range(6):
        others = [k for k in range(6) if k != j]
        lost = data.weight[others] * (np.log(together[others]) - np.log(_fair(data, others)))
        assert found.discount[j] == pytest.approx(np.exp(lost.sum() / data.weight[j]), rel=1e-4)
    assert found.throughput == pytest.approx(found.discount * together, rel=1e-4)
    judged = cs.evaluate(data.throughput, data.size, data.capacity, found.x)
    assert judged.violation <= 1e-9
    assert found.gap <= 1e-8


def test_the_prices_of_the_fair_shares_are_what_one_more_gpu_brings() -> None:
    """The objective is concave in a capacity: a price is between its one-sided differences."""
    data, step = draw(0, m=3, n=6), 1e-3
    found = cs.strategy_proof(
        data.throughput, data.size, data.capacity, data.weight, tolerance=1e-8
    )

    def value(i: int, more: float) -> float:
        there = replace(data, capacity=data.capacity + more * (np.arange(3) == i))
        return float(data.weight @ np.log(_fair(there, list(range(6)))))

    prices = found.fair.prices["capacity"]
    for i, price in enumerate(prices):
        more, less = value(i, step) - value(i, 0.0), value(i, 0.0) - value(i, -step)
        assert more / step - 1e-4 <= price <= less / step + 1e-4
    assert prices.max() > 0.01


@pytest.mark.parametrize("seed", range(4))
def test_equal_weights_keep_at_least_a_part_of_one_over_e(seed: int) -> None:
    data = draw(seed, m=3, n=8)
    found = cs.strategy_proof(data.throughput, data.size, data.capacity)
    assert np.all(found.discount >= np.exp(-1.0) - 1e-6)
    assert np.all(found.discount <= 1.0)


@pytest.mark.parametrize("seed", range(3))
def test_no_lie_about_speeds_pays(seed: int) -> None:
    data, rng = draw(seed, m=3, n=5), np.random.default_rng(seed)
    truth = cs.strategy_proof(data.throughput, data.size, data.capacity, tolerance=1e-8)
    for _ in range(6):
        lie = data.throughput.copy()
        lie[:, 2] *= rng.lognormal(0.0, 1.0, 3)
        said = cs.strategy_proof(lie, data.size, data.capacity, tolerance=1e-8)
        real = float(data.throughput[:, 2] @ said.x[:, 2])
        assert real <= truth.throughput[2] * (1.0 + 1e-5)


def test_closed_forms_and_progress() -> None:
    seen: list[tuple[int, int]] = []
    found = cs.strategy_proof(
        [[1.0] * 4],
        [1] * 4,
        [1],
        tolerance=1e-9,
        on_job=lambda *at: seen.append(at),
        demand_names=list("abcd"),
    )
    # Each gets 1/4; without one, 1/3: (3/4)^3.
    assert found.discount == pytest.approx([0.75**3] * 4, rel=1e-5)
    assert seen == [(1, 5), (2, 5), (3, 5), (4, 5)]
    alone = cs.strategy_proof([[2.0]], [1], [1])
    assert (alone.discount.tolist(), alone.throughput.round(6).tolist()) == ([1.0], [2.0])


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"weight": [1.0, 0.0, 1.0]}, "weight[1]"),
        ({"size": spoiled(SIZE, 1, -1.0)}, "size[1]"),
        ({"capacity": [1.0]}, "capacity"),
    ],
)
def test_bad_input_is_named(changed: dict[str, Any], where: str) -> None:
    asked: dict[str, Any] = {"throughput": T, "size": SIZE, "capacity": CAPACITY} | changed
    with pytest.raises(InputError) as caught:
        cs.strategy_proof(**asked)
    assert caught.value.where.startswith(where)
