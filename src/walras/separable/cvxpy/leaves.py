"""What cvxpy's variables and parameters say of themselves: bounds, integrality, shape, values.

cvxpy lets a declaration hold for some elements only, be stated by parameters, or confine a value to
a pattern; each such rule is read here and nowhere else.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import numpy.typing as npt

from walras import checks
from walras.errors import InputError
from walras.types import Bools, Floats

Leaf = Any
Expression = Any


def is_complex(expression: Expression) -> bool:
    """Whether a complex number stands in it somewhere, be its own value real as that of ``abs``."""
    leaves = [*expression.variables(), *expression.parameters()]
    constants = (constant.value for constant in expression.constants())
    return any(leaf.is_complex() for leaf in leaves) or any(map(np.iscomplexobj, constants))


def boolean(variable: Leaf) -> Bools:
    """(size,) elements declared boolean, flattened column by column.

    Raises:
        InputError: The declaration names places that the variable does not have.
    """
    return _declared(variable, variable.boolean_idx)


def whole(variable: Leaf) -> Bools:
    """(size,) elements declared boolean or integer.

    Raises:
        InputError: The declaration names places that the variable does not have.
    """
    return boolean(variable) | _declared(variable, variable.integer_idx)


def _declared(variable: Leaf, places: Any) -> Bools:
    """(size,) the places of an index in cvxpy's words: one sequence of numbers a dimension."""
    found = np.zeros(variable.size, dtype=bool)
    if not len(places):
        return found
    try:
        found[np.ravel_multi_index(tuple(places), variable.shape or (1,), order="F")] = True
    except (TypeError, ValueError) as reason:
        raise InputError(
            f"is declared whole or boolean at {places}: {reason}",
            where=f"variable {variable.name()} of shape {variable.shape}",
            allowed="one sequence of numbers a dimension, as numpy.where gives",
            remedy="for elements 0 and 2 of a vector write integer=[(0, 2)]",
        ) from reason
    return found


def bounds(variable: Leaf) -> tuple[Floats, Floats]:
    """(size,) bounds that a declaration gives at the parameters' present values.

    Raises:
        InputError: A bound has no value, or is no real number.
    """
    attributes = variable.attributes
    low, high = np.full(variable.size, -np.inf), np.full(variable.size, np.inf)
    if attributes["bounds"] is not None:
        first, second = (_bound(variable, given) for given in attributes["bounds"])
        low, high = np.maximum(low, first), np.minimum(high, second)
    if attributes["nonneg"] or attributes["pos"]:
        low = np.maximum(low, 0.0)
    if attributes["nonpos"] or attributes["neg"]:
        high = np.minimum(high, 0.0)
    is_boolean = boolean(variable)
    low[is_boolean] = np.maximum(low[is_boolean], 0.0)
    high[is_boolean] = np.minimum(high[is_boolean], 1.0)
    return low, high


def stated_bounds(variable: Leaf) -> list[cp.Constraint]:
    """The bounds that depend on parameters, as constraints."""
    given = variable.attributes["bounds"] or ()
    rows = zip(given, (cp.Expression.__ge__, cp.Expression.__le__), strict=False)
    return [compare(variable, bound) for bound, compare in rows if isinstance(bound, cp.Expression)]


def _bound(variable: Leaf, given: Any) -> Floats:
    found = dense(given.value if isinstance(given, cp.Expression) else given)
    if found is None or np.iscomplexobj(found) or np.any(np.isnan(found)):
        raise InputError(
            "has no value" if found is None else "is no real number",
            where=f"bound {given} of variable {variable.name()}",
            allowed="real numbers; infinity where there is none",
            remedy="assign the parameter's value before solving",
        )
    return np.broadcast_to(found.astype(np.float64), variable.shape).ravel(order="F")


def support(parameter: Leaf) -> Bools:
    """(*shape) elements that can be nonzero, by the parameter's declaration."""
    if parameter.attributes["diag"]:
        return np.eye(parameter.shape[0], dtype=bool)
    found = np.full(parameter.shape, parameter.sparse_idx is None)
    if parameter.sparse_idx is not None:
        found[tuple(parameter.sparse_idx)] = True
    return found


def value(parameter: Leaf) -> Floats:
    """A parameter's value as an array, whatever it was given as.

    Raises:
        InputError: It has none, or one that is not finite.
    """
    name = f"parameter {parameter.name()}"
    # cvxpy warns against reading the dense value of a parameter with a pattern.
    found = dense(parameter.value if parameter.sparse_idx is None else parameter.value_sparse)
    if found is None:
        raise InputError(
            "has no value",
            where=name,
            allowed="finite numbers",
            remedy=f"assign {parameter.name()}.value before solving",
        )
    return checks.within(found, name, remedy="remove NaN and infinity from its value").astype(
        np.float64
    )


def dense(value: Any) -> npt.NDArray[Any] | None:
    """A number, an array, or a sparse matrix as an array; None stays None."""
    if value is None:
        return None
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value)
