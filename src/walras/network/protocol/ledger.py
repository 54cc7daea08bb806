"""The running-sum ledger: what a centre holds, and what it sent and received over each link.

Each end of a link counts all that it ever sent and ever credited. A message carries the sender's
running sum, and the receiver credits the difference to the last one. A lost, late, repeated or
overtaken message does no harm: the next one carries the whole sum. With sigma_ij sent by i to j and
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
    """One end of a link during one life of the neighbour: its epoch and the running sums.

    Args:
        epoch: The neighbour's life that this link belongs to.
        width: Entries of the vectors.

    Attributes:
        sent: (width,) sum of all transfers to the neighbour.
        credited: (width,) sum of all transfers credited from it.
        number: Number of the last message composed for the neighbour.
        latest: Number of the latest message accepted from it; earlier ones are late.
        confirmed: Number of the latest own message that the neighbour accepted.
        changed: Number of the first message that carries the present ``sent``.
    """

    def __init__(self, epoch: int, width: int) -> None:
        self.epoch = epoch
        self.sent: Longs = np.zeros(width, np.int64)
        self.credited: Longs = np.zeros(width, np.int64)
        self.number = self.latest = self.confirmed = self.changed = 0

    @property
    def balance(self) -> Longs:
        """(width,) sent minus credited: what the neighbour would owe if the link were undone."""
        return self.sent - self.credited

    @property
    def drained(self) -> bool:
        """Whether the neighbour is known to have credited all that was sent."""
        return self.confirmed >= self.changed


class Ledger:
    """What a centre holds, and its links.

    Args:
        held: (width,) initial quanta.

    Attributes:
        held: (width,) quanta that it holds now.
        links: Open links, by neighbour.
        closed: Links that ended with the neighbour's life, by neighbour and epoch. The settlement
            takes over their balances; they are not given back here.
    """

    def __init__(self, held: Longs) -> None:
        self.held = held.copy()
        self.links: dict[int, Link] = {}
        self.closed: dict[tuple[int, int], Link] = {}

    def open(self, neighbour: int, epoch: int) -> Link:
        """Open a link to this life of a neighbour."""
        self.links[neighbour] = Link(epoch, len(self.held))
        return self.links[neighbour]

    def close(self, neighbour: int) -> None:
        """Close the link; its balance is final."""
        link = self.links.pop(neighbour)
        self.closed[neighbour, link.epoch] = link

    def push(self, neighbour: int, amount: Longs) -> None:
        """Transfer an amount: subtracted here now, credited there when a message arrives."""
        if not amount.any():
            return
        link = self.links[neighbour]
        self.held -= amount
        link.sent += amount
        link.changed = link.number + 1

    def credit(self, neighbour: int, sent: Longs) -> Longs:
        """Credit the new part of a neighbour's running sum; return it."""
        link = self.links[neighbour]
        new = sent - link.credited
        self.held += new
        link.credited += new
        return new
