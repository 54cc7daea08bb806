"""The model over one-way links, which may change at every step and lose messages."""

from __future__ import annotations

import numpy as np

from walras.network.graph.network import Network
from walras.network.methods.guard import Guard
from walras.network.methods.interfaces import Setting
from walras.network.methods.push_sum import Post, PushTracking
from walras.network.methods.rules import tracker
from walras.network.methods.steps import Steps
from walras.types import Bools, Weights


class PushModels:
    """Models by :class:`PushTracking`; a centre of little weight makes a shorter step.

    Args:
        setting: The problem, the network, the links and the faults.
        steps: ``model`` times ``alpha`` is the step.
        batch: Samples for each centre and step; all when None.
        momentum: Momentum of the tracker.
        guard: Whether growing residuals halve the step.
    """

    def __init__(
        self, setting: Setting, steps: Steps, batch: int | None, momentum: float, *, guard: bool
    ) -> None:
        self._loss, self._data = setting.problem.learning
        n = self._centres = setting.problem.centres
        self._rng = np.random.default_rng((setting.seed, 17))
        self._batch, self._momentum = batch, momentum
        self.models = setting.first_models()
        self._velocity = np.zeros(self.models.shape)
        self._gradient = self._fresh_gradient()
        self._post = Post(setting, 29)
        first = self.models.astype(np.float64)
        self._masses = PushTracking(setting, self._post, first, np.ones(n))
        self.step_size, self._guard = (
            steps.model * steps.alpha,
            Guard(wanted=guard and not self._post.lossy),
        )
        self.halvings = self._guard.halvings
        self.bits = 0

    @property
    def alive(self) -> Bools:
        """(centres,) True on centres that take part."""
        return self._post.life.alive

    @property
    def tracking_error(self) -> float:
        """|sum of surpluses, held and in flight|: only rounding."""
        return self._masses.error

    def step(self, network: Network, number: int) -> None:
        """Move masses by the trackers, send parts of masses and trackers, credit arrivals."""
        life = self._post.life
        for centre in life.advance(number, self._masses.neighbours):
            life.settled[centre] = True
            self._masses.bury(centre, life.coordinator)
            self._velocity[centre] = 0.0
        for centre in life.rejoining(number):
            self._welcome(centre, network)
        network = self._post.arcs(network)
        z = np.asarray(tracker(self._gradient, self._masses.surplus), np.float64)
        self._velocity = self._momentum * self._velocity + z if self._momentum else z
        size = self.step_size * np.minimum(self._masses.weight, 1.0)[:, None]
        self._masses.step(network, z, size * self._velocity, self._post.arrivals(network))
        kind = self.models.dtype
        self.models = np.where(self.alive[:, None], self._masses.values, self.models).astype(kind)
        self._gradient = np.where(self.alive[:, None], self._fresh_gradient(), 0.0).astype(kind)
        self.bits += self._masses.message_bits * int(self.alive[network.tail].sum())
        if self._guard.grew(number, z, self.models):
            self.step_size *= 0.5

    def _welcome(self, centre: int, network: Network) -> None:
        """Give a returned centre the model of a living one that sends to it."""
        near = network.tail[network.head == centre]
        near = near[self.alive[near]]
        if len(near):
            self.models[centre] = self.models[near[0]]
        self._masses.welcome(centre, self.models[centre])
        self._gradient = self._fresh_gradient()

    def _fresh_gradient(self) -> Weights:
        data = self._data if self._batch is None else self._data.batch(self._batch, self._rng)
        return self._loss.gradient(self.models, data, self._centres)
