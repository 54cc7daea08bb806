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
SIZES = st.one_of(
    st.tuples(st.integers(1, 4), st.integers(1, 6)),
    st.tuples(st.integers(5, 12), st.integers(7, 40)),
)
OBJECTIVES: dict[str, Any] = {
    "max_min": cs.max_min,
    "proportional": cs.proportional_fairness,
    "throughput": cs.total_throughput,
    "leximin": cs.leximin,
    "makespan": lambda T, size, capacity: cs.min_makespan(
        T, size, capacity, steps=100 * T.max(axis=0) / T.sum(axis=0)
    ),
    "alpha 2": lambda *a, **k: cs.alpha_fair(*a, alpha=2.0, **k),
    "alpha 1/2": lambda *a, **k: cs.alpha_fair(*a, alpha=0.5, **k),
}
ACCURACY = 1e-6
LEAST = 1e-3  # of smaller objectives the accuracy is absolute: Clarabel knows no other


def named(kind: object) -> str:
    return kind.name if isinstance(kind, Utility) else str(kind)


def interior(problem: Separable, tolerance: float = 1e-7) -> wl.Solution:
    return wl.solve(problem, engine="interior", tolerance=tolerance, threads=1)


def scale_of(problem: Separable, value: float) -> float:
    return problem.gap_scale or abs(value)


def reached(s: wl.Solution) -> np.ndarray:
    """What an optimum is judged by: its value; of a leximin problem, its levels job by job."""
    of_jobs = [np.full(int(level.frozen.sum()), level.value) for level in s.levels]
    return np.concatenate(of_jobs) if of_jobs else np.array([s.value])


def agree(a: wl.Solution, b: wl.Solution) -> bool:
    near = ACCURACY * scale_of(a.problem, a.value)
    return reached(a) == pytest.approx(reached(b), abs=near, rel=ACCURACY if a.levels else 0.0)


def cluster(seed: int, m: int = 3, n: int = 6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    T = rng.lognormal(0, 1, (m, n))
    return T, rng.choice([1.0, 2.0, 4.0], n), rng.uniform(0.5, 3.0, m)


@pytest.mark.parametrize("kind", KINDS, ids=named)
@settings(max_examples=20)
@given(seed=SEEDS, size=SIZES)
def test_interior_agrees_with_highs_and_clarabel(
    kind: object, seed: int, size: tuple[int, int]
) -> None:
    problem = build(kind, seed, *size)
    s, exact = interior(problem), wl.solve(problem, engine="exact", threads=1)
    assert s.engine == "interior", "it broke down and was replaced"
    assert s.status is wl.Status.OPTIMAL
    for solution in (s, exact):
        found = optimality(problem, solution.entries, solution.scalars, solution.prices.rows)
        near = ACCURACY * max(found.scale, LEAST)
        assert max(found.primal, found.dual) <= 1e-9
        assert found.complementarity * found.scale <= near
        assert found.gap * found.scale <= near
        assert abs(s.value - exact.value) <= near


@pytest.mark.parametrize("name", OBJECTIVES)
@settings(max_examples=8)
@given(seed=SEEDS, unit=st.sampled_from([1e-3, 0.7, 1e3]))
def test_units_do_not_matter(name: str, seed: int, unit: float) -> None:
    """GPUs counted in other units: sizes and capacities scale together."""
    T, size, capacity = cluster(seed)
    plain = interior(OBJECTIVES[name](T, size, capacity))
    other = interior(OBJECTIVES[name](T, unit * size, unit * capacity))
    assert agree(plain, other)


@pytest.mark.parametrize("name", OBJECTIVES)
@settings(max_examples=8)
@given(seed=SEEDS, unit=st.sampled_from([1e-3, 0.7, 1e3]))
def test_the_unit_of_work_only_scales_the_value(name: str, seed: int, unit: float) -> None:
    T, size, capacity = cluster(seed)
    plain = reached(interior(OBJECTIVES[name](T, size, capacity)))
    other = reached(interior(OBJECTIVES[name](unit * T, size, capacity)))
    n = T.shape[1]
    expected = {
        "proportional": plain + n * np.log(unit),
        "alpha 2": plain / unit,
        "alpha 1/2": plain * np.sqrt(unit),
    }.get(name, plain * unit)
    size_of = n if name == "proportional" else np.abs(expected)
    assert np.all(np.abs(other - expected) <= ACCURACY * size_of)


@pytest.mark.parametrize("name", OBJECTIVES)
@settings(max_examples=8)
@given(seed=SEEDS, shuffle=SEEDS)
def test_the_order_of_jobs_and_types_does_not_matter(name: str, seed: int, shuffle: int) -> None:
    T, size, capacity = cluster(seed)
    rng = np.random.default_rng(shuffle)
    rows, columns = rng.permutation(len(T)), rng.permutation(T.shape[1])
    unique = name in ("proportional", "alpha 2", "alpha 1/2")  # throughputs, to the gap's root
    tolerance = 1e-11 if unique else 1e-7
    plain = interior(OBJECTIVES[name](T, size, capacity), tolerance)
    shuffled = OBJECTIVES[name](T[rows][:, columns], size[columns], capacity[rows])
    other = interior(shuffled, tolerance)
    assert agree(plain, other)
    if unique:
        mine = np.sum(T * plain.x, axis=0)[columns]
        assert np.sum(T[rows][:, columns] * other.x, axis=0) == pytest.approx(mine, rel=3e-5)


@pytest.mark.parametrize("name", OBJECTIVES)
@settings(max_examples=8)
@given(seed=SEEDS, more=st.floats(0.01, 2.0))
def test_more_capacity_never_hurts(name: str, seed: int, more: float) -> None:
    T, size, capacity = cluster(seed)
    before = interior(OBJECTIVES[name](T, size, capacity))
    for i in range(len(capacity)):
        grown = capacity.copy()
        grown[i] += more
        s = interior(OBJECTIVES[name](T, size, grown))
        rise = reached(s) - reached(before)
        near = ACCURACY * (scale_of(s.problem, s.value) if not s.levels else reached(s))
        changed = np.flatnonzero(np.abs(rise) > near)  # of leximin the lowest change counts
        assert not len(changed) or rise[changed[0]] > 0


@pytest.mark.parametrize("kind", ["linear", "max-min", Utility.LOG, Utility.QUADRATIC], ids=named)
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
