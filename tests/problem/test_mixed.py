"""Whole numbers beside cones, against the enumeration of all choices by cvxpy's own solve."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import walras as wl
import walras.dede as dd

A = np.random.default_rng(0).normal(size=(5, 3))
X, Z = cp.Variable(3), cp.Variable(complex=True)
# Objective and constraints of whole numbers b, each of them from -3 to 4.
CASES: dict[str, Callable[[Any], tuple[Any, list[Any]]]] = {
    "norm in the objective": lambda b: (cp.Minimize(cp.norm(A @ b - 1)), []),
    "norm in a row": lambda b: (cp.Maximize(cp.sum(b)), [cp.norm(A @ b) <= 4]),
    "norm, on its edge": lambda b: (cp.Maximize(cp.sum(b)), [cp.norm(b) <= 3]),
    "norm of all, nothing left": lambda b: (cp.Minimize(cp.sum(b)), [cp.norm(b - 0.5) <= 0.5]),
    "pnorm": lambda b: (cp.Minimize(cp.pnorm(A @ b - 2, 3)), [cp.sum(b) >= 1]),
    "squares in a row": lambda b: (cp.Maximize(b[0] + 2 * b[1]), [cp.sum_squares(A @ b) <= 9]),
    "squares and a norm": lambda b: (cp.Minimize(cp.sum_squares(A @ b - 1) + cp.norm(b)), []),
    "huber": lambda b: (cp.Minimize(cp.sum(cp.huber(A @ b - 1))), []),
    "exp": lambda b: (cp.Minimize(cp.sum(cp.exp(b - 0.3)) - 2 * cp.sum(b)), []),
    "log_sum_exp": lambda b: (cp.Minimize(cp.log_sum_exp(A @ b)), [cp.sum(b) == 2]),
    "logistic": lambda b: (cp.Minimize(cp.sum(cp.logistic(A @ b)) - b[0]), [cp.sum(b) >= 0]),
    "geo_mean": lambda b: (cp.Maximize(cp.geo_mean(b)), [np.array([1, 2, 3]) @ b <= 11]),
    "lambda_max": lambda b: (cp.Minimize(cp.lambda_max(cp.diag(b) - np.ones((3, 3)))),
                             [cp.sum(b) == 2]),
    "semidefinite": lambda b: (cp.Maximize(b[0] + b[1]),
                               [cp.bmat([[4.2, b[0], 0], [b[0], 2, b[1]], [0, b[1], 3]]) >> 0]),
    "over a variable": lambda b: (cp.Minimize(cp.quad_over_lin(X - 1, cp.sum(b) + 3.5)
                                  + 0.4 * cp.sum(b)), [b >= X]),
    "continuous beside": lambda b: (cp.Minimize(cp.norm(X - b) + cp.norm(X - 1.6)), []),
    "complex": lambda b: (cp.Minimize(cp.abs(Z - cp.sum(b) - 1j)),
                          [cp.real(Z) == 2.4, cp.imag(Z) <= 0.5]),
    "second-order cone": lambda b: (cp.Maximize(cp.sum(b)), [cp.SOC(4, A @ b)]),
    "exponential cone": lambda b: (cp.Minimize(cp.sum(b)),
                                   [cp.ExpCone(np.full(3, 0.7), np.ones(3), b)]),
    "power cone": lambda b: (cp.Minimize(cp.sum(b)),
                             [cp.PowCone3D(b, b + 1, np.full(3, 2.2), 0.3)]),
    "entropy in a row": lambda b: (cp.Maximize(b[0] - b[1]), [cp.sum(cp.entr(b + 4)) >= -9]),
}  # fmt: skip


LEAST, MOST = -1, 2


def enumerated(case: Callable[[Any], tuple[Any, list[Any]]]) -> float:
    """The best value over all choices of the whole numbers; infinite where none will do."""
    sign = 1.0 if isinstance(case(cp.Variable(3))[0], cp.Minimize) else -1.0
    best = np.inf
    for numbers in itertools.product(range(LEAST, MOST + 1), repeat=3):
        objective, rows = case(cp.Constant(np.array(numbers, dtype=float)))
        best = min(best, sign * valued(objective, rows))
    return sign * best


def valued(objective: Any, rows: list[Any]) -> float:
    """The optimum of what is left with the whole numbers in place; the worst where nothing is."""
    worst = np.inf if isinstance(objective, cp.Minimize) else -np.inf
    problem = cp.Problem(objective, rows)
    if problem.variables():
        return float(problem.solve(cp.CLARABEL))
    holds = all(np.max(row.violation()) <= 1e-9 for row in rows)
    return float(objective.expr.value) if holds and objective.expr.value is not None else worst


@pytest.mark.filterwarnings("ignore:invalid value encountered")  # of roots of what is negative
@pytest.mark.filterwarnings("ignore:divide by zero encountered")  # of a cone at its tip
@pytest.mark.parametrize("name", CASES)
def test_the_best_choice_is_found(name: str) -> None:
    b = cp.Variable(3, integer=True)
    objective, rows = CASES[name](b)
    expected = enumerated(CASES[name])
    problem = wl.Problem(objective, [*rows, b >= LEAST, b <= MOST])
    if not np.isfinite(expected):
        with pytest.raises(wl.InfeasibleError):
            problem.solve()
        return
    found = problem.solve()
    assert found.status == "optimal"
    assert found.value == pytest.approx(expected, rel=1e-6, abs=1e-7)
    assert found.bound == pytest.approx(expected, rel=1e-5, abs=1e-6)
    np.testing.assert_array_equal(b.value, np.round(b.value))


@pytest.mark.parametrize("seed", range(12))
def test_random_choices_and_shares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, limit = rng.normal(size=(4, 3)), float(rng.uniform(1, 4))
    target = rng.normal(size=4)

    def case(b: Any) -> tuple[Any, list[Any]]:
        reach = cp.norm(rows @ b - target) if seed % 2 else cp.log_sum_exp(rows @ b - target)
        return cp.Maximize(rng_costs @ b), [reach <= limit]

    rng_costs = rng.normal(size=3)
    b = cp.Variable(3, boolean=[(0, 2)], integer=[(1,)])
    objective, stated = case(b)
    expected = -np.inf
    for first, second, third in itertools.product((0, 1), range(-3, 4), (0, 1)):
        expected = max(expected, valued(*case(cp.Constant([first, second, third]))))
    problem = wl.Problem(objective, [*stated, cp.abs(b[1]) <= 3])
    if not np.isfinite(expected):
        with pytest.raises(wl.InfeasibleError):
            problem.solve()
        return
    assert problem.solve().value == pytest.approx(expected, rel=1e-6, abs=1e-7)


def test_sets_of_values() -> None:
    x = cp.Variable(3)
    row = cp.FiniteSet(x, [0, 1, 4])
    for objective, expected in (
        (cp.Minimize(cp.norm(x - 2.4)), np.sqrt(3) * 1.4),
        (cp.Minimize(cp.sum(cp.abs(x - 2.6))), 3 * 1.4),
        (cp.Maximize(cp.sum(x) - 2 * x[0]), 8.0),
    ):
        assert wl.Problem(objective, [row]).solve().value == pytest.approx(expected, rel=1e-6)
        assert set(np.round(x.value, 6)) <= {0.0, 1.0, 4.0}


def test_the_face_of_dede_takes_them_too() -> None:
    b = cp.Variable(2, boolean=[(0,)])
    problem = dd.Problem(dd.Maximize(b[0] + b[1]), [dd.norm(b) <= 1.5], [b[1] <= 0.5])
    assert problem.solve() == pytest.approx(1.5)


def test_an_objective_without_end_is_named() -> None:
    b, x = cp.Variable(2, integer=True), cp.Variable(name="x")
    with pytest.raises(wl.UnboundedError, match="x"):
        wl.Problem(cp.Minimize(x), [cp.norm(b) <= 2]).solve()


def test_a_limit_leaves_a_point_and_a_bound() -> None:
    rng = np.random.default_rng(5)
    matrix = rng.normal(size=(30, 25))
    b = cp.Variable(25, integer=True)
    problem = wl.Problem(cp.Minimize(cp.norm(matrix @ b - 9)), [cp.abs(b) <= 9])
    found = problem.solve(time_limit=0.3)
    assert found.status in ("user_limit", "optimal")
    assert 0.0 < found.bound <= found.value * (1 + 1e-9)
    np.testing.assert_array_equal(b.value, np.round(b.value))


def test_a_limit_without_a_point_is_one_clear_error() -> None:
    b = cp.Variable(9, integer=True)
    rng = np.random.default_rng(1)
    rows = [cp.norm(rng.normal(size=(9, 9)) @ b - 7) <= 3.0]
    with pytest.raises(wl.EngineError):
        wl.Problem(cp.Minimize(cp.sum(b)), rows).solve(time_limit=0.0)


def test_rows_that_cannot_hold_together_are_named() -> None:
    b = cp.Variable(2, integer=True, name="b")
    far = (cp.norm(b - 5) <= 1).set_label("near five")
    with pytest.raises(wl.InfeasibleError, match="near five") as raised:
        wl.Problem(cp.Minimize(cp.norm(b)), [far, (b <= 1).set_label("small")]).solve()
    assert "small" in raised.value.where
    assert "reshape" not in raised.value.where


QUARTER = np.array([[1.0, 1, -1, -3], [1, 2, 2, -2], [0, -1, 0, -1]])
CLOSE: dict[str, Callable[[Any], tuple[Any, list[Any]]]] = {
    # HiGHS is content with rows that are broken by 1e-6: of a value of 0.02 that is not enough.
    "four": lambda x: (
        cp.Minimize(
            1.5 * cp.sum_squares(np.array([[3.0, 3, 1, 3]]) @ x - 2)
            + cp.sum(cp.logistic(QUARTER @ x + np.array([0.5, -1, -0.5])))
        ),
        [np.array([2.0, 2, -2, 0]) @ x == 1, x <= 4, x >= -3,
         cp.norm1(np.array([[-3.0, 3, 2, -2], [-1, 0, -3, 1], [0, -1, 2, -1]]) @ x
                  + np.array([-1.5, -1, -1])) <= 20],
    ),
    "three": lambda x: (
        cp.Minimize(
            cp.sum(cp.logistic(np.array([[-1.0, -2, 1], [0, -2, 2], [-3, 3, -2]]) @ x
                               + np.array([1.5, 2, -2])))
            + cp.pos(np.array([-2.0, -2, 2]) @ x + 1)
        ),
        [cp.sum(x) == 1, x <= 4, x >= -2],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CLOSE)
def test_small_optima_are_proved_as_close_as_they_are_asked_for(name: str) -> None:
    size = {"four": 4, "three": 3}[name]
    x, free = cp.Variable(size, integer=[(0,)]), cp.Variable(size)
    objective, rows = CLOSE[name](free)
    expected = min(
        cp.Problem(objective, [*rows, free[0] == k]).solve(cp.CLARABEL) for k in range(-3, 5)
    )
    found = wl.Problem(*CLOSE[name](x)).solve()
    assert found.status == "optimal"
    assert found.value == pytest.approx(expected, rel=2e-6)
    assert found.bound == pytest.approx(expected, rel=2e-6)
    programs = int(found.message.split("approximation, ")[1].split()[0])
    assert programs <= 20  # 451 that brought nothing, before


def test_all_elements_may_be_the_largest_ones() -> None:
    """cvxpy fails at ``sum_largest`` of all elements where a solve before has left values."""
    x, y = cp.Variable(3, boolean=[(0,)]), cp.Variable(2)
    for objective in (cp.sum_largest(x, 3) + cp.norm(x), cp.sum_largest(y, 2) + cp.exp(y[0])):
        problem = wl.Problem(cp.Minimize(objective), [x <= 5, x >= -3, y >= 1, y <= 3])
        first = problem.solve().value
        assert problem.solve().value == pytest.approx(first, abs=1e-7)
