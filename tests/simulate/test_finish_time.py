"""Finish-time fairness: closed forms of the three ways to count, and the figures of Shockwave."""

from __future__ import annotations

import numpy as np
import pytest
from tests.simulate.small import ONE, equal_shares, on_one, random_trace

from walras import InputError
from walras.policies import fifo
from walras.simulate import Cluster, Trace, finish_time_ratios, run


def test_jobs_with_equal_parts_have_their_due() -> None:
    """Two equal jobs share one worker: each takes as long as on half of it."""
    done = run(on_one([720.0, 720.0]), ONE, equal_shares, round_seconds=0)
    assert finish_time_ratios(done) == pytest.approx([1.0, 1.0])
    assert finish_time_ratios(done, "trace") == pytest.approx([1.0, 1.0])
    assert finish_time_ratios(done, done) == pytest.approx([1.0, 1.0])


def test_the_first_of_a_queue_does_better_than_the_last() -> None:
    """FIFO on one worker, 3 jobs of 100 s: the mean number there is 3, 2.5 and 2."""
    done = run(on_one([100.0, 100.0, 100.0]), ONE, fifo(), round_seconds=0)
    assert finish_time_ratios(done) == pytest.approx([1 / 3, 2 / 2.5, 3 / 2])
    assert finish_time_ratios(done, "trace") == pytest.approx([1 / 3, 2 / 3, 1.0])


def test_a_job_alone_has_an_equal_part_of_every_type() -> None:
    """It runs half of its time on each of two types: 2/(1/100 + 1/300) = 150 s, against 100 s."""
    trace = Trace.of(["a"], steps=[300.0], speed=[[3.0, 1.0]], types=("a", "b"))
    done = run(trace, Cluster({"a": 5, "b": 5}), fifo(by_speed=True), round_seconds=0)
    assert finish_time_ratios(done) == pytest.approx([100.0 / 150.0])
    assert finish_time_ratios(done, "trace") == pytest.approx([1.0])


def test_a_job_that_needs_several_workers_has_less_of_its_time() -> None:
    """Two jobs on 4 workers: of size 4 a job has half of its time, of size 1 all of it."""
    trace = Trace.of(["wide", "thin"], size=[4, 1], steps=[100.0, 100.0], types=("gpu",))
    done = run(trace, Cluster({"gpu": 4}), fifo(), round_seconds=0)
    wide, thin = finish_time_ratios(done)
    assert wide == pytest.approx(0.5)
    assert thin == pytest.approx(200 / 100)  # it waits, though its part would do all the time


def test_jobs_without_an_end_have_no_ratio() -> None:
    done = run(on_one([1e9, 10.0]), ONE, fifo(), on_progress=lambda step: True)
    assert np.isnan(finish_time_ratios(done)[0])


def test_other_ways_are_refused() -> None:
    done = run(on_one([10.0]), ONE, fifo())
    other = run(random_trace(0, 3), Cluster({"a": 4, "b": 4, "c": 4}), fifo())
    for bad in ("alone", other, 3):
        with pytest.raises(InputError):
            finish_time_ratios(done, bad)  # type: ignore[arg-type]
