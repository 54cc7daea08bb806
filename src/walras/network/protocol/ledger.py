"""The running-sum ledger: what a centre holds, and what has passed over each of its links.

Each end of a link counts all it ever sent and all it ever credited over it. A message carries the
sender's running sum, and the receiver credits what is new in it. A lost, late, repeated or
overtaken message changes nothing: the next one carries it all. With sigma_ij sent by i to j and
rho_ij credited by j,

    sum_i held_i + sum_ij (sigma_ij - rho_ij) = total    at every moment

(Hadjicostis, Vaidya and Dominguez-Garcia, IEEE TAC 2016). Quantities are vectors of whole quanta:
the CPU share first, then one entry for each scalar of the model's surplus. Running sums are modulo
2^64; only their differences count, and those are far smaller.
"""

from __future__ import annotations

import numpy as np

from walras.types import Longs


class Link:
    """One end of a link, for as long as the neighbour lives: its epoch and the running sums.

    Args:
        epoch: The neighbour's life that this link belongs to.
        width: Entries of the vectors.

    Attributes:
        sent: (width,) all that was ever pushed to the neighbour.
        credited: (width,) all that was ever credited from it.
        number: Of the last message composed for the neighbour.
        latest: Number of the latest message taken from it; earlier ones are late.
        confirmed: Number of the latest own message that the neighbour took.
        changed: Number of the first message that carries the present ``sent``.
    """

    def __init__(self, epoch: int, width: int) -> None:
        self.epoch = epoch
        self.sent: Longs = np.zeros(width, np.int64)
        self.credited: Longs = np.zeros(width, np.int64)
        self.number = self.latest = self.confirmed = self.changed = 0

    @property
    def balance(self) -> Longs:
        """(width,) sent less credited: what the neighbour owes, were the link undone."""
        return self.sent - self.credited

    @property
    def drained(self) -> bool:
        """Whether the neighbour is known to have credited all that was sent."""
        return self.confirmed >= self.changed


class Ledger:
    """What one centre holds and owes.

    Args:
        held: (width,) what it starts with, in quanta.

    Attributes:
        held: (width,) what it has now.
        links: Open links, by neighbour.
        closed: Links that ended with the neighbour's life, by neighbour and epoch. The estate of
            the dead takes over their balances, which are not given back here.
    """

    def __init__(self, held: Longs) -> None:
        self.held = held.copy()
        self.links: dict[int, Link] = {}
        self.closed: dict[tuple[int, int], Link] = {}

    def open(self, neighbour: int, epoch: int) -> Link:
        """A fresh link to a neighbour in this life of its."""
        self.links[neighbour] = Link(epoch, len(self.held))
        return self.links[neighbour]

    def close(self, neighbour: int) -> None:
        """End the link for good; its balance is final."""
        link = self.links.pop(neighbour)
        self.closed[neighbour, link.epoch] = link

    def push(self, neighbour: int, amount: Longs) -> None:
        """Hand an amount over: gone from here at once, credited there when a message arrives."""
        if not amount.any():
            return
        link = self.links[neighbour]
        self.held -= amount
        link.sent += amount
        link.changed = link.number + 1

    def credit(self, neighbour: int, sent: Longs) -> Longs:
        """Take what is new in a neighbour's running sum; returns it."""
        link = self.links[neighbour]
        new = sent - link.credited
        self.held += new
        link.credited += new
        return new
