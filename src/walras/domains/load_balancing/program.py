"""The round as a mixed-integer program over chosen (server, shard) pairs, with cuts.

Minimise the cost of the new replicas y over shares x:

    lower_i <= sum_j load_j x_ij <= upper_i,   sum_i x_ij = 1,   sum_j footprint_j y_ij <= memory_i,
    x_ij <= u_ij y_ij,   u_ij = min(1, upper_i / load_j),   sum_i y_ij >= fewest_j (= r when fixed),

and replicas of a shard in at least ``spread`` zones. Its linear relaxation is weak, since small
shares allow small fractions of moves. The counts of :mod:`.bound` as rows on y make it stronger: a
set that lacks d needs ``sum min(load_j u_ij, d) y_ij >= d`` over new replicas in it, and likewise
for shards with a surplus.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras.domains.load_balancing.bound import Bound, Cut, limits_of
from walras.domains.load_balancing.instance import Round
from walras.domains.load_balancing.search import Placed
from walras.kernels.local_search import flow
from walras.programs.highs import LinearProgram, solve_program
from walras.settings import Settings
from walras.status import Status
from walras.types import Bools, Floats, Ints

SMALL = 4096  # pairs up to which HiGHS gets all of them
_INSIDE = 1e-5  # relative distance inside the bands to aim at when HiGHS' tolerance left them
_DONORS = 48  # shards that a needy server may choose from, doubled if they are not enough


@dataclass(frozen=True, eq=False)
class Found:
    """The result of HiGHS on the chosen pairs.

    Attributes:
        placed: The best placement, or None.
        bound: Lower bound on the cost over these pairs; over all placements if all pairs were
            chosen.
        status: ``infeasible`` says that no placement on these pairs meets the limits.
    """

    placed: Placed | None
    bound: float
    status: Status


def all_pairs(problem: Round) -> Bools:
    """(servers, shards) True where a replica may be placed."""
    return np.repeat(~problem.drain[:, None], problem.shards, axis=1)


def near_pairs(problem: Round, bound: Bound, placed: Placed | None, widen: int, seed: int) -> Bools:
    """Pairs that few moves are likely to need: present replicas, and hot shards for needy servers.

    Args:
        problem: The round.
        bound: The bound, whose cuts show the needy servers.
        placed: A placement whose pairs are included, or None.
        widen: Factor on the number of pairs.
        seed: Seed of the draws.
    """
    random = np.random.default_rng(seed)
    out = problem.held.copy()
    if placed is not None:
        out[placed.server, placed.shard] = True
    now = problem.loads_now() / np.maximum(problem.target, 1e-300)
    now[problem.drain] = np.inf
    low = np.argsort(now, kind="stable")[: max(8, problem.servers // 8)]
    needy = np.unique(np.concatenate([low, *(cut.servers for cut in bound.lacking)]))
    count = min(problem.shards, _DONORS * widen)
    hot = np.argsort(-problem.load, kind="stable")[: max(8, problem.shards // 16)]
    rich = np.unique(np.concatenate([hot, *(cut.shards for cut in bound.surplus)]))
    weight = problem.load[rich] / problem.load[rich].sum()
    for i in needy.tolist():
        out[i, random.choice(rich, min(count, len(rich)), replace=False, p=weight)] = True
    lacking = np.flatnonzero(out[~problem.drain].sum(axis=0) <= problem.fewest)
    leaving = np.concatenate([lacking, *(cut.shards for cut in bound.surplus)])
    for j in np.unique(leaving).tolist():
        out[random.choice(problem.servers, min(problem.servers, 8 * widen), replace=False), j] = (
            True
        )
    out[problem.drain] = False
    return out


def solve_pairs(
    problem: Round, pairs: Bools, bound: Bound, settings: Settings, start: Placed | None = None
) -> Found:
    """Minimise the cost over some pairs, by HiGHS.

    Args:
        problem: The round.
        pairs: (servers, shards) pairs that may hold a replica.
        bound: The bound, whose cuts strengthen the relaxation.
        settings: ``time_limit``, and ``tolerance`` on the relative gap.
        start: A first placement on these pairs.
    """
    for inside in (0.0, _INSIDE):
        program = _Program(problem, pairs, bound, inside)
        answer = solve_program(program.stated(), settings, program.columns_of(start))
        if answer.x is None:
            return Found(None, answer.bound, answer.status)
        placed = program.placed(answer.x)
        if placed is not None:
            return Found(placed, answer.bound if inside == 0.0 else -np.inf, answer.status)
    return Found(None, -np.inf, Status.INACCURATE)


class _Program:
    """Columns [x | y | z]: shares and replicas of the pairs, zones of the shards."""

    def __init__(self, problem: Round, pairs: Bools, bound: Bound, inside: float) -> None:
        self._p, self._bound, self._inside = problem, bound, inside
        self._server, self._shard = (k.astype(np.int32) for k in np.nonzero(pairs))
        self._unit = float(problem.load.sum()) / problem.servers
        self._load = problem.load / self._unit
        self._pairs = len(self._server)
        self._zones = int(problem.zone.max()) + 1 if problem.spread > 1 else 0
        self._new = ~problem.held[self._server, self._shard]
        most = problem.upper[self._server] / problem.load[self._shard]
        self._most = np.minimum(1.0, most)
        self._blocks: list[sp.csr_array] = []
        self._lower: list[Floats] = []
        self._upper: list[Floats] = []

    def stated(self) -> LinearProgram:
        """The program."""
        p, pairs, zones = self._p, self._pairs, self._zones * self._p.shards
        x, y = np.arange(pairs), pairs + np.arange(pairs)
        room = (p.upper - p.lower) / self._unit * self._inside
        band = (p.lower / self._unit + room, p.upper / self._unit - room)
        self._add(self._server, x, self._load[self._shard], *band)
        self._add(self._shard, x, np.ones(pairs), np.ones(p.shards), np.ones(p.shards))
        link = (np.tile(np.arange(pairs), 2), np.concatenate([x, y]))
        self._add(
            *link,
            np.concatenate([np.ones(pairs), -self._most]),
            np.full(pairs, -np.inf),
            np.zeros(pairs),
        )
        self._add(self._server, y, p.footprint[self._shard], np.full(p.servers, -np.inf), p.memory)
        fewest = p.fewest.astype(np.float64)
        most = np.full(p.shards, np.inf) if p.replicas is None else fewest
        self._add(self._shard, y, np.ones(pairs), fewest, most)
        self._add_cuts(y)
        if zones:
            self._add_zones(y)
        size = 2 * pairs + zones
        return LinearProgram(
            cost=np.concatenate(
                [np.zeros(pairs), np.where(self._new, p.cost[self._shard], 0.0), np.zeros(zones)]
            ),
            lower=np.zeros(size),
            upper=np.ones(size),
            matrix=sp.csc_array(sp.vstack(self._blocks)),
            row_lower=np.concatenate(self._lower),
            row_upper=np.concatenate(self._upper),
            integer=np.arange(size) >= pairs,
        )

    def columns_of(self, placed: Placed | None) -> Floats | None:
        """A placement as columns; None if it uses other pairs."""
        if placed is None:
            return None
        where = {pair: k for k, pair in enumerate(self._keys(self._server, self._shard))}
        at = [where.get(pair, -1) for pair in self._keys(placed.server, placed.shard)]
        if min(at, default=-1) < 0:
            return None
        out = np.zeros(2 * self._pairs + self._zones * self._p.shards)
        out[at] = placed.load / self._p.load[placed.shard]
        out[self._pairs + np.array(at)] = 1.0
        if self._zones:
            out[2 * self._pairs + self._p.zone[placed.server] * self._p.shards + placed.shard] = 1.0
        return out

    def placed(self, columns: Floats) -> Placed | None:
        """The placement of a solution, balanced exactly; None if that is not possible."""
        p = self._p
        here = columns[self._pairs : 2 * self._pairs] > 0.5
        server, shard = self._server[here], self._shard[here]
        share = np.maximum(columns[: self._pairs][here], 0.0)
        whole = np.bincount(shard, share, p.shards)
        if np.any(whole <= 0.0):
            return None
        limits = limits_of(p)
        exact = flow.make_replicas(server, shard, share / whole[shard] * p.load[shard], limits, 0)
        if flow.balance(exact, limits, flow.make_chain(p.servers, p.shards)) > 0.0:
            return None
        cost = float(p.cost[shard[~p.held[server, shard]]].sum())
        return Placed(server, shard, exact.load.copy(), cost)

    def _keys(self, server: Ints, shard: Ints) -> list[int]:
        keys: list[int] = (server.astype(np.int64) * self._p.shards + shard).tolist()
        return keys

    def _add(
        self,
        row: npt.NDArray[np.integer],
        column: npt.NDArray[np.integer],
        value: Floats,
        lower: Floats,
        upper: Floats,
    ) -> None:
        shape = (len(lower), 2 * self._pairs + self._zones * self._p.shards)
        self._blocks.append(sp.csr_array((value, (row, column)), shape=shape))
        self._lower.append(lower)
        self._upper.append(upper)

    def _add_cuts(self, y: npt.NDArray[np.integer]) -> None:
        load = self._load[self._shard] * self._most
        for cut in self._bound.lacking:
            inside = np.isin(self._server, cut.servers) & ~np.isin(self._shard, cut.shards)
            self._add_cut(inside, load, cut, y)
        for cut in self._bound.surplus:
            outside = ~np.isin(self._server, cut.servers) & np.isin(self._shard, cut.shards)
            self._add_cut(outside, load, cut, y)

    def _add_cut(self, chosen: Bools, load: Floats, cut: Cut, y: npt.NDArray[np.integer]) -> None:
        need = cut.need / self._unit * (1.0 - 1e-9)
        value = np.minimum(load[chosen], need)
        rows = np.zeros(len(value), dtype=np.int64)
        self._add(rows, y[chosen], value, np.array([need]), np.array([np.inf]))

    def _add_zones(self, y: npt.NDArray[np.integer]) -> None:
        """Add zones: z is at most the replicas of a shard in a zone, and sums to the spread."""
        p, cells = self._p, self._zones * self._p.shards
        z = 2 * self._pairs + np.arange(cells)
        cell = p.zone[self._server].astype(np.int64) * p.shards + self._shard
        rows, columns = np.concatenate([np.arange(cells), cell]), np.concatenate([z, y])
        value = np.concatenate([np.ones(cells), -np.ones(self._pairs)])
        self._add(rows, columns, value, np.full(cells, -np.inf), np.zeros(cells))
        least = np.full(p.shards, float(p.spread))
        most = np.full(p.shards, np.inf)
        self._add(np.arange(cells) % p.shards, z, np.ones(cells), least, most)


def without_costs(problem: Round) -> Round:
    """The same round without a present placement, so that all costs are equal."""
    nothing = np.zeros(0, dtype=np.int32)
    return replace(problem, server=nothing, shard=nothing, share=np.zeros(0))
