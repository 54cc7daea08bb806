"""Finish-time fairness against HiGHS, closed forms and finite differences."""

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
from walras.errors import InputError
from walras.status import Status

STEPS = np.array([60.0, 30.0, 40.0])


def _late(seed: int, crowded: float = 4.0) -> tuple[Data, dict[str, Any]]:
    """A crowded instance whose jobs arrived at different times."""
    data, rng = draw(seed), np.random.default_rng(seed)
    n = len(data.size)
    elapsed = rng.uniform(0.0, 100.0, n) * (rng.random(n) < 0.7)
    asked = {"steps": rng.lognormal(3.0, 1.0, n), "elapsed": elapsed, "weight": data.weight}
    asked["isolated"] = elapsed + rng.lognormal(4.0, 1.0, n)
    return Data(
        data.throughput, data.size, data.capacity / crowded, data.weight, data.previous
    ), asked


def _by_bisection(data: Data, asked: dict[str, Any], *rules: Any) -> float:
    """The least ratio r for which HiGHS finds throughputs that reach it, by halving."""
    x = cp.Variable(data.throughput.shape, nonneg=True)
    y = cp.sum(cp.multiply(data.throughput, x), axis=0)
    fits = [x @ data.size <= data.capacity, cp.sum(x, axis=0) <= 1, x[data.throughput == 0] == 0]
    return _least_ratio(asked, y, [*fits, *(rule(x) for rule in rules)])


def _least_ratio(asked: dict[str, Any], y: Any, fits: list[Any]) -> float:
    level, wanted = cp.Variable(), cp.Parameter(len(asked["steps"]), nonneg=True)
    problem = cp.Problem(cp.Maximize(level), [*fits, y >= level * wanted])
    due = asked["isolated"] / asked["weight"]
    low, high = float(np.max(asked["elapsed"] / due)), 1e4
    while high - low > 2e-8 * high:
        middle = 0.5 * (low + high)
        wanted.value = asked["steps"] / (middle * due - asked["elapsed"])
        low, high = (low, middle) if problem.solve(cp.HIGHS) >= 1.0 else (middle, high)
    return high


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_its_definition(seed: int) -> None:
    data, asked = _late(seed)
    found = cs.finish_time_fairness(data.throughput, data.size, data.capacity, **asked)
    assert found.value == pytest.approx(_by_bisection(data, asked), rel=1e-6)
    assert found.status == Status.OPTIMAL
    assert 0.0 <= found.gap <= 1e-6
    judged = cs.evaluate(data.throughput, data.size, data.capacity, found.x)
    assert judged.violation <= 1e-9
    total = asked["elapsed"] + asked["steps"] / judged.throughput
    assert found.ratio == pytest.approx(total * asked["weight"] / asked["isolated"], rel=1e-9)
    assert found.value == found.ratio.max()


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_pairs_share_devices_and_floors_are_kept(seed: int, share: float) -> None:
    data, pairs = drawn(seed)
    rng = np.random.default_rng(seed)
    alone = (data.throughput * cs.equal_share(data.throughput, data.size, data.capacity)).sum(0)
    asked: dict[str, Any] = {
        "steps": rng.lognormal(3.0, 1.0, 8),
        "elapsed": rng.uniform(0.0, 50.0, 8),
    }
    asked |= {"isolated": asked["elapsed"] + asked["steps"] / alone, "weight": data.weight}
    floor = share * alone * (np.arange(8) < 4)
    found = cs.finish_time_fairness(
        data.throughput, data.size, data.capacity, pairs=pairs, floor=floor, **asked
    )
    y, _, rules = stated(data, pairs)
    assert found.value == pytest.approx(_least_ratio(asked, y, [*rules, y >= floor]), rel=1e-6)
    assert found.status == Status.OPTIMAL
    assert found.value <= found.bound * (1.0 + 1e-6)
    without = cs.finish_time_fairness(data.throughput, data.size, data.capacity, **asked)
    assert share or found.value <= without.value * (1.0 + 1e-6)


def test_quotas_bind() -> None:
    data, asked = _late(5)
    quota = cs.Quota({"ann": [0, 1, 2]}, {"ann": 0.2})
    found = cs.finish_time_fairness(data.throughput, data.size, data.capacity, quota=quota, **asked)
    held = lambda x: cp.sum(x, axis=0)[[0, 1, 2]] @ data.size[[0, 1, 2]] <= 0.2  # noqa: E731
    assert found.value == pytest.approx(_by_bisection(data, asked, held), rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_a_price_is_what_one_more_gpu_brings(seed: int) -> None:
    data, asked = _late(seed)

    def value(i: int, more: float) -> float:
        capacity = data.capacity.copy()
        capacity[i] += more
        found = cs.finish_time_fairness(
            data.throughput, data.size, capacity, tolerance=1e-9, **asked
        )
        return found.value

    found = cs.finish_time_fairness(
        data.throughput, data.size, data.capacity, tolerance=1e-9, **asked
    )
    step = 1e-4
    for i, price in enumerate(found.prices):
        less = (value(i, -step) - found.value) / step
        more = (found.value - value(i, step)) / step
        assert more * (1.0 - 1e-2) - 1e-4 <= price <= less * (1.0 + 1e-2) + 1e-4
    assert found.prices.max() > 0.01


def test_equal_jobs_share_equally_and_who_waited_longer_gets_more() -> None:
    found = cs.finish_time_fairness([[1.0, 1.0]], [1, 1], [1], [60, 60])
    assert found.x == pytest.approx(np.array([[0.5, 0.5]]), abs=1e-6)
    found = cs.finish_time_fairness([[1.0, 1.0]], [1, 1], [1], [60, 60], [0, 120], [120, 120])
    assert found.x[0, 1] > 0.6
    # 60 / a = r 120, 120 + 60 / b = r 120, a + b = 1
    a = found.x[0, 0]
    assert 0.5 / a == pytest.approx(1.0 + 0.5 / (1.0 - a), rel=1e-5)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), crowded=st.floats(0.5, 50.0))
def test_value_and_bound_hold_the_optimum_between_them(seed: int, crowded: float) -> None:
    data, asked = _late(seed, crowded)
    found = cs.finish_time_fairness(data.throughput, data.size, data.capacity, **asked)
    other = cs.equal_share(data.throughput, data.size, data.capacity)
    pace = (data.throughput * other).sum(axis=0)
    total = asked["elapsed"] + asked["steps"] / np.maximum(pace, 1e-300)
    assert found.bound <= found.value <= found.bound * (1.0 + 1.1e-6)
    assert found.bound <= np.max(total * asked["weight"] / asked["isolated"])


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"steps": spoiled(STEPS, 1, 0.0)}, "steps[1]"),
        ({"steps": spoiled(STEPS, 1, np.nan)}, "steps[1]"),
        ({"steps": STEPS[:2]}, "steps"),
        ({"elapsed": [0.0, -1.0, 0.0]}, "elapsed[1]"),
        ({"isolated": [1.0, 1.0, 0.0]}, "isolated[2]"),
        ({"isolated": [1.0, np.inf, 1.0]}, "isolated[1]"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"churn": 1.0}, "churn"),
        ({"previous": T}, "previous"),
        ({"weight": [1.0, 0.0, 1.0]}, "weight[1]"),
    ],
)
def test_bad_input_is_named(changed: dict[str, Any], where: str) -> None:
    asked: dict[str, Any] = {"steps": STEPS} | changed
    with pytest.raises(InputError) as caught:
        cs.finish_time_fairness(T, SIZE, CAPACITY, **asked)
    assert caught.value.where.startswith(where)
