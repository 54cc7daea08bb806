"""The baselines, the evaluation and the normalisation."""

from __future__ import annotations

import numpy as np
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
