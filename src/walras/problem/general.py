"""Problems outside the separable form: cvxpy's own chain to Clarabel or HiGHS.

The bound is the solver's own dual objective, not recomputed: the certificate says so.
"""

from __future__ import annotations

import contextlib
import logging
import time
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import cvxpy as cp
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras.certificate import Certificate
from walras.engines.highs_quiet import hush_highs
from walras.engines.settings import Settings
from walras.errors import EngineError, InfeasibleError, UnboundedError
from walras.history import Timings
from walras.problem.impossible import conflict, runaways
from walras.separable import Rows, Separable
from walras.separable.from_cvxpy_atoms import short_name
from walras.separable.from_cvxpy_names import variable_name
from walras.solution import Solution
from walras.status import Status

Floats = npt.NDArray[np.float64]

# Least denominator of a relative gap: below it the objective counts as zero and the gap is
# absolute. Clarabel is asked for this share of the tolerance as an absolute gap, so that it can
# prove an optimum of zero.
_LEAST_SCALE = 1e-2
_TIGHT = 1e-10  # what Clarabel may break constraints by
_DUAL = 1e-6  # dual residual up to which an unfinished solve's dual objective counts as a bound

_log = logging.getLogger(__name__)


def solve_general(problem: cp.Problem, settings: Settings) -> Solution:
    """Solve any DCP problem and measure the answer.

    Args:
        problem: A DCP problem.
        settings: ``callback`` cannot be honoured, nor ``threads`` by HiGHS; the log says so.
            ``verbose`` shows the solver's own log.

    Returns:
        A solution without resources and demands: its entries are the flattened variables. Its
        status is ``solver_error`` where the point breaks a constraint by more than 1e-9, relative.

    Raises:
        InfeasibleError: The solver proved that no point meets the constraints.
        UnboundedError: The solver proved that the objective has no end.
        EngineError: No solver takes the problem, or it broke down.
    """
    solver = cp.HIGHS if problem.is_mixed_integer() else cp.CLARABEL
    _log_what_is_ignored(solver, settings)
    hush_highs()
    options = _options(solver, settings)
    began = time.perf_counter()
    data, chain, inverse = _data(problem, solver, options)
    built = time.perf_counter()
    raw = chain.solver.solve_via_data(data, False, settings.verbose, options)
    solved = time.perf_counter()
    with warnings.catch_warnings():
        # The certificate says how accurate the point is; cvxpy's general warning adds nothing.
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        problem.unpack_results(raw, chain, inverse)
    _make_dense(problem)
    _raise_unless_solved(problem, solver)
    distance = _dual_distance(raw, solver)
    sign = -1.0 if isinstance(problem.objective, cp.Maximize) else 1.0
    value = sign * float(problem.objective.expr.value)
    certificate = _certificate(problem, value, value - distance)
    if problem.status == cp.settings.USER_LIMIT and not certificate.feasible:
        certificate = _feasible(problem, certificate, sign)
    return Solution(
        problem=_shell(problem),
        certificate=certificate,
        status=_status(problem.status, certificate, settings.tolerance),
        engine="exact",
        tolerance=settings.tolerance,
        timings=Timings(build=built - began, iterate=solved - built),
        message=_message(problem, solver, certificate),
    )


def _make_dense(problem: cp.Problem) -> None:
    """Values of diagonal variables as arrays, which cvxpy can index, and of scalars too."""
    for variable in problem.variables():
        if sp.issparse(variable.value) or np.isscalar(variable.value):
            variable.save_value(_dense(variable.value))


def _dense(value: Any) -> npt.NDArray[Any]:
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value)


def _feasible(problem: cp.Problem, stopped: Certificate, sign: float) -> Certificate:
    """The certificate of some point that meets the constraints, where a limit left one that fails.

    It is the interior point of the same constraints without an objective, found without a limit;
    the bound of the unfinished solve is worth nothing.
    """
    left = {variable: variable.value for variable in problem.variables()}
    domain = problem.objective.expr.domain
    aimless = cp.Problem(cp.Minimize(0), [*problem.constraints, *domain])
    with contextlib.suppress(cp.error.SolverError):
        aimless.solve(cp.CLARABEL, tol_feas=_TIGHT)
    for variable, value in left.items():
        if variable.value is None:  # it stands in the objective alone
            variable.value = value
    if aimless.status == cp.OPTIMAL:
        found = _certificate(problem, sign * float(problem.objective.expr.value), -np.inf)
        if found.feasible:
            return found
    for variable, value in left.items():
        variable.value = value
    return stopped


def _message(problem: cp.Problem, solver: str, certificate: Certificate) -> str:
    if certificate.feasible:
        return f"{solver} through cvxpy; the bound is its own dual objective"
    broken = {f"the declaration of {v.name()}": _outside_domain(v) for v in problem.variables()}
    broken |= {short_name(item): _violation(item) for item in problem.constraints}
    worst = max(broken, key=lambda name: broken[name])
    return (
        f"{solver} through cvxpy ended with {problem.status}; the point that it left breaks "
        f"{worst} by {broken[worst]:.1e}, relative"
    )


def _log_what_is_ignored(solver: str, settings: Settings) -> None:
    ignored = ["callback"] if settings.callback is not None else []
    if settings.threads is not None and solver == cp.HIGHS:
        ignored.append("threads")
    for name in ignored:
        _log.warning(
            "%s is not used: the problem is outside the separable form and goes to %s",
            name,
            solver,
        )


def _status(ended: str, certificate: Certificate, tolerance: float) -> Status:
    """Optimal if the certificate shows it; else how the solver ended, if the point is feasible."""
    if certificate.proves(tolerance):
        return Status.OPTIMAL
    if not certificate.feasible:
        return Status.FAILED
    return Status.LIMIT if ended == cp.settings.USER_LIMIT else Status.INACCURATE


def _options(solver: str, settings: Settings) -> dict[str, Any]:
    limits: dict[str, Any] = {}
    if settings.time_limit is not None and np.isfinite(settings.time_limit):
        limits["time_limit"] = float(settings.time_limit)
    if solver == cp.HIGHS:
        return limits | {"mip_rel_gap": settings.tolerance}
    tight = float(np.clip(settings.tolerance * _LEAST_SCALE, 1e-12, 1e-8))
    limits |= {"tol_gap_abs": tight, "tol_gap_rel": tight, "tol_feas": _TIGHT}
    return limits if settings.threads is None else limits | {"max_threads": settings.threads}


def _data(problem: cp.Problem, solver: str, options: dict[str, Any]) -> tuple[Any, Any, Any]:
    try:
        return problem.get_problem_data(solver, solver_opts=options)  # type: ignore[no-any-return]
    except cp.error.SolverError as reason:
        raise EngineError(
            f"no solver takes it ({reason})",
            where="problem outside the separable form",
            allowed="integer variables in linear constraints and objectives, or none",
            remedy="drop the integrality, or make the nonlinear parts piecewise linear",
        ) from reason


def _raise_unless_solved(problem: cp.Problem, solver: str) -> None:
    if problem.status in cp.settings.SOLUTION_PRESENT:
        return
    if problem.status in cp.settings.INF_OR_UNB and "unbounded" not in problem.status:
        found = conflict(problem)
        raise InfeasibleError(
            f"{solver} proved that no point meets all constraints",
            where=f"problem outside the separable form: {', '.join(found.names)}" if found else
            "problem outside the separable form",
            allowed="constraints that some point meets",
            remedy=f"the least that would do: {found.relaxation}" if found else "relax constraints",
        )  # fmt: skip
    if problem.status in cp.settings.INF_OR_UNB:
        away = runaways(problem)
        raise UnboundedError(
            f"{solver} proved that the objective improves without end",
            where="problem outside the separable form" + (f": {away}" if away else ""),
            allowed="a finite optimum",
            remedy=f"bound {away or 'the variables'}",
        )
    raise EngineError(
        f"{solver} ended with {problem.status}",
        where="engine exact",
        remedy="rescale the data, or raise the time limit",
    )


def _dual_distance(raw: Any, solver: str) -> float:
    """Value minus bound of the minimisation, both as the solver saw them."""
    if solver == cp.CLARABEL:
        return float(raw.obj_val - raw.obj_val_dual) if raw.r_dual <= _DUAL else np.inf
    info = raw["info"]
    if info.mip_node_count < 0:
        return 0.0
    return float(info.objective_function_value - info.mip_dual_bound)


def _certificate(problem: cp.Problem, value: float, bound: float) -> Certificate:
    x = _flat(problem.variables())
    scale = max(abs(value), abs(bound), _LEAST_SCALE)
    violations = [_violation(constraint) for constraint in problem.constraints]
    worst = int(np.argmax(violations)) if violations else -1
    return Certificate(
        x=x,
        t=np.zeros(0),
        prices=np.zeros(0),
        reduced=np.zeros(len(x)),
        value=value,
        bound=bound,
        gap=max(value - bound, 0.0) / scale if np.isfinite(scale) else np.inf,
        violation=max([*violations, *(_outside_domain(v) for v in problem.variables())]),
        worst_row=worst,
        stationarity=np.nan,
        bound_source="Clarabel",
        gap_unit="of the value" if scale > _LEAST_SCALE else "of a hundredth",
    )


def _violation(constraint: Any) -> float:
    """Largest residual, relative to the constraint's largest number."""
    size = max((float(np.max(np.abs(arg.value))) for arg in constraint.args if arg.size), default=0)
    return float(np.max(constraint.violation(), initial=0.0)) / max(1.0, size)


def _outside_domain(variable: Any) -> float:
    """Distance of a variable from what its declaration admits, relative to its largest number."""
    value = np.asarray(variable.value)
    away = np.abs(value - _dense(variable.project(value)))
    return float(np.max(away, initial=0.0)) / max(1.0, float(np.max(np.abs(value), initial=0.0)))


def _flat(variables: Sequence[Any]) -> Floats:
    return np.concatenate([np.real(np.asarray(v.value)).ravel(order="F") for v in variables])


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
