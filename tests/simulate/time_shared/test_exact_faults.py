"""Failures where shares are realised exactly: closed forms, and the limit of short rounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.simulate.small import ONE, equal_shares, on_one, random_trace

from walras import policies
from walras.rounds import JobsSnapshot, Shares
from walras.simulate import Cluster, Failures, Trace, run
from walras.simulate.time_shared import Policy


def test_time_from_checkpoint_to_checkpoint() -> None:
    """A job of checkpoints every c seconds on a worker that fails after m and returns after r:
    (m + r)(e^(c/m) - 1) seconds a stretch on the average.

    Source: Duda, Information Processing Letters 16, 1983, with checkpoints that cost nothing.
    """
    between, repair, every, stretches = 250.0, 40.0, 100.0, 1200
    failures = Failures(between, repair, checkpoint=every)
    trace = on_one([stretches * every])
    done = run(trace, ONE, policies.fifo(), round_seconds=0, failures=failures)
    tries = np.exp(every / between)  # of a stretch, on the average
    spread = (between + repair) * tries  # at least the deviation of one stretch
    error = spread / np.sqrt(stretches)
    assert abs(done.ended[0] / stretches - (between + repair) * (tries - 1.0)) < 3 * error
    assert error < 0.1 * between
    assert abs(done.stopped[0] / stretches - (tries - 1.0)) < 3 * tries / np.sqrt(stretches)
    np.testing.assert_allclose(done.received.sum(), trace.steps[0] + done.lost[0], rtol=1e-9)


def test_a_queue_whose_server_breaks_down() -> None:
    """M/M/1 with a server that fails at rate x, returns at rate y and goes on where it was. With
    arrivals at rate l and services at rate m, the mean time in the system is
    ((x + y)^2 + x m) / ((x + y)(m y - l (x + y))).

    Source: White and Christie, Operations Research 6, 1958.
    """
    load, x, y = 0.25, 0.1, 0.4  # m is 1
    mean = ((x + y) ** 2 + x) / ((x + y) * (y - load * (x + y)))
    found, n = [], 500
    for seed in range(5):
        rng = np.random.default_rng(seed)
        trace = Trace.of(
            [str(k) for k in range(n)],
            steps=rng.exponential(1.0, n),
            arrival=np.cumsum(rng.exponential(1.0 / load, n)),
            types=("gpu",),
            speed=np.ones((n, 1)),
        )
        rules: dict[str, Any] = {"round_seconds": 0.0, "failures": Failures(1.0 / x, 1.0 / y)}
        done = run(trace, ONE, policies.fifo(), seed=seed, measured=slice(50, None), **rules)
        found.append(done.completion.mean())
    half = 2.776 * np.std(found, ddof=1) / np.sqrt(len(found))  # Student's t, 4 degrees of freedom
    assert abs(np.mean(found) - mean) < half < 0.25 * mean


def test_running_time_without_checkpoints() -> None:
    """A job of s seconds that begins anew after each failure of its own runs (e^(s/m) - 1) m on the
    average; source: Duda, 1983.
    """
    mean, work, n = 1000.0, 1200.0, 250
    failures = Failures(job=mean, checkpoint=np.inf, max_attempts=10_000)
    rules: dict[str, Any] = {"round_seconds": 0.0, "failures": failures}
    done = run(on_one([work] * n), Cluster({"gpu": n}), policies.fifo(), **rules)
    ran = done.received.ravel()
    assert abs(ran.mean() - mean * np.expm1(work / mean)) < 3 * ran.std() / np.sqrt(n)
    np.testing.assert_allclose(ran, work + done.lost)


def _parts(snapshot: JobsSnapshot) -> Shares:
    """Equal shares, and no worker beyond them."""
    return replace(equal_shares(snapshot), spare=False)


@pytest.mark.parametrize(
    ("policy", "trace", "cluster", "between"),
    [
        (policies.fifo(), random_trace(3, 12), Cluster({"a": 4, "b": 5, "c": 4}), 20_000.0),
        (_parts, on_one([3000.0, 2500.0, 4000.0], [0.0, 100.0, 900.0]), Cluster({"gpu": 2}), 900.0),
    ],
)
def test_it_is_the_limit_of_short_rounds(
    policy: Policy, trace: Trace, cluster: Cluster, between: float
) -> None:
    """The same workers and jobs fail; ends differ by rounds, the fewer the shorter they are."""
    failures = Failures(between, 400.0, checkpoint=700.0, job=9000.0, max_attempts=99)
    exact = run(trace, cluster, policy, round_seconds=0, failures=failures, seed=1)
    events = 5 + exact.stopped.sum() + exact.failures.sum() + 2 * len(exact.down)
    assert exact.stopped.sum() + exact.failures.sum() > 5
    rules: dict[str, Any] = {"between_decisions": 0.0, "whole_steps": False, "failures": failures}
    for length in (8.0, 1.0):
        rounds = run(trace, cluster, policy, round_seconds=length, seed=1, **rules)
        apart = np.abs(rounds.ended - exact.ended).max()
        assert apart < length * events
        np.testing.assert_array_equal(rounds.failures, exact.failures)
        if policy is not _parts:  # else who holds the worker at a failure is drawn
            np.testing.assert_array_equal(rounds.stopped, exact.stopped)


def test_a_failure_hits_jobs_by_their_shares() -> None:
    """One of four workers is idle, two have a job, and one has two jobs, by 1/4 and 3/4."""

    def shares(snapshot: JobsSnapshot) -> Shares:
        time = np.array([[1.0], [1.0], [0.25], [0.75]])
        return snapshot.shares(np.minimum(time, snapshot.workers.sum() / 4.0), spare=False)

    failures = Failures(40_000.0, 1e-3, checkpoint=1000.0)
    steps = [5e6] * 4
    done = run(
        on_one(steps), Cluster({"gpu": 4}), shares, round_seconds=0, failures=failures, measured=[0]
    )
    count = len(done.down)
    wanted = count * np.array([1.0, 1.0, 0.25, 0.75]) / 4.0
    assert (np.abs(done.stopped - wanted) < 3.5 * np.sqrt(wanted)).all()
    assert (done.lost > 0.0).tolist() == [True, True, False, False]


def test_a_job_waits_for_its_workers_to_return() -> None:
    wide = Trace.of(["wide"], size=[4], steps=[3e4], types=("gpu",), speed=[[1.0]])
    failures, rules = Failures(20_000.0, 20_000.0), {"round_seconds": 0.0}
    done = run(wide, Cluster({"gpu": 4}), equal_shares, failures=failures, **rules)  # type: ignore[call-overload]
    assert done.complete
    assert done.stopped[0] > 0
    assert (done.running == 0).any()


def test_a_job_that_nothing_runs_is_listed() -> None:
    def never(snapshot: JobsSnapshot) -> Shares:
        return snapshot.shares(np.zeros(snapshot.speed.shape))

    done = run(on_one([100]), ONE, never, round_seconds=0, failures=Failures(job=50.0))
    assert done.state == ("waiting",)
