"""The common state of both learners: models, and surpluses that move along links and sum to 0."""

from __future__ import annotations

import numpy as np

from walras.network.methods.guard import Guard
from walras.network.methods.interfaces import Setting
from walras.types import Weights


class Surpluses:
    """The first state of a learner.

    Args:
        setting: The problem, the network and the links.
        step: Size of the first step.
        guard: Whether growing residuals halve it.

    Attributes:
        models: (centres, scalars) the model of each centre.
        step_size: Size of the next step.
        halvings: Steps at which the guard halved it.
        bits: Bits sent so far.
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
        """|sum of surpluses|, which equals |sum of trackers less gradients|: only rounding."""
        return float(np.abs(self._surplus.sum(axis=0, dtype=np.float64)).max())

    def _watch(self, number: int, residual: Weights) -> None:
        """Halve the step if a residual that should vanish has grown."""
        if self._guard.grew(number, residual, self.models):
            self.step_size *= 0.5
