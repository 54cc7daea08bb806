"""A synthetic stand-in for the job outcomes of seven clusters: shares are logistic-normal.

A cluster's share of failed jobs is 1 / (1 + exp(-z)), z ~ N(mean, sd²); of the rest a share of the
same form was cancelled; the number of jobs and the GPU-hours a job are lognormal. ``FITTED`` holds
the moments printed by ``walras data fit cluster_reliability`` on the measured set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from walras.data.cluster_reliability import CLUSTERS, NAME, ClusterReliability
from walras.types import Floats

Moments = tuple[float, float]
"""Mean and standard deviation."""


@dataclass(frozen=True)
class Model:
    """The parameters of the stand-in.

    Attributes:
        fail: Moments of logit(share failed).
        cancel: Moments of logit(share cancelled of those not failed).
        log_jobs: Moments of log(number of jobs).
        log_hours: Moments of log(GPU-hours a job).
    """

    fail: Moments
    cancel: Moments
    log_jobs: Moments
    log_hours: Moments


FITTED = Model(
    fail=(-1.1461, 0.644),
    cancel=(-1.4536, 0.6036),
    log_jobs=(12.2577, 1.2701),
    log_hours=(2.8801, 0.7901),
)


def stand_in(seed: int, model: Model | None = None) -> ClusterReliability:
    """Draw synthetic outcomes of seven clusters.

    Args:
        seed: Of the random numbers.
        model: Parameters; those fitted to the measured set when left out.
    """
    model = FITTED if model is None else model
    random = np.random.default_rng(seed)
    names = [name for found in CLUSTERS.values() for name in found]
    fail = _logistic(random.normal(*model.fail, len(names)))
    cancel = (1 - fail) * _logistic(random.normal(*model.cancel, len(names)))
    jobs = np.exp(random.normal(*model.log_jobs, len(names))).round()
    hours = np.exp(random.normal(*model.log_hours, len(names)))
    complete = 1 - fail - cancel
    table = pd.DataFrame(
        {
            "source": "synthetic",
            "gpu_jobs": jobs.astype(np.int64),
            "complete_rate": complete,
            "cancel_rate": cancel,
            "fail_rate": fail,
            "gpu_hours": jobs * hours,
            "success_given_not_cancelled": complete / (complete + fail),
            "hazard_per_gpu_hour": fail / hours,
            "mean_gpu_hours_per_job": hours,
        },
        index=pd.Index(names, name="cluster"),
    )
    origin = f"{NAME} model fitted to the set, seed {seed}"
    return ClusterReliability(table, "synthetic stand-in", origin)


def fit(data: ClusterReliability) -> Model:
    """Estimate the model's moments."""
    table = data.clusters
    fail = table["fail_rate"].to_numpy(dtype=np.float64)
    cancel = table["cancel_rate"].to_numpy(dtype=np.float64) / (1 - fail)
    return Model(
        fail=_moments(np.log(fail / (1 - fail))),
        cancel=_moments(np.log(cancel / (1 - cancel))),
        log_jobs=_moments(np.log(table["gpu_jobs"].to_numpy(dtype=np.float64))),
        log_hours=_moments(np.log(table["mean_gpu_hours_per_job"].to_numpy(dtype=np.float64))),
    )


def _moments(values: Floats) -> Moments:
    return round(float(values.mean()), 4), round(float(values.std(ddof=1)), 4)


def _logistic(z: Floats) -> Floats:
    return 1.0 / (1.0 + np.exp(-z))
