"""The time left, on a simulated clock: right at a steady pace, and never telling a jump."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from walras.cli.common.time_left import TimeLeft


def shown(left: TimeLeft, shares: Iterator[tuple[float, float]]) -> list[float]:
    """What is shown in one stage at (seconds, share done), without what is not known."""
    left.begin()
    found = [left.after(elapsed, share) for elapsed, share in shares]
    return [seconds for seconds in found if seconds is not None]


def grows(seconds: list[float]) -> float:
    """Largest factor from the least time shown before to the next one."""
    least = np.minimum.accumulate(seconds)
    return float(np.max(np.array(seconds[1:]) / np.maximum(least[:-1], 1e-12), initial=0.0))


def test_at_the_pace_expected_it_is_right_from_the_beginning() -> None:
    left = TimeLeft(10.0)
    assert [left.after(k, k / 10) for k in range(11)] == pytest.approx(range(10, -1, -1))


def test_a_pace_that_is_not_known_is_reported_after_a_tenth_and_is_right() -> None:
    left = TimeLeft(0.0)
    seconds = [left.after(k, k / 60) for k in range(61)]
    assert seconds[:6] == [None] * 6
    assert seconds[6:] == pytest.approx(list(range(54, -1, -1)))


def test_a_slow_first_step_does_not_make_the_time_left_jump() -> None:
    left = TimeLeft(10.0)
    assert left.after(0.0, 0.0) == 10.0
    assert left.after(4.0, 0.01) is None  # 18 s: longer than a fifth more than was shown
    assert left.after(6.0, 0.6) == pytest.approx(4.0)


def test_a_new_stage_may_begin_with_any_time() -> None:
    left = TimeLeft(10.0)
    assert left.after(5.0, 0.5) == pytest.approx(5.0)
    assert left.after(50.0, 0.5) is None
    left.begin()
    assert left.after(50.0, 0.5) == pytest.approx(27.5)


def test_a_share_of_seconds_is_believed_at_once_and_may_grow() -> None:
    left = TimeLeft(0.0, of_seconds=True)
    assert left.after(1.0, 0.0) is None  # nothing is known yet
    assert left.after(2.0, 0.02) == pytest.approx(98.0)
    assert left.after(3.0, 0.01) == pytest.approx(297.0)
    assert left.after(50.0, 1.0) == 0.0
    assert left.after(60.0, 0.5) == pytest.approx(60.0)


def test_it_is_never_more_than_what_a_limit_leaves() -> None:
    left = TimeLeft(0.0, limit=20.0)
    assert left.after(1.0, 0.0) == 19.0  # nothing is known but the limit
    assert left.after(10.0, 0.9) == pytest.approx(10 / 9)
    assert TimeLeft(0.0, limit=5.0).after(9.0, 0.5) == 0.0


def test_compiling_is_no_pace_but_counts_against_a_limit() -> None:
    assert TimeLeft(0.0).after(31.0, 0.5, compiling=30.0) == pytest.approx(1.0)
    assert TimeLeft(0.0, limit=31.5).after(31.0, 0.5, compiling=30.0) == pytest.approx(0.5)


@given(
    stages=st.lists(
        st.tuples(
            st.floats(0.05, 50.0),  # seconds that the stage takes, over those expected
            st.floats(0.2, 5.0),  # its course: the share done is the time's share to this power
        ),
        min_size=1,
        max_size=6,
    ),
    known=st.booleans(),
)
def test_within_a_stage_it_never_grows_by_more_than_a_fifth(
    stages: list[tuple[float, float]], known: bool
) -> None:
    count = len(stages)
    left, began = TimeLeft(10.0 * count if known else 0.0), 0.0
    for k, (slower, power) in enumerate(stages):
        lasts = 10.0 * slower
        course = np.linspace(0.0, 1.0, 80)
        steps = ((began + lasts * u, (k + u**power) / count) for u in course.tolist())
        assert grows(shown(left, steps)) <= 1.2 * (1 + 1e-12)
        began += lasts


def test_a_solve_whose_gaps_fall_unevenly_is_reported_most_of_the_time() -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        falls = np.cumsum(random.lognormal(0.0, 0.7, 200))
        falls /= falls[-1]
        seconds = shown(TimeLeft(0.0), zip(range(200), falls.tolist(), strict=True))
        assert len(seconds) > 120
        assert grows(seconds) <= 1.2
