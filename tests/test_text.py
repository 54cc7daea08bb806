"""Numbers of things, and durations in a unit that fits them."""

from __future__ import annotations

import pytest

from walras.text import counted, duration, time_unit


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0, "0 s"),
        (59.9, "59.9 s"),
        (60.0, "1 min"),
        (3599.0, "59.9833 min"),
        (3600.0, "1 h"),
        (86400.0 * 30, "720 h"),
        (float("inf"), "inf s"),
        (float("nan"), "nan s"),
    ],
)
def test_a_duration_has_a_unit_that_fits(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_a_unit_goes_by_the_size() -> None:
    assert time_unit(-7200.0) == ("h", 3600.0)


def test_one_has_the_noun_of_one() -> None:
    assert [counted(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert counted(2, "class", "classes") == "2 classes"
