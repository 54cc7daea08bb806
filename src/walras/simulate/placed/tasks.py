"""Tasks for clusters with slots: when they come, what they need, and what becomes of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from walras import checks
from walras.errors import InputError
from walras.rounds import FeatureSet, Forecast
from walras.rounds.fields import LARGEST, count_of, take, take_labels, take_texts
from walras.rounds.forecast import LEAST_SECONDS, MOST_SECONDS, Features
from walras.rounds.parts import Labels
from walras.simulate.trace import Trace
from walras.text import counted, duration
from walras.types import Floats, Longs

ROW = "row"
"""The one feature of tasks without features: their number, by which tables are looked up."""

_MOST_ROWS = 2**24  # whole numbers up to it are exact in the features' float32
_MOST_ATTEMPTS = 100


@dataclass(frozen=True, eq=False)
class TaskTrace:
    """N tasks in the order in which they arrive; times on M clusters, true and predicted ones.

    A policy sees what is predicted; what happens follows the truth. A run of a task on a cluster
    takes its true time there and succeeds with its true chance; one that fails ends at a share of
    the time that is drawn evenly.

    Attributes:
        name: (N,) names, distinct.
        kind: (N,) the class of each task.
        tenant: (N,) who it is of.
        size: (N,) slots that it takes, on one cluster.
        arrival: (N,) seconds, ascending, >= 0.
        priority: (N,) higher goes first.
        deadline: (N,) time by which it must be placed; infinite for none.
        min_success: (N,) least chance of success it accepts.
        max_attempts: (N,) runs that may fail.
        requirements: Sets of labels; tasks name them by number.
        requires: (N,) which of them.
        clusters: (M,) names of the clusters.
        seconds: (N, M) true time; infinite where it cannot run.
        chance: (N, M) true chance of success of a run.
        predicted_seconds: (N, M) predicted time.
        predicted_chance: (N, M) predicted chance.
        features: What predictors know of the tasks, a row each; their number if None.
        source: Where the tasks come from, in words.

    Raises:
        InputError: A shape or number cannot be used, or arrivals are not in order.

    Example:
        >>> from walras.simulate import TaskTrace
        >>> tasks = TaskTrace.of(["a", "b"], arrival=[0, 60], seconds=[[100, 50], [40, 80]])
        >>> tasks.clusters, tasks.predicted_seconds.tolist()
        (('cluster 0', 'cluster 1'), [[100.0, 50.0], [40.0, 80.0]])
    """

    name: tuple[str, ...]
    kind: tuple[str, ...]
    tenant: tuple[str, ...]
    size: Longs
    arrival: Floats
    priority: Longs
    deadline: Floats
    min_success: Floats
    max_attempts: Longs
    requirements: tuple[Labels, ...]
    requires: Longs
    clusters: tuple[str, ...]
    seconds: Floats
    chance: Floats
    predicted_seconds: Floats
    predicted_chance: Floats
    features: FeatureSet | None = None
    source: str = "given"

    def __post_init__(self) -> None:
        n = take_texts(self, "name", None, distinct=True)
        take_texts(self, "kind", n)
        take_texts(self, "tenant", n)
        m = take_texts(self, "clusters", None, distinct=True)
        r = take_labels(self, "requirements", None)
        take(self, "size", np.int64, (n,), 1, 2**20)
        take(self, "priority", np.int64, (n,), -LARGEST, LARGEST)
        take(self, "max_attempts", np.int64, (n,), 1, _MOST_ATTEMPTS)
        take(self, "requires", np.int64, (n,), 0, max(r - 1, 0))
        take(self, "arrival", np.float64, (n,), 0.0, MOST_SECONDS)
        take(self, "deadline", np.float64, (n,), 0.0)
        take(self, "min_success", np.float64, (n,), 0.0, 1.0)
        take(self, "seconds", np.float64, (n, m), LEAST_SECONDS)
        take(self, "predicted_seconds", np.float64, (n, m), LEAST_SECONDS)
        take(self, "chance", np.float64, (n, m), 0.0, 1.0)
        take(self, "predicted_chance", np.float64, (n, m), 0.0, 1.0)
        self._check_order()
        self._check_features(n)

    def _check_order(self) -> None:
        early = np.flatnonzero(np.diff(self.arrival) < 0)
        if len(early):
            j = int(early[0]) + 1
            raise InputError(
                f"is {self.arrival[j]:g} after {self.arrival[j - 1]:g}",
                where=f"TaskTrace.arrival[{j}]",
                allowed="seconds in ascending order",
                remedy="sort the tasks by their arrival",
            )

    def _check_features(self, n: int) -> None:
        if self.features is not None and len(self.features.values) != n:
            raise InputError(
                f"has {len(self.features.values)} rows",
                where="TaskTrace.features",
                allowed=f"{n}: one a task",
            )
        if n > _MOST_ROWS:
            raise InputError(f"has {n} tasks", where="TaskTrace", allowed=f"{_MOST_ROWS} at most")

    @classmethod
    def of(cls, name: Sequence[str], **given: Any) -> TaskTrace:
        """Tasks with defaults for what is not given.

        Args:
            name: (N,) names of the tasks, distinct.
            given: Other fields. Their defaults: one class ``task`` and one tenant ``all``; one
                slot, arrival at 0, priority 0, no deadline, no least success, 3 attempts, no
                labels; clusters ``cluster 0``, ..., a minute on one of them; sure success; what is
                predicted is the truth.

        Returns:
            The tasks.

        Raises:
            InputError: A shape or number cannot be used.
        """
        known = [field for field in cls.__dataclass_fields__ if field != "name"]
        n = count_of(name, "TaskTrace.of", known, given)
        seconds = np.asarray(given.pop("seconds", np.full((n, 1), 60.0)))
        if seconds.ndim != 2:
            raise InputError(
                f"has {seconds.ndim} dimensions",
                where="TaskTrace.seconds",
                allowed="2: one row a task, one column a cluster",
                remedy="give one row a task",
            )
        chance = np.asarray(given.pop("chance", np.ones(seconds.shape)))
        made: dict[str, Any] = {
            "kind": ("task",) * n,
            "tenant": ("all",) * n,
            "size": np.ones(n, np.int64),
            "arrival": np.zeros(n),
            "priority": np.zeros(n, np.int64),
            "deadline": np.full(n, np.inf),
            "min_success": np.zeros(n),
            "max_attempts": np.full(n, 3),
            "requirements": ({},),
            "requires": np.zeros(n, np.int64),
            "clusters": tuple(f"cluster {i}" for i in range(seconds.shape[1])),
            "predicted_seconds": seconds,
            "predicted_chance": chance,
        }
        return cls(name=tuple(name), seconds=seconds, chance=chance, **made | given)

    @classmethod
    def from_trace(cls, trace: Trace) -> TaskTrace:
        """The jobs of a trace as tasks: types are clusters, and a worker is a slot.

        Args:
            trace: The jobs; each runs alone, for its steps by its speed on the cluster.

        Returns:
            The tasks, of one tenant; all succeed, and their times are known.
        """
        with np.errstate(divide="ignore"):
            seconds = np.maximum(trace.steps[:, None] / trace.speed, LEAST_SECONDS)
        return cls.of(
            trace.name,
            kind=trace.kind,
            size=trace.size,
            arrival=trace.arrival,
            clusters=trace.types,
            seconds=seconds,
            source=trace.source,
        )

    def to_trace(self) -> Trace:
        """The tasks as jobs of one step each, at their true speeds; labels, attempts and deadlines
        are left out. What no policy can beat on it, none can beat on the tasks.
        """
        with np.errstate(divide="ignore"):
            speed = 1.0 / self.seconds
        return Trace.of(
            self.name,
            kind=self.kind,
            size=self.size,
            arrival=self.arrival,
            types=self.clusters,
            speed=speed,
            source=self.source,
        )

    def __len__(self) -> int:
        return len(self.name)

    def with_truth(self, seconds: float = 0.0, chance: float = 0.0, *, seed: int = 0) -> TaskTrace:
        """The tasks with a truth drawn around what is predicted, so that predictions err.

        Args:
            seconds: Standard deviation of the logarithm of true by predicted time.
            chance: Standard deviation of the log-odds of success around those predicted.
            seed: Of the draws.

        Returns:
            The tasks; what is predicted is the same.

        Raises:
            InputError: A number is out of range.

        Example:
            >>> from walras.simulate import TaskTrace
            >>> tasks = TaskTrace.of(["a"], seconds=[[100.0]]).with_truth(0.5, seed=1)
            >>> tasks.predicted_seconds.item(), round(tasks.seconds.item(), 1)
            (100.0, ...)
        """
        spread = checks.number(seconds, "seconds", 0.0, 10.0)
        odds = checks.number(chance, "chance", 0.0, 10.0)
        rng = np.random.default_rng([checks.whole(seed, "seed"), 17])
        shape = self.predicted_seconds.shape
        factor, noise = (
            np.exp(spread * rng.standard_normal(shape)),
            odds * rng.standard_normal(shape),
        )
        with np.errstate(divide="ignore"):
            logit = np.log(self.predicted_chance) - np.log1p(-self.predicted_chance)
        drawn = np.maximum(self.predicted_seconds * factor, LEAST_SECONDS)
        return replace(
            self,
            seconds=np.where(np.isfinite(self.seconds), drawn, np.inf),
            chance=1.0 / (1.0 + np.exp(-(logit + noise))),
        )

    def predict(
        self, features: Features, names: tuple[str, ...], clusters: tuple[str, ...]
    ) -> Forecast:
        """What is predicted, as :data:`walras.rounds.Predict`; intervals promise nothing.

        Args:
            features: (n, 1) numbers of tasks.
            names: ``("row",)``.
            clusters: Names of clusters.

        Returns:
            Times and chances.

        Raises:
            InputError: The tasks have features of their own, or a cluster is unknown.
        """
        if names != (ROW,):
            raise InputError(
                f"is asked for features {', '.join(names) or 'of no names'}",
                where="TaskTrace.predict",
                allowed="tasks without features of their own",
                remedy="predict from the features: walras.policies.placements.predicting",
            )
        rows = features[:, 0].astype(np.int64)
        columns = np.array([self.clusters.index(c) for c in self._known(clusters)], np.int64)
        seconds = np.minimum(self.predicted_seconds[np.ix_(rows, columns)].T, MOST_SECONDS)
        chance = self.predicted_chance[np.ix_(rows, columns)].T
        zeros, ones = np.zeros(seconds.shape), np.ones(seconds.shape)
        return Forecast(seconds, chance, zeros, np.full(seconds.shape, np.inf), zeros, ones)

    def _known(self, clusters: Sequence[str]) -> Sequence[str]:
        unknown = [name for name in clusters if name not in self.clusters]
        if unknown:
            raise InputError(
                f"has {unknown[0]!r}, on which the tasks have no times",
                where="clusters",
                allowed=", ".join(self.clusters),
                remedy="leave it out, or give its times",
            )
        return clusters

    def on(self, clusters: Sequence[str]) -> TaskTrace:
        """The tasks with the clusters named, in their order.

        Args:
            clusters: Names.

        Returns:
            The tasks.

        Raises:
            InputError: A cluster is unknown.
        """
        columns = [self.clusters.index(name) for name in self._known(clusters)]
        tables = ("seconds", "chance", "predicted_seconds", "predicted_chance")
        made: dict[str, Any] = {name: getattr(self, name)[:, columns] for name in tables}
        return replace(self, clusters=tuple(clusters), **made)

    def frame(self) -> pd.DataFrame:
        """One row a task: class, tenant, size, arrival, priority, deadline and times."""
        names = ("kind", "tenant", "size", "arrival", "priority", "deadline", "min_success")
        columns = {name: getattr(self, name) for name in names}
        times = {f"seconds {c}": self.seconds[:, i] for i, c in enumerate(self.clusters)}
        return pd.DataFrame(columns | times, index=pd.Index(self.name, name="task"))

    def __repr__(self) -> str:
        span = float(np.ptp(self.arrival)) if len(self) else 0.0
        return f"TaskTrace({counted(len(self), 'task')} over {duration(span)}, {self.source})"
