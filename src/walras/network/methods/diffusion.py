"""The surplus method's model on a constant graph: exact diffusion, one message a step."""

from __future__ import annotations

import numpy as np

from walras.network.graph.network import Network
from walras.network.links.channel import Channel
from walras.network.methods.interfaces import Setting
from walras.network.methods.rules import adapted
from walras.network.methods.steps import Steps
from walras.network.methods.tracker_state import Surpluses


class Diffused(Surpluses):
    """v = y - step (grad g(y) + s), y+ = v + mix pull(v), s+ = s - (mix / step) pull(v).

    In the limit v and y are equal in all centres and s = -grad g(y). The gradients then sum to 0,
    since the surpluses do. Source: NIDS (Li, Shi and Yan 2019) and exact diffusion (Yuan, Ying,
    Zhao and Sayed 2019) with s for their difference of two steps; with innovation codes, COLD
    (Zhang, You and Xie, arXiv 2105.06697), which converges linearly on strongly convex losses.

    Args:
        setting: The problem, the network and the links.
        steps: Step size and mix.
        guard: Whether growing residuals halve the step.
    """

    def __init__(self, setting: Setting, steps: Steps, *, guard: bool) -> None:
        super().__init__(setting, steps.model, guard=guard)
        self._about: Channel[np.floating] = Channel(setting.links, self.models.shape[1])
        self._mix = steps.mix

    def step(self, network: Network, number: int) -> None:
        """Compute one gradient, send one message, and move model and surplus by one flow."""
        gradient = self._loss.gradient(self.models, self._data, self._centres)
        moved = adapted(self.models, gradient, self._surplus, self.step_size)
        flow = -self._mix * (network.receive @ self._about.broadcast(moved))
        self.models = np.asarray(moved + flow, moved.dtype)
        self._surplus = np.asarray(self._surplus - flow / self.step_size, moved.dtype)
        self.bits += len(network.tail) * self._about.message_bits
        pull = self.step_size * (gradient + self._surplus)
        self._watch(number, pull)
