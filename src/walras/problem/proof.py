"""The certificate of a point outside the separable form, measured on the user's expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from walras.certificate import Certificate
from walras.certificate.certify import PRICES
from walras.problem.measure import flat, value_of, violations
from walras.progress import Timings

# Least denominator of a relative gap: below it the objective counts as zero and the gap is
# absolute.
LEAST_SCALE = 1e-2
ALLOWED = 1e-8  # relative violation up to which a point outside the form is feasible
ENOUGH = 1e-5  # that up to which it is given, marked as inaccurate


@dataclass(frozen=True)
class Found:
    """What a solver left, with its proof; the values stand in the user's variables.

    Attributes:
        proof: The certificate.
        ended: How the solver ended, in its own words.
        stopped: Whether a limit ended it.
        solver: Its name.
        timings: Seconds of the chain and of the solver.
    """

    proof: Certificate
    ended: str
    stopped: bool
    solver: str
    timings: Timings


def proved(
    problem: cp.Problem, own: tuple[float, str], recomputed: float, tolerance: float, rows: float
) -> Certificate:
    """The certificate of the variables' values.

    Args:
        problem: Its variables have values.
        own: The solver's bound on the minimised objective, and the solver's name.
        recomputed: The bound from prices; used unless it misses the tolerance and the other is
            better.
        tolerance: Relative gap that is asked for.
        rows: What the solver's own rows are broken by, where a cone has no measure.
    """
    value = value_of(problem)
    gap, unit = relative_gap(value, recomputed)
    bound, source = recomputed, PRICES
    if gap > tolerance and own[0] > recomputed:
        bound, source = own
        gap, unit = relative_gap(value, bound)
    broken = [far for _, far in violations(problem, rows)]
    own_rows = broken[: len(problem.constraints)]
    x = flat(problem.variables())
    return Certificate(
        x=x,
        t=np.zeros(0),
        prices=np.zeros(0),
        reduced=np.zeros(len(x)),
        value=value,
        bound=bound,
        gap=gap,
        violation=max(broken, default=0.0) if np.isfinite(value) else np.inf,
        worst_row=int(np.argmax(own_rows)) if own_rows else -1,
        stationarity=np.nan,
        bound_source=source,
        gap_unit=unit,
        allowed=ALLOWED,
    )


def relative_gap(value: float, bound: float) -> tuple[float, str]:
    """The gap between a value and a bound, either side, and what it is relative to."""
    if not (np.isfinite(value) and np.isfinite(bound)):
        return np.inf, "of the value"
    scale = max(abs(value), abs(bound), LEAST_SCALE)
    return abs(value - bound) / scale, ("of the value" if scale > LEAST_SCALE else "of a hundredth")


def worst_of(problem: cp.Problem, rows: float) -> tuple[str, float]:
    """The constraint or declaration that is broken most, and by how much."""
    found: Sequence[tuple[str, float]] = violations(problem, rows)
    return max(found, key=lambda pair: pair[1], default=("nothing", 0.0))
