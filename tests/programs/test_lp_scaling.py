"""Programs whose numbers are small or far apart are solved as exactly as others."""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import walras as wl
from walras.programs.highs import LinearProgram, solve_program
from walras.programs.lp_scaling import units_of
from walras.programs.sifting import is_wide, sift
from walras.settings import Settings

cs = wl.domains.cluster_scheduling
SCALES = [1.0, 1e-4, 1e-7, 1e-9, 1e5]
T = np.random.default_rng(0).lognormal(size=(3, 8))
CAPACITY = [3.0, 3.0, 4.0]


def solved(problem: wl.Separable, scale: float, *, integer: bool = False) -> float:
    """The value of a problem, which is optimal, in units of the scale."""
    s = wl.solve(problem, engine="exact", integer=integer)
    assert s.status is wl.Status.OPTIMAL, str(s)
    assert s.gap <= 1e-6
    return float(s.value / scale)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("objective", [cs.max_min, cs.total_throughput])
@pytest.mark.parametrize("integer", [False, True])
def test_the_unit_of_throughput_does_not_matter(
    objective: Callable[..., wl.Separable], scale: float, *, integer: bool
) -> None:
    expected = solved(objective(T, np.ones(8), CAPACITY), 1.0, integer=integer)
    problem = objective(scale * T, np.ones(8), CAPACITY)
    assert solved(problem, scale, integer=integer) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("whole", [False, True])
def test_jobs_of_a_million_steps_are_placed(*, whole: bool) -> None:
    steps = 1.0 + np.arange(8) / 8
    one, many = (
        solved(cs.min_makespan(T, np.ones(8), CAPACITY, steps=k * steps, whole=whole), 1.0 / k)
        for k in (1.0, 1e6)
    )
    assert many == pytest.approx(one, rel=1e-6)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("boolean", [False, True])
def test_the_unit_of_an_expression_does_not_matter(scale: float, *, boolean: bool) -> None:
    x = cp.Variable((3, 8), boolean=True) if boolean else cp.Variable((3, 8), nonneg=True)
    fits = [cp.sum(x, axis=1) <= 3, cp.sum(x, axis=0) == 1]
    found = []
    for unit in (1.0, scale):
        problem = wl.Problem(cp.Minimize(unit * cp.sum(cp.multiply(T, x))), fits)
        problem.solve(engine="exact")
        assert problem.status == "optimal"
        found.append(float(problem.value or 0.0) / unit)
    assert found[1] == pytest.approx(found[0], rel=1e-6)


def test_levels_of_slow_jobs_are_found() -> None:
    rng = np.random.default_rng(0)
    speed, size = rng.lognormal(size=(4, 9)), rng.integers(1, 5, 9).astype(float)
    one, slow = (wl.solve(cs.leximin(k * speed, size, np.full(4, 5.0))) for k in (1.0, 1e-9))
    assert slow.status is wl.Status.OPTIMAL
    assert slow.value == pytest.approx(1e-9 * one.value, rel=1e-6)
    levels = [[level.value for level in s.levels] for s in (one, slow)]
    assert levels[1] == pytest.approx(1e-9 * np.array(levels[0]), rel=1e-5)


def test_scarce_capacity_is_shared() -> None:
    problem = cs.max_min(T, np.ones(8), 1e-8 * np.array(CAPACITY))
    expected = wl.solve(problem, engine="interior", tolerance=1e-8).value
    assert solved(problem, 1.0) == pytest.approx(expected, rel=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.floats(-9, 6), st.floats(-6, 6))
def test_prices_come_back_in_the_programs_units(seed: int, cost: float, bound: float) -> None:
    rng = np.random.default_rng(seed)
    row, column = 10.0 ** rng.uniform(-4, 4, 3), 10.0 ** rng.uniform(-4, 4, 6)
    matrix = rng.uniform(0.5, 2.0, (3, 6))
    program = LinearProgram(
        cost=-rng.uniform(0.5, 2.0, 6) * 10.0**cost / column,
        lower=np.zeros(6),
        upper=np.full(6, np.inf),
        matrix=sp.csc_array(row[:, None] * matrix / column),
        row_lower=np.full(3, -np.inf),
        row_upper=rng.uniform(1.0, 2.0, 3) * row * 10.0**bound,
    )
    found = solve_program(program, Settings())
    assert found.x is not None
    value = float(program.cost @ found.x)
    assert np.all(program.matrix @ found.x <= program.row_upper * (1 + 1e-9))
    assert np.all(found.prices >= -1e-9 * np.max(np.abs(found.prices)))
    reduced = program.cost + program.matrix.T @ found.prices
    assert np.all(reduced >= -1e-6 * np.abs(program.cost))
    assert -found.prices @ program.row_upper == pytest.approx(value, rel=1e-6)


def test_columns_that_pay_little_come_in() -> None:
    rng = np.random.default_rng(1)
    columns, rows = 400, 4
    of = rng.integers(0, rows, columns)
    matrix = sp.csc_array((np.ones(columns), (of, np.arange(columns))), shape=(rows, columns))
    cost = -rng.uniform(0.1, 1.0, columns)
    for scale in (1.0, 1e-9):
        program = LinearProgram(
            scale * cost,
            np.zeros(columns),
            np.full(columns, 0.1),
            matrix,
            np.full(rows, -np.inf),
            np.ones(rows),
        )
        assert is_wide(program)
        found = sift(program, Settings(), lambda step: step)
        assert found is not None
        assert found.x is not None
        best = sum(np.sort(cost[of == r])[:10].sum() * 0.1 for r in range(rows))
        assert program.cost @ found.x == pytest.approx(scale * best, rel=1e-9)


def test_ordinary_numbers_keep_their_units_and_others_get_powers_of_two() -> None:
    matrix = sp.csc_array(T)
    bounds = np.zeros(8), np.full(8, np.inf)
    rows = np.full(3, -np.inf), np.ones(3)
    assert units_of(np.ones(8), matrix, bounds, rows, None).own
    assert units_of(np.zeros(8), sp.csc_array((0, 8)), bounds, (rows[0][:0],) * 2, None).own
    whole = np.arange(8) < 4
    units = units_of(1e-7 * np.ones(8), 1e-7 * matrix, bounds, rows, whole)
    assert np.all(units.column[whole] == 1.0)
    for part in (units.column, units.row, np.array([units.cost])):
        assert np.all(np.frexp(part)[0] == 0.5)
    assert 0.5 <= np.max(1e-7 * units.column * units.cost) <= 2.0


def test_bounds_that_are_rounding_are_no_units() -> None:
    """0.1 + 0.2 - 0.3 beside bounds of one: HiGHS got rows scaled by 1e8, and broke down."""
    matrix = sp.csc_array(np.array([[1.0, -1.0], [1.0, 1.0]]))
    ends, rows = (np.zeros(2), np.full(2, np.inf)), np.array([0.1 + 0.2 - 0.3, 1.0])
    units = units_of(np.ones(2), matrix, ends, (np.full(2, -np.inf), rows), None)
    assert units.own
