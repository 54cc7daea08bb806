"""The share done follows the seconds of cases that are alike."""

from __future__ import annotations

import pytest
from tests.simulate.small import ONE, on_one

from walras.policies import fifo
from walras.simulate.compare.case import Case
from walras.simulate.compare.pace import Pace, Running


def _cases(*names: str) -> list[Case]:
    return [Case("t", name, k, on_one([1.0]), ONE, fifo, None, {}) for k, name in enumerate(names)]


def _left(pace: Pace, elapsed: float, running: Running | None = None) -> float:
    """Seconds left, as they follow from the share that is done."""
    share = pace.share(elapsed, running)
    return elapsed * (1.0 - share) / share


def test_a_slow_policy_weighs_as_long_as_it_took() -> None:
    pace = Pace(_cases("quick", "slow", "quick", "slow"), {})
    assert pace.share(1.0) == 0.0
    pace.finished(0, 1.0)
    pace.finished(1, 9.0)
    assert _left(pace, 10.0) == pytest.approx(10.0)
    pace.finished(2, 1.0)
    assert _left(pace, 11.0) == pytest.approx(9.0)
    assert _left(pace, 15.5, {3: (4.5, 0.0)}) == pytest.approx(4.5)
    pace.finished(3, 9.0)
    assert pace.share(20.0) == 1.0


def test_what_was_kept_tells_the_pace_and_is_no_work() -> None:
    pace = Pace(_cases("slow", "slow", "slow"), {0: (None, 5.0)})
    assert _left(pace, 0.5) == pytest.approx(10.0)
    pace.finished(1, 5.0)
    assert _left(pace, 5.0) == pytest.approx(5.0)


def test_how_far_the_running_cases_are_tells_the_pace_before_one_ends() -> None:
    pace = Pace(_cases("quick", "slow", "quick", "slow"), {})
    assert pace.share(1.0, {0: (1.0, 0.0), 1: (1.0, 0.004)}) == 0.0  # too early to say
    assert _left(pace, 2.0, {0: (1.0, 0.5), 1: (1.0, 0.05)}) == pytest.approx(1 + 19 + 2 + 20)
    assert _left(pace, 5.0, {1: (5.0, 0.25)}) == pytest.approx(75.0)  # all as the one known
    pace.finished(0, 2.0)
    assert _left(pace, 12.0, {1: (10.0, 0.5)}) == pytest.approx(10 + 2 + 20)


def test_processes_work_at_a_time_and_their_start_is_no_pace() -> None:
    pace = Pace(_cases("a", "a", "a", "a"), {}, workers=2)
    assert _left(pace, 9.0, {0: (1.0, 0.1), 1: (1.0, 0.1)}) == pytest.approx((9 + 9 + 20) / 2)
    for k in range(3):
        pace.finished(k, 10.0)
    assert _left(pace, 28.0, {3: (5.0, 0.5)}) == pytest.approx(5.0)  # one of them has nothing to do


def test_a_case_that_tells_nothing_has_something_left() -> None:
    pace = Pace(_cases("a", "a"), {})
    pace.finished(0, 10.0)
    assert _left(pace, 510.0, {1: (500.0, 0.0)}) == pytest.approx(0.5)
