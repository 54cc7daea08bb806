"""A case of the bank: a problem whose optimum, and often its prices, are known by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from walras.separable import Leximin, Separable


@dataclass(frozen=True, eq=False)
class Case:
    """A problem and its answer.

    Attributes:
        name: What it is about.
        problem: The problem.
        value: The user's optimum.
        entries: The optimal entries where they are unique.
        prices: Prices by row name, of those that are unique.
        levels: Of a leximin problem, its levels.
        splits: Whether POP can solve it in two parts.
    """

    name: str
    problem: Separable | Leximin
    value: float
    entries: Sequence[float] | None = None
    prices: Mapping[str, float] | None = None
    levels: Sequence[float] = ()
    splits: bool = False

    @property
    def base(self) -> Separable:
        """The problem itself, of a leximin problem its first level's."""
        return self.problem.problem if isinstance(self.problem, Leximin) else self.problem


@dataclass(frozen=True, eq=False)
class Impossible:
    """A problem without an answer.

    Attributes:
        name: What it is about.
        problem: The problem.
        names: Rows of which one must be named (infeasible), or entries and scalars (unbounded).
        amount: Least relaxation of the named row, where it is unique.
    """

    name: str
    problem: Separable
    names: Sequence[str]
    amount: float | None = None
