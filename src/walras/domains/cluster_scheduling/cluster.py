"""A cluster-scheduling instance as checked arrays: runnable pairs, speeds and capacities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse as sp

from walras import checks
from walras.domains.cluster_scheduling import matrices
from walras.domains.cluster_scheduling.matrices import Matrix, Names, Sizes, Vector
from walras.errors import InputError
from walras.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Cluster:
    """Jobs and resource types; runnable pairs are listed job by job.

    Attributes:
        throughput: (pairs,) speed of the job on the resource, > 0.
        resource: (pairs,) resource of each pair, ascending within a job.
        demand: (pairs,) job of each pair, ascending.
        pointer: (jobs + 1,) pairs of job j are ``pointer[j]:pointer[j + 1]``.
        size: (resources, jobs) GPUs that a job occupies while it runs on a type; a view where
            they are the same on every type.
        capacity: (resources,) GPUs of each type.
        weight: (jobs,) priority of each job.
        resource_names: (resources,) labels.
        demand_names: (jobs,) labels.
    """

    throughput: Floats
    resource: Ints
    demand: Ints
    pointer: np.ndarray[tuple[int], np.dtype[np.int64]]
    size: Floats
    capacity: Floats
    weight: Floats
    resource_names: tuple[str, ...]
    demand_names: tuple[str, ...]

    @property
    def pairs(self) -> int:
        """Number of (resource, job) pairs that can run."""
        return len(self.throughput)

    @property
    def jobs(self) -> int:
        """Number of jobs."""
        return len(self.weight)

    @property
    def resources(self) -> int:
        """Number of resource types."""
        return len(self.capacity)

    def best(self) -> Floats:
        """(jobs,) speed of each job on its best type."""
        return np.asarray(np.maximum.reduceat(self.throughput, self.pointer[:-1]))

    def dense(self) -> Floats:
        """(resources, jobs) speeds, 0 where a job cannot run."""
        out = np.zeros((self.resources, self.jobs))
        out[self.resource, self.demand] = self.throughput
        return out


def read(
    throughput: Matrix,
    size: Sizes | None,
    capacity: Vector,
    weight: Vector | None = None,
    allowed: Matrix | None = None,
    *,
    resource_names: Sequence[str] | None = None,
    demand_names: Sequence[str] | None = None,
) -> Cluster:
    """Check an instance and list the pairs that can run, job by job.

    Args:
        throughput: (resources, jobs) work per second of each job on each type: NumPy, a labelled
            DataFrame, or SciPy sparse (absent = cannot run). 0 = cannot run.
        size: (jobs,) GPUs that a job occupies while it runs, > 0; (resources, jobs) where they
            differ by type; all 1 when None.
        capacity: (resources,) GPUs of each type, > 0.
        weight: (jobs,) priorities, > 0; all 1 when None.
        allowed: (resources, jobs) mask of permitted pairs; all when None.
        resource_names: Labels; the frame's index, or numbers, when None.
        demand_names: Labels; the frame's columns, or numbers, when None.

    Raises:
        InputError: Bad shape, label or number, a job that no type can run, or an empty problem.
    """
    names = _names(throughput, size, capacity, resource_names, demand_names)
    speeds = _speeds(throughput, names)
    m, n = speeds.shape
    _check_counts(m, n, names)
    sizes = matrices.sizes(np.ones(n) if size is None else size, (m, n), names)
    capacities = matrices.vector(
        capacity,
        "capacity",
        names.resources,
        "resource",
        m,
        "remove a resource without capacity from throughput and capacity",
    )
    weights = (
        np.ones(n)
        if weight is None
        else matrices.vector(
            weight, "weight", names.demands, "demand", n, "give every job a positive priority"
        )
    )
    mask = None if allowed is None else matrices.boolean(allowed, (m, n), names)
    values, resource, counts = _pairs(speeds, mask)
    _check_runnable(counts, names)
    return Cluster(
        throughput=values,
        resource=resource,
        demand=np.repeat(np.arange(n, dtype=np.int32), counts),
        pointer=np.concatenate(([0], np.cumsum(counts, dtype=np.int64))),
        size=sizes,
        capacity=capacities,
        weight=weights,
        resource_names=names.resources or tuple(map(str, range(m))),
        demand_names=names.demands or tuple(map(str, range(n))),
    )


def _names(
    throughput: Matrix,
    size: Sizes | None,
    capacity: Vector,
    resource_names: Sequence[str] | None,
    demand_names: Sequence[str] | None,
) -> Names:
    """Labels by the first source that has them: argument, throughput, then capacity and size."""
    frame = throughput if isinstance(throughput, pd.DataFrame) else None
    resources = (
        resource_names
        if resource_names is not None
        else frame.index
        if frame is not None
        else capacity.index
        if isinstance(capacity, pd.Series)
        else None
    )
    demands = (
        demand_names
        if demand_names is not None
        else frame.columns
        if frame is not None
        else size.index
        if isinstance(size, pd.Series)
        else size.columns
        if isinstance(size, pd.DataFrame)
        else None
    )
    return Names(
        matrices.labels(resources, "resource names"), matrices.labels(demands, "demand names")
    )


def _speeds(throughput: Matrix, names: Names) -> Floats | sp.csc_array:
    remedy = "use 0 where a job cannot run"
    if isinstance(throughput, matrices.SPARSE):
        sparse = matrices.compressed(throughput, "throughput")

        def where_stored(at: tuple[int, ...]) -> str:
            column = int(np.searchsorted(sparse.indptr, at[0], side="right")) - 1
            row = int(sparse.indices[at[0]])
            return f"throughput[{names.resource(row)}, {names.demand(column)}]"

        checks.within(sparse.data, where_stored, 0.0, remedy=remedy)
        return sparse
    dense = checks.numeric(throughput, "throughput")
    if dense.ndim != 2:
        raise InputError(
            f"has {dense.ndim} dimensions",
            where="throughput",
            allowed="2: (resources, demands)",
            remedy="give one row a resource type and one column a job",
        )

    def where(at: tuple[int, ...]) -> str:
        return f"throughput[{names.resource(at[0])}, {names.demand(at[1])}]"

    return checks.within(dense, where, 0.0, remedy=remedy)


def _check_counts(m: int, n: int, names: Names) -> None:
    if m == 0 or n == 0:
        raise InputError(
            f"the problem is empty: {m} resources and {n} jobs",
            where="throughput",
            allowed="at least one resource and one job",
            remedy="add a resource type and a job",
        )
    for side, own, count in (("resource", names.resources, m), ("demand", names.demands, n)):
        if own is not None:
            remedy = "give throughput as (resources, demands)"
            checks.distinct(own, f"{side}_names", count=count, remedy=remedy)


def _pairs(
    speeds: Floats | sp.csc_array, mask: Bools | sp.csc_array | None
) -> tuple[Floats, Ints, Ints]:
    """Speeds and resources of the runnable pairs, job by job, and their number for each job."""
    if isinstance(speeds, np.ndarray):
        runs = speeds.T > 0 if mask is None else (speeds.T > 0) & _dense(mask).T
        counts = np.count_nonzero(runs, axis=1).astype(np.int32)
        types = np.arange(speeds.shape[0], dtype=np.int32)
        if int(counts.sum()) == speeds.size:
            return np.ascontiguousarray(speeds.T).ravel(), np.tile(types, speeds.shape[1]), counts
        return speeds.T[runs], np.broadcast_to(types, runs.shape)[runs], counts
    column = np.repeat(np.arange(speeds.shape[1]), np.diff(speeds.indptr))
    runs = speeds.data > 0
    if isinstance(mask, np.ndarray):
        runs &= mask[speeds.indices, column]
    elif mask is not None:
        runs &= _listed(speeds, mask)
    counts = np.bincount(column[runs], minlength=speeds.shape[1]).astype(np.int32)
    return speeds.data[runs], speeds.indices[runs].astype(np.int32), counts


def _dense(mask: Bools | sp.csc_array) -> Bools:
    return mask if isinstance(mask, np.ndarray) else mask.toarray() != 0


def _listed(speeds: sp.csc_array, mask: sp.csc_array) -> Bools:
    """Whether each stored pair of ``speeds`` is a stored True of ``mask``."""
    mask.eliminate_zeros()
    keys = [
        np.repeat(np.arange(a.shape[1], dtype=np.int64), np.diff(a.indptr)) * a.shape[0] + a.indices
        for a in (speeds, mask)
    ]
    return np.isin(keys[0], keys[1])


def _check_runnable(counts: Ints, names: Names) -> None:
    if np.all(counts > 0):
        return
    j = int(np.argmin(counts))
    raise InputError(
        "no resource type can run this job",
        where=f"throughput[:, {names.demand(j)}]",
        allowed="at least one positive throughput on an allowed type",
        remedy="remove the job, or allow it a type on which its throughput is positive",
    )
