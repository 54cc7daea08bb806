"""A comparison in words."""

from __future__ import annotations

from tests.shadow.test_result import made

from walras.shadow import MEASURES
from walras.shadow.wording import MEANING, sentences


def test_words_say_what_the_intervals_tell() -> None:
    makespan, waiting, turnaround, failures, cost, rest = sentences(made())
    assert makespan == (
        "makespan: 11% less than in the log, 25% of the most that any policy could have saved."
    )
    assert waiting == "waiting: 12% more than in the log."
    assert turnaround == "turnaround: no difference that the interval tells from 0."
    assert failures.endswith("tells from 0.")
    assert cost.startswith("cost: 50% less")
    assert rest.startswith("25% of the jobs ran elsewhere than in the log; 80% of these")


def test_each_measure_has_its_meaning() -> None:
    assert tuple(MEANING) == MEASURES
