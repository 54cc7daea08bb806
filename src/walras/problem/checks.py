"""What a user's objective and constraints must be, with the first thing that is wrong named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.constraints.constraint import Constraint
from cvxpy.constraints.nonpos import Inequality
from cvxpy.constraints.zero import Equality

from walras import checks
from walras.errors import InfeasibleError, InputError
from walras.separable.cvxpy.atoms import short_name
from walras.separable.cvxpy.leaves import bounds
from walras.separable.cvxpy.names import variable_name
from walras.separable.cvxpy.read import is_readable


def check_objective(objective: Any) -> None:
    """The objective is ``Minimize`` or ``Maximize`` of a real DCP expression.

    Raises:
        InputError: It is not; names the sub-expression that breaks the rules.
    """
    allowed = "cvxpy.Minimize(...) or cvxpy.Maximize(...)"
    remedy = "wrap the expression in one of them"
    checks.of_kind(objective, (cp.Minimize, cp.Maximize), "objective", allowed, remedy=remedy)
    if objective.is_dcp():
        return
    wanted = "convex" if isinstance(objective, cp.Minimize) else "concave"
    broken = _first_breach(objective.expr)
    if broken is None:
        raise InputError(
            f"is {objective.expr.curvature.lower()}, so its optimum cannot be certified",
            where=f"objective {short_name(objective.expr)}",
            allowed=f"a {wanted} expression",
            remedy="turn Minimize and Maximize round, or restate it (cvxpy's DCP rules)",
        )
    raise InputError(
        "does not follow cvxpy's rules for convex expressions (DCP)",
        where=f"{short_name(broken)} in the objective",
        allowed=f"a {wanted} DCP expression",
        remedy="write it with an atom of known curvature, such as square, log, inv_pos, min, max",
    )


def check_constraints(constraints: Sequence[Any] | None, what: str = "constraint") -> list[Any]:
    """A list of DCP constraints; ``True`` counts as none, and None as an empty list.

    Raises:
        InputError: Something is not a constraint, never holds, or is not DCP.
    """
    if constraints is None:
        return []
    if isinstance(constraints, Constraint):
        constraints = [constraints]
    allowed = "a list of cvxpy constraints such as [x <= 1]"
    checks.of_kind(constraints, Iterable, f"{what}s", allowed, remedy="put them in a list")
    kept = []
    for k, constraint in enumerate(constraints):
        where = f"{what}[{k}]"
        if isinstance(constraint, bool) and constraint:
            continue
        remedy = "compare cvxpy expressions with <=, >= or =="
        allowed = "a cvxpy constraint such as x <= 1"
        checks.of_kind(constraint, Constraint, where, allowed, remedy=remedy)
        if not (_is_read(constraint) or constraint.is_dcp()):
            _raise_not_dcp(constraint, where)
        kept.append(constraint)
    return kept


def check_declared(variables: Sequence[Any]) -> None:
    """What variables declare leaves each of their elements some number.

    Raises:
        InfeasibleError: The bounds of an element contradict each other.
        InputError: A bound has no value.
    """
    for variable in variables:
        low, high = bounds(variable)
        crossed = np.flatnonzero(low > high)
        if len(crossed):
            k = int(crossed[0])
            raise InfeasibleError(
                f"its declaration asks for at least {low[k]:g} and for at most {high[k]:g}",
                where=variable_name([variable], k),
                allowed="a lower bound <= the upper one",
                remedy="correct the variable's bounds or attributes",
            )


def _is_read(constraint: Any) -> bool:
    """Whether a comparison is of readable expressions: affine, which cvxpy finds at length."""
    return isinstance(constraint, Inequality | Equality) and is_readable(constraint.expr)


def _raise_not_dcp(constraint: Any, where: str) -> None:
    broken = next(filter(None, (_first_breach(arg) for arg in constraint.args)), None)
    inside = short_name(broken) if broken is not None else short_name(constraint)
    raise InputError(
        "does not follow cvxpy's rules for convex constraints (DCP)",
        where=f"{inside} in {where}",
        allowed="convex <= concave, or affine == affine",
        remedy="turn the comparison round, or restate it with atoms of known curvature",
    )


def _first_breach(expression: Any) -> Any:
    """The smallest sub-expression that is neither convex nor concave, or None."""
    if expression.is_dcp():
        return None
    for arg in expression.args:
        found = _first_breach(arg)
        if found is not None:
            return found
    return expression
