"""A lower bound on the moves of any placement, by counting, without a solver.

Servers that lack load form disjoint sets whose replicas reach nothing outside (cuts that the
balancing of :mod:`walras.kernels.local_search.flow` leaves behind). A set S that lacks d must get

    sum of new replicas (i, j), i in S, of min(load_j, upper_i) >= d,

and every new replica is in one set only, so the least numbers that cover each d add up. In the same
way, shards that fill only overloaded servers form disjoint sets that must send their surplus out,
and shards with too few replicas must get more. The bound is the largest of the three.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph

from walras.domains.load_balancing.instance import Round
from walras.kernels.local_search import flow
from walras.kernels.local_search.cover import departures, make_items
from walras.types import Bools, Floats, Ints, Longs

_FIRST = 32  # shards that a cover tries first
TINY = 1e-12  # share of all load that counts as zero
_SURE = 1e-9  # share of a need that may be rounding


@dataclass(frozen=True, eq=False)
class Cut:
    """A set of servers that the present replicas cannot balance.

    Attributes:
        servers: The set.
        shards: All shards with a replica in it if load is missing, else those without a replica
            outside.
        need: Load that must come in, or go out.
    """

    servers: Ints
    shards: Ints
    need: float


@dataclass(frozen=True, eq=False)
class Bound:
    """The counting bound and the cuts that prove it.

    Attributes:
        value: A lower bound on the cost of any placement's new replicas.
        lacking: Disjoint sets of servers that lack load.
        surplus: Sets of overloaded servers with disjoint shards.
    """

    value: float
    lacking: tuple[Cut, ...]
    surplus: tuple[Cut, ...]


def counting_bound(problem: Round) -> Bound:
    """Count the new replicas that any placement needs.

    Args:
        problem: The round.

    Returns:
        A lower bound on the cost of the moves, with the groups of servers that prove it.

    Example:
        >>> from walras.domains import load_balancing as lb
        >>> round_ = lb.make_round([4, 3, 2, 1], placement=[0, 0, 0, 1], servers=2)
        >>> lb.counting_bound(round_).value
        1.0
    """
    limits = limits_of(problem)
    balanced = flow.make_replicas(
        problem.server, problem.shard, problem.share * problem.load[problem.shard], limits, 0
    )
    chain = flow.make_chain(problem.servers, problem.shards)
    flow.balance(balanced, limits, chain)
    lacking = tuple(_cuts(problem, balanced, limits, chain, filling=True))
    surplus = tuple(_cuts(problem, balanced, limits, chain, filling=False))
    covers = _Covers(problem)
    values = (
        sum(covers.inward(cut) for cut in lacking),
        sum(covers.outward(cut) for cut in surplus),
        _missing(problem),
        _crowded(problem),
        departing(problem),
    )
    return Bound(rounded_bound(problem, float(max(values))), lacking, surplus)


def rounded_bound(problem: Round, value: float) -> float:
    """Round a bound up to a possible cost of moves, if all costs are multiples of a unit."""
    unit = unit_of(problem)
    if not np.isfinite(value) or unit == 0.0:
        return value
    return max(0.0, float(np.ceil(value / unit - 1e-6) * unit))  # for a tiny need, to avoid -0


def unit_of(problem: Round) -> float:
    """The least cost of a replica if all costs are multiples of it, else 0."""
    unit = float(problem.cost.min())
    multiples = problem.cost / unit
    return 0.0 if np.any(np.abs(multiples - np.round(multiples)) > _SURE) else unit


def limits_of(problem: Round) -> flow.Limits:
    """The round in the form of its kernels."""
    return flow.Limits(
        problem.lower,
        problem.upper,
        np.where(problem.drain, -1.0, problem.memory),
        problem.footprint,
        problem.cost,
        problem.load,
        TINY * float(problem.load.sum()),
    )


def by_server(problem: Round) -> tuple[Longs, Longs]:
    """(servers + 1,) where each server's replicas begin in (replicas,) an order by server."""
    order = np.argsort(problem.server, kind="stable").astype(np.int64)
    start = np.searchsorted(problem.server[order], np.arange(problem.servers + 1))
    return start.astype(np.int64), order


def _cuts(
    problem: Round,
    balanced: flow.Replicas,
    limits: flow.Limits,
    chain: flow.Chain,
    *,
    filling: bool,
) -> Iterator[Cut]:
    """The unbalanced sets, split into parts that no shard joins."""
    off = problem.lower - balanced.total if filling else balanced.total - problem.upper
    inside = np.zeros(problem.servers, dtype=np.bool_)
    for i in np.flatnonzero(off > limits.tiny).tolist():
        if inside[i]:
            continue
        count = flow.closure(balanced, limits, chain, i, filling)
        inside[chain.queue[:count]] = True
        flow.forget(chain)
    held = sp.csr_array(
        (np.ones(len(problem.server)), (problem.server, problem.shard)),
        shape=(problem.servers, problem.shards),
    )
    carries = balanced.load[: len(problem.server)] > limits.tiny
    start, order = by_server(problem)
    for servers in _components(held, inside):
        here = np.concatenate([order[start[i] : start[i + 1]] for i in servers.tolist()])
        shards = np.unique(problem.shard[here if filling else here[carries[here]]])
        need = float(off[servers].sum())
        if need > _SURE * problem.load.sum():
            yield Cut(servers.astype(np.int32), shards.astype(np.int32), need)


def _components(held: sp.csr_array, inside: Bools) -> Iterator[Ints]:
    members = np.flatnonzero(inside)
    if not len(members):
        return
    rows = held[members]
    _, label = csgraph.connected_components(rows @ rows.T, directed=False)
    for k in range(int(label.max()) + 1):
        yield members[label == k].astype(np.int32)


class _Covers:
    """Least costs of new replicas that carry a load, each at most ``most``.

    With equal costs the fewest pieces are the largest ones. Otherwise the linear relaxation, in the
    order of load per cost, is the bound.
    """

    def __init__(self, problem: Round) -> None:
        self._problem = problem
        self._sure = _SURE * float(problem.load.sum())
        self._orders: dict[float, Longs] = {}
        self._start, self._order = by_server(problem)

    def inward(self, cut: Cut) -> float:
        """Least cost of the missing load of a set, as a whole or server by server."""
        p = self._problem
        whole = self._outside(cut.need, cut.shards, float(p.upper[cut.servers].max()), once=False)
        apart = 0.0
        for i in cut.servers.tolist() if len(cut.servers) > 1 else ():
            here = p.shard[self._order[self._start[i] : self._start[i + 1]]]
            need = float(p.lower[i] - np.minimum(p.load[here], p.upper[i]).sum())
            if need > self._sure:
                apart += self._outside(need, here, float(p.upper[i]), once=True)
        return max(whole, apart)

    def outward(self, cut: Cut) -> float:
        """Least cost of removing the surplus of a set."""
        cost, _ = self._of(cut.need, cut.shards, float(self._problem.upper.max()), once=False)
        return cost

    def _outside(self, need: float, inside: Ints, most: float, *, once: bool) -> float:
        """Cover by shards outside a set; trying the best of them is enough."""
        p = self._problem
        if most not in self._orders:
            self._orders[most] = np.argsort(-np.minimum(p.load, most) / p.cost, kind="stable")
        order, looked = self._orders[most], _FIRST + len(inside)
        while True:
            some = order[:looked]
            cost, worst = self._of(need, some[~np.isin(some, inside)], most, once=once)
            if looked >= len(order):
                return cost
            following = order[looked]
            # Pieces of untried shards are no better than the worst used piece.
            if worst >= min(p.load[following], most, need) / p.cost[following]:
                return cost
            looked *= 4

    def _of(
        self, need: float, shards: Ints | Longs, most: float, *, once: bool
    ) -> tuple[float, float]:
        """The cost, and the load per cost of the last used piece; 0 if all are too little."""
        load, cost = self._problem.load[shards], self._problem.cost[shards]
        whole = np.floor(load / most).astype(np.int64)
        copies = np.ones(len(load), dtype=np.int64) if once else whole + 1
        size = np.repeat(np.minimum(load, most), copies)
        if not once and len(size):  # the last piece of a shard is the remainder
            size[np.cumsum(copies) - 1] = load - whole * most
        price = np.repeat(cost, copies)[size > 0]
        size = np.minimum(size[size > 0], need)
        order = np.argsort(-size / price, kind="stable")
        reached = np.cumsum(size[order])
        last = int(np.searchsorted(reached, need * (1.0 - _SURE)))
        if last >= len(order):  # together they are too little
            return float(price.sum()), 0.0
        used = order[: last + 1]
        worst = float(size[used[-1]] / price[used[-1]])
        if np.all(price == price[0]):
            return float(price[0]) * (last + 1), worst
        before = float(reached[last - 1]) if last else 0.0
        part = (need - before) / float(size[used[-1]])
        paid = float(price[used[:-1]].sum()) + part * float(price[used[-1]])
        return max(paid, float(price.min())), worst


def _missing(problem: Round) -> float:
    """Cost of the missing replicas of shards, without those on draining servers."""
    stays = ~problem.drain[problem.server]
    has = np.bincount(problem.shard[stays], minlength=problem.shards)
    lacking = np.maximum(problem.fewest - has, 0)
    pairs = np.unique(np.stack([problem.shard[stays], problem.zone[problem.server[stays]]]), axis=1)
    zones = np.bincount(pairs[0], minlength=problem.shards)
    lacking = np.maximum(lacking, problem.spread - zones)
    return float(lacking @ problem.cost)


def departing(problem: Round) -> float:
    """Cost of the replicas that must leave servers, and of those that shards lack.

    A new replica takes the place of one that leaves, and each leaves one server, so that the least
    covers of all servers add up. What counts on a server is every replica, for its memory, if their
    number is fixed; otherwise, and for load, the shards that are nowhere else. A shard that lacks a
    replica can send load there, so that its load does not count.
    """
    p = problem
    has = np.bincount(p.shard, minlength=p.shards)
    fixed = p.replicas is not None
    most = np.maximum(has, 1) if p.replicas is None else p.replicas
    start, order = by_server(p)
    server, shard = p.server[order], p.shard[order]
    alone = has[shard] == 1
    counts = has[shard] <= most[shard] if fixed else alone
    load = np.where(alone & (most[shard] == 1), p.load[shard], 0.0)
    memory = np.where(counts, p.footprint[shard], 0.0)
    lost = np.bincount(server, np.where(counts, 0.0, p.footprint[shard]), p.servers)
    used = np.bincount(server, p.footprint[shard], p.servers)
    need_memory = _surely(used - lost - p.memory, used.astype(np.float64))
    carried = np.bincount(server, np.where(counts, load, 0.0), p.servers)
    need_load = _surely(carried - p.upper, p.load.sum())
    out = np.zeros(p.servers)
    kept = np.flatnonzero(counts)
    departures(
        np.searchsorted(kept, start),
        load[kept],
        memory[kept],
        p.cost[shard[kept]],
        np.where(p.drain, np.inf, need_load),
        need_memory,
        unit_of(p),
        make_items(len(kept)),
        out,
    )
    return float(out.sum() + np.maximum(most - has, 0) @ p.cost)


def _surely(need: Floats, whole: Floats | float) -> Floats:
    """Needs without those that may be rounding."""
    return np.where(need > _SURE * np.asarray(whole), need, 0.0)


def _crowded(problem: Round) -> float:
    """Cost of moving shards without another replica out of servers without room."""
    out = 0.0
    alone = np.bincount(problem.shard, minlength=problem.shards) == 1
    used = np.bincount(problem.server, problem.footprint[problem.shard], problem.servers)
    start, replicas = by_server(problem)
    for i in np.flatnonzero(used > problem.memory).tolist():
        here = problem.shard[replicas[start[i] : start[i + 1]]]
        need = used[i] - problem.memory[i] - problem.footprint[here[~alone[here]]].sum()
        if need > 0:
            bulk, price = problem.footprint[here[alone[here]]], problem.cost[here[alone[here]]]
            order = np.argsort(-bulk / price, kind="stable")
            last = int(np.searchsorted(np.cumsum(bulk[order]), need * (1.0 - _SURE)))
            if np.all(price == price[0]):
                out += float(price[0] * (last + 1))
            else:
                out += max(float(price[order[:last]].sum()), float(price.min()))
    return out
