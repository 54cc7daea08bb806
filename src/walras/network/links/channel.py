"""The neighbours' knowledge of each other's numbers over links without faults."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from walras.network.graph.network import Network
from walras.network.links.quantizers import Links, sent

Real = TypeVar("Real", bound=np.floating)


class Channel(Generic[Real]):
    """A broadcast of one vector for each centre and step, (centres, scalars).

    Every neighbour receives the same codes, so one copy serves for all of them.

    Args:
        links: The coding of the messages.
        scalars: Size of a message.
    """

    def __init__(self, links: Links, scalars: int) -> None:
        self._links = links
        self._known: npt.NDArray[Real] | None = None
        self.message_bits = links.bits(scalars)

    def broadcast(self, values: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """The neighbours' knowledge of ``values`` after this step's message.

        Innovation coding starts from zero, which all know.
        """
        if self._links.mode != "innovation":
            return sent(self._links, values)
        if self._known is None:
            self._known = np.zeros_like(values)
        self._known = self._known + self._links.quantise(values - self._known)
        return self._known

    def differences(self, values: npt.NDArray[Real], network: Network) -> npt.NDArray[Real]:
        """(links, scalars) the tail's value minus the head's, as both ends of a link know it."""
        tail, head = network.tail[: network.links], network.head[: network.links]
        if self._links.mode == "difference":
            return sent(self._links, values[tail] - values[head])
        known = self.broadcast(values)
        return known[tail] - known[head]
