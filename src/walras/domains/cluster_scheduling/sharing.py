"""Two jobs on one device: every objective with pairs of jobs that share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from walras import checks
from walras.domains.cluster_scheduling.cluster import Cluster
from walras.errors import InputError
from walras.separable import Rows, Separable, Side
from walras.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of jobs that can share the devices of a type, and their speeds while they do.

    Both jobs of a pair occupy the same devices at the same time, so that they ask for as many.

    Attributes:
        first: (pairs,) one job of each pair, by label; labels are positions where there are none.
        second: (pairs,) the other.
        throughput: (pairs, 2, resources) work per second of both on each type while they share; 0
            for both where they do not fit.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> pairs = cs.Pairs([0], [1], [[[0.8], [0.7]]])
        >>> s = wl.solve(cs.max_min([[1.0, 1.0]], [1, 1], [1], pairs=pairs))
        >>> round(s.value, 3)  # half a device alone would give 0.5
        0.727
    """

    first: Sequence[int | str]
    second: Sequence[int | str]
    throughput: npt.ArrayLike

    def __repr__(self) -> str:
        return f"Pairs({len(self.first)} pairs)"


def fastest(cluster: Cluster, pairs: Pairs) -> Floats:
    """(jobs,) speed of each job in its best pair; 0 where it is in none.

    Args:
        cluster: The pairs of jobs and types that can run.
        pairs: The pairs of jobs.

    Raises:
        InputError: A pair names no two jobs of the same size, or a speed is no number >= 0.
    """
    columns, most = _Columns.of(cluster, pairs), np.zeros(cluster.jobs)
    np.maximum.at(most, columns.one, columns.speed)
    np.maximum.at(most, columns.other, columns.other_speed)
    return most


def with_pairs(problem: Separable, cluster: Cluster, pairs: Pairs) -> Separable:
    """Add pairs that share devices to a problem whose entries are the cluster's pairs in order.

    A pair (j, k) has a share of the time of type i, ``x_i,jk``. It occupies the devices of one
    job, takes time of both, and brings the throughputs of both,

        y_j = sum_i T_ij x_ij + sum_ik T_ijk x_i,jk.

    So its column is a sum of two jobs' columns, but for the capacity, which counts once. Rows of
    jobs that may share belong to no demand alone. Source: Narayanan et al., OSDI 2020 (section
    3.1, space sharing).

    Args:
        problem: An objective of this domain.
        cluster: The pairs of jobs and types that can run.
        pairs: The pairs of jobs.

    Raises:
        InputError: A pair names no two jobs of the same size, or a speed is no number >= 0.
    """
    columns = _Columns.of(cluster, pairs)
    first = cluster.pointer[:-1]
    each = problem.cost[first] / cluster.throughput[first]  # 0 where throughput has rows
    more, count = len(columns.one), problem.entries
    zeros = np.zeros(more)

    def name(entry: int) -> str:
        if entry < count:
            return problem.entry_name(entry)
        at = entry - count
        jobs = [problem.demand_names[part[at]] for part in (columns.one, columns.other)]
        return f"x[{problem.resource_names[columns.resource[at]]}, {' + '.join(jobs)}]"

    return replace(
        problem,
        resource=np.concatenate([problem.resource, columns.resource]),
        demand=np.concatenate([problem.demand, np.full(more, -1, dtype=np.int32)]),
        cost=np.concatenate([problem.cost, columns.sum(each)]),
        quadratic=np.concatenate([problem.quadratic, zeros]),
        lower=np.concatenate([problem.lower, zeros]),
        upper=np.concatenate([problem.upper, np.full(more, np.inf)]),
        rows=_rows(problem, cluster, columns),
        namer=name,
        objective=f"{problem.objective}, with sharing",
    )


@dataclass(frozen=True, eq=False)
class _Columns:
    """The entries of pairs.

    Attributes:
        resource: (entries,) the type.
        one: (entries,) one job.
        other: (entries,) the other.
        speed: (entries,) speed of the one.
        other_speed: (entries,) speed of the other.
    """

    resource: Ints
    one: Ints
    other: Ints
    speed: Floats
    other_speed: Floats

    @classmethod
    def of(cls, cluster: Cluster, pairs: Pairs) -> _Columns:
        """One entry for each type on which a pair runs."""
        one, other, speed = _read(cluster, pairs)
        pair, resource = np.nonzero(speed.max(axis=1) > 0.0)
        speeds = speed[pair, :, resource]
        return cls(resource.astype(np.int32), one[pair], other[pair], *speeds.T)

    def sum(self, each: Floats) -> Floats:
        """(entries,) the throughputs of both, weighted by (jobs,) numbers."""
        return np.asarray(each[self.one] * self.speed + each[self.other] * self.other_speed)


def _rows(problem: Separable, cluster: Cluster, columns: _Columns) -> Rows:
    """The rows with the columns of pairs; those of jobs that may share are coupled."""
    old, more = problem.rows, len(columns.one)
    entry = np.arange(more)
    used = cluster.size[columns.resource, columns.one]
    parts = [(columns.resource.astype(np.int64), entry, used)]
    side, owner = old.side.copy(), old.owner.copy()
    first, jobs = cluster.pointer[:-1], np.unique([columns.one, columns.other])
    for family in old.families[1:]:  # capacity is the first one; the others have a row for each job
        block = old.matrix[family.start : family.stop, :][:, first].diagonal()
        each = block if family.name == "time" else block / cluster.throughput[first]
        for job, speed in ((columns.one, columns.speed), (columns.other, columns.other_speed)):
            value = each[job] if family.name == "time" else each[job] * speed
            parts.append((family.start + job.astype(np.int64), entry, value))
        side[family.start + jobs], owner[family.start + jobs] = Side.COUPLED, -1
    row, column, value = (np.concatenate(part) for part in zip(*parts, strict=True))
    added = sp.csc_array((value, (row, column)), shape=(old.count, more))
    matrix = sp.csc_array(sp.hstack([old.matrix, added], format="csc"))
    matrix.sort_indices()
    return replace(old, matrix=matrix, side=side, owner=owner)


def _read(cluster: Cluster, pairs: object) -> tuple[Ints, Ints, Floats]:
    """Jobs and (pairs, 2, resources) speeds of the pairs, checked."""
    given = checks.of_kind(pairs, Pairs, "pairs", "a Pairs, or None", remedy="write cs.Pairs(...)")
    place = {name: j for j, name in enumerate(cluster.demand_names)}
    sides = [
        _jobs(names, place, f"pairs.{side}")
        for side, names in (("first", given.first), ("second", given.second))
    ]
    one, other = sides
    count, remedy = len(one), "give two jobs and their speeds for every pair"
    checks.shaped(other, (count,), "pairs.second", "as pairs.first", remedy=remedy)
    shape = (count, 2, cluster.resources)
    speed = checks.numeric(given.throughput, "pairs.throughput")
    checks.shaped(speed, shape, "pairs.throughput", "(pairs, 2, resources)", remedy=remedy)
    remedy = "use 0 for both jobs where they do not fit on a device"

    def where(at: tuple[int, ...]) -> str:
        return f"pairs.throughput[{', '.join(map(str, at))}]"

    checks.within(speed, where, 0.0, np.finfo(float).max, remedy=remedy)
    wrong = (one == other) | np.any(cluster.size[:, one] != cluster.size[:, other], axis=0)
    if np.any(wrong):
        k = int(np.argmax(wrong))
        names = [cluster.demand_names[side[k]] for side in sides]
        raise InputError(
            f"is of {names[0]} and {names[1]}",
            where=f"pairs[{k}]",
            allowed="two jobs that occupy as many devices as each other",
            remedy="leave this pair out",
        )
    return one, other, speed


def _jobs(names: Sequence[int | str], place: dict[str, int], where: str) -> Ints:
    found = []
    for k, name in enumerate(names):
        j = place.get(str(name), -1)
        if j < 0:
            raise InputError(
                f"is '{name}'",
                where=f"{where}[{k}]",
                allowed=f"a job, by its label: {checks.few(place)}",
                remedy="use the labels of throughput's columns; positions where it has none",
            )
        found.append(j)
    return np.array(found, dtype=np.int32)


def shares(problem: Separable, x: Floats) -> pd.DataFrame:
    """The shares of time of the pairs in an allocation, those above zero.

    Args:
        problem: An objective that was stated with ``pairs``.
        x: (entries,) the allocation, :attr:`walras.Solution.entries`.

    Returns:
        Columns ``entry`` and ``share``, the largest first.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> pairs = cs.Pairs([0], [1], [[[0.8], [0.7]]])
        >>> s = wl.solve(cs.max_min([[1.0, 1.0]], [1, 1], [1], pairs=pairs))
        >>> cs.shares(s.problem, s.entries).round(3)
                 entry  share
        0  x[0, 0 + 1]  0.909
    """
    paired = np.flatnonzero((problem.demand < 0) & (x > 1e-9))
    order = paired[np.argsort(-x[paired], kind="stable")]
    names = [problem.entry_name(int(q)) for q in order]
    return pd.DataFrame({"entry": names, "share": x[order]})
