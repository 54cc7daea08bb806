"""Placements of very many shards: every pass costs time in proportion to replicas, not to pairs.

What must leave leaves first: replicas on draining servers, more replicas of a shard than it may
have, and of each server with too much load or memory the cheapest cover of the excess, which the
bound counts too. Then each goes to the server that lacks most, and servers that still lack load
pull it from others. A few rounds of this mend what did not fit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from walras.domains.load_balancing.bound import limits_of, unit_of
from walras.domains.load_balancing.instance import Round
from walras.domains.load_balancing.search import Placed
from walras.kernels.local_search import flow, relocate
from walras.kernels.local_search.cover import make_items
from walras.kernels.local_search.tournament import Rules, make_tree
from walras.types import Bools, Floats, Ints

MANY = 1 << 26  # pairs of servers and shards above which nothing may take time for each
_ROUNDS = 60  # of mending at most
# Factor on the cost of moving again what has moved, round by round; large ones break cycles.
_AGAIN = (1e-3, 1.0, 30.0)


class _Pool(NamedTuple):
    """Replicas on their way: shards and loads."""

    shard: Ints
    load: Floats


def relocate_shards(problem: Round, proceed: Callable[[int, float], bool] | None = None) -> Placed:
    """Find a placement within all limits with few moves; infinite cost if there is none.

    Args:
        problem: The round.
        proceed: Called with (rounds, cost) after each round; False stops.

    Returns:
        The placement.
    """
    work = _Relocation(problem)
    rounds, excess = 0, np.inf
    while rounds < _ROUNDS and excess > 0.0:
        excess = work.improve(rounds)
        rounds += 1
        if proceed is not None and not proceed(rounds, work.cost if excess <= 0.0 else np.inf):
            break
    return work.placed(rounds, feasible=excess <= 0.0)


class _Relocation:
    """A placement under change."""

    def __init__(self, problem: Round) -> None:
        self._problem, self._limits = problem, limits_of(problem)
        self._splits = problem.is_plain
        stays, load = _within_numbers(problem)
        missing = _missing(problem, stays)
        extra = len(missing.shard) + 4 * problem.servers + (problem.shards if self._splits else 0)
        self._replicas = flow.make_replicas(
            problem.server[stays], problem.shard[stays], load[stays], self._limits, extra
        )
        self._rules = Rules(problem.zone, problem.spread)
        self._tree = make_tree(problem.servers)
        self._chain = flow.make_chain(problem.servers, problem.shards)
        slots = len(self._replicas.server)
        self._items, self._slots = make_items(slots), np.zeros(slots, dtype=np.int32)
        self._pool = _Pool(np.zeros(slots, dtype=np.int32), np.zeros(slots))
        self._waiting = missing

    def improve(self, round_: int) -> float:
        """One round; returns what is left outside the limits."""
        p, replicas, limits = self._problem, self._replicas, self._limits
        if p.replicas is None:
            relocate.drop_spares(replicas, limits, self._rules, self._items)
        flow.balance(replicas, limits, self._chain)
        unit = unit_of(p) if round_ == 0 else 0.0
        count = relocate.release(
            replicas,
            limits,
            self._items,
            self._slots,
            unit,
            _AGAIN[round_ % len(_AGAIN)],
            self._splits,
            *self._pool,
        )
        self._place(_Pool(self._pool.shard[:count], self._pool.load[:count]))
        flow.balance(replicas, limits, self._chain)
        self._pull(_AGAIN[round_ % len(_AGAIN)])
        flow.balance(replicas, limits, self._chain)
        return float(relocate.excess(replicas, limits))

    def _place(self, released: _Pool) -> None:
        """Place what is in the pool, and at first the missing replicas, the largest first."""
        p = self._problem
        shard = np.concatenate([released.shard, self._waiting.shard])
        load = np.concatenate([released.load, self._waiting.load])
        self._waiting = _Pool(shard[:0], load[:0])
        room = float(p.memory[~p.drain].mean())
        bulk = p.footprint[shard] / room if np.isfinite(room) else np.zeros(len(shard))
        size = np.maximum(load / (p.load.sum() / p.servers), bulk)
        order = np.argsort(-size, kind="stable").astype(np.int32)
        relocate.settle(
            self._replicas, self._limits, self._rules, self._tree, order, shard, load, self._splits
        )

    def _pull(self, again: float) -> None:
        """Let servers below their least load take from those that can spare some."""
        spare = self._replicas.total - self._limits.lower
        needy = np.argsort(spare, kind="stable").astype(np.int32)
        needy = needy[spare[needy] < -self._limits.tiny]
        donors = np.argsort(-spare, kind="stable").astype(np.int32)
        donors = donors[spare[donors] > self._limits.tiny]
        if len(needy) and len(donors):
            relocate.pull(
                self._replicas,
                self._limits,
                self._rules,
                self._tree,
                self._items,
                self._slots,
                donors,
                needy,
                self._splits,
                again,
            )

    @property
    def cost(self) -> float:
        """Cost of the new replicas."""
        live = self._replicas.kind != flow.FREE
        server, shard = self._replicas.server[live], self._replicas.shard[live]
        return float(self._problem.cost[shard[~self._problem.holds(server, shard)]].sum())

    def placed(self, rounds: int, *, feasible: bool) -> Placed:
        """The placement; of infinite cost if it is not within all limits."""
        replicas, p = self._replicas, self._problem
        if feasible:
            start = np.searchsorted(p.shard, np.arange(p.shards + 1)).astype(np.int32)
            relocate.go_home(replicas, self._limits, self._rules, start, p.server)
        live = np.flatnonzero(replicas.kind != flow.FREE)
        live = live[np.lexsort((replicas.server[live], replicas.shard[live]))]
        cost = self.cost if feasible else np.inf
        return Placed(
            replicas.server[live], replicas.shard[live], replicas.load[live], cost, rounds
        )


def _within_numbers(problem: Round) -> tuple[Bools, Floats]:
    """Which replicas stay where shards have too many, and the load of each.

    Those on draining servers go first, then those in a zone that another one is in, then those with
    little load.
    """
    p = problem
    load = p.share * p.load[p.shard]
    stays = np.ones(len(p.shard), dtype=np.bool_)
    if p.replicas is None:
        return stays, load
    has = np.bincount(p.shard, minlength=p.shards)
    if np.all(has <= p.replicas):
        return stays, load
    leaves = p.drain[p.server]
    order = np.lexsort((-load, p.zone[p.server], leaves, p.shard))
    pair = np.stack([p.shard[order], p.zone[p.server[order]]])
    again = np.zeros(len(order), dtype=np.bool_)
    again[1:] = np.all(pair[:, 1:] == pair[:, :-1], axis=0)
    repeated = np.zeros(len(order), dtype=np.bool_)
    repeated[order] = again
    order = np.lexsort((-load, repeated, leaves, p.shard))
    first = np.cumsum(has) - has
    rank = np.arange(len(order)) - first[p.shard[order]]
    stays[order] = rank < p.replicas[p.shard[order]]
    kept = np.bincount(p.shard[stays], load[stays], p.shards)
    number = np.bincount(p.shard[stays], minlength=p.shards)
    scale = p.load / np.where(kept > 0.0, kept, 1.0)
    even = (p.load / np.maximum(number, 1))[p.shard]
    return stays, np.where(kept[p.shard] > 0.0, load * scale[p.shard], even)


def _missing(problem: Round, stays: Bools) -> _Pool:
    """The replicas that shards lack, the first of a shard without any with all its load."""
    p = problem
    has = np.bincount(p.shard[stays], minlength=p.shards)
    if p.replicas is not None:
        least = p.replicas.astype(np.int64)
    else:
        pairs = np.unique(p.shard.astype(np.int64) * p.servers + p.zone[p.server]) // p.servers
        zones = np.bincount(pairs, minlength=p.shards)
        least = has + np.maximum(np.maximum(p.spread, 1) - zones, 0)
    lacks = np.maximum(least - has, 0)
    shard = np.repeat(np.arange(p.shards, dtype=np.int32), lacks)
    first = np.ones(len(shard), dtype=np.bool_)
    first[1:] = shard[1:] != shard[:-1]
    return _Pool(shard, np.where(first & (has[shard] == 0), p.load[shard], 0.0))
