"""Policies that solve: warm and cold decide alike, and a policy used again begins anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from tests.policies.drawn import random_jobs

from walras import InputError
from walras.policies import hierarchical, las, leximin, max_min
from walras.policies.objectives import OBJECTIVES
from walras.rounds import JobsSnapshot, check
from walras.simulate.time_shared import Policy
from walras.solving import solve


def _later(jobs: JobsSnapshot, **given: object) -> JobsSnapshot:
    """The round after: the first jobs have ended, one has come."""
    gone, n = 2, len(jobs)
    seen = ("kind", "size", "weight", "arrival", "steps", "left", "received", "speed", "group")
    kept = {name: getattr(jobs, name)[gone:] for name in (*seen, "deadline", "attempt")}
    names = (*jobs.name[gone : n - 1], "new")
    return replace(jobs, name=names, **kept, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("objective", sorted(OBJECTIVES))
def test_warm_and_cold_decide_alike(objective: str, monkeypatch: pytest.MonkeyPatch) -> None:
    starts = []

    def spied(*given: object, **settings: object) -> object:
        starts.append(settings["start"])
        return solve(*given, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr("walras.policies.solved.solve", spied)
    warm = OBJECTIVES[objective](warm=True, engine="interior")
    jobs = random_jobs(3)
    first = warm(jobs)
    later = _later(jobs, last=first)
    second = warm(later)
    assert starts[0] is None
    assert starts[1] is not None
    assert check(later, second) == []
    cold = OBJECTIVES[objective](engine="exact")(later)
    assert second.value == pytest.approx(cold.value, rel=1e-5)
    assert second.gap < 1e-5 or abs(second.value - second.bound) < 1e-5 * jobs.weight.sum()
    warm(jobs)  # another run begins: its last decision is none
    assert starts[3] is None


def test_a_start_without_common_jobs_is_not_used() -> None:
    warm = OBJECTIVES["max_min"](warm=True)
    jobs = random_jobs(1)
    first = warm(jobs)
    names = tuple(f"other {name}" for name in jobs.name)
    assert warm(replace(jobs, name=names, last=first)).gap < 1e-5


def test_no_jobs_and_bad_tolerances() -> None:
    none = JobsSnapshot.of([], speed=np.zeros((0, 2)), workers=[1, 1])
    assert len(OBJECTIVES["makespan"]()(none)) == 0
    with pytest.raises(InputError, match="tolerance"):
        OBJECTIVES["max_min"](tolerance=-1.0)


@pytest.mark.parametrize(
    "policy",
    [
        las(),
        las(by_speed=True),
        las(by_speed=True, sharing=True),
        max_min(),
        max_min(by_speed=False),
        leximin(),
        leximin(False),
    ],
)
def test_a_job_that_runs_nowhere_is_named(policy: Policy) -> None:
    jobs = JobsSnapshot.of(["a", "b"], speed=[[3.0, 1.0], [0.0, 0.0]], workers=[1, 1])
    with pytest.raises(InputError, match=r"job 1 \(b\): runs on no type"):
        policy(jobs)


def _exact_las() -> Policy:
    return las(by_speed=True, engine="exact")


@pytest.mark.parametrize("make", [leximin, hierarchical, _exact_las])
def test_weights_too_far_apart_for_a_linear_program_are_refused(make: Callable[[], Policy]) -> None:
    jobs = random_jobs(3)
    weight = np.ones(len(jobs))
    weight[1] = 1e8
    found = make()(replace(jobs, weight=weight))
    assert found.value == pytest.approx(found.bound, rel=1e-6)
    weight[1] = 1e9
    with pytest.raises(InputError) as caught:
        make()(replace(jobs, weight=weight))
    assert f"weight of job 1 ({jobs.name[1]}): is 1e+09, that of job 0" in str(caught.value)
