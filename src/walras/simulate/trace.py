"""A trace: which job arrives when, how long it is, and how fast it runs on each type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from walras import checks
from walras.errors import InputError
from walras.rounds.fields import WEIGHTS, count_of, take, take_texts
from walras.simulate.cluster import Cluster
from walras.text import counted, duration
from walras.types import Bools, Floats, Longs

_MOST = 1e300
_LATEST = 1e12  # seconds; there a clock still tells a millisecond
_MOST_SIZE = 2**31


@dataclass(frozen=True, eq=False)
class Trace:
    """N jobs in the order in which they arrive, one entry each in every array.

    Attributes:
        name: (N,) names, distinct.
        kind: (N,) the class of each job, such as a model with its batch size.
        size: (N,) workers that a job occupies while it runs, all of one type.
        steps: (N,) work of a job, in steps, > 0.
        weight: (N,) priority of a job, 1e-100 to 1e100.
        arrival: (N,) seconds, ascending, from 0 to 1e12.
        types: (T,) names of the types of workers.
        speed: (N, T) steps a second of a job that runs alone on a type; 0 where it cannot run.
        source: Where the trace comes from, in words.
        group: (N,) group of a job by its speed beside others; -1, the default, where it shares its
            workers with nobody.
        paired: (G, G, T) steps a second of a job of one group while it shares its workers with a
            job of another one; 0 where the two do not fit.
        deadline: (N,) seconds by which a job is to end, which policies see; infinite, the default,
            for none.

    Raises:
        InputError: A shape or number cannot be used, or arrivals are not in order.

    Example:
        >>> from walras.simulate import Trace
        >>> trace = Trace.of(["a", "b"], arrival=[0, 60], steps=[100, 50], speed=[[1.0], [2.0]])
        >>> trace.seconds()
        array([100.,  25.])
    """

    name: tuple[str, ...]
    kind: tuple[str, ...]
    size: Longs
    steps: Floats
    weight: Floats
    arrival: Floats
    types: tuple[str, ...]
    speed: Floats
    source: str = "given"
    group: Longs = field(default_factory=lambda: np.zeros(0, np.int64))
    paired: Floats = field(default_factory=lambda: np.zeros((0, 0, 0)))
    deadline: Floats = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        n = take_texts(self, "name", None, distinct=True)
        take_texts(self, "kind", n)
        t = take_texts(self, "types", None, distinct=True)
        take(self, "size", np.int64, (n,), 1, _MOST_SIZE)
        take(self, "steps", np.float64, (n,), np.finfo(float).tiny, _MOST)
        take(self, "weight", np.float64, (n,), *WEIGHTS)
        take(self, "arrival", np.float64, (n,), 0.0, _LATEST)
        take(self, "speed", np.float64, (n, t), 0.0, _MOST)
        g = len(self.paired)
        if not g:
            object.__setattr__(self, "paired", np.zeros((0, 0, t)))
        if not len(self.group):
            object.__setattr__(self, "group", np.full(n, -1))
        take(self, "paired", np.float64, (g, g, t), 0.0, _MOST)
        take(self, "group", np.int64, (n,), -1, g - 1)
        if not len(self.deadline):
            object.__setattr__(self, "deadline", np.full(n, np.inf))
        take(self, "deadline", np.float64, (n,), 0.0)
        early = np.flatnonzero(np.diff(self.arrival) < 0)
        if len(early):
            j = int(early[0]) + 1
            raise InputError(
                f"is {self.arrival[j]:g} after {self.arrival[j - 1]:g}",
                where=f"Trace.arrival[{j}]",
                allowed="seconds in ascending order",
                remedy="sort the jobs by their arrival",
            )

    @classmethod
    def of(cls, name: Sequence[str], **given: Any) -> Trace:
        """A trace with defaults for what is not given.

        Args:
            name: (N,) names of the jobs, distinct.
            given: Other fields; ``speed`` is (N, T). Their defaults: one class of the name
                ``job``, size 1, 1 step, weight 1, arrival at 0, types ``type 0``, ``type 1``, ...,
                speed 1 on the one type.

        Returns:
            The trace.

        Raises:
            InputError: A shape or number cannot be used.
        """
        known = [field for field in cls.__dataclass_fields__ if field != "name"]
        n = count_of(name, "Trace.of", known, given)
        speed = np.asarray(given.pop("speed", np.ones((n, 1))))
        if speed.ndim != 2:
            raise InputError(
                f"has {speed.ndim} dimensions",
                where="Trace.speed",
                allowed="2: one row a job, one column a type",
                remedy="give one row a job",
            )
        made: dict[str, Any] = {
            "kind": ("job",) * n,
            "size": np.ones(n, np.int64),
            "steps": np.ones(n),
            "weight": np.ones(n),
            "arrival": np.zeros(n),
            "types": tuple(f"type {k}" for k in range(speed.shape[1])),
        }
        return cls(name=tuple(name), speed=speed, **made | given)

    def __len__(self) -> int:
        return len(self.name)

    @property
    def span(self) -> float:
        """Seconds from the first arrival to the last; 0 without jobs."""
        return float(np.ptp(self.arrival)) if len(self) else 0.0

    def seconds(self, kind: str | None = None) -> Floats:
        """How long each job runs when it has its workers all the time.

        Args:
            kind: The type of the workers; by default each job's fastest.

        Returns:
            (N,) seconds; infinite where a job cannot run on the type.

        Raises:
            InputError: There is no such type.
        """
        if kind is not None and kind not in self.types:
            raise InputError(f"there is no type {kind!r}", where="kind", allowed=str(self.types))
        speed = self.speed.max(axis=1) if kind is None else self.speed[:, self.types.index(kind)]
        with np.errstate(divide="ignore"):
            return np.asarray(self.steps / speed)

    def on(self, cluster: Cluster) -> Floats:
        """The speeds on the types of a cluster.

        Args:
            cluster: The cluster.

        Returns:
            (N, T) steps a second, in the order of the cluster's types; 0 where a job cannot run
            there or needs more workers than there are.

        Raises:
            InputError: The trace knows no speeds on a type, or a job can run nowhere.
        """
        speed = self._speed_on(cluster)
        stuck = np.flatnonzero(speed.max(axis=1) <= 0.0)
        if len(stuck):
            j = int(stuck[0])
            more = f" and {len(stuck) - 1} more jobs" if len(stuck) > 1 else ""
            raise InputError(
                f"job {self.name[j]!r} of {self.size[j]} workers{more} can run on no type",
                where="trace",
                allowed=f"jobs that fit in {cluster}",
                remedy="take a larger cluster, or leave the job out",
            )
        return speed

    def fits(self, cluster: Cluster) -> Bools:
        """Which jobs can run on a cluster.

        Args:
            cluster: The cluster.

        Returns:
            (N,) truths: a job has a speed on a type that has as many workers as it needs.

        Raises:
            InputError: The trace knows no speeds on a type of the cluster.
        """
        return np.asarray(self._speed_on(cluster).max(axis=1) > 0.0)

    def only(self, chosen: Bools | Longs) -> Trace:
        """The trace of some of its jobs.

        Args:
            chosen: (N,) truths, or ascending positions.

        Returns:
            The trace, with the same types and source.
        """
        rows = np.arange(len(self))[chosen]
        fields: dict[str, Any] = {
            name: tuple(getattr(self, name)[j] for j in rows) for name in ("name", "kind")
        }
        for name in ("size", "steps", "weight", "arrival", "speed", "group", "deadline"):
            fields[name] = getattr(self, name)[rows]
        return replace(self, **fields)

    def _speed_on(self, cluster: Cluster) -> Floats:
        """(N, T) speeds on a cluster's types; 0 where a job needs more workers than there are."""
        checks.of_kind(cluster, Cluster, "cluster", remedy='write Cluster({"v100": 4})')
        unknown = [name for name in cluster.types if name not in self.types]
        if unknown:
            raise InputError(
                f"has type {unknown[0]!r}, on which the trace knows no speeds",
                where="cluster",
                allowed=", ".join(self.types),
                remedy="leave out the type, or give its speeds",
            )
        speed = self.speed[:, self._places(cluster)].copy()
        speed[self.size[:, None] > cluster.workers[None, :]] = 0.0
        return speed

    def paired_on(self, cluster: Cluster) -> Floats:
        """The speeds of jobs beside others on the types of a cluster.

        Args:
            cluster: The cluster; the trace knows speeds on its types.

        Returns:
            (G, G, T) steps a second, in the order of the cluster's types.
        """
        return self.paired[:, :, self._places(cluster)]

    def _places(self, cluster: Cluster) -> list[int]:
        return [self.types.index(name) for name in cluster.types]

    def frame(self) -> pd.DataFrame:
        """One row a job: name, kind, size, steps, weight, arrival, deadline where there are some,
        and the speeds by type.
        """
        columns = {name: getattr(self, name) for name in ("kind", "size", "steps", "weight")}
        speeds = {f"speed {t}": self.speed[:, k] for k, t in enumerate(self.types)}
        columns["arrival"] = self.arrival
        if np.isfinite(self.deadline).any():
            columns["deadline"] = np.where(np.isfinite(self.deadline), self.deadline, np.nan)
        return pd.DataFrame(columns | speeds, index=pd.Index(self.name, name="job"))

    def __repr__(self) -> str:
        return f"Trace({counted(len(self), 'job')} over {duration(self.span)}, {self.source})"
