"""Results of placements: work between rounds, tables, states."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import walras as wl
from walras.simulate import Outage, Slots, TaskTrace
from walras.simulate.placed.result import work_between


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32))
def test_work_between_rounds_is_the_overlap_of_runs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, m = int(rng.integers(1, 12)), 2
    began = np.sort(rng.uniform(0, 50, k))
    until = began + rng.uniform(0, 30, k)
    at = np.sort(np.append(rng.uniform(0, 50, 4), 0.0))
    cluster, slots = rng.integers(m, size=k), rng.integers(1, 4, k).astype(float)
    end = float(until.max()) + 1.0
    found = work_between(at, end, began, until, cluster, slots, m)
    marks = np.append(at, end)
    for row in range(len(at)):
        overlap = np.minimum(until, marks[row + 1]) - np.maximum(began, marks[row])
        work = np.bincount(cluster, slots * np.maximum(overlap, 0.0), m)
        np.testing.assert_allclose(found[row], work, rtol=1e-9, atol=1e-9)


def test_tables_and_states() -> None:
    tasks = TaskTrace.of(
        ["a", "b", "c"], chance=[[1.0], [0.0], [1.0]], deadline=[np.inf, np.inf, 10.0]
    )
    run = wl.simulate.run(tasks, Slots({"cluster 0": 1}), wl.policies.first_fit(), round_seconds=0)
    assert run.state == ("ended", "failed", "expired")
    assert run.fates[run.fates > 0].to_dict() == {"ended": 1, "failed": 1, "expired": 1}
    frame = run.frame()
    assert frame["state"].tolist() == ["ended", "failed", "expired"]
    assert frame["attempts"].tolist() == [1, 3, 0]
    assert frame["settled"].tolist()[::2] == [60.0, 10.0]
    assert not run.complete  # a task that failed has no end
    assert repr(run).startswith("PlacedRun(first fit: 1 of 3 measured tasks ended")
    rows = wl.simulate.summary(run).set_index("measure")["value"]
    assert rows["ended"] == 1.0
    assert rows["use of cluster 0"] == pytest.approx(1.0)


def test_runs_that_failed_or_were_lost_are_counted() -> None:
    tasks = TaskTrace.of(["a", "b"], seconds=[[100.0], [100.0]], chance=[[1.0], [0.0]])
    slots = Slots({"cluster 0": 2}, outages=[Outage("cluster 0", 40.0, 50.0)])
    run = wl.simulate.run(tasks, slots, wl.policies.first_fit(), round_seconds=0)
    assert run.failures.tolist() == [0, 3]
    assert run.stopped[0] == 1
    assert run.lost[0] == 40.0
    assert run.undone[0] == pytest.approx(0.4)
    assert run.received.sum(axis=1).tolist() == [140.0, pytest.approx(run.lost[1])]
    assert np.isnan(run.failed[0])
    assert run.failed[1] == run.settled[1]
    assert run.outages.to_numpy().tolist() == [["cluster 0", -1, 40.0, 50.0]]
    assert run.up["cluster 0"] == pytest.approx(1 - 10.0 / run.end)
