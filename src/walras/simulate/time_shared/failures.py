"""Failures of workers and jobs: how often, how long, and what they undo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtrc

from walras import checks
from walras.errors import InputError
from walras.simulate.cluster import Cluster
from walras.simulate.time_shared.faults import Faults, Keys, first_faults, next_outage, no_faults
from walras.simulate.trace import Trace
from walras.types import Floats, Longs

REPAIR = 3600.0  # of types that are left out, seconds
MOST_TRIES = 1e6  # mean number of tries until a job gets on
_MOST_WORKERS = 10_000_000
_MOST_OUTAGES = 1e7  # until the last job comes
_WORKERS, _JOBS = 19, 23  # apart from other streams of a seed


@dataclass(frozen=True)
class Failures:
    """Workers that fail and return, and jobs that fail by themselves, after exponential times.

    Attributes:
        between: Mean seconds from a worker's return to its next failure: one number, or type ->
            number, without an end for types that are left out. None: no worker fails.
        repair: Mean seconds until a worker returns: one number, or type -> number.
        checkpoint: Seconds that a job runs from one checkpoint to the next. A failure undoes what
            was done since the last one; a job that a round stops or moves keeps all. So does, where
            shares are realised exactly, a job that has not all its time on one type. 0: a failure
            undoes nothing; infinite: there are no checkpoints.
        job: Mean seconds of running after which a job fails by itself. None: none does.
        max_attempts: Runs of a job that may fail by themselves; after the last it has failed for
            good. Failures of workers do not count.

    Raises:
        InputError: A number is out of range.

    Example:
        >>> import walras as wl
        >>> trace = wl.simulate.Trace.of(["a"], steps=[90_000])
        >>> failures = wl.simulate.Failures(between=36_000, repair=3600, checkpoint=1800)
        >>> cluster, fifo = wl.simulate.Cluster({"type 0": 1}), wl.policies.fifo()
        >>> run = wl.simulate.run(trace, cluster, fifo, failures=failures)
        >>> run.frame().loc["a", ["stopped", "lost"]].tolist()
        [4.0, 2610.0]
    """

    between: float | Mapping[str, float] | None = None
    repair: float | Mapping[str, float] = REPAIR
    checkpoint: float = 0.0
    job: float | None = None
    max_attempts: int = 3

    def __post_init__(self) -> None:
        for name in ("between", "repair"):
            given = getattr(self, name)
            where = f"Failures.{name}"
            if isinstance(given, Mapping):
                for kind, value in given.items():
                    checks.number(value, f"{where}[{kind!r}]", above=0.0)
            elif given is not None or name == "repair":
                checks.number(given, where, above=0.0)
        if self.checkpoint != np.inf:
            checks.number(self.checkpoint, "Failures.checkpoint", 0.0)
        if self.job is not None:
            checks.number(self.job, "Failures.job", above=0.0)
        checks.whole(self.max_attempts, "Failures.max_attempts", 1)


def faults_of(given: Failures, trace: Trace, cluster: Cluster, alone: Floats, seed: int) -> Faults:
    """The faults before the first round.

    Args:
        given: How often what fails.
        trace: The jobs.
        cluster: The workers.
        alone: (N, T) seconds of each job on each type; infinite where it cannot run.
        seed: Of the failures.

    Raises:
        InputError: A type is unknown, a job would hardly ever get on, or workers would fail too
            often until the last job comes.
    """
    workers, n = cluster.workers, len(trace)
    between = _by_type(given.between, np.inf, "between", cluster)
    repair = _by_type(given.repair, REPAIR, "repair", cluster)
    total = checks.whole(workers.sum(), "workers of a cluster that fail", 1, _MOST_WORKERS)
    _check(given, trace, alone, between, repair, workers)
    _check_outages(trace, between, repair, workers)
    streams = [_keys([seed, _WORKERS, t], count) for t, count in enumerate(workers.tolist())]
    faults = no_faults(workers.copy(), n)._replace(
        kind=np.repeat(np.arange(len(workers)), workers),
        key=np.concatenate(streams),
        turn=np.zeros(total, np.int64),
        fails=np.zeros(total),
        returns=np.zeros(total),
        between=between,
        repair=repair,
        checkpoint=np.array([given.checkpoint], np.float64),
        mean=np.array([np.inf if given.job is None else given.job], np.float64),
        most=np.array([given.max_attempts]),
        job=_keys([seed, _JOBS], n),
        life=np.zeros(n),
        until=np.zeros(n),
        since=np.zeros(n),
        unsaved=np.zeros(n),
    )
    first_faults(faults)
    return faults


def _keys(seed: list[int], count: int) -> Keys:
    """(count,) keys of streams."""
    return np.random.SeedSequence(seed).generate_state(count, np.uint64).astype(np.uint64)


def _by_type(
    given: float | Mapping[str, float] | None, lacking: float, name: str, cluster: Cluster
) -> Floats:
    """(T,) mean seconds by type."""
    if not isinstance(given, Mapping):
        return np.full(len(cluster.types), np.inf if given is None else float(given))
    checks.known_keys(given, cluster.types, f"Failures.{name}")
    return np.array([float(given.get(kind, lacking)) for kind in cluster.types])


def _check(
    given: Failures, trace: Trace, alone: Floats, between: Floats, repair: Floats, workers: Longs
) -> None:
    """Refuse a job whose workers are hardly ever up together, or until its next checkpoint: e^x
    runs for a stretch of x times the mean time between their failures.
    """
    size = trace.size[:, None]
    stretch = np.minimum(alone, given.checkpoint) * size / between
    up = 1.0 / (1.0 + repair / between)
    together = bdtrc(np.minimum(size - 1, workers), workers, up)  # the binomial law's upper tail
    for where, rare, what in (
        ("between", together < 1.0 / MOST_TRIES, "workers are hardly ever up together"),
        ("checkpoint", stretch > np.log(MOST_TRIES), "workers hardly ever last to a checkpoint"),
    ):
        stuck = np.flatnonzero((rare | ~np.isfinite(alone)).all(axis=1))
        if len(stuck):
            raise InputError(
                f"lets job {trace.name[stuck[0]]!r} hardly ever get on: its {what}",
                where=f"Failures.{where}",
                allowed=f"one try of {MOST_TRIES:g} that succeeds, at least",
                remedy="take shorter times between checkpoints, or longer ones between failures",
            )


def _check_outages(trace: Trace, between: Floats, repair: Floats, workers: Longs) -> None:
    """Refuse outages that are too many to go through one by one."""
    outages = float((workers * trace.arrival[-1:].sum() / (between + repair)).sum())
    if outages > _MOST_OUTAGES:
        raise InputError(
            f"lets workers fail {outages:.3g} times until the last job comes",
            where="Failures.between",
            allowed=f"at most {_MOST_OUTAGES:g} times",
            remedy="take a longer time between failures, or arrivals from 0 on",
        )


def outages_until(faults: Faults, end: float) -> Floats:
    """(K, 4) outages that begin by ``end``: type, worker of the type, begin and end in seconds.

    Args:
        faults: Those of a run; its streams are drawn again from their begin.
        end: Seconds.
    """
    again = faults._replace(
        turn=np.zeros_like(faults.turn),
        fails=np.zeros_like(faults.fails),
        returns=np.zeros_like(faults.returns),
    )
    first, rows = np.searchsorted(faults.kind, faults.kind), []
    for w, t in enumerate(faults.kind.tolist()):
        next_outage(w, again)
        while again.fails[w] < end:
            rows.append((t, w - first[w], again.fails[w], again.returns[w]))
            again.turn[w] += 1
            next_outage(w, again)
    return np.array(rows, np.float64).reshape(len(rows), 4)
