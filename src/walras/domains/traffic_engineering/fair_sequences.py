"""Max-min fair flows of a sequence of traffic matrices, level by level from the last basis.

Let open pairs get the share t of their demands, and frozen ones what they have. The least largest
utilisation f(t) of that is convex in t, and a level is the largest t with f(t) <= 1. Prices of the
links, worth 1 over the capacities, bound it: with lambda_k the price of pair k's cheapest path

    sum_frozen lambda_k y_k + t sum_open lambda_k d_k <= f(t).

Newton's method goes down from a t that is too large: the next t is where this line is 1. The last
line proves the level, and open pairs with a price are frozen at it: no flow gives all open pairs
the level and one of these more. Between two steps only demands change, so a step takes a few pivots
of the dual simplex method (:mod:`walras.kernels.paths.dual_simplex`). Sources: Nace and Pioro, IEEE
Communications Surveys 10(4), 2008, for the levels; Dinkelbach, 1967, for the steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd

from walras import checks
from walras.domains.traffic_engineering.matrices import Demand
from walras.domains.traffic_engineering.network import Network
from walras.domains.traffic_engineering.objectives import Objective
from walras.domains.traffic_engineering.paths import Paths
from walras.domains.traffic_engineering.sequence_data import SequenceData
from walras.kernels.paths.basis import Basis, PathProgram
from walras.kernels.paths.dual_simplex import Work, follow, judge, make_work
from walras.short_repr import short_repr
from walras.types import Bools, Floats, Longs

_FULL = 1e-9  # what the largest utilisation may exceed 1 by; all shares shrink by it in the end
_PRICED = 1e-7  # of the largest price of a pair: less may be rounding
_SAME = 1e-9  # relative: levels this close count as one
_WIDER = 0.05  # share above the last level at which the next is sought first; it doubles from there
_STEPS = 100  # of Newton's method; a handful is usual


@short_repr
@dataclass(frozen=True, eq=False)
class FairSequence:
    """Max-min fair flows of a sequence of traffic matrices, with a proof of each level.

    Attributes:
        objective: ``fair``.
        paths: The candidate paths.
        capacity: (links,) capacities.
        level: (matrices, levels) served share of each level, upwards; NaN where there are fewer.
        bound: (matrices, levels) what no flow can pass that keeps the levels before, from the
            prices.
        share: (matrices, pairs) served share of each pair's demand; 1 where there is none.
        flow: (matrices, paths) traffic on each path.
        price: (matrices, levels, links) prices >= 0 that prove the level: ``price @ capacity`` is
            1; 0 where all demands are served.
        frozen: (matrices, pairs) number of the level at which a pair stays; -1 for one that may
            rise beyond the last level asked for, and where there is no demand.
        pivots: (matrices,) pivots of the dual simplex method.
        program: The problem without its demands, for ``start=``.
        begin: The first basis, for ``start=``.
        basis: The last basis, for ``start=``.

    Example:
        >>> import numpy as np
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1], [1, 2], [10.0, 4.0])
        >>> paths = te.candidate_paths(net, k=1, cache=False)
        >>> demand = np.array([[0.0, 8.0, 4.0], [0.0, 0.0, 4.0], [0.0, 0.0, 0.0]])
        >>> found = te.max_min_fair_sequence(net, [demand, 0.5 * demand], paths)
        >>> found.level.round(3)
        array([[0.5, 1. ],
               [1. , nan]])
        >>> found.share[0].round(3)
        array([1. , 0.5, 0.5])
    """

    objective: Objective
    paths: Paths
    capacity: Floats
    level: Floats
    bound: Floats
    share: Floats
    flow: Floats
    price: Floats
    frozen: Longs
    pivots: Longs
    program: PathProgram = field(repr=False)
    begin: Basis = field(repr=False)
    basis: Basis = field(repr=False)

    def __len__(self) -> int:
        return len(self.level)

    @property
    def gap(self) -> Floats:
        """(matrices,) largest distance of a level from its bound, relative to the bound."""
        off = (self.bound - self.level) / self.bound
        return np.asarray(np.max(off, axis=1, initial=0.0, where=np.isfinite(off)))

    def frame(self) -> pd.DataFrame:
        """One row a matrix: least share, levels, traffic served, gap, pivots."""
        columns = {
            "least": self.share.min(axis=1, initial=1.0),
            "levels": np.sum(np.isfinite(self.level), axis=1),
            "served": self.flow.sum(axis=1),
            "gap": self.gap,
            "pivots": self.pivots,
        }
        return pd.DataFrame(columns)


def max_min_fair_sequence(
    network: Network,
    demands: Iterable[Demand],
    paths: Paths,
    *,
    levels: int = 10,
    start: FairSequence | None = None,
) -> FairSequence:
    """Raise the least served share, then that of the rest, for one traffic matrix after the other.

    The problem is that of :func:`max_min_fair` with its default weights, for each matrix. A level
    is within a few 1e-9 of its bound, unless rounding or the largest number of pivots ends a solve
    before. No link carries more than its capacity, and no pair gets more than its demand, in any
    case. Pairs that may rise beyond the last level get that level's share.

    Args:
        network: The network.
        demands: (matrices, nodes, nodes) traffic, in order, or an iterable of matrices; frames
            are matched by the nodes' names.
        paths: Candidate paths.
        levels: Largest number of levels, 1 or more; as many as there are pairs find all.
        start: An earlier result with the same paths and capacities, whose last basis is the first.

    Returns:
        Levels with bounds and prices, shares and flow of each matrix.

    Raises:
        InputError: The data do not fit.

    Example:
        >>> import numpy as np
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> paths = te.candidate_paths(net, k=2, cache=False)
        >>> demands = np.array([[[0, 9, 9], [0, 0, 9], [0, 0, 0]]])
        >>> found = te.max_min_fair_sequence(net, demands, paths)
        >>> found.level.round(3), bool(found.gap.max() <= 1e-8)
        (array([[0.833]]), True)
    """
    most = checks.whole(levels, "levels", 1)
    data = SequenceData.of(network, demands, paths)
    program, begin, basis = data.bases(FairSequence, "fair", start)
    flow, demand = np.zeros((1, paths.count)), data.demand / data.unit
    solver = _Solver(data, program, begin, basis, make_work(program), flow)
    return _joined(solver, demand, [solver.fair(each, most) for each in demand])


class _Line(NamedTuple):
    """What a solve says of the demands that it served.

    Attributes:
        utilisation: Largest utilisation of a link.
        price: (links,) prices, worth 1 over the capacities.
        dear: (pairs,) price of each pair's cheapest path.
    """

    utilisation: float
    price: Floats
    dear: Floats


class _Fair(NamedTuple):
    """Fair flow of one matrix.

    Attributes:
        level: Share of each level.
        price: (links,) prices of each level.
        frozen: (pairs,) level at which a pair stays, or -1.
        flow: (paths,) traffic in the mean capacity.
        pivots: Pivots of all solves.
    """

    level: list[float]
    price: list[Floats]
    frozen: Longs
    flow: Floats
    pivots: int


@dataclass(eq=False)
class _Solver:
    """Solves demands one after the other, each from the last one's basis.

    Attributes:
        data: Network and paths.
        program: The problem without its demands.
        begin: The first basis.
        basis: The last basis.
        work: Scratch.
        flow: (1, paths) flow of the last solve.
        pivots: Pivots of all solves so far.
    """

    data: SequenceData
    program: PathProgram
    begin: Basis
    basis: Basis
    work: Work
    flow: Floats
    pivots: int = 0

    def fair(self, demand: Floats, most: int) -> _Fair:
        """The fair flow of one matrix: (pairs,) demands in the mean capacity."""
        is_open, kept, began = demand > 0.0, np.zeros(len(demand)), self.pivots
        frozen = np.full(len(demand), -1)
        level: list[float] = []
        price: list[Floats] = []
        self.flow[:] = 0.0
        while np.any(is_open) and len(level) < most:
            least = level[-1] if level else 0.0
            t, line = self._level(demand, is_open, kept, least)
            if not level or t > least * (1.0 + _SAME):
                level.append(t)
                price.append(line.price)
            now = is_open & (line.dear > _PRICED * line.dear.max())
            if t < 1.0 and not np.any(now):  # rounding hid the price of the pair that is held down
                now[np.argmax(np.where(is_open, line.dear * demand, -1.0))] = True
            now = is_open if t == 1.0 else now
            frozen[now], kept[now] = len(level) - 1, t * demand[now]
            is_open = is_open & ~now
        shrunk = 1.0 / max(1.0, self._fullest())
        flow = self.flow[0] * shrunk
        return _Fair([t * shrunk for t in level], price, frozen, flow, self.pivots - began)

    def _level(
        self, demand: Floats, is_open: Bools, kept: Floats, least: float
    ) -> tuple[float, _Line]:
        """The largest share that all open pairs can have, and the line that proves it.

        Of share 1 nothing needs a proof; its prices are 0.

        Args:
            demand: (pairs,) demands.
            is_open: (pairs,) True on open pairs.
            kept: (pairs,) what frozen pairs have.
            least: A share that the open pairs can have; 0 where none is known.
        """
        wider = _WIDER
        t = min(1.0, least * (1.0 + wider)) if least > 0.0 else 1.0
        line = _Line(1.0, np.zeros(len(self.program.capacity)), np.zeros(len(demand)))
        for _ in range(_STEPS):
            found = self._solved(np.where(is_open, t * demand, kept))
            if found.utilisation <= 1.0 + _FULL:
                if t == 1.0 or np.any(line.price):
                    break
                least, wider = t, 2.0 * wider
                t = min(1.0, least * (1.0 + wider))  # not too large yet
                continue
            slope = float(found.dear[is_open] @ demand[is_open])
            room = 1.0 - float(found.dear[~is_open] @ kept[~is_open])
            crossing = max(room / slope, least) if slope > 0.0 else least
            if not crossing < t:
                break
            t, line = crossing, found
        return t, line

    def _solved(self, demand: Floats) -> _Line:
        """Serve demands (pairs,) with the least largest utilisation; ``flow`` has how."""
        paths, most = self.data.paths, self.data.most_pivots
        price, pivots = np.zeros((1, len(self.program.capacity))), np.zeros(1, dtype=np.int64)
        fullest, low = np.zeros((2, 1))
        self.flow[:] = 0.0
        solved = (self.flow, price)
        follow(self.program, self.basis, self.begin, demand[None], most, self.work, *solved, pivots)
        judge(self.program, demand[None], *solved, fullest, low)
        self.pivots += int(pivots[0])
        return _Line(float(fullest[0]), price[0], _cheapest(paths, price[0]))

    def _fullest(self) -> float:
        """The largest utilisation by the last flow."""
        paths = self.data.paths
        carried = np.repeat(self.flow[0], paths.hops)
        load = np.bincount(paths.links, carried, minlength=len(self.program.capacity))
        return float(np.max(load / self.program.capacity, initial=0.0))


def _cheapest(paths: Paths, price: Floats) -> Floats:
    """(pairs,) what a pair's cheapest path costs at prices (links,)."""
    dear = np.add.reduceat(price[paths.links], paths.pointer[:-1])
    return np.asarray(np.minimum.reduceat(dear, paths.first[:-1]))


def _bound(paths: Paths, demand: Floats, found: _Fair) -> list[float]:
    """Bounds of the levels, from prices and from the shares of the levels before."""
    out, level = [], np.append(found.level, 0.0)
    for k, price in enumerate(found.price):
        dear = _cheapest(paths, price) * demand
        before = (found.frozen >= 0) & (found.frozen < k)
        slope = float(np.sum(dear[~before]))
        room = 1.0 - float(dear[before] @ level[found.frozen[before]])
        out.append(min(1.0, room / slope) if slope > 0.0 else 1.0)
    return out


def _joined(solver: _Solver, demand: Floats, found: Sequence[_Fair]) -> FairSequence:
    """The result of all matrices: (matrices, pairs) demands in the mean capacity."""
    data, paths = solver.data, solver.data.paths
    count, width = len(found), max((len(one.level) for one in found), default=0)
    level, bound = np.full((2, count, width), np.nan)
    price = np.zeros((count, width, len(data.capacity)))
    for k, one in enumerate(found):
        own = slice(len(one.level))
        level[k, own], bound[k, own] = one.level, _bound(paths, demand[k], one)
        price[k, own] = np.reshape(one.price, (-1, len(data.capacity)))
    flow = np.reshape([one.flow for one in found], (count, paths.count))
    served = np.add.reduceat(flow, paths.first[:-1], axis=1)
    asked = demand > 0.0
    return FairSequence(
        objective="fair",
        paths=paths,
        capacity=data.capacity,
        level=level,
        bound=bound,
        share=np.where(asked, np.minimum(served / np.where(asked, demand, 1.0), 1.0), 1.0),
        flow=data.unit * flow,
        price=price / data.unit,
        frozen=np.reshape([one.frozen for one in found], demand.shape),
        pivots=np.array([one.pivots for one in found], dtype=np.int64),
        program=solver.program,
        begin=solver.begin,
        basis=solver.basis,
    )
