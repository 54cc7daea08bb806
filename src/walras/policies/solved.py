"""Policies that state a problem of each round and solve it, from the last solution or anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

import numpy as np

from walras import checks
from walras.domains import cluster_scheduling
from walras.engines.base import Engine
from walras.errors import InputError
from walras.rounds import JobsSnapshot, Shares
from walras.rounds.pairs import Pairs
from walras.select.registry import AUTO, engine_of
from walras.separable import Leximin, Separable
from walras.simulate.time_shared import Policy
from walras.solution import Solution
from walras.solving import solve
from walras.types import Floats, Longs

_FARTHEST = 1e8  # between weights; at 1e9 HiGHS leaves out coefficients, and the least job starves
NO_PAIRS = Pairs(np.zeros((0, 2), np.int64), np.zeros((0, 2, 0)))


class Labels(TypedDict):
    """Names of types and jobs, by which a start is matched."""

    resource_names: tuple[str, ...]
    demand_names: tuple[str, ...]


def labels(snapshot: JobsSnapshot) -> Labels:
    """The names of a snapshot as arguments of a domain's objective."""
    return {"resource_names": snapshot.types, "demand_names": snapshot.name}


def speeds(snapshot: JobsSnapshot) -> Floats:
    """(T, N) speed of each job on each type, 0 where it cannot run."""
    return np.asarray(np.where(snapshot.fits, snapshot.speed, 0.0).T)


def relative_service(snapshot: JobsSnapshot, *, by_speed: bool) -> Floats:
    """(N, T) workers times speed, by the job's mean speed over all workers; 1 for speed if blind.

    Source: Narayanan et al., OSDI 2020, section 4.1.

    Raises:
        InputError: A job runs on no type of worker.
    """
    needs_types(snapshot)
    if not by_speed:
        return np.asarray(snapshot.fits * snapshot.size[:, None].astype(np.float64))
    return np.asarray(speeds(snapshot).T * (snapshot.size / mean_speed(snapshot))[:, None])


def needs_types(snapshot: JobsSnapshot) -> None:
    """Refuse a job that cannot run.

    Raises:
        InputError: A job runs on no type of worker.
    """
    runs = snapshot.fits.any(axis=1)
    if not runs.all():
        job = int(np.argmin(runs))
        raise InputError(
            "runs on no type of worker that is up",
            where=f"job {job} ({snapshot.name[job]})",
            allowed="at least one type with a positive speed and enough workers",
            remedy="remove the job, or add a type that it runs on",
        )


def needs_near_weights(snapshot: JobsSnapshot) -> None:
    """Refuse weights too far apart for a linear program: its shares would be below its tolerance.

    Raises:
        InputError: A weight is more than 1e8 times another.
    """
    if not len(snapshot):
        return
    low, high = int(np.argmin(snapshot.weight)), int(np.argmax(snapshot.weight))
    if snapshot.weight[high] > _FARTHEST * snapshot.weight[low]:
        raise InputError(
            f"is {snapshot.weight[high]:g}, that of job {low} ({snapshot.name[low]}) "
            f"{snapshot.weight[low]:g}",
            where=f"weight of job {high} ({snapshot.name[high]})",
            allowed=f"at most {_FARTHEST:g} times the least of a round",
            remedy="bring the weights nearer, or take walras.policies.las without an engine",
        )


def mean_speed(snapshot: JobsSnapshot) -> Floats:
    """(N,) steps a second of each job on a mean worker."""
    return np.asarray(snapshot.speed @ snapshot.workers / snapshot.workers.sum())


class Sharing(TypedDict, total=False):
    """Pairs of jobs that may share workers."""

    pairs: cluster_scheduling.Pairs


def checked_engine(asked: str | Engine) -> None:
    """Refuse what :func:`walras.solve` knows as no engine, before there is a problem.

    Raises:
        InputError: There is no such engine.
    """
    if asked != AUTO:
        engine_of(asked)


def pairs_of(snapshot: JobsSnapshot, *, sharing: bool, unit: Floats | None = None) -> Sharing:
    """The pairs of a snapshot as an argument of a domain's objective; none without sharing.

    Args:
        snapshot: The round.
        sharing: Whether there are any.
        unit: (N,) steps a second of a job that count as one; ones if None.
    """
    jobs, speed = snapshot.pairs if sharing else NO_PAIRS
    if not len(jobs):
        return {}
    if unit is not None:
        speed = speed / unit[jobs][:, :, None]
    one, other = ([snapshot.name[j] for j in side] for side in jobs.T)
    return {"pairs": cluster_scheduling.Pairs(one, other, speed)}


def shares_of(
    snapshot: JobsSnapshot, found: Solution, *, sharing: bool
) -> tuple[Floats, Longs, Floats]:
    """(N, T) shares of jobs alone, (P, 2) pairs and (P, T) their shares, of a solution."""
    if not sharing:
        return found.x.T, NO_PAIRS.jobs, np.zeros((0, len(snapshot.types)))
    fits = snapshot.pairs.fits
    time = np.zeros(fits.shape)
    time[fits] = found.entries[found.problem.demand < 0]
    return found.x.T, snapshot.pairs.jobs, time


def solved(
    name: str,
    state: Callable[[JobsSnapshot], Separable | Leximin],
    *,
    engine: str | Engine | Callable[[JobsSnapshot], Engine],
    warm: bool,
    tolerance: float,
    blind: bool = False,
    value: Callable[[float, JobsSnapshot], float] = lambda value, _: value,
    sharing: bool = False,
) -> Policy:
    """The policy that solves ``state(snapshot)`` and decides its allocation.

    Args:
        name: Of the policy; ``__name__`` of what is returned may be set to another.
        state: The problem of a round.
        engine: Of :func:`walras.solve`, or a function that makes one for a round.
        warm: Whether a solve starts from the solution of the last decision, matched by the names of
            jobs and types. It is used only where ``snapshot.last`` is that decision, so that a
            policy that is used again begins anew.
        tolerance: Certified relative gap at which a solve stops.
        blind: Whether the policy knows no speeds.
        value: From the problem's value, and the round, to the policy's.
        sharing: Whether the problem has the pairs of the snapshot, in order.

    Raises:
        InputError: There is no such engine, the tolerance is out of range, or ``warm`` or
            ``sharing`` is not True or False.
    """
    if not callable(engine):
        checked_engine(engine)
    checks.flag(warm, "warm")
    checks.flag(sharing, "sharing")
    tolerance = checks.number(tolerance, "tolerance", 0.0, 1.0)
    kept: list[tuple[Shares, Solution]] = []

    def decide(snapshot: JobsSnapshot) -> Shares:
        if not len(snapshot):
            return snapshot.shares(
                np.zeros(snapshot.speed.shape), policy=decide.__name__, blind=blind
            )
        chosen = engine(snapshot) if callable(engine) else engine
        found = solve(
            state(snapshot), engine=chosen, tolerance=tolerance, start=_start(snapshot, kept)
        )
        time, pair, pair_time = shares_of(snapshot, found, sharing=sharing)
        shares = snapshot.shares(
            time,
            pair=pair,
            pair_time=pair_time,
            policy=decide.__name__,
            blind=blind,
            value=value(found.value, snapshot),
            bound=value(found.bound, snapshot),
        )
        if warm:
            kept[:] = [(shares, found)]
        return shares

    decide.__name__ = name
    return decide


def _start(snapshot: JobsSnapshot, kept: list[tuple[Shares, Solution]]) -> Solution | None:
    """The solution of the last decision, where the same jobs are there in part."""
    if not kept or kept[0][0] is not snapshot.last:
        return None
    shares, found = kept[0]
    return None if shares.place_of.keys().isdisjoint(snapshot.name) else found
