"""Shares realised exactly: queues whose mean time is known in closed form."""

from __future__ import annotations

from math import factorial

import numpy as np
import pytest
from tests.simulate.small import equal_shares, on_one

from walras import policies
from walras.rounds import JobsSnapshot, Shares
from walras.simulate import Cluster, Trace, run
from walras.simulate.time_shared import Policy
from walras.types import Floats

JOBS, WARM, SEEDS = 1200, 200, 6
T_95 = 2.571  # Student's t, 5 degrees of freedom


def _means(load: float, workers: int, policy: Policy, *, long_tailed: bool = False) -> Floats:
    """Mean time in the system of each seed, of jobs of mean work 1."""
    found = []
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        work = rng.exponential(1.0, JOBS)
        if long_tailed:  # two kinds of jobs, squared coefficient of variation 3.25
            work *= rng.choice([0.5, 3.0], JOBS, p=[0.8, 0.2])
        trace = Trace.of(
            [str(k) for k in range(JOBS)],
            steps=work,
            arrival=np.cumsum(rng.exponential(1.0 / (load * workers), JOBS)),
            types=("gpu",),
            speed=np.ones((JOBS, 1)),
        )
        cluster, measured = Cluster({"gpu": workers}), slice(WARM, None)
        done = run(trace, cluster, policy, round_seconds=0, measured=measured)
        found.append(done.completion.mean())
    return np.array(found)


def _within(found: Floats, truth: float) -> None:
    half = T_95 * found.std(ddof=1) / np.sqrt(len(found))
    assert abs(found.mean() - truth) < half
    assert half < 0.2 * truth


def test_one_server_first_in_first_out() -> None:
    """M/M/1: the mean time in the system is 1 / (1 - load)."""
    _within(_means(0.6, 1, policies.fifo()), 1.0 / (1.0 - 0.6))


def test_several_servers_first_in_first_out() -> None:
    """M/M/c: Erlang's C gives the chance to wait."""
    c, load = 3, 0.75
    offered = c * load
    waiting = offered**c / factorial(c) / (1 - load)
    chance = waiting / (waiting + sum(offered**k / factorial(k) for k in range(c)))
    _within(_means(load, c, policies.fifo()), 1.0 + chance / (c * (1.0 - load)))


def test_one_server_shared_by_all() -> None:
    """M/G/1 with processor sharing: the mean is that of M/M/1, whatever the law of the work."""
    _within(_means(0.6, 1, equal_shares, long_tailed=True), 1.0 / (1.0 - 0.6))


def test_shares_are_realised_exactly() -> None:
    done = run(on_one([100, 200]), Cluster({"gpu": 1}), equal_shares, round_seconds=0)
    assert done.completion.tolist() == pytest.approx([200.0, 300.0])
    assert done.received.ravel().tolist() == pytest.approx([100.0, 200.0])
    assert done.rounds["at"].tolist() == pytest.approx([0.0, 200.0])


def test_a_job_that_nothing_runs_is_listed() -> None:
    def never(snapshot: JobsSnapshot) -> Shares:
        return snapshot.shares(np.zeros(snapshot.speed.shape))

    done = run(on_one([100]), Cluster({"gpu": 1}), never, round_seconds=0)
    assert not done.complete
    assert done.state == ("waiting",)
