"""Failures in rounds: capacity, conserved work, closed forms, the same ones for every policy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simulate.small import ONE, equal_pairs, equal_shares, on_one, paired_trace, random_trace

from walras import InputError, policies
from walras.rounds import JobsSnapshot, Shares
from walras.simulate import Cluster, Failures, Run, run
from walras.types import Floats

CLUSTER = Cluster({"a": 4, "b": 5, "c": 3})
HARSH = Failures({"a": 20_000.0, "b": 5_000.0}, 4_000.0, checkpoint=700.0, job=20_000.0)


def _capacity(done: Run) -> Floats:
    """(L, T) worker-seconds of each round without the outages in it."""
    begin, length = done.round_at[:, None], done.round_seconds
    end = begin + length if length else np.append(begin[1:], done.end)[:, None]
    room = (end - begin) * done.workers.astype(np.float64)
    for t in range(len(done.types)):
        mine = done.down[done.down[:, 0] == t]
        inside = np.minimum(mine[:, 3], end) - np.maximum(mine[:, 2], begin)
        room[:, t] -= np.maximum(inside, 0.0).sum(axis=1)
    return room


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10_000),
    fifo=st.booleans(),
    whole=st.booleans(),
    exact=st.booleans(),
    checkpoint=st.sampled_from([0.0, 250.0, 3000.0]),
)
def test_work_is_conserved_and_no_worker_that_is_down_works(
    seed: int, fifo: bool, whole: bool, exact: bool, checkpoint: float
) -> None:
    trace, policy = random_trace(seed, 15), policies.fifo() if fifo else equal_shares
    failures = Failures({"a": 20_000.0, "b": 5_000.0}, 4_000.0, checkpoint, 20_000.0)
    rules: dict[str, Any] = {"failures": failures, "whole_steps": whole}
    rules |= {"round_seconds": 0.0} if exact else {"restart_seconds": 30.0}
    done = run(trace, CLUSTER, policy, seed=seed, **rules)
    assert set(done.state) <= {"ended", "failed"}
    assert not done.violations
    work = (done.received * trace.on(CLUSTER)).sum(axis=1)
    np.testing.assert_allclose(work, trace.steps * (done.done + done.undone), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(done.failures[~np.isnan(done.failed)], failures.max_attempts)
    assert np.isnan(done.ended[~np.isnan(done.failed)]).all()
    assert (done.failures <= failures.max_attempts).all()
    assert (done.busy <= _capacity(done) * (1 + 1e-9) + 1e-6).all()
    assert (done.lost <= done.received.sum(axis=1) * (1 + 1e-9)).all()
    harmed = bool((done.stopped + done.failures).any())
    if not exact or fifo:  # else a job with a part of its time is stopped always, and keeps all
        assert (checkpoint > 0.0) == bool(done.lost.any()) or not harmed
    assert done.hash == run(trace, CLUSTER, policy, seed=seed, **rules).hash


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), length=st.sampled_from([0.0, 360.0]))
def test_pairs_lose_their_worker_together(seed: int, length: float) -> None:
    trace = paired_trace(seed, 15)
    done = run(trace, CLUSTER, equal_pairs, round_seconds=length, failures=HARSH, seed=seed)
    assert set(done.state) <= {"ended", "failed"}
    assert not done.violations
    assert (done.busy <= _capacity(done) * (1 + 1e-9) + 1e-6).all()
    assert (done.received.sum(axis=1) <= (done.end - trace.arrival) * (1 + 1e-9)).all()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("allox", {}),
        ("gandiva", {}),
        ("hierarchical", {}),
        ("las", {"by_speed": True}),
        ("max_min", {}),
        ("shortest_remaining_time", {}),
    ],
)
def test_every_policy_meets_the_same_failures(name: str, options: dict[str, Any]) -> None:
    trace = replace(random_trace(3, 8, 3), size=np.ones(8, np.int64))
    done = run(trace, CLUSTER, policies.named(name, **options), failures=HARSH)
    assert not done.violations
    assert set(done.state) <= {"ended", "failed"}
    other = run(trace, CLUSTER, equal_shares, failures=HARSH)
    end = min(done.end, other.end)
    ones = [one.down[one.down[:, 2] < end].tolist() for one in (done, other)]
    assert ones[0] == ones[1] != []


def test_a_worker_is_up_for_its_share_of_the_time() -> None:
    """One long job on one worker, nothing lost: it runs for between / (between + repair) of the
    time. Over K cycles the share has the standard error a (1 - a) sqrt(2 / K).
    """
    between, repair, work, length = 3000.0, 1000.0, 1.5e6, 10.0
    share = between / (between + repair)
    rules: dict[str, Any] = {"round_seconds": length, "between_decisions": 0.0}
    failures = Failures(between, repair)
    done = run(on_one([work]), ONE, policies.fifo(), failures=failures, whole_steps=False, **rules)
    error = share * (1 - share) * np.sqrt(2 / (work / between))
    waits = done.stopped[0] * length / 2  # until the round after each return
    assert abs((work + waits) / done.ended[0] - share) < 3 * error
    assert abs(done.up["gpu"] - share) < 3 * error
    assert done.lost.tolist() == [0.0]
    ran = now = 0.0  # the same from the list of outages: it runs from the round after each return
    for begin, end in done.down[:, 2:]:
        ran += max(0.0, begin - now)
        now = max(now, np.ceil(end / length) * length)
    np.testing.assert_allclose(now + work - ran, done.ended[0], rtol=1e-9)


def test_running_time_to_the_end_without_checkpoints() -> None:
    """A job of s seconds that begins anew after each failure runs (e^(s/m) - 1) m on the average.

    Source: Duda, Information Processing Letters 16, 1983, without checkpoints.
    """
    mean, work, n = 1000.0, 1200.0, 4000
    failures = Failures(job=mean, checkpoint=np.inf, max_attempts=10_000)
    done = run(
        on_one([work] * n),
        Cluster({"gpu": n}),
        policies.fifo(),
        failures=failures,
        whole_steps=False,
    )
    ran = done.received.ravel()
    assert abs(ran.mean() - mean * np.expm1(work / mean)) < 3 * ran.std() / np.sqrt(n)
    np.testing.assert_allclose(ran, work + done.lost)


def test_jobs_fail_for_good_after_their_attempts() -> None:
    """The chance that a job of s seconds outlives one attempt is e^(-s/m)."""
    n, failures = 4000, Failures(job=1000.0, checkpoint=np.inf, max_attempts=1)
    done = run(on_one([700.0] * n), Cluster({"gpu": n}), policies.fifo(), failures=failures)
    ended = np.mean([state == "ended" for state in done.state])
    chance = np.exp(-0.7)
    assert abs(ended - chance) < 3 * np.sqrt(chance * (1 - chance) / n)
    assert set(done.state) == {"ended", "failed"}
    assert done.done[~np.isnan(done.failed)].tolist() == [0.0] * int((1 - ended) * n + 0.5)
    assert not done.complete


def test_policies_see_deadlines_and_how_often_a_job_has_failed() -> None:
    seen: list[tuple[int, float]] = []

    def last_deadline_first(snapshot: JobsSnapshot) -> Shares:
        seen.extend(zip(snapshot.attempt.tolist(), snapshot.deadline.tolist(), strict=True))
        time = np.zeros(snapshot.speed.shape)
        time[np.argmax(snapshot.deadline)] = 1.0
        return snapshot.shares(time)

    trace = replace(on_one([9000.0, 9000.0]), deadline=np.array([5e4, 9e4]))
    failures = Failures(job=6000.0, checkpoint=600.0, max_attempts=50)
    rules: Any = {"failures": failures, "between_decisions": 0.0}
    done = run(trace, Cluster({"gpu": 1}), last_deadline_first, **rules)
    assert done.ended[1] < done.ended[0]
    assert done.failures.sum() > 0
    for limit, failed in zip([5e4, 9e4], done.failures.tolist(), strict=True):
        counts = [attempt for attempt, deadline in seen if deadline == limit]
        assert counts == sorted(counts)
        assert 0 <= counts[-1] <= failed


def test_a_job_waits_for_as_many_workers_as_it_takes() -> None:
    """The run goes on while workers are down, also where nothing runs and nobody is asked."""
    trace = random_trace(1, 1)
    trace = type(trace).of(["wide"], size=[4], steps=[3e4], types=("gpu",), speed=[[1.0]])
    asked = []

    def policy(snapshot: Any) -> Any:
        asked.append((len(snapshot), snapshot.workers.tolist()))
        return equal_shares(snapshot)

    done = run(trace, Cluster({"gpu": 4}), policy, failures=Failures(20_000.0, 20_000.0))
    assert done.complete
    assert done.stopped[0] > 0
    assert set(map(tuple, [(n, *w) for n, w in asked])) == {(1, 4)}
    assert (done.running == 0).any()


def test_a_checkpoint_bounds_what_is_lost() -> None:
    """A failure at a random moment undoes half the time between two checkpoints, at most all."""
    failures = Failures(50_000.0, 600.0, checkpoint=1000.0)
    done = run(on_one([2e7]), ONE, policies.fifo(), failures=failures, whole_steps=False)
    assert done.stopped[0] > 200
    each = done.lost[0] / done.stopped[0]
    assert abs(each - 500.0) < 3 * 1000.0 / np.sqrt(12 * done.stopped[0]) + 500.0 * 0.01


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ({"between": -1.0}, r"Failures\.between"),
        ({"between": {"gpu": 0.0}}, r"Failures\.between\['gpu'\]"),
        ({"between": {"tpu": 10.0}}, r"Failures\.between.*tpu"),
        ({"between": "soon"}, r"Failures\.between"),
        ({"repair": 0.0}, r"Failures\.repair"),
        ({"repair": None}, r"Failures\.repair"),
        ({"checkpoint": -5.0}, r"Failures\.checkpoint"),
        ({"checkpoint": float("nan")}, r"Failures\.checkpoint"),
        ({"job": 0.0}, r"Failures\.job"),
        ({"max_attempts": 0}, r"Failures\.max_attempts"),
        ({"between": 1e3, "checkpoint": 1e5}, "'j0' .* last to a checkpoint"),
        ({"between": 1.0, "repair": 1e9}, "'j0' .* up together"),
    ],
)
def test_bad_failures_are_refused(made: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        run(on_one([1e5]), ONE, policies.fifo(), failures=Failures(**made))


def test_failures_are_failures() -> None:
    mapping: dict[str, Any] = {"failures": {"between": 9e3}}
    with pytest.raises(InputError, match="failures"):
        run(on_one([9.0]), ONE, policies.fifo(), **mapping)


def test_outages_that_are_too_many_are_refused() -> None:
    late = replace(on_one([9.0]), arrival=np.array([1e12]))
    with pytest.raises(InputError, match=r"Failures\.between.*1e\+08 times"):
        run(late, ONE, policies.fifo(), failures=Failures(between=9_900.0, repair=100.0))
