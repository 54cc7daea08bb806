"""The rows named in a conflict: they cannot hold together, and any others of them can."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.diagnosis.stated import CALM, MATRIX, UPPER, can_hold, stated

from walras.diagnosis import iis as module
from walras.diagnosis.iis import IIS, find_iis
from walras.diagnosis.relaxation import least_relaxation
from walras.separable import Separable, Utility


def found(problem: Separable) -> IIS:
    return find_iis(problem, least_relaxation(problem, CALM), CALM)


def test_only_the_rows_that_conflict_are_named() -> None:
    named = found(stated(MATRIX, UPPER))
    assert named.irreducible
    assert set(named.names) == {"row[0]", "row[1]"}
    assert str(named) == ", ".join(named.names)


def test_of_two_conflicts_one_is_named_and_the_relaxation_mends_both() -> None:
    two = np.vstack([MATRIX[:2], [[0.0, -1.0], [0.0, 1.0]]])
    problem = stated(two, np.array([1.0, -2.0, -4.0, 3.0]))
    assert len(least_relaxation(problem, CALM).rows) >= 2
    named = found(problem)
    assert named.irreducible
    rows = sorted(int(name[4:-1]) for name in named.names)
    assert rows in ([0, 1], [0, 2], [2, 3])


def test_a_utility_that_needs_more_than_nothing_conflicts_with_the_row_that_forbids_it() -> None:
    matrix = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    problem = stated(matrix, np.array([np.inf, 0.0, 4.0]), Utility.LOG)
    assert set(found(problem).names) == {"row[0]", "row[1]"}


def test_whole_entries_conflict_where_shares_would_not() -> None:
    matrix = np.array([[2.0, 2.0], [-2.0, -2.0], [1.0, 0.0]])  # 2 (x0 + x1) = 3
    problem = stated(matrix, np.array([3.0, -3.0, 5.0]))
    assert not least_relaxation(problem, CALM).is_needed
    named = found(replace(problem, integer=np.ones(2, dtype=np.bool_)))
    assert named.irreducible
    assert set(named.names) == {"row[0]", "row[1]"}


@pytest.mark.parametrize("limit", ["_MOST", "_SECONDS"])
def test_what_is_not_proved_irreducible_is_said(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, limit, 0)
    named = found(stated(MATRIX, UPPER))
    assert not named.irreducible
    assert {"row[0]", "row[1]"} <= set(named.names)
    assert "fewer of them may conflict" in str(named)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), rows=st.integers(2, 9), columns=st.integers(1, 5))
def test_any_one_row_dropped_lets_the_others_hold(seed: int, rows: int, columns: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-3, 4, (rows, columns)).astype(np.float64)
    upper = rng.integers(-6, 5, rows).astype(np.float64)
    problem = stated(matrix, upper)
    relaxation = least_relaxation(problem, CALM)
    assert relaxation.is_needed != can_hold(matrix, upper, list(range(rows)))
    if not relaxation.is_needed:
        return
    named = find_iis(problem, relaxation, CALM)
    chosen = [int(name[4:-1]) for name in named.names]
    assert named.irreducible
    assert not can_hold(matrix, upper, chosen)
    for row in chosen:
        assert can_hold(matrix, upper, [k for k in chosen if k != row])
