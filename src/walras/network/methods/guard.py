"""A guard that halves the step of a learner when residuals grow."""

from __future__ import annotations

import numpy as np

from walras.types import Weights

_EARLY = 100  # first steps, which are all checked, since a far too large step shows at once
_WINDOW = 10  # steps between later checks of the residual
_GROWTH = 10.0  # growth of the residual over its least value at which the step is halved


class Guard:
    """Decides when to halve a step, since bounds hold only for quadratics, or for the given L.

    Args:
        wanted: Whether to check at all.

    Attributes:
        halvings: Steps at which it asked for a halving.
    """

    def __init__(self, *, wanted: bool) -> None:
        self._wanted, self._least = wanted, np.inf
        self.halvings: list[int] = []

    def grew(self, number: int, pull: Weights, models: Weights) -> bool:
        """Whether |pull| and the models' spread have grown tenfold over their least.

        Args:
            number: Number of the last step; the first steps are checked, then every tenth.
            pull: (centres, scalars) a residual that vanishes at the optimum.
            models: (centres, scalars) the models, which agree there.
        """
        if not self._wanted or (number >= _EARLY and number % _WINDOW):
            return False
        spread = models - models.mean(axis=0)
        residual = float(np.abs(pull).max() + np.abs(spread).max())
        grew = not residual < _GROWTH * self._least
        if grew:
            self.halvings.append(number)
            self._least = residual
        self._least = min(self._least, residual)
        return grew
