"""Problems outside the separable form: cvxpy's own chain to Clarabel, or to HiGHS with integers.

The bound is recomputed from the prices of the conic program; where that misses the tolerance, it is
the solver's own, and the solution says whose.
"""

from __future__ import annotations

import logging
from functools import partial

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from walras.certificate.certify import PRICES
from walras.problem.conic import solve_conic
from walras.problem.continuous import with_whole_choices
from walras.problem.measure import as_cvxpy_gives
from walras.problem.mixed import has_cones, solve_mixed
from walras.problem.proof import ENOUGH, Found, worst_of
from walras.problem.whole import solve_whole
from walras.separable import Rows, Separable
from walras.separable.cvxpy.names import variable_name
from walras.settings import Settings
from walras.solution import Solution
from walras.status import Status

_log = logging.getLogger(__name__)


def solve_general(problem: cp.Problem, settings: Settings) -> Solution:
    """Solve a DCP problem by HiGHS or Clarabel; measure the answer on the user's expressions.

    Args:
        problem: A DCP problem.
        settings: ``on_progress`` cannot be honoured, nor ``threads`` by HiGHS; the log says so.
            ``verbose`` shows the solver's own log.

    Returns:
        A solution without resources and demands: its entries are the flattened variables. It is
        feasible where every constraint holds to 1e-8, relative to the largest number of the
        constraint; a point that holds them to 1e-5 comes back as ``optimal_inaccurate``, with its
        violation.

    Raises:
        InfeasibleError: The solver proved that no point meets the constraints.
        UnboundedError: The solver proved that the objective has no end.
        EngineError: No solver takes the problem, or it broke down.
    """
    problem = with_whole_choices(problem)
    is_whole = problem.is_mixed_integer()
    _log_what_is_ignored("HiGHS" if is_whole else "Clarabel", settings)
    whole = solve_mixed if is_whole and has_cones(problem) else solve_whole
    found = (whole if is_whole else solve_conic)(problem, settings)
    message = _message(problem, found)
    as_cvxpy_gives(problem)
    return Solution(
        problem=_shell(problem),
        certificate=found.proof,
        status=_status(found, settings.tolerance),
        engine="exact",
        tolerance=settings.tolerance,
        timings=found.timings,
        message=message,
    )


def _message(problem: cp.Problem, found: Found) -> str:
    if found.proof.feasible:
        whose = "recomputed from the prices of its cones"
        own = f"{found.proof.bound_source}'s own"
        return (
            f"{found.solver} through cvxpy; the bound is "
            f"{whose if found.proof.bound_source == PRICES else own}"
        )
    name, far = worst_of(problem, found.proof.violation)
    return (
        f"{found.solver} through cvxpy ended with {found.ended}; the point that it left breaks "
        f"{name} by {far:.1e}, relative"
    )


def _log_what_is_ignored(solver: str, settings: Settings) -> None:
    ignored = ["on_progress"] if settings.on_progress is not None else []
    if settings.threads is not None and solver == "HiGHS":
        ignored.append("threads")
    for name in ignored:
        _log.warning(
            "%s is not used: the problem is outside the separable form and goes to %s",
            name,
            solver,
        )


def _status(found: Found, tolerance: float) -> Status:
    """Optimal if the certificate shows it; else how the solver ended, if the point will do."""
    if found.proof.proves(tolerance):
        return Status.OPTIMAL
    if not found.proof.feasible:
        return Status.INACCURATE if found.proof.violation <= ENOUGH else Status.FAILED
    return Status.LIMIT if found.stopped else Status.INACCURATE


def _shell(problem: cp.Problem) -> Separable:
    """A form without rows that carries what a solution reports."""
    n = sum(v.size for v in problem.variables())
    rows = Rows(
        sp.csc_array((0, n)),
        np.zeros((0, 0)),
        np.zeros(0),
        np.zeros(0),
        np.zeros(0, np.int8),
        np.zeros(0, np.int32),
        np.zeros(0, np.int8),
        np.zeros(0),
        np.zeros(0),
        (),
    )
    nobody, free = np.full(n, -1, np.int32), np.full(n, np.inf)
    none = np.zeros(0)
    return Separable(
        nobody,
        nobody,
        np.zeros(n),
        np.zeros(n),
        -free,
        free,
        none,
        none,
        none,
        rows,
        [],
        [],
        maximize=isinstance(problem.objective, cp.Maximize),
        objective="objective outside the separable form",
        namer=partial(variable_name, problem.variables()),
    )
