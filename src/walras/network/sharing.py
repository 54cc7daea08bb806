"""The surplus method's shares over links without faults."""

from __future__ import annotations

import numpy as np

from walras.network.channel import Channel
from walras.network.graph import Network
from walras.network.rules import box_price, emit, exchange
from walras.network.sides import Setting
from walras.network.steps import Steps
from walras.network.types import Floats, Ints

_NOTHING = np.zeros(0, np.int64)


class Shares:
    """Whole quanta, moved along links towards lower marginal costs.

    Args:
        setting: The problem, the network and the links.
        steps: Step sizes.
        tempo: Of the boxes' multipliers, as a share of the method of multipliers' own step.
    """

    def __init__(self, setting: Setting, steps: Steps, tempo: float) -> None:
        problem = self._problem = setting.problem
        n = problem.centres
        fractions = np.full(n, 1.0) if setting.start is None else setting.start
        self._held = problem.quanta.split(fractions)
        self._steps, self._tempo = steps, tempo
        self._multiplier = np.zeros(n)
        self._channel: Channel[np.float64] = Channel(setting.links, 1)
        self._perron = np.ones(n)
        self._graph: Network | None = None
        self._moved = _NOTHING
        self._arc_bits = self._channel.message_bits + (64 if steps.push_sum else 0)
        self.bits = 0
        self.alive = np.ones(n, bool)

    @property
    def shares(self) -> Floats:
        """(centres,) what each holds."""
        return self._problem.quanta.shares(self._held)

    @property
    def quanta(self) -> tuple[Ints, Ints]:
        """Held; nothing is ever in flight."""
        return self._held, _NOTHING

    def step(self, network: Network, number: int) -> None:
        """Move quanta along links, by the difference of prices and a part of what moved before."""
        price = self._price(network)
        unit = self._problem.quanta.unit
        gain = self._steps.share * network.weight
        if network.directed:
            # One-way links: everyone hands out its own price, weighted to balance in the end.
            known = self._channel.broadcast((self._perron * price)[:, None])[:, 0]
            moved = emit(gain, known[network.tail], unit)
            self._perron = self._perron - self._steps.push_sum * (network.send @ self._perron)
        else:
            apart = self._channel.differences(price[:, None], network)[:, 0]
            carried = self._momentum_of(network)
            moved = exchange(
                gain[: network.links], apart, np.zeros(1), carried, self._steps.momentum, unit
            )
            self._moved = moved
        self._held = self._held + network.incidence @ moved
        self.bits += self._arc_bits * len(network.tail)

    def _momentum_of(self, network: Network) -> Ints:
        """What went over each link at the step before; nothing over links that are new."""
        if network is not self._graph:
            self._graph = network
            self._moved = np.zeros(network.links, np.int64)
        return self._moved

    def _price(self, network: Network) -> Floats:
        """Marginal costs where momentum will carry the shares (Nesterov's method)."""
        problem, steps = self._problem, self._steps
        x = self.shares
        if steps.momentum:
            drift = network.incidence @ self._momentum_of(network)
            x = x + steps.momentum * problem.quanta.shares(drift)
        if not problem.boxed:
            return problem.slope(x)
        shadow = box_price(x, self._multiplier, problem.low, problem.high, steps.penalty)
        self._multiplier = self._multiplier + self._tempo * (shadow - self._multiplier)
        return problem.slope(x) + shadow
