"""What the user calls the columns of a canonicalised cvxpy problem, and its objective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from walras import checks
from walras.separable.cvxpy.atoms import Extreme, Smooth
from walras.separable.cvxpy.structure import Structure
from walras.separable.form import Side
from walras.separable.grouping import Split
from walras.types import Floats


def first_column(variables: Sequence[Any], variable: Any) -> int:
    """First column of a variable among those of all variables, flattened one after the other."""
    start = 0
    for v in variables:
        if v.id == variable.id:
            return start
        start += v.size
    raise KeyError(variable.id)


def variable_name(variables: Sequence[Any], column: int) -> str:
    """``x[1, 0]`` of the variable in which a column lies, all being flattened by columns."""
    left = column
    for variable in variables:
        if left < variable.size:
            place = np.unravel_index(left, variable.shape or (1,), order="F")
            index = ", ".join(str(int(k)) for k in place)
            return f"{variable.name()}[{index}]" if variable.shape else str(variable.name())
        left -= variable.size
    return f"column {column}"


@dataclass(frozen=True)
class OwnerNames:
    """Names of the resources and demands of a cvxpy problem.

    Attributes:
        resources: One a resource group, in the order of its first variable.
        demands: One a demand group, likewise.
        numbered: The sides without names of the user's.
    """

    resources: Sequence[str]
    demands: Sequence[str]
    numbered: tuple[str, ...]

    @classmethod
    def of(
        cls, found: Split, resources: Sequence[str] | None, demands: Sequence[str] | None
    ) -> OwnerNames:
        """The names given, or numbers where there are none.

        Raises:
            InputError: There are more or fewer names than groups, or one is there twice.
        """
        given = {"resource": resources, "demand": demands}
        counts = {"resource": found.resources, "demand": found.demands}
        made = {side: _owner_names(side, given[side], counts[side]) for side in given}
        numbered = tuple(side for side in given if given[side] is None)
        return cls(made["resource"], made["demand"], numbered)

    def given(self, side: Side) -> Sequence[str]:
        """The user's names of one side; empty where there are none."""
        if side is Side.RESOURCE and "resource" not in self.numbered:
            return self.resources
        if side is Side.DEMAND and "demand" not in self.numbered:
            return self.demands
        return ()


def _owner_names(side: str, given: Sequence[str] | None, count: int) -> list[str]:
    if given is None:
        return [f"{side} group {k}" for k in range(count)]
    remedy = f"print(problem.report()) shows the {count} {side} groups that were found"
    return list(checks.distinct(given, f"{side}_names", "name", count=count, remedy=remedy))


@dataclass(frozen=True, eq=False)
class Names:
    """Names of columns, entries and shared scalars.

    Attributes:
        variables: cvxpy variables in the order of the columns.
        extremes: Piecewise linear atoms, each with a variable of its own in its place.
        structure: What the columns become.
    """

    variables: Sequence[Any]
    extremes: Sequence[Extreme]
    structure: Structure

    def column(self, column: int) -> str:
        """``x[1, 0]`` of the user's variable, or the atom that the column stands for."""
        extreme = self._extreme(column)
        if extreme is not None:
            return extreme.name
        return variable_name(self.variables, column)

    def entry(self, entry: int) -> str:
        """The name of an entry; those past the columns are constants of utilities."""
        columns = self.structure.entries
        if entry >= len(columns):
            return f"the constant of utility {entry - len(columns)}"
        return self.column(int(columns[entry]))

    def scalars(self) -> list[str]:
        """The names of the shared scalars."""
        return [self.column(int(column)) for column in self.structure.scalars]

    def objective(self, smooth: Sequence[Smooth], cost: Floats) -> str:
        """The objective in words, such as ``log + max-min``.

        Args:
            smooth: Its smooth atoms.
            cost: (columns,) its linear part.
        """
        found = self.structure
        words = sorted({atom.name for atom in smooth})
        costly = [self._extreme(int(k)) for k in found.scalars[cost[found.scalars] != 0]]
        words += sorted(
            {"min-max" if extreme.is_largest else "max-min" for extreme in costly if extreme}
        )
        if np.any(cost[found.entries]) or not words:
            words.append("linear")
        return " + ".join(words)

    def _extreme(self, column: int) -> Extreme | None:
        for extreme in self.extremes:
            start = first_column(self.variables, extreme.placeholder)
            if start <= column < start + extreme.placeholder.size:
                return extreme
        return None
