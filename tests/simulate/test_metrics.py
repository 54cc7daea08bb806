"""Measures of runs."""

from __future__ import annotations

import numpy as np
import pytest
from tests.simulate.small import ONE, equal_shares, on_one, random_trace

from walras.progress import Progress
from walras.simulate import Cluster, by_kind, run, summary


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
