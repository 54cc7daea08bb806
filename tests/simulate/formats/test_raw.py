"""Rows as a file has them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from walras import DataError
from walras.simulate import Refusal
from walras.simulate.formats.raw import Raw, text_of


def test_rows_that_are_left_out_are_counted_by_reason() -> None:
    raw = Raw(pd.DataFrame({"a": ["1", "x", "3"]}), np.array([2, 5, 6]))
    assert raw.without(np.zeros(3, np.bool_), "none") is raw
    once = raw.without(np.array([True, False, False]), "first")
    twice = once.without(np.array([False, True]), "first")
    assert (twice.row.tolist(), dict(twice.left_out)) == ([5], {"first": 2})
    assert np.isnan(twice.number("a")).tolist() == [True]


def test_a_refusal_says_where() -> None:
    assert str(Refusal(3, "", "is no object", "job")) == "job 3: is no object"


def test_a_folder_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Is a directory"):
        text_of(tmp_path)
