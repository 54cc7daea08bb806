"""The rows named in a conflict: they cannot hold together, and any others of them can."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.bank.statement import Entry, Row, state

import walras as wl
from walras.diagnosis import iis as module
from walras.diagnosis.iis import IIS, find_iis
from walras.diagnosis.relaxation import least_relaxation
from walras.separable import Separable, Utility
from walras.settings import Settings

CALM = Settings(threads=1)
REACH = 10.0


def stated(matrix: np.ndarray, upper: np.ndarray, utility: Utility = Utility.NONE) -> Separable:
    """Rows ``matrix x <= upper`` over 0 <= x <= 10; the first row may hold a utility."""
    rows = [
        Row(
            f"row[{k}]",
            dict(enumerate(line)),
            upper=float(upper[k]),
            utility=Utility.NONE if k else utility,
        )
        for k, line in enumerate(matrix.tolist())
    ]
    return state([Entry(0, j, upper=REACH) for j in range(matrix.shape[1])], rows)


def found(problem: Separable) -> IIS:
    return find_iis(problem, least_relaxation(problem, CALM), CALM)


def can_hold(matrix: np.ndarray, upper: np.ndarray, rows: list[int]) -> bool:
    """By another program's linear solver."""
    n = matrix.shape[1]
    if not rows:
        return True
    answer = linprog(np.zeros(n), matrix[rows], upper[rows], bounds=[(0.0, REACH)] * n)
    return bool(answer.status == 0)


# x0 + x1 <= 1 against x0 >= 2; x1 <= 5 takes part in nothing.
MATRIX = np.array([[1.0, 1.0], [-1.0, 0.0], [0.0, 1.0]])
UPPER = np.array([1.0, -2.0, 5.0])


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


def test_the_error_names_them() -> None:
    with pytest.raises(wl.InfeasibleError) as caught:
        wl.solve(stated(MATRIX, UPPER))
    assert set(caught.value.where.split(", ")) == {"row[0]", "row[1]"}


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


def raised(constrain: Callable[[cp.Variable], list[cp.Constraint]], *, log: bool = False) -> str:
    """What the error of a problem of three resources and four demands says."""
    speed = np.random.default_rng(0).uniform(1.0, 2.0, (3, 4))
    x = cp.Variable((3, 4), nonneg=True, name="x")
    got = cp.multiply(speed, x)
    aim = cp.sum(cp.log(cp.sum(got, axis=0))) if log else cp.sum(got)
    problem = wl.Problem(cp.Maximize(aim), constrain(x))
    with pytest.raises(wl.InfeasibleError) as error:
        problem.solve()
    return str(error.value)


def test_bounds_of_single_entries_are_named() -> None:
    """Constraints over one entry become its bounds, and the user looks for them in vain else."""
    said = raised(lambda x: [cp.sum(x, axis=1) <= 1, x[0, 0] >= 2, cp.sum(x, axis=0) <= 3])
    assert said.startswith("Sum(x, 1, False) <= 1.0[0] with x[0, 0] >= 2: ")
    floor = cp.Parameter((3, 4), value=np.full((3, 4), 0.5), name="floor", nonneg=True)
    said = raised(lambda x: [cp.sum(x, axis=1) <= 1, x >= floor])
    assert "with x[0, 0] >= 0.5, x[0, 1] >= 0.5, x[0, 2] >= 0.5 and 1 more" in said
    said = raised(lambda x: [x[:, 2] == 0, cp.sum(x, axis=0) == 1])
    assert "Sum(x, 0, False) == 1.0[2] with x[0, 2] <= 0, x[1, 2] <= 0, x[2, 2] <= 0" in said


def test_a_logarithm_of_nothing_is_reported_without_an_amount() -> None:
    said = raised(lambda x: [x[:, 2] == 0, cp.sum(x, axis=1) <= 2], log=True)
    assert "log[2] with x[0, 2] <= 0" in said
    assert said.endswith("let entries of log[2] be above zero")


def test_rows_that_conflict_by_themselves_name_no_bounds() -> None:
    said = raised(lambda x: [cp.sum(x, axis=1) <= 1, cp.sum(x, axis=0) >= 1])
    assert " with " not in said


def test_the_cheapest_way_out_may_be_through_bounds_of_entries() -> None:
    """Twelve floors of a half are 6 where the sums allow 3: 3 units of floors, or 5 of sums."""
    said = raised(lambda x: [x >= 0.5, cp.sum(x, axis=0) <= 1, cp.sum(x, axis=1) <= 1])
    assert "would do: lower the bound of x[" in said
    said = raised(lambda x: [x[0, 0] >= 2, cp.sum(x, axis=1) <= 1])
    assert said.endswith("lower the bound of x[0, 0] by 1")
    said = raised(lambda x: [x[:, 2] == 0, cp.sum(x, axis=0) == 1])
    assert said.endswith("lower Sum(x, 0, False) == 1.0[2] by 1")
