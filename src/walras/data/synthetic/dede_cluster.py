"""A synthetic stand-in for DeDe's cluster throughputs: a model fitted to them.

On one worker, the job j that runs on worker type i makes

    log(steps/s) = job_j + type_i + noise,   job ~ N(job_mean, job_sd²), noise ~ N(0, noise_sd²),

and each doubling of the workers adds N(doubling_mean, doubling_sd²). A job runs on a number of
types drawn from the observed frequencies, on types drawn uniformly. ``FITTED`` holds the
estimates, as printed by ``walras data fit dede_cluster`` on the measured set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.data.dede_cluster import NAME, SHAPE, ClusterThroughputs, assemble
from walras.types import Floats


@dataclass(frozen=True)
class Model:
    """The parameters of the stand-in.

    Attributes:
        workers: Number of workers of each type.
        type_speed: Mean log speed of each type, relative to the mean over types.
        job_mean: Mean log speed of a job.
        job_sd: Its standard deviation between jobs.
        noise_sd: Standard deviation of what type and job leave unexplained.
        doubling_mean: Mean log gain of each doubling of the workers.
        doubling_sd: Its standard deviation.
        types_a_job: Frequency of jobs that run on 0, 1, ..., m types.
    """

    workers: tuple[int, ...]
    type_speed: tuple[float, ...]
    job_mean: float
    job_sd: float
    noise_sd: float
    doubling_mean: tuple[float, ...]
    doubling_sd: tuple[float, ...]
    types_a_job: tuple[float, ...]


FITTED = Model(
    workers=(8, 24, 32, 8, 64, 64, 56, 8, 40, 48),
    type_speed=(1.6628, 0.421, 0.0689, -0.025, -0.0307, -0.028, -0.3124, -0.5842, -0.5882, -0.5842),
    job_mean=0.749,
    job_sd=2.8663,
    noise_sd=0.1627,
    doubling_mean=(0.6824, 0.6721, 0.6495, 0.6005, 0.4776),
    doubling_sd=(0.1866, 0.1892, 0.195, 0.2085, 0.2464),
    types_a_job=(
        0.0607,
        0.0174,
        0.0224,
        0.0421,
        0.0719,
        0.0962,
        0.0746,
        0.0406,
        0.0182,
        0.005,
        0.551,
    ),
)


def stand_in(seed: int, model: Model | None = None) -> ClusterThroughputs:
    """Draw synthetic throughputs with the shape of the measured ones.

    Args:
        seed: Of the random numbers.
        model: Parameters; those fitted to the measured set when left out.
    """
    model = FITTED if model is None else model
    random = np.random.default_rng(seed)
    m, n, k = SHAPE
    log_rate = np.zeros(SHAPE)
    log_rate[:, :, 0] = (
        random.normal(model.job_mean, model.job_sd, n)
        + np.array(model.type_speed)[:, None]
        + random.normal(0.0, model.noise_sd, (m, n))
    )
    gain = random.normal(model.doubling_mean, model.doubling_sd, (m, n, k - 1))
    log_rate[:, :, 1:] = log_rate[:, :, :1] + np.cumsum(gain, axis=2)
    frequency = np.array(model.types_a_job)
    count = random.choice(m + 1, size=n, p=frequency / frequency.sum())
    rank = random.permuted(np.tile(np.arange(m)[:, None], (1, n)), axis=0)
    runs = rank < count
    throughput = np.where(runs[:, :, None], np.exp(log_rate), 0.0)
    origin = f"{NAME} model fitted to the set, seed {seed}"
    return assemble(throughput, np.array(model.workers), "synthetic stand-in", origin)


def fit(data: ClusterThroughputs) -> Model:
    """Estimate the parameters; job and type speeds from the jobs that run on every type."""
    runs = data.throughput > 0.0
    log_rate = np.log(np.where(runs, data.throughput, 1.0))
    everywhere = log_rate[:, runs[:, :, 0].all(axis=0), 0]
    job = everywhere.mean(axis=0)
    type_speed = (everywhere - job).mean(axis=1)
    gains = [
        (log_rate[:, :, k + 1] - log_rate[:, :, k])[runs[:, :, k] & runs[:, :, k + 1]]
        for k in range(SHAPE[2] - 1)
    ]
    types_a_job = np.bincount(runs[:, :, 0].sum(axis=0), minlength=SHAPE[0] + 1)
    return Model(
        workers=tuple(data.workers.tolist()),
        type_speed=_rounded(type_speed),
        job_mean=round(float(job.mean()), 4),
        job_sd=round(float(job.std()), 4),
        noise_sd=round(float((everywhere - job - type_speed[:, None]).std()), 4),
        doubling_mean=_rounded(np.array([gain.mean() for gain in gains])),
        doubling_sd=_rounded(np.array([gain.std() for gain in gains])),
        types_a_job=_rounded(types_a_job / types_a_job.sum()),
    )


def _rounded(values: Floats) -> tuple[float, ...]:
    return tuple(values.round(4).tolist())
