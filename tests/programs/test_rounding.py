"""Whole columns that are whole: large M, activities below HiGHS' tolerance, what is said else."""

from __future__ import annotations

import itertools

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import walras as wl
from walras.programs import rounding
from walras.programs.highs import LinearProgram, solve_program
from walras.programs.rounding import solve_whole, tightened, whole_point, worst_row
from walras.settings import Settings
from walras.status import Status

CALM = Settings(threads=1)
INF = np.inf


@pytest.mark.parametrize("m", [1e3, 1e6, 1e7, 1e9, 1e12])
def test_what_opens_a_gate_is_one_however_large_its_m_is(m: float) -> None:
    z, y = cp.Variable(boolean=True), cp.Variable()
    found = wl.Problem(cp.Minimize(z), [y == 1, y <= m * z]).solve(threads=1)
    assert found.status is Status.OPTIMAL
    assert found.value == pytest.approx(1.0, abs=1e-9)
    assert z.value == pytest.approx(1.0, abs=0.0)
    assert y.value == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("m", [1e6, 1e9, 1e11])
@pytest.mark.parametrize("whole", [{"boolean": True}, {"integer": True, "bounds": [0, 9]}])
def test_gates_of_activities_without_an_upper_bound_are_proved(
    whole: dict[str, object], m: float
) -> None:
    z, y = cp.Variable(3, **whole), cp.Variable(3, nonneg=True)
    rows = [y >= np.array([1.0, 0.5, 0.0]), y <= m * z]
    found = wl.Problem(cp.Minimize(cp.sum(z)), rows).solve(threads=1)
    assert found.status is Status.OPTIMAL
    assert found.bound == pytest.approx(2.0, abs=1e-6)
    np.testing.assert_array_equal(z.value, [1.0, 1.0, 0.0])


def test_bounds_that_rows_imply_for_whole_columns_keep_what_rounding_would_lose() -> None:
    # z >= 3.0000000000000004 as stated: 3 is meant.
    program = LinearProgram(
        np.ones(1),
        np.zeros(1),
        np.full(1, 9.0),
        sp.csc_array([[0.1]]),
        np.full(1, 0.1 + 0.2),
        np.full(1, INF),
        np.ones(1, np.bool_),
    )
    assert tightened(program).lower[0] == 3.0


def least_cost_of_lots(demand: np.ndarray, make: np.ndarray, keep: float, setup: float) -> float:
    """Wagner and Whitin 1958: every lot serves the demands of consecutive periods."""
    count = len(demand)
    best = np.full(count + 1, INF)
    best[0] = 0.0
    for first, last in itertools.combinations(range(count + 1), 2):
        served = np.arange(first, last)
        cost = setup + demand[served] @ (make[first] + keep * (served - first))
        best[last] = min(best[last], best[first] + cost)
    return float(best[count])


@pytest.mark.parametrize("m", [1e3, 1e7, 1e9])
@pytest.mark.parametrize("seed", range(5))
def test_lot_sizes_are_those_of_dynamic_programming(seed: int, m: float) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(4, 9))
    demand, make = rng.uniform(1, 50, count), rng.uniform(1, 3, count)
    x, s = cp.Variable(count, nonneg=True), cp.Variable(count, nonneg=True)
    z = cp.Variable(count, boolean=True)
    rows = [x <= m * z, x[0] == demand[0] + s[0]]
    rows += [s[t - 1] + x[t] == demand[t] + s[t] for t in range(1, count)]
    cost = make @ x + 0.4 * cp.sum(s) + 60.0 * cp.sum(z)
    found = wl.Problem(cp.Minimize(cost), rows).solve(threads=1)
    optimum = least_cost_of_lots(demand, make, 0.4, 60.0)
    assert found.status is Status.OPTIMAL
    assert found.value == pytest.approx(optimum, rel=1e-6)
    assert max(float(np.max(row.violation())) for row in rows) <= 1e-6
    assert set(np.unique(z.value)) <= {0.0, 1.0}


def network(seed: int) -> tuple[cp.Problem, list[cp.Constraint]]:
    """A fixed-charge network design with its flows."""
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(4, 8))
    arcs = [(i, j) for i in range(nodes) for j in range(nodes) if i != j and rng.random() < 0.6]
    meets = np.zeros((nodes, len(arcs)))
    for k, (i, j) in enumerate(arcs):
        meets[i, k], meets[j, k] = 1.0, -1.0
    supply = 10 * rng.normal(size=nodes)
    supply[-1] = -supply[:-1].sum()
    x, z = cp.Variable(len(arcs), nonneg=True), cp.Variable(len(arcs), boolean=True)
    room = rng.uniform(20, 60, len(arcs))
    rows = [meets @ x == supply, x - cp.multiply(room, z) <= 0]
    cost = rng.uniform(1, 5, len(arcs)) @ x + rng.uniform(10, 100, len(arcs)) @ z
    return cp.Problem(cp.Minimize(cost), rows), rows


def test_fixed_charges_are_as_highs_says() -> None:
    """A fifth of these came back as errors: rows of bound zero were measured by next to nothing."""
    solved = 0
    for seed in range(12):
        stated, rows = network(seed)
        stated.solve(solver=cp.HIGHS, mip_rel_gap=1e-9, mip_feasibility_tolerance=1e-9)
        if stated.status != cp.OPTIMAL:
            continue
        optimum, solved = float(stated.value), solved + 1
        found = wl.Problem(stated.objective, rows).solve(threads=1)
        assert found.status is Status.OPTIMAL
        assert found.value == pytest.approx(optimum, rel=1e-6)
        assert max(float(np.max(row.violation())) for row in rows) <= 1e-7
    assert solved >= 6


@pytest.mark.parametrize("m", [1e3, 1e6, 1e8, 1e10])
def test_a_gate_that_must_stay_shut_makes_a_program_infeasible(m: float) -> None:
    z, w, y = cp.Variable(boolean=True), cp.Variable(boolean=True), cp.Variable()
    rows = [y == 1, y <= m * z, z + w <= 1, w >= 1]
    with pytest.raises(wl.InfeasibleError, match="least relaxation"):
        wl.Problem(cp.Minimize(z), rows).solve(threads=1)


@pytest.mark.parametrize("m", [1e8, 1e11])
def test_large_coefficients_do_not_hide_that_there_is_no_answer(m: float) -> None:
    x, z = cp.Variable(3, integer=True), cp.Variable(2, boolean=True)
    y = cp.Variable(2, nonneg=True)
    for rows in (
        [y <= m * z, cp.sum(y) >= 10, cp.sum(z) <= 0.5],
        [x >= 0, x <= m, cp.sum(x) >= m, cp.sum(x) <= m - 1],
        [m * x[0] >= 0.2 * m, m * x[0] <= 0.8 * m, x >= 0, x <= 5],
    ):
        with pytest.raises(wl.InfeasibleError):
            wl.Problem(cp.Minimize(cp.sum(z) + cp.sum(x)), rows).solve(threads=1)
    with pytest.raises(wl.UnboundedError):
        wl.Problem(cp.Maximize(cp.sum(x)), [x[0] - m * x[1] <= 0, x >= 0]).solve(threads=1)


def test_large_m_under_logarithms() -> None:
    z, y = cp.Variable(3, boolean=True), cp.Variable(3, nonneg=True)
    for m in (1e3, 1e9):
        value = cp.sum(cp.log(1 + y)) - 1.2 * cp.sum(z)
        found = wl.Problem(cp.Maximize(value), [y <= m * z, cp.sum(y) <= 6]).solve(threads=1)
        assert found.status is Status.OPTIMAL
        best = max(k * np.log1p(6.0 / k) - 1.2 * k for k in (1, 2, 3))
        assert found.value == pytest.approx(best, abs=1e-6)


def gates(seed: int) -> LinearProgram:
    """Rows of large M over whole and other columns, of both senses, with bounds of all kinds."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 4))
    low, high = rng.integers(-1, 2, count), rng.integers(1, 3, count)
    sign = rng.choice([-1.0, 1.0], (3, count))
    whole = 10.0 ** rng.uniform(1, 4) * sign * (rng.random((3, count)) < 0.7)
    rest = rng.normal(size=(3, 2))
    matrix = np.hstack([rest, whole])
    point = np.concatenate([rng.uniform(0, 3, 2), rng.integers(low, np.maximum(high, low) + 1)])
    above = rng.random(3) < 0.5
    slack = rng.random(3)
    return LinearProgram(
        cost=rng.normal(size=2 + count),
        lower=np.concatenate([np.zeros(2), low]).astype(np.float64),
        upper=np.concatenate([np.full(2, 3.0), np.maximum(high, low)]).astype(np.float64),
        matrix=sp.csc_array(matrix),
        row_lower=np.where(above, -INF, matrix @ point - slack),
        row_upper=np.where(above, matrix @ point + slack, INF),
        integer=np.arange(2 + count) >= 2,
    )


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6))
def test_smaller_coefficients_keep_all_exact_points_and_add_none(seed: int) -> None:
    program = gates(seed)
    least = tightened(program)
    whole = np.asarray(program.integer)
    ends = zip(program.lower[whole], program.upper[whole], strict=True)
    rng = np.random.default_rng(seed)
    for choice in itertools.product(*(np.arange(a, b + 1) for a, b in ends)):
        fixed = np.concatenate([rng.uniform(0, 3, 2), choice])
        values = []
        for stated in (program, least):
            for k in (0, 1):
                cost = np.zeros(len(fixed))
                cost[k] = 1.0
                low = np.where(whole, fixed, stated.lower)
                high = np.where(whole, fixed, stated.upper)
                part = LinearProgram(
                    cost, low, high, stated.matrix, stated.row_lower, stated.row_upper
                )
                found = solve_program(part, CALM)
                inside = np.all((stated.lower <= fixed) & (fixed <= stated.upper) | ~whole)
                x = found.x if inside and found.status is Status.OPTIMAL else None
                values.append(INF if x is None else float(cost @ x))
        assert values[:2] == pytest.approx(values[2:], abs=1e-5)


def test_coefficients_fall_to_what_the_rest_can_be() -> None:
    """``x - 1e6 z <= 0``, x <= 3: 3 is enough; ``x + 1e6 z <= 1e6 + 1`` says x <= 1 at z = 1."""
    matrix = sp.csc_array(np.array([[1.0, -1e6], [1.0, 1e6]]))
    program = LinearProgram(
        np.ones(2),
        np.zeros(2),
        np.array([3.0, 1.0]),
        matrix,
        np.full(2, -INF),
        np.array([0.0, 1e6 + 1.0]),
        np.array([False, True]),
    )
    least = tightened(program)
    assert least.matrix.toarray()[0] == pytest.approx([1.0, -3.0])
    assert least.matrix.toarray()[1] == pytest.approx([1.0, 2.0])
    assert least.row_upper == pytest.approx([0.0, 3.0])


def test_a_point_that_stays_broken_says_which_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where no M can be made smaller: here nothing may be moved, nor solved again."""
    monkeypatch.setattr(rounding, "_ROUNDS", 0)
    monkeypatch.setattr(rounding._Again, "_leaned", lambda self, x: None)
    z, y = cp.Variable(boolean=True), cp.Variable()
    found = wl.Problem(cp.Minimize(z), [y == 1, y <= 1e7 * z]).solve(threads=1)
    assert found.status is Status.FAILED
    assert "is broken by 1" in found.message
    assert "1" in str(found)


def test_programs_without_whole_columns_go_straight_on() -> None:
    program = LinearProgram(
        np.ones(1), np.ones(1), np.full(1, 2.0), sp.csc_array((0, 1)), np.zeros(0), np.zeros(0)
    )
    assert solve_whole(program, CALM).x == pytest.approx([1.0])
    assert worst_row(program, np.ones(1)) is None


def test_other_columns_are_found_for_rounded_ones() -> None:
    """``x >= 2 - z``, z = 0.9999999 as HiGHS may leave it: x = 1 goes with z = 1."""
    program = LinearProgram(
        np.array([1.0, 0.5]),
        np.zeros(2),
        np.array([5.0, 1.0]),
        sp.csc_array(np.array([[1.0, 1.0]])),
        np.array([2.0]),
        np.array([INF]),
        np.array([False, True]),
    )
    assert whole_point(program, np.array([1.0, 0.4]), CALM) == pytest.approx([2.0, 0.0])
    assert whole_point(program, np.array([1.0 + 1e-7, 1 - 1e-7]), CALM) == pytest.approx(
        [1.0, 1.0], abs=2e-7
    )
