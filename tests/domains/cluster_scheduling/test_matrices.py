"""Users' matrices and vectors, dense, labelled or sparse, as plain checked arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from walras.domains.cluster_scheduling.matrices import (
    Names,
    aligned,
    boolean,
    compressed,
    labels,
    vector,
)
from walras.errors import InputError

_NAMES = Names(("a", "b"), ("x", "y", "z"))


def test_names_stand_beside_positions_where_they_are_known() -> None:
    assert (_NAMES.resource(1), _NAMES.demand(2)) == ("1 (b)", "2 (z)")
    assert Names(None, None).demand(2) == "2"


def test_a_sparse_pair_that_comes_twice_is_added() -> None:
    given = sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 3))
    assert compressed(given, "T").toarray().tolist() == [[0.0, 3.0, 0.0], [0.0, 0.0, 0.0]]
    with pytest.raises(InputError, match="T: is not a numeric matrix"):
        compressed(sp.coo_array(np.ones((2, 3)) * 1j), "T")


def test_a_series_is_matched_by_its_labels() -> None:
    given = pd.Series([3.0, 1.0, 2.0], index=["z", "x", "y"])
    assert vector(given, "size", _NAMES.demands, "demand", 3, "").tolist() == [1.0, 2.0, 3.0]
    assert vector(given, "size", None, "demand", 3, "").tolist() == [3.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([1.0, 2.0], r"size: has shape \(2,\)"),
        ([1.0, 0.0, 2.0], r"size\[1\] \(y\): is 0"),
        ([1.0, 2.0, np.inf], r"size\[2\] \(z\): is inf"),
        (["1", "b", "c"], "size"),
        (pd.Series([1.0, 2.0, 3.0], index=["x", "y", "w"]), "labels of size"),
    ],
)
def test_a_vector_that_does_not_fit_is_named(given: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        vector(given, "size", _NAMES.demands, "demand", 3, "give more")


def test_masks_are_booleans_of_the_shape_in_the_order_of_the_labels() -> None:
    frame = pd.DataFrame([[1, 0, 1], [0, 0, 1]], index=["b", "a"], columns=["z", "x", "y"])
    found = boolean(frame, (2, 3), _NAMES)
    assert isinstance(found, np.ndarray)
    assert found.tolist() == [[False, True, False], [False, True, True]]
    for given, words in (
        (np.ones((3, 2)), "allowed: has shape"),
        ([[1, 2, 0], [0, 0, 1]], "other than 0 and 1"),
        ([[1], [1, 2]], "rows of different lengths"),
    ):
        with pytest.raises(InputError, match=words):
            boolean(given, (2, 3), _NAMES)


def test_a_frame_without_a_label_is_refused_and_more_are_left_out() -> None:
    frame = pd.DataFrame(np.arange(6).reshape(2, 3), index=["a", "q"], columns=["x", "y", "z"])
    assert aligned(frame, ("a",), ("z", "x"), "previous").tolist() == [[2, 0]]
    with pytest.raises(InputError, match="previous"):
        aligned(frame, ("a", "b"), ("x",), "previous")
    assert labels(None, "rows") is None
    with pytest.raises(InputError, match="rows"):
        labels(["a", "a"], "rows")
