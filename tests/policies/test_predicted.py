"""Predicted speeds: the true ones change nothing, wrong ones cost, bad ones are named."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.policies.drawn import random_jobs

from walras import InputError
from walras.policies import max_min, predicted, shortest_remaining_time
from walras.rounds import check_shares
from walras.simulate import Cluster, Trace, run


def test_true_speeds_change_nothing() -> None:
    jobs = random_jobs(0)
    plain, seen = max_min()(jobs), predicted(max_min(), lambda given: given.speed)(jobs)
    assert np.array_equal(plain.time, seen.time)
    assert plain.value == seen.value


def test_where_a_job_cannot_run_stays_known() -> None:
    jobs = random_jobs(0)
    found = predicted(max_min(), lambda given: np.ones(given.speed.shape))(jobs)
    assert check_shares(jobs, found) == []


def test_warm_starts_are_kept_under_it() -> None:
    trace = Trace.of(list("abcdef"), arrival=np.arange(6) * 50.0, steps=np.full(6, 900.0))
    cluster = Cluster({"type 0": 2})
    for policy in (max_min(), predicted(max_min(warm=True), lambda given: given.speed)):
        done = run(trace, cluster, policy, round_seconds=0)
        assert done.complete
        assert not done.violations
    assert done.policy == "max-min, predicted"


def test_wrong_speeds_cost() -> None:
    rng = np.random.default_rng(0)
    speed = rng.uniform(1.0, 10.0, (40, 2))
    trace = Trace.of([f"j{k}" for k in range(40)], steps=np.full(40, 4000.0), speed=speed)
    cluster = Cluster({"type 0": 3, "type 1": 3})
    right = run(trace, cluster, shortest_remaining_time())
    wrong = run(
        trace, cluster, predicted(shortest_remaining_time(), lambda given: 1.0 / given.speed)
    )
    assert wrong.completion.mean() > 1.2 * right.completion.mean()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (pd.DataFrame({"type 0": [-1.0]}, index=["job"]), "-1"),
        (pd.DataFrame({"type 0": ["fast"]}, index=["job"]), "'fast'"),
        (pd.DataFrame({"gpu": [1.0]}, index=["job"]), "columns gpu"),
        (lambda given: given.speed[:1], "shape"),
    ],
)
def test_bad_predictions_are_named(table: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        predicted(max_min(), table)(random_jobs(0))  # type: ignore[arg-type]
