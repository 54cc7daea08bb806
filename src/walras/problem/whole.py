"""HiGHS on what cvxpy's chain hands it: linear problems outside the form with integers."""

from __future__ import annotations

import time
import warnings
from typing import Any

import cvxpy as cp
import numpy as np

from walras.problem.cones import Program
from walras.problem.conic import chain_of, panics_reported
from walras.problem.diagnose_conic import raise_impossible
from walras.problem.dual import bound_of, implied_box, trivial_bound
from walras.problem.measure import make_dense
from walras.problem.proof import Found, proved
from walras.progress import Timings
from walras.quiet_highs import hush_highs
from walras.settings import Settings

_AIMLESS = 10.0  # seconds for a first point, where a limit left none


def solve_whole(problem: cp.Problem, settings: Settings) -> Found:
    """Solve a linear problem with integers; the values stand in its variables.

    A limit that leaves no point is followed by a search for some point, without an objective.

    Raises:
        InfeasibleError: No point meets the constraints.
        UnboundedError: The objective has no end.
        EngineError: cvxpy has no chain for it, or HiGHS broke down.
    """
    hush_highs()
    began = time.perf_counter()
    data, chain, inverse = chain_of(problem, cp.HIGHS)
    program = Program.of(data, float(inverse[-1][cp.settings.OFFSET]))
    limit = settings.time_limit
    limited = {} if limit is None or not np.isfinite(limit) else {"time_limit": float(limit)}
    built = time.perf_counter()
    raw = chain.solver.solve_via_data(
        data, False, settings.verbose, {"mip_rel_gap": settings.tolerance} | limited
    )
    solved = time.perf_counter()
    ended = str(raw["model_status"]).removeprefix("k")
    if ended == "TimeLimit" and not _has_point(raw):
        aimless = data | {"c": np.zeros_like(data["c"])}
        given = chain.solver.solve_via_data(aimless, False, False, {"time_limit": _AIMLESS})
    else:
        given = raw
    _unpack(problem, given, chain, inverse)
    bound = _relaxed_bound(program, data, limited)
    own = _own_bound(raw) + program.constant
    proof = proved(
        problem,
        (own, "HiGHS"),
        bound,
        settings.tolerance,
        float(given["info"].max_primal_infeasibility),
    )
    timings = Timings(build=built - began, iterate=solved - built)
    return Found(proof, ended, ended == "TimeLimit", "HiGHS", timings)


def _has_point(raw: Any) -> bool:
    return bool(raw["solution"].value_valid) and np.isfinite(raw["info"].objective_function_value)


def _own_bound(raw: Any) -> float:
    info = raw["info"]
    return float(info.objective_function_value if info.mip_node_count < 0 else info.mip_dual_bound)


def _unpack(problem: cp.Problem, raw: Any, chain: Any, inverse: Any) -> None:
    """Give an answer to the variables.

    Raises:
        InfeasibleError, UnboundedError, EngineError: There is none.
    """
    with warnings.catch_warnings():
        # The certificate, or the error, says what cvxpy's general warnings cannot.
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        warnings.filterwarnings("ignore", message=r"\s*The problem is either infeasible")
        try:
            problem.unpack_results(raw, chain, inverse)
        except cp.error.SolverError:
            raise_impossible(problem, "HiGHS", str(problem.status))
    if problem.status not in cp.settings.SOLUTION_PRESENT:
        raise_impossible(problem, "HiGHS", str(problem.status))
    make_dense(problem)


def _relaxed_bound(program: Program, data: dict[str, Any], limited: dict[str, Any]) -> float:
    """What the prices of the continuous relaxation prove."""
    box = implied_box(program)
    solver = cp.reductions.solvers.defines.SOLVER_MAP_CONIC[cp.CLARABEL]
    with panics_reported():
        relaxed = solver.solve_via_data(data, False, False, limited)
    x, z = np.asarray(relaxed.x), np.asarray(relaxed.z)
    return max(trivial_bound(program, box), bound_of(program, box, x, z))
