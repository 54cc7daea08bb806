"""Separable: what it accepts, and that each refusal says what, where and what to do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.bank.statement import Entry, Row, Scalar, state

import walras as wl
from walras.separable import Leximin, Separable, Side


def problem() -> Separable:
    return state(
        [Entry(0, 0, -1.0), Entry(1, 0, -2.0), Entry(0, 1, -3.0), Entry(-1, -1, 1.0)],
        [
            Row("capacity[fast]", {0: 1.0, 2: 2.0}, upper=3.0),
            Row("time[a]", {0: 1.0, 1: 1.0}, upper=1.0),
            Row("level[a]", {0: -1.0, 1: -2.0}, upper=0.0, scalars={0: 1.0}),
        ],
        [Scalar(-1.0, 0.0, 5.0)],
        maximize=True,
    )


def test_shape_and_counts() -> None:
    p = problem()
    assert (p.entries, p.scalars, p.shape, p.rows.count) == (4, 1, (2, 2), 3)
    assert list(p.rows.side) == [Side.RESOURCE, Side.DEMAND, Side.DEMAND]
    assert list(p.rows.is_utility) == [False, False, False]


def test_coefficients_of_zero_are_not_kept() -> None:
    """They would count as uses: of rows that limit an entry, and of those that price it."""
    p = problem()
    row, column = np.indices(p.rows.matrix.shape).reshape(2, -1)
    values = p.rows.matrix.toarray()[row, column]
    stored = sp.csc_array((values, (row, column)), shape=p.rows.matrix.shape)
    rows = replace(p.rows, matrix=stored)
    assert rows.matrix.nnz == p.rows.matrix.nnz < stored.nnz == values.size
    assert np.array_equal(rows.matrix.toarray(), p.rows.matrix.toarray())
    assert rows.matrix is not stored
    assert replace(p.rows).matrix is p.rows.matrix


def test_dense_sums_entries_of_a_pair_and_leaves_ownerless_ones_out() -> None:
    p = problem()
    assert p.dense(np.array([1.0, 2.0, 3.0, 9.0])).tolist() == [[1.0, 3.0], [2.0, 0.0]]
    twice = replace(p, resource=np.array([0, 0, 0, -1], np.int32))
    assert twice.dense(np.array([1.0, 2.0, 3.0, 9.0])).tolist() == [[3.0, 3.0], [0.0, 0.0]]


def test_reported_turns_the_sign_of_a_maximisation() -> None:
    p = problem()
    assert p.reported(-4.0) == 4.0
    assert replace(p, maximize=False).reported(-4.0) == -4.0


def test_indices_are_of_32_bits_as_kernels_expect() -> None:
    p = problem()
    matrix: Any = p.rows.matrix.copy()
    matrix.indices, matrix.indptr = (k.astype(np.int64) for k in (matrix.indices, matrix.indptr))
    held = replace(p, rows=replace(p.rows, matrix=matrix)).rows.matrix
    assert {str(k.dtype) for k in (held.indices, held.indptr)} == {"int32"}
    assert held.toarray().tolist() == p.rows.matrix.toarray().tolist()
    assert str(matrix.indices.dtype) == "int64", "the caller's own matrix was changed"


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"cost": np.array([1.0, np.nan, 0.0, 0.0])}, r"cost\[1\]: is NaN"),
        ({"cost": np.zeros(3)}, "resource: has shape"),
        ({"quadratic": np.array([0.0, 0.0, -1.0, 0.0])}, r"quadratic\[2\]: is -1"),
        (
            {"lower": np.array([0.0, 7.0, 0.0, 0.0]), "upper": np.full(4, 6.0)},
            r"lower\[1\]: the bounds \[7, 6\]",
        ),
        ({"lower": np.array([np.inf, 0.0, 0.0, 0.0])}, r"lower\[0\]"),
        ({"upper": np.array([1.0, np.nan, 1.0, 1.0])}, r"lower\[1\]"),
        ({"scalar_cost": np.array([np.inf])}, r"scalar_cost\[0\]: is inf"),
        ({"scalar_lower": np.array([9.0])}, r"scalar_lower\[0\]"),
        ({"demand": np.zeros(2, np.int32)}, "demand: has shape"),
        ({"demand": np.array([0, 1, 9, 0], np.int32)}, r"demand\[2\]: is 9; allowed: -1 to"),
        ({"resource": np.array([0, -2, 0, 0], np.int32)}, r"resource\[1\]: is -2"),
    ],
)
def test_bad_entries_are_refused(change: dict[str, Any], where: str) -> None:
    with pytest.raises(wl.InputError, match=where) as caught:
        replace(problem(), **change)
    assert caught.value.allowed
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"upper": np.array([1.0, -np.inf, 0.0])}, r"time\[a\]"),
        ({"lower": np.array([4.0, -np.inf, -np.inf])}, r"capacity\[fast\]: the bounds \[4, 3\]"),
        ({"weight": np.array([1.0, np.inf, 1.0])}, r"rows.weight\[1\]"),
        ({"matrix": sp.csc_array((3, 9))}, r"rows.matrix: has shape \(3, 9\)"),
        ({"owner": np.zeros(1, np.int32)}, "rows.owner: has shape"),
    ],
)
def test_bad_rows_are_refused(change: dict[str, Any], where: str) -> None:
    p = problem()
    with pytest.raises(wl.InputError, match=where):
        replace(p, rows=replace(p.rows, **change))


def test_an_empty_problem_is_refused() -> None:
    owner, number = np.zeros(0, np.int32), np.zeros(0)
    with pytest.raises(wl.InputError, match="no entries"):
        replace(
            problem(),
            resource=owner,
            demand=owner,
            cost=number,
            quadratic=number,
            lower=number,
            upper=number,
            rows=replace(problem().rows, matrix=sp.csc_array((3, 0))),
        )


def test_leximin_needs_a_scalar_in_every_row_of_its_family() -> None:
    p = problem()
    assert Leximin(p, "level").rows.row_name(2) == "level[a]"
    with pytest.raises(wl.InputError, match="levels"):
        Leximin(p, "level", 0)
    with pytest.raises(wl.InputError, match="one scalar and rows named 'speed'"):
        Leximin(p, "speed")
    with pytest.raises(wl.InputError, match="coefficient 1"):
        Leximin(p, "time")


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"integer": np.array([True])}, "integer"),
        ({"integer": np.zeros(4)}, "integer: is a ndarray of float64"),
        ({"resource": [0, 1, 0, -1]}, "resource: is a list"),
        ({"gap_scale": 0.0}, "gap_scale: is 0.0"),
        ({"gap_scale": -1.0}, "gap_scale: is -1.0"),
        ({"constant": np.nan}, "constant: is NaN"),
    ],
)
def test_entries_of_another_kind_are_refused(wrong: dict[str, Any], where: str) -> None:
    with pytest.raises(wl.InputError, match=where):
        replace(problem(), **wrong)


@pytest.mark.parametrize(
    ("name", "wrong", "where"),
    [
        ("side", lambda rows: rows.side + 9, r"rows.side\[0\]: is 9"),
        ("owner", lambda rows: rows.owner + 99, r"rows.owner\[0\]"),
        ("utility", lambda rows: rows.utility + 77, r"rows.utility\[0\]: is 77"),
        ("matrix", lambda rows: rows.matrix.toarray(), "rows.matrix: is a ndarray"),
        ("matrix", lambda rows: rows.matrix.tocsr(), "rows.matrix: is a csr_array"),
    ],
)
def test_rows_of_another_kind_are_refused(name: str, wrong: Any, where: str) -> None:
    p = problem()
    with pytest.raises(wl.InputError, match=where):
        replace(p, rows=replace(p.rows, **{name: wrong(p.rows)}))


@pytest.mark.parametrize("side", ["resource", "demand"])
def test_names_that_come_twice_are_refused(side: str) -> None:
    names: dict[str, Any] = {f"{side}_names": ["same", "same"]}
    with pytest.raises(wl.InputError, match=f"{side}_names: the name 'same' appears twice"):
        replace(problem(), **names)


def test_an_entry_has_the_users_name_or_its_owners() -> None:
    p = problem()
    assert [p.entry_name(k) for k in (0, 1, 2, 3)] == [
        "x[r0, d0]",
        "x[r1, d0]",
        "x[r0, d1]",
        "entry 3",
    ]
    alone = replace(p, resource=np.array([-1, 0, 0, 0], np.int32))
    assert (alone.entry_name(0), alone.entry_name(3)) == ("x[d0]", "x[r0]")
    assert replace(p, namer=lambda k: f"share {k}").entry_name(2) == "share 2"


def test_nothing_is_reported_without_a_minus_sign() -> None:
    assert str(problem().reported(0.0)) == "0.0"
    assert str(problem().reported(-0.0)) == "0.0"


def test_constraints_have_no_utility_and_others_have() -> None:
    p = problem()
    utility = p.rows.utility.copy()
    utility[1] = 1
    assert replace(p.rows, utility=utility).is_utility.tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("name", "row", "wrong", "where"),
    [
        ("side", 0, 3, r"rows.side\[0\]: is 3; allowed: 0 to 2, of Side"),
        ("side", 1, -1, r"rows.side\[1\]: is -1"),
        ("utility", 1, 6, r"rows.utility\[1\]: is 6; allowed: 0 to 5, of Utility"),
        ("utility", 2, -1, r"rows.utility\[2\]: is -1"),
        ("owner", 0, 2, r"rows.owner\[0\] \(capacity\[fast\]\): is 2"),
        ("owner", 1, 2, r"rows.owner\[1\] \(time\[a\]\): is 2"),
        ("owner", 1, -2, r"rows.owner\[1\] \(time\[a\]\): is -2"),
    ],
)
def test_the_first_number_out_of_range_is_refused(
    name: str, row: int, wrong: int, where: str
) -> None:
    p = problem()
    numbers = getattr(p.rows, name).copy()
    numbers[row] = wrong
    with pytest.raises(wl.InputError, match=where):
        replace(p, rows=replace(p.rows, **{name: numbers}))


def test_the_last_numbers_in_range_are_accepted() -> None:
    p = problem()
    rows = replace(
        p.rows,
        side=np.array([Side.RESOURCE, Side.DEMAND, Side.COUPLED], np.int8),
        owner=np.array([1, 1, -1], np.int32),
        utility=np.array([0, 0, 5], np.int8),
        upper=np.array([3.0, 1.0, np.inf]),
        weight=np.array([-1.0, 1.0, 0.0]),  # of a constraint it says nothing
    )
    assert replace(p, rows=rows).rows is rows
    last = replace(p, resource=np.array([1, -1, 0, 1], np.int32))
    assert last.resource.tolist() == [1, -1, 0, 1]


def test_a_coupled_row_has_no_owner() -> None:
    p = problem()
    side = np.array([Side.RESOURCE, Side.DEMAND, Side.COUPLED], np.int8)
    with pytest.raises(wl.InputError, match=r"rows.owner\[2\] \(level\[a\]\): is 0"):
        replace(p, rows=replace(p.rows, side=side))


def test_a_utility_of_negative_weight_is_refused() -> None:
    p = problem()
    rows = replace(
        p.rows,
        utility=np.array([0, 1, 1], np.int8),
        weight=np.array([-1.0, 0.0, -2.0]),
    )
    with pytest.raises(wl.InputError, match=r"rows.weight\[2\] \(level\[a\]\): is -2; allowed: >="):
        replace(p, rows=rows)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"resource_names": ["a", "b", "b"]}, "resource_names: the name 'b' appears twice"),
        ({"demand_names": ("b", "a", "b")}, "demand_names: the name 'b' appears twice"),
        ({"gap_scale": np.inf}, "gap_scale: is inf; allowed: a number, finite and > 0, or None"),
        ({"constant": np.inf}, "constant: is inf; allowed: a number, finite;"),
        ({"cost": np.array(["a"] * 4)}, "cost: is a ndarray of <U1; allowed: .* of numbers"),
        ({"integer": [True] * 4}, "integer: is a list; allowed: a numpy array of booleans"),
        (
            {"upper": np.array([1.0, 1.0, -np.inf, 1.0]), "lower": np.full(4, -np.inf)},
            r"lower\[2\]: the bounds \[-inf, -inf\] admit no number",
        ),
        (
            {"upper": np.full(4, np.inf), "lower": np.array([0.0, 0.0, 0.0, np.inf])},
            r"lower\[3\]: the bounds \[inf, inf\] admit no number",
        ),
        (
            {"demand": np.array([0, 0, 2, -1], np.int32)},
            r"demand\[2\]: is 2; allowed: -1 to 1; -1 for none",
        ),
    ],
)
def test_each_refusal_names_the_place_and_what_is_allowed(
    change: dict[str, Any], where: str
) -> None:
    with pytest.raises(wl.InputError, match=where):
        replace(problem(), **change)


def test_bounds_may_meet_and_a_constant_may_be_negative() -> None:
    p = replace(problem(), lower=np.full(4, 2.0), upper=np.full(4, 2.0), constant=-3.0)
    assert (p.lower.tolist(), p.constant) == ([2.0] * 4, -3.0)
    assert replace(p, gap_scale=1e-9).gap_scale == 1e-9


def test_one_name_of_the_users_is_the_whole_name() -> None:
    rows = problem().rows
    more = sp.csc_array(np.ones((1, 4)))
    longer = rows.followed_by(more, np.zeros((1, 1)), (np.zeros(1), np.ones(1)), "own", ["mine"])
    assert longer.name(rows.count) == "mine"


def test_entries_of_one_owner_are_left_out_of_the_dense_array() -> None:
    p = replace(problem(), resource=np.array([0, 1, -1, 0], np.int32))
    assert p.dense(np.array([1.0, 2.0, 3.0, 9.0])).tolist() == [[1.0, 0.0], [2.0, 0.0]]


@pytest.mark.parametrize("count", [100, 2**31 - 1, 2**31])
def test_indices_are_of_32_bits_where_they_fit(count: int) -> None:
    """Rows alone need no memory: only their number is large."""
    longs = np.zeros(1, np.int64), np.array([0, 1], np.int64)
    matrix: Any = sp.csc_array((np.ones(1), *longs), shape=(count, 1))
    matrix.indices, matrix.indptr = longs
    rows = replace(problem().rows, matrix=matrix)
    assert (rows.matrix is matrix) == (count == 2**31)
    assert str(rows.matrix.indices.dtype) == ("int64" if count == 2**31 else "int32")
