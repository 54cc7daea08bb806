"""The objectives of cluster scheduling, each stated directly as arrays.

All of them choose shares of time x_ij >= 0 of job j on resource type i, with

    sum_j size_ij x_ij <= capacity_i,    sum_i x_ij <= 1,

and act through the job's throughput y_j = sum_i throughput_ij x_ij.

Common arguments:
    throughput: (resources, jobs) work per second; NumPy, labelled DataFrame or SciPy sparse;
        0 or absent = cannot run.
    size: (jobs,) GPUs that a job occupies while it runs, > 0; (resources, jobs) where they differ
        by type, such as 3 GPUs of one type or 30 of another.
    capacity: (resources,) GPUs of each type, > 0.
    weight: (jobs,) priorities, > 0; 1 when None.
    allowed: (resources, jobs) mask of permitted pairs; all when None.
    options: Quotas, churn and labels by name, see :class:`Options`.

Every function raises :class:`~walras.errors.InputError` on data that cannot be used, naming the
array, the index and the remedy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

import numpy as np

from walras import checks
from walras.domains.cluster_scheduling import rows
from walras.domains.cluster_scheduling.case import Case, Options
from walras.domains.cluster_scheduling.cluster import Cluster
from walras.domains.cluster_scheduling.many_jobs import many_jobs
from walras.domains.cluster_scheduling.matrices import Matrix, Sizes, Vector
from walras.errors import InputError
from walras.separable import Leximin, Separable, Utility

_WORDS = {0.0: "total throughput", 1.0: "proportional fairness"}
_DECADES = 200  # largest exponent of ten of a utility's slope, either way


def max_min(
    throughput: Matrix,
    size: Sizes,
    capacity: Vector,
    weight: Vector | None = None,
    allowed: Matrix | None = None,
    **options: Unpack[Options],
) -> Separable:
    """Maximise the least weighted throughput, ``min_j y_j / weight_j``.

    A job of weight 2 is entitled to twice the throughput. Throughputs of unlike jobs compare only
    after :func:`~walras.domains.cluster_scheduling.normalise`. Source: Narayanan et al., OSDI 2020
    (section 4.1); Xu et al., OSDI 2025 (section 5.1).

    Args:
        throughput: (resources, jobs) work per second; array, labelled frame or SciPy sparse; 0
            where a job cannot run.
        size: (jobs,) GPUs that a job occupies while it runs, or (resources, jobs), > 0.
        capacity: (resources,) GPUs of each type, > 0.
        weight: (jobs,) priorities, > 0; 1 if None.
        allowed: (resources, jobs) mask of permitted pairs; all if None.
        **options: ``quota``, ``floor``, ``pairs``, ``previous`` and ``churn``, ``resource_names``,
            ``demand_names``.

    Returns:
        The problem, for :func:`walras.solve`.

    Raises:
        InputError: The data cannot be used; names the array, the index and the remedy.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> speed, size, gpus = [[3.0, 1.0, 2.0], [1.0, 1.0, 1.0]], [1, 1, 2], [1, 2]
        >>> speed = cs.normalise(speed, size, gpus)
        >>> s = wl.solve(cs.max_min(speed, size, gpus))
        >>> round(s.value, 3)
        1.0
    """

    def state() -> Separable:
        case = Case.of(throughput, size, capacity, weight, allowed, **options)
        return case.raise_the_least("max-min fairness")

    given = throughput, size, capacity, weight, allowed, options
    return many_jobs(*given, np.inf, state, "max-min fairness") or state()


def leximin(
    throughput: Matrix,
    size: Sizes,
    capacity: Vector,
    weight: Vector | None = None,
    allowed: Matrix | None = None,
    *,
    levels: int = 10,
    **options: Unpack[Options],
) -> Leximin:
    """Solve max-min, then the same for the jobs that can still rise, at most ``levels`` times.

    Each level freezes the jobs at its bound and raises the rest (water filling). With ``churn`` the
    first level maximises the least throughput minus the cost of churn, as :func:`max_min` does;
    this is the reported value. Later levels keep it: they raise other jobs without taking
    throughput from a frozen job and without more churn than in the first level. If several pairs of
    least throughput and churn have the same value, they keep the pair of the first level. Source:
    Narayanan et al., OSDI 2020 (section 4.3); Ogryczak and Sliwinski, 2006.

    Args:
        throughput: (resources, jobs) work per second; array, labelled frame or SciPy sparse; 0
            where a job cannot run.
        size: (jobs,) GPUs that a job occupies while it runs, or (resources, jobs), > 0.
        capacity: (resources,) GPUs of each type, > 0.
        weight: (jobs,) priorities, > 0; 1 if None.
        allowed: (resources, jobs) mask of permitted pairs; all if None.
        levels: Largest number of levels.
        **options: ``quota``, ``floor``, ``pairs``, ``previous`` and ``churn``, ``resource_names``,
            ``demand_names``.

    Returns:
        The levels, for :func:`walras.solve`.

    Raises:
        InputError: The data cannot be used; names the array, the index and the remedy.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> speed, size, gpus = [[3.0, 1.0, 2.0], [1.0, 1.0, 1.0]], [1, 1, 2], [1, 2]
        >>> speed = cs.normalise(speed, size, gpus)
        >>> s = wl.solve(cs.leximin(speed, size, gpus))
        >>> round(s.value, 3)
        1.0
    """
    problem = max_min(throughput, size, capacity, weight, allowed, **options)
    return Leximin(replace(problem, objective="leximin"), "throughput", levels)


def min_makespan(
    throughput: Matrix,
    size: Sizes,
    capacity: Vector,
    steps: Vector,
    allowed: Matrix | None = None,
    *,
    weight: Vector | None = None,
    whole: bool = False,
    **options: Unpack[Options],
) -> Separable:
    """Minimise the time at which the last job finishes, if the allocation is kept.

    It maximises the rate ``1 / makespan = min_j y_j / steps_j``. So the objective's value is a
    rate, and the makespan in seconds is one over it. Source: Narayanan et al., OSDI 2020 (section
    4.2).

    Args:
        throughput: (resources, jobs) work per second; array, labelled frame or SciPy sparse; 0
            where a job cannot run.
        size: (jobs,) GPUs that a job occupies while it runs, or (resources, jobs), > 0.
        capacity: (resources,) GPUs of each type, > 0.
        steps: (jobs,) work left of each job, > 0, in the unit of ``throughput`` times seconds.
        allowed: (resources, jobs) mask of permitted pairs; all if None.
        weight: (jobs,) priorities, > 0; a job of weight 2 should finish in half the time of others.
        whole: Whether every job runs on one type all the time. If not all jobs fit, the problem is
            infeasible.
        **options: ``quota``, ``floor``, ``pairs``, ``previous`` and ``churn``, ``resource_names``,
            ``demand_names``.

    Returns:
        The problem, for :func:`walras.solve`.

    Raises:
        InputError: The data cannot be used; names the array, the index and the remedy.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> speed, size, gpus = [[3.0, 1.0, 2.0], [1.0, 1.0, 1.0]], [1, 1, 2], [1, 2]
        >>> s = wl.solve(cs.min_makespan(speed, size, gpus, steps=[60, 30, 40]))
        >>> round(1 / s.value, 2)  # seconds
        37.5
    """
    if steps is None:
        raise InputError(
            "is None",
            where="steps",
            allowed="(jobs,) work left of each job, > 0",
            remedy="give every job the work it has left, or use max_min",
        )
    if weight is not None:
        late = Case.of(throughput, size, capacity, weight, allowed, **options).cluster.weight
    try:
        case = Case.of(throughput, size, capacity, steps, allowed, whole=whole, **options)
    except InputError as error:
        if not error.where.startswith(("weight", "labels of weight")):
            raise
        where = error.where.replace("weight", "steps", 1)
        raise InputError(
            error.what,
            where=where,
            allowed=error.allowed,
            remedy="give every job the work it has left; leave finished jobs out",
        ) from error
    if weight is not None:
        case = replace(case, cluster=replace(case.cluster, weight=late * case.cluster.weight))
    problem = case.raise_the_least("makespan (as the rate 1/makespan)")
    return _whole(problem) if whole else problem


def _whole(problem: Separable) -> Separable:
    """Put every job on one type all the time: ``sum_i x_ij = 1`` in integer shares."""
    shares = (problem.resource >= 0) & (problem.demand >= 0)
    time = next(family for family in problem.rows.families if family.name == "time")
    lower = problem.rows.lower.copy()
    lower[time.start : time.stop] = 1.0
    return replace(problem, integer=shares, rows=replace(problem.rows, lower=lower))


def proportional_fairness(
    throughput: Matrix,
    size: Sizes,
    capacity: Vector,
    weight: Vector | None = None,
    allowed: Matrix | None = None,
    **options: Unpack[Options],
) -> Separable:
    """Maximise ``sum_j weight_j log y_j``, the Nash bargaining solution.

    The gap is stated in nat per job and unit of weight. Source: Kelly, 1997; Xu et al., OSDI 2025
    (section 5.1).

    Args:
        throughput: (resources, jobs) work per second; array, labelled frame or SciPy sparse; 0
            where a job cannot run.
        size: (jobs,) GPUs that a job occupies while it runs, or (resources, jobs), > 0.
        capacity: (resources,) GPUs of each type, > 0.
        weight: (jobs,) priorities, > 0; 1 if None.
        allowed: (resources, jobs) mask of permitted pairs; all if None.
        **options: ``quota``, ``floor``, ``pairs``, ``previous`` and ``churn``, ``resource_names``,
            ``demand_names``.

    Returns:
        The problem, for :func:`walras.solve`.

    Raises:
        InputError: The data cannot be used; names the array, the index and the remedy.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> speed, size, gpus = [[3.0, 1.0, 2.0], [1.0, 1.0, 1.0]], [1, 1, 2], [1, 2]
        >>> s = wl.solve(cs.proportional_fairness(speed, size, gpus))
        >>> round(s.value, 3)
        0.523
    """
    return alpha_fair(throughput, size, capacity, weight, allowed, alpha=1.0, **options)


def alpha_fair(
    throughput: Matrix,
    size: Sizes,
    capacity: Vector,
    weight: Vector | None = None,
    allowed: Matrix | None = None,
    *,
    alpha: float,
    **options: Unpack[Options],
) -> Separable:
    """Maximise ``sum_j weight_j y_j^(1 - alpha) / (1 - alpha)``.

    Alpha 0 is total throughput, 1 proportional fairness (the logarithm), 2 minimal potential delay;
    a large alpha approaches max-min. If nothing else binds, a job's throughput grows as
    ``weight^(1/alpha)``. With alpha of 20 and more, state throughputs in a unit in which they are
    near one: the value of a job must fit double precision. Source: Mo and Walrand, 2000.

    Args:
        throughput: (resources, jobs) work per second; array, labelled frame or SciPy sparse; 0
            where a job cannot run.
        size: (jobs,) GPUs that a job occupies while it runs, or (resources, jobs), > 0.
        capacity: (resources,) GPUs of each type, > 0.
        weight: (jobs,) priorities, > 0; 1 if None.
        allowed: (resources, jobs) mask of permitted pairs; all if None.
        alpha: Aversion to inequality, 0 to 100.
        **options: ``quota``, ``floor``, ``pairs``, ``previous`` and ``churn``, ``resource_names``,
            ``demand_names``.

    Returns:
        The problem, for :func:`walras.solve`.

    Raises:
        InputError: The data cannot be used; names the array, the index and the remedy.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> speed, size, gpus = [[3.0, 1.0, 2.0], [1.0, 1.0, 1.0]], [1, 1, 2], [1, 2]
        >>> s = wl.solve(cs.alpha_fair(speed, size, gpus, alpha=2.0))
        >>> round(s.value, 3)
        -2.659
    """
    remedy = "use max_min or leximin for the limit of large alpha"
    alpha = checks.number(alpha, "alpha", 0.0, 100.0, remedy=remedy)

    def state() -> Separable:
        return _fair(Case.of(throughput, size, capacity, weight, allowed, **options), alpha)

    given = throughput, size, capacity, weight, allowed, options
    return many_jobs(*given, alpha, state, _WORDS.get(alpha, _word(alpha))) or state()


def _word(alpha: float) -> str:
    return f"alpha-fairness, alpha = {alpha:g}"


def _fair(case: Case, alpha: float) -> Separable:
    """Maximise alpha-fair utilities, with the rows that state them."""
    cluster, entries = case.cluster, case.entries
    if alpha == 0:
        gain = entries.throughput * cluster.weight[entries.demand]
        return case.state(_WORDS[0.0], cost=entries.cost - gain)
    if alpha == 1:
        block = rows.utility(cluster, entries, Utility.LOG, 0.0)
        return case.state(
            _WORDS[1.0],
            block,
            gap_scale=float(cluster.weight.sum()),
            gap_unit="nat a job",
        )
    _check_decades(cluster, alpha)
    block = rows.utility(cluster, entries, Utility.POWER, alpha)
    return case.state(_word(alpha), block)


def _check_decades(cluster: Cluster, alpha: float) -> None:
    """Refuse alpha if the slowest job's slope ``y^-alpha`` at an equal share is out of range."""
    share = min(1.0, float(np.sum(cluster.capacity) / np.sum(cluster.size.min(axis=0))))
    least = share * float(np.min(cluster.best()))
    if alpha * abs(np.log10(least)) > _DECADES:
        raise InputError(
            f"is {alpha:g}, and of about {least:.1g} units of throughput the slope would be "
            f"1e{-alpha * np.log10(least):.0f}",
            where="alpha",
            allowed=f"slopes throughput^-alpha from 1e-{_DECADES} to 1e{_DECADES}",
            remedy="state throughputs in a unit in which they are near one (see normalise), or use "
            "max_min or leximin for the limit of large alpha",
        )


def total_throughput(
    throughput: Matrix,
    size: Sizes,
    capacity: Vector,
    weight: Vector | None = None,
    allowed: Matrix | None = None,
    **options: Unpack[Options],
) -> Separable:
    """Maximise ``sum_j weight_j y_j``; it ignores fairness.

    Args:
        throughput: (resources, jobs) work per second; array, labelled frame or SciPy sparse; 0
            where a job cannot run.
        size: (jobs,) GPUs that a job occupies while it runs, or (resources, jobs), > 0.
        capacity: (resources,) GPUs of each type, > 0.
        weight: (jobs,) priorities, > 0; 1 if None.
        allowed: (resources, jobs) mask of permitted pairs; all if None.
        **options: ``quota``, ``floor``, ``pairs``, ``previous`` and ``churn``, ``resource_names``,
            ``demand_names``.

    Returns:
        The problem, for :func:`walras.solve`.

    Raises:
        InputError: The data cannot be used; names the array, the index and the remedy.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> speed, size, gpus = [[3.0, 1.0, 2.0], [1.0, 1.0, 1.0]], [1, 1, 2], [1, 2]
        >>> s = wl.solve(cs.total_throughput(speed, size, gpus))
        >>> round(s.value, 3)
        4.5
    """
    return alpha_fair(throughput, size, capacity, weight, allowed, alpha=0.0, **options)
