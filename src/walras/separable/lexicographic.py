"""Leximin: a max-min problem to be raised level by level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras import checks
from walras.errors import InputError
from walras.separable.form import Family, Separable


@dataclass(frozen=True, eq=False)
class Leximin:
    """Maximise the least activity, then the least of the rest, and so on.

    A linear cost of entries counts against the first level; the later ones cost no more than it.

    Attributes:
        problem: A maximisation of one shared scalar t whose rows of ``family`` say
            ``t - y_j <= 0``.
        family: Name of the family of rows that is raised level by level.
        levels: Rounds at most; each freezes the rows that cannot rise further.

    Raises:
        InputError: The problem is not of that kind, or ``levels`` is not a positive integer.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> from walras.separable import leximin_of
        >>> levels = leximin_of(problem)
        >>> levels.family, round(wl.solve(levels).value, 3)
        ('throughput', 2.0)
    """

    problem: Separable
    family: str
    levels: int = 10

    def __post_init__(self) -> None:
        checks.setting(self, "levels", 1, integer=True)
        found = [f.name for f in self.problem.rows.families]
        if self.problem.scalars != 1 or self.family not in found:
            raise InputError(
                f"has {self.problem.scalars} scalars and the families {', '.join(found)}",
                where="Leximin",
                allowed=f"one scalar and rows named {self.family!r}",
                remedy="state it with domains.cluster_scheduling.leximin",
            )
        rows = self.rows
        if np.any(self.problem.rows.scalar_matrix[rows.start : rows.stop, 0] != 1.0):
            raise InputError(
                "has rows without the scalar",
                where=f"family {self.family}",
                allowed="t - y_j <= 0 in every row",
                remedy="give every row the coefficient 1",
            )

    def __repr__(self) -> str:
        return f"Leximin({self.problem!r}, family {self.family!r}, {self.levels} levels)"

    @property
    def rows(self) -> Family:
        """The family of rows that is raised."""
        return next(f for f in self.problem.rows.families if f.name == self.family)


def leximin_of(problem: Separable) -> Leximin | None:
    """The leximin problem of a max-min problem, or None if it is not a max-min problem.

    It is one when a single scalar is maximised that a family of rows ``t - y_j <= 0`` holds down.

    Args:
        problem: The problem.

    Returns:
        The leximin problem, or None.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> from walras.separable import leximin_of
        >>> leximin_of(problem).levels
        10
    """
    rows = problem.rows
    if problem.scalars != 1 or problem.scalar_cost[0] != -1.0 or np.any(problem.cost):
        return None
    for family in rows.families:
        own = slice(family.start, family.stop)
        holds = np.all(rows.scalar_matrix[own, 0] == 1.0) and np.all(rows.upper[own] == 0.0)
        if family.stop > family.start and holds:
            return Leximin(problem, family.name)
    return None
