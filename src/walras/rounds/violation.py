"""What the independent check finds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Violation:
    """Something that a decision must keep and does not.

    Attributes:
        code: The rule; :func:`walras.rounds.check` lists them.
        where: The task, job, cluster, type, tenant or provider.
        what: What is wrong, with its numbers.

    Example:
        >>> from walras.rounds import Violation
        >>> print(Violation("capacity", "cluster east", "3 slots are filled of 2"))
        capacity: cluster east: 3 slots are filled of 2
    """

    code: str
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.code}: {self.where}: {self.what}"
