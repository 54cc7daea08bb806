"""Small Cholesky solves with prices that are fixed or depend on the others."""

from __future__ import annotations

import numpy as np
import pytest

from walras.kernels.block_prox.dense import factored, solved
from walras.kernels.parallel import jit
from walras.types import Bools, Floats


@jit
def _solve(h: Floats, free: Bools, g: Floats, c: Floats, x: Floats) -> bool:
    regular = factored(h, free, c)
    solved(c, g, x)
    return bool(regular)


def solution(h: np.ndarray, free: np.ndarray, g: np.ndarray) -> tuple[bool, np.ndarray]:
    c, x = np.zeros_like(h), np.full(len(g), np.nan)
    return _solve(h, free, g, c, x), x


@pytest.mark.parametrize("seed", range(5))
def test_the_free_part_is_solved_and_the_rest_stays(seed: int) -> None:
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(4, 6))
    h, g, free = half @ half.T, rng.normal(size=4), rng.random(4) < 0.7
    regular, x = solution(h, free, g)
    expected = np.zeros(4)
    expected[free] = np.linalg.solve(h[np.ix_(free, free)], g[free])
    assert regular
    np.testing.assert_allclose(x, expected, rtol=1e-9, atol=1e-12)


def test_a_price_that_depends_on_an_earlier_one_stays() -> None:
    row = np.array([1.0, 2.0, 3.0])
    h = np.array([row, 2.0 * row]) @ np.array([row, 2.0 * row]).T
    regular, x = solution(h, np.ones(2, bool), np.array([28.0, 56.0]))
    assert not regular
    assert x.tolist() == [2.0, 0.0]


def test_a_row_of_nothing_is_singular_if_it_is_free() -> None:
    h = np.diag([0.0, 4.0])
    assert solution(h, np.array([True, True]), np.ones(2))[0] is False
    regular, x = solution(h, np.array([False, True]), np.ones(2))
    assert (regular, x.tolist()) == (True, [0.0, 0.25])
