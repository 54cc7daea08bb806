"""Finish-time fairness against its convex statement in cvxpy, and its bound."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from walras import InputError
from walras.domains.cluster_scheduling import FinishTime, finish_time_fairness


def _case(seed: int, n: int = 10, m: int = 3) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    speed = rng.uniform(0.5, 4.0, (m, n)) * (rng.random((m, n)) < 0.8)
    speed[0] = np.maximum(speed[0], 0.5)
    age = rng.uniform(0, 1e5, n)
    return {
        "throughput": speed,
        "size": rng.choice([1, 2], n),
        "capacity": rng.integers(2, 5, m),
        "steps": rng.uniform(10, 20_000, n),
        "age": age,
        "alone": (age + 1.0) * rng.uniform(0.2, 3.0, n),
    }


def _stated(case: dict[str, Any]) -> float:
    x = cp.Variable(case["throughput"].shape, nonneg=True)
    rate = cp.sum(cp.multiply(case["throughput"], x), axis=0)
    ends = case["age"] + cp.multiply(case["steps"], cp.inv_pos(rate))
    within = [cp.sum(x, axis=0) <= 1, x @ case["size"] <= case["capacity"]]
    worst = cp.max(cp.multiply(1 / case["alone"], ends))
    return float(cp.Problem(cp.Minimize(worst), within).solve(solver="CLARABEL"))


@pytest.mark.parametrize("seed", range(6))
def test_the_largest_ratio_is_the_least(seed: int) -> None:
    case = _case(seed)
    found = finish_time_fairness(**case, tolerance=1e-7)
    assert found.value == pytest.approx(_stated(case), rel=1e-6)
    assert found.gap < 1e-7
    assert found.programs < 10


@given(st.integers(0, 2000), st.booleans())
def test_the_bound_holds_and_meets_the_value(seed: int, spread: bool) -> None:
    case = _case(seed, n=1 + seed % 12)
    found = finish_time_fairness(**case, spread=spread)
    _check(found, case)
    assert found.gap < 1e-4


def test_what_is_left_over_is_spread() -> None:
    """One worker waits for an old job; three new ones share the other types evenly."""
    case: dict[str, Any] = {
        "throughput": [[1.0] * 4, [1.0] * 4],
        "size": [1] * 4,
        "capacity": [1, 1],
    }
    case |= {"steps": [10.0] * 4, "age": [1e4, 0, 0, 0], "alone": [10.0, 100, 100, 100]}
    vertex, spread = (finish_time_fairness(**case, spread=s) for s in (False, True))
    assert spread.value == pytest.approx(vertex.value, rel=1e-4)
    rates = np.sum(spread.x, axis=0)
    assert np.ptp(rates[1:]) < 0.05
    assert np.ptp(np.sum(vertex.x, axis=0)[1:]) >= np.ptp(rates[1:])


def _check(found: FinishTime, case: dict[str, Any]) -> None:
    """The value follows from the shares, and other shares do not pass the bound."""
    assert (found.x >= -1e-9).all()
    assert (found.x.sum(axis=0) <= 1 + 1e-6).all()
    assert (found.x @ case["size"] <= case["capacity"] * (1 + 1e-6)).all()
    rate = (case["throughput"] * found.x).sum(axis=0)
    ratio = (case["age"] + case["steps"] / rate) / case["alone"]
    assert found.ratio == pytest.approx(ratio)
    assert found.value == ratio.max() >= found.bound * (1 - 1e-9)
    best = (case["age"] + case["steps"] / case["throughput"].max(axis=0)) / case["alone"]
    assert found.bound >= best.max() * (1 - 1e-9)


@pytest.mark.parametrize(
    ("name", "bad"),
    [("age", -1.0), ("age", np.nan), ("alone", 0.0), ("steps", 0.0), ("size", 0.0)],
)
def test_bad_numbers_are_named(name: str, bad: float) -> None:
    case = _case(0)
    case[name] = case[name].astype(float)
    case[name][3] = bad
    with pytest.raises(InputError):
        finish_time_fairness(**case)


def test_shapes_are_checked() -> None:
    with pytest.raises(InputError, match="alone"):
        finish_time_fairness(**_case(0) | {"alone": np.ones(3)})
