"""Settings of a placement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras import checks
from walras.progress import OnProgress


@dataclass(frozen=True, kw_only=True)
class Options:
    """Settings of a placement.

    Attributes:
        tolerance: Certified relative gap at which the search ends.
        attempts: Most attempts of the local search, for each node.
        time_limit: Seconds, or None. At the limit the best placement is returned with its bound.
        seed: Of the random choices.
        on_progress: Called with a :class:`walras.progress.Progress`; returning True stops.

    Raises:
        InputError: A setting is out of range.

    Example:
        >>> import pandas as pd
        >>> from walras.domains import placement as pl
        >>> nodes = pd.DataFrame({"cpu": [8, 8]}, index=["a", "b"])
        >>> tasks = pd.DataFrame({"cpu": [3, 3, 6]}, index=["x", "y", "z"])
        >>> pl.solve_instance(pl.make_instance(nodes, tasks), pl.Options(seed=1)).value
        3.0
    """

    tolerance: float = 1e-3
    attempts: int = 40
    time_limit: float | None = None
    seed: int = 0
    on_progress: OnProgress | None = None

    def __post_init__(self) -> None:
        checks.setting(self, "tolerance", 0.0, 1.0)
        checks.setting(self, "attempts", 0, 10**9, integer=True)
        checks.setting(self, "seed", 0, 2**31 - 1, integer=True)
        checks.setting(self, "time_limit", 0.0, np.inf, optional=True)
