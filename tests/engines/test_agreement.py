"""What engines must agree on, and what must not change an optimum: units, order, capacity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bank.optimality import optimality
from tests.bank.random_problems import KINDS, build

import walras as wl
from walras.domains import cluster_scheduling as cs
from walras.separable import Separable, Utility

SEEDS = st.integers(0, 10_000)
SIZES = st.tuples(st.integers(1, 4), st.integers(1, 6))
OBJECTIVES: dict[str, Any] = {
    "max_min": cs.max_min, "proportional": cs.proportional_fairness,
    "throughput": cs.total_throughput,
    "alpha 2": lambda *a, **k: cs.alpha_fair(*a, alpha=2.0, **k),
    "alpha 1/2": lambda *a, **k: cs.alpha_fair(*a, alpha=0.5, **k),
}  # fmt: skip
ACCURACY = 1e-6


def interior(problem: Separable, tolerance: float = 1e-7) -> wl.Solution:
    return wl.solve(problem, engine="interior", tolerance=tolerance, threads=1)


def scale_of(problem: Separable, value: float) -> float:
    return problem.gap_scale or max(abs(value), 1.0)


def cluster(seed: int, m: int = 3, n: int = 6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    T = rng.lognormal(0, 1, (m, n))
    return T, rng.choice([1.0, 2.0, 4.0], n), rng.uniform(0.5, 3.0, m)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@settings(max_examples=20)
@given(seed=SEEDS, size=SIZES)
def test_interior_agrees_with_highs_and_clarabel(
    kind: object, seed: int, size: tuple[int, int]
) -> None:
    problem = build(kind, seed, *size)
    s, exact = interior(problem), wl.solve(problem, engine="exact", tolerance=1e-7, threads=1)
    assert s.engine == "interior", "it broke down and was replaced"
    assert s.status is wl.Status.OPTIMAL
    # Clarabel's own accuracy is 1e-8 of its terms: a small value it may only find inaccurately.
    assert exact.status in (wl.Status.OPTIMAL, wl.Status.INACCURATE)
    assert abs(s.value - exact.value) <= ACCURACY * scale_of(problem, exact.value)
    found = optimality(problem, s.entries, s.scalars, s.prices.rows)
    assert max(found.primal, found.dual) <= 1e-9
    assert found.complementarity <= 1e-3


@pytest.mark.parametrize("name", OBJECTIVES)
@settings(max_examples=8)
@given(seed=SEEDS, unit=st.sampled_from([1e-3, 0.7, 1e3]))
def test_units_do_not_matter(name: str, seed: int, unit: float) -> None:
    """GPUs counted in other units: sizes and capacities scale together."""
    T, size, capacity = cluster(seed)
    plain = interior(OBJECTIVES[name](T, size, capacity))
    other = interior(OBJECTIVES[name](T, unit * size, unit * capacity))
    scale = scale_of(plain.problem, plain.value)
    assert other.value == pytest.approx(plain.value, abs=ACCURACY * scale)


@pytest.mark.parametrize("name", OBJECTIVES)
@settings(max_examples=8)
@given(seed=SEEDS, unit=st.sampled_from([1e-3, 0.7, 1e3]))
def test_the_unit_of_work_only_scales_the_value(name: str, seed: int, unit: float) -> None:
    T, size, capacity = cluster(seed)
    plain = interior(OBJECTIVES[name](T, size, capacity)).value
    other = interior(OBJECTIVES[name](unit * T, size, capacity)).value
    n = T.shape[1]
    expected = {
        "max_min": plain * unit, "throughput": plain * unit,
        "proportional": plain + n * np.log(unit),
        "alpha 2": plain / unit, "alpha 1/2": plain * np.sqrt(unit),
    }[name]  # fmt: skip
    size_of = n if name == "proportional" else abs(expected)
    assert other == pytest.approx(expected, abs=ACCURACY * size_of)


@pytest.mark.parametrize("name", OBJECTIVES)
@settings(max_examples=8)
@given(seed=SEEDS, shuffle=SEEDS)
def test_the_order_of_jobs_and_types_does_not_matter(name: str, seed: int, shuffle: int) -> None:
    T, size, capacity = cluster(seed)
    rng = np.random.default_rng(shuffle)
    rows, columns = rng.permutation(len(T)), rng.permutation(T.shape[1])
    plain = interior(OBJECTIVES[name](T, size, capacity))
    other = interior(OBJECTIVES[name](T[rows][:, columns], size[columns], capacity[rows]))
    scale = scale_of(plain.problem, plain.value)
    assert other.value == pytest.approx(plain.value, abs=ACCURACY * scale)
    if name in ("proportional", "alpha 2"):  # throughputs are unique
        mine = np.sum(T * plain.x, axis=0)[columns]
        assert np.sum(T[rows][:, columns] * other.x, axis=0) == pytest.approx(mine, rel=1e-2)


@pytest.mark.parametrize("name", OBJECTIVES)
@settings(max_examples=8)
@given(seed=SEEDS, more=st.floats(0.01, 2.0))
def test_more_capacity_never_hurts(name: str, seed: int, more: float) -> None:
    T, size, capacity = cluster(seed)
    value = interior(OBJECTIVES[name](T, size, capacity)).value
    for i in range(len(capacity)):
        grown = capacity.copy()
        grown[i] += more
        s = interior(OBJECTIVES[name](T, size, grown))
        assert s.value >= value - ACCURACY * scale_of(s.problem, value)


@pytest.mark.parametrize("kind", ["linear", "max-min", Utility.LOG, Utility.QUADRATIC], ids=str)
def test_the_same_threads_give_the_same_bits(kind: object) -> None:
    problem = build(kind, 5, 4, 6)
    for threads in (1, 2):
        first, again = (
            wl.solve(replace(problem), engine="interior", threads=threads) for _ in range(2)
        )
        assert np.array_equal(first.entries, again.entries)
        assert np.array_equal(first.prices.rows, again.prices.rows)
        assert first.bound == again.bound


def test_the_same_threads_give_the_same_bits_with_column_generation() -> None:
    problem = cs.max_min(*cluster(3, m=60, n=500))
    for threads in (1, 2):
        first, again = (
            wl.solve(replace(problem), engine="interior", threads=threads) for _ in range(2)
        )
        assert first.status is wl.Status.OPTIMAL
        assert np.array_equal(first.entries, again.entries)
        assert np.array_equal(first.prices.rows, again.prices.rows)
