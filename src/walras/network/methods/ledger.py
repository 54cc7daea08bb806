"""Running sums on every arc: amounts sent, amounts received, and balances of dead neighbours.

The sender of arc i -> j debits at once and sends the running sum of all it ever pushed; the
receiver credits the new part. The next message makes up for a lost one, and a repeated or late one
changes nothing (Hadjicostis, Vaidya and Dominguez-Garcia, IEEE TAC 2016). Two differences are kept,
since they stay bounded: the amount in flight (sent - received), and the net amount that i gave j
(sent to j - received from j).
"""

from __future__ import annotations

import numpy as np

from walras.network.graph.network import Network
from walras.types import Bools, Longs


class Ledger:
    """The accounts of all arcs that were ever in force.

    Args:
        centres: Number of centres.

    Attributes:
        tail: (accounts,) sender.
        head: (accounts,) receiver.
        under_way: (accounts,) quanta pushed and not yet credited.
        given: (accounts,) net quanta that the tail gave the head, by the tail's books.
        view: (accounts,) the head's marginal cost in the last message to the tail, NaN if none.
        base: (accounts,) the tail's marginal cost that the head is known to have.
        heard: (accounts,) the tail's marginal cost that the head has; the tail may not know.
    """

    def __init__(self, centres: int) -> None:
        self._centres = centres
        self._key = np.zeros(0, np.int64)
        nothing = np.zeros(0, np.int64)
        self._last: tuple[Network | None, tuple[Longs, Longs]] = (None, (nothing, nothing))
        self.tail = self.head = np.zeros(0, np.int64)
        self.under_way = self.given = np.zeros(0, np.int64)
        self.view = self.base = self.heard = np.zeros(0)

    def accounts(self, network: Network) -> tuple[Longs, Longs]:
        """Accounts of a graph's arcs, and of the reverse arcs; opens new ones."""
        if network is self._last[0]:
            return self._last[1]
        key = network.tail * self._centres + network.head
        new = np.setdiff1d(key, self._key)
        if len(new):
            self._open(new)
        back = network.head * self._centres + network.tail
        found = (np.searchsorted(self._key, key), np.searchsorted(self._key, back))
        self._last = (network, found)
        return found

    def _open(self, new: Longs) -> None:
        key = np.concatenate([self._key, new])
        order = np.argsort(key)
        self._key = key[order]
        self.tail, self.head = np.divmod(self._key, self._centres)
        for name in ("under_way", "given"):
            zeros = np.zeros(len(new), np.int64)
            setattr(self, name, np.concatenate([getattr(self, name), zeros])[order])
        for name, first in (("view", np.nan), ("base", 0.0), ("heard", 0.0)):
            column = np.full(len(new), first)
            setattr(self, name, np.concatenate([getattr(self, name), column])[order])

    def owed(self, centre: int, alive: Bools) -> tuple[Longs, Longs]:
        """The living neighbours of a dead centre, and the net amount that each gave it.

        Their sum and the dead centre's first share equal its holdings plus the amounts in flight to
        and from it. So no knowledge of the dead centre itself is needed.
        """
        own = (self.head == centre) & alive[self.tail]
        return self.tail[own], self.given[own]

    def neighbours(self, centre: int) -> Longs:
        """All centres that ever had an account with a centre."""
        return np.asarray(self.tail[self.head == centre])

    def close(self, centre: int) -> None:
        """Delete all accounts of a centre."""
        own = (self.tail == centre) | (self.head == centre)
        self.under_way[own] = self.given[own] = 0
        self.view[own], self.base[own], self.heard[own] = np.nan, 0.0, 0.0
