"""A load-balancing round as checked arrays: shards, servers, and the present placement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from walras import checks
from walras.errors import InputError
from walras.short_repr import short_repr
from walras.types import Bools, Floats, Ints, Longs


def drained(given: Sequence[object], names: tuple[str, ...]) -> Bools:
    """(servers,) True on the servers that are named.

    Raises:
        InputError: A label is unknown, or all servers are named.
    """
    known = {name: i for i, name in enumerate(names)}
    out = np.zeros(len(names), dtype=np.bool_)
    for label in map(str, given):
        out[known[checks.one_of(label, "drain", known, "server")]] = True
    if out.all():
        raise InputError(
            "names every server",
            where="drain",
            allowed="at most all but one",
            remedy="leave servers that take the load",
        )
    return out


@short_repr
@dataclass(frozen=True, eq=False)
class Round:
    """One round of load balancing; :func:`make_round` builds it from your data.

    A server's target is its share of all load, by weight; a draining server has none.

    Attributes:
        load: (shards,) load of each shard, > 0.
        footprint: (shards,) memory that a replica takes, > 0.
        cost: (shards,) cost of a new replica, > 0.
        weight: (servers,) speed of each server, > 0; their share of the load is proportional to it.
        memory: (servers,) room for replicas.
        drain: (servers,) True on servers to be emptied.
        band: Half the width of the band around the targets, relative.
        server: (replicas,) server of each present replica.
        shard: (replicas,) its shard.
        share: (replicas,) its present part of the shard's load.
        zone: (servers,) number of the rack or zone of each server.
        spread: Least number of zones with a replica of each shard.
        replicas: (shards,) number of replicas that each shard must have, or None.
        server_names: (servers,) labels.
        shard_names: (shards,) labels.

    Example:
        >>> from walras.domains import load_balancing as lb
        >>> round_ = lb.make_round([4, 3, 2, 1], placement=[0, 0, 0, 1], servers=2)
        >>> round_.servers, round_.shards, round_.upper
        (2, 4, array([5.5, 5.5]))
    """

    load: Floats
    footprint: Floats
    cost: Floats
    weight: Floats
    memory: Floats
    drain: Bools
    band: float
    server: Ints
    shard: Ints
    share: Floats
    zone: Ints
    spread: int
    replicas: Ints | None
    server_names: tuple[str, ...]
    shard_names: tuple[str, ...]

    @property
    def servers(self) -> int:
        """Number of servers."""
        return len(self.weight)

    @property
    def shards(self) -> int:
        """Number of shards."""
        return len(self.load)

    @cached_property
    def target(self) -> Floats:
        """(servers,) the load of each server if all were balanced."""
        weight = np.where(self.drain, 0.0, self.weight)
        return np.asarray(weight * (self.load.sum() / weight.sum()))

    @cached_property
    def lower(self) -> Floats:
        """(servers,) least load."""
        return np.asarray(self.target * max(0.0, 1.0 - self.band))

    @cached_property
    def upper(self) -> Floats:
        """(servers,) largest load."""
        return np.asarray(self.target * (1.0 + self.band))

    @property
    def is_plain(self) -> bool:
        """Whether shards may have any number of replicas anywhere."""
        return self.replicas is None and self.spread <= 1

    @cached_property
    def _pairs(self) -> Longs:
        """(replicas,) a number for each pair of shard and server with a replica, ascending."""
        return np.sort(self.shard.astype(np.int64) * self.servers + self.server)

    def holds(self, server: Ints, shard: Ints) -> Bools:
        """Whether servers hold shards at present.

        Args:
            server: (pairs,) servers.
            shard: (pairs,) shards.

        Returns:
            (pairs,) True where there is a replica.
        """
        pair = shard.astype(np.int64) * self.servers + server
        if not len(self._pairs):
            return np.zeros(len(pair), dtype=np.bool_)
        at = np.minimum(np.searchsorted(self._pairs, pair), len(self._pairs) - 1)
        return np.asarray(self._pairs[at] == pair)

    @cached_property
    def held(self) -> Bools:
        """(servers, shards) True at present replicas."""
        out = np.zeros((self.servers, self.shards), dtype=np.bool_)
        out[self.server, self.shard] = True
        return out

    @cached_property
    def fewest(self) -> Ints:
        """(shards,) least number of replicas of each shard within the servers' bands."""
        count = np.ceil(self.load / self.upper.max() - 1e-9).astype(np.int32)
        count = np.maximum(count, max(1, self.spread))
        return np.asarray(
            count if self.replicas is None else np.maximum(count, self.replicas), dtype=np.int32
        )

    def loads_now(self) -> Floats:
        """(servers,) present load."""
        carried = self.share * self.load[self.shard]
        return np.bincount(self.server, carried, self.servers).astype(np.float64)

    def with_band(self, band: float) -> Round:
        """The same round with another band.

        Args:
            band: Half the width of the band, relative.

        Returns:
            The changed round.
        """
        return replace(self, band=band)

    def with_memory(self, memory: Floats) -> Round:
        """The same round with other room on the servers.

        Args:
            memory: (servers,) room for replicas.

        Returns:
            The changed round.
        """
        return replace(self, memory=memory)

    def with_drain(self, drain: Sequence[object]) -> Round:
        """The same round with other servers to be emptied.

        Args:
            drain: Their labels.

        Returns:
            The changed round.

        Raises:
            InputError: A label is unknown, or all servers are named.
        """
        return replace(self, drain=drained(drain, self.server_names))

    def after(self, load: Floats, server: Ints, shard: Ints, carried: Floats) -> Round:
        """The next round: the same servers and options, new loads.

        Args:
            load: (shards,) new loads.
            server: (replicas,) servers of the replicas in the next round.
            shard: (replicas,) their shards.
            carried: (replicas,) their loads in this round.

        Returns:
            The next round.
        """
        order = np.lexsort((server, shard))
        whole = np.bincount(shard, carried, self.shards)
        return replace(
            self,
            load=np.asarray(load, dtype=np.float64),
            server=server[order],
            shard=shard[order],
            share=carried[order] / whole[shard[order]],
        )
