"""Measures of runs."""

from __future__ import annotations

import numpy as np
import pytest
from tests.simulate.small import ONE, equal_shares, on_one, random_trace

from walras.progress import Progress
from walras.simulate import Cluster, Failures, by_kind, run, summary


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
