"""The parts of POP: split the demands, state the sub-problems, merge their points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from walras.iterate import Iterate
from walras.progress import Timings, join
from walras.separable import Family, Rows, Separable, Side
from walras.separable.rows import bound_sizes
from walras.settings import Start
from walras.status import Status
from walras.types import Bools, Floats, Ints, Longs


@dataclass(frozen=True, eq=False)
class Part:
    """One sub-problem and its position in the whole.

    Attributes:
        problem: The sub-problem.
        entries: Its entries, by their position in the whole problem.
        rows: Its rows, by their position in the whole problem.
        entry_share: (entries,) share of each entry's demand in this part.
        row_share: (rows,) share of each row in this part; 1 / k of shared rows.
    """

    problem: Separable
    entries: Longs
    rows: Longs
    entry_share: Floats
    row_share: Floats

    def start(self, whole: Start) -> Start:
        """The part of a start of the whole."""
        return Start(x=whole.x[self.entries] * self.entry_share, prices=whole.prices[self.rows])


def asks(problem: Separable) -> Bools:
    """(demands,) True on demands with an entry that can exceed zero."""
    live = (problem.lower < problem.upper) & (problem.demand >= 0)
    return np.bincount(problem.demand[live], minlength=problem.shape[1]) > 0


def split(problem: Separable, parts: int, seed: int, splitting: float = 0.0) -> list[Part]:
    """Split the demands at random into parts whose sizes differ by at most one.

    Demands that ask for nothing come last, since a part of only such demands may have no optimum.
    The largest demands are split into k equal pieces, one for every part.

    Args:
        problem: The whole problem.
        parts: Number of parts k.
        seed: Seed of the random order.
        splitting: Share of the demands that are split, the largest first.
    """
    order = np.random.default_rng(seed).permutation(problem.shape[1])
    order = order[np.argsort(~asks(problem)[order], kind="stable")]
    share = np.zeros((parts, problem.shape[1] + 1))
    share[np.arange(len(order)) % parts, order] = 1.0
    share[:, _largest(problem, splitting)] = 1.0 / parts
    share[0, -1] = 1.0  # entries and rows without a demand (owner -1) go to the first part
    return [_part(problem, share[k], parts) for k in range(parts)]


def _largest(problem: Separable, splitting: float) -> Longs:
    """The largest demands: a share of those that ask for something."""
    size = np.where(asks(problem), _sizes(problem), 0.0)
    count = round(splitting * np.count_nonzero(size))
    return np.argsort(-size, kind="stable")[:count]


def _sizes(problem: Separable) -> Floats:
    """(demands,) size of each demand: the largest bound, or scalar's factor, of its own rows.

    It is relative to the row's largest coefficient: ``y <= 5`` and ``t - y / 5 <= 0`` both give 5.
    """
    rows = problem.rows
    own = np.flatnonzero((rows.side == Side.DEMAND) & ~rows.is_utility & (rows.owner >= 0))
    part = abs(rows.matrix.tocsr()[own])
    unit = (
        part.max(axis=1).toarray().ravel() if len(own) and problem.entries else np.zeros(len(own))
    )
    scalar = np.abs(rows.scalar_matrix[own]).max(axis=1, initial=0.0)
    asked = np.maximum(bound_sizes(rows.lower[own], rows.upper[own]), scalar)
    asked = asked / np.where(unit > 0, unit, np.inf)
    out = np.zeros(problem.shape[1])
    np.maximum.at(out, rows.owner[own], asked)
    return out


def _part(problem: Separable, share: Floats, parts: int) -> Part:
    """The sub-problem with a share of each demand and a k-th of every shared row.

    The last element of ``share`` is for entries and rows without a demand (owner -1).
    """
    whole = problem.rows
    entries = np.flatnonzero(share[problem.demand] > 0)
    own = whole.side == Side.DEMAND
    row_share = np.where(own, share[np.where(own, whole.owner, -1)], 1.0 / parts)
    kept = np.flatnonzero(row_share > 0)
    demands = np.flatnonzero(share[:-1] > 0)
    position = np.full(len(share), -1, dtype=np.int32)
    position[demands] = np.arange(len(demands), dtype=np.int32)
    held = share[problem.demand[entries]]
    return Part(
        problem=replace(
            problem,
            resource=problem.resource[entries],
            demand=position[problem.demand[entries]],
            cost=problem.cost[entries],
            quadratic=problem.quadratic[entries] / held,
            lower=problem.lower[entries] * held,
            upper=problem.upper[entries] * held,
            integer=None if problem.integer is None else problem.integer[entries],
            rows=_rows(whole, entries, kept, position, row_share[kept]),
            demand_names=[problem.demand_names[j] for j in demands.tolist()],
            constant=problem.constant / parts,
            gap_scale=problem.gap_scale and problem.gap_scale / parts,
            namer=_renumbered(problem, entries),
            keys=None,
        ),
        entries=entries,
        rows=kept,
        entry_share=held,
        row_share=row_share[kept],
    )


def _renumbered(problem: Separable, entries: Longs) -> Callable[[int], str] | None:
    """The user's names for some of the entries, renumbered."""
    namer = problem.namer
    return None if namer is None else lambda q: namer(int(entries[q]))


def _rows(whole: Rows, entries: Longs, kept: Longs, position: Ints, share: Floats) -> Rows:
    """The rows kept; a row g.x + e.t <= b of share s becomes g.x + (s e).t <= s b.

    A utility f(y) becomes s f(y / s), so that equal parts add up to f(y).
    """
    side, owner = whole.side[kept], whole.owner[kept]
    utility = whole.is_utility[kept]
    less = np.where(utility, 1.0, share)
    part = np.where(utility, share, 1.0)
    matrix = whole.matrix[:, entries].tocsc()[kept].tocsc()
    matrix.data = matrix.data / part[matrix.indices]
    own = side == Side.DEMAND
    return Rows(
        matrix=matrix,
        scalar_matrix=whole.scalar_matrix[kept] * less[:, None],
        lower=whole.lower[kept] * less,
        upper=whole.upper[kept] * less,
        side=side,
        owner=np.where(own, position[np.where(own, owner, -1)], owner).astype(np.int32),
        utility=whole.utility[kept],
        weight=whole.weight[kept] * part,
        parameter=whole.parameter[kept],
        families=_families(whole.families, kept),
    )


def _families(families: Sequence[Family], kept: Longs) -> tuple[Family, ...]:
    out = []
    for family in families:
        low, high = np.searchsorted(kept, (family.start, family.stop))
        numbers = (kept[low:high] - family.start).tolist()
        labels = [family.labels[k] if len(family.labels) else str(k) for k in numbers]
        out.append(Family(family.name, int(low), int(high), labels, family.plain))
    return tuple(out)


def merge(
    problem: Separable,
    pieces: Sequence[Part],
    iterates: Sequence[Iterate],
    *,
    build: float,
    wall: float,
) -> Iterate:
    """Put the parts' points together; a row's price is the mean of its parts' prices, by shares.

    With a shared scalar t, each part's prices alone clear ``sum_k prices_k s_k e_k = cost of t``,
    so each counts as a k-th.

    Args:
        problem: The whole problem.
        pieces: Its parts.
        iterates: Their points.
        build: Seconds spent on splitting.
        wall: Seconds spent on solving.
    """
    x = np.zeros(problem.entries)
    prices = np.zeros(problem.rows.count)
    for piece, iterate in zip(pieces, iterates, strict=True):
        x[piece.entries] += iterate.x
        # The activity of a utility row was divided by its share, so its price is too.
        utility = problem.rows.is_utility[piece.rows]
        prices[piece.rows] += iterate.prices * np.where(utility, 1.0, piece.row_share)
    scale = len(pieces) if problem.scalars else 1
    t = np.array([iterate.t for iterate in iterates]).reshape(len(pieces), problem.scalars)
    worst = np.where(problem.scalar_cost < 0, t.min(axis=0), t.max(axis=0))
    return Iterate(
        x=x,
        t=worst,
        prices=prices / scale,
        status=_worst(iterates),
        history=join([iterate.history for iterate in iterates]),
        timings=Timings(
            build=build,
            iterate=wall,
            ideal=max(iterate.timings.iterate for iterate in iterates),
        ),
        message=f"POP-{len(pieces)}",
    )


def _worst(iterates: Sequence[Iterate]) -> Status:
    """The status of the worst part; never optimal, which parts cannot prove."""
    ranking = (Status.INTERRUPTED, Status.LIMIT, Status.INACCURATE)
    found = {iterate.status for iterate in iterates}
    ended = Status.OPTIMAL if len(iterates) == 1 else Status.FEASIBLE
    return next((status for status in ranking if status in found), ended)
