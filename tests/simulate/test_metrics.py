"""Measures of runs."""

from __future__ import annotations

import numpy as np
import pytest
from tests.simulate.small import ONE, equal_shares, on_one, random_trace

from walras.policies import fifo, first_fit
from walras.progress import Progress
from walras.simulate import Cluster, Failures, Slots, TaskTrace, by_kind, run, summary


def test_measures_follow_from_the_jobs() -> None:
    done = run(on_one([720, 720]), ONE, equal_shares)
    found = summary(done).set_index("measure")["value"]
    assert found["ended"] == 2
    assert found["mean completion"] * 3600 == pytest.approx(1260)
    assert found["largest completion"] == found["makespan"] == pytest.approx(0.4)
    assert found["mean waiting"] * 3600 == pytest.approx(180)
    assert found["mean slowdown"] == pytest.approx(1260 / 720)
    assert found["moves a job"] == 1
    assert found["use of gpu"] == pytest.approx(1.0)


def test_failures_are_counted() -> None:
    failures = Failures(5000.0, 500.0, checkpoint=300.0, job=9000.0, max_attempts=2)
    done = run(on_one([30_000, 20_000]), ONE, equal_shares, failures=failures)
    found = summary(done).set_index("measure")["value"]
    assert found["outages"] == len(done.outages) > 0
    assert found["failed for good"] == done.state.count("failed")
    assert found["stopped by workers"] == done.frame()["stopped"].sum() > 0
    assert found["failed by themselves"] == done.failures.sum() > 0
    assert found["lost to failures"] * 3600 == pytest.approx(done.lost.sum())
    assert found["gpu up"] < 1.0
    calm = summary(run(on_one([9]), ONE, equal_shares))
    assert calm["measure"].tolist() == found.index.tolist()
    zeros = ["outages", "expired", "failed for good", "stopped by workers", "lost to failures"]
    assert not calm.set_index("measure")["value"][zeros].any()
    assert calm.set_index("measure")["value"]["gpu up"] == 1.0


def test_the_makespan_is_of_the_jobs_that_ended() -> None:
    """A job that fails for good is listed and has no end; of a run that was cut it is unknown."""
    failures = Failures(job=9000.0, max_attempts=1)
    done = run(on_one([300_000, 600], [0, 60]), ONE, equal_shares, failures=failures)
    assert done.state == ("failed", "ended")
    assert done.makespan == done.ended[1] < done.failed[0]
    none = run(on_one([300_000]), ONE, equal_shares, failures=failures)
    assert none.state == ("failed",)
    assert np.isnan(none.makespan)
    tasks = TaskTrace.of(["a", "b"], chance=[[1e-9], [1.0]], max_attempts=[1, 1])
    placed = run(tasks, Slots({"cluster 0": 2}), first_fit(), round_seconds=0)
    assert placed.fate == ("failed", "ended")
    assert placed.makespan == placed.ended[1]


def test_the_makespan_of_a_cut_run_is_unknown() -> None:
    def stop(step: Progress) -> bool:
        return step.iteration > 0

    cut = run(on_one([600.0] + [1e9] * 60), ONE, fifo(), on_progress=stop)
    assert cut.state[0] == "ended"
    assert not cut.complete
    assert np.isnan(cut.makespan)


def test_a_run_without_ends_has_no_times() -> None:
    def stop(step: Progress) -> bool:
        return True

    done = run(on_one([1e11]), ONE, equal_shares, on_progress=stop)
    found = summary(done).set_index("measure")["value"]
    assert found["ended"] == 0
    assert np.isnan(found["mean completion"])


def test_classes_add_up() -> None:
    done = run(random_trace(1), Cluster({"a": 4, "b": 5, "c": 3}), equal_shares)
    table = by_kind(done)
    assert table["jobs"].sum() == 30
    mean = float((table["jobs"] * table["mean completion h"]).sum() / 30)
    assert mean == pytest.approx(done.completion.mean() / 3600)
