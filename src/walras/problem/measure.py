"""What a point is worth and what it breaks, from the user's own expressions.

The violation of a cone is how far one of its numbers would have to move, in closed form: cvxpy
solves a problem to find the distance, which is no more accurate than that solve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import cvxpy as cp
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from cvxpy.constraints import nonpos

from walras.separable.cvxpy.atoms import short_name
from walras.types import Floats

Numbers = npt.NDArray[Any]


def value_of(problem: cp.Problem) -> float:
    """The minimised objective at the variables' values; ``inf`` outside its domain."""
    found = _number(problem.objective.expr)
    if not np.isfinite(found):
        return np.inf
    return -found if isinstance(problem.objective, cp.Maximize) else found


def dense(value: Any) -> Numbers:
    """A value as an array, whatever cvxpy keeps it in."""
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value)


def read(variable: Any) -> Numbers:
    """A variable's value as an array; cvxpy warns against reading that of a sparse one."""
    return dense(variable.value if variable.sparse_idx is None else variable.value_sparse)


def make_dense(problem: cp.Problem) -> None:
    """Values of diagonal variables and scalars as arrays: cvxpy indexes no sparse ones."""
    for variable in problem.variables():
        if variable.sparse_idx is None and variable.value is not None:
            variable.save_value(dense(variable.value))


def as_cvxpy_gives(problem: cp.Problem) -> None:
    """Values of diagonal variables as cvxpy gives them, sparse."""
    for variable in problem.variables():
        if variable.attributes["diag"] and variable.value is not None:
            variable.save_value(sp.diags_array(np.diag(dense(variable.value))))


def flat(variables: Sequence[Any]) -> Floats:
    """(entries,) the values of all variables, columns first."""
    parts = [np.real(read(v)).ravel(order="F") for v in variables]
    return np.concatenate([np.zeros(0), *parts])


def violations(problem: cp.Problem, otherwise: float) -> list[tuple[str, float]]:
    """Name and violation of each constraint, then of each variable's declaration.

    Relative to the largest number of the constraint, or 1 where that is less; ``inf`` where an
    expression has no finite value, outside its domain or at its edge (a power of -1 at -0.0).

    Args:
        problem: Its variables have values.
        otherwise: For cones that have no measure: what the solver says of its own rows.
    """
    own = [(short_name(item), _violation(item, otherwise)) for item in problem.constraints]
    return own + [
        (f"the declaration of {v.name()}", _outside_declaration(v)) for v in problem.variables()
    ]


def _number(expression: Any) -> float:
    with np.errstate(all="ignore"):
        return float(np.real(dense(expression.value)).sum())


def _violation(constraint: Any, otherwise: float) -> float:
    with np.errstate(all="ignore"):  # outside its domain an expression is NaN, which is judged
        values = [dense(arg.value) for arg in constraint.args]
    size = max((_largest(v) for v in values), default=0.0)
    measure = next((m for kind, m in _MEASURES.items() if isinstance(constraint, kind)), None)
    given = zip(constraint.args, values, strict=True)
    if any(not arg.is_constant() and not _is_finite(value) for arg, value in given):
        return np.inf
    if measure is None:
        return otherwise
    with np.errstate(all="ignore"):
        far = measure(constraint, values)
    worst = float(np.max(far, initial=0.0))
    return worst / max(1.0, size) if np.isfinite(worst) else np.inf


def _is_finite(value: Numbers) -> bool:
    return bool(np.all(np.isfinite(value)))


def _largest(value: Numbers) -> float:
    """The largest finite number."""
    return float(np.max(np.abs(value[np.isfinite(value)]), initial=0.0))


def _outside_declaration(variable: Any) -> float:
    """Distance of a variable from what its declaration admits, relative to its largest number."""
    value = read(variable)
    if not np.all(np.isfinite(value)):
        return np.inf
    away = np.abs(value - dense(variable.project(value)))
    return float(np.max(away, initial=0.0)) / max(1.0, float(np.max(np.abs(value), initial=0.0)))


def _second_order(constraint: Any, values: list[Numbers]) -> Numbers:
    t, x = values
    along = 0 if x.ndim < 2 else constraint.axis
    return np.asarray(np.linalg.norm(np.atleast_1d(x), axis=along) - t)


def _semidefinite(_: Any, values: list[Numbers]) -> Numbers:
    if not np.all(np.isfinite(values[0])):
        return np.array(np.inf)
    whole = 0.5 * (values[0] + np.conj(np.swapaxes(values[0], -2, -1)))
    return -np.linalg.eigvalsh(whole)


def _exponential(_: Any, values: list[Numbers]) -> Numbers:
    """y exp(x/y) <= z: by how much z must rise or x fall, whichever is less."""
    x, y, z = values
    raise_z = np.where(y > 0, y * np.exp(np.minimum(x / y, 700.0)) - z, np.maximum(x, -z))
    lower_x = np.where((y > 0) & (z > 0), x - y * np.log(z / y), np.inf)
    return np.maximum(np.minimum(raise_z, lower_x), np.maximum(-y, -z))


def _power3(constraint: Any, values: list[Numbers]) -> Numbers:
    x, y, z = values
    alpha = dense(constraint.alpha.value)
    most = np.maximum(x, 0.0) ** alpha * np.maximum(y, 0.0) ** (1.0 - alpha)
    return np.maximum(np.abs(z) - most, np.maximum(-x, -y))


def _power(constraint: Any, values: list[Numbers]) -> Numbers:
    w, z = values
    alpha, axis = dense(constraint.alpha.value), constraint.axis if w.ndim > 1 else 0
    alpha = alpha.reshape(w.shape) if alpha.size == w.size else alpha
    most = np.prod(np.maximum(w, 0.0) ** alpha, axis=axis)
    return np.append((np.abs(z) - most).ravel(), (-w).ravel())


def _distance(constraint: Any, _: list[Numbers]) -> Numbers:
    return np.asarray(constraint.violation())


_MEASURES: dict[type, Callable[[Any, list[Numbers]], Numbers]] = {
    nonpos.Inequality: lambda _, v: np.asarray(v[0] - v[1]),
    nonpos.NonPos: lambda _, v: v[0],
    nonpos.NonNeg: lambda _, v: -v[0],
    cp.constraints.Equality: lambda _, v: np.abs(v[0] - v[1]),
    cp.constraints.Zero: lambda _, v: np.abs(v[0]),
    cp.SOC: _second_order,
    cp.constraints.PSD: _semidefinite,
    cp.ExpCone: _exponential,
    cp.PowCone3D: _power3,
    cp.PowConeND: _power,
    cp.FiniteSet: _distance,
}
