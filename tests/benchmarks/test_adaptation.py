"""Shockwave's adaptive jobs: how long they run, and what a policy knows of them."""

from __future__ import annotations

from math import ceil
from pathlib import Path

import numpy as np
import pytest
from benchmarks.simulate import shockwave
from benchmarks.simulate.adaptation import (
    DATA,
    Adaptation,
    Speeds,
    adaptation,
    adapted,
    believing,
    in_seconds,
    modes,
    speeds_of,
)
from benchmarks.simulate.published import folder_of, published
from hypothesis import given
from hypothesis import strategies as st

from walras.rounds import JobsSnapshot, Shares
from walras.simulate import Trace, load_trace

SPEEDS = {("ResNet-50", 64, 1): 10.0, ("ResNet-50", 128, 1): 8.0}
EACH = ceil(DATA["ResNet-50"] / 64)  # 1,563 steps of an epoch; a round does 1,200


def _job(mode: str, epochs: int = 45, speeds: Speeds = SPEEDS) -> Adaptation:
    return adaptation("ResNet-50 (batch size 64)", 1, epochs * EACH, mode, speeds, 120.0)


def test_a_static_job_runs_its_steps_in_whole_steps_of_a_round() -> None:
    found = _job("static")
    rounds, last = divmod(45 * EACH, 1200)
    assert found.seconds == rounds * 120.0 + last / 10.0
    assert found.begin.tolist() == [0.0]


def test_accordion_takes_the_largest_size_between_critical_epochs_a_round_later() -> None:
    found = _job("accordion")
    assert found.speed.tolist() == [10.0, 8.0, 10.0, 8.0]
    # Round 12 begins epoch 10 (14,067 steps = 9 epochs: 12 rounds make 14,400); round 13 has it.
    assert found.begin[1] == 13 * 120.0
    # 15,600 steps are 10 epochs, rounded up; half the steps in all are still 45 epochs.
    assert found.left[1] == ceil(45 * EACH / 2) - 10 * ceil(DATA["ResNet-50"] / 128)
    assert found.seconds < _job("static").seconds


def test_gns_doubles_at_its_epoch_and_never_beyond_the_largest_size() -> None:
    found = _job("gns", epochs=150)
    assert found.speed.tolist() == [10.0, 8.0]
    assert found.begin[1] / 120.0 == ceil(99 * EACH / 1200.0 + 1e-9) + 1
    assert _job("gns", epochs=90).speed.tolist() == [10.0]


def test_a_size_without_a_measured_speed_is_not_taken() -> None:
    assert _job("accordion", speeds={("ResNet-50", 64, 1): 10.0}).speed.tolist() == [10.0]


@given(st.integers(1, 300), st.sampled_from(["accordion", "gns"]), st.floats(1.0, 30.0))
def test_what_is_believed_ends_with_the_job(epochs: int, mode: str, speed: float) -> None:
    found = _job(mode, epochs, {**SPEEDS, ("ResNet-50", 128, 1): speed})
    assert (np.diff(found.begin) > 0).all()
    pace, left = found.believed(found.seconds)
    assert left <= pace * 1.0 + 1.0  # a second of whole steps
    for begin, pace, left in zip(found.begin, found.speed, found.left, strict=True):
        assert found.believed(begin) == (pace, left)


def test_a_policy_knows_the_present_speed_and_the_steps_left_at_it() -> None:
    trace = Trace.of(["a"], kind=("ResNet-50 (batch size 64)",), steps=[45 * EACH], speed=[[10.0]])
    jobs = adapted(trace, ("accordion",), SPEEDS, 120.0)
    seen: list[JobsSnapshot] = []

    def keep(snapshot: JobsSnapshot) -> Shares:
        seen.append(snapshot)
        return snapshot.shares(np.ones((1, 1)))

    turned = in_seconds(trace, jobs)
    assert turned.steps.tolist() == [jobs[0].seconds]
    half = JobsSnapshot.of(
        ["a"], speed=turned.speed, workers=[1], steps=turned.steps, left=turned.steps - 13 * 120.0
    )
    believing(keep, trace, jobs)(half)
    assert seen[0].speed.tolist() == [[8.0]]
    assert seen[0].left.tolist() == [jobs[0].left[1]]


@pytest.mark.real_data("shockwave")
def test_the_work_of_all_jobs_is_that_of_the_published_runs() -> None:
    table = published(shockwave.TABLE, shockwave.FOLDER)
    folder: Path = folder_of(shockwave.TABLE, shockwave.FOLDER)
    path = folder / "120_jobs.trace.gz"
    trace = load_trace(path, "shockwave")
    speeds = speeds_of(folder / "tacc_throughputs.json.gz", "v100")
    jobs = adapted(trace, modes(path), speeds, shockwave.ROUND)
    work = float(trace.size @ [job.seconds for job in jobs]) / shockwave.CLUSTER["v100"]
    busy = table["makespan_s"] * table["utilisation"]  # utilisation is printed to three digits
    assert busy.min() < work < busy.max()
