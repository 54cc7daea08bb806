"""The time that shares make of an epoch, beside that of equal shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.network.problem.network_problem import Problem
from walras.types import Bools, Floats, Longs


@dataclass(frozen=True, eq=False)
class Epoch:
    """Seconds of an epoch of the living centres whose costs are throughput curves.

    Attributes:
        centres: (k,) their numbers.
        seconds: (k,) with the shares that were decided.
        equal: (k,) with the same share of the budget for each living centre, boxes aside.
    """

    centres: Longs
    seconds: Floats
    equal: Floats

    @property
    def facts(self) -> dict[str, float]:
        """Slowest and mean epoch, in seconds, and what they would be at equal shares.

        A model that all train together waits for the slowest centre.
        """
        return {
            "slowest epoch, s": float(self.seconds.max()),
            "slowest epoch at equal shares, s": float(self.equal.max()),
            "mean epoch, s": float(self.seconds.mean()),
            "mean epoch at equal shares, s": float(self.equal.mean()),
        }


def epoch(problem: Problem, shares: Floats, alive: Bools) -> Epoch | None:
    """The epoch that shares make; None where no living centre's cost states a time.

    Args:
        problem: Of the costs and the budget.
        shares: (centres,) what was decided.
        alive: (centres,) who takes part.
    """
    equal = np.full(problem.centres, problem.budget / max(1, int(alive.sum())))
    timed = alive & np.isfinite(problem.costs.seconds(equal))
    if not timed.any():
        return None
    own = np.flatnonzero(timed)
    return Epoch(own, problem.costs.seconds(shares)[own], problem.costs.seconds(equal)[own])
