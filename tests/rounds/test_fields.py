"""Fields become read-only arrays and tuples, or one clear error; and are split and joined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from walras.errors import InputError
from walras.rounds import Tasks
from walras.rounds.fields import LARGEST, checked, count_of, part, split, take_labels, take_texts


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ([1.5], np.int64, r"x: has numbers that are no int64; allowed: shape \(1,\), int64"),
        ([np.nan], np.int64, "has numbers that are no int64"),
        ([np.nan], np.float64, r"x\[0\]: is nan; allowed: 0 to 9"),
        ([10], np.int64, r"x\[0\]: is 10; allowed: 0 to 9"),
        ([-0.5], np.float64, r"x\[0\]: is -0.5"),
        ([1, 2], np.int64, r"x: has shape \(2,\); allowed: shape \(1,\)"),
        (1, np.int64, r"x: has shape \(\)"),
        (["1"], np.int64, "x: is not numeric"),
        ([1 + 0j], np.float64, "x: is not numeric"),
        ([None], np.int64, "x: is not numeric"),
        ([10**30], np.int64, "x: is not numeric"),
        ([[1], [1, 2]], np.int64, "x: is not numeric"),
        ([2], np.bool_, "no bool"),
        ([1e300], np.float32, "no float32"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_what_is_no_such_array_is_refused(given: Any, kind: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        checked(given, "x", kind, (1,), 0.0, 9.0)


@pytest.mark.parametrize(
    ("given", "kind", "wanted"),
    [([2.0], np.int64, [2]), ([True], np.int64, [1]), ([0.1], np.float32, [np.float32(0.1)])],
)
def test_what_has_the_same_value_is_taken_and_cannot_be_changed(
    given: Any, kind: Any, wanted: Any
) -> None:
    made = checked(given, "x", kind, (1,))
    assert made.tolist() == wanted
    assert made.dtype == kind
    with pytest.raises(ValueError, match="read-only"):
        made[0] = 0


def test_the_first_wrong_number_is_named() -> None:
    with pytest.raises(InputError, match=r"x\[2\]: is 7"):
        checked([[0, 1], [7, 8]], "x", np.int64, (2, 2), 0, 5)
    with pytest.raises(InputError, match=r"x: is 7\.0; allowed: 0 to 5"):
        checked(7, "x", np.float64, (), 0, 5)


@dataclass(frozen=True)
class Named:
    """Something with texts and labels."""

    texts: Any = ()
    labels: Any = ()


def test_texts_are_distinct_texts() -> None:
    one = Named(["a", "b"])
    assert take_texts(one, "texts", 2, distinct=True) == 2
    assert one.texts == ("a", "b")
    for given, words in (
        ("ab", "are not texts"),
        (5, "are not texts"),
        (["a", 1], "are not texts"),
        (["a"], "has 1 texts; allowed: 2"),
        (["a", "a"], "names one twice"),
        (["a", "\ud800"], "hold half a character"),
    ):
        with pytest.raises(InputError, match=rf"Named\.texts: {words}"):
            take_texts(Named(given), "texts", 2, distinct=True)


def test_labels_are_kept_in_order_and_are_texts() -> None:
    one = Named(labels=[{"b": "1", "a": "2"}])
    assert take_labels(one, "labels", 1) == 1
    assert list(one.labels[0]) == ["a", "b"]
    for given, words in (
        (5, "is 5"),
        ([], "has 0 label sets"),
        ([3], "has 3"),
        ([{"a": 1}], "has {'a': 1}"),
        ([{1: "a", "b": "c"}], "has {1: 'a'"),
    ):
        with pytest.raises(InputError, match=rf"Named\.labels: {words}"):
            take_labels(Named(labels=given), "labels", 1)


def test_unknown_fields_and_what_is_no_list_are_named() -> None:
    assert count_of(["a", "b"], "x", {"size"}, ["size"]) == 2
    with pytest.raises(InputError, match="x: there is no field 'colour'; allowed: size, slots"):
        count_of(["a"], "x", {"slots", "size"}, ["colour", "size"])
    for given in ("ab", 5):
        with pytest.raises(InputError, match="allowed: a list of names"):
            count_of(given, "x", (), ())


def test_fields_are_split_by_dotted_names_and_found_by_their_prefix() -> None:
    @dataclass
    class Whole:
        tasks: Tasks
        size: int

    words, arrays = split(Whole(Tasks.of(["a"], priority=[-LARGEST]), 3))
    assert words == {"tasks.uid": ("a",), "size": 3}
    assert arrays["tasks.priority"].tolist() == [-LARGEST]
    assert part(words, "tasks.") == {"uid": ("a",)}
    assert list(part(["a.b", "c", "a.d"], "a.")) == ["b", "d"]
