"""Push-sum on one-way links, which may change at every step and lose messages.

Every centre sends fixed parts of its masses and keeps the rest, so sums stay whatever the graph.
The ratio of two such masses tends to the ratio of their sums (Kempe, Dobra and Gehrke 2003). Where
messages are lost, an arc's sender adds up all that it ever sent, and its receiver credits what is
new (Hadjicostis, Vaidya and Dominguez-Garcia, IEEE TAC 2016). No answer is needed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from walras.network.graph.network import Network
from walras.network.links.channel import Channel
from walras.network.links.faults import Faults
from walras.network.links.quantizers import Links
from walras.network.methods.interfaces import Setting
from walras.network.methods.liveness import Liveness
from walras.network.problem.quanta import summed
from walras.types import Bools, Floats, Longs

FULL = 64  # bits of a running sum, or of an uncoded number
_LONGEST = 20_000  # steps of mixing that are tried
_LEAST = 2.0**-30  # part of its first weight below which a centre keeps its masses


def pushes(network: Network, faults: Faults | None) -> bool:
    """Whether models are learnt by push-sum: on one-way links that change or lose messages."""
    return network.directed and (network.law is not None or (faults is not None and faults.any))


@lru_cache(maxsize=8)
def parts(network: Network) -> Floats:
    """(arcs,) the part of its masses that each centre sends over each arc; it keeps some.

    This is the weight of the arc. Where a centre's weights leave less than a mean weight of 1, it
    is the weight over their sum and that mean.
    """
    arcs = np.bincount(network.tail, minlength=network.centres)
    whole = network.out_weight * (1.0 + 1.0 / np.maximum(arcs, 1))
    return np.asarray(network.weight / np.maximum(whole, 1.0)[network.tail])


@lru_cache(maxsize=8)
def push_matrix(network: Network) -> sparse.csr_array:
    """(centres, centres) A: column j holds the parts of j's masses after a step; it sums to 1."""
    n, every, rate = network.centres, np.arange(network.centres), parts(network)
    kept = 1.0 - np.bincount(network.tail, rate, n)
    ends = (np.concatenate([network.head, every]), np.concatenate([network.tail, every]))
    return sparse.csr_array((np.concatenate([rate, kept]), ends), (n, n))


@lru_cache(maxsize=64)
def mixing_time(network: Network) -> float:
    """Steps until masses that began at different centres overlap by half, at least.

    Args:
        network: One-way links; of a changing network, those of its first steps.

    Returns:
        The steps from a sample of 64 centres; at most 20,000.
    """
    begin = np.unique(np.linspace(0, network.centres - 1, min(network.centres, 64)).astype(int))
    mass = np.eye(network.centres)[:, begin]
    graph, period, move = network.at(0), -1, sparse.csr_array((0, 0))
    for step in range(_LONGEST):
        if network.period(step) != period:
            graph, period = network.at(step), network.period(step)
            move = push_matrix(graph)
        mass = np.asarray(move @ mass)
        if np.abs(mass - mass.mean(axis=1, keepdims=True)).sum(axis=0).max() <= 0.5:
            return float(step + 1)
    return float(_LONGEST)


def pushed_bits(links: Links, scalars: int, *, lossy: bool) -> int:
    """Bits of a message with a weight, values and trackers; running sums are sent in full."""
    return FULL + 2 * (FULL * scalars if lossy else links.bits(scalars))


class RunningSums:
    """The amounts that were sent over each arc and not credited yet.

    Only the difference of both ends' running sums is kept, since it stays bounded.

    Args:
        centres: Number of centres.
        columns: Amounts in a message.
        dtype: Their type.

    Attributes:
        tail: (accounts,) sender of each arc that was ever in force.
        head: (accounts,) its receiver.
        pending: (accounts, columns) amounts sent and not credited.
    """

    def __init__(self, centres: int, columns: int, dtype: npt.DTypeLike) -> None:
        self._centres = centres
        self._key = np.zeros(0, np.int64)
        self._last: tuple[Network | None, Longs] = (None, self._key)
        self.tail = self.head = self._key
        self.pending = np.zeros((0, columns), dtype)

    def carry(
        self, network: Network, amounts: npt.NDArray[Any], arrives: Bools
    ) -> npt.NDArray[Any]:
        """Send amounts over a graph's arcs; return what receivers credit.

        Args:
            network: The graph of this step.
            amounts: (arcs, columns) what senders give up.
            arrives: (arcs,) True where the message arrives.

        Returns:
            (arcs, columns) all that was pending where the message arrives, else 0.
        """
        place = self._places(network)
        waiting = self.pending[place] + amounts
        credited = np.where(arrives[:, None], waiting, np.zeros_like(waiting))
        self.pending[place] = waiting - credited
        return np.asarray(credited)

    def estate(self, centre: int) -> npt.NDArray[Any]:
        """(columns,) take all that is pending from and to a centre."""
        own = (self.tail == centre) | (self.head == centre)
        found = self.pending[own].sum(axis=0)
        self.pending[own] = 0
        return np.asarray(found)

    def neighbours(self, centre: int) -> Longs:
        """All centres that ever had an arc from or to a centre."""
        ends = np.concatenate([self.head[self.tail == centre], self.tail[self.head == centre]])
        return np.unique(ends)

    def _places(self, network: Network) -> Longs:
        """(arcs,) accounts of a graph's arcs; opens new ones."""
        if network is self._last[0]:
            return self._last[1]
        key = network.tail * self._centres + network.head
        new = np.setdiff1d(key, self._key)
        if len(new):
            every = np.concatenate([self._key, new])
            order = np.argsort(every)
            empty = np.zeros((len(new), self.pending.shape[1]), self.pending.dtype)
            self._key = every[order]
            self.pending = np.concatenate([self.pending, empty])[order]
            self.tail, self.head = np.divmod(self._key, self._centres)
        place = np.searchsorted(self._key, key)
        self._last = (network, place)
        return place


class Post:
    """The messages of a run: open arcs, arrivals, living centres.

    Args:
        setting: The network and the faults.
        salt: Tells the luck of two parts of a run apart.

    Attributes:
        lossy: Whether any fault is possible.
        life: The living and the dead.
    """

    def __init__(self, setting: Setting, salt: int) -> None:
        self._faults = setting.faults or Faults()
        self._luck = np.random.default_rng((setting.seed, salt))
        self._given = self._open = setting.network
        self._gone = np.zeros(setting.network.centres, bool)
        self.lossy = self._faults.any
        self.life = Liveness(self._faults, setting.network.centres)

    def arcs(self, network: Network) -> Network:
        """The arcs without centres that were declared dead; silent ones still get messages."""
        gone = self.life.settled & ~self.life.alive
        if not gone.any():
            return network
        if self._given is not network or not np.array_equal(self._gone, gone):
            self._given, self._gone, self._open = network, gone, network.without(gone)
        return self._open

    def arrivals(self, network: Network) -> Bools:
        """(arcs,) True where this step's message arrives."""
        both = self.life.alive[network.tail] & self.life.alive[network.head]
        if not self.lossy:
            return both
        return both & (self._luck.random(len(network.tail)) >= self._faults.silence)


class PushTracking:
    """Push-DIGing in surplus form (Nedic, Olshevsky and Shi 2017), on running sums under faults.

    With A the parts that are sent and kept, whose columns sum to 1,

        u+ = A (u - pull), v+ = A v, y+ = u+ / v+, s+ = s - (I - A) z, z = gradient(y) + s.

    The sum of all s, held and in flight, stays 0, so the z sum to the gradients. At rest z = 0 and
    the ratios y agree, so y is where the gradients sum to 0, whatever graphs came before.

    Args:
        setting: The network, the links and the faults.
        post: The messages.
        first: (centres, scalars) first values y.
        weight: (centres,) first weights v > 0; the values' mean counts each with its weight.

    Attributes:
        message_bits: Bits of a message.
    """

    def __init__(self, setting: Setting, post: Post, first: Floats, weight: Floats) -> None:
        n, m = first.shape
        self._post, self._scalars = post, m
        self._first_weight = weight
        self._state = np.hstack([first * weight[:, None], weight[:, None], np.zeros((n, m))])
        self._about_value: Channel[np.float64] = Channel(setting.links, m)
        self._about_tracker: Channel[np.float64] = Channel(setting.links, m)
        # Without answers, no innovation can be coded against what the receiver knows.
        self._coded = not (post.lossy and setting.links.mode == "innovation")
        self._sums = RunningSums(n, 2 * m + 1, np.float64)
        self.message_bits = pushed_bits(setting.links, m, lossy=post.lossy)

    @property
    def weight(self) -> Floats:
        """(centres,) the weights v."""
        return self._state[:, self._scalars]

    @property
    def values(self) -> Floats:
        """(centres, scalars) the ratios y."""
        return np.asarray(self._state[:, : self._scalars] / self.weight[:, None])

    @property
    def surplus(self) -> Floats:
        """(centres, scalars) the surpluses s."""
        return self._state[:, self._scalars + 1 :]

    @property
    def error(self) -> float:
        """|sum of surpluses, held and in flight|: only rounding."""
        life, whole = self._post.life, self._sums.pending[:, self._scalars + 1 :].sum(axis=0)
        whole = whole + self.surplus[~life.settled | life.alive].sum(axis=0)
        return float(np.abs(whole).max())

    def step(self, network: Network, z: Floats, pull: Floats, arrives: Bools) -> None:
        """Take the pull from u, send parts of all masses, credit arrivals.

        Args:
            network: The open arcs.
            z: (centres, scalars) the trackers, which are sent.
            pull: (centres, scalars) what moves u.
            arrives: (arcs,) True where a message arrives.
        """
        living = self._post.life.alive[:, None]
        self._state[:, : self._scalars] -= living * pull
        v = self.weight[:, None]
        y, known = self._known(self._about_value, self.values), self._known(self._about_tracker, z)
        rows = np.where(living, np.hstack([v * y, v, known]), 0.0)
        self._send(network, rows, arrives)

    def _send(self, network: Network, rows: Floats, arrives: Bools) -> None:
        # Whoever hears nothing for long keeps its last masses, so that its ratio stays a number.
        rows = rows * (self.weight > _LEAST * self._first_weight)[:, None]
        n, tail, head = network.centres, network.tail, network.head
        if not self._post.lossy:
            self._state = self._state - rows + push_matrix(network) @ rows
            return
        rate = parts(network)
        credited = self._sums.carry(network, rate[:, None] * rows[tail], arrives)
        arcs = (np.ones(len(head)), (head, np.arange(len(head))))
        gather = sparse.csr_array(arcs, (n, len(head)))
        self._state = self._state - np.bincount(tail, rate, n)[:, None] * rows + gather @ credited

    def _known(self, channel: Channel[np.float64], values: Floats) -> Floats:
        return channel.broadcast(values) if self._coded else values

    def neighbours(self, centre: int) -> Longs:
        """All centres that ever had an arc from or to a centre."""
        return self._sums.neighbours(centre)

    def bury(self, centre: int, successor: int) -> None:
        """Give the surplus of a dead centre, with that on the way from and to it, to another.

        Its masses are lost: only their ratio counts.
        """
        owed = self._sums.estate(centre)[self._scalars + 1 :]
        self.surplus[successor] += self.surplus[centre] + owed
        self.surplus[centre] = 0.0

    def welcome(self, centre: int, value: Floats) -> None:
        """Let a returned centre begin with a value, its first weight, and no surplus."""
        weight = self._first_weight[centre]
        self._state[centre] = 0.0
        self._state[centre, : self._scalars] = value * weight
        self._state[centre, self._scalars] = weight


def moved(held: Longs, network: Network, given: Longs, got: Longs) -> Longs:
    """(centres,) holdings after senders gave and receivers got (arcs,) quanta; exact."""
    n = network.centres
    return held - summed(given, network.tail, n) + summed(got, network.head, n)
