"""Rounds: labels, ranges, intervals, and what is refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import walras as wl
from walras.matching import Round
from walras.matching.round import check_floor, check_rounds, matrix

T = np.array([[1.0, 2.0, 3.0], [2.0, np.inf, 1.0]])
A = np.array([[0.9, 0.5, 0.0], [0.6, 1.0, 1.0]])


def test_a_round_knows_what_can_run_and_what_can_be_reached() -> None:
    r = Round.of(T, A, 0.8)
    assert (r.shape, r.runs_together) == ((2, 3), False)
    assert r.usable.tolist() == [[True, True, True], [True, False, True]]
    assert r.best_success == pytest.approx((0.9 + 0.5 + 1.0) / 3)
    assert r.zeta.tolist() == [[1.0] * 4] * 2
    assert (r.min_success, r.shortfall_price, r.times_interval) == (0.8, None, None)
    assert Round.of(T, A, 0.5, [1.0, 0.9]).runs_together
    assert Round.of(T, A, 0.5, [1.1]).runs_together


def test_names_are_labels_or_numbers() -> None:
    plain, named = Round.of(T, A, 0.5), Round.of(T, A, 0.5, clusters=["x", "y"], tasks=[7, 8, 9])  # type: ignore[list-item]
    assert (plain.cluster_name(1), plain.task_name(2)) == ("cluster 1", "task 2")
    assert (named.cluster_name(1), named.task_name(2)) == ("y", "9")
    assert (plain.pair_name((1, 2)), plain.pair_name((2,))) == ("[cluster 1, task 2]", "[task 2]")
    assert (named.pair_name((0, 2)), named.pair_name((1,))) == ("[x, 9]", "[8]")


@pytest.mark.parametrize("below", [0.0, 0.9e-9])
def test_a_floor_at_the_best_can_be_met_up_to_rounding(below: float) -> None:
    best = (0.9 + 0.5 + 1.0) / 3
    assert Round.of(T, A, best + below).min_success == best + below
    with pytest.raises(wl.InfeasibleError, match="no placement reaches a mean"):
        Round.of(T, A, best + 2e-9)
    assert Round.of(T, A, 1.0, shortfall_price=0.0).shortfall_price == 0.0


@pytest.mark.parametrize("floor", [-1e-9, 1.0 + 1e-9, np.nan])
def test_a_floor_is_a_chance(floor: float) -> None:
    with pytest.raises(wl.InputError, match="min_success: is "):
        check_floor(floor, None)
    check_floor(0.0, None)
    check_floor(1.0, 0.0)


@pytest.mark.parametrize("price", [-1e-9, np.inf, np.nan])
def test_a_price_is_finite_and_not_negative(price: float) -> None:
    with pytest.raises(wl.InputError, match="shortfall_price: is "):
        check_floor(0.5, price)


def test_chances_may_be_none_and_sure_but_not_more() -> None:
    check_rounds(T, A)
    for wrong in (-1e-9, 1 + 1e-9):
        bad = A.copy()
        bad[1, 2] = wrong
        with pytest.raises(wl.InputError, match=r"success\(1, 2\): is .*; allowed: 0 to 1"):
            check_rounds(T, bad)


def test_a_task_that_no_cluster_runs_is_named_in_any_round() -> None:
    many = np.stack([T, T])
    many[1, 0, 1] = np.inf
    with pytest.raises(wl.InputError, match=r"times\(1, 1\): no cluster can run the task"):
        check_rounds(many, np.stack([A, A]))
    with pytest.raises(wl.InputError, match=r"times\[b\]: no cluster can run the task"):
        Round.of(many[1], A, 0.1, tasks=["a", "b", "c"])


@pytest.mark.parametrize(
    ("given", "dimensions", "words"),
    [
        ("soon", 2, "x: is not numeric"),
        ([[1.0], [1.0, 2.0]], 2, "x: is not numeric"),
        (np.ones(3), 2, r"x: has shape \(3,\); allowed: \(clusters, tasks\), at least"),
        (np.ones((2, 2)), 3, r"x: has shape \(2, 2\); allowed: \(rounds, clusters, tasks\)"),
        (np.ones((0, 2)), 2, r"x: has shape \(0, 2\)"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(given: Any, dimensions: int, words: str) -> None:
    with pytest.raises(wl.InputError, match=words):
        matrix(given, "x", dimensions=dimensions)


def test_tables_are_numbers_in_order() -> None:
    found = matrix(np.asfortranarray(np.arange(6).reshape(2, 3)), "x")
    assert found.flags.c_contiguous
    assert found.dtype == np.float64
    assert found.tolist() == [[0, 1, 2], [3, 4, 5]]


def frame(values: np.ndarray, rows: Any, columns: Any) -> pd.DataFrame:
    return pd.DataFrame(values, rows, columns)


def test_labels_of_a_table_are_those_of_its_index_unless_others_are_given() -> None:
    times = frame(T, ["a", "b"], [1, 2, 3])
    chances = frame(A[::-1, [2, 0, 1]], ["b", "a"], ["3", "1", "2"])
    r = Round.of(times, chances, 0.5)
    assert (r.clusters, r.tasks) == (("a", "b"), ("1", "2", "3"))
    assert r.success.tolist() == A.tolist()
    other = Round.of(times, A, 0.5, clusters=["x", "y"], tasks=["p", "q", "r"])
    assert (other.clusters, other.tasks) == (("x", "y"), ("p", "q", "r"))
    # Without labels of the times, those of the chances say nothing.
    assert (
        Round.of(T, chances, 0.1, shortfall_price=1.0).success.tolist() == chances.values.tolist()
    )
    assert Round.of(T, frame(A, ["a", "b"], ["1", "2", "3"]), 0.5, tasks=["1", "2", "3"]).tasks


@pytest.mark.parametrize(
    ("rows", "columns", "words"),
    [
        (["a", "c"], ["x", "y", "z"], "success: has no cluster 'b'; allowed: the 2 clusters"),
        (["a", "b"], ["x", "y", "w"], "success: has no task 'z'; allowed: the 3 tasks of times"),
    ],
)
def test_labels_that_do_not_agree_are_named(rows: Any, columns: Any, words: str) -> None:
    with pytest.raises(wl.InputError, match=words):
        Round.of(frame(T, ["a", "b"], ["x", "y", "z"]), frame(A, rows, columns), 0.5)


def test_an_unknown_label_is_named() -> None:
    more = frame(np.ones((3, 3)), ["a", "b", "d"], ["x", "y", "z"])
    with pytest.raises(wl.InputError, match="success: unknown cluster 'd'"):
        Round.of(frame(T, ["a", "b"], ["x", "y", "z"]), more, 0.5)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ({"clusters": ["a"]}, "clusters: has 1 labels; allowed: 2 distinct"),
        ({"clusters": ["a", "b", "c"]}, "clusters: has 3 labels; allowed: 2 distinct"),
        ({"tasks": ["a", "b", "a"]}, "tasks: the label 'a' appears twice"),
    ],
)
def test_labels_are_distinct_and_one_each(labels: dict[str, Any], words: str) -> None:
    with pytest.raises(wl.InputError, match=words):
        Round.of(T, A, 0.5, **labels)


def test_intervals_are_kept_and_may_be_points() -> None:
    ends = np.stack([A, A])
    r = Round.of(T, A, 0.5, success_interval=ends)
    assert r.success_interval is not None
    assert r.success_interval.tolist() == ends.tolist()


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        (np.ones((3, 2, 3)), r"success_interval: has shape \(3, 2, 3\); allowed: \(2, 2, 3\)"),
        (np.ones((2, 3, 2)), r"success_interval: has shape \(2, 3, 2\)"),
        (
            np.stack([A, A - [[0, 0, 0], [0, 0.5, 0.25]]]),
            r"success_interval\[cluster 1, task 1\]: is 1 to 0.5.*; 2 such entries",
        ),
        (
            np.stack([A, A - [[0, 0, np.nan], [0, 0, 0]]]),
            r"success_interval\[cluster 0, task 2\]: is 0 to nan.*; 1 such entries",
        ),
    ],
)
def test_intervals_that_are_none_are_refused(ends: np.ndarray, words: str) -> None:
    with pytest.raises(wl.InputError, match=words):
        Round.of(T, A, 0.5, success_interval=ends)


def test_intervals_are_named_by_labels() -> None:
    with pytest.raises(wl.InputError, match=r"times_interval\[y, q\]: is 2 to 1"):
        Round.of(
            T,
            A,
            0.5,
            clusters=["x", "y"],
            tasks=["p", "q", "r"],
            times_interval=np.stack([np.ones((2, 3)), np.ones((2, 3))])
            + np.array([[[0, 0, 0], [0, 1, 0]], [[0, 0, 0], [0, 0, 0]]]),
        )


def test_the_floor_is_a_number_of_the_round() -> None:
    r = Round(T, A, 0.5, np.ones((2, 4)))
    assert (r.clusters, r.tasks) == ((), ())
    assert Round.of(T, A).min_success == 0.8
