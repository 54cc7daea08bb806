"""What jobs would have done elsewhere: exact where there is no noise, unbiased where there is."""

from __future__ import annotations

import numpy as np
import pytest

from walras.shadow.counterfactual import OFTEN, Model, Observed
from walras.types import Floats

K, M, N = 4, 3, 3000


def _world(spread: float, seed: int = 0) -> tuple[Observed, Floats, Floats]:
    """Jobs, what each takes everywhere, and its chance of failure everywhere."""
    rng = np.random.default_rng(seed)
    mean = rng.normal(7.0, 0.5, (K, M))
    chance = rng.uniform(0.05, 0.3, (K, M))
    kind, cluster = rng.integers(0, K, N), rng.integers(0, M, N)
    noise = spread * rng.normal(size=N)[:, None] * np.linspace(0.8, 1.2, M)
    seconds = np.exp(mean[kind] + noise)
    failed = rng.random(N) < chance[kind, cluster]
    own = seconds[np.arange(N), cluster]
    jobs = Observed(kind, cluster, own, failed, np.ones(N, np.bool_), M)
    return jobs, seconds, chance[kind]


def test_without_noise_times_elsewhere_are_exact() -> None:
    jobs, seconds, _ = _world(0.0)
    model = Model.fit(jobs)
    for i in range(M):
        found = model.seconds(jobs, np.arange(N), np.full(N, i))
        assert found == pytest.approx(seconds[:, i], rel=1e-6)


def test_mean_times_and_failures_elsewhere_are_those_of_the_truth() -> None:
    ratio, miss = [], []
    for seed in range(10):
        jobs, seconds, chance = _world(0.5, seed)
        model = Model.fit(jobs)
        every, there = np.arange(N), np.full(N, 1)
        ratio.append(model.seconds(jobs, every, there).mean() / seconds[:, 1].mean())
        miss.append(model.failures(jobs, every, there).mean() - chance[:, 1].mean())
    assert np.mean(ratio) == pytest.approx(1.0, abs=0.01)
    assert np.mean(miss) == pytest.approx(0.0, abs=0.01)


def test_a_job_keeps_its_own_time_and_outcome_where_it_ran() -> None:
    jobs, _, _ = _world(0.5)
    model = Model.fit(jobs)
    assert (model.seconds(jobs, np.arange(N), jobs.cluster) == jobs.seconds).all()
    assert (model.failures(jobs, np.arange(N), jobs.cluster) == jobs.failed).all()


def test_a_kind_that_never_ran_somewhere_has_the_effects_of_kind_and_cluster() -> None:
    kind = np.repeat([0, 0, 1], 20)
    cluster = np.repeat([0, 1, 0], 20)
    seconds = np.exp(np.repeat([5.0, 6.0, 4.0], 20))
    none = np.zeros(60, np.bool_)
    jobs = Observed(kind, cluster, seconds, none, ~none, 2)
    assert jobs.supported.tolist() == [[True, True], [True, False]]
    found = Model.fit(jobs).seconds(jobs, np.array([59]), np.array([1]))
    assert found == pytest.approx(np.exp([5.0]), rel=1e-6)


def test_weights_count_as_copies() -> None:
    jobs, _, _ = _world(0.5)
    twice = np.concatenate([np.arange(N), np.arange(100)])
    copied = Observed(
        jobs.kind[twice],
        jobs.cluster[twice],
        jobs.seconds[twice],
        jobs.failed[twice],
        jobs.counts[twice],
        M,
    )
    weight = np.where(np.arange(N) < 100, 2.0, 1.0)
    one, other = Model.fit(jobs, weight), Model.fit(copied)
    assert one.mean == pytest.approx(other.mean)
    assert one.failure == pytest.approx(other.failure)
    every, there = np.arange(N), np.zeros(N, np.int64)
    assert one.seconds(jobs, every, there) == pytest.approx(other.seconds(copied, every, there))


def test_jobs_whose_outcome_does_not_count_teach_no_failures() -> None:
    n = 4 * OFTEN
    kind, cluster = np.zeros(n, np.int64), np.arange(n) % 2
    failed = np.ones(n, np.bool_)
    jobs = Observed(kind, cluster, np.full(n, 60.0), failed, np.zeros(n, np.bool_), 2)
    assert (Model.fit(jobs).failures(jobs, np.arange(n), 1 - cluster) == 0.0).all()
