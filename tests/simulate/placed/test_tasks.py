"""Traces of tasks: defaults, tables of predictions, a truth around them, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from walras.errors import InputError
from walras.rounds import FeatureSet
from walras.simulate import TaskTrace


def test_what_is_predicted_is_the_truth_unless_it_is_drawn() -> None:
    tasks = TaskTrace.of(
        ["a", "b"], seconds=[[10.0, 20.0], [30.0, np.inf]], chance=[[0.9, 1], [0, 0.5]]
    )
    drawn = tasks.with_truth(0.5, 0.5, seed=1)
    assert np.array_equal(drawn.predicted_seconds, tasks.seconds)
    assert np.isinf(drawn.seconds[1, 1])
    assert (drawn.seconds != tasks.seconds)[:, 0].all()
    assert (drawn.chance[0, 1], drawn.chance[1, 0]) == (1.0, 0.0)  # sure is sure
    same = tasks.with_truth(0.5, 0.5, seed=1)
    assert np.array_equal(same.seconds, drawn.seconds)
    assert not np.array_equal(tasks.with_truth(0.5, seed=2).seconds, drawn.seconds)


def test_the_truth_has_the_spread_that_is_asked_for() -> None:
    tasks = TaskTrace.of([str(j) for j in range(4000)]).with_truth(0.3)
    errors = np.log(tasks.seconds / tasks.predicted_seconds)
    assert errors.mean() == pytest.approx(0.0, abs=4 * 0.3 / np.sqrt(4000))
    assert errors.std() == pytest.approx(0.3, rel=0.05)


def test_predictions_are_looked_up_by_number_and_name() -> None:
    tasks = TaskTrace.of(
        ["a", "b"], seconds=[[10.0, 20.0], [30.0, np.inf]], clusters=("east", "west")
    )
    found = tasks.predict(np.array([[1], [0]], np.float32), ("row",), ("west", "east"))
    assert found.seconds.tolist() == [[1e15, 20.0], [30.0, 10.0]]
    assert tasks.on(("west",)).seconds.tolist() == [[20.0], [np.inf]]
    with pytest.raises(InputError, match="predict from the features"):
        tasks.predict(np.zeros((1, 1), np.float32), ("layers",), ("east",))
    with pytest.raises(InputError, match="has 'north'"):
        tasks.predict(np.zeros((1, 1), np.float32), ("row",), ("north",))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"seconds": [1.0]}, "has 1 dimensions"),
        ({"size": [0]}, r"size\[0\]"),
        ({"chance": [[1.5]]}, r"chance\[0\]"),
        ({"max_attempts": [0]}, r"max_attempts\[0\]"),
        ({"requires": [1]}, r"requires\[0\]"),
        ({"deadline": [np.nan]}, r"deadline\[0\]"),
        ({"colour": ["red"]}, "there is no field 'colour'"),
        ({"features": FeatureSet(("x",), np.zeros((2, 1), np.float32))}, "has 2 rows"),
        ({"clusters": ("a", "b")}, "shape"),
    ],
)
def test_what_cannot_be_used_is_named(given: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        TaskTrace.of(["a"], **given)


def test_it_is_shown_in_one_line_and_as_a_table() -> None:
    tasks = TaskTrace.of(["a", "b"], arrival=[3600.0, 5400.0])
    assert repr(tasks) == "TaskTrace(2 tasks over 30 min, given)"
    assert repr(TaskTrace.of(["a"], arrival=[60.0])) == "TaskTrace(1 task over 0 s, given)"
    assert tasks.frame().loc["a", "seconds cluster 0"] == 60.0
