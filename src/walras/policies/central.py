"""Max-min fairness at a central solution: the time that the least level leaves over is spread.

Max-min fairness has many solutions. A vertex gives the time that is left over to few jobs; the
analytic centre of the solutions, where interior-point methods end, gives all jobs part of it.
There, jobs that are alike have alike shares. So the program is stated by classes of jobs: a class
of n jobs stands for n rows, and two classes of n and m jobs for n m pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from walras.programs.central_path import WeightedProgram, end_of_path
from walras.types import Bools, Floats, Longs


@dataclass(frozen=True, eq=False)
class Central:
    """Shares of time at the centre of the best ones.

    Attributes:
        time: (N, T) shares of time of jobs alone.
        pair: (P, 2) places of the jobs that may share workers, in order.
        pair_time: (P, T) shares of time of pairs.
        value: The least service at these shares.
        bound: No shares have a larger least service.
    """

    time: Floats
    pair: Longs
    pair_time: Floats
    value: float
    bound: float


def central_max_min(
    speed: Floats,
    worth: Floats,
    size: Longs,
    workers: Longs,
    group: Longs,
    paired: Floats,
    *,
    centred: bool = True,
) -> Central:
    """Maximise the least service of a job over shares of time, at the central solution.

    The service of a job is its worth times its steps a second, alone and beside other jobs.

    Args:
        speed: (N, T) steps a second that a job does alone; 0 where it cannot run.
        worth: (N,) of a step a second of each job, > 0.
        size: (N,) workers that a job occupies.
        workers: (T,) workers of each type.
        group: (N,) group of a job by its speed beside others; -1 where it shares with nobody.
        paired: (G, G, T) steps a second of a job of one group beside one of another; 0 where the
            two do not fit. Jobs of one size share workers of the types on which both run alone.
        centred: Whether to go to the centre; if not, the solver ends somewhere near it.

    Returns:
        The shares; they keep to all rows, and value and bound are computed from them and from the
        prices alone.
    """
    best = float((speed * worth[:, None]).max(initial=0.0))
    if best == 0.0:
        time, pair = np.zeros(speed.shape), np.zeros((0, 2), np.int64)
        return Central(time, pair, np.zeros((0, len(workers))), 0.0, 0.0)
    classes = _classes(speed, worth / best, size, group)
    units = _units(classes, paired)
    found = end_of_path(_program(classes, units, workers), centred=centred)
    x = _within(found.x, classes, units, workers)
    value = best * float((units.served(x) / classes.count).min())
    bound = best * _bound(classes, units, workers, found.prices)
    share = np.zeros((units.owners, len(workers)))
    share[units.owner, units.kind] = x / units.weight
    owner = np.triu(units.together[np.ix_(classes.of, classes.of)], 1)
    pair = np.argwhere(owner)
    return Central(share[classes.of], pair, share[owner[tuple(pair.T)]], value, bound)


@dataclass(frozen=True, eq=False)
class _Classes:
    """K classes of jobs that are alike in all that matters here.

    Attributes:
        of: (N,) class of each job.
        count: (K,) jobs.
        speed: (K, T) steps a second alone.
        worth: (K,) of a step a second.
        size: (K,) workers.
        group: (K,) group by the speed beside others.
    """

    of: Longs
    count: Longs
    speed: Floats
    worth: Floats
    size: Longs
    group: Longs

    @property
    def runs(self) -> Bools:
        """(K,) whether the jobs of a class can run at all."""
        return np.asarray((self.speed > 0.0).any(axis=1))


def _classes(speed: Floats, worth: Floats, size: Longs, group: Longs) -> _Classes:
    rows = np.column_stack([speed, worth, size, group])
    alike = rows.view(f"V{rows.itemsize * rows.shape[1]}").ravel()
    _, first, of, count = np.unique(
        alike, return_index=True, return_inverse=True, return_counts=True
    )
    return _Classes(of, count, speed[first], worth[first], size[first], group[first])


@dataclass(frozen=True, eq=False)
class _Units:
    """U classes, or pairs of two, on a type; a unit stands for all that are alike.

    Its time is the time of all in all. A class alone is a pair with itself in which the other job
    is not there.

    Attributes:
        owner: (U,) the class, or K and more: the pair of classes.
        kind: (U,) the type.
        weight: (U,) how many jobs or pairs it stands for.
        classes: (U, 2) both classes.
        service: (U, 2) service of both jobs.
        member: (U, 2) 1 for each job that is there.
        taken: (U,) workers that it occupies.
        owners: How many classes and pairs there are.
        together: (K, K) the pair of two classes; 0 where they share nothing.
    """

    owner: Longs
    kind: Longs
    weight: Floats
    classes: Longs
    service: Floats
    member: Floats
    taken: Floats
    owners: int
    together: Longs

    def served(self, x: Floats) -> Floats:
        """(K,) service of each class where units have times ``x``."""
        return self._by_class(self.service * x[:, None])

    def hours(self, x: Floats) -> Floats:
        """(K,) time of each class where units have times ``x``."""
        return self._by_class(self.member * x[:, None])

    def _by_class(self, amount: Floats) -> Floats:
        total = np.bincount(self.classes.ravel(), amount.ravel(), len(self.together))
        return np.asarray(total, np.float64)


def _units(classes: _Classes, paired: Floats) -> _Units:
    """The units of classes, then those of pairs of classes."""
    k, count, size, worth = len(classes.count), classes.count, classes.size, classes.worth
    pair, beside = _pairs(classes, paired)
    together = np.zeros((k, k), np.int64)
    one, other = pair.T
    together[one, other] = together[other, one] = k + np.arange(len(pair))
    job, kind = np.nonzero(classes.speed)
    both, kind_of_both = np.nonzero(beside[:, 0])
    one, other = one[both], other[both]
    pairs = np.where(one == other, count[one] * (count[one] - 1) / 2, count[one] * count[other])
    alone = np.stack([classes.speed[job, kind], np.zeros(len(job))], axis=1)
    jobs = np.concatenate([np.stack([job, job], axis=1), pair[both]])
    there = np.repeat([[1.0, 0.0], [1.0, 1.0]], [len(job), len(both)], axis=0)
    return _Units(
        owner=np.concatenate([job, k + both]),
        kind=np.concatenate([kind, kind_of_both]),
        weight=np.concatenate([count[job], pairs]),
        classes=jobs,
        service=np.concatenate([alone, beside[both, :, kind_of_both]]) * worth[jobs],
        member=there,
        taken=size[jobs[:, 0]].astype(np.float64),
        owners=k + len(pair),
        together=together,
    )


def _pairs(classes: _Classes, paired: Floats) -> tuple[Longs, Floats]:
    """(Q, 2) pairs of classes of which two jobs share some type, and (Q, 2, T) the speeds of both;
    0 for both where they do not.
    """
    size, group, runs = classes.size, classes.group, classes.speed > 0.0
    alike = (size[:, None] == size) & (group[:, None] >= 0) & (group >= 0)
    np.einsum("kk->k", alike)[classes.count < 2] = False
    pair = np.argwhere(np.triu(alike))
    one, other = pair.T
    beside = np.stack([paired[group[one], group[other]], paired[group[other], group[one]]], axis=1)
    fits = (beside > 0.0).all(axis=1) & runs[one] & runs[other]
    used = fits.any(axis=1)
    return pair[used], (beside * fits[:, None, :])[used]


def _program(classes: _Classes, units: _Units, workers: Longs) -> WeightedProgram:
    """Maximise the level s: the time of the units gives each class of n jobs a service of n s, at
    most n of time, and takes no more workers than there are.

    Classes that run nowhere are left out of the level.
    """
    n, k = classes.count.astype(np.float64), len(classes.count)
    row = np.column_stack([2 * units.classes, 2 * units.classes + 1, 2 * k + units.kind])
    entry = np.column_stack([-units.service, units.member, units.taken])
    starts = np.arange(0, row.size + 1, row.shape[1])
    shape = (2 * k + len(workers), len(row))
    none, one = np.zeros(k), np.ones(len(workers))
    return WeightedProgram(
        matrix=sp.csc_array((entry.ravel(), row.ravel(), starts), shape=shape),
        level=_rows(np.where(classes.runs, n, 0.0), none, 0.0 * one),
        right=_rows(np.where(classes.runs, 0.0, n), n, workers),
        columns=units.weight,
        rows=_rows(n, n, one),
    )


def _rows(service: Floats, hours: Floats, workers: Floats | Longs) -> Floats:
    """What the rows have: both of each class in turn, then those of the types."""
    return np.concatenate([np.column_stack([service, hours]).ravel(), workers])


def _within(x: Floats, classes: _Classes, units: _Units, workers: Longs) -> Floats:
    """Times that keep to all rows, where x is a rounding away."""
    over = np.maximum(1.0, units.hours(x) / classes.count)
    x = x / over[units.classes].max(axis=1)
    taken = np.bincount(units.kind, units.taken * x, len(workers))
    return np.asarray(x / np.maximum(1.0, taken / workers)[units.kind])


def _bound(classes: _Classes, units: _Units, workers: Longs, dual: Floats) -> float:
    """What prices prove: with weights l_j that sum to one, min_j s_j is at most Σ_j l_j s_j, and
    that is at most the worth of the workers and of each job's time, where no unit brings more than
    it costs. What a unit brings too much is added to the worth of its jobs' time, in equal parts.
    Where a job can run nowhere, the least service is 0.
    """
    if not classes.runs.all():
        return 0.0
    n, k = classes.count, len(classes.count)
    pulls, hours, prices = dual[: 2 * k : 2], dual[1 : 2 * k : 2], dual[2 * k :]
    pulls, hours, prices = (part / (pulls @ n) for part in (pulls, hours, prices))
    brings = (pulls[units.classes] * units.service - hours[units.classes] * units.member).sum(
        axis=1
    )
    left = np.maximum(brings - prices[units.kind] * units.taken, 0.0) / units.member.sum(axis=1)
    more = np.zeros(k)
    np.maximum.at(more, units.classes, left[:, None])
    return float(prices @ workers + (hours + more) @ n)
