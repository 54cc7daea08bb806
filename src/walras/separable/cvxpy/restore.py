"""Back from a solution of the separable form to cvxpy's variables and dual values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from walras.separable.cvxpy.bounds import Bounds
from walras.separable.cvxpy.fill import Filled, Source
from walras.separable.form import Separable
from walras.types import Floats


class Restore:
    """Undoes the reduction of one filled problem.

    Attributes:
        source: What the template knows.
        filled: The problem with its numbers.
        constraints: The user's constraints, in the order of their blocks.
    """

    def __init__(self, source: Source, filled: Filled, constraints: Sequence[Any]) -> None:
        self.source = source
        self.filled = filled
        self.constraints = tuple(constraints)

    def apply(self, x: Floats, t: Floats, prices: Floats) -> None:
        """Set the value of every variable and the dual value of every constraint.

        Dual values have cvxpy's signs: of a minimisation with ``lhs <= rhs`` they are >= 0, with
        ``lhs == rhs`` the Lagrangian is ``f + dual (lhs - rhs)``; a maximisation counts as the
        minimisation of its negative.

        Args:
            x: (entries,) allocation.
            t: (scalars,) shared scalars.
            prices: (rows,) prices of all rows.
        """
        self._values(x, t)
        self._duals(x, prices)

    def _values(self, x: Floats, t: Floats) -> None:
        found = self.source.structure
        flat = np.zeros(self.source.pattern.columns)
        flat[found.entries] = x[: len(found.entries)]
        flat[found.scalars] = t
        start = 0
        for variable in self.source.variables:
            # Adding zero turns -0.0 into 0.0.
            value = 0.0 + flat[start : start + variable.size].reshape(variable.shape, order="F")
            variable.save_value(np.asarray(value))
            start += variable.size

    def _duals(self, x: Floats, prices: Floats) -> None:
        found, problem = self.source.structure, self.filled.problem
        dual = np.zeros(self.source.pattern.rows)
        dual[found.kept] = self.filled.sign * prices
        reduced = np.zeros(self.source.pattern.columns)
        reduced[found.entries] = _reduced_costs(problem, x, prices)[: len(found.entries)]
        reduced[found.scalars] = problem.scalar_cost + problem.rows.scalar_matrix.T @ prices
        dual[self.filled.bounds.singles.row] = _bound_duals(self.filled.bounds, reduced)
        for block, constraint in zip(self.source.blocks, self.constraints, strict=False):
            own = dual[block.start : block.stop]
            if not block.is_equality:
                own = np.maximum(own, 0.0)
            shape = constraint.shape
            constraint.save_dual_value(own.reshape(shape, order="F") if shape else float(own[0]))


def _reduced_costs(problem: Separable, x: Floats, prices: Floats) -> Floats:
    """c + h x + G'p: what is left for the bounds of the entries to carry."""
    carried: Floats = problem.rows.matrix.T @ prices
    return problem.cost + problem.quadratic * x + carried


def _bound_duals(bounds: Bounds, reduced: Floats) -> Floats:
    """Multipliers of rows ``a x + b <= 0``: the row that sets a bound carries -r/a, others 0."""
    singles = bounds.singles
    dual = np.zeros(len(singles.row))
    for row_of, part in (
        (bounds.lower_row, np.maximum(reduced, 0.0)),
        (bounds.upper_row, np.minimum(reduced, 0.0)),
    ):
        columns = np.flatnonzero(row_of >= 0)
        rows = row_of[columns]
        dual[rows] -= part[columns] / singles.a[rows]
    return dual
