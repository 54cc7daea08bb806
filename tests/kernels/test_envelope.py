"""Bordered normal equations against the dense system."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from walras.kernels.envelope import BorderedNormal, BoundedNewton


@given(st.integers(0, 10_000))
def test_the_solution_is_that_of_the_dense_system(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(1, 9)), int(rng.integers(1, 12))
    a = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.4)
    d, e, border = rng.random(columns), 0.1 + rng.random(rows), 0.1 + rng.random(rows)
    system = BorderedNormal(sp.csc_array(a))
    right = rng.normal(size=rows + 1)
    for corner in (0.0, rng.random()):  # it can be factorised again
        last = np.array([-corner])
        dense = np.block([[(a * d) @ a.T + np.diag(e), border[:, None]], [border, last]])
        system.factorise(d, e, border, corner)
        assert system.solve(right) == pytest.approx(np.linalg.solve(dense, right), rel=1e-8)


def test_entries_that_are_there_twice_count_twice() -> None:
    twice = sp.csc_array((np.ones(3), np.array([0, 0, 1]), np.array([0, 3])), shape=(2, 1))
    once = sp.csc_array(np.array([[2.0], [1.0]]))
    right, border = np.array([1.0, -2.0, 3.0]), np.array([1.0, 0.0])
    found = []
    for matrix in (twice, once):
        system = BorderedNormal(matrix)
        system.factorise(np.array([3.0]), np.array([0.5, 0.25]), border)
        found.append(system.solve(right))
    assert found[0] == pytest.approx(found[1])


def test_an_arrow_fills_nothing() -> None:
    """Rows that share columns with the last one alone: its factor has no more entries."""
    n = 50
    arrow = sp.csc_array(np.vstack([np.eye(n), np.ones(n)]))
    system = BorderedNormal(arrow)
    system.factorise(np.ones(n), np.ones(n + 1), np.append(np.ones(n), 0.0))
    assert len(system._factor) == n + (n + 1) + (n + 2)


def test_a_pivot_lost_in_rounding_leaves_a_solution() -> None:
    """Two equal rows with hardly any slack: the system is singular to working precision."""
    equal = sp.csc_array(np.ones((2, 1)))
    system = BorderedNormal(equal)
    system.factorise(np.array([1e9]), np.array([1e-9, 1e-9]), np.array([1.0, 0.0]))
    found = system.solve(np.array([1.0, 1.0, 1.0]))
    assert np.isfinite(found).all()
    assert found[0] == pytest.approx(1.0)


@given(st.integers(0, 10_000))
def test_steps_of_bounded_columns_are_those_of_the_dense_system(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(1, 6)), int(rng.integers(1, 8))
    shape, entries = (rows, columns), 2 * columns  # some twice in one place
    row, column = rng.integers(0, rows, entries), np.repeat(np.arange(columns), 2)
    data = rng.normal(size=entries)
    matrix = sp.csc_array((data, row, np.arange(0, entries + 1, 2)), shape=shape)
    a, border = np.zeros(shape), 0.1 + rng.random(rows)
    np.add.at(a, (row, column), data)
    bounds, h = 0.5 + rng.random(columns), 0.1 + rng.random(rows + columns)
    system = BoundedNewton(matrix, border, bounds)
    system.factorise(h)
    below = np.vstack(
        [np.column_stack([a, border]), np.diag(-bounds, k=0) @ np.eye(columns, columns + 1)]
    )
    dense = np.block([[np.zeros((columns + 1, columns + 1)), below.T], [below, -np.diag(h)]])
    p, r = rng.normal(size=columns + 1), rng.normal(size=rows + columns)
    wanted = np.linalg.solve(dense, np.append(p, r))
    assert np.concatenate(system.solve(p, r)) == pytest.approx(wanted, rel=1e-7, abs=1e-9)
