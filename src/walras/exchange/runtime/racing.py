"""HiGHS on the linear program of an allocation, with its value and bound as they move."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np

from walras.engines.exact.engine import is_linear, linear_program
from walras.quiet_highs import new_highs
from walras.separable import Separable

# A line of the interior point: iteration, objectives and relative infeasibilities, primal and dual.
_LINE = re.compile(r"^\s*\d+\*?" + 4 * r"\s+([-+.\deE]+)")
_FEASIBLE = 1e-6  # infeasibility up to which an objective is a value, or a bound
_PAUSE = 0.5  # seconds between two reports

Point = tuple[float, float | None, float | None]
"""Seconds, value and bound; None where there is none."""


@dataclass(frozen=True)
class Race:
    """What HiGHS came to.

    Attributes:
        status: In HiGHS' own words.
        seconds: Until it ended.
        value: Objective of its last point, where that is feasible.
        points: The way there.
    """

    status: str
    seconds: float
    value: float | None
    points: list[Point]


def run_highs(
    problem: Separable, seconds: float, on_points: Callable[[list[Point]], bool]
) -> Race | None:
    """Solve a problem by HiGHS' interior point with crossover, on one thread.

    Args:
        problem: The problem.
        seconds: Its time limit.
        on_points: Called with the points so far; True stops it.

    Returns:
        What it came to; None where the objective is not linear, for which HiGHS has no method.
    """
    if not is_linear(problem):
        return None
    solver, points = new_highs(), list[Point]()
    for option, setting in (
        ("solver", "ipm"),
        ("threads", 1),
        ("time_limit", seconds),
        ("output_flag", True),
        ("log_to_console", False),
    ):
        solver.setOptionValue(option, setting)
    began = time.perf_counter()

    def heard(event: Any) -> None:
        found = _LINE.match(event.message)
        if found:
            primal, dual, outside, off = map(float, found.groups())
            value = _reported(problem, primal) if outside <= _FEASIBLE else None
            bound = _reported(problem, dual) if off <= _FEASIBLE else None
            points.append((time.perf_counter() - began, value, bound))

    reported_at = began

    def looked(event: Any) -> None:
        nonlocal reported_at
        if time.perf_counter() - reported_at > _PAUSE:
            reported_at = time.perf_counter()
            if on_points(points):
                event.interrupt()

    solver.cbLogging.subscribe(heard)
    solver.cbIpmInterrupt.subscribe(looked)
    solver.cbSimplexInterrupt.subscribe(looked)
    solver.passModel(_model(problem))
    solver.run()
    spent = time.perf_counter() - began
    status = solver.modelStatusToString(solver.getModelStatus())
    last: float | None = None
    if solver.getModelStatus() == highspy.HighsModelStatus.kOptimal:
        last = _reported(problem, float(solver.getInfo().objective_function_value))
        points.append((spent, last, last))
    elif points:
        last = points[-1][1]
    return Race(status, spent, last, points)


def _reported(problem: Separable, value: float) -> float | None:
    found = problem.reported(value + problem.constant)
    return float(found) if np.isfinite(found) else None


def _model(problem: Separable) -> highspy.HighsLp:
    program = linear_program(problem)
    matrix, model = program.matrix, highspy.HighsLp()
    model.num_row_, model.num_col_ = matrix.shape
    model.col_cost_ = program.cost
    model.col_lower_, model.col_upper_ = program.lower, program.upper
    model.row_lower_, model.row_upper_ = program.row_lower, program.row_upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = matrix.indptr
    model.a_matrix_.index_ = matrix.indices
    model.a_matrix_.value_ = matrix.data
    return model
