"""A pytest plugin: outcomes go to a file, and ``Problem.solve`` to Walras where it is asked for.

Calls that Walras does not claim stay with cvxpy: settings of one solver or of another rule set (GP,
quasiconvex, gradients), solvers by object, parameters without values, and what is not DCP.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cvxpy as cp
import hypothesis
import numpy as np
import pytest
from cvxpy.problems.problem import SolverStats
from cvxpy.reductions.solution import Solution

import walras as wl
from benchmarks.conformance.suite import RECORD, WALRAS

# What calls may ask for: a solver that tells no difference, and accuracies that Walras exceeds.
SOLVERS = {
    None, "CLARABEL", "SCS", "OSQP", "HIGHS", "ECOS", "SCIPY", "ECOS_BB", "GLPK", "GLPK_MI",
    "CVXOPT", "CBC", "GUROBI",
}  # fmt: skip
SETTINGS = {
    "solver", "verbose", "warm_start", "ignore_dpp", "enforce_dpp", "canon_backend", "eps",
    "max_iters", "abstol", "reltol", "feastol", "eps_abs", "eps_rel", "eps_prim_inf",
}  # fmt: skip
LIMIT = 60.0  # seconds a solve
TOLERANCE = 1e-8  # what cvxpy's own solvers aim at
OPTIMAL = 1e-6  # what Walras calls optimal unless it is told otherwise

_cvxpy_solve = cp.Problem.solve


class Counter:
    """Solves through Walras since it was last read, and whether one is under way."""

    solves = 0
    busy = False


def pytest_configure(config: pytest.Config) -> None:
    """Send solves to Walras, if asked to; the same examples in both runs, however slow."""
    hypothesis.settings.register_profile(
        "conformance",
        deadline=None,
        derandomize=True,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    hypothesis.settings.load_profile("conformance")
    if os.environ.get(WALRAS):
        cp.Problem.solve = _solve


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """One line a phase of a test."""
    made = yield
    report = made.get_result()  # type: ignore[attr-defined]
    words = _first_line(report.longrepr) if report.failed else ""
    line = {
        "test": item.nodeid,
        "outcome": report.outcome,
        "solves": Counter.solves,
        "words": words,
    }
    Counter.solves = 0
    with Path(os.environ[RECORD]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _first_line(failure: Any) -> str:
    crash = getattr(failure, "reprcrash", None)
    return (str(failure) if crash is None else crash.message).strip().splitlines()[0]


def _is_claimed(problem: cp.Problem, solver: Any, settings: dict[str, Any]) -> bool:
    return (
        not Counter.busy
        and type(problem) is cp.Problem
        and (solver is None or isinstance(solver, str))
        and (solver is None or solver.upper() in SOLVERS)
        and not set(settings) - SETTINGS
        and bool(problem.variables())
        and all(parameter.value is not None for parameter in problem.parameters())
        and bool(problem.is_dcp())
    )


def _solve(problem: cp.Problem, *placed: Any, **settings: Any) -> Any:
    """``Problem.solve`` by Walras, with what cvxpy's callers read afterwards."""
    solver = settings.get("solver", placed[0] if placed else None)
    if not _is_claimed(problem, solver, settings):
        return _cvxpy_solve(problem, *placed, **settings)
    Counter.busy = True
    Counter.solves += 1
    try:
        return _solved(problem)
    finally:
        Counter.busy = False


def _solved(problem: cp.Problem) -> float:
    stated = wl.Problem(problem.objective, problem.constraints)
    worst = np.inf if isinstance(problem.objective, cp.Minimize) else -np.inf
    seconds, steps = 0.0, 0
    try:
        found = stated.solve(threads=1, time_limit=LIMIT, tolerance=TOLERANCE)
        if not found.status.has_allocation:
            raise cp.error.SolverError(f"{found.status}: {found.message}")
        is_optimal = found.certificate.proves(OPTIMAL)
        status, value = cp.OPTIMAL if is_optimal else str(found.status), float(found.value)
        seconds, steps = found.timings.total, len(found.history.steps)
    except wl.InfeasibleError:
        status, value = cp.INFEASIBLE, worst
    except wl.UnboundedError:
        status, value = cp.UNBOUNDED, -worst
    except (wl.InputError, wl.EngineError) as reason:  # cvxpy's word for what no solver takes
        raise cp.error.SolverError(str(reason)) from reason
    has_values = status in cp.settings.SOLUTION_PRESENT
    primal = {v.id: v.value for v in problem.variables()} if has_values else {}
    dual = {c.id: c.dual_value for c in problem.constraints} if has_values else {}
    problem._status, problem._value = status, value
    problem._solution = Solution(status, value, primal, dual, {})
    problem._solver_stats = SolverStats("walras", seconds, 0.0, max(steps, 1))
    return value
