"""Bounds of single columns: from rows on them, from what pieces can be; who answers for them."""

from __future__ import annotations

from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

import walras as wl
from walras.separable.cvxpy.bounds import (
    Bounds,
    Epigraph,
    SingleRows,
    activity_range,
    epigraph_bounds,
    tightened,
)

INF = np.inf
Floats = npt.NDArray[np.float64]
# (column, a, b, is_equality) of rows a x + b <= 0 or = 0
Single = tuple[int, float, float, bool]


def singles(*given: Single) -> SingleRows:
    column, a, b, equal = zip(*given, strict=True) if given else ((), (), (), ())
    return SingleRows(
        10 + np.arange(len(given)),
        np.array(column, np.int64),
        np.array(a, np.float64),
        np.array(b, np.float64),
        np.array(equal, np.bool_),
    )


def bounds(lower: list[float], upper: list[float], *given: Single) -> Bounds:
    return Bounds.of(np.array(lower, np.float64), np.array(upper, np.float64), singles(*given))


def test_rows_tighten_the_bounds_and_are_remembered() -> None:
    found = bounds(
        [0.0, -INF, 0.0],
        [10.0, INF, 1.0],
        (0, 2.0, -6.0, False),  # 2 x <= 6
        (0, -4.0, 4.0, False),  # -4 x <= -4
        (1, 5.0, 10.0, True),  # 5 x = -10
        (2, 1.0, -7.0, False),  # x <= 7 says nothing new
        (2, -1.0, -7.0, False),  # nor does x >= -7
    )
    assert (found.lower.tolist(), found.upper.tolist()) == ([1.0, -2.0, 0.0], [3.0, -2.0, 1.0])
    assert (found.lower_row.tolist(), found.upper_row.tolist()) == ([1, 2, -1], [0, 2, -1])


def test_a_row_of_a_small_coefficient_bounds_one_end_alone() -> None:
    """0.5 x <= 1 and -0.5 x <= 1: x lies in [-2, 2]."""
    up = bounds([-INF], [INF], (0, 0.5, -1.0, False))
    assert (up.lower.tolist(), up.upper.tolist()) == ([-INF], [2.0])
    down = bounds([-INF], [INF], (0, -0.5, -1.0, False))
    assert (down.lower.tolist(), down.upper.tolist()) == ([-2.0], [INF])


def test_of_rows_that_attain_a_bound_the_first_equality_answers_else_the_first() -> None:
    """At 3 from above: rows 0, 1; at 2 from below: rows 2, 3. An equality comes before them."""
    given = (
        (0, 1.0, -3.0, False),
        (0, 2.0, -6.0, False),
        (0, -1.0, 2.0, False),
        (0, -2.0, 4.0, False),
    )
    found = bounds([0.0], [INF], *given)
    assert (found.upper_row.tolist(), found.lower_row.tolist()) == ([0], [2])
    equal = bounds([0.0], [INF], *given[:2], (0, -1.0, 3.0, True), (0, 1.0, -3.0, True))
    assert (equal.upper_row.tolist(), equal.lower_row.tolist()) == ([2], [2])


def test_given_bounds_are_left_as_they_were() -> None:
    lower, upper = np.zeros(1), np.full(1, 5.0)
    Bounds.of(lower, upper, singles((0, 1.0, -2.0, True)))
    assert (lower.tolist(), upper.tolist()) == ([0.0], [5.0])


@pytest.mark.parametrize(
    ("lower", "upper", "is_crossed"),
    [
        (1.0, 1.0, False),
        (1.0, 2.0, False),
        (2.0, 1.0, True),
        (5e-10, 0.0, False),
        (1e-9, 0.0, False),
        (2e-9, 0.0, True),
        (1e6 + 5e-4, 1e6, False),
        (1e6 + 2e-3, 1e6, True),
        (2e-3, -1e6, True),
        (1e6, -2e-3, True),
        (-1e6, -1e6 - 5e-4, False),
    ],
)
def test_bounds_cross_beyond_a_billionth_of_the_smaller(
    lower: float, upper: float, is_crossed: bool
) -> None:
    found = bounds([0.0, lower], [1.0, upper])
    assert found.crossed().tolist() == [1] * is_crossed
    closed = found.closed()
    assert closed.lower.tolist() == [0.0, lower]
    assert closed.upper.tolist() == [1.0, max(lower, upper)]
    assert closed.singles is found.singles


def corners(matrix: Floats, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Ends of ``matrix x`` over all corners of a box."""
    values = [matrix @ np.array(x) for x in product(*zip(lower, upper, strict=True))]
    return np.min(values, axis=0), np.max(values, axis=0)


def test_activity_lies_between_its_values_at_the_corners() -> None:
    rng = np.random.default_rng(3)
    matrix = np.round(rng.normal(size=(5, 4)), 1) * (rng.uniform(size=(5, 4)) < 0.7)
    lower = np.array([-1.0, 0.0, 2.0, -3.0])
    upper = np.array([1.5, 2.0, 2.0, -1.0])
    low, high = activity_range(sp.csr_array(matrix), lower, upper)
    expected = corners(matrix, lower, upper)
    np.testing.assert_allclose(low, expected[0], atol=1e-12)
    np.testing.assert_allclose(high, expected[1], atol=1e-12)


def test_activity_may_be_endless_but_not_by_a_stored_zero() -> None:
    matrix = sp.csr_array(([1.0, 0.0, -2.0], ([0, 0, 1], [0, 1, 1])), shape=(3, 2))
    low, high = activity_range(matrix, np.array([1.0, 0.0]), np.array([2.0, INF]))
    assert (low.tolist(), high.tolist()) == ([1.0, -INF, 0.0], [2.0, 0.0, 0.0])


def test_rows_of_nonnegative_terms_limit_each_of_them() -> None:
    matrix = sp.csr_array(
        [
            [2.0, 4.0, 0.0, 0.0, 0.0],  # <= 6: x0 <= 3, x1 <= 1.5
            [1.0, 0.0, 1.0, 0.0, 0.0],  # <= 0: both are 0
            [0.0, 0.0, -1.0, 1.0, 0.0],  # a term may be negative: says nothing
            [0.0, 1.0, 0.0, 0.0, 1.0],  # x4 may be negative: says nothing
            [0.0, 0.0, 0.0, 0.25, 0.0],  # <= -1 cannot be met: left to an engine
            [0.0, 0.0, 0.0, 5.0, 0.0],  # has no limit
        ]
    )
    limit = np.array([6.0, 0.0, 1.0, 1.0, -1.0, INF])
    lower = np.array([0.0, 0.0, 0.0, 0.0, -1.0])
    upper = np.array([9.0, 1.0, 9.0, 8.0, 7.0])
    assert tightened(matrix, limit, lower, upper).tolist() == [0.0, 1.0, 0.0, 8.0, 7.0]
    assert upper.tolist() == [9.0, 1.0, 9.0, 8.0, 7.0]
    without = tightened(matrix, np.append(limit[:1], [INF] * 5), lower, np.full(5, INF))
    assert without.tolist() == [3.0, 1.5, INF, INF, INF]


def test_a_stored_zero_neither_limits_nor_spoils_a_row() -> None:
    """0.5 x0 + 0 x1 <= 1: x0 <= 2, whatever x1 is."""
    matrix = sp.csr_array(([0.5, 0.0], ([0, 0], [0, 1])), shape=(1, 2))
    found = tightened(matrix, np.ones(1), np.zeros(2), np.full(2, INF))
    assert found.tolist() == [2.0, INF]


def check_margin(end: float, bound: float, span: float) -> None:
    """The bound lies outside the end by a tenth of the span and a little."""
    assert 0.1 * span < bound - end < 0.1 * span + 0.01


# Rows 1 and 2 of the stack, with u in column 2: 2 x0 + 1 and -x1. Row 0 is the constraint on x0.
PIECES = np.array([[1.0, 0.0, 0.0], [2.0, 0.0, -1.0], [0.0, -1.0, -1.0]])
OFFSET = np.array([-2.0, 1.0, 0.0])


@pytest.mark.parametrize("is_largest", [True, False])
@pytest.mark.parametrize("limited", [True, False])
def test_an_extreme_lies_between_those_of_its_pieces_ends(is_largest: bool, limited: bool) -> None:
    """x0 is in [0, 3], or at most 2 by its row; x1 in [0.5, 4]: pieces in [1, 7], [-4, -0.5]."""
    matrix, offset = PIECES.copy(), OFFSET.copy()
    if not is_largest:
        matrix[1:], offset[1:] = -matrix[1:], -offset[1:]
    given = bounds([0.0, 0.5, -INF], [3.0, 4.0, INF])
    found = epigraph_bounds(
        sp.csr_array(matrix),
        offset,
        np.array([limited, True, True]),
        given,
        [Epigraph(1, 3, 2, 1, is_largest)],
    )
    top = 5.0 if limited else 7.0
    low, high = (1.0, top) if is_largest else (-4.0, -0.5)
    check_margin(-low, -found.lower[2], high - low)
    check_margin(high, found.upper[2], high - low)
    assert found.lower[:2].tolist() == [0.0, 0.5]
    assert found.upper[:2].tolist() == [3.0, 4.0]
    assert (given.lower[2], given.upper[2]) == (-INF, INF)


@pytest.mark.parametrize(
    ("x", "low", "high"),
    [
        ((-5.0, INF), 5.0, None),
        ((0.5, INF), 1.0, None),
        ((-INF, 7.0), None, 1.0),
        ((-INF, INF), None, None),
    ],
)
def test_an_endless_piece_leaves_one_end_open(
    x: tuple[float, float], low: float | None, high: float | None
) -> None:
    """The other end moves by a tenth of its own size, of 1 at least."""
    matrix = sp.csr_array([[1.0, -1.0]])
    given = bounds([x[0], -INF], [x[1], INF])
    found = epigraph_bounds(
        matrix, np.zeros(1), np.ones(1, bool), given, [Epigraph(0, 1, 1, 1, is_largest=True)]
    )
    if low is None:
        assert found.lower[1] == -INF
    else:
        check_margin(-x[0], -found.lower[1], low)
    if high is None:
        assert found.upper[1] == INF
    else:
        check_margin(x[1], found.upper[1], high)


def test_each_element_of_an_extreme_has_its_own_ends_and_its_stated_ones_stay() -> None:
    """u0 = x0 in [0, 10], u1 = x1 in [20, 30]; u1 is declared to lie in [22, 23]."""
    matrix = sp.csr_array([[1.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, -1.0]])
    given = bounds([0.0, 20.0, -INF, 22.0], [10.0, 30.0, INF, 23.0])
    found = epigraph_bounds(
        matrix, np.zeros(2), np.ones(2, bool), given, [Epigraph(0, 2, 2, 2, is_largest=True)]
    )
    check_margin(0.0, -found.lower[2], 10.0)
    check_margin(10.0, found.upper[2], 10.0)
    assert (found.lower[3], found.upper[3]) == (22.0, 23.0)


@pytest.mark.parametrize("is_largest", [True, False])
def test_an_outer_extreme_knows_the_ends_of_an_inner_one(is_largest: bool) -> None:
    """v = max(x, 0), x in [-1, 2], so v in [0, 2] and a little; u is an extreme of v and 1 - v."""
    sign = 1.0 if is_largest else -1.0
    matrix = np.array([[1.0, -1.0, 0.0], [0.0, -1.0, 0.0], [0.0, sign, -sign], [0.0, -sign, -sign]])
    offset = np.array([0.0, 0.0, 0.0, sign])
    inner, outer = Epigraph(0, 2, 1, 1, is_largest=True), Epigraph(2, 4, 2, 1, is_largest)
    given = bounds([-1.0, -INF, -INF], [2.0, INF, INF])
    found = epigraph_bounds(sp.csr_array(matrix), offset, np.ones(4, bool), given, [inner, outer])
    v = found.lower[1], found.upper[1]
    check_margin(0.0, -v[0], 2.0)
    check_margin(2.0, v[1], 2.0)
    extreme = max if is_largest else min
    low, high = extreme(v[0], 1 - v[1]), extreme(v[1], 1 - v[0])
    check_margin(-low, -found.lower[2], high - low)
    check_margin(high, found.upper[2], high - low)


def test_rows_that_contradict_bounds_leave_no_empty_interval() -> None:
    """x >= 3 beside x <= 2: u = x is bounded as though x were 3."""
    matrix = sp.csr_array(np.array([[1.0, 0.0], [1.0, -1.0]]))
    given = bounds([3.0, -INF], [8.0, INF])
    found = epigraph_bounds(
        matrix,
        np.array([-2.0, 0.0]),
        np.ones(2, bool),
        given,
        [Epigraph(1, 2, 1, 1, is_largest=True)],
    )
    assert found.lower[1] < 3.0 < found.upper[1] < 3.1


@pytest.mark.parametrize("is_largest", [True, False])
def test_pieces_that_contradict_the_stated_end_of_their_extreme_leave_no_empty_interval(
    is_largest: bool,
) -> None:
    """A piece of 4 beside a largest one of at most 3, and turned round."""
    sign = 1.0 if is_largest else -1.0
    matrix = sp.csr_array(np.array([[2.0, -1.0]]) * sign)
    ends = ([1.0, -INF], [1.0, 3.0]) if is_largest else ([1.0, 5.0], [1.0, INF])
    offset = np.array([2.0 * sign])
    found = epigraph_bounds(
        matrix, offset, np.zeros(1, bool), bounds(*ends), [Epigraph(0, 1, 1, 1, is_largest)]
    )
    assert found.lower[1] == found.upper[1] == (3.0 if is_largest else 5.0)


@pytest.mark.parametrize("row", [cp.norm1, lambda e: cp.sum(cp.maximum(e, -e))])
def test_an_extreme_that_its_pieces_exceed_is_infeasible(row: Any) -> None:
    x = cp.Variable(1, nonneg=True)
    rows = [x == 1, row(2 * x + 2) <= 3]
    with pytest.raises(wl.InfeasibleError, match=r"raise .* by 1$"):
        wl.solve(cp.Problem(cp.Minimize(cp.sum(cp.abs(x - 7))), rows))
