"""The share done follows the seconds of cases that are alike."""

from __future__ import annotations

from tests.simulate.small import ONE, on_one

from walras.policies import fifo
from walras.simulate.compare.case import Case
from walras.simulate.compare.pace import Pace


def _cases(*names: str) -> list[Case]:
    return [Case("t", name, k, on_one([1.0]), ONE, fifo, None, {}) for k, name in enumerate(names)]


def test_a_slow_policy_weighs_as_long_as_it_took() -> None:
    pace = Pace(_cases("quick", "slow", "quick", "slow"), {})
    assert pace.thousandths() == 0
    pace.finished(0, 1.0)
    pace.finished(1, 9.0)
    assert pace.thousandths() == 500
    pace.finished(2, 1.0)
    assert pace.thousandths() == 550
    assert pace.thousandths(running=4.5) == 775
    pace.finished(3, 9.0)
    assert pace.thousandths() == 1000


def test_what_was_kept_tells_the_pace_and_is_no_work() -> None:
    pace = Pace(_cases("slow", "slow", "slow"), {0: (None, 5.0)})
    assert pace.thousandths() == 0
    pace.finished(1, 5.0)
    assert pace.thousandths() == 500
