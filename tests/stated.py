"""What a solved cvxpy problem breaks, recomputed from the user's own expressions.

Nothing here comes from the library: residuals are those of cvxpy's constraints at the values that
its variables hold, and what a variable's declaration asks for is read off its attributes.
"""

from __future__ import annotations

import warnings
from typing import Any

import cvxpy as cp
import numpy as np
import numpy.typing as npt

TOLERANCE = 1e-7  # beside the largest number of the constraint, or beside 1

Array = npt.NDArray[Any]


def check_stated(problem: cp.Problem, value: float | None = None, tolerance: float = 1e-6) -> None:
    """Every constraint and declaration holds, and ``value`` is the objective's own.

    Args:
        problem: A problem whose variables hold values.
        value: What was said to be the objective's value.
        tolerance: Relative, of the value.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* a sparse CVXPY expression")
        kept = [(v, v.value) for v in problem.variables() if v.attributes["diag"]]
        for variable, sparse in kept:  # cvxpy cannot index what it keeps of a diagonal
            variable.save_value(dense(sparse))
        broken = {name: by for name, by in violations(problem).items() if not by <= TOLERANCE}
        own = float(np.real(dense(problem.objective.expr.value)).item())
        for variable, sparse in kept:
            variable.save_value(sparse)
    assert not broken, f"broken, relative to its largest number: {broken}"
    if value is not None:
        assert abs(own - value) <= tolerance * max(1.0, abs(own)), f"value {value}, truth {own}"


def violations(problem: cp.Problem) -> dict[str, float]:
    """The largest violation of each constraint and of each declaration, relative."""
    found = {}
    for k, constraint in enumerate(problem.constraints):
        size = max((largest(arg.value) for arg in constraint.args), default=0.0)
        away = largest(residual(constraint))
        found[f"constraint {k}: {str(constraint)[:80]}"] = away / max(1.0, size)
    for variable in problem.variables():
        value = read(variable)
        size = max(1.0, largest(value))
        for name, far in declared(variable, value).items():
            found[f"variable {variable.name()} is {name}"] = largest(far) / size
    return found


def residual(constraint: Any) -> Any:
    """cvxpy's residual; of cones whose own it cannot find to the tolerance, by how much they miss.

    cvxpy solves a problem for the distance to exponential and power cones, and takes the real part
    of second-order ones.
    """
    values = [dense(arg.value) for arg in constraint.args]
    if isinstance(constraint, cp.SOC) and constraint.args[1].is_complex():
        return np.maximum(np.linalg.norm(values[1], axis=constraint.axis) - values[0], 0)
    if isinstance(constraint, cp.ExpCone):
        x, y, z = values
        return np.maximum(y * np.exp(x / y) - z, 0)
    if isinstance(constraint, cp.PowCone3D):
        x, y, z = values
        alpha = dense(constraint.alpha.value)
        return np.maximum(np.abs(z) - x**alpha * y ** (1 - alpha), 0)
    if isinstance(constraint, cp.PowConeND):
        w, z = values
        return np.maximum(np.abs(z) - np.prod(w ** dense(constraint.alpha.value), axis=0), 0)
    return constraint.residual


def declared(variable: cp.Variable, value: Array) -> dict[str, Array]:
    """How far a value is from each of its declarations; a pattern is all that a value can have."""
    has = variable.attributes
    found: dict[str, Array] = {}
    if has["nonneg"] or has["pos"]:
        found["nonnegative"] = np.maximum(-value, 0)
    if has["nonpos"] or has["neg"]:
        found["nonpositive"] = np.maximum(value, 0)
    if has["bounds"] is not None:
        low, high = (dense(getattr(b, "value", b)) for b in has["bounds"])
        if not variable.sparse_idx and not has["diag"]:
            found["in bounds"] = np.maximum(np.maximum(low - value, value - high), 0)
    for name in ("boolean", "integer"):
        places = getattr(variable, f"{name}_idx")
        if len(places):
            chosen = np.atleast_1d(value)[tuple(np.asarray(axis) for axis in places)]
            near = np.round(np.clip(chosen, 0, 1) if name == "boolean" else chosen)
            found[name] = np.abs(chosen - near)
    if not has["complex"] and not has["imag"] and not has["hermitian"]:
        found["real"] = np.abs(np.imag(value))
    if has["imag"]:
        found["imaginary"] = np.abs(np.real(value))
    if has["symmetric"] or has["PSD"] or has["NSD"]:
        found["symmetric"] = np.abs(value - np.swapaxes(value, -1, -2))
    if has["hermitian"]:
        found["hermitian"] = np.abs(value - np.conj(np.swapaxes(value, -1, -2)))
    if has["diag"]:
        found["diagonal"] = np.abs(value - np.diag(np.diag(value)))
    if has["PSD"] or has["NSD"]:
        eigenvalues = np.linalg.eigvalsh(value)
        found["definite"] = np.maximum(-eigenvalues if has["PSD"] else eigenvalues, 0)
    return found


def read(variable: cp.Variable) -> Array:
    """A variable's value as an array; cvxpy warns against the dense value of a sparse one."""
    return dense(variable.value if variable.sparse_idx is None else variable.value_sparse)


def dense(value: Any) -> Array:
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value)


def largest(value: Any) -> float:
    """The largest absolute number; NaN where there is one."""
    return float(np.max(np.abs(dense(value)), initial=0.0))
