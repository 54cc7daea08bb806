"""What central solutions of time-shared rounds are stated by: classes of jobs, and units.

Jobs that are alike in all that matters have alike shares at the centre, so a class of n jobs stands
for n rows, and two classes of n and m jobs for n m pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from walras.programs.central_path import Level, WeightedProgram
from walras.types import Bools, Floats, Longs


@dataclass(frozen=True, eq=False)
class Classes:
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

    @classmethod
    def apart(cls, speed: Floats, worth: Floats, size: Longs, group: Longs) -> Classes:
        """Each job as a class of its own."""
        n = len(size)
        return cls(np.arange(n), np.ones(n, np.int64), speed, worth, size, group)

    @property
    def runs(self) -> Bools:
        """(K,) whether the jobs of a class can run at all."""
        return np.asarray((self.speed > 0.0).any(axis=1))


def classes_of(speed: Floats, worth: Floats, size: Longs, group: Longs) -> Classes:
    """The classes of jobs whose rows are equal."""
    rows = np.column_stack([speed, worth, size, group])
    alike = rows.view(f"V{rows.itemsize * rows.shape[1]}").ravel()
    _, first, of, count = np.unique(
        alike, return_index=True, return_inverse=True, return_counts=True
    )
    return Classes(of, count, speed[first], worth[first], size[first], group[first])


@dataclass(frozen=True, eq=False)
class Units:
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

    @property
    def fastest(self) -> Floats:
        """(K,) the largest service of a job of each class while it has all its time."""
        found = np.zeros(len(self.together))
        np.maximum.at(found, self.classes, self.service)
        return found

    def _by_class(self, amount: Floats) -> Floats:
        total = np.bincount(self.classes.ravel(), amount.ravel(), len(self.together))
        return np.asarray(total, np.float64)


def units_of(classes: Classes, paired: Floats, *, idle: bool = False) -> Units:
    """The units of classes, then those of pairs of classes.

    Args:
        classes: Of the jobs.
        paired: (G, G, T) steps a second of a job of one group beside one of another.
        idle: Whether there are units of jobs and pairs on types where they do not run, too.
    """
    k, count, size, worth = len(classes.count), classes.count, classes.size, classes.worth
    pair, beside = _pairs(classes, paired)
    fits = beside[:, 0] > 0.0
    if not idle:
        used = fits.any(axis=1)
        pair, beside, fits = pair[used], beside[used], fits[used]
    together = np.zeros((k, k), np.int64)
    one, other = pair.T
    together[one, other] = together[other, one] = (k + np.arange(len(pair))) * fits.any(axis=1)
    job, kind = np.nonzero((classes.speed > 0.0) | idle)
    both, kind_of_both = np.nonzero(fits | idle)
    one, other = one[both], other[both]
    pairs = np.where(one == other, count[one] * (count[one] - 1) / 2, count[one] * count[other])
    alone = np.stack([classes.speed[job, kind], np.zeros(len(job))], axis=1)
    jobs = np.concatenate([np.stack([job, job], axis=1), pair[both]])
    there = np.repeat([[1.0, 0.0], [1.0, 1.0]], [len(job), len(both)], axis=0)
    return Units(
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


def _pairs(classes: Classes, paired: Floats) -> tuple[Longs, Floats]:
    """(Q, 2) pairs of classes of one size, and (Q, 2, T) the speeds of both; 0 where they do not
    share a type.
    """
    size, group, runs = classes.size, classes.group, classes.speed > 0.0
    able = np.flatnonzero(group >= 0)
    pair = able[np.stack(np.triu_indices(len(able)), axis=1)]
    one, other = pair.T
    pair = pair[(size[one] == size[other]) & ((one != other) | (classes.count[one] > 1))]
    one, other = pair.T
    beside = np.stack([paired[group[one], group[other]], paired[group[other], group[one]]], axis=1)
    fits = (beside > 0.0).all(axis=1) & runs[one] & runs[other]
    return pair, beside * fits[:, None, :]


def program(
    classes: Classes,
    units: Units,
    workers: Longs,
    level: Level,
    *,
    start: float = 0.0,
    ceiling: float = np.inf,
) -> WeightedProgram:
    """Raise a level: the time of the units gives each class of n jobs the service that the level
    asks of it, at most n of time, and takes no more workers than there are.

    The rows are :func:`rows_of` service, time and types.
    """
    n, k = classes.count.astype(np.float64), len(classes.count)
    row = np.column_stack([2 * units.classes, 2 * units.classes + 1, 2 * k + units.kind])
    entry = np.column_stack([-units.service, units.member, units.taken])
    starts = np.arange(0, row.size + 1, row.shape[1])
    shape = (2 * k + len(workers), len(row))
    return WeightedProgram(
        matrix=sp.csc_array((entry.ravel(), row.ravel(), starts), shape=shape),
        level=level,
        right=rows_of(np.where(classes.runs, 0.0, n), n, workers),
        columns=units.weight,
        rows=rows_of(n, n, np.ones(len(workers))),
        start=start,
        ceiling=ceiling,
    )


def rows_of(service: Floats, hours: Floats, workers: Floats | Longs) -> Floats:
    """What the rows have: both of each class in turn, then those of the types."""
    return np.concatenate([np.column_stack([service, hours]).ravel(), workers])


def most(classes: Classes, units: Units, workers: Longs, dual: Floats) -> float:
    """What no times better: Σ_k l_k s_k for the service s_k of a class and its price l_k.

    It is at most the worth of the workers and of each job's time, where no unit brings more than it
    costs. What a unit brings too much is added to the worth of its jobs' time, in equal parts.
    """
    k = len(classes.count)
    pulls, hours, prices = dual[: 2 * k : 2], dual[1 : 2 * k : 2], dual[2 * k :]
    brings = (pulls[units.classes] * units.service - hours[units.classes] * units.member).sum(
        axis=1
    )
    left = np.maximum(brings - prices[units.kind] * units.taken, 0.0) / units.member.sum(axis=1)
    more = np.zeros(k)
    np.maximum.at(more, units.classes, left[:, None])
    return float(prices @ workers + (hours + more) @ classes.count)


def within(x: Floats, classes: Classes, units: Units, workers: Longs) -> Floats:
    """Times that keep to all rows, where x is a rounding away."""
    over = np.maximum(1.0, units.hours(x) / classes.count)
    x = x / over[units.classes].max(axis=1)
    taken = np.bincount(units.kind, units.taken * x, len(workers))
    return np.asarray(x / np.maximum(1.0, taken / workers)[units.kind])


def shares(
    x: Floats, classes: Classes, units: Units, workers: Longs
) -> tuple[Floats, Longs, Floats]:
    """(N, T) shares of jobs alone, (P, 2) pairs and (P, T) their shares, of times of the units."""
    share = np.zeros((units.owners, len(workers)))
    runs = units.service.any(axis=1)
    share[units.owner[runs], units.kind[runs]] = (x / units.weight)[runs]
    able = np.flatnonzero(classes.group[classes.of] >= 0)
    of = classes.of[able]
    owner = np.triu(units.together[np.ix_(of, of)], 1)
    place = np.argwhere(owner)
    return share[classes.of], able[place], share[owner[tuple(place.T)]]
