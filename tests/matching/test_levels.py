"""Small rounds a level at a time: the same answers as the kernel's and as counting out."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.matching.rounds import batch, enumerate_best, one

from walras.kernels.matching.rounds import HARD, solve_rounds
from walras.matching import levels, match, match_rounds
from walras.matching.exact import Arrays, no_higher
from walras.matching.levels import by_levels
from walras.matching.speedup import Decay, Speedup, zeta_table
from walras.types import Floats, Ints

FLOOR = 0.8


def _cost(given: Arrays, x: Ints) -> float:
    """F of a placement, from its definition."""
    n, m = given.t.shape[1:]
    tasks = np.arange(n)
    load = np.bincount(x, given.t[0, tasks, x], m)
    ends = given.zeta[np.arange(m), np.bincount(x, minlength=m)] * load
    missing = float(given.goal[0]) - float(given.a[0, tasks, x].sum())
    return float(ends.max() + given.price[0] * max(missing, 0.0))


def _both(given: Arrays, limit: int = 10**6) -> tuple[float, float] | None:
    """What the placements of the levels and of the kernel cost."""
    found = by_levels(
        given.t[0], given.a[0], given.zeta, float(given.goal[0]), float(given.price[0]), limit
    )
    if found is None:
        return None
    x, bound = found
    ours = _cost(given, x)
    assert bound == pytest.approx(ours, rel=1e-11)
    assert bound <= ours
    kernel = solve_rounds(given.t, given.a, given.zeta, given.goal, given.price, 0.0, 10**7)
    return ours, float(kernel.value[0])


@given(
    st.integers(1, 5),
    st.integers(1, 9),
    st.integers(0, 2**31),
    st.sampled_from([None, 0.3, 5.0]),
    st.sampled_from([None, Decay(), Decay(rate=0.3), [1.0, 0.8, 0.9], [1.0, 1.3]]),
    st.sampled_from(["spread", "whole", "equal", "barred"]),
)
@settings(max_examples=150, deadline=None)
def test_the_same_value_as_the_kernel(
    m: int, n: int, seed: int, price: float | None, speedup: Speedup | None, kind: str
) -> None:
    rng = np.random.default_rng(seed)
    times, success = one(seed, m, n)
    if kind == "whole":  # many placements cost the same
        times, success = rng.integers(1, 4, (m, n)).astype(float), np.full((m, n), 0.9)
    elif kind == "equal":
        times, success = times[:, :1].repeat(n, axis=1), success[:, :1].repeat(n, axis=1)
    elif kind == "barred":
        barred = rng.random((m, n)) < 0.4
        barred[rng.integers(0, m, n), np.arange(n)] = False
        times[barred] = np.inf
    floor = FLOOR if price is not None else 0.97 * _safest(times, success)
    given = Arrays.of(
        times[None],
        success[None],
        zeta_table(speedup, m, n),
        np.array([floor]),
        None if price is None else np.array([price]),
    )
    both = _both(given)
    assert both is not None
    assert both[0] == pytest.approx(both[1], rel=1e-11)


def _safest(times: Floats, success: Floats) -> float:
    return float(np.where(np.isfinite(times), success, 0.0).max(axis=0).mean())


@pytest.mark.parametrize(("m", "n"), [(2, 60), (3, 16), (5, 20), (12, 8)])
def test_larger_rounds_of_the_kernels_value_or_none(m: int, n: int) -> None:
    solved = 0
    for times, success in zip(*batch(5, 5, m, n), strict=True):
        given = Arrays.of(
            times[None], success[None], np.ones((m, n + 1)), np.array([FLOOR]), np.array([4.0])
        )
        both = _both(given)
        if both is not None:
            solved += 1
            assert both[0] == pytest.approx(both[1], rel=1e-11)
    assert solved >= 3


def test_too_many_branches_are_left_to_the_kernel() -> None:
    times, success = one(4, 8, 14)
    given = Arrays.of(
        times[None], success[None], np.ones((8, 15)), np.array([0.9]), np.array([3.0])
    )
    assert _both(given, limit=10) is None
    plan = match(times, success, 0.9, shortfall_price=3.0)
    exact = _both(given)
    assert exact is not None
    assert plan.value == pytest.approx(exact[0], rel=1e-6)


def test_of_equal_placements_that_are_seen_the_one_of_least_time_in_all() -> None:
    times = np.array([[4.0, 3.0], [9.0, 1.0], [9.0, 2.0]])
    plan = match(times, np.ones((3, 2)))
    assert (plan.makespan, plan.assignment.tolist()) == (4.0, [0, 1])


def test_a_hard_floor_is_met() -> None:
    for seed in range(5):
        times, success = one(seed, 3, 6)
        floor = 0.99 * _safest(times, success)
        plan = match(times, success, floor)
        assert plan.mean_success >= floor - 1e-9
        assert plan.makespan == pytest.approx(enumerate_best(times, success, floor), rel=1e-12)


def test_no_kernel_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules[match.__module__]  # the package exports a function of the same name
    monkeypatch.setattr(module, "solve_rounds", None)
    times, success = one(3, 3, 12)
    assert match(times, success, FLOOR).status == "optimal"
    with pytest.raises(TypeError, match="not callable"):
        match(*one(3, 8, 24), FLOOR)


def test_the_price_of_a_hard_floor_overflows_nothing() -> None:
    t, a = np.full((1, 2, 2), 1e100), np.zeros((1, 2, 2))
    found = by_levels(t[0], a[0], np.ones((2, 3)), 2.0, HARD, levels.PAIRS)
    assert found is not None
    assert np.isfinite(found[1])


@pytest.mark.parametrize("price", [None, 1e50])
def test_chances_that_are_just_enough_cost_nothing(price: float | None) -> None:
    """Their sum is a rounding below that of the floor."""
    times, enough = np.random.default_rng(0).uniform(1, 9, (3, 8)), 0.799999999
    floor = 0.8 if price is None else enough
    best = enumerate_best(times, np.ones((3, 8)), 0.0)
    plan = match(times, np.full((3, 8), enough), floor, shortfall_price=price)
    assert plan.makespan == pytest.approx(best, rel=1e-12)
    both = np.stack([times, times + 1.0])
    found = match_rounds(both, np.full((2, 3, 8), enough), floor, shortfall_price=price)
    assert found.objective[0] == pytest.approx(best, rel=1e-12)
    assert found.feasible.all()


def test_a_bound_above_the_objective_proves_nothing() -> None:
    feasible = np.array([True, True, False])
    known = no_higher(np.array([2.0, 3.0, 9.0]), np.array([2.0, 2.0, 2.0]), feasible)
    assert known.tolist() == [2.0, 0.0, 2.0]
