"""Outer approximation: whole entries under utilities that are vertical at zero, by enumeration."""

from __future__ import annotations

import itertools
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import walras as wl
from walras.domains import cluster_scheduling as cs
from walras.engines.exact import outer_approximation as outer
from walras.errors import InfeasibleError
from walras.separable import Separable
from walras.separable.cvxpy.compile import Stated, Template
from walras.settings import Settings
from walras.status import Status

CALM = Settings(threads=1)
FEW = 20  # integer programs


def worth(y: np.ndarray, alpha: float) -> float:
    """The sum of alpha-fair utilities."""
    with np.errstate(divide="ignore"):
        return float(np.sum(np.log(y) if alpha == 1 else y ** (1.0 - alpha) / (1.0 - alpha)))


def enumerated(speed: Any, size: Any, capacity: Any, alpha: float) -> float:
    """The most that whole shares of jobs are worth, a job on one type at most."""
    resources, jobs = np.shape(speed)
    best = -np.inf
    for choice in itertools.product(range(-1, resources), repeat=jobs):
        on = np.array(choice)[None, :] == np.arange(resources)[:, None]
        if np.all(on @ np.asarray(size) <= np.asarray(capacity)):
            best = max(best, worth(np.sum(speed * on, axis=0), alpha))
    return best


def programs(solution: wl.Solution) -> int:
    """How many integer programs it took."""
    return int(solution.message.split(", ")[1].split()[0])


@pytest.mark.parametrize("power", [0.1, 0.5, 0.75])
@pytest.mark.parametrize("shape", [(1, 2), (3, 4)])
def test_a_job_that_gets_nothing_is_cut_exactly(power: float, shape: tuple[int, int]) -> None:
    speed = np.random.default_rng(3).uniform(1.0, 5.0, shape)
    x = cp.Variable(shape, boolean=True)
    y = cp.sum(cp.multiply(speed, x), axis=0)
    problem = wl.Problem(cp.Maximize(cp.sum(cp.power(y, power))), [cp.sum(x, axis=1) <= 1])
    found = problem.solve()
    best = power * enumerated(speed, np.ones(shape[1]), np.ones(shape[0]), 1.0 - power)
    assert found.status == "optimal"
    assert found.value == pytest.approx(best, rel=1e-6)
    assert programs(found) <= FEW


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9, 1.0, 2.0, 5.0, 10.0, 20.0])
@pytest.mark.parametrize("seed", range(4))
def test_alpha_fair_shares_in_whole_numbers(alpha: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    speed, size = rng.uniform(1.0, 9.0, (2, 4)), rng.integers(1, 3, 4)
    capacity = rng.integers(3, 6, 2)
    best = enumerated(speed, size, capacity, alpha)
    problem = cs.alpha_fair(speed, size, capacity, alpha=alpha)
    if best == -np.inf:
        with pytest.raises(InfeasibleError, match="above zero"):
            wl.solve(problem, integer=True)
        return
    found = wl.solve(problem, integer=True)
    assert found.status == "optimal"
    assert found.value == pytest.approx(best, rel=1e-6)
    assert programs(found) <= FEW


@pytest.mark.parametrize("alpha", [1.0, 2.0])
def test_a_job_that_must_get_nothing_is_named(alpha: float) -> None:
    problem = cs.alpha_fair(
        [[3.0, 2.0, 1.0]], [1, 1, 1], [2], alpha=alpha, demand_names=["a", "b", "c"]
    )
    with pytest.raises(InfeasibleError, match=r"let entries of throughput\[[abc]\] be above zero"):
        wl.solve(problem, integer=True)


def gated(alpha: float, gates: int) -> Separable:
    """Three jobs with shares of one machine, of which ``gates`` may run."""
    x, z = cp.Variable(3, boolean=True), cp.Variable(3, nonneg=True)
    utility = cp.log(z) if alpha == 1 else cp.power(z, 1.0 - alpha) / (1.0 - alpha)
    rows = [cp.sum(x) <= gates, z <= x, cp.sum(z) <= 1]
    return Template(cp.Maximize(cp.sum(utility)), [Stated(row) for row in rows]).fill()[0]


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_shares_that_whole_entries_hold_at_zero(alpha: float) -> None:
    found = wl.solve(gated(alpha, 2))
    assert found.status == "optimal"
    assert found.value == pytest.approx(2.0 * 0.5 ** (1.0 - alpha) / (1.0 - alpha), rel=1e-6)
    assert programs(found) <= FEW


@pytest.mark.parametrize("alpha", [1.0, 2.0])
def test_logarithms_that_whole_entries_hold_at_zero_are_named(alpha: float) -> None:
    with pytest.raises(InfeasibleError, match="above zero"):
        wl.solve(gated(alpha, 2))


@pytest.mark.parametrize("exponent", [1.2, 1.5])
def test_convex_powers_and_entropies_of_whole_entries(exponent: float) -> None:
    x = cp.Variable(3, integer=True)
    rows = [x >= 0, x <= 3, cp.sum(x) == 4]
    price = np.array([0.3, 0.1, 2.0])
    choices = [c for c in itertools.product(range(4), repeat=3) if sum(c) == 4]
    for atom, cost in (
        (lambda v: cp.power(v, exponent), lambda c: c**exponent),
        (lambda v: -cp.entr(v), lambda c: c * np.log(np.where(c > 0, c, 1.0))),
    ):
        best = min(price @ np.array(c) + np.sum(cost(np.array(c, float))) for c in choices)
        found = wl.Problem(cp.Minimize(price @ x + cp.sum(atom(x))), rows).solve()
        assert found.status == "optimal"
        assert found.value == pytest.approx(best, rel=1e-6)


def test_a_choice_that_comes_back_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outer._Search, "_is_binary", lambda _: False)
    found = outer.solve_by_cuts(gated(0.9, 2), CALM)
    assert found.status is Status.INACCURATE
    assert len(found.history) <= FEW
    assert outer.solve_by_cuts(gated(1.0, 2), CALM).status is Status.INFEASIBLE
