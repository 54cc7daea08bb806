"""The time of an epoch at given shares, beside the time at equal shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.network.problem.network_problem import Problem
from walras.types import Bools, Floats, Longs


@dataclass(frozen=True, eq=False)
class Epoch:
    """Seconds of an epoch for the living centres whose costs are throughput curves.

    Attributes:
        centres: (k,) their numbers.
        seconds: (k,) seconds with the decided shares.
        equal: (k,) seconds with the same share for each living centre, without boxes.
    """

    centres: Longs
    seconds: Floats
    equal: Floats

    @property
    def facts(self) -> dict[str, float]:
        """Slowest and mean epoch in seconds, at the decided and at equal shares.

        Joint training waits for the slowest centre.
        """
        return {
            "slowest epoch, s": float(self.seconds.max()),
            "slowest epoch at equal shares, s": float(self.equal.max()),
            "mean epoch, s": float(self.seconds.mean()),
            "mean epoch at equal shares, s": float(self.equal.mean()),
        }


def epoch(problem: Problem, shares: Floats, alive: Bools) -> Epoch | None:
    """The epoch at given shares; None if no living centre's cost states a time.

    Args:
        problem: The costs and the budget.
        shares: (centres,) the decided shares.
        alive: (centres,) True on centres that take part.
    """
    equal = np.full(problem.centres, problem.budget / max(1, int(alive.sum())))
    timed = alive & np.isfinite(problem.costs.seconds(equal))
    if not timed.any():
        return None
    own = np.flatnonzero(timed)
    return Epoch(own, problem.costs.seconds(shares)[own], problem.costs.seconds(equal)[own])
