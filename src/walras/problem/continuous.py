"""A cvxpy problem without its integrality: copies of its variables, the whole elements at hand.

Each variable of which some elements must be whole gets a copy that need not be, and those elements
stand in a variable of their own, so that they are columns of the conic program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.reductions.discrete2mixedint.valinvec2mixedint import Valinvec2mixedint

from walras.problem.measure import read
from walras.separable.cvxpy import leaves
from walras.types import Floats, Longs


def with_whole_choices(problem: cp.Problem) -> cp.Problem:
    """The problem with boolean variables in place of ``FiniteSet``; itself where there is none."""
    if not any(isinstance(item, cp.FiniteSet) for item in problem.constraints):
        return problem
    found, _ = Valinvec2mixedint().apply(problem)
    return found


@dataclass(frozen=True, eq=False)
class Continuous:
    """The problem without integrality.

    Attributes:
        problem: The relaxation.
        stated: The variables of the problem that have whole elements.
        copies: A copy of each, without integrality.
        places: The whole elements of each, by columns.
        whole: A variable of these elements for each, tied to its copy.
    """

    problem: cp.Problem
    stated: tuple[Any, ...]
    copies: tuple[Any, ...]
    places: tuple[Longs, ...]
    whole: tuple[Any, ...]

    @classmethod
    def of(cls, problem: cp.Problem) -> Continuous:
        """The relaxation of a problem with whole elements."""
        stated = tuple(v for v in problem.variables() if np.any(leaves.whole(v)))
        copies = tuple(_copy(v) for v in stated)
        places = tuple(np.flatnonzero(leaves.whole(v)) for v in stated)
        whole = tuple(
            cp.Variable(len(at), name=v.name()) for v, at in zip(stated, places, strict=True)
        )
        ties = []
        for v, copy, at, w in zip(stated, copies, places, whole, strict=True):
            tie = w == cp.vec(copy, order="F")[at]
            ties.append(tie.set_label(f"the whole elements of {v.name()}"))
            binary = np.flatnonzero(leaves.boolean(v)[at])
            ties += [w[binary] >= 0, w[binary] <= 1] if len(binary) else []
        swap = {id(v): copy for v, copy in zip(stated, copies, strict=True)}
        rows = [item.tree_copy(id_objects=swap) for item in problem.constraints]
        for row, item in zip(rows, problem.constraints, strict=True):
            row.set_label(item.label)
        objective = problem.objective.tree_copy(id_objects=swap)
        return cls(cp.Problem(objective, rows + ties), stated, copies, places, whole)

    def columns(self, first: dict[int, int]) -> Longs:
        """Columns of the whole elements, from each variable's first column."""
        return np.concatenate([first[w.id] + np.arange(w.size) for w in self.whole])

    def fixed(self, values: Floats) -> cp.Problem:
        """The relaxation with the whole elements held at values."""
        ends = np.cumsum([w.size for w in self.whole])[:-1]
        held = [w == part for w, part in zip(self.whole, np.split(values, ends), strict=True)]
        return cp.Problem(self.problem.objective, self.problem.constraints + held)

    def give(self, values: Floats) -> None:
        """Give the copies' values to the problem's own variables, the whole ones exactly."""
        ends = np.cumsum([w.size for w in self.whole])[:-1]
        parts: Sequence[Floats] = np.split(values, ends)
        for v, copy, at, part in zip(self.stated, self.copies, self.places, parts, strict=True):
            flat = np.array(read(copy), dtype=np.float64).ravel(order="F")
            flat[at] = part
            v.save_value(flat.reshape(v.shape, order="F"))


def _copy(variable: Any) -> cp.Variable:
    said = variable.attributes | {"boolean": False, "integer": False}
    return cp.Variable(variable.shape, name=variable.name(), **said)
