"""The surplus method's model on any graph without faults: gradient tracking without differences."""

from __future__ import annotations

import numpy as np

from walras.network.graph.network import Network
from walras.network.links.channel import Channel
from walras.network.methods.interfaces import Setting
from walras.network.methods.rules import model_step, tracker
from walras.network.methods.steps import Steps
from walras.network.methods.tracker_state import Surpluses
from walras.types import Weights


class Models(Surpluses):
    """y+ = y + step (pull - alpha z), s+ = s + step pull(z), z = gradient + s.

    Args:
        setting: The problem, the network and the links.
        steps: Step sizes.
        batch: Samples for each centre and step; all when None.
        momentum: Momentum of the tracker: v+ = momentum v + z.
        guard: Whether growing residuals halve the step.
    """

    def __init__(
        self, setting: Setting, steps: Steps, batch: int | None, momentum: float, *, guard: bool
    ) -> None:
        super().__init__(setting, steps.model, guard=guard)
        self._rng = np.random.default_rng((setting.seed, 17))
        self._batch, self._momentum = batch, momentum
        self._gradient = self._fresh_gradient()
        self._velocity = np.zeros_like(self.models)
        self._difference = setting.links.mode == "difference"
        scalars = self.models.shape[1]
        self._about_model: Channel[np.floating] = Channel(setting.links, scalars)
        self._about_tracker: Channel[np.floating] = Channel(setting.links, scalars)
        self.alpha = steps.alpha

    def step(self, network: Network, number: int) -> None:
        """Make one step of model and surplus; the gradient is the new model's."""
        z = tracker(self._gradient, self._surplus)
        self._velocity = self._momentum * self._velocity + z if self._momentum else z
        pull = self._pull(self._about_model, self.models, network, receive=True)
        self._surplus = self._surplus + self.step_size * self._pull(
            self._about_tracker, z, network, receive=False
        )
        self.models = model_step(self.models, pull, self._velocity, self.step_size, self.alpha)
        self._gradient = self._fresh_gradient()
        self.bits += len(network.tail) * (
            self._about_model.message_bits + self._about_tracker.message_bits
        )
        self._watch(number, z)

    def _pull(
        self, channel: Channel[np.floating], values: Weights, network: Network, *, receive: bool
    ) -> Weights:
        """sum_j w_ij (v_j - v_i); rows sum to 0 when received, columns when sent."""
        if self._difference:
            weight = network.weight[: network.links, None]
            apart = channel.differences(values, network)
            return np.asarray(network.incidence @ (weight * apart), values.dtype)
        laplacian = network.receive if receive else network.send
        return np.asarray(-(laplacian @ channel.broadcast(values)), values.dtype)

    def _fresh_gradient(self) -> Weights:
        data = self._data if self._batch is None else self._data.batch(self._batch, self._rng)
        return self._loss.gradient(self.models, data, self._centres)
