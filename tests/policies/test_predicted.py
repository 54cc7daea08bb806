"""Predicted speeds: the true ones change nothing, wrong ones cost, bad ones are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.policies.drawn import random_jobs

import walras as wl
from walras import InputError
from walras.policies import (
    las,
    max_min,
    predicted,
    proportional_fairness,
    shortest_remaining_time,
    total_throughput,
)
from walras.policies.predicted import JUDGES
from walras.rounds import check
from walras.simulate import Cluster, Trace, run, summary


def test_true_speeds_change_nothing() -> None:
    jobs = random_jobs(0)
    plain, seen = max_min()(jobs), predicted(max_min(), lambda given: given.speed)(jobs)
    assert np.array_equal(plain.time, seen.time)
    assert plain.value == seen.value


@pytest.mark.parametrize("name", JUDGES)
def test_the_judge_counts_the_regret_at_the_true_speeds(name: str) -> None:
    policy = {"least": max_min, "proportional": proportional_fairness, "total": total_throughput}
    jobs = random_jobs(1)
    equal = jobs.workers / (jobs.size[:, None] * len(jobs))
    equal /= np.maximum(equal.sum(axis=1, keepdims=True), 1.0)
    speed = np.where(jobs.fits, jobs.speed, 0.0)
    alone = (speed * equal).sum(axis=1)

    def worth(time: np.ndarray) -> float:
        rates = (speed * time).sum(axis=1) / alone
        if name == "least":
            return float((rates / jobs.weight).min())
        return float(jobs.weight @ (np.log(rates) if name == "proportional" else rates))

    knowing = policy[name]()(jobs)
    right = predicted(policy[name](), lambda given: given.speed, judge=name)(jobs)
    assert right.value == right.bound == pytest.approx(worth(knowing.time))
    wrong = predicted(policy[name](), lambda given: 1.0 / given.speed.clip(0.1), judge=name)(jobs)
    assert wrong.value == pytest.approx(worth(wrong.time))
    assert wrong.bound == right.bound
    if name == "proportional":  # the judge counts as the policy does: nothing is above its best
        assert wrong.value < wrong.bound


def test_the_gap_of_a_run_is_its_regret() -> None:
    trace = Trace.of(list("ab"), steps=[5000.0, 5000.0], speed=[[4.0, 1.0], [1.0, 4.0]])
    cluster = Cluster({"type 0": 1, "type 1": 1})
    swapped = predicted(total_throughput(), lambda given: given.speed[:, ::-1], judge="total")
    done = run(trace, cluster, swapped, round_seconds=0)
    # Each job runs at 1 instead of 4 steps a second: of 1.6 a job over equal parts, 0.4 are left.
    assert done.rounds["value"].iloc[0] == pytest.approx(0.8)
    assert done.rounds["bound"].iloc[0] == pytest.approx(3.2)
    measures = summary(done).set_index("measure")["value"]
    assert measures["mean gap"] == measures["largest gap"] == pytest.approx((3.2 - 0.8) / 0.8)
    with pytest.raises(InputError, match="judge"):
        predicted(total_throughput(), lambda given: given.speed, judge="speed")


def test_a_trained_model_takes_the_place_of_the_true_speeds() -> None:
    """MFCP's predicted times of tasks on clusters, as steps a second by class and type."""
    data = wl.predict.recipe("nb201", clusters="A", train_tasks=24, synthetic=True)
    short: dict[str, Any] = {"steps": 2, "check_every": 1, "rounds": 8}
    model = wl.learn.fit("mfcp-ad", data, tasks_per_round=3, model="linear", seed=0, **short)
    tasks = data.test.take(np.arange(20))
    trace = Trace.of(
        tasks.names,
        kind=tasks.names,
        types=tasks.clusters,
        steps=[50.0] * 20,
        speed=1 / tasks.times.T,
    )
    cluster = Cluster(dict.fromkeys(tasks.clusters, 1))
    regret = []
    for times in (tasks.times, model.times(tasks)):
        table = pd.DataFrame(1 / times.T, tasks.names, tasks.clusters)
        policy = predicted(las(by_speed=True), table, judge="least")
        done = run(trace, cluster, policy, round_seconds=0)
        assert done.complete
        assert not done.violations
        regret.append(done.rounds["gap"].mean())
    assert regret[0] == pytest.approx(0.0, abs=1e-9)
    assert regret[1] > 1e-3


def test_where_a_job_cannot_run_stays_known() -> None:
    jobs = random_jobs(0)
    found = predicted(max_min(), lambda given: np.ones(given.speed.shape))(jobs)
    assert check(jobs, found) == []


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
