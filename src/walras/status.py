"""How a solve ended: each value carries what happened and what to do next."""

from __future__ import annotations

import enum


class Status(enum.StrEnum):
    """Outcome of a solve; the strings are those cvxpy's users know.

    ``OPTIMAL`` is given only by the certificate, never by an engine's own opinion. ``FEASIBLE`` is
    the end of a method that does not promise an optimum, ``LIMIT`` that of a limit that was set.

    Example:
        >>> import walras as wl
        >>> wl.Status.OPTIMAL.has_allocation, wl.Status.INFEASIBLE.has_allocation
        (True, False)
    """

    OPTIMAL = "optimal"
    INACCURATE = "optimal_inaccurate"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    LIMIT = "user_limit"
    INTERRUPTED = "interrupted"
    FAILED = "solver_error"

    @property
    def message(self) -> str:
        """What happened, and what to do next, in one sentence each."""
        return _MESSAGES[self]

    @property
    def has_allocation(self) -> bool:
        """Whether a feasible allocation comes with this status."""
        return self not in (Status.INFEASIBLE, Status.UNBOUNDED, Status.FAILED)

    def __str__(self) -> str:
        return self.value


_MESSAGES = {
    Status.OPTIMAL: "The certificate proves the allocation optimal within the tolerance.",
    Status.INACCURATE: (
        "The allocation is feasible but its certified gap exceeds the tolerance; "
        "loosen the tolerance, rescale the data, or try another engine."
    ),
    Status.INFEASIBLE: "No allocation meets all constraints; see the named rows.",
    Status.UNBOUNDED: "The objective improves without end; bound the named entries.",
    Status.FEASIBLE: (
        "The method ended by itself before a proof of optimality; the allocation is feasible and "
        "its gap is certified."
    ),
    Status.LIMIT: "A limit was reached; the allocation is feasible and its gap is certified.",
    Status.INTERRUPTED: "Interrupted; the allocation is feasible and its gap is certified.",
    Status.FAILED: (
        "No feasible allocation was found, nor a proof that there is none; give it more time, "
        "rescale the data so that coefficients lie within 1e-6 to 1e6, or try another engine."
    ),
}
