"""The definitions of the kernels against dense algebra and plain loops."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.kernels.blocks import Blocks

from walras.kernels import reference

SEEDS = st.integers(0, 100_000)


@settings(max_examples=40)
@given(seed=SEEDS)
def test_a_solve_by_parts_is_that_of_the_dense_system(seed: int) -> None:
    """D^-1 x + U'q + N'p = g; U x - Theta q = -beta; N x - p = -right, all blocks at once."""
    b = Blocks(seed)
    theta = b.theta + 0.1
    r, v = reference.orthogonalise(b.ptr, b.local, b.d, theta)
    g, beta = b.rng.normal(size=b.n), b.rng.normal(size=(b.blocks, b.slots))
    right = b.rng.normal(size=b.rows)
    top, free = reference.forward(b.ptr, r, v, b.d, g, beta)
    s = reference.schur(b.ptr, b.d, v, b.narrow) + np.eye(b.rows)
    p = np.linalg.solve(s, b.narrow @ free + right).astype(np.float64)
    x, q = reference.backward(b.ptr, r, v, b.d, g, top, np.asarray(b.narrow.T @ p))
    owner = np.repeat(np.arange(b.blocks), np.diff(b.ptr))
    u = np.zeros((b.blocks, b.slots, b.n))
    u[owner, :, np.arange(b.n)] = b.local.T
    own, narrow = u.reshape(-1, b.n), b.narrow.toarray()
    dense = np.block(
        [
            [np.diag(1.0 / b.d), own.T, narrow.T],
            [own, -np.diag(theta.ravel()), np.zeros((own.shape[0], b.rows))],
            [narrow, np.zeros((b.rows, own.shape[0])), -np.eye(b.rows)],
        ]
    )
    wanted = np.linalg.solve(dense, np.concatenate([g, -beta.ravel(), -right]))
    found = np.concatenate([x, q.ravel(), p])
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6 * np.abs(wanted).max())


def test_the_dearest_entries_of_a_budget_are_wanted_least() -> None:
    """Two rows, one block: at equal benefits the cheaper one; beyond COLD heats nothing."""
    arguments = (
        np.array([0, 2]),
        np.array([0, 1], dtype=np.int32),
        np.zeros(2),
        np.array([1.0, 1.0]),
        np.array([1.0]),
    )
    _, load, fall = reference.wanted(*arguments, np.array([0.2, 0.2]), 0.1)
    assert load == pytest.approx([0.5, 0.5])  # charges below one: halves in full
    assert np.all(fall > 0.0)
    score, load, _ = reference.wanted(*arguments, np.array([0.2, 0.8]), 0.1)
    assert score == pytest.approx([0.2, 0.8])
    assert load == pytest.approx([1.0, 0.0])
    score, load, _ = reference.wanted(*arguments, np.array([4.0, 400.0]), 0.1)
    assert score[0] == pytest.approx(1.0 + np.log(4.0))
    assert load[0] == pytest.approx(0.25)  # what a budget of one pays at a price of four


@settings(max_examples=30)
@given(seed=SEEDS)
def test_the_wants_fall_with_a_price_as_their_derivative_says(seed: int) -> None:
    """One entry of each block in row 0, so that no two of a block change together."""
    rng = np.random.default_rng(seed)
    blocks, width = 4, 3
    ptr = np.arange(0, blocks * width + 1, width)
    row = np.tile(np.array([0, 1, 2], dtype=np.int32), blocks)
    benefit, use = rng.normal(size=blocks * width), rng.lognormal(size=blocks * width)
    given_ = ptr, row, benefit, use, rng.lognormal(size=blocks)
    price = rng.lognormal(size=3)
    charge = use * price[row] / np.repeat(given_[4], width)
    assume(np.all(np.abs(charge - 1.0) > 1e-4))  # where a charge is one the derivative jumps

    def load(change: float) -> float:
        at = price * np.exp([change, 0.0, 0.0])
        return float(reference.wanted(*given_, at, 5.0)[1][0])

    fall = reference.wanted(*given_, price, 5.0)[2][0]
    assert fall == pytest.approx((load(-1e-6) - load(1e-6)) / 2e-6, rel=1e-5, abs=1e-8)


def test_columns_rows_and_rises_by_plain_loops() -> None:
    score = np.array([3.0, 1.0, 1.0, 0.0, 5.0])
    active = np.array([False, False, False, True, False])
    ptr = np.array([0, 0, 4, 5])
    assert reference.cheapest(ptr, score, active, 4.0, 2).tolist() == [1, 2]
    assert reference.cheapest(ptr, score, active, 9.0, 9).tolist() == [0, 1, 2, 4]
    assert reference.cheapest(np.array([0]), np.zeros(0), np.zeros(0, bool), 1.0, 1).size == 0
    matrix = sp.csc_array(np.array([[1.0, -2.0, 0.0], [3.0, 4.0, 0.0], [5.0, 6.0, 0.0]]))
    assert reference.negative_rows(matrix).tolist() == [True, False, False]
    rank = np.array([0, 2, 1], dtype=np.int8)
    row, coefficient = reference.first_rows(matrix.indptr, matrix.indices, matrix.data, rank)
    assert (row.tolist(), coefficient.tolist()) == ([0, 2, -1], [1.0, 6.0, 1.0])
    rise = reference.price_rise(
        np.array([0, 0, 1, -1], dtype=np.int32),
        np.array([2.0, 1.0, 1.0, 1.0]),
        np.array([-4.0, -1.0, -9.0, -9.0]),
        np.array([False, False, True, False]),
        2,
    )
    assert rise.tolist() == [2.0, 0.0]
    count, capped = reference.tallies(
        np.array([0, 0, 2], dtype=np.int32),
        np.array([1, -1, 1, 1], dtype=np.int32),
        np.array([0, 0, 1, 1], dtype=np.int8),
        3,
        2,
    )
    assert (count.tolist(), capped.tolist()) == ([2, 0, 1], [[0, 0], [1, 2], [0, 0]])
    costs = reference.reduced_costs(matrix, np.ones(3), np.array([1.0, 0.0, -1.0]))
    assert costs.tolist() == [-3.0, -7.0, 1.0]
