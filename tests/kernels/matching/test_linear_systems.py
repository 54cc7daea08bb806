"""Gaussian elimination inside kernels against LAPACK."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from walras.kernels.matching.linear_systems import solve_small


@given(seed=st.integers(0, 100_000), k=st.integers(1, 8))
def test_the_solution_is_that_of_lapack(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    matrix, right = rng.normal(size=(k, k)), rng.normal(size=k)
    matrix[0, 0] = 0.0 if k > 1 else 1.0  # a pivot must be looked for
    wanted, x = np.linalg.solve(matrix, right), right.copy()
    assert solve_small(matrix.copy(), x)
    rounding = np.finfo(float).eps * np.linalg.cond(matrix) * np.abs(wanted).max()
    np.testing.assert_allclose(x, wanted, rtol=0, atol=100 * rounding)


@pytest.mark.parametrize("matrix", [[[0.0]], [[1.0, 2.0], [2.0, 4.0]], [[0.0, 1.0], [0.0, 1.0]]])
def test_a_singular_matrix_is_reported(matrix: list[list[float]]) -> None:
    assert not solve_small(np.array(matrix), np.ones(len(matrix)))
