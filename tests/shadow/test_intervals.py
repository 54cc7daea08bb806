"""Intervals hold as often as they say, and the studentised bootstrap is what it should be."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.shadow import Setting, coverage

from walras.shadow.intervals import Draws, ends


def test_draws_of_a_normal_mean_give_its_t_interval() -> None:
    rng = np.random.default_rng(0)
    days = rng.normal(size=(20, 5))
    drawn = days[rng.integers(0, 20, (20000, 20))]
    error = drawn.std(axis=1) / np.sqrt(20)
    draws = Draws(drawn.mean(axis=1) - days.mean(axis=0), error, days.std(axis=0) / np.sqrt(20))
    t_interval = 1.729 * days.std(axis=0, ddof=1) / np.sqrt(20)
    assert ends(draws, 20, 0.9) == pytest.approx(t_interval, rel=0.12)


def test_without_draws_nothing_is_promised() -> None:
    none = np.zeros((0, 5))
    assert np.isinf(ends(Draws(none, none, np.ones(5)), 20, 0.9)).all()


def test_draws_of_one_day_do_not_make_the_interval_endless() -> None:
    deviation = np.tile([1.0, -1.0], (5, 10)).T
    reach = ends(Draws(deviation, np.zeros((20, 5)), np.ones(5)), 10**9, 0.9)
    assert reach == pytest.approx(np.full(5, 4.0))


def test_intervals_hold_about_as_often_as_they_say() -> None:
    """Of 12 logs at a chance of 0.9, fewer than 8 hold with a chance of one in 200."""
    frame = coverage(range(12), Setting(days=16, jobs_a_day=40, slots=3, resamples=100))
    assert (frame["coverage"] >= 8 / 12).all(), frame.to_string()


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_intervals_hold_in_nine_of_ten_logs() -> None:
    """90 % +- 3 %, and two standard errors of the share itself."""
    frame = coverage(range(1000, 1400), Setting(), workers=2)
    allowed = 0.03 + 2.0 * np.sqrt(0.9 * 0.1 / 400)
    assert ((frame["coverage"] - 0.9).abs() <= allowed).all(), frame.to_string()
