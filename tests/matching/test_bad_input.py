"""What matching refuses: one error that names the place, the range and the remedy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import walras as wl
from walras.matching import Decay, Round, decode, evaluate, match, match_rounds, pair_ratio

T = np.array([[1.0, 2.0], [2.0, 1.0]])
A = np.array([[0.9, 0.5], [0.6, 0.8]])


def _with(array: np.ndarray, value: float) -> np.ndarray:
    out = array.copy()
    out[1, 0] = value
    return out


@pytest.mark.parametrize(
    ("times", "success", "options", "words"),
    [
        (_with(T, -1.0), A, {}, r"times\[cluster 1, task 0\]: is -1"),
        (_with(T, 0.0), A, {}, r"times\[cluster 1, task 0\]: is 0"),
        (_with(T, np.nan), A, {}, r"times\[cluster 1, task 0\]: is NaN"),
        (T, _with(A, 1.2), {}, r"success\[cluster 1, task 0\]: is 1.2; allowed: 0 to 1"),
        (T, _with(A, -0.1), {}, r"success\[cluster 1, task 0\]: is -0.1"),
        (T, _with(A, np.nan), {}, r"success\[cluster 1, task 0\]: is NaN"),
        (np.full((2, 2), np.inf), A, {}, r"times\[task 0\]: no cluster can run the task"),
        (T, A[:, :1], {}, r"success: has shape \(2, 1\); allowed: \(2, 2\)"),
        (T[0], A[0], {}, r"times: has shape \(2,\)"),
        (np.zeros((2, 0)), np.zeros((2, 0)), {}, r"times: has shape \(2, 0\)"),
        ([["x", 1], [1, 1]], A, {}, "times: is not numeric"),
        (T, A, {"min_success": 1.5}, "min_success: is 1.5; allowed: a number, 0 to 1"),
        (T, A, {"shortfall_price": -1.0}, "shortfall_price: is -1"),
        (T, A, {"clusters": ["a", "a"]}, "clusters: the label 'a' appears twice"),
        (T, A, {"tasks": ["a"]}, "tasks: has 1 labels"),
        (T, A, {"method": "guess"}, "setting method: is 'guess'"),
        (T, A, {"tolerance": -1.0}, "setting tolerance: is -1.0"),
        (T, A, {"time_limit": -1.0}, "setting time_limit"),
        (T, A, {"seed": -1}, "setting seed"),
        (T, A, {"threads": 0}, "setting threads"),
        (T, A, {"times_interval": np.ones((2, 2))}, "times_interval: has shape"),
        (T, A, {"success_interval": np.stack([A, A - 0.1])}, r"task 0\]: is 0.9 to 0.8"),
        (T, A, {"speedup": [0.5, -1.0]}, "speedup of cluster 0 with 2 tasks: is -1"),
        (T, A, {"speedup": np.ones((3, 2))}, "speedup: has 3 curves"),
        (T, A, {"speedup": "fast"}, "speedup: is a str"),
    ],
)
def test_one_clear_error(times: Any, success: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(wl.InputError, match=words) as error:
        match(times, success, **options)
    assert error.value.remedy


def test_a_floor_no_placement_reaches_is_named_with_the_best() -> None:
    with pytest.raises(wl.InfeasibleError, match=r"mean success of 0\.9") as error:
        match(T, A, 0.9)
    assert error.value.where == "min_success"
    assert "at most 0.85" in error.value.allowed
    plan = match(T, A, 0.85)
    assert plan.assignment.tolist() == [0, 1]
    assert match(T, A, 0.9, shortfall_price=1.0).outcome.violated


def test_unknown_and_missing_labels() -> None:
    times = pd.DataFrame(T, ["a", "b"], ["x", "y"])
    with pytest.raises(wl.InputError, match="has no cluster 'b'"):
        match(times, pd.DataFrame(A, ["a", "c"], ["x", "y"]))
    with pytest.raises(wl.InputError, match="unknown task 'z'"):
        match(times, pd.DataFrame(np.ones((2, 3)), ["a", "b"], ["x", "y", "z"]))


def test_the_count_of_bad_entries_is_reported() -> None:
    times = np.full((2, 3), -1.0)
    with pytest.raises(wl.InputError, match="6 such entries"):
        Round.of(times, np.ones((2, 3)))


def test_batches_name_the_round() -> None:
    times, success = np.stack([T, T]), np.stack([A, A])
    times[1, 0, 1] = np.nan
    with pytest.raises(wl.InputError, match=r"times\(1, 0, 1\): is NaN"):
        match_rounds(times, success)
    good = np.stack([T, T])
    with pytest.raises(wl.InputError, match=r"min_success: has shape \(3,\)"):
        match_rounds(good, success, [0.5, 0.5, 0.5])
    with pytest.raises(wl.InputError, match=r"min_success\[1\]: is 2"):
        match_rounds(good, success, [0.5, 2.0])
    with pytest.raises(wl.InputError, match=r"relaxed: has shape \(1, 2, 2\)"):
        decode(np.ones((1, 2, 2)), good, success)
    with pytest.raises(wl.InputError, match=r"times: has shape \(2, 2\)"):
        match_rounds(T, A)
    with pytest.raises(wl.InputError, match="names a cluster that does not exist"):
        evaluate(T, A, [0, 2])
    with pytest.raises(wl.InputError, match="have shapes"):
        evaluate(T, A, [0, 1, 1])


def test_curves_refuse_what_is_no_ratio() -> None:
    with pytest.raises(wl.InputError, match=r"Decay.limit: is 0;"):
        Decay(limit=0.0)
    with pytest.raises(wl.InputError, match=r"Decay.rate: is -1;"):
        Decay(rate=-1.0)
    with pytest.raises(wl.InputError, match=r"at_two\[1\]: is 0.55"):
        Decay.pinned([0.7, 0.55])
    with pytest.raises(wl.InputError, match=r"alone\[0\]"):
        pair_ratio([[0.0, 1.0]], [[1.0, 1.0]])
    with pytest.raises(wl.InputError, match="shapes"):
        pair_ratio([[1.0, 1.0]], [[1.0], [1.0]])
