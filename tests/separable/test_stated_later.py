"""Problems that state their rows when somebody asks for them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import walras as wl
from walras.domains import cluster_scheduling as cs
from walras.separable import Separable
from walras.separable.shares import shares_of
from walras.separable.stated_later import StatedLater, stated_later

SPEED = np.random.default_rng(0).uniform(0.5, 2.0, (2, 20_000)).astype(np.float32)
ONES, CAPACITY = np.ones(20_000), np.array([4000.0, 6000.0])
BUILDERS: list[Callable[..., Separable]] = [
    cs.max_min,
    cs.proportional_fairness,
    cs.total_throughput,
]


def is_stated(problem: Separable) -> bool:
    return "rows" in vars(problem)


@pytest.mark.parametrize("build", BUILDERS)
def test_a_solve_states_nothing_and_keeps_the_array(build: Callable[..., Separable]) -> None:
    problem = build(SPEED, ONES, CAPACITY)
    s = wl.solve(problem)
    assert s.status is wl.Status.OPTIMAL
    assert s.x.shape == (2, 20_000)
    assert not is_stated(problem)
    shares = stated_later(problem)
    assert shares is not None
    assert shares.speed is SPEED


@pytest.mark.parametrize("build", BUILDERS)
def test_what_is_stated_is_the_same_problem(build: Callable[..., Separable]) -> None:
    problem = build(SPEED, ONES, CAPACITY)
    shape, entries, scalars = problem.shape, problem.entries, problem.scalars
    plain = build(SPEED.tolist(), ONES, CAPACITY)  # lists are read as ever
    assert type(plain) is Separable
    assert (shape, entries, scalars) == (plain.shape, plain.entries, plain.scalars)
    assert (problem.objective, problem.gap_unit) == (plain.objective, plain.gap_unit)
    assert problem.gap_scale == plain.gap_scale
    np.testing.assert_array_equal(problem.scalar_upper, plain.scalar_upper)
    np.testing.assert_array_equal(problem.rows.matrix.data, plain.rows.matrix.data)
    assert is_stated(problem)
    np.testing.assert_array_equal(problem.demand, plain.demand)


def test_copies_are_of_the_stated_problem() -> None:
    problem = cs.max_min(SPEED, ONES, CAPACITY)
    assert "stated later" in repr(problem)
    for other in (pickle.loads(pickle.dumps(problem)), copy.copy(problem)):
        assert type(other) is Separable
        assert other.entries == problem.entries
    changed = replace(problem, objective="another")
    assert isinstance(changed, StatedLater)
    assert stated_later(changed) is None
    assert (changed.shape, changed.entries) == (problem.shape, problem.entries)
    assert "another" in repr(changed)
    assert shares_of(changed) is not None  # read from its rows
    with pytest.raises(AttributeError, match="no attribute 'unknown'"):
        getattr(problem, "unknown")  # noqa: B009
