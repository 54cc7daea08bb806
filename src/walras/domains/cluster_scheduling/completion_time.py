"""The least total completion time: a matching of jobs to places in the queues of workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from walras import checks
from walras.domains.cluster_scheduling import cluster as clusters
from walras.domains.cluster_scheduling import matrices
from walras.domains.cluster_scheduling.matrices import Matrix, Vector
from walras.short_repr import short_repr
from walras.status import Status
from walras.types import Floats, Longs

_EXACT = 1e-9  # relative gap: rounding of the matching alone


@short_repr
@dataclass(frozen=True, eq=False)
class CompletionTimes:
    """Queues of workers of least total completion time, with their proof.

    Attributes:
        value: Seconds in all, summed over the jobs, until each has ended.
        bound: Sum that no schedule is below: ``job_prices`` less the prices of all places.
        completion: (jobs,) seconds until each job has ended.
        schedule: (jobs, 6) one row a job, queue by queue: ``job``, ``resource``, ``worker``,
            ``place`` (from the end of the queue), ``start`` and ``end`` in seconds.
        job_prices: (jobs,) how much the sum falls without the job: its own seconds, and those that
            others wait for it.
        places: (places, 3) ``resource``, ``place``, ``price``: how much the sum falls for one
            more place of this kind, which is so many from the end of a queue.
        prices: (resources,) the sum of the prices of a worker's places. One more worker of a type
            saves no more, and one less costs no less.
        status: ``optimal`` where the gap is rounding.

    Example:
        >>> from walras.domains import cluster_scheduling as cs
        >>> found = cs.min_total_completion_time([[1.0, 1.0, 1.0]], [2], [30, 10, 20])
        >>> found.job_prices, found.status
        (array([40., 20., 30.]), <Status.OPTIMAL: 'optimal'>)
        >>> found.places
          resource  place  price
        0        0      1   10.0
        1        0      2    0.0
    """

    value: float
    bound: float
    completion: Floats
    schedule: pd.DataFrame
    job_prices: Floats
    places: pd.DataFrame
    prices: Floats
    status: Status

    @property
    def gap(self) -> float:
        """``(value - bound) / value``."""
        return (self.value - self.bound) / self.value


def min_total_completion_time(
    throughput: Matrix,
    capacity: Vector,
    steps: Vector,
    allowed: Matrix | None = None,
    *,
    resource_names: Sequence[str] | None = None,
    demand_names: Sequence[str] | None = None,
) -> CompletionTimes:
    """Run each job whole on one worker, so that the sum of all completion times is least.

    A job that is k-th from the end of a queue keeps itself and k - 1 others for its seconds
    ``p = steps / throughput``, so it adds ``k p`` to the sum. A schedule is a matching of jobs to
    (worker, place) pairs. With prices of places ``v >= 0`` and of jobs ``u_j = min_(t, k) (k p_tj +
    v_tk)``, every schedule takes at least ``sum_j u_j - sum_tk workers_t v_tk``. The prices are
    the least that prove the matching. All jobs are here at the start, and all workers are free.
    Source: Horn, Operations Research 1973; Bruno, Coffman and Sethi, CACM 1974; Le et al., EuroSys
    2020 (AlloX).

    Args:
        throughput: (resources, jobs) work per second on a worker of each type; 0 where a job cannot
            run.
        capacity: (resources,) workers of each type, whole numbers > 0. A job takes one.
        steps: (jobs,) work of each job, > 0, in the unit of ``throughput`` times seconds.
        allowed: (resources, jobs) mask of permitted pairs; all if None.
        resource_names: Labels of the resources, when ``throughput`` carries none.
        demand_names: Labels of the jobs, when ``throughput`` carries none.

    Returns:
        The queues with their sum, prices and proof.

    Raises:
        InputError: The data cannot be used; names what, where and the remedy.

    Example:
        >>> import pandas as pd
        >>> from walras.domains import cluster_scheduling as cs
        >>> speed = pd.DataFrame([[2, 2, 1], [1, 1, 1]], index=["v100", "k80"], columns=[*"abc"])
        >>> found = cs.min_total_completion_time(speed, [1, 1], steps=[60, 20, 30])
        >>> found.value, found.bound
        (80.0, 80.0)
        >>> found.schedule
          job resource  worker  place  start   end
        0   b     v100       0      2    0.0  10.0
        1   a     v100       0      1   10.0  40.0
        2   c      k80       0      1    0.0  30.0
    """
    case = clusters.read(
        throughput,
        None,
        capacity,
        allowed=allowed,
        resource_names=resource_names,
        demand_names=demand_names,
    )
    work = matrices.vector(
        steps, "steps", case.demand_names, "demand", case.jobs, "leave out jobs that have ended"
    )
    checks.refuse_first(
        case.capacity % 1.0 != 0.0,
        case.capacity,
        lambda at: f"capacity[{at[0]}] ({case.resource_names[at[0]]})",
        allowed="a whole number of workers",
        remedy="count whole workers; share time with another objective",
    )
    seconds = np.full((case.jobs, case.resources), np.inf)
    with np.errstate(over="ignore"):
        taken = work[case.demand] / case.throughput
    _check_seconds(taken, case)
    seconds[case.demand, case.resource] = taken
    workers = np.minimum(case.capacity, case.jobs).astype(np.int64)
    return _result(match(seconds, workers), workers, case)


def _check_seconds(taken: Floats, case: clusters.Cluster) -> None:
    with np.errstate(over="ignore"):
        endless = ~np.isfinite(taken * float(case.jobs) ** 3 * case.resources)
    checks.refuse_first(
        endless,
        taken,
        lambda at: f"steps[{case.demand[at[0]]}] ({case.demand_names[case.demand[at[0]]]})",
        allowed="seconds whose sum over all places is a number",
        remedy="give steps and throughput in larger units, or 0 where the job cannot run",
    )


@dataclass(frozen=True, eq=False)
class Matching:
    """Jobs at places in queues; jobs that no worker can run are left out.

    Attributes:
        seconds: (jobs, resources) how long each job takes; infinite where it cannot run.
        job: (matched,) the jobs, ascending.
        resource: (matched,) the type that each is on.
        worker: (matched,) the worker of this type.
        place: (matched,) the place from the end of the worker's queue, 1 for the last.
        kinds: (kinds, 2) type and place of all kinds of places that a best matching can use.
    """

    seconds: Floats
    job: Longs
    resource: Longs
    worker: Longs
    place: Longs
    kinds: Longs

    @property
    def value(self) -> float:
        """The sum of completion times."""
        return float((self.seconds[self.job, self.resource] * self.place).sum())

    def queues(self) -> list[Longs]:
        """The matched that are in each queue, the first to run first."""
        order = np.lexsort((-self.place, self.worker, self.resource))
        starts = np.any(np.diff([self.resource[order], self.worker[order]]) != 0, axis=0)
        return np.split(order, np.flatnonzero(starts) + 1) if len(order) else []

    def prices(self, workers: Longs) -> tuple[Floats, Floats]:
        """(matched,) prices of jobs and (kinds,) least prices of places that prove the matching.

        One more place of a kind saves what the best chain of moves into it saves. The chain begins
        at a place that is left and may stay empty: a shortest path, over moves of jobs from the
        kind that they are at (Bellman and Ford).
        """
        kind, place = self.kinds.T
        cost = self.seconds[self.job][:, kind] * place
        number = {(t, k): q for q, (t, k) in enumerate(self.kinds.tolist())}
        at = np.array(
            [number[pair] for pair in zip(self.resource.tolist(), self.place.tolist(), strict=True)]
        )
        move = np.full((len(kind), len(kind)), np.inf)
        np.minimum.at(move, at, cost - cost[np.arange(len(at)), at][:, None])
        full = np.bincount(at, minlength=len(kind)) >= workers[kind]
        saved = np.zeros(len(kind))
        for _ in kind:
            less = np.where(full, np.minimum(saved, np.min(saved[:, None] + move, axis=0)), 0.0)
            if np.array_equal(less, saved):
                break
            saved = less
        return np.min(cost - saved, axis=1), 0.0 - saved


def match(seconds: Floats, workers: Longs) -> Matching:
    """The jobs at the places where the sum of their completion times is least.

    Args:
        seconds: (jobs, resources) how long each job takes; infinite where it cannot run.
        workers: (resources,) workers of each type; 0 is allowed, but not for all.
    """
    kind, worker, place = _places(len(seconds), workers)
    cost = seconds[:, kind] * place
    never = ~np.isfinite(cost)
    cost[never] = 0.0
    cost[never] = (cost.sum() + 1.0) * 2.0  # more than any matching without it
    rows, columns = scipy.optimize.linear_sum_assignment(cost)
    good = ~never[rows, columns]
    job, column = rows[good].astype(np.int64), columns[good]
    kinds = np.unique(np.stack((kind, place), axis=1), axis=0)
    return Matching(seconds, job, kind[column], worker[column], place[column], kinds)


def _places(jobs: int, workers: Longs) -> tuple[Longs, Longs, Longs]:
    """Type, worker and place from the end of each place that a best matching can use.

    Workers of a type are alike, so places nearer to the end fill first: a type with w workers
    needs no more than ⌈jobs / w⌉ places a worker, and no more workers than jobs.
    """
    found = [
        (t, worker, place)
        for t, count in enumerate(np.minimum(workers, jobs).tolist())
        for place in range(1, -(-jobs // count) + 1 if count else 1)
        for worker in range(count)
    ]
    table = np.array(found, np.int64)
    return table[:, 0], table[:, 1], table[:, 2]


def _result(found: Matching, workers: Longs, case: clusters.Cluster) -> CompletionTimes:
    """The queues in the user's names, with the prices that prove them."""
    job_prices, place_prices = found.prices(workers)
    kind, place = found.kinds.T
    value = found.value
    bound = float(job_prices.sum() - workers[kind] @ place_prices)
    taken = found.seconds[found.job, found.resource]
    end = np.zeros(case.jobs)
    queues = found.queues()
    for queue in queues:
        end[queue] = np.cumsum(taken[queue])
    order = np.concatenate(queues)
    types, jobs = np.array(case.resource_names, object), np.array(case.demand_names, object)
    schedule = pd.DataFrame(
        {
            "job": jobs[found.job[order]],
            "resource": types[found.resource[order]],
            "worker": found.worker[order],
            "place": found.place[order],
            "start": (end - taken)[order],
            "end": end[order],
        }
    )
    return CompletionTimes(
        value=value,
        bound=min(bound, value),
        completion=end,
        schedule=schedule,
        job_prices=job_prices,
        places=pd.DataFrame({"resource": types[kind], "place": place, "price": place_prices}),
        prices=np.bincount(kind, place_prices, case.resources).astype(np.float64),
        status=Status.OPTIMAL if value - bound <= _EXACT * value else Status.INACCURATE,
    )
