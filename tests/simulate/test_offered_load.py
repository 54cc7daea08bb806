"""The offered load against closed forms, and what a run does of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from walras import DataError, InputError, policies
from walras.simulate import Cluster, Trace, check_load, run
from walras.types import Floats

POSITIVE = st.floats(0.1, 10.0)


def _level_of_two(work: Floats, workers: tuple[int, int]) -> float:
    """Least level of two types by comparative advantage: jobs go to the first type by its ratio."""
    order = np.argsort(work[:, 0] / work[:, 1])
    here = np.concatenate([[0.0], np.cumsum(work[order, 0])]) / workers[0]
    there = (work[:, 1].sum() - np.concatenate([[0.0], np.cumsum(work[order, 1])])) / workers[1]
    k = int(np.flatnonzero(here >= there)[0])
    if k == 0:
        return float(here[0])
    rise, fall = here[k] - here[k - 1], there[k - 1] - there[k]
    part = (there[k - 1] - here[k - 1]) / (rise + fall)
    return float(here[k - 1] + part * rise)


@given(
    st.lists(st.tuples(POSITIVE, POSITIVE, st.integers(1, 3)), min_size=2, max_size=9),
    st.tuples(st.integers(3, 6), st.integers(3, 6)),
)
def test_two_types_are_levelled_by_comparative_advantage(
    jobs: list[tuple[float, float, int]], workers: tuple[int, int]
) -> None:
    n = len(jobs)
    speed, size = np.array([job[:2] for job in jobs]), np.array([job[2] for job in jobs])
    trace = Trace.of(list(map(str, range(n))), speed=speed, size=size, arrival=range(n))
    load = check_load(trace, Cluster({"type 0": workers[0], "type 1": workers[1]}))
    expected = _level_of_two(size[:, None] / speed, workers)
    assert load.seconds == pytest.approx(expected, rel=1e-7)
    assert load.total == pytest.approx(expected / (n - 1), rel=1e-7)


def test_one_type_is_work_over_capacity() -> None:
    trace = Trace.of(["a", "b", "c"], steps=[10, 20, 30], size=[1, 2, 1], arrival=[5, 10, 25])
    load = check_load(trace, Cluster({"type 0": 2}))
    (row,) = load.frame().to_dict("records")
    assert (row["type"], row["workers"], row["jobs"]) == ("type 0", 2, 3)
    assert (row["only here"], row["load"]) == (2.0, pytest.approx(2.0))
    assert row["hours"] == pytest.approx(40 / 3600)
    assert load.saturated
    assert "200 %" in str(load)


def test_jobs_of_one_type_alone_are_shown() -> None:
    trace = Trace.of(["a", "b"], steps=[10, 10], speed=[[1, 1], [1, 0]], arrival=[0, 20])
    load = check_load(trace, Cluster({"type 0": 1, "type 1": 1}))
    assert load.frame()["only here"].tolist() == [0.5, 0.0]
    assert load.work.tolist() == pytest.approx([10.0, 10.0])
    assert not load.saturated


def test_of_level_splits_the_one_with_the_least_work_is_taken() -> None:
    """The second type could take the small job, ten times slower, without a higher level."""
    trace = Trace.of(["a", "b"], steps=[100, 1], speed=[[1, 0], [1, 1]], arrival=[0, 1])
    load = check_load(trace, Cluster({"type 0": 1, "type 1": 1}))
    assert load.work.tolist() == pytest.approx([100.0, 1.0])


def test_no_run_ends_sooner_than_the_least_time() -> None:
    random = np.random.default_rng(0)
    speed = random.uniform(0.5, 2.0, (30, 2))
    trace = Trace.of(list(map(str, range(30))), steps=random.uniform(1e3, 1e4, 30), speed=speed)
    cluster = Cluster({"type 0": 3, "type 1": 2})
    load = check_load(trace, cluster)
    assert str(load).startswith("all jobs arrive at once: at least")
    for policy in (policies.fifo(), policies.fifo(by_speed=True), policies.makespan()):
        assert run(trace, cluster, policy, round_seconds=0).makespan >= load.seconds * (1 - 1e-9)


def test_jobs_that_do_not_fit_are_left_out_and_named() -> None:
    trace = Trace.of(["a", "b"], size=[4, 1], arrival=[0, 1])
    load = check_load(trace, Cluster({"type 0": 2}))
    assert (load.misfits, load.jobs.tolist()) == (("a",), [1])
    with pytest.raises(DataError, match="no job fits"):
        check_load(Trace.of(["a"], size=[4]), Cluster({"type 0": 2}))
    with pytest.raises(InputError, match="gpu"):
        check_load(trace, Cluster({"gpu": 2}))
