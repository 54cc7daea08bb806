"""The share done follows the seconds of cases that are alike."""

from __future__ import annotations

import pytest
from tests.simulate.small import ONE, on_one

from walras.policies import fifo
from walras.simulate.compare.case import Case
from walras.simulate.compare.pace import Pace


def _cases(*names: str) -> list[Case]:
    return [Case("t", name, k, on_one([1.0]), ONE, fifo, None, {}) for k, name in enumerate(names)]


def test_a_slow_policy_weighs_as_long_as_it_took() -> None:
    pace = Pace(_cases("quick", "slow", "quick", "slow"), {})
    assert pace.share() == 0.0
    pace.finished(0, 1.0)
    pace.finished(1, 9.0)
    assert pace.share() == pytest.approx(0.5)
    pace.finished(2, 1.0)
    assert pace.share() == pytest.approx(0.55)
    assert pace.share({3: (4.5, 0.0)}) == pytest.approx(0.775)
    pace.finished(3, 9.0)
    assert pace.share() == 1.0


def test_what_was_kept_tells_the_pace_and_is_no_work() -> None:
    pace = Pace(_cases("slow", "slow", "slow"), {0: (None, 5.0)})
    assert pace.share() == 0.0
    pace.finished(1, 5.0)
    assert pace.share() == pytest.approx(0.5)


def test_how_far_the_running_cases_are_tells_the_pace_before_one_ends() -> None:
    pace = Pace(_cases("quick", "slow", "quick", "slow"), {})
    assert pace.share({0: (1.0, 0.0), 1: (1.0, 0.01)}) == 0.0  # too early to say
    assert pace.share({0: (1.0, 0.5), 1: (1.0, 0.05)}) == pytest.approx(2.0 / 44.0)
    assert pace.share({1: (5.0, 0.25)}) == pytest.approx(5.0 / 80.0)  # all as the one known
    pace.finished(0, 2.0)
    assert pace.share({1: (10.0, 0.5), 0: (1.0, 0.5)}) == pytest.approx(12.0 / 44.0)


def test_a_case_that_tells_nothing_has_something_left() -> None:
    pace = Pace(_cases("a", "a"), {})
    pace.finished(0, 10.0)
    assert pace.share({1: (500.0, 0.0)}) == pytest.approx(510.0 / 510.5)
