"""cvxpy problems in the separable form, and their solutions back into cvxpy's variables.

:class:`Template` is built once from the expressions; :meth:`Template.fill` puts the parameters'
present values in and hands back the problem with a :class:`Restore` that undoes the reduction, as
cvxpy's own reductions do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.constraints.nonpos import Inequality, NonNeg, NonPos
from cvxpy.constraints.zero import Equality, Zero

from walras.errors import InputError
from walras.separable.cvxpy.affine import AffineMap
from walras.separable.cvxpy.atoms import (
    OutsideForm,
    Substitution,
    refuse_empty,
    renumbered,
    short_name,
)
from walras.separable.cvxpy.fill import Plan, Source
from walras.separable.cvxpy.names import OwnerNames
from walras.separable.cvxpy.restore import Restore
from walras.separable.cvxpy.structure import Stacked, columns_of, structure
from walras.separable.form import Separable, Side
from walras.types import Bools, Floats

Expression = Any

_ATTRIBUTES = (
    "complex",
    "imag",
    "symmetric",
    "diag",
    "PSD",
    "NSD",
    "hermitian",
    "sparsity",
)


@dataclass(frozen=True)
class Stated:
    """One constraint and the side its author put it on, if any."""

    constraint: Any
    side: Side | None = None


class Template:
    """A cvxpy problem prepared for the separable form.

    Args:
        objective: ``cp.Minimize`` or ``cp.Maximize`` of a DCP expression.
        stated: The constraints.
        resource_names: One name a resource group; numbers if None.
        demand_names: One name a demand group; numbers if None.

    Raises:
        OutsideForm: Some expression has no place in the separable form.
        InputError: A constraint is on the wrong side, a number is not finite, there is no
            variable, or there are more or fewer names than groups.
    """

    def __init__(
        self,
        objective: Any,
        stated: Sequence[Stated],
        resource_names: Sequence[str] | None = None,
        demand_names: Sequence[str] | None = None,
    ) -> None:
        self.maximize = isinstance(objective, cp.Maximize)
        self.stated = tuple(stated)
        refuse_empty(objective.expr, *(item.constraint for item in self.stated))
        substitution = Substitution()
        minimised = -objective.expr if self.maximize else objective.expr
        cost = substitution.objective(minimised)
        bodies = [substitution.affine(_body(item.constraint)) for item in stated]
        self.smooth = tuple(substitution.smooth)
        self.extremes = tuple(substitution.extremes)
        expressions = [
            cost,
            *bodies,
            *(piece for e in self.extremes for piece in e.pieces),
            *(s.argument for s in self.smooth),
        ]
        self.variables = _variables(expressions)
        self._check_variables()
        self._affine = AffineMap(expressions, self.variables)
        self.reuses = self._affine.reuses
        self.blocks = self._stack()
        columns = columns_of(
            self.variables,
            {s.placeholder.id for s in self.smooth},
            {e.placeholder.id for e in self.extremes},
        )
        values = self._values()
        self.structure = structure(self._affine.pattern, values, self.blocks, columns)
        self._check_sides()
        self._source = Source(
            self._affine.pattern,
            self.blocks,
            self.structure,
            self.smooth,
            self.extremes,
            self.variables,
            self.maximize,
            self.row_name,
            OwnerNames.of(self.structure.split, resource_names, demand_names),
        )
        self._plan = Plan(self._source, values)

    def fill(self) -> tuple[Separable, Restore]:
        """The problem at the parameters' present values.

        Raises:
            InputError: A parameter has no value, or one that is not finite.
            InfeasibleError: Bounds on one variable, or constants, contradict each other.
        """
        filled = self._plan.fill(self._values())
        constraints = [item.constraint for item in self.stated]
        return filled.problem, Restore(self._source, filled, constraints)

    def _values(self) -> Floats:
        values, pattern = self._affine.values(), self._affine.pattern
        wrong = ~np.isfinite(values)
        if np.any(wrong):  # a constraint that is met by whatever is finite asks for nothing
            is_constant = pattern.column == pattern.columns
            wrong &= ~((values == -np.inf) & is_constant & self._one_sided())
        if np.any(wrong):
            row = int(pattern.row[int(np.argmax(wrong))])
            raise InputError(
                "holds a number that is not finite",
                where=self.row_name(row),
                allowed="finite numbers",
                remedy="remove NaN and infinity from its data",
            )
        return values

    def _one_sided(self) -> Bools:
        """(nonzeros,) whether the row is one of a constraint that is no equality."""
        given = np.zeros(self._affine.pattern.rows, np.bool_)
        for block in self.blocks:
            given[block.start : block.stop] = block.is_constraint and not block.is_equality
        return np.asarray(given[self._affine.pattern.row])

    def row_name(self, row: int) -> str:
        """The user's name of a row of the stack."""
        for block in self.blocks:
            if block.start <= row < block.stop:
                single = block.stop - block.start == 1
                return block.name if single else f"{block.name}[{row - block.start}]"
        return "objective"

    def _stack(self) -> list[Stacked]:
        offsets = self._affine.offsets
        unnamed = [v.name() for v in self.variables if v.name() == f"var{v.id}"]
        blocks = [
            Stacked(
                renumbered(short_name(item.constraint), unnamed),
                int(offsets[k + 1]),
                int(offsets[k + 2]),
                item.side,
                is_equality=_is_equality(item.constraint),
                is_constraint=True,
            )
            for k, item in enumerate(self.stated)
        ]
        k = len(blocks) + 1
        for extreme in self.extremes:
            count = len(extreme.pieces)
            blocks.append(
                Stacked(
                    extreme.name,
                    int(offsets[k]),
                    int(offsets[k + count]),
                    epigraph=extreme.placeholder.id,
                )
            )
            k += count
        for atom in self.smooth:
            blocks.append(
                Stacked(atom.name, int(offsets[k]), int(offsets[k + 1]), utility=atom.utility)
            )
            k += 1
        return _distinct(blocks)

    def _check_variables(self) -> None:
        if not self.variables:
            raise InputError(
                "the problem has no variables",
                where="objective and constraints",
                allowed="at least one cvxpy variable",
                remedy="state what is to be decided",
            )
        for variable in self.variables:
            bad = [name for name in _ATTRIBUTES if variable.attributes.get(name)]
            if bad:
                raise OutsideForm(variable, f"a variable declared {bad[0]}")

    def _check_sides(self) -> None:
        for name, side in self.structure.split.misplaced:
            listed = "resource" if side is Side.DEMAND else "demand"
            other = "demand" if side is Side.DEMAND else "resource"
            raise InputError(
                f"ties several {listed} groups together, yet lies within one {other} group",
                where=f"{listed} constraint {name}",
                allowed=f"constraints of one {listed} each, or of several of both sides",
                remedy=f"list it among the {other}_constraints, or give constraints without sides",
            )


def _body(constraint: Any) -> Expression:
    """The expression that a constraint asks to be <= 0, or = 0.

    Raises:
        OutsideForm: The constraint is a cone other than the nonnegative one.
    """
    if isinstance(constraint, Equality | Inequality | Zero | NonPos):
        return constraint.expr
    if isinstance(constraint, NonNeg):
        return -constraint.args[0]
    raise OutsideForm(constraint, f"a {type(constraint).__name__} constraint")


def _is_equality(constraint: Any) -> bool:
    return isinstance(constraint, Equality | Zero)


def _variables(expressions: Sequence[Expression]) -> list[Any]:
    """Variables of all expressions, once each, in order of appearance."""
    found: dict[int, Any] = {}
    for expression in expressions:
        for variable in expression.variables():
            found.setdefault(variable.id, variable)
    return list(found.values())


def _distinct(blocks: list[Stacked]) -> list[Stacked]:
    """Number the blocks that share a name."""
    seen: dict[str, int] = {}
    out = []
    for block in blocks:
        count = seen.get(block.name, 0)
        seen[block.name] = count + 1
        out.append(replace(block, name=f"{block.name} ({count + 1})") if count else block)
    return out
