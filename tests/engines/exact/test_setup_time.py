"""Limits that are over at once: an allocation that is allowed, and a bound, wherever there are."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from tests.bank.whole import drawn_assignment

import walras as wl
from walras.engines.exact.setup_time import is_too_short
from walras.separable import Separable, assignment
from walras.settings import Settings
from walras.status import Status

cs, te = wl.domains.cluster_scheduling, wl.domains.traffic_engineering
RNG = np.random.default_rng(0)
THROUGHPUT = RNG.lognormal(size=(5, 40))


@functools.cache
def network() -> tuple[Any, Any, Any]:
    net = te.load_topology("B4")
    return net, te.lognormal_traffic(net, seed=0), te.candidate_paths(net, k=3)


def flows(state: Callable[..., Any]) -> Any:
    return state(*network())


PROBLEMS: dict[str, Callable[[], Any]] = {
    "concurrent flow": lambda: flows(te.max_concurrent_flow),
    "max-min flow": lambda: flows(te.max_min_fair),
    "total flow": lambda: flows(te.max_total_flow),
    "utilisation": lambda: flows(te.min_max_utilisation),
    "max-min": lambda: cs.max_min(THROUGHPUT, np.ones(40), np.full(5, 3.0)),
    "leximin": lambda: cs.leximin(THROUGHPUT, np.ones(40), np.full(5, 3.0)),
    "total throughput": lambda: cs.total_throughput(THROUGHPUT, np.ones(40), np.full(5, 3.0)),
    "logarithms": lambda: cs.proportional_fairness(THROUGHPUT, np.ones(40), np.full(5, 3.0)),
    "powers": lambda: cs.alpha_fair(THROUGHPUT, np.ones(40), np.full(5, 3.0), alpha=2.0),
}


@pytest.mark.parametrize(
    ("engine", "limit"), [("auto", 0.0), ("exact", 1e-3), ("interior", 0.0), ("admm", 0.0)]
)
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_there_is_an_allocation_and_a_bound(name: str, engine: str, limit: float) -> None:
    found = wl.solve(PROBLEMS[name](), engine=engine, time_limit=limit, threads=1)
    assert found.status in (Status.LIMIT, Status.OPTIMAL)
    assert found.certificate.feasible
    assert np.isfinite(found.bound)
    assert np.isfinite(found.gap)


@pytest.mark.parametrize("engine", ["auto", "exact", "integer"])
def test_assignments_are_found_whole(engine: str) -> None:
    cost, weight, capacity = drawn_assignment("C", 10, 60, 1)
    found = wl.solve(assignment(cost, weight, capacity), engine=engine, time_limit=1e-3, threads=1)
    assert found.status in (Status.LIMIT, Status.OPTIMAL)
    assert np.all(found.x.sum(axis=0) == 1.0)
    assert np.all((weight * found.x).sum(axis=1) <= capacity)
    assert np.isfinite(found.gap)


@pytest.mark.parametrize("limit", [0.0, 1e-3])
def test_equalities_are_met(limit: float) -> None:
    rng = np.random.default_rng(1)
    a, x = rng.normal(size=(30, 100)), cp.Variable(100, nonneg=True)
    rows = [a @ x == a @ rng.random(100)]
    problem = wl.Problem(cp.Minimize(rng.random(100) @ x), rows)
    found = problem.solve(engine="exact", time_limit=limit, threads=1)
    assert found.status.has_allocation
    assert np.max(rows[0].violation()) <= 1e-7
    assert np.isfinite(found.bound)


def large() -> Separable:
    throughput = np.random.default_rng(2).lognormal(size=(60, 2000))
    return cs.total_throughput(throughput, np.ones(2000), np.full(60, 3.0))


@pytest.mark.parametrize("engine", ["exact", "admm"])
def test_what_is_large_is_not_begun_in_no_time(engine: str) -> None:
    problem = large()
    wl.solve(PROBLEMS["total throughput"](), engine=engine, threads=1)  # compiled
    began = time.perf_counter()
    found = wl.solve(problem, engine=engine, time_limit=0.01, threads=1)
    assert time.perf_counter() - began < 2.0
    assert found.status is Status.LIMIT
    assert "not begun" in found.message
    assert found.value > 0.0
    assert np.isfinite(found.gap)


def test_only_what_is_large_is_left_out() -> None:
    problem = large()
    assert is_too_short(problem, Settings(time_limit=0.01))
    assert not is_too_short(problem, Settings(time_limit=10.0))
    assert not is_too_short(problem, Settings())
    assert not is_too_short(PROBLEMS["max-min"](), Settings(time_limit=0.0))
