"""Flows on candidate paths, and their optima by HiGHS."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from tests.domains.traffic_engineering.networks import random_case

import walras as wl
from walras.engines.exact.engine import linear_program
from walras.engines.interior.presolve_simplices import Presolved, Simplices
from walras.programs.highs import LinearProgram, solve_program
from walras.separable import Separable
from walras.settings import Settings

te = wl.domains.traffic_engineering


SEEDS = st.integers(0, 100_000)


OBJECTIVES = st.sampled_from([te.max_total_flow, te.min_max_utilisation])


def flow(seed: int, objective: object, scale: float = 1.0) -> Separable:
    case = random_case(seed)
    return objective(case.net, scale * case.demand, case.paths)  # type: ignore[operator]


def optimum(problem: Separable, decided: Presolved | None = None) -> float:
    """By HiGHS; with ``decided``, only where that holds."""
    program = linear_program(problem)
    if decided is not None:
        s, upper, row_upper = Simplices.of(problem), program.upper.copy(), program.row_upper.copy()
        assert s is not None
        upper[s.entry[decided.closed]] = 0.0
        row_upper[decided.loose] = np.inf
        lower = program.row_lower.copy()
        lower[s.row[decided.settled]] = row_upper[s.row[decided.settled]]
        program = LinearProgram(
            program.cost, program.lower, upper, program.matrix, lower, row_upper, None
        )
    answer = solve_program(program, Settings())
    assert answer.x is not None
    return float(program.cost @ answer.x)
