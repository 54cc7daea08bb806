"""Baselines for the model: EXTRA, NIDS and DIGing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.errors import InputError
from walras.network.graph.network import Network
from walras.network.links.channel import Channel
from walras.network.methods.interfaces import ModelSide, Setting, ShareSide
from walras.network.methods.surplus import Surplus
from walras.types import Weights


@dataclass(frozen=True)
class _OfModels:
    """A baseline for the model; CPU is shared as in Surplus.

    Attributes:
        step: Step of the gradient; 0.5 / L when left out.
    """

    step: float | None = None

    def shares(self, setting: Setting) -> ShareSide:
        """Shares move as in Surplus."""
        return Surplus().shares(setting)

    def _step(self, setting: Setting) -> float:
        return 0.5 / float(setting.problem.smoothness.max()) if self.step is None else self.step


@dataclass(frozen=True)
class Extra(_OfModels):
    """y2 = (I + W) y1 - (I + W) / 2 y0 - step (grad1 - grad0): Shi, Ling, Wu and Yin 2015.

    Attributes:
        step: Step of the gradient; a safe one if None.
        name: The name in tables and figures.

    Example:
        >>> from walras.network import baselines
        >>> baselines.Extra(step=0.1).name
        'EXTRA'
    """

    name: str = "EXTRA"

    def models(self, setting: Setting) -> ModelSide:
        """Set up the models of all centres.

        Args:
            setting: The problem, the network and the links.

        Returns:
            The part of the method that trains the models.
        """
        return _Corrected(setting, self._step(setting), mix_gradient=False)


@dataclass(frozen=True)
class Nids(_OfModels):
    """y2 = (I + W) / 2 (2 y1 - y0 - step (grad1 - grad0)): Li, Shi and Yan 2019.

    Attributes:
        step: Step of the gradient; a safe one if None.
        name: The name in tables and figures.

    Example:
        >>> from walras.network import baselines
        >>> baselines.Nids(step=0.1).name
        'NIDS'
    """

    name: str = "NIDS"

    def models(self, setting: Setting) -> ModelSide:
        """Set up the models of all centres.

        Args:
            setting: The problem, the network and the links.

        Returns:
            The part of the method that trains the models.
        """
        return _Corrected(setting, self._step(setting), mix_gradient=True)


@dataclass(frozen=True)
class DIGing(_OfModels):
    """y+ = W y - step z, z+ = W z + grad+ - grad: Nedic, Olshevsky and Shi 2017.

    Attributes:
        step: Step of the gradient; a safe one if None.
        name: The name in tables and figures.

    Example:
        >>> from walras.network import baselines
        >>> baselines.DIGing(step=0.1).name
        'DIGing'
    """

    name: str = "DIGing"

    def models(self, setting: Setting) -> ModelSide:
        """Set up the models of all centres.

        Args:
            setting: The problem, the network and the links.

        Returns:
            The part of the method that trains the models.
        """
        step = self.step
        if step is None:
            slow = setting.network.at(0).eigenvalues[0]
            step = min(1.0, slow) * 0.2 / float(setting.problem.smoothness.max())
        return _DIGing(setting, step)


class _Learner:
    """The common part of the three methods; W = I - Laplacian."""

    tracking_error = float("nan")

    def __init__(self, setting: Setting, step: float) -> None:
        faulty = setting.faults is not None and setting.faults.any
        if faulty or setting.network.directed:
            raise InputError(
                "is directed, or messages are lost",
                where="EXTRA, NIDS and DIGing",
                allowed="undirected, without faults",
                remedy="the methods have no answer to either; Surplus has",
            )
        self._loss, self._data = setting.problem.learning
        self._centres, self._step_size = setting.problem.centres, step
        self.models = setting.first_models()
        self._gradient = self._at(self.models)
        self._links, self._scalars = setting.links, self.models.shape[1]
        self.bits = 0

    def _at(self, models: Weights) -> Weights:
        return self._loss.gradient(models, self._data, self._centres)

    def _channel(self) -> Channel[np.floating]:
        return Channel(self._links, self._scalars)


class _Corrected(_Learner):
    """EXTRA and NIDS: a step on two models that corrects the bias of plain gradient descent."""

    def __init__(self, setting: Setting, step: float, *, mix_gradient: bool) -> None:
        super().__init__(setting, step)
        self._mix_gradient = mix_gradient
        self._about = self._channel()
        self._before: tuple[Weights, Weights, Weights] | None = None

    def step(self, network: Network, number: int) -> None:
        """One round of messages and one gradient."""
        y, g = self.models, self._gradient
        if self._mix_gradient:
            mixed = y - self._step_size * g
            if self._before is not None:
                mixed = 2.0 * y - self._before[0] - self._step_size * (g - self._before[1])
                mixed = mixed - 0.5 * (network.receive @ self._about.broadcast(mixed))
            fresh, flow = mixed, mixed
        else:
            flow = network.receive @ self._about.broadcast(y)  # (I - W) y
            if self._before is None:
                fresh = y - flow - self._step_size * g
            else:
                before, slope, drift = self._before
                fresh = 2.0 * y - flow - before + 0.5 * drift - self._step_size * (g - slope)
        self._before = (y, g, flow)
        self.models = np.asarray(fresh, y.dtype)
        self._gradient = self._at(self.models)
        self.bits += len(network.tail) * self._about.message_bits


class _DIGing(_Learner):
    """Gradient tracking as published."""

    def __init__(self, setting: Setting, step: float) -> None:
        super().__init__(setting, step)
        self._tracker = self._gradient
        self._about_model, self._about_tracker = self._channel(), self._channel()

    def step(self, network: Network, number: int) -> None:
        """Two messages and one gradient."""
        y, z = self.models, self._tracker
        fresh = y - network.receive @ self._about_model.broadcast(y) - self._step_size * z
        self.models = np.asarray(fresh, y.dtype)
        gradient = self._at(self.models)
        mixed = z - network.send @ self._about_tracker.broadcast(z)
        self._tracker = np.asarray(mixed + gradient - self._gradient, y.dtype)
        self._gradient = gradient
        self.bits += len(network.tail) * (
            self._about_model.message_bits + self._about_tracker.message_bits
        )
