"""Classes and units: what they stand for, and what their prices prove."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.policies.drawn import sharing_jobs

from walras.policies.central_units import Classes, classes_of, most, program, shares, units_of
from walras.programs.central_path import linear
from walras.rounds import JobsSnapshot
from walras.types import Floats


def _apart(jobs: JobsSnapshot) -> Classes:
    speed = np.where(jobs.fits, jobs.speed, 0.0)
    return Classes.apart(speed, 1.0 / jobs.weight, jobs.size, jobs.group)


@given(st.integers(0, 2000))
def test_no_times_better_what_prices_prove(seed: int) -> None:
    """The largest Σ l_k s_k by HiGHS is at most what any prices prove, and what its own do."""
    jobs = sharing_jobs(seed, 1 + seed % 8)
    classes, rng = _apart(jobs), np.random.default_rng(seed)
    units, k = units_of(classes, jobs.paired), len(jobs)
    stated = program(classes, units, jobs.workers, linear(np.ones(2 * k + 3)))
    matrix, pulls = stated.matrix.toarray(), rng.random(k)
    kept = np.append(np.tile([False, True], k), [True] * 3)
    gain = matrix[~kept].T @ pulls
    found = linprog(gain, A_ub=matrix[kept], b_ub=stated.right[kept])
    best = -float(found["fun"])

    def proved(prices: Floats) -> float:
        dual = np.zeros(len(kept))
        dual[~kept], dual[kept] = pulls, prices
        return most(classes, units, jobs.workers, dual)

    assert proved(rng.random(kept.sum())) >= best * (1 - 1e-9)
    assert proved(-found["ineqlin"]["marginals"]) == pytest.approx(best, rel=1e-7)


def test_equal_rows_are_one_class() -> None:
    speed, one = np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 0.0]]), np.ones(3, np.int64)
    classes = classes_of(speed, np.ones(3), one, -one)
    assert classes.count[classes.of].tolist() == [2, 2, 1]
    assert classes.of[0] == classes.of[1] != classes.of[2]


def test_pairs_are_of_jobs_that_share_and_in_order() -> None:
    """Jobs 0, 2 and 3 share; job 1 shares with nobody, job 4 is larger."""
    speed, size, group = np.ones((5, 1)), np.array([1, 1, 1, 1, 2]), np.array([0, -1, 0, 0, 0])
    classes = Classes.apart(speed, np.ones(5), size, group)
    units = units_of(classes, np.full((1, 1, 1), 0.6))
    assert units.fastest.tolist() == [1.0] * 5
    x = np.arange(1.0, len(units.kind) + 1.0)
    time, pair, pair_time = shares(x, classes, units, np.array([3]))
    assert time.ravel().tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert pair.tolist() == [[0, 2], [0, 3], [2, 3]]
    assert pair_time.ravel().tolist() == [6.0, 7.0, 8.0]
