"""No policy is below the bounds: closed forms, all schedules of small cases, all policies."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simulate.small import on_one, random_trace

from walras import InputError
from walras.policies import NAMED, savings_bound
from walras.simulate import Cluster, Trace, gavel_trace, run

SMALL = Cluster({"a": 4, "b": 5, "c": 4})


def test_one_job_takes_its_time_on_its_fastest_type() -> None:
    trace = Trace.of(["a"], steps=[300.0], speed=[[3.0, 1.0]], types=("a", "b"))
    bound = savings_bound(trace, Cluster({"a": 1, "b": 1}))
    assert bound.mean_completion == pytest.approx(100.0)
    assert bound.makespan == pytest.approx(100.0)


def test_shortest_first_is_best_on_one_worker() -> None:
    """Jobs of 10, 20 and 40 s: 10 + 30 + 70 s in all; the grid costs a little of it."""
    bound = savings_bound(on_one([10.0, 20.0, 40.0]), Cluster({"gpu": 1}))
    assert 0.97 * 110 / 3 < bound.mean_completion <= 110 / 3
    assert bound.makespan == pytest.approx(70.0)


def test_the_makespan_counts_work_that_comes_late() -> None:
    """Two jobs of 100 s arrive at 1000 s on one worker; what came before is done by then."""
    trace = on_one([10.0, 100.0, 100.0], [0.0, 1000.0, 1000.0])
    assert savings_bound(trace, Cluster({"gpu": 1})).makespan == pytest.approx(1200.0)


def _best_of_all(trace: Trace, workers: int, seconds: int) -> tuple[float, float]:
    """The least sum of completion times and makespan of all schedules in whole seconds on one type.

    States are the seconds left of each job.
    """
    left = tuple(int(s) for s in trace.steps)
    states: dict[tuple[int, ...], float] = {left: 0.0}
    makespan = np.inf
    for now in range(seconds):
        after: dict[tuple[int, ...], float] = {}
        for state, total in states.items():
            here = [j for j, k in enumerate(state) if k and trace.arrival[j] <= now]
            for count in range(len(here) + 1):
                for chosen in itertools.combinations(here, count):
                    if sum(int(trace.size[j]) for j in chosen) > workers:
                        continue
                    then = tuple(k - (j in chosen) for j, k in enumerate(state))
                    ended = sum(now + 1 - trace.arrival[j] for j in chosen if not then[j])
                    after[then] = min(after.get(then, np.inf), total + ended)
        states = after
        done = (0,) * len(left)
        if done in states and makespan == np.inf:
            makespan = now + 1 - float(trace.arrival[0])
    return states[(0,) * len(left)], makespan


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_no_schedule_of_all_is_below(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 4))
    trace = Trace.of(
        [f"j{k}" for k in range(n)],
        steps=data.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)),
        size=data.draw(st.lists(st.integers(1, 2), min_size=n, max_size=n)),
        arrival=sorted(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))),
        types=("gpu",),
    )
    workers = data.draw(st.integers(2, 3))
    bound = savings_bound(trace, Cluster({"gpu": workers}))
    total, makespan = _best_of_all(trace, workers, 24)
    assert bound.mean_completion <= total / n
    assert bound.makespan <= makespan
    assert bound.mean_completion >= bound.alone * (1 - 1e-6)


OPTIONS: dict[str, list[dict[str, Any]]] = {"fifo": [{}, {"by_speed": True}], "las": [{}]}


@settings(max_examples=4, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    hours=st.sampled_from([0.0, 0.1, 5.0]),
)
def test_no_policy_is_below(seed: int, hours: float) -> None:
    drawn = random_trace(seed, 8)
    ones = np.ones(8, np.int64)  # some policies take no jobs of several workers
    trace = Trace.of(
        list(drawn.name),
        size=ones,
        steps=drawn.steps,
        arrival=drawn.arrival / max(drawn.arrival[-1], 1.0) * hours * 3600,
        types=drawn.types,
        speed=drawn.speed,
    )
    cluster = Cluster({"a": 2, "b": 1, "c": 1})
    bound = savings_bound(trace, cluster)
    for name, make in NAMED.items():
        if name == "predicted":
            continue  # it is another policy that sees predicted speeds
        for given_options in OPTIONS.get(name, [{}]):
            done = run(trace, cluster, make(**given_options), round_seconds=360.0)
            assert done.completion.mean() >= bound.mean_completion, name
            assert done.makespan >= bound.makespan, name


@pytest.mark.parametrize("policy", [NAMED["fifo"], NAMED["las"], NAMED["makespan"]])
def test_jobs_of_several_workers_are_not_below(policy: Callable[..., Any]) -> None:
    for seed in range(2):
        trace = random_trace(seed, 15)
        bound = savings_bound(trace, SMALL)
        done = run(trace, SMALL, policy())
        assert bound.alone * (1 - 1e-6) <= bound.mean_completion <= done.completion.mean()
        assert bound.makespan <= done.makespan


def test_jobs_that_share_workers_are_not_below() -> None:
    """In pairs two jobs run at more than half of their speeds: the plain bound would be wrong."""
    trace = gavel_trace(rate=30.0, jobs=20, seed=0, sharing=True, synthetic=True)
    cluster = Cluster({"v100": 1, "p100": 1, "k80": 1})
    bound = savings_bound(trace, cluster)
    plain = savings_bound(replace(trace, group=np.full(20, -1)), cluster)
    assert bound.makespan < plain.makespan
    for policy in (NAMED["las"](by_speed=True, sharing=True), NAMED["shortest_remaining_time"]()):
        done = run(trace, cluster, policy)
        assert bound.mean_completion <= done.completion.mean()
        assert bound.makespan <= done.makespan


def test_only_measured_jobs_count() -> None:
    trace = on_one([1000.0, 10.0, 10.0])
    bound = savings_bound(trace, Cluster({"gpu": 1}), measured=slice(1, 3))
    assert bound.makespan == pytest.approx(20.0)
    assert 14.0 < bound.mean_completion <= 15.0


def test_a_crowded_cluster_is_bounded_above_an_empty_one() -> None:
    """It says something where jobs wait: far above the time alone, near what a policy reaches."""
    trace = gavel_trace(rate=20.0, jobs=60, seed=1, synthetic=True)
    cluster = Cluster({"v100": 2, "p100": 2, "k80": 2})
    bound = savings_bound(trace, cluster)
    done = run(trace, cluster, NAMED["allox"]())
    assert bound.mean_completion > 1.5 * bound.alone
    assert bound.mean_completion > 0.6 * done.completion.mean()
    assert bound.makespan > 0.6 * done.makespan
    frame = bound.frame()
    assert (frame[["v100", "p100", "k80"]].to_numpy() >= 0.0).all()
    assert frame["at"].is_monotonic_increasing


def test_jobs_that_fit_nowhere_are_refused() -> None:
    with pytest.raises(InputError):
        savings_bound(on_one([10.0]), Cluster({"other": 1}))
