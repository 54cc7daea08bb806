"""Pairs of jobs that may share workers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from walras.rounds.pairs import paired_speed, pairs_of


@given(st.integers(0, 10_000))
def test_pairs_are_those_of_one_size_that_fit_together_somewhere(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, g, t = 7, 3, 2
    group, size = rng.integers(-1, g, n), rng.integers(1, 3, n)
    paired = rng.uniform(0.5, 1.0, (g, g, t)) * (rng.random((g, g, t)) < 0.7)
    fits = rng.random((n, t)) < 0.8
    found = pairs_of(group, paired, size, fits)
    expected = {}
    for one in range(n):
        for other in range(one + 1, n):
            if size[one] != size[other] or min(group[one], group[other]) < 0:
                continue
            speed = np.zeros((2, t))
            for kind in range(t):
                both = (
                    paired[group[one], group[other], kind],
                    paired[group[other], group[one], kind],
                )
                if min(both) > 0 and fits[one, kind] and fits[other, kind]:
                    speed[:, kind] = both
            if speed.any():
                expected[one, other] = speed
    assert [tuple(pair) for pair in found.jobs.tolist()] == list(expected)
    for speed, jobs in zip(found.speed, expected, strict=True):
        assert np.array_equal(speed, expected[jobs])
    every = np.array([(a, b) for a in range(n) for b in range(a + 1, n)])
    places = {jobs: k for k, jobs in enumerate(expected)}
    assert found.places(every).tolist() == [places.get((a, b), -1) for a, b in every.tolist()]


def test_jobs_that_share_with_nobody_or_differ_in_size_do_not_run_together() -> None:
    group, size = np.array([0, -1, 0, 0]), np.array([1, 2, 1, 2])
    jobs = np.array([[0, 1], [0, 2], [0, 3], [1, 3]])
    found = paired_speed(jobs, group, np.full((1, 1, 1), 0.9), size, np.ones((4, 1), np.bool_))
    assert found[:, :, 0].tolist() == [[0, 0], [0.9, 0.9], [0, 0], [0, 0]]
    none = paired_speed(jobs, np.full(4, -1), np.zeros((0, 0, 1)), size, np.ones((4, 1), np.bool_))
    assert not none.any()
