"""Measures of days, and their means."""

from __future__ import annotations

import numpy as np
import pytest

from walras.shadow.measures import Days, means


def test_sums_are_those_of_the_measured_jobs_by_day() -> None:
    days = Days(np.array([0, 0, 1, -1]), np.array([0.0, 10.0, 100.0, 0.0]), np.ones(4, int), 2)
    start, seconds = np.array([5.0, 10.0, 130.0, 0.0]), np.array([3600.0, 60.0, 30.0, 1e9])
    failed, price = np.array([0.0, 1.0, 0.5, 1.0]), np.array([1.0, 6.0, 2.0, 1.0])
    sums, jobs = days.sums(start, seconds, failed, price)
    assert jobs.tolist() == [2, 1]
    assert sums[0].tolist() == [3605.0, 60.0]
    assert sums[1].tolist() == [5.0, 30.0]
    assert sums[2].tolist() == [3665.0, 60.0]
    assert sums[3].tolist() == [1.0, 0.5]
    assert sums[4] == pytest.approx([1.1, 1.0 / 60.0])
    assert means(sums, jobs)[:2] == pytest.approx([(3605.0 + 60.0) / 2, 35.0 / 3])
    assert means(sums, jobs, np.array([2.0, 0.0]))[:2] == pytest.approx([3605.0, 2.5])
