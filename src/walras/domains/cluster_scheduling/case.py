"""The checked data of an objective, and the problem that it states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict, Unpack

import numpy as np

from walras import checks
from walras.domains.cluster_scheduling import cluster as clusters
from walras.domains.cluster_scheduling import entries as columns
from walras.domains.cluster_scheduling import matrices, rows
from walras.domains.cluster_scheduling import quota as quotas
from walras.domains.cluster_scheduling.cluster import Cluster
from walras.domains.cluster_scheduling.entries import Entries
from walras.domains.cluster_scheduling.matrices import Matrix, Sizes, Vector
from walras.domains.cluster_scheduling.quota import Quota
from walras.domains.cluster_scheduling.sharing import Pairs, fastest, with_pairs
from walras.errors import InputError
from walras.separable import Separable
from walras.types import Floats


class Options(TypedDict, total=False):
    """Arguments that every objective takes by name.

    Attributes:
        quota: Limits on the GPUs that groups of jobs hold together.
        previous: (resources, jobs) shares of the round before.
        churn: Price of a GPU given or taken against ``previous``, in units of the objective.
        floor: (jobs,) throughput that each job has at least, >= 0, such as the work left over the
            time to its deadline.
        pairs: Pairs of jobs that may share devices; without quota, churn and whole jobs.
        resource_names: Labels of the resources, when ``throughput`` carries none.
        demand_names: Labels of the jobs, when ``throughput`` carries none.
    """

    quota: Quota | None
    previous: Matrix | None
    churn: float
    floor: Vector | None
    pairs: Pairs | None
    resource_names: Sequence[str] | None
    demand_names: Sequence[str] | None


@dataclass(frozen=True, eq=False)
class Case:
    """The checked data of one cluster.

    Attributes:
        cluster: The pairs that can run.
        entries: One entry for each pair, or two with churn.
        quota: Limits on groups of jobs, or None.
        floor: (jobs,) least throughputs, or None.
        pairs: Pairs that share devices, or None.
    """

    cluster: Cluster
    entries: Entries
    quota: Quota | None
    floor: Floats | None
    pairs: Pairs | None

    @classmethod
    def of(
        cls,
        throughput: Matrix,
        size: Sizes,
        capacity: Vector,
        weight: Vector | None,
        allowed: Matrix | None,
        *,
        whole: bool = False,
        **options: Unpack[Options],
    ) -> Case:
        """Check the data of an objective; ``whole`` where shares must be 0 or 1."""
        _check_names(options)
        cluster = clusters.read(
            throughput,
            size,
            capacity,
            weight,
            allowed,
            resource_names=options.get("resource_names"),
            demand_names=options.get("demand_names"),
        )
        previous, churn = options.get("previous"), options.get("churn", 0.0)
        if previous is not None:
            entries = columns.with_churn(cluster, previous, churn, whole=whole)
        elif not churn:
            entries = columns.of_cluster(cluster)
        else:
            raise InputError(
                "a churn penalty needs the previous allocation",
                where="churn",
                allowed="0",
                remedy="pass previous=, the shares of the round before",
            )
        pairs = options.get("pairs")
        if pairs is not None:
            _refuse_with_pairs(options, whole=whole)
        floor = _floor(options.get("floor"), cluster)
        return cls(cluster, entries, options.get("quota"), floor, pairs)

    def best(self) -> Floats:
        """(jobs,) throughput of each job on its best type, alone or in a pair."""
        alone = self.cluster.best()
        return alone if self.pairs is None else np.maximum(alone, fastest(self.cluster, self.pairs))

    def raise_the_least(self, objective: str) -> Separable:
        """Maximise a scalar t with ``t <= y_j / weight_j`` for every job.

        No job exceeds its best type all the time:
            ``0 <= t <= min_j max_i throughput_ij / weight_j``.
        A price on this ceiling belongs to the time row of the job that sets it. Where jobs share,
        time rows are coupled and keep their own prices: the ceiling is raised out of the way.
        """
        weight = self.cluster.weight
        block = rows.shortfall(self.cluster, self.entries, weight)
        most = float(np.min(self.best() / weight))
        return self.state(objective, block, ceiling=most if self.pairs is None else 2.0 * most)

    def raise_from(self, base: Floats, pace: Floats) -> Separable:
        """Maximise a scalar t with ``base_j + pace_j t <= y_j``, where no job rises past its best.

        Args:
            base: (jobs,) throughput that each job keeps.
            pace: (jobs,) how fast each job rises with t, >= 0, and > 0 for one at least.
        """
        block = rows.rise(self.cluster, self.entries, base, pace)
        rises = pace > 0.0
        room = (self.best() - base)[rises] / pace[rises]
        return self.state("water filling", block, ceiling=max(float(np.min(room)), 0.0))

    def state(
        self,
        objective: str,
        *blocks: rows.Block,
        cost: Floats | None = None,
        ceiling: float | None = None,
        gap_scale: float | None = None,
        gap_unit: str = "of the value",
    ) -> Separable:
        """The problem with the rows of capacity, time and quotas beside ``blocks``."""
        cluster, entries = self.cluster, self.entries
        groups = (
            []
            if self.quota is None
            else rows.quotas(cluster, entries, quotas.resolve(self.quota, cluster.demand_names))
        )
        floors = [] if self.floor is None else [rows.floor(cluster, entries, self.floor)]
        own = [rows.capacity(cluster, entries), rows.time(cluster, entries)]
        every = [*own, *blocks, *floors, *groups]
        count = len(entries.throughput)
        zeros = columns.constant(0.0, count)
        scalars = 0 if ceiling is None else 1
        stated = Separable(
            resource=entries.resource,
            demand=entries.demand,
            cost=entries.cost if cost is None else cost,
            quadratic=zeros,
            lower=zeros,
            upper=entries.upper,
            scalar_cost=np.full(scalars, -1.0),
            scalar_lower=np.zeros(scalars),
            scalar_upper=np.full(scalars, ceiling or 0.0),
            rows=rows.assemble(every, count),
            resource_names=cluster.resource_names,
            demand_names=cluster.demand_names,
            scalar_names=("least throughput",) * scalars,
            maximize=True,
            constant=entries.constant,
            objective=objective,
            gap_scale=gap_scale,
            gap_unit=gap_unit,
        )
        return stated if self.pairs is None else with_pairs(stated, cluster, self.pairs)


def _refuse_with_pairs(options: Options, *, whole: bool) -> None:
    """Refuse what says nothing of pairs that share.

    Raises:
        InputError: A quota, churn or whole jobs are asked for, too.
    """
    others = [name for name in ("quota", "previous", "churn") if options.get(name) is not None]
    if others or whole:
        raise InputError(
            f"are given beside {others[0] if others else 'whole'}",
            where="pairs",
            allowed="floor, weight, allowed and labels",
            remedy="leave one of the two out",
        )


def _floor(given: Vector | None, cluster: Cluster) -> Floats | None:
    """Least throughputs, checked; None where none is asked for."""
    if given is None:
        return None
    names = cluster.demand_names
    remedy = "give every job the throughput that it was promised, 0 where none was"
    found = matrices.vector(given, "floor", names, "demand", len(names), remedy, zero=True)
    return found if np.any(found > 0.0) else None


def refuse_churn(options: Options) -> None:
    """Refuse a price of moves where the objective is a ratio.

    Raises:
        InputError: ``previous`` or ``churn`` is given.
    """
    for name in ("previous", "churn"):
        if name in options:
            raise InputError(
                "is given, but a ratio has no price of GPUs",
                where=name,
                allowed="quota, floor, pairs, resource_names and demand_names",
                remedy="leave it out, or use an objective whose unit it can have, such as max_min",
            )


def _check_names(options: Mapping[str, object]) -> None:
    for name in options:
        checks.one_of(name, "cluster_scheduling", Options.__annotations__, "argument")
