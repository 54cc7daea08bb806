"""Baselines: the greedy of E-Store, POP's random parts, and the plain integer program."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from walras import checks
from walras.domains.load_balancing.bound import Bound, counting_bound
from walras.domains.load_balancing.instance import Round
from walras.domains.load_balancing.program import all_pairs, solve_pairs
from walras.domains.load_balancing.result import Rebalanced
from walras.domains.load_balancing.search import Placed
from walras.errors import EngineError
from walras.settings import Settings
from walras.status import Status
from walras.types import Floats, Ints

_NO_CUTS = Bound(0.0, (), ())
_NARROWEST = 0.01  # band of a part with uneven load; the greedy repairs the rest
_TINY = 1e-9  # share of the mean load that counts as zero


def estore(problem: Round) -> Rebalanced:
    """Greedy: move the hottest shard of the fullest server to the emptiest, until all are in band.

    A shard that is too hot to fit is split so that both servers stay within the band if possible.
    Source: Taft et al., VLDB 2014 (E-Store, greedy extended), with its violations fixed by
    splitting, as in Xu et al., OSDI 2025, section 7.1.3.

    Args:
        problem: The round.

    Returns:
        The placement; its bound is that of :func:`counting_bound`.

    Raises:
        EngineError: It ran out of servers with memory.

    Example:
        >>> from walras.domains import load_balancing as lb
        >>> round_ = lb.make_round([4, 3, 2, 1], placement=[0, 0, 0, 1], servers=2)
        >>> lb.estore(round_).moves
        1
    """
    began = time.perf_counter()
    share = np.zeros((problem.servers, problem.shards))
    share[problem.server, problem.shard] = problem.share
    _place_homeless(problem, share)
    return greedily(problem, share, "E-Store greedy", began)


def pop_rebalance(
    problem: Round, parts: int, *, seed: int = 0, time_limit: float | None = 60.0
) -> Rebalanced:
    """POP: servers in random parts of even load, an integer program for each, one after the other.

    Source: Narayanan et al., SOSP 2021. The greedy takes over parts without a placement in time,
    and repairs what uneven parts leave outside the band.

    Args:
        problem: The round; replicas of a shard in different parts count as different shards.
        parts: Number of parts, 1 to the number of servers.
        seed: Seed of the split.
        time_limit: Seconds for each part, or None.

    Returns:
        The placement.

    Raises:
        InputError: ``parts`` is out of range.
        EngineError: A part has no placement.

    Example:
        >>> from walras.domains import load_balancing as lb
        >>> round_ = lb.first_round(0.2, servers=4, shards=16)
        >>> lb.pop_rebalance(round_, parts=2).violation <= 1e-6
        True
    """
    parts = checks.whole(parts, "setting parts", 1, problem.servers)
    began = time.perf_counter()
    found: list[tuple[Ints, Ints, Floats]] = []
    longest = 0.0
    for members in _even_parts(problem, parts, seed):
        started = time.perf_counter()
        part, shards = _part(problem, members)
        placed = _plain(part, time_limit)
        if placed is None:
            greedy = estore(part)
            placed = Placed(greedy.server, greedy.shard, greedy.load, greedy.value)
        share_of = placed.load / problem.load[shards[placed.shard]]
        found.append((members[placed.server], shards[placed.shard], share_of))
        longest = max(longest, time.perf_counter() - started)
    server, shard, carried = (np.concatenate(list(c)) for c in zip(*found, strict=True))
    share = np.zeros((problem.servers, problem.shards))
    share[server, shard] = carried
    name = f"POP-{parts} ({longest:.3g} s with a machine a part)"
    return greedily(problem, share, name, began)


def plain_program(problem: Round, *, time_limit: float | None = 60.0) -> Rebalanced:
    """Solve the plain integer program over all pairs with HiGHS, without cuts or start.

    Args:
        problem: The round.
        time_limit: Seconds, or None.

    Returns:
        The placement.

    Raises:
        EngineError: HiGHS has no placement in this time.

    Example:
        >>> from walras.domains import load_balancing as lb
        >>> round_ = lb.make_round([4, 3, 2, 1], placement=[0, 0, 0, 1], servers=2)
        >>> lb.plain_program(round_).moves
        1
    """
    began = time.perf_counter()
    placed = _plain(problem, time_limit)
    if placed is None:
        raise EngineError(
            "HiGHS has no placement yet",
            where=f"time limit {time_limit}",
            allowed="more time",
            remedy="give it more time, or use rebalance",
        )
    share = placed.load / problem.load[placed.shard]
    return _rebalanced(problem, placed.server, placed.shard, share, "plain program", began)


def _plain(problem: Round, time_limit: float | None) -> Placed | None:
    settings = Settings(1e-9, time_limit)
    return solve_pairs(problem, all_pairs(problem), _NO_CUTS, settings).placed


class _Greedy:
    """Loads and shares during the greedy's moves."""

    def __init__(self, problem: Round, share: Floats) -> None:
        self._p, self._share = problem, share
        self._total = share @ problem.load
        self._used = (share > 0.0) @ problem.footprint
        self._tiny = _TINY * float(problem.load.sum()) / problem.servers

    def step(self) -> bool:
        """Make one move; return False if every server is in its band."""
        p = self._p
        over, under = self._total - p.upper, p.lower - self._total
        if max(over.max(), under.max()) <= self._tiny:
            return False
        if over.max() > self._tiny:
            source = int(np.argmax(over))
            for target in np.argsort(self._total - p.upper, kind="stable").tolist():
                if self._move(source, target):
                    return True
        else:
            target = int(np.argmax(under))
            for source in np.argsort(p.lower - self._total, kind="stable").tolist():
                if self._move(source, target):
                    return True
        raise EngineError(
            "the greedy found no server with memory to move to",
            where="E-Store greedy",
            allowed="servers with memory to spare",
            remedy="use rebalance, or give more memory",
        )

    def _move(self, source: int, target: int) -> bool:
        """Move the hottest shard that fits, or a part of the hottest."""
        p = self._p
        if source == target or p.drain[target]:
            return False
        room = p.upper[target] - self._total[target]
        spare = self._total[source] - p.lower[source]
        fits = min(room, spare)
        here = np.flatnonzero(self._share[source] > 0.0)
        held = self._share[target, here] > 0.0
        free = p.memory[target] - self._used[target]
        here = here[held | (p.footprint[here] <= free)]
        if not len(here) or fits <= self._tiny:
            return False
        load = self._share[source, here] * p.load[here]
        whole = load <= fits
        pick = here[np.argmax(np.where(whole, load, -1.0))] if whole.any() else here[load.argmax()]
        amount = min(float(self._share[source, pick] * p.load[pick]), fits)
        self._shift(source, target, int(pick), amount)
        return True

    def _shift(self, source: int, target: int, j: int, amount: float) -> None:
        p, part = self._p, amount / self._p.load[j]
        if self._share[target, j] <= 0.0:
            self._used[target] += p.footprint[j]
        self._share[target, j] += part
        self._share[source, j] -= part
        if self._share[source, j] * p.load[j] <= self._tiny:
            self._share[target, j] += self._share[source, j]
            self._share[source, j] = 0.0
            self._used[source] -= p.footprint[j]
        self._total[target] += amount
        self._total[source] -= amount


def greedily(problem: Round, share: Floats, name: str, began: float) -> Rebalanced:
    """Make the greedy's moves until all servers are in their bands."""
    greedy = _Greedy(problem, share)
    while greedy.step():
        pass
    server, shard = (k.astype(np.int32) for k in np.nonzero(share > 0.0))
    return _rebalanced(problem, server, shard, share[server, shard], name, began)


def _place_homeless(problem: Round, share: Floats) -> None:
    room = np.where(problem.drain, -np.inf, problem.upper) - share @ problem.load
    for j in np.flatnonzero(share.sum(axis=0) <= 0.0).tolist():
        i = int(np.argmax(room))
        share[i, j] = 1.0
        room[i] -= problem.load[j]


def _even_parts(problem: Round, parts: int, seed: int) -> list[Ints]:
    """Deal out servers, fullest first, to the part with fewest servers, then least load."""
    order = np.random.default_rng(seed).permutation(problem.servers)
    order = order[np.argsort(-problem.loads_now()[order], kind="stable")]
    load, count = np.zeros(parts), np.zeros(parts)
    members: list[list[int]] = [[] for _ in range(parts)]
    most = int(np.ceil(problem.servers / parts))
    for i in order.tolist():
        k = int(np.argmin(np.where(count < most, load, np.inf)))
        members[k].append(i)
        load[k] += problem.loads_now()[i]
        count[k] += 1
    return [np.array(sorted(part), dtype=np.int32) for part in members if part]


def _part(problem: Round, members: Ints) -> tuple[Round, Ints]:
    """The part's servers with their loads, in its own band inside the whole's."""
    rank = np.full(problem.servers, -1)
    rank[members] = np.arange(len(members))
    mine = (rank[problem.server] >= 0) & (problem.share > 0.0)
    carried = problem.share[mine] * problem.load[problem.shard[mine]]
    shards, local = np.unique(problem.shard[mine], return_inverse=True)
    load = np.bincount(local, carried).astype(np.float64)
    ratio = float(load.sum() / problem.target[members].sum())
    band = min((1.0 + problem.band) / ratio - 1.0, 1.0 - (1.0 - problem.band) / ratio)
    part = replace(
        problem,
        load=load,
        band=max(band, _NARROWEST),
        footprint=problem.footprint[shards],
        cost=problem.cost[shards],
        weight=problem.weight[members],
        memory=problem.memory[members],
        drain=problem.drain[members],
        zone=problem.zone[members],
        server=rank[problem.server[mine]].astype(np.int32),
        shard=local.astype(np.int32),
        share=carried / load[local],
        replicas=None if problem.replicas is None else problem.replicas[shards],
        server_names=tuple(problem.server_names[i] for i in members.tolist()),
        shard_names=tuple(problem.shard_names[j] for j in shards.tolist()),
    )
    return part, shards.astype(np.int32)


def _rebalanced(
    problem: Round, server: Ints, shard: Ints, share: Floats, name: str, began: float
) -> Rebalanced:
    bound = counting_bound(problem).value
    load = share * problem.load[shard]
    seconds = time.perf_counter() - began
    cost = float(problem.cost[shard[~problem.held[server, shard]]].sum())
    status = Status.OPTIMAL if cost <= bound else Status.FEASIBLE
    return Rebalanced(problem, server, shard, load, min(bound, cost), status, seconds, 0, name)
