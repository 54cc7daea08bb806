"""What both ways to train hold: models, and surpluses that move along links only and sum to 0."""

from __future__ import annotations

import numpy as np

from walras.network.methods.guard import Guard
from walras.network.methods.interfaces import Setting
from walras.types import Weights


class Surpluses:
    """The state of a learner at its start.

    Args:
        setting: The problem, the network and the links.
        step: Size of the first step.
        guard: Whether growing residuals halve it.

    Attributes:
        models: (centres, scalars) everybody's model.
        step_size: Of the next step.
        halvings: Steps at which the guard halved it.
        bits: Sent so far.
    """

    def __init__(self, setting: Setting, step: float, *, guard: bool) -> None:
        self._loss, self._data = setting.problem.learning
        self._centres = setting.problem.centres
        self.models: Weights = setting.first_models()
        self._surplus: Weights = np.zeros_like(self.models)
        self.step_size = step
        self._guard = Guard(wanted=guard)
        self.halvings = self._guard.halvings
        self.bits = 0

    @property
    def tracking_error(self) -> float:
        """|sum of surpluses|, or of trackers less gradients, which is the same: rounding only."""
        return float(np.abs(self._surplus.sum(axis=0, dtype=np.float64)).max())

    def _watch(self, number: int, residual: Weights) -> None:
        """Halve the step where what should vanish has grown."""
        if self._guard.grew(number, residual, self.models):
            self.step_size *= 0.5
