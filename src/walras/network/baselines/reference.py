"""References with a centre: federated averaging, and training on all data in one place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.network.graph.network import Network
from walras.network.methods.interfaces import ModelSide, Setting, ShareSide
from walras.network.methods.surplus import Surplus
from walras.types import Weights

_SINGLE = 32  # bits of a scalar to and from the server


@dataclass(frozen=True)
class FederatedAveraging:
    """Every centre makes some steps alone, then a server averages: McMahan et al. 2017.

    Attributes:
        step: Step of the local gradient of the mean loss; 0.5 / L when left out.
        local_steps: Steps between two averages.
        batch: Samples in a step; all when None.
        name: The name in tables and figures.

    Example:
        >>> from walras.network import baselines
        >>> baselines.FederatedAveraging(local_steps=3).name
        'federated averaging'
    """

    step: float | None = None
    local_steps: int = 5
    batch: int | None = None
    name: str = "federated averaging"

    def shares(self, setting: Setting) -> ShareSide:
        """Shares move as in :class:`walras.network.Surplus`.

        Args:
            setting: The problem, the network and the links.

        Returns:
            The part of the method that moves shares.
        """
        return Surplus().shares(setting)

    def models(self, setting: Setting) -> ModelSide:
        """A server sends one model out and averages the answers.

        Args:
            setting: The problem, the network and the links.

        Returns:
            The part of the method that trains the models.
        """
        return _Federated(setting, self.step, self.local_steps, self.batch)


@dataclass(frozen=True)
class Centralised:
    """Nesterov's accelerated gradient on all data; no messages are counted.

    Attributes:
        step: Step of the gradient; 1 / L of the whole loss when left out.
        batch: Samples of each shard in a step; all when None.
        momentum: Fixed, or None for (k - 1) / (k + 2) with restarts.
        name: The name in tables and figures.

    Example:
        >>> from walras.network import baselines
        >>> baselines.Centralised(step=0.1).name
        'centralised'
    """

    step: float | None = None
    batch: int | None = None
    momentum: float | None = None
    name: str = "centralised"

    def shares(self, setting: Setting) -> ShareSide:
        """Shares move as in :class:`walras.network.Surplus`.

        Args:
            setting: The problem, the network and the links.

        Returns:
            The part of the method that moves shares.
        """
        return Surplus().shares(setting)

    def models(self, setting: Setting) -> ModelSide:
        """All centres train one model.

        Args:
            setting: The problem, the network and the links.

        Returns:
            The part of the method that trains the models.
        """
        return _Centralised(setting, self.step, self.batch, self.momentum)


class _Server:
    """The common part of both methods."""

    tracking_error = float("nan")

    def __init__(self, setting: Setting, batch: int | None) -> None:
        self._loss, self._data = setting.problem.learning
        self._centres, self._batch = setting.problem.centres, batch
        self._rng = np.random.default_rng((setting.seed, 31))
        self.models = setting.first_models()
        self.bits = 0

    def _gradients(self, models: Weights) -> Weights:
        data = self._data if self._batch is None else self._data.batch(self._batch, self._rng)
        return self._loss.gradient(models, data, self._centres)


class _Federated(_Server):
    def __init__(self, setting: Setting, step: float | None, local: int, batch: int | None) -> None:
        super().__init__(setting, batch)
        # A centre alone minimises its own mean loss, which is its part of the whole, scaled up.
        part = self._data.weight.sum(axis=1)
        self._part = part / part.sum()
        scale = float((setting.problem.smoothness / self._part).max())
        self._step_size = 0.5 / scale if step is None else step
        self._local = local

    def step(self, network: Network, number: int) -> None:
        """One round: send the model out, make local steps, send back."""
        for _ in range(self._local):
            own = self._gradients(self.models) / self._part[:, None]
            self.models = np.asarray(self.models - self._step_size * own, self.models.dtype)
        mean = (self._part[:, None] * self.models).sum(axis=0)
        self.models = np.repeat(mean[None], self._centres, axis=0).astype(self.models.dtype)
        self.bits += 2 * self._centres * _SINGLE * self.models.shape[1]


class _Centralised(_Server):
    def __init__(
        self, setting: Setting, step: float | None, batch: int | None, momentum: float | None
    ) -> None:
        super().__init__(setting, batch)
        # The curvature of the whole is at most the sum of the parts' curvatures.
        self._step_size = 1.0 / float(setting.problem.smoothness.sum()) if step is None else step
        self._momentum, self._age = momentum, 0
        self._before = self.models[:1]

    def step(self, network: Network, number: int) -> None:
        """One accelerated step; momentum restarts when it goes uphill (O'Donoghue, Candes 2015)."""
        y = self.models[:1]
        beta = self._age / (self._age + 3.0) if self._momentum is None else self._momentum
        ahead = y + beta * (y - self._before)
        everywhere = np.repeat(ahead, self._centres, axis=0).astype(y.dtype)
        slope = self._gradients(everywhere).sum(axis=0, keepdims=True)
        fresh = np.asarray(ahead - self._step_size * slope, y.dtype)
        uphill = float((slope * (fresh - y)).sum()) > 0.0
        self._age = 0 if uphill and self._momentum is None else self._age + 1
        self._before = y
        self.models = np.repeat(fresh, self._centres, axis=0)
