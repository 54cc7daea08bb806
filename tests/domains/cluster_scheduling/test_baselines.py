"""The baselines, the evaluation and the normalisation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.domains.instances import draw

from walras.domains import cluster_scheduling as cs


@given(st.integers(0, 10_000))
def test_baselines_are_feasible_and_serve_everybody(seed: int) -> None:
    d = draw(seed, m=3, n=9)
    quota = cs.Quota({"org": [0, 1, 2, 3], "ann": [1, 2]}, {"org": 2.0, "ann": 0.5})
    for policy in (cs.greedy, cs.equal_share):
        for limits in (None, quota):
            x = policy(d.throughput, d.size, d.capacity, d.weight, quota=limits)
            judged = cs.evaluate(d.throughput, d.size, d.capacity, x, d.weight, quota=limits)
            assert judged.violation < 1e-12
            assert np.all(judged.throughput > 0)
            assert np.isfinite(judged.log_fairness)


def test_greedy_by_hand() -> None:
    # The first job takes the fast type, the second finds it half taken: 2 * 1/2 > 0.9.
    T = np.array([[2.0, 2.0], [0.5, 0.9]])
    assert cs.greedy(T, [1, 1], [1, 1]).tolist() == [[0.5, 0.5], [0, 0]]
    T[1, 1] = 1.1
    assert cs.greedy(T, [1, 1], [1, 1]).tolist() == [[1, 0], [0, 1]]
    # With a higher weight the second job comes first, and the first finds the type taken.
    T[1] = [1.5, 0.5]
    assert cs.greedy(T, [1, 1], [1, 1], weight=[1, 2]).tolist() == [[0, 1], [1, 0]]


def test_a_job_larger_than_any_type_runs_part_of_the_time() -> None:
    x = cs.greedy(np.ones((1, 1)), [8], [2])
    assert x.tolist() == [[0.25]]


def test_equal_share_by_hand() -> None:
    # Two jobs share 4 + 4 GPUs; a job of 8 GPUs runs half the time, one of 1 GPU all the time.
    x = cs.equal_share(np.ones((2, 2)), [8, 1], [4, 4])
    assert x.tolist() == [[0.25, 0.5], [0.25, 0.5]]
    x = cs.equal_share(np.ones((1, 2)), [8, 8], [8], weight=[1, 3])
    assert x.tolist() == [[0.25, 0.75]]
    x = cs.equal_share(np.array([[1.0, 1.0], [0.0, 1.0]]), [8, 8], [4, 4])
    assert x.tolist() == [[0.25, 0.25], [0, 0.25]]


def test_normalised_per_gpu_is_gavels_formula() -> None:
    d = draw(1)
    got = cs.normalise(d.throughput, d.size, d.capacity)
    mean = d.capacity @ d.throughput / d.capacity.sum()
    assert got == pytest.approx(d.throughput * d.size / mean)


def test_normalised_per_share_makes_equal_share_one() -> None:
    d = draw(2)
    T = cs.normalise(d.throughput, d.size, d.capacity, per="share")
    x = cs.equal_share(T, d.size, d.capacity)
    assert cs.evaluate(T, d.size, d.capacity, x).throughput == pytest.approx(1)


def test_evaluation_by_hand() -> None:
    T = np.array([[2.0, 0.0], [1.0, 4.0]])
    judged = cs.evaluate(T, [1, 2], [1, 2], [[0.5, 0], [0.5, 0.5]], weight=[1, 3])
    assert judged.throughput.tolist() == [1.5, 2.0]
    assert judged.used.tolist() == [0.5, 1.5]
    assert judged.utilisation == pytest.approx(2 / 3)
    assert judged.least == pytest.approx(2 / 3)
    assert judged.median == judged.mean == 1.75
    assert judged.log_fairness == pytest.approx((np.log(1.5) + 3 * np.log(2)) / 4)
    assert judged.violation == 0


@pytest.mark.parametrize(
    ("x", "violation"),
    [
        ([[1.5, 0], [0, 0]], 0.5),  # more than all the time
        ([[0, 0], [0, 2.0]], 1.0),  # time and 4 of 2 GPUs
        ([[0, 0.25], [0, 0]], 0.25),  # a type on which the job cannot run
        ([[-0.1, 0], [0, 0]], 0.1),
        ([[0, 0], [0, 0.75]], 0.5),  # 1.5 GPUs of a quota of 1
    ],
)
def test_evaluation_sees_every_violation(x: list[list[float]], violation: float) -> None:
    T = np.array([[2.0, 0.0], [1.0, 4.0]])
    quota = cs.Quota({"ann": [1]}, {"ann": 1.0}) if violation == 0.5 and x[1][1] else None
    judged = cs.evaluate(T, [1, 2], [9, 2], x, quota=quota)
    assert judged.violation == pytest.approx(violation)


def test_evaluation_matches_labels() -> None:
    T = pd.DataFrame([[2.0, 1.0], [1.0, 4.0]], index=["p", "q"], columns=["a", "b"])
    x = pd.DataFrame([[0.5, 0.25], [0.1, 0.2]], index=["q", "p"], columns=["b", "a"])
    judged = cs.evaluate(T, [1, 1], [1, 1], x)
    assert judged.throughput == pytest.approx([2 * 0.2 + 0.25, 0.1 + 4 * 0.5])


def test_quota_of_users() -> None:
    quota = cs.Quota.of_users(["ann", "bob", "ann", "eve"], {"ann": 2.0, "bob": 1.0, "zoe": 5.0})
    assert quota == cs.Quota({"ann": [0, 2], "bob": [1]}, {"ann": 2.0, "bob": 1.0})
