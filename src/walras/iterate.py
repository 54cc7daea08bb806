"""What every engine hands back: a point, its prices, and how it got there."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from walras.progress import History, Timings
from walras.status import Status
from walras.types import Floats


@dataclass(frozen=True, eq=False)
class Iterate:
    """A primal and dual point of a :class:`~walras.separable.Separable`.

    Nothing here is trusted: :mod:`walras.certificate` judges it from the problem's data alone.

    Attributes:
        x: (entries,) allocation.
        t: (scalars,) shared scalars.
        prices: (rows,) multipliers; >= 0 for a row at its upper bound, <= 0 at its lower.
        status: The engine's own opinion.
        history: The steps taken.
        timings: Seconds a stage.
        message: The engine's own words, if any.
        bound: A bound on the minimised value that the engine proved by itself (branch and bound),
            or ``-inf``.
        bound_source: Who proved that bound, such as ``HiGHS``; empty without one.
    """

    x: Floats
    t: Floats
    prices: Floats
    status: Status
    history: History = field(default_factory=History)
    timings: Timings = field(default_factory=Timings)
    message: str = ""
    bound: float = -np.inf
    bound_source: str = ""
