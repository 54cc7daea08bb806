"""Shares: what is read from a problem's rows, without copies, and what is no such problem."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from walras.domains import cluster_scheduling as cs
from walras.separable import Separable
from walras.separable.shares import shares_of

RNG = np.random.default_rng(0)
SPEED = RNG.uniform(0.5, 2.0, (3, 7))
SIZE, CAPACITY, WEIGHT = RNG.uniform(1.0, 2.0, 7), np.array([2.0, 3.0, 1.0]), RNG.uniform(1, 2, 7)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 2.0])
def test_what_was_stated_is_read_back(alpha: float) -> None:
    found = shares_of(cs.alpha_fair(SPEED, SIZE, CAPACITY, WEIGHT, alpha=alpha))
    assert found is not None
    weight = np.ones(7) if alpha == 0.0 else WEIGHT  # the total has its weights in the speeds
    np.testing.assert_allclose(found.speed * found.weight, SPEED * WEIGHT)
    np.testing.assert_allclose(found.weight, weight)
    np.testing.assert_array_equal(found.size, SIZE.reshape(1, -1))
    np.testing.assert_array_equal(found.capacity, CAPACITY)
    assert found.alpha == alpha


def test_the_least_throughput_and_sizes_by_type() -> None:
    sizes = RNG.uniform(1.0, 2.0, (3, 7))
    found = shares_of(cs.max_min(SPEED, sizes, CAPACITY, WEIGHT))
    assert found is not None
    assert found.is_least
    np.testing.assert_allclose(found.speed, SPEED / WEIGHT)
    np.testing.assert_array_equal(found.size, sizes)


def test_speeds_of_utilities_are_views() -> None:
    problem = cs.proportional_fairness(SPEED, SIZE, CAPACITY)
    found = shares_of(problem)
    assert found is not None
    assert np.shares_memory(found.speed, problem.rows.matrix.data)


@pytest.mark.parametrize(
    "problem",
    [
        cs.proportional_fairness(np.where(SPEED > 0.7, SPEED, 0.0), SIZE, CAPACITY),
        cs.max_min(SPEED, SIZE, CAPACITY, floor=np.full(7, 0.01)),
        cs.max_min(SPEED, SIZE, CAPACITY, previous=np.full((3, 7), 0.1), churn=0.1),
        cs.min_makespan(SPEED, SIZE, CAPACITY, WEIGHT, whole=True),
        replace(cs.max_min(SPEED, SIZE, CAPACITY), quadratic=np.ones(21)),
        replace(cs.total_throughput(SPEED, SIZE, CAPACITY), upper=np.full(21, 0.5)),
    ],
)
def test_what_has_more_than_shares_is_refused(problem: Separable) -> None:
    assert shares_of(problem) is None


def test_a_sample_has_its_part_of_the_capacity() -> None:
    found = shares_of(cs.proportional_fairness(SPEED, SIZE, CAPACITY, WEIGHT))
    assert found is not None
    part = found.sample(np.array([1, 4], dtype=np.int32))
    np.testing.assert_array_equal(part.speed, SPEED[:, [1, 4]])
    np.testing.assert_allclose(part.capacity, CAPACITY * 2 / 7)
    assert (part.demands, part.resources) == (2, 3)
