"""A basis read from a point and its prices is the vertex's own, and changes no answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.programs.pivots import count_pivots

from walras.programs.basis import basis_at
from walras.programs.highs import Answer, Basis, LinearProgram, solve_program
from walras.settings import Settings
from walras.status import Status

CALM = Settings(threads=1)
Count = Callable[[LinearProgram], tuple[Answer, int]]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Count:
    """A solve, and the pivots that it took."""
    pivots = count_pivots(monkeypatch)

    def solve(program: LinearProgram) -> tuple[Answer, int]:
        pivots.clear()
        return solve_program(program, CALM), sum(pivots)

    return solve


def as_good(program: LinearProgram, basis: Basis, counted: Count) -> int:
    """Pivots from a basis, whose answer costs what that of HiGHS' own begin does."""
    found, pivots = counted(replace(program, basis=basis))
    fresh, _ = counted(program)
    assert found.x is not None
    assert fresh.x is not None
    assert program.cost @ found.x == pytest.approx(program.cost @ fresh.x, rel=1e-9)
    return pivots


def transport(seed: int, sources: int = 12, sinks: int = 30) -> LinearProgram:
    """Loads from sources to sinks at least cost; every sink gets what it needs."""
    rng = np.random.default_rng(seed)
    count = sources * sinks
    pair = np.arange(count)
    row = np.concatenate([pair % sources, sources + pair // sources])
    matrix = sp.csc_array((np.ones(2 * count), (row, np.tile(pair, 2))))
    need = rng.uniform(1.0, 2.0, sinks)
    room = 1.3 * need.sum() * rng.dirichlet(np.full(sources, 20.0))
    return LinearProgram(
        cost=rng.uniform(1.0, 2.0, count),
        lower=np.zeros(count),
        upper=np.full(count, np.inf),
        matrix=matrix,
        row_lower=np.concatenate([np.full(sources, -np.inf), need]),
        row_upper=np.concatenate([room, np.full(sinks, np.inf)]),
    )


@pytest.mark.parametrize("unit", [1.0, 1e-12, 1e9])
def test_an_optimal_vertex_is_found_again_without_a_pivot(counted: Count, unit: float) -> None:
    made = transport(1)
    program = replace(made, row_lower=unit * made.row_lower, row_upper=unit * made.row_upper)
    found, cold = counted(program)
    assert found.x is not None
    again, pivots = counted(replace(program, basis=basis_at(program, found.x, found.prices)))
    assert (again.status, pivots) == (Status.OPTIMAL, 0)
    assert cold > 30
    assert again.x is not None
    np.testing.assert_allclose(again.x, found.x, atol=1e-9 * unit)


def test_moved_limits_go_by_the_dual_method_and_few_pivots(counted: Count) -> None:
    program = transport(2)
    found, cold = counted(program)
    assert found.x is not None
    upper = program.row_upper.copy()
    upper[int(np.argmax(found.prices[:12]))] *= 0.9
    moved = replace(program, row_upper=upper)
    basis = basis_at(moved, found.x, found.prices)
    assert basis is not None
    assert basis.is_dual
    pivots = as_good(moved, basis, counted)
    assert pivots < cold / 3


def test_prices_tell_the_basis_where_amounts_are_forgotten(counted: Count) -> None:
    program = transport(3)
    found, _ = counted(program)
    assert found.x is not None
    x = np.where(np.arange(360) // 12 < 15, np.nan, found.x)  # of half of the sinks
    again, pivots = counted(replace(program, basis=basis_at(program, x, found.prices)))
    assert again.status is Status.OPTIMAL
    assert pivots == 0


def test_new_columns_with_new_rows_go_by_the_primal_method(counted: Count) -> None:
    program = transport(4)
    x, prices = np.full(360, np.nan), np.full(42, np.nan)
    old = replace(program, row_lower=np.append(program.row_lower[:40], [0.0, 0.0]))
    found, cold = counted(old)  # two sinks need nothing yet
    assert found.x is not None
    x[:336], prices[:40] = found.x[:336], found.prices[:40]
    basis = basis_at(program, x, prices)
    assert basis is not None
    assert not basis.is_dual
    pivots = as_good(program, basis, counted)
    assert pivots < cold / 2


def by_hand() -> LinearProgram:
    """Five columns, the third and the last fixed; two upper limits and a lower one."""
    return LinearProgram(
        cost=np.array([-2.0, -1.0, -1.0, 1.0, -5.0]),
        lower=np.array([0.0, 0.5, 0.0, 0.0, 0.0]),
        upper=np.array([3.0, 2.0, 0.0, 1.0, 0.0]),
        matrix=sp.csc_array(
            [[1.0, 1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, -1.0, 0.0], [0.0, 1.0, 1.0, 1.0, 0.0]]
        ),
        row_lower=np.array([-np.inf, 1.0, -np.inf]),
        row_upper=np.array([4.0, np.inf, 1.0]),
    )


NONE = np.nan
CASES: dict[str, tuple[list[float], list[float], list[int], list[int], bool]] = {
    # what is between its bounds is basic; that the last column, fixed, would pay means nothing
    "all known": ([3, 1, 0, 0, 0], [1, 0, 0], [2, 1, 0, 0, 0], [2, 1, 2], True),
    # the second column's reduced cost is 0: basic; its first row is told by the price
    "a value unknown": ([3, NONE, 0, 0, 0], [1, 0, 0], [2, 1, 0, 0, 0], [2, 1, 1], True),
    # a fixed column is never basic
    "fixed and unknown": ([3, 1, NONE, 0, 0], [1, 0, 0], [2, 1, 0, 0, 0], [2, 1, 2], True),
    # the last row is new and of an unknown column, which rests: its slack is basic, if tight, too
    "a new row": ([3, NONE, 0, 0.5, 0], [1, 0, NONE], [2, 0, 0, 1, 0], [2, 1, 1], False),
    # a price below 0 tells a lower limit
    "a lower limit": ([NONE, 1, 0, 0, 0], [3, -1, 0], [1, 1, 0, 0, 0], [2, 0, 2], False),
}


@pytest.mark.parametrize("case", CASES)
def test_places_by_hand(case: str) -> None:
    x, prices, column, row, is_dual = CASES[case]
    found = basis_at(by_hand(), np.array(x, float), np.array(prices, float))
    assert found is not None
    assert (found.column.tolist(), found.row.tolist()) == (column, row)
    assert found.is_dual == is_dual


@pytest.mark.parametrize(("new", "enough"), [(7, True), (11, False)])
def test_too_many_new_columns_give_no_basis(new: int, enough: bool) -> None:
    program = transport(5)
    found = solve_program(program, CALM)
    assert found.x is not None
    x, prices = found.x.copy(), found.prices.copy()
    x[: 12 * new], prices[12 : 12 + new] = np.nan, np.nan  # sinks with their rows
    assert (basis_at(program, x, prices) is not None) == enough


@pytest.mark.parametrize(("more", "is_near"), [(2, True), (8, False)])
def test_a_point_far_from_a_vertex_gives_no_basis(more: int, is_near: bool) -> None:
    program = transport(6)
    found = solve_program(program, CALM)
    assert found.x is not None
    x = found.x.copy()
    x[np.flatnonzero(x == 0.0)[:: 300 // more][:more]] = 0.05
    assert (basis_at(program, x, found.prices) is not None) == is_near


def test_costs_that_all_changed_give_no_basis() -> None:
    program = transport(7)
    found = solve_program(program, CALM)
    assert found.x is not None
    other = replace(program, cost=np.random.default_rng(8).uniform(1.0, 2.0, 360))
    assert basis_at(other, found.x, found.prices) is None


def drawn_at_random(rng: np.random.Generator) -> LinearProgram:
    """Small whole numbers; rows of all kinds, free columns, sometimes no point or no optimum."""
    rows, columns = int(rng.integers(1, 8)), int(rng.integers(1, 10))
    matrix = np.where(rng.random((rows, columns)) < 0.5, rng.integers(-3, 4, (rows, columns)), 0)
    amount = matrix @ rng.integers(0, 4, columns)
    lower = np.where(rng.random(rows) < 0.4, amount - rng.integers(0, 3, rows), -np.inf)
    upper = np.where(rng.random(rows) < 0.7, amount + rng.integers(0, 3, rows), np.inf)
    least = rng.choice([0.0, 0.0, -2.0, -np.inf], columns)
    return LinearProgram(
        cost=rng.integers(-3, 4, columns).astype(float),
        lower=least,
        upper=np.where(rng.random(columns) < 0.6, np.maximum(least, 0.0) + 4.0, np.inf),
        matrix=sp.csc_array(matrix.astype(float)),
        row_lower=np.where(rng.random(rows) < 0.1, upper + 1.0, lower).clip(max=1e6),
        row_upper=np.where(rng.random(rows) < 0.1, lower - 1.0, upper).clip(min=-1e6),
    )


@given(seed=st.integers(0, 10**6), known=st.integers(0, 2), own=st.booleans())
def test_no_start_changes_the_answer(seed: int, known: int, own: bool) -> None:
    """Points and prices of the program, or drawn: the basis may be wrong, the answer is not."""
    rng = np.random.default_rng(seed)
    program = drawn_at_random(rng)
    (rows, columns), fresh = program.matrix.shape, solve_program(program, CALM)
    x, prices = rng.integers(-1, 5, columns).astype(float), rng.integers(-1, 2, rows).astype(float)
    if own and fresh.x is not None:
        x, prices = fresh.x.copy(), fresh.prices.copy()
    x[rng.random(columns) < 0.15 * known] = np.nan
    prices[rng.random(rows) < 0.15 * known] = np.nan
    found = solve_program(replace(program, basis=basis_at(program, x, prices)), CALM)
    none = {Status.INFEASIBLE, Status.UNBOUNDED}
    assert found.status is fresh.status or {found.status, fresh.status} == none
    if fresh.status is Status.OPTIMAL:
        assert found.x is not None
        assert fresh.x is not None
        assert program.cost @ found.x == pytest.approx(program.cost @ fresh.x, rel=1e-7, abs=1e-7)
