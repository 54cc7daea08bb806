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
from walras.kernels.paths.basis import Basis, PathProgram, copied
from walras.kernels.paths.dual_simplex import Work, follow, judge, make_work
from walras.short_repr import short_repr
from walras.types import Bools, Floats, Longs

_FULL = 1e-9  # what the largest utilisation may exceed 1 by; all shares shrink by it in the end
_EVEN = 1e-11  # a line no higher than this over 1 says that the share is met
_SPOILED = 1e-7  # relative distance of value and bound from which a basis is no longer trusted
_WORTH = 1e-8  # of all prices over the capacities: less may be rounding
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
        most: (matrices, pairs) what a pair cannot pass while those frozen before it keep their
            shares and the others have at least its own; 1 where it may rise or is served in full.
            Loose for a pair whose demand is tiny beside the links' capacities.
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
    most: Floats
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
    is mostly within 1e-8 of its bound; where capacities and demands differ by a million and more
    in one matrix, rounding can leave it further away, as ``gap`` says. No link carries more than
    its capacity, and no pair gets more than its demand, in any case. Pairs that may rise beyond the
    last level get that level's share.

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
        low: What no flow comes below.
        price: (links,) prices, worth 1 over the capacities.
        dear: (pairs,) price of each pair's cheapest path.
    """

    utilisation: float
    low: float
    price: Floats
    dear: Floats


class _Cut(NamedTuple):
    """Pairs that are frozen together, and the line that proves it.

    Attributes:
        level: Number of the level.
        share: Share of the pairs' demands; 1 needs no proof.
        line: Line that is 1 at this share.
        before: (pairs,) True on pairs that were frozen before.
        now: (pairs,) True on those that are frozen now.
    """

    level: int
    share: float
    line: _Line
    before: Bools
    now: Bools


class _Fair(NamedTuple):
    """Fair flow of one matrix.

    Attributes:
        cuts: In the order of their shares.
        flow: (paths,) traffic in the mean capacity.
        shrunk: What flow and shares were multiplied by in the end, so that no link is overfull.
        pivots: Pivots of all solves.
    """

    cuts: list[_Cut]
    flow: Floats
    shrunk: float
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
        cuts: list[_Cut] = []
        self.flow[:] = 0.0
        while np.any(is_open) and (not cuts or cuts[-1].level < most - 1):
            least = cuts[-1].share if cuts else 0.0
            t, line = self._level(demand, is_open, kept, least)
            is_new = bool(cuts) and t > least * (1.0 + _SAME)
            level = cuts[-1].level + is_new if cuts else 0
            now = is_open if t == 1.0 else self._held(line, is_open, demand)
            cuts.append(_Cut(level, t, line, ~is_open, now))
            kept[now] = t * demand[now]
            is_open = is_open & ~now
        shrunk = 1.0 / max(1.0, self._fullest())
        return _Fair(cuts, self.flow[0] * shrunk, shrunk, self.pivots - began)

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
        line = _Line(1.0, 1.0, np.zeros(len(self.program.capacity)), np.zeros(len(demand)))
        for _ in range(_STEPS):
            found = self._solved(np.where(is_open, t * demand, kept))
            if found.utilisation <= 1.0 + _FULL or found.low <= 1.0 + _EVEN or t == least:
                if t == 1.0 or np.any(line.price):
                    break
                least, wider = t, 2.0 * wider
                t = min(1.0, least * (1.0 + wider))  # not too large yet
                continue
            slope = float(found.dear[is_open] @ demand[is_open])
            room = 1.0 - float(found.dear[~is_open] @ kept[~is_open])
            t, line = max(room / slope, least) if slope > 0.0 else least, found
        return t, line

    def _held(self, line: _Line, is_open: Bools, demand: Floats) -> Bools:
        """(pairs,) the open pairs that a line holds: each of their paths has a price.

        A price of a narrow link that is worth next to nothing is rounding.
        """
        worth = line.price * self.program.capacity
        sure = np.where(worth > _WORTH, line.price, 0.0)
        held: Bools = is_open & (_cheapest(self.data.paths, sure) > 0.0)
        if not np.any(held):
            held[np.argmax(np.where(is_open, line.dear * demand, -1.0))] = True
        return held

    def _solved(self, demand: Floats) -> _Line:
        """Serve demands (pairs,) with the least largest utilisation; ``flow`` has how.

        A basis that rounding has spoiled is left for the first one.
        """
        found = self._followed(demand)
        if not found.utilisation - found.low <= _SPOILED * found.utilisation:
            self.basis = copied(self.begin)
            found = self._followed(demand)
        return found

    def _followed(self, demand: Floats) -> _Line:
        paths, most = self.data.paths, self.data.most_pivots
        price, pivots = np.zeros((1, len(self.program.capacity))), np.zeros(1, dtype=np.int64)
        fullest, low = np.zeros((2, 1))
        self.flow[:] = 0.0
        solved = (self.flow, price)
        follow(self.program, self.basis, self.begin, demand[None], most, self.work, *solved, pivots)
        judge(self.program, demand[None], *solved, fullest, low)
        self.pivots += int(pivots[0])
        return _Line(float(fullest[0]), float(low[0]), price[0], _cheapest(paths, price[0]))

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


def _most(demand: Floats, cut: _Cut, share: Floats, shrunk: float) -> tuple[float, Floats]:
    """Bounds from a cut's prices: of the share of all open pairs, and (pairs,) of each one's own.

    All open pairs but one have at least the cut's share, and frozen ones keep theirs.
    """
    worth, own = cut.line.dear * demand, cut.share * shrunk
    slope = float(np.sum(worth[~cut.before]))
    room = 1.0 - float(worth[cut.before] @ share[cut.before])
    if not slope > 0.0:
        return 1.0, np.ones(len(demand))
    with np.errstate(divide="ignore", invalid="ignore"):
        alone = own + max(room - own * slope, 0.0) / worth
    return min(1.0, room / slope), np.fmin(alone, 1.0)


def _joined(solver: _Solver, demand: Floats, found: Sequence[_Fair]) -> FairSequence:
    """The result of all matrices: (matrices, pairs) demands in the mean capacity."""
    data, paths = solver.data, solver.data.paths
    count, width = len(found), max((one.cuts[-1].level + 1 for one in found if one.cuts), default=0)
    level, bound = np.full((2, count, width), np.nan)
    price = np.zeros((count, width, len(data.capacity)))
    frozen = np.full(demand.shape, -1)
    kept, most = np.ones((2, *demand.shape))
    for k, one in enumerate(found):
        for cut in one.cuts:
            whole, alone = _most(demand[k], cut, kept[k], one.shrunk)
            if np.isnan(level[k, cut.level]):
                level[k, cut.level], bound[k, cut.level] = cut.share * one.shrunk, whole
                price[k, cut.level] = cut.line.price
            frozen[k, cut.now], kept[k, cut.now] = cut.level, cut.share * one.shrunk
            most[k, cut.now] = alone[cut.now]
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
        most=most,
        flow=data.unit * flow,
        price=price / data.unit,
        frozen=frozen,
        pivots=np.array([one.pivots for one in found], dtype=np.int64),
        program=solver.program,
        begin=solver.begin,
        basis=solver.basis,
    )
