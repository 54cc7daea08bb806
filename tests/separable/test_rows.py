"""Rows: their names, and rows put behind others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from tests.bank.statement import Entry, Row, Scalar, state

import walras as wl
from walras.separable import Family, Separable, Side


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


def test_rows_have_the_user_s_names() -> None:
    rows = problem().rows
    assert [rows.name(k) for k in range(4)] == [
        "capacity[fast]",
        "time[a]",
        "level[a]",
        "row[3]",
    ]
    assert Family("cap", 4, 7).row_name(6) == "cap[2]"


def test_rows_behind_others_couple_and_have_the_users_names() -> None:
    problem = wl.domains.cluster_scheduling.max_min(np.ones((2, 3)), np.ones(3), np.ones(2))
    rows = problem.rows
    more = sp.csc_array(np.eye(2, problem.entries))
    bounds = np.array([-np.inf, 1.0]), np.array([2.0, 1.0])
    longer = rows.followed_by(more, np.full((2, 1), -1.0), bounds, "own", ["first", "second"])
    assert longer.count == rows.count + 2
    assert [longer.name(rows.count + k) for k in range(2)] == ["first", "second"]
    assert longer.name(0) == rows.name(0)
    assert longer.owner[-2:].tolist() == [-1, -1]
    assert not longer.is_utility[-2:].any()
    np.testing.assert_array_equal(longer.matrix[-2:].toarray(), more.toarray())
    np.testing.assert_array_equal(longer.scalar_matrix[-2:], -1.0)
    assert replace(problem, rows=longer).rows.count == longer.count  # and is checked as others are


def test_rows_behind_others_are_numbered_where_the_user_has_no_names() -> None:
    rows = problem().rows
    more = sp.csc_array(np.ones((2, 4)))
    longer = rows.followed_by(more, np.zeros((2, 1)), (np.zeros(2), np.ones(2)), "own")
    assert [longer.name(rows.count + k) for k in range(3)] == ["own[0]", "own[1]", "row[5]"]
    assert longer.lower[-2:].tolist() == [0.0, 0.0]
    assert longer.upper[-2:].tolist() == [1.0, 1.0]
    assert (longer.weight[-2:].tolist(), longer.parameter[-2:].tolist()) == ([1.0] * 2, [0.0] * 2)
    assert longer.side[-2:].tolist() == [Side.COUPLED] * 2
