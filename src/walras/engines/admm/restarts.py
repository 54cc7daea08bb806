r"""Reflected Halpern iterations with adaptive restarts, for any splitting with a fixed point.

With T firmly nonexpansive in its metric and an anchor z_0,

    z_{k+1} = (k+1)/(k+2) (2 T z_k - z_k) + 1/(k+2) z_0,    ||z_k - T z_k|| <= ||z_0 - z*|| / (k+1)

(Halpern 1967; Lieder 2021). An epoch ends in one of three cases, and its last point is the next
anchor: the residual ``||z - Tz||`` has fallen far enough below the epoch's first; it has fallen
somewhat and rises again; or the epoch is long (Lu, Yang 2024, "Restarted Halpern PDHG"; Applegate
et al. 2023 for the thresholds).
"""

from __future__ import annotations

import numpy as np

from walras.engines.admm.option_groups import RestartRule

REFLECTED = 2.0  # relaxation that turns T into 2 T - 1


class Restarts:
    """The epochs of one solve.

    Args:
        rule: When an epoch ends.

    Attributes:
        count: Restarts so far.
    """

    def __init__(self, rule: RestartRule) -> None:
        self.count, self._rule = 0, rule
        self._total = 0
        self._begin()

    def _begin(self) -> None:
        self._length, self._first, self._last = 0, np.inf, np.inf

    @property
    def starting(self) -> bool:
        """Whether the next iteration is the first of an epoch, whose point is the anchor."""
        return self._length == 0

    @property
    def share(self) -> float:
        """Weight of the reflected point in the next point; the anchor has the rest."""
        return (self._length + 1.0) / (self._length + 2.0)

    def note(self, residual: float) -> bool:
        """Count an iteration; return True when an epoch ends with it."""
        if self._length == 0:
            self._first = residual
        self._length += 1
        self._total += 1
        rises, self._last = residual > self._last, residual
        over = self._length > 1 and (
            residual <= self._rule.sufficient * self._first
            or (residual <= self._rule.necessary * self._first and rises)
            or self._length >= self._rule.artificial * self._total
        )
        if over:
            self.count += 1
            self._begin()
        return over
