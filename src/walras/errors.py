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

    Example:
        >>> import walras as wl
        >>> try:
        ...     wl.data.find("gavell")
        ... except wl.WalrasError as error:
        ...     print(type(error).__name__)
        InputError
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
    """A result that is returned, and is less accurate than was asked for.

    Example:
        >>> import warnings, walras as wl
        >>> warnings.simplefilter("error", wl.InaccuracyWarning)  # make it an error
    """


class InputError(WalrasError):
    """Data or settings that cannot be used: shape, sign, finiteness, unknown names.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> try:
        ...     wl.solve(problem, tolerance=-1.0)
        ... except wl.InputError as error:
        ...     print(str(error).split(";")[0])
        setting tolerance: is -1.0
    """

    code = "WAL-1100"


class InfeasibleError(WalrasError):
    """Constraints that no allocation meets; names the rows and the least relaxation.

    Example:
        >>> import walras as wl
        >>> try:
        ...     wl.matching.match([[2.0]], [[0.5]], min_success=0.9)
        ... except wl.InfeasibleError as error:
        ...     print(str(error).split(";")[0])
        min_success: no placement reaches a mean success of 0.9
    """

    code = "WAL-1200"


class UnboundedError(WalrasError):
    """An objective that can be improved without end; names the direction.

    Example:
        >>> import cvxpy as cp, walras as wl
        >>> x = cp.Variable((2, 2), nonneg=True)
        >>> try:
        ...     wl.Problem(cp.Maximize(cp.sum(x)), [x[0, 0] <= 1]).solve()
        ... except wl.UnboundedError as error:
        ...     print(type(error).__name__)
        UnboundedError
    """

    code = "WAL-1300"


class DataError(WalrasError):
    """A file or data set that is missing, unreadable or not what its name says.

    Example:
        >>> import walras as wl
        >>> try:
        ...     wl.load("missing.npz")
        ... except wl.DataError as error:
        ...     print(type(error).__name__)
        DataError
    """

    code = "WAL-1400"


class StoppedError(WalrasError):
    """Work that ``on_progress`` stopped before there was anything to return.

    Example:
        >>> import walras as wl
        >>> from walras.domains import traffic_engineering as te
        >>> network = te.Network(("a", "b"), [0, 1], [1, 0], [10.0, 10.0])
        >>> try:
        ...     te.candidate_paths(network, k=1, cache=False, on_progress=lambda step: True)
        ... except wl.StoppedError as error:
        ...     print(type(error).__name__)
        StoppedError
    """

    code = "WAL-1600"


class EngineError(WalrasError):
    """An engine that is unknown, or that cannot state or finish the problem it was given.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> isinstance(wl.EngineError("no such device", where="device"), wl.WalrasError)
        True
    """

    code = "WAL-1500"
