"""Few prices: the optimum of Clarabel and HiGHS, ties, ceilings, starts and limits."""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import walras as wl
from walras.domains import cluster_scheduling as cs
from walras.engines.prices import Prices
from walras.errors import EngineError
from walras.separable import Separable
from walras.types import Floats

OBJECTIVES: dict[str, Callable[..., Separable]] = {
    "pf": cs.proportional_fairness,
    "alpha-2": lambda *a, **k: cs.alpha_fair(*a, alpha=2.0, **k),
    "alpha-0.5": lambda *a, **k: cs.alpha_fair(*a, alpha=0.5, **k),
    "total": cs.total_throughput,
    "max-min": cs.max_min,
}


def instance(seed: int, count: int, part: float, m: int = 3) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 4, count).astype(float)
    capacity = part * size.sum() * rng.uniform(0.2, 1.0, m)
    return rng.uniform(0.1, 1.0, (m, count)), size, capacity


def by_cvxpy(name: str, speed: Floats, size: Floats, capacity: Floats, weight: Floats) -> float:
    """The optimum by cvxpy: HiGHS for linear objectives, Clarabel for the others."""
    x = cp.Variable(speed.shape, nonneg=True)
    y = cp.sum(cp.multiply(speed, x), axis=0)
    objective = {
        "pf": lambda: weight @ cp.log(y),
        "alpha-2": lambda: -weight @ cp.inv_pos(y),
        "alpha-0.5": lambda: 2.0 * (weight @ cp.sqrt(y)),
        "total": lambda: weight @ y,
        "max-min": lambda: cp.min(cp.multiply(y, 1.0 / weight)),
    }[name]()
    rows = [cp.sum(x, axis=0) <= 1, x @ size <= capacity]
    solver = cp.HIGHS if name in ("total", "max-min") else cp.CLARABEL
    return float(cp.Problem(cp.Maximize(objective), rows).solve(solver=solver))


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("part", [0.05, 0.4, 3.0])
def test_the_optimum_of_other_solvers(name: str, part: float) -> None:
    speed, size, capacity = instance(1, 400, part)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, 400)
    s = wl.solve(OBJECTIVES[name](speed, size, capacity, weight), engine="prices")
    assert s.status is wl.Status.OPTIMAL
    # Of few jobs hardly any hesitate at the best prices of a linear problem, which may stall it.
    assert s.engine == "prices" or name == "max-min"
    assert s.value == pytest.approx(by_cvxpy(name, speed, size, capacity, weight), rel=3e-6)


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.sampled_from(sorted(OBJECTIVES)), st.integers(1, 3))
def test_few_classes_of_equal_jobs_share_ties(seed: int, name: str, classes: int) -> None:
    """Every job of a class is alike, so that whole classes hesitate at the best prices."""
    rng = np.random.default_rng(seed)
    speed = np.repeat(rng.integers(1, 4, (2, classes)), 30, axis=1).astype(float)
    capacity = rng.integers(1, 40, 2).astype(float)
    s = wl.solve(OBJECTIVES[name](speed, np.ones(30 * classes), capacity), engine="prices")
    assert s.certificate.violation <= 1e-9
    assert s.gap <= (1e-3 if name == "max-min" else 1e-5)


def test_equal_types_have_equal_prices() -> None:
    speed = np.tile(np.random.default_rng(0).uniform(0.5, 1.0, 300), (2, 1))
    s = wl.solve(cs.proportional_fairness(speed, np.ones(300), [60.0, 90.0]), engine="prices")
    assert s.status is wl.Status.OPTIMAL
    assert s.prices["capacity"][0] == pytest.approx(s.prices["capacity"][1], rel=1e-2)


def test_auto_takes_it_where_jobs_are_many_and_starts_from_known_prices() -> None:
    speed, size, capacity = instance(3, 30_000, 0.4)
    problem = cs.proportional_fairness(speed.astype(np.float32), size, capacity)
    first = wl.solve(problem)
    assert (first.engine, first.status) == ("prices", wl.Status.OPTIMAL)
    again = wl.solve(problem, start=first)
    assert again.gap <= 1e-6
    assert len(again.history) <= 2
    assert (
        wl.solve(cs.proportional_fairness(speed[:, :300], size[:300], capacity)).engine != "prices"
    )


@pytest.mark.parametrize("name", ["max-min", "total"])
def test_a_sample_starts_the_whole(name: str) -> None:
    speed, size, capacity = instance(4, 6000, 0.2)
    engine = Prices(sample=1000)
    s = wl.solve(OBJECTIVES[name](speed, size, capacity), engine=engine)
    assert s.status is wl.Status.OPTIMAL


def test_a_tighter_tolerance_takes_a_smaller_penalty() -> None:
    speed, size, capacity = instance(5, 500, 0.3)
    problem = cs.proportional_fairness(speed, size, capacity)
    s = wl.solve(problem, engine="prices", tolerance=1e-9)
    assert s.gap <= 1e-9


def test_a_limit_and_a_hook_end_it_with_an_allocation() -> None:
    problem = cs.proportional_fairness(*instance(6, 500, 0.3))
    ended = wl.solve(problem, engine="prices", time_limit=0.0)
    assert ended.certificate.feasible
    assert np.isfinite(ended.gap)
    stopped = wl.solve(problem, engine="prices", on_progress=lambda step: True)
    assert stopped.status in (wl.Status.INTERRUPTED, wl.Status.OPTIMAL)


def test_other_problems_are_refused() -> None:
    speed, size, capacity = instance(7, 20, 0.3)
    with pytest.raises(EngineError, match="shares alone"):
        wl.solve(cs.max_min(speed, size, capacity, floor=np.full(20, 1e-3)), engine="prices")
    wide, size, capacity = instance(7, 20, 0.3, m=65)
    assert "65 resources" in str(Prices().accepts(cs.max_min(wide, size, capacity)))


def test_equal_jobs_end_in_a_step_a_penalty() -> None:
    """All jobs hesitate; their best prices move in proportion to the penalty."""
    speed = np.tile([[5.0], [4.0]], (1, 3000))
    s = wl.solve(cs.total_throughput(speed, np.ones(3000), [300.0, 200.0]), engine="prices")
    assert (s.engine, s.status) == ("prices", wl.Status.OPTIMAL)
    assert s.value == pytest.approx(5.0 * 300 + 4.0 * 200, rel=1e-6)
    assert len(s.history) <= 40
