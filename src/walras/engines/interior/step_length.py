"""Ratio test: how far a step can go, and the share of a correction that lets it go furthest.

The *ratio* of a coordinate a > 0 that moves by da is -da/a. It stays positive while the length of
the step is below 1 over its ratio. Ratios are linear in the step. So the largest ratio along
``step + share * correction`` is convex and piecewise linear in the share. Colombo and Gondzio (COAP
2008) introduced these shares as weights; they search a grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from walras.engines.interior.point import Layout, Point, Step
from walras.types import Bools, Floats

_LEAST_SHARE = 0.1  # of a correction; smaller ones change nothing (Colombo and Gondzio 2008)
_MOST_CUTS = 20  # cutting planes; few are ever needed
_ON_TOP = 1.0 + 1e-9  # rounding within which the crossing of two lines counts as the maximum of all
_HALF_STEP = 0.5  # step length that divides short steps from long ones


@dataclass(frozen=True, eq=False)
class InverseDistance:
    """The factor from a coordinate's move to its ratio: -1/a, 0 where any value is allowed.

    Attributes:
        primal: (columns + bounded + rows,) of x, w and s.
        dual: (columns + bounded + rows,) of z, y and p.
    """

    primal: Floats
    dual: Floats

    @classmethod
    def of(cls, layout: Layout, point: Point) -> InverseDistance:
        """The inverse distances of a point whose constrained coordinates are positive."""
        primal = _per_unit(point.primal, layout.slack_positive)
        primal[len(primal) - point.rows :] *= layout.decrease_factor
        return cls(
            primal,
            _per_unit(point.dual, layout.price_positive),
        )


def _per_unit(values: Floats, rows: Bools) -> Floats:
    out = np.zeros(len(values))
    own = len(values) - len(rows)
    np.divide(-1.0, values[:own], out=out[:own])
    np.divide(-1.0, values[own:], out=out[own:], where=rows)
    return out


@dataclass(frozen=True, eq=False)
class RelativeStep:
    """Ratios of a step's coordinates.

    Attributes:
        primal: (columns + bounded + rows,) of x, w and s; 0 for slacks of either sign.
        dual: (columns + bounded + rows,) of z, y and p; 0 for prices of either sign.
    """

    primal: Floats
    dual: Floats

    @classmethod
    def of(cls, inverse: InverseDistance, step: Step) -> RelativeStep:
        """The ratios of a step."""
        return cls(step.primal * inverse.primal, step.dual * inverse.dual)

    @cached_property
    def lengths(self) -> tuple[float, float]:
        """The longest primal and dual step, at most one."""
        return _length(self.primal), _length(self.dual)

    def damped(self, short: float, long: float) -> tuple[float, float]:
        """Step lengths that keep every coordinate positive.

        Args:
            short: Share of the way to the boundary, when less than half a step is possible.
            long: The same for longer steps.
        """
        damping = long if min(self.lengths) > _HALF_STEP else short
        primal, dual = (float(np.max(f, initial=1e-12)) for f in (self.primal, self.dual))
        return min(1.0, damping / primal), min(1.0, damping / dual)

    def added(self, more: RelativeStep, primal: float, dual: float) -> RelativeStep:
        """The ratios of this step plus shares of another one."""
        return RelativeStep(self.primal + primal * more.primal, self.dual + dual * more.dual)

    def best_shares(self, correction: RelativeStep, *, together: bool) -> tuple[float, float]:
        """The primal and dual share of a correction that allow the longest steps.

        Args:
            correction: The correction's ratios.
            together: Whether both shares must be the same.
        """
        if together:
            both = np.append(self.primal, self.dual)
            share = best_share(both, np.append(correction.primal, correction.dual))
            return share, share
        return best_share(self.primal, correction.primal), best_share(self.dual, correction.dual)


def _length(ratios: Floats) -> float:
    return 1.0 / max(1.0, float(ratios[ratios.argmax()])) if len(ratios) else 1.0


def best_share(ratios: Floats, change: Floats) -> float:
    """The largest share, 0.1 to 1, that minimises ``max(1, ratios + share * change)``.

    By cutting planes: the highest lines at the two ends of an interval cross inside it.
    """

    def top(share: float) -> tuple[float, float, float]:
        lines = ratios + share * change
        k = int(lines.argmax()) if len(lines) else 0
        if not len(lines) or lines[k] <= 1.0:
            return share, 1.0, 0.0
        return share, float(lines[k]), float(change[k])

    high = top(1.0)
    if high[2] <= 0.0:
        return 1.0
    low = top(_LEAST_SHARE)
    if low[2] > 0.0:
        return _LEAST_SHARE
    for _ in range(_MOST_CUTS):
        share = (low[1] - high[1] + high[2] * high[0] - low[2] * low[0]) / (high[2] - low[2])
        middle, crossing = top(share), low[1] + low[2] * (share - low[0])
        if middle[1] <= crossing * _ON_TOP:
            return share
        low, high = (low, middle) if middle[2] > 0.0 else (middle, high)
    return (low if low[1] <= high[1] else high)[0]
