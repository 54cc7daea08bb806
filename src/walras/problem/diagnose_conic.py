"""Why a problem outside the separable form has no optimum: constraints, or variables, by name.

Infeasible: every constraint gets a slack, and the least sum of slacks is found. Its dual values are
a proof that the constraints which have one cannot hold together (Farkas); the slacks are the least
relaxation. Unbounded: inside a large box the optimum sits where the objective runs away.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

import cvxpy as cp
import numpy as np

from walras.errors import EngineError, InfeasibleError, UnboundedError
from walras.quiet_highs import hush_highs
from walras.separable.cvxpy.atoms import short_name

_SLIGHT = 1e-6  # relative size from which a slack, or a dual value, says something
_BOX = 1e5  # times the largest number of the constraints: how far a variable may go
_AT_EDGE = 0.9
_SHOWN = 5


@dataclass(frozen=True)
class Infeasibility:
    """Constraints that cannot hold together, and what would do.

    Attributes:
        names: The constraints.
        relaxation: The least relaxation of some of them, in words.
    """

    names: tuple[str, ...]
    relaxation: str


def raise_impossible(problem: cp.Problem, solver: str, status: str) -> NoReturn:
    """Say why a solver left no point, by its status in cvxpy's words.

    Raises:
        InfeasibleError: It proved that no point meets the constraints.
        UnboundedError: It proved that the objective has no end.
        EngineError: It proved neither.
    """
    outside = "problem outside the separable form"
    for variable in problem.variables():  # what a run left of them is no start for the next ones
        variable.save_value(None)
    is_either = status in cp.settings.INF_OR_UNB
    found = infeasibility_of(problem) if is_either and "infeasible" in status else None
    if is_either and (found or "unbounded" not in status):
        raise InfeasibleError(
            f"{solver} proved that no point meets all constraints",
            where=f"{outside}: {', '.join(found.names)}" if found else outside,
            allowed="constraints that some point meets",
            remedy=f"the least that would do: {found.relaxation}" if found else "relax constraints",
        )
    if is_either:
        away = runaways(problem)
        raise UnboundedError(
            f"{solver} proved that the objective improves without end",
            where=outside + (f": {away}" if away else ""),
            allowed="a finite optimum",
            remedy=f"bound {away or 'the variables'}",
        )
    raise EngineError(
        f"{solver} ended with {status}",
        where="engine exact",
        remedy="rescale the data, or raise the time limit",
    )


def infeasibility_of(problem: cp.Problem) -> Infeasibility | None:
    """The constraints that cannot hold together, or None where no solver tells."""
    slacks = [cp.Variable(_shape(item), nonneg=True) for item in problem.constraints]
    relaxed = [_relaxed(item, s) for item, s in zip(problem.constraints, slacks, strict=True)]
    least = cp.Problem(cp.Minimize(sum(cp.sum(s) for s in slacks)), relaxed)
    if not problem.constraints or not _solved(least):
        return None
    amounts = np.array([float(np.max(s.value, initial=0.0)) for s in slacks])
    duals = np.array([_size(item.dual_value) for item in relaxed])
    names = [short_name(item) for item in problem.constraints]
    opened = np.flatnonzero(amounts > _SLIGHT * max(1.0, float(np.max(amounts))))
    if not len(opened):
        return None
    held = np.flatnonzero(duals > _SLIGHT * max(float(np.max(duals)), _SLIGHT))
    order = opened[np.argsort(-amounts[opened], kind="stable")]
    words = [f"{names[k]} by {amounts[k]:.6g}" for k in order[:_SHOWN]]
    rows = dict.fromkeys(names[k] for k in np.union1d(opened, held))
    return Infeasibility(tuple(rows), "relax " + _listed(words, len(order)))


def runaways(problem: cp.Problem) -> str:
    """The variables that the objective drives away without end; empty where no solver tells."""
    variables = problem.variables()
    kept = [value for value in (_size(c.value) for c in problem.constants()) if np.isfinite(value)]
    edge = _BOX * max([1.0, *kept])
    box = [cp.abs(v) <= edge for v in variables]
    if not _solved(cp.Problem(problem.objective, [*problem.constraints, *box])):
        return ""
    return _listed([v.name() for v in variables if _size(v.value) >= _AT_EDGE * edge])


def _relaxed(item: cp.Constraint, slack: cp.Variable) -> cp.Constraint:
    """The constraint with room of ``slack``; others than these stay as they are."""
    if isinstance(item, cp.constraints.Inequality):
        return item.expr <= slack
    if isinstance(item, cp.constraints.Equality | cp.constraints.Zero):
        return cp.abs(item.expr) <= slack
    if isinstance(item, cp.constraints.PSD):
        return item.expr + slack * np.eye(item.expr.shape[0]) >> 0
    return item


def _shape(item: cp.Constraint) -> tuple[int, ...]:
    kinds = (cp.constraints.Inequality, cp.constraints.Equality, cp.constraints.Zero)
    return tuple(item.expr.shape) if isinstance(item, kinds) else ()


def _solved(problem: cp.Problem) -> bool:
    hush_highs()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        try:
            problem.solve(cp.HIGHS if problem.is_mixed_integer() else cp.CLARABEL)
        except cp.error.SolverError:
            return False
    return problem.status in cp.settings.SOLUTION_PRESENT


def _size(value: object) -> float:
    """The largest absolute number of a value, of one of its parts; 0 of nothing."""
    if value is None:
        return 0.0
    if isinstance(value, list | tuple):
        return max((_size(part) for part in value), default=0.0)
    dense = value.toarray() if hasattr(value, "toarray") else value
    return float(np.max(np.abs(np.asarray(dense, dtype=np.complex128)), initial=0.0))


def _listed(words: Sequence[str], count: int | None = None) -> str:
    more = (len(words) if count is None else count) - len(words)
    return ", ".join(words) + (f" and {more} more" if more > 0 else "")
