"""Features of tasks from frames, series and mappings, in the order of the tasks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from walras.errors import InputError
from walras.predict.graphs.features import feature_rows, position_of


def test_rows_come_in_the_order_of_the_tasks_whatever_holds_them() -> None:
    frame = pd.DataFrame({"w": [1, 2, 3], "d": [True, False, True]}, index=["a", " b ", "c"])
    assert feature_rows(frame, ["c", "b"]).tolist() == [[3.0, 1.0], [2.0, 0.0]]
    assert feature_rows(frame["w"], ["b"]).tolist() == [[2.0]]
    given = {"a": [1, 2], "b": np.array([[3.0], [4.0]]), "c": {0: 5, 1: "6"}}
    assert feature_rows(given, ["b", "c", "a"]).tolist() == [[3.0, 4.0], [5.0, 6.0], [1.0, 2.0]]
    assert feature_rows({"a": 7, "b": 8}, ["a", "b"]).tolist() == [[7.0], [8.0]]


def test_each_task_has_one_row() -> None:
    assert position_of(["a", "b"]) == {"a": 0, "b": 1}
    with pytest.raises(InputError, match="rows 1 and 3: task 'a' has two rows"):
        position_of(["a", "b", "a"])
    with pytest.raises(InputError, match="task 'z' of the log has none"):
        feature_rows({"a": 1.0}, ["z"])


@pytest.mark.parametrize("value", [np.nan, np.inf, "red", None])
def test_a_cell_that_is_no_finite_number_is_named(value: object) -> None:
    with pytest.raises(InputError, match="features, task 'b', column '1'") as caught:
        feature_rows({"a": [1, 2], "b": [3, value]}, ["a", "b"])
    assert "get_dummies" in str(caught.value)


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(InputError, match="features: are a ndarray"):
        feature_rows(np.ones((2, 2)), ["a"])  # type: ignore[arg-type]
