"""Construction and local search: from a round to a placement within all bands.

The order of servers does not depend on their labels, so a relabelled round gets the same answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from walras.domains.load_balancing.bound import limits_of
from walras.domains.load_balancing.instance import Round
from walras.kernels.local_search import flow, place
from walras.kernels.local_search.random_numbers import seeded
from walras.types import Floats, Ints

IDLE = 1e-4  # least load of a kept replica, as a share of the mean server's
_CHUNK = 250  # attempts between two looks at the clock


@dataclass(frozen=True, eq=False)
class Placed:
    """A placement: the servers of each shard, and the split of its load.

    Attributes:
        server: (replicas,) servers.
        shard: (replicas,) shards.
        load: (replicas,) loads.
        cost: Cost of the new replicas, infinite if no placement was found.
        attempts: Attempts of the local search.
    """

    server: Ints
    shard: Ints
    load: Floats
    cost: float
    attempts: int = 0


@dataclass(frozen=True)
class Effort:
    """The limits of the local search.

    Attributes:
        attempts: Largest number of attempts.
        enough: Cost at which to stop.
        seed: Seed of its random choices.
        proceed: Called with (attempts, cost) now and then; False stops.
    """

    attempts: int
    enough: float
    seed: int
    proceed: Callable[[int, float], bool] | None = None


def search(problem: Round, effort: Effort) -> Placed:
    """Find a placement within all bands at nearly least cost; infinite cost if there is none."""
    order = _canonical(problem)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order), dtype=order.dtype)
    found = _search(_ordered(problem, order, rank), effort)
    return replace(found, server=order[found.server])


def _search(problem: Round, effort: Effort) -> Placed:
    limits = limits_of(problem)
    chain = flow.make_chain(problem.servers, problem.shards)
    chain.random[:] = seeded(effort.seed)
    load = problem.share * problem.load[problem.shard]
    room = 4 * problem.servers + 2 * problem.shards
    best = flow.make_replicas(problem.server, problem.shard, load, limits, room)
    cost = float(place.start(best, limits, chain, _homeless(problem)))
    attempts = 0
    if np.isfinite(cost):
        scratch = flow.copied(best)
        while attempts < effort.attempts and cost > effort.enough + 1e-9:
            rounds = min(_CHUNK, effort.attempts - attempts)
            cost, _ = place.improve(scratch, best, limits, chain, rounds, cost, effort.enough)
            attempts += rounds
            if effort.proceed is not None and not effort.proceed(attempts, cost):
                break
    live = best.kind != flow.FREE
    return Placed(best.server[live], best.shard[live], best.load[live], cost, attempts)


def _homeless(problem: Round) -> Ints:
    """Shards without a server, largest first."""
    has = np.bincount(problem.shard, minlength=problem.shards)
    nowhere = np.flatnonzero(has == 0)
    return nowhere[np.argsort(-problem.load[nowhere], kind="stable")].astype(np.int32)


def _canonical(problem: Round) -> Ints:
    """(servers,) order of the servers that depends only on their data and their shards."""
    held: list[list[tuple[int, float]]] = [[] for _ in range(problem.servers)]
    for i, j, part in zip(
        problem.server.tolist(), problem.shard.tolist(), problem.share.tolist(), strict=True
    ):
        held[i].append((j, part))
    keys = [
        (problem.drain[i], problem.weight[i], problem.memory[i], sorted(held[i]))
        for i in range(problem.servers)
    ]
    return np.array(sorted(range(problem.servers), key=keys.__getitem__), dtype=np.int32)


def _ordered(problem: Round, order: Ints, rank: Ints) -> Round:
    """The round with its servers in another order."""
    server = rank[problem.server]
    lines = np.lexsort((server, problem.shard))
    return replace(
        problem,
        weight=problem.weight[order],
        memory=problem.memory[order],
        drain=problem.drain[order],
        zone=problem.zone[order],
        server_names=tuple(problem.server_names[i] for i in order.tolist()),
        server=server[lines],
        shard=problem.shard[lines],
        share=problem.share[lines],
    )


def tidied(problem: Round, placed: Placed, *, keep: bool) -> Placed:
    """The placement with its idle replicas kept, or with as few replicas as the bands allow.

    A kept replica has a small load, :data:`IDLE` of the mean server's load, so that it counts as
    placed in the next round. It costs nothing now and may save a move then. Replicas that do not
    fit into the bands are dropped.

    Args:
        problem: The round.
        placed: A placement within all bands.
        keep: Whether to keep replicas whose load others could take.
    """
    tidy = _Tidy(problem, placed)
    for e in np.argsort(placed.load, kind="stable").tolist():
        if tidy.is_new(e) or keep:
            tidy.keep(e)
        else:
            tidy.drop(e)
    return tidy.result()


class _Tidy:
    """Shifts load between the replicas of a shard, within the bands of servers."""

    def __init__(self, problem: Round, placed: Placed) -> None:
        self._problem, self._placed = problem, placed
        self._load = placed.load.copy()
        self._total = np.bincount(placed.server, self._load, problem.servers)
        self._stays = np.ones(len(self._load), dtype=np.bool_)
        self._least = IDLE * float(problem.load.sum()) / problem.servers
        self._of_shard: dict[int, list[int]] = {}
        for e, j in enumerate(placed.shard.tolist()):
            self._of_shard.setdefault(j, []).append(e)

    def is_new(self, e: int) -> bool:
        """Whether the replica is new."""
        return not self._problem.held[self._placed.server[e], self._placed.shard[e]]

    def keep(self, e: int) -> None:
        """Give an idle replica its least load, from the replica with the largest load."""
        donor = max(self._others(e), key=self._load.__getitem__, default=e)
        amount = min(self._least, 0.5 * float(self._load[donor])) - float(self._load[e])
        if amount <= 0.0 or donor == e:
            return
        if self._may_shift(donor, e, amount):
            self._shift(donor, e, amount)
        else:
            self._hand_over(e)

    def drop(self, e: int) -> None:
        """Remove a replica if another one of its shard can take its load."""
        if not self._hand_over(e):
            self.keep(e)

    def _hand_over(self, e: int) -> bool:
        amount = float(self._load[e])
        for f in self._others(e):
            if amount <= 0.0 or self._may_shift(e, f, amount):
                self._shift(e, f, amount)
                self._leave(e)
                return True
        return False

    def result(self) -> Placed:
        """The placement after all changes."""
        placed, stays = self._placed, self._stays
        new = [self.is_new(e) for e in np.flatnonzero(stays).tolist()]
        return replace(
            placed,
            server=placed.server[stays],
            shard=placed.shard[stays],
            load=self._load[stays],
            cost=float(self._problem.cost[placed.shard[stays]][np.array(new, np.bool_)].sum()),
        )

    def _others(self, e: int) -> list[int]:
        return [f for f in self._of_shard[int(self._placed.shard[e])] if f != e]

    def _may_shift(self, giver: int, taker: int, amount: float) -> bool:
        p, i, b = self._problem, self._placed.server[giver], self._placed.server[taker]
        return bool(self._total[i] - amount >= p.lower[i] and self._total[b] + amount <= p.upper[b])

    def _shift(self, giver: int, taker: int, amount: float) -> None:
        self._load[giver] -= amount
        self._load[taker] += amount
        self._total[self._placed.server[giver]] -= amount
        self._total[self._placed.server[taker]] += amount

    def _leave(self, e: int) -> None:
        self._stays[e] = False
        self._of_shard[int(self._placed.shard[e])].remove(e)
