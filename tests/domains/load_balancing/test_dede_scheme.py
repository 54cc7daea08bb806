"""DeDe's scheme for load balancing: its parts against brute force, its placements by the rules."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from tests.domains.load_balancing.rounds import drawn_round

from walras.domains import load_balancing as lb
from walras.domains.load_balancing.dede_scheme import _Servers, _to_shares
from walras.errors import InputError


def test_columns_are_projected_to_shares() -> None:
    x = np.random.default_rng(0).normal(0.2, 0.5, (5, 7))
    found = _to_shares(x)
    for j in range(7):
        z = cp.Variable(5, nonneg=True)
        cp.Problem(cp.Minimize(cp.sum_squares(z - x[:, j])), [cp.sum(z) == 1]).solve(cp.CLARABEL)
        assert found[:, j] == pytest.approx(z.value, abs=1e-5)


def test_a_server_without_new_replicas_solves_its_quadratic_problem() -> None:
    problem = lb.make_round([6.0, 4.0, 2.0, 5.0, 1.0], [[1, 1, 1, 1, 1]] * 2, band=0.1)
    target = np.random.default_rng(1).uniform(-0.2, 1.2, (2, 5))
    found = _Servers(problem, 1.0).nearest(target)
    for i in range(2):
        x = cp.Variable(5)
        used = problem.load @ x
        rules = [x >= 0, x <= 1, used >= problem.lower[i], used <= problem.upper[i]]
        cp.Problem(cp.Minimize(cp.sum_squares(x - target[i])), rules).solve(cp.CLARABEL)
        assert found[i] == pytest.approx(x.value, abs=1e-4)


def test_a_new_replica_must_be_worth_its_cost() -> None:
    problem = lb.make_round([1.0, 1.0, 1.0, 1.0], [0, 0, 1, 1], band=1.0)
    target = np.array([[1.0, 1.0, 0.9, 0.3], [0.0, 0.0, 1.0, 1.0]])
    # Worth rho/2 * .81 = 1.62 and rho/2 * .09 = .18 beside a cost of 1.
    found = _Servers(problem, 4.0).nearest(target)
    assert found.tolist() == [[1.0, 1.0, 0.9, 0.0], [0.0, 0.0, 1.0, 1.0]]


@pytest.mark.parametrize("seed", range(6))
def test_its_placement_keeps_all_limits_and_its_bound(seed: int) -> None:
    problem = drawn_round(seed, 6, 30)
    found = lb.dede_scheme(problem)
    assert found.violation <= 1e-6
    assert found.bound <= found.value
    assert found.value >= lb.solve_round(problem).bound - 1e-9


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"iterations": 0}, "iterations"),
        ({"rho": 0.0}, "rho"),
        ({"time_limit": -1.0}, "time_limit"),
    ],
)
def test_bad_input_is_named(changed: dict[str, Any], where: str) -> None:
    with pytest.raises(InputError) as caught:
        lb.dede_scheme(drawn_round(0, 4, 12), **changed)
    assert caught.value.where == where


def test_fixed_replicas_are_refused() -> None:
    problem = lb.make_round([4, 3, 2, 1], placement=[0, 0, 0, 1], servers=2, replicas=1)
    with pytest.raises(InputError) as caught:
        lb.dede_scheme(problem)
    assert caught.value.where == "problem"
