"""Watching a learner: its step is halved when residuals grow."""

from __future__ import annotations

import numpy as np

from walras.types import Weights

_EARLY = 100  # first steps, which are all looked at: a step far too large shows at once
_WINDOW = 10  # steps between later looks at the residual
_GROWTH = 10.0  # of the residual over its least, at which the step is halved


class Guard:
    """Says when a step should be halved: bounds hold for quadratics, or for L as it was stated.

    Args:
        wanted: Whether to look at all.

    Attributes:
        halvings: Steps at which it said so.
    """

    def __init__(self, *, wanted: bool) -> None:
        self._wanted, self._least = wanted, np.inf
        self.halvings: list[int] = []

    def grew(self, number: int, pull: Weights, models: Weights) -> bool:
        """Whether |pull| and the models' spread have grown tenfold over their least.

        Args:
            number: The step just made; the first are looked at, then every tenth.
            pull: (centres, scalars) what vanishes at the optimum.
            models: (centres, scalars) what agrees there.
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
