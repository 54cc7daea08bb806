"""The surplus method's shares over two-way links without faults."""

from __future__ import annotations

import numpy as np

from walras.network.graph.network import Network
from walras.network.links.channel import Channel
from walras.network.methods.interfaces import Setting
from walras.network.methods.rules import box_price, exchange
from walras.network.methods.steps import Steps
from walras.network.problem.quanta import even_parts, portioned, summed
from walras.types import Floats, Longs

_NOTHING = np.zeros(0, np.int64)


class Shares:
    """Whole quanta that move along links towards lower marginal costs.

    The method moves the quanta *due* to a centre, whatever its box, so that the theory's rates
    hold. The quanta that it *holds* follow, and never fall below the lower limit. On a constant
    graph one end of a link owes the quanta that it does not have yet, and pays when others have
    paid it. Since due = held + owed to it - owed by it, a centre that holds more than its due has
    debts and can pay them. Once no debts are added, holdings become equal to dues. On changing
    graphs a debt may have no path. There a centre passes holdings above its due on to its
    neighbours until they reach a centre that lacks them.

    Args:
        setting: The problem, the network and the links.
        steps: Step sizes.
    """

    def __init__(self, setting: Setting, steps: Steps) -> None:
        problem = self._problem = setting.problem
        n = problem.centres
        self._held = self._due = problem.first_split(setting.start)
        self._steps = steps
        self._multiplier = np.zeros(n)
        self._channel: Channel[np.float64] = Channel(setting.links, 1)
        self._graph: Network | None = None
        self._moved = self._owed = _NOTHING
        self._limited = bool(problem.floored.any())
        self._stays = setting.network.law is None
        paid = 64 if self._limited else 0  # without limits, both ends know the payments
        self._arc_bits = self._channel.message_bits + paid
        self.bits = 0
        self.alive = np.ones(n, bool)

    @property
    def shares(self) -> Floats:
        """(centres,) share that each centre uses."""
        return self._problem.used(self._held)

    @property
    def held(self) -> Floats:
        """(centres,) CPU that each centre holds."""
        return self._problem.quanta.shares(self._held)

    @property
    def quanta(self) -> tuple[Longs, Longs]:
        """Quanta held; nothing is ever in flight."""
        return self._held, _NOTHING

    def step(self, network: Network, number: int) -> None:
        """Move dues by the difference of prices, then pay debts."""
        price = self._price(network)
        moved = self._trade(network, self._steps.share * network.weight, price)
        self._due = self._due + network.incidence @ moved
        if not self._limited:
            self._held = self._due
        else:
            self._follow(network, moved, number)
        self.bits += self._arc_bits * len(network.tail)

    def _trade(self, network: Network, gain: Floats, price: Floats) -> Longs:
        """Moves over each link, from the difference of prices and a share of the last move."""
        self._enter(network)
        apart = self._channel.differences(price[:, None], network)[:, 0]
        self._moved = exchange(
            gain[: network.links],
            apart,
            np.zeros(1),
            self._moved,
            self._steps.momentum,
            self._problem.quanta.unit,
        )
        return self._moved

    def _follow(self, network: Network, moved: Longs, number: int) -> None:
        """Let holdings follow dues, as far as the lower limits allow."""
        owed = self._owed + moved
        paid = self._paid(network, owed)
        self._held = self._held + network.incidence @ paid
        if self._stays:
            self._owed = owed - paid
        else:
            self._pass_on(network, number)

    def _paid(self, network: Network, owed: Longs) -> Longs:
        """(links,) payments over each link; positive from its tail."""
        tail, head = network.tail[: network.links], network.head[: network.links]
        debt, debtor = np.abs(owed), np.where(owed > 0, tail, head)
        wanted = summed(debt, debtor, network.centres)
        given = np.minimum(wanted, self._problem.available(self._held))
        return np.sign(owed) * portioned(debt, debtor, given)

    def _pass_on(self, network: Network, number: int) -> None:
        """Send holdings above the due to all neighbours, in equal parts."""
        over = np.minimum(self._held - self._due, self._problem.available(self._held))
        given = even_parts(np.maximum(over, 0), network.tail, number)
        self._held = self._held - summed(given, network.tail, network.centres)
        self._held = self._held + summed(given, network.head, network.centres)

    def _enter(self, network: Network) -> None:
        """Enter another graph: the momentum over its links starts at zero."""
        if network is not self._graph:
            self._graph = network
            self._moved = self._owed = np.zeros(network.links, np.int64)

    def _price(self, network: Network) -> Floats:
        """Marginal costs at the shares extrapolated by the momentum (Nesterov's method)."""
        problem, steps = self._problem, self._steps
        x = problem.quanta.shares(self._due)
        if steps.momentum and network is self._graph:
            drift = network.incidence @ self._moved
            x = x + steps.momentum * problem.quanta.shares(drift)
        if not problem.boxed:
            return problem.slope(x)
        shadow = box_price(x, self._multiplier, problem.low, problem.high, steps.penalty)
        self._multiplier = self._multiplier + self._steps.multiplier_step * (
            shadow - self._multiplier
        )
        return problem.slope(x) + shadow
