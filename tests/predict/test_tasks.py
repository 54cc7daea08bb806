"""Tasks: what is measured of them, and what cannot be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from walras.errors import InputError
from walras.predict import (
    Recipe,
    Tasks,
)
from walras.predict.tasks import names_of, tasks_of


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("times", -1.0, r"times\[1, 2\] \(task .* on cluster gold_6226\): is -1"),
        ("times", 0.0, "is 0"),
        ("times", np.inf, "is inf"),
        ("success", 1.2, r"success\[1, 2\].*is 1.2.*0..1"),
        ("success", -0.1, "is -0.1"),
        ("runs", -1.0, "is -1"),
    ],
)
def test_measurements_out_of_range_are_refused(
    small: Recipe, name: str, value: float, message: str
) -> None:
    array = getattr(small.train, name).copy()
    array[1, 2] = value
    with pytest.raises(InputError, match=message):
        replace(small.train, **{name: array})


def test_shapes_that_do_not_belong_together_are_refused(small: Recipe) -> None:
    train = small.train
    for changes in (
        {"times": train.times[:, :5]},
        {"features": train.features[:5]},
        {"features": np.full(train.features.shape, np.nan)},
        {"graphs": train.graphs[:5]},
    ):
        with pytest.raises(InputError):
            replace(train, **changes)


def two() -> Tasks:
    return Tasks(
        names=("a", "b"),
        clusters=("x", "y"),
        features=np.array([[2.0], [5.0]]),
        times=np.array([[1.0, np.nan], [np.nan, np.nan]]),
        success=np.array([[0.5, 1.0], [0.0, np.nan]]),
        feature_names=("width",),
    )


def test_means_leave_out_what_was_not_measured() -> None:
    found = two().mean_times()
    assert found[0] == 1.0
    assert np.isnan(found[1])


def test_taken_tasks_keep_their_columns_and_arrays_cannot_be_changed() -> None:
    taken = two().take(np.array([1, 0, 1]))
    assert taken.names == ("b", "a", "b")
    assert taken.features.tolist() == [[5.0], [2.0], [5.0]]
    assert taken.success[0].tolist() == [1.0, 0.5, 1.0]
    assert taken.runs.tolist() == np.ones((2, 3)).tolist()
    with pytest.raises(ValueError, match="read-only"):
        taken.times[0, 0] = 3.0


def test_a_frame_becomes_tasks_by_the_names_of_its_columns() -> None:
    frame = pd.DataFrame({"depth": [9, 9], "width": [1.5, 2.5]}, index=["p", "q"])
    found = tasks_of(frame, ("x", "y"), ("width",))
    assert (found.names, found.clusters) == (("p", "q"), ("x", "y"))
    assert found.features.tolist() == [[1.5], [2.5]]
    assert np.isnan(found.times).all()
    with pytest.raises(InputError, match="has no column 'width'"):
        tasks_of(frame[["depth"]], ("x", "y"), ("width",))
    with pytest.raises(InputError, match="tasks: is 3"):
        tasks_of(3, ("x",), ())


def test_columns_have_names_where_all_are_words() -> None:
    assert names_of(pd.DataFrame({"a": [1], "b": [2]})) == ("a", "b")
    assert names_of(pd.DataFrame([[1, 2]])) == ()
    assert names_of(np.ones((2, 2))) == ()
