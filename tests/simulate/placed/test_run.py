"""Runs of placements: the queue M/M/c, refused decisions, rounds, and bad input."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from scipy import stats

import walras as wl
from walras.errors import InputError
from walras.rounds import Decision, Snapshot, planned
from walras.simulate import Outage, Slots, TaskTrace

SLOTS = Slots({"cluster 0": 2})


def _erlang_c(c: int, load: float) -> float:
    """Chance that an arrival waits in the queue M/M/c with so much offered load."""
    last = load**c / math.factorial(c) * c / (c - load)
    return last / (sum(load**k / math.factorial(k) for k in range(c)) + last)


def test_first_fit_on_one_cluster_is_the_queue_m_m_c() -> None:
    c, mean, hourly = 3, 60.0, 108.0
    load = hourly * mean / 3600.0
    expected = mean + _erlang_c(c, load) * mean / (c - load)
    means = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        tasks = TaskTrace.of(
            [str(j) for j in range(320)],
            arrival=np.cumsum(rng.exponential(3600.0 / hourly, 320)),
            seconds=np.maximum(rng.exponential(mean, (320, 1)), 1e-6),
        )
        run = wl.simulate.run(
            tasks,
            Slots({"cluster 0": c}),
            wl.policies.first_fit(),
            round_seconds=0,
            measured=slice(20, 300),
        )
        means.append(run.completion.mean())
    low, high = stats.t.interval(0.95, 4, np.mean(means), stats.sem(means))
    assert low < expected < high
    assert high - low < 0.35 * expected


def test_rounds_are_held_at_multiples_of_their_length_where_tasks_wait() -> None:
    tasks = TaskTrace.of(["a", "b", "c"], arrival=[5, 31, 100], seconds=[[10.0], [200.0], [1.0]])
    run = wl.simulate.run(tasks, SLOTS, wl.policies.first_fit(), round_seconds=30)
    assert run.round_at.tolist() == [30.0, 60.0, 120.0]
    assert run.runs["began"].tolist() == [30.0, 60.0, 120.0]
    assert run.rounds["busy cluster 0"].tolist() == [10.0, 60.0, 141.0]
    assert run.complete


def _broken(change: Callable[[Snapshot, Decision], object]) -> Callable[[Snapshot], Any]:
    """A policy that is right until the time 50, then wrong at one round, and right again."""

    def policy(snapshot: Snapshot) -> Any:
        good = wl.policies.first_fit()(snapshot)
        return change(snapshot, good) if 50.0 <= snapshot.at < 100.0 else good

    return policy


def _raises(snapshot: Snapshot, good: Decision) -> object:
    return planned(snapshot, np.full(len(snapshot.tasks), np.nan))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s, d: planned(s, np.zeros(len(s.tasks), int)), "capacity: cluster cluster 0"),
        (lambda s, d: replace(d, tasks=("other", *d.tasks[1:])), "reference: names"),
        (lambda s, d: replace(d, clusters=("other",)), "reference: names"),
        (lambda s, d: None, "type: decision: the policy returned NoneType"),
        (_raises, "policy: decision: planned.cluster"),
    ],
)
def test_a_refused_decision_is_named_counted_and_places_nothing(change: Any, words: str) -> None:
    tasks = TaskTrace.of(
        ["a", "b", "c", "d"], arrival=[0, 50, 50, 120], seconds=[[80.0], [30.0], [30.0], [1.0]]
    )
    run = wl.simulate.run(tasks, SLOTS, _broken(change), round_seconds=0)
    assert run.violations[0].startswith(f"50 s: {words}")
    assert run.refused.tolist()[:2] == [0.0, 1.0]
    assert run.refused.sum() == len(run.violations)
    assert run.runs["task"].tolist() == ["a", "b", "c", "d"] or run.runs["began"].min() == 0.0
    assert (run.runs["began"] >= 80.0).tolist() == [False, True, True, True]  # what runs goes on
    assert run.complete


def test_where_nothing_is_placed_any_more_the_run_ends_and_lists_the_tasks() -> None:
    def nothing(snapshot: Snapshot) -> Decision:
        return planned(snapshot, np.full(len(snapshot.tasks), -1))

    run = wl.simulate.run(TaskTrace.of(["a", "b"]), SLOTS, nothing)
    assert (run.complete, run.state) == (False, ("waiting", "waiting"))


def test_a_stop_gives_what_is_there() -> None:
    tasks = wl.simulate.draw_tasks(400, rate=6000.0)
    slots = Slots({"east": 2, "west": 2})
    calls = []

    def stop(step: wl.progress.Progress) -> bool:
        calls.append(step)
        return True

    run = wl.simulate.run(tasks, slots, wl.policies.first_fit(), on_progress=stop)
    assert len(calls) == 1
    assert not run.complete
    assert {"waiting", "not arrived"} & set(run.state)


def test_a_time_shared_trace_runs_on_slots() -> None:
    trace = wl.simulate.Trace.of(
        ["a", "b"], steps=[10.0, 40.0], speed=[[1.0, 0.0], [1.0, 4.0]], types=("east", "west")
    )
    slots = Slots({"east": 1, "west": 1})
    tasks = TaskTrace.from_trace(trace)
    policy = wl.policies.fastest_cluster(predict=tasks.predict)
    run = wl.simulate.run(trace, slots, policy, round_seconds=0)
    assert run.runs[["task", "cluster", "ended"]].to_numpy().tolist() == [
        ["a", "east", 10.0],
        ["b", "west", 10.0],
    ]


def test_the_exchange_runs_unchanged_and_beats_first_fit() -> None:
    tasks = wl.simulate.draw_tasks(120, rate=900.0, apart=1.0, error=0.0, seed=5)
    slots = Slots({"east": 20, "west": 20})
    first = wl.simulate.run(tasks, slots, wl.policies.first_fit(), round_seconds=60)
    ours = wl.simulate.run(
        tasks, slots, wl.policies.exchange(predict=tasks.predict), round_seconds=60
    )
    assert ours.complete
    assert ours.violations == ()
    assert ours.completion.mean() < 0.8 * first.completion.mean()


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (
            lambda: wl.simulate.run(
                TaskTrace.of(["a", "b"], size=[1, 9]), SLOTS, wl.policies.first_fit()
            ),
            "task 'b' of 9 slots can run on no cluster; the largest that it can use has 2",
        ),
        (
            lambda: wl.simulate.run(
                TaskTrace.of(["a"], requirements=({"gpu": "h100"},)),
                SLOTS,
                wl.policies.first_fit(),
            ),
            "task 'a' of 1 slots can run on no cluster",
        ),
        (
            lambda: wl.simulate.run(TaskTrace.of(["a"]), Slots({"x": 1}), wl.policies.first_fit()),
            "has 'x', on which the tasks have no times",
        ),
        (
            lambda: wl.simulate.run(
                cast("Any", TaskTrace.of(["a"])),
                wl.simulate.Cluster({"type 0": 1}),
                wl.policies.fifo(),
            ),
            "run tasks on Slots",
        ),
        (
            lambda: wl.simulate.run(
                TaskTrace.of(["a"]), SLOTS, wl.policies.first_fit(), round_seconds=-1.0
            ),
            "round_seconds",
        ),
        (lambda: TaskTrace.of(["a", "b"], arrival=[5, 1]), r"arrival\[1\]: is 1 after 5"),
        (lambda: TaskTrace.of(["a"], arrival=[-1.0]), r"arrival\[0\]"),
        (lambda: TaskTrace.of(["a"], seconds=[[0.0]]), r"seconds\[0\]"),
        (lambda: TaskTrace.of(["a"], seconds=[[math.nan]]), r"seconds\[0\]"),
        (lambda: Slots({"a": 1}, outages=[Outage("b", 0.0)]), r"outages\[0\].cluster"),
    ],
)
def test_bad_input_is_named(run: Callable[[], object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        run()
