"""The one exception family of Walras.

Every error a user can cause is a :class:`WalrasError` and says four things: what is wrong, where
(the name and the index), what is allowed, and what to do. Programs catch the base class; the kinds
exist so that the command line can give each its own exit code.
"""

from __future__ import annotations


class WalrasError(Exception):
    """Base of all errors raised by Walras.

    Args:
        what: What is wrong, in one sentence.
        where: The argument, row, column or file it concerns, with its index.
        allowed: The range or the values that would be accepted.
        remedy: What to do next.
    """

    code = "WAL-1000"

    def __init__(self, what: str, *, where: str = "", allowed: str = "", remedy: str = "") -> None:
        self.what = what
        self.where = where
        self.allowed = allowed
        self.remedy = remedy
        super().__init__(str(self))

    def __str__(self) -> str:
        parts = [f"{self.where}: {self.what}" if self.where else self.what]
        if self.allowed:
            parts.append(f"allowed: {self.allowed}")
        if self.remedy:
            parts.append(f"remedy: {self.remedy}")
        return "; ".join(parts)


class InaccuracyWarning(UserWarning):
    """A result that is returned, and is less accurate than was asked for."""


class InputError(WalrasError):
    """Data or settings that cannot be used: shape, sign, finiteness, unknown names."""

    code = "WAL-1100"


class InfeasibleError(WalrasError):
    """Constraints that no allocation meets; names the rows and the least relaxation."""

    code = "WAL-1200"


class UnboundedError(WalrasError):
    """An objective that can be improved without end; names the direction."""

    code = "WAL-1300"


class DataError(WalrasError):
    """A file or data set that is missing, unreadable or not what its name says."""

    code = "WAL-1400"


class EngineError(WalrasError):
    """An engine that is unknown, or that cannot state or finish the problem it was given."""

    code = "WAL-1500"
