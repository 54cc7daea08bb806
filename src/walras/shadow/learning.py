"""What a log's past teaches: predictions of the jobs to be replayed, from what is known then."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from walras.errors import DataError
from walras.predict import Training
from walras.predict.by_cluster import Runs, fit_runs
from walras.predict.predictor import Prediction
from walras.rounds import Forecast, Predict
from walras.shadow.counterfactual import Model, Observed
from walras.shadow.jobs import JobLog
from walras.types import Floats, Longs

LEAST_COMPLETED = 10
"""Jobs of the past's later half that must have completed."""

_PRIOR = 2.0  # runs that a kind counts as without any of its own, at the mean


@dataclass(frozen=True, eq=False)
class Known:
    """What runs that have ended tell of kinds of jobs.

    Attributes:
        kinds: (K,) kinds that ran, ascending.
        jobs: Their runs.
        model: What was fitted to these.
        centre: (d,) median of each further feature.
    """

    kinds: Longs
    jobs: Observed
    model: Model
    centre: Floats

    @classmethod
    def of(cls, log: JobLog, which: Longs, kind: Longs) -> Known:
        """What the runs of some jobs tell.

        Args:
            log: The log.
            which: (n,) numbers of the jobs.
            kind: (N,) kind of each job of the log.
        """
        kinds, number = np.unique(kind[which], return_inverse=True)
        jobs = observed(log, which, number.astype(np.int64))
        return cls(kinds, jobs, Model.fit(jobs), _centre(log.features[which]))

    def features(self, log: JobLog, which: Longs, kind: Longs) -> Floats:
        """Numbers known of jobs when they are submitted.

        Args:
            log: The log.
            which: (n,) numbers of jobs.
            kind: (N,) kind of each job of the log.

        Returns:
            (n, 3 + M + d): log time of the kind, its failures, log of the slots, what the kind does
            on each cluster, further features.
        """
        jobs, mean = self.jobs, float(self.jobs.log.mean())
        place = np.minimum(np.searchsorted(self.kinds, kind[which]), len(self.kinds) - 1)
        seen = self.kinds[place] == kind[which]
        runs = np.where(seen[:, None], jobs.runs[place], 0).astype(np.float64)
        total = runs.sum(axis=1)
        level = (self.model.mean - self._apart())[place].mean(axis=1)
        level = mean + np.where(seen, level - mean, 0.0) * total / (total + _PRIOR)
        failed = (jobs.failed & jobs.counts).astype(np.float64)
        fails = np.where(seen, np.bincount(jobs.kind, failed, jobs.kinds)[place], 0.0)
        chance = (fails + _PRIOR * float(failed.mean())) / (total + _PRIOR)
        here = self._apart()[place] * runs / (runs + _PRIOR)
        more = log.features[which]
        more = np.where(np.isfinite(more), more, self.centre)
        size = np.log(log.slots[which])
        return np.column_stack([level, chance, size, here, more])

    def _apart(self) -> Floats:
        """(K, M) what kinds do on clusters beside their own level and the cluster's."""
        mean = self.model.mean
        plain = mean.mean(axis=0)[None, :] + mean.mean(axis=1)[:, None] - mean.mean()
        found: Floats = mean - plain
        return found


def observed(log: JobLog, which: Longs, kind: Longs) -> Observed:
    """Jobs of a log as a model is fitted to them.

    Args:
        log: The log.
        which: (n,) numbers of the jobs.
        kind: (n,) their kinds, from 0.
    """
    seconds, failed = log.seconds[which], ~log.good[which]
    counts, clusters = log.counts[which], len(log.clusters)
    return Observed(kind, log.cluster[which], seconds, failed, counts, clusters)


def learn(log: JobLog, past: Longs, replayed: Longs, kind: Longs, seed: int) -> Prediction:
    """Train on the jobs that had ended at the cut, and predict those to be replayed.

    The earlier half of the past says what kinds do; the later half, of which it tells nothing
    itself, teaches how far to trust that.

    Args:
        log: The log.
        past: (n,) numbers of the jobs that had ended.
        replayed: (k,) numbers of the jobs to predict.
        kind: (N,) kind of each job of the log.
        seed: Seed of the training.

    Returns:
        Times and chances, (M, k) each; what is predicted on a cluster without a past is a prior.

    Raises:
        DataError: Too few jobs have completed.
    """
    order = past[np.argsort(log.end[past], kind="stable")]
    early, late = order[: len(order) // 2], order[len(order) // 2 :]
    features = Known.of(log, early, kind).features(log, late, kind)
    names = tuple(f"f{k}" for k in range(features.shape[1]))
    done = log.good[late]
    if done.sum() < LEAST_COMPLETED:
        raise DataError(
            f"has {done.sum()} completed jobs among the last {len(late)} to learn from",
            where=log.origin,
            allowed=f"at least {LEAST_COMPLETED}: times are learned from jobs that completed",
            remedy="see that the outcomes are read right, or export a time in which jobs completed",
        )
    there = np.unique(log.cluster[late][done])
    usable = np.isin(log.cluster[late], there)
    late, features, done = late[usable], features[usable], done[usable]
    runs = Runs(
        [str(k) for k in range(len(late))],
        tuple(log.clusters[i] for i in there),
        features,
        np.arange(len(late)),
        np.searchsorted(there, log.cluster[late]).astype(np.int64),
        np.where(done, log.seconds[late], np.nan),
        np.where(log.counts[late], done, np.nan),
        np.ones(len(late)),
        names,
    )
    predictor = fit_runs(runs, Training(seed=seed))
    new = Known.of(log, past, kind).features(log, replayed, kind)
    return predictor.predict(pd.DataFrame(new, columns=list(names)), clusters=log.clusters)


def _centre(features: Floats) -> Floats:
    """(d,) median of each feature, 0 where none is known."""
    if not features.size:
        return np.zeros(features.shape[1])
    known = np.isfinite(features).any(axis=0)
    filled = np.where(known, features, 0.0)
    found: Floats = np.nan_to_num(np.nanmedian(filled, axis=0))
    return found


def table(found: Prediction) -> Predict:
    """Predictions made before as the function that a round asks; its one feature is the row.

    Args:
        found: (M, k) predictions.

    Returns:
        A function as :data:`walras.policies.placements.Predict`.
    """
    seconds = np.clip(found.times, 1.0, 1e12)
    low, high = np.clip(found.low, 0.0, 1e12), np.maximum(found.high, 0.0)

    def predict(features: object, names: tuple[str, ...], clusters: tuple[str, ...]) -> Forecast:
        row = np.asarray(features)[:, 0].astype(np.int64)
        return Forecast(
            seconds[:, row],
            found.success[:, row],
            low[:, row],
            high[:, row],
            found.success_low[:, row],
            found.success_high[:, row],
        )

    return predict
