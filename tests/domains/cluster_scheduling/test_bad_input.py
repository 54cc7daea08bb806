"""Data that cannot be used: one error each, that says what, where, what is allowed, what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.domains.cluster_scheduling.small import CAPACITY, FRAME, SIZE, T, spoiled

from walras.domains import cluster_scheduling as cs
from walras.errors import InputError

CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "churn against nothing": ({"churn": 1.0}, "churn", "needs the previous allocation"),
    "quota of an unknown job": (
        {"throughput": FRAME, "quota": cs.Quota({"ann": ["a", "z"]}, {"ann": 1.0})},
        "quota.groups['ann']", "unknown job 'z'",
    ),
    "quota of a position beyond": (
        {"quota": cs.Quota({"ann": [0, 3]}, {"ann": 1.0})}, "quota.groups['ann']", "job '3'",
    ),
    "quota of a job twice": (
        {"quota": cs.Quota({"ann": [0, 0]}, {"ann": 1.0})}, "quota.groups['ann']", "twice",
    ),
    "quota of nobody": ({"quota": cs.Quota({"ann": []}, {"ann": 1.0})}, "'ann'", "no jobs"),
    "quota without a limit": ({"quota": cs.Quota({"ann": [0]}, {})}, "quota", "'ann' has no limit"),
    "quota of zero": (
        {"quota": cs.Quota({"ann": [0]}, {"ann": 0.0})}, "quota.limits['ann']", "is 0",
    ),
    "quota limit of text": (
        {"quota": cs.Quota({"ann": [0]}, {"ann": "x"})},  # type: ignore[dict-item]
        "quota.limits['ann']", "is 'x'",
    ),
    "quota limit of NaN": (
        {"quota": cs.Quota({"ann": [0]}, {"ann": np.nan})}, "quota.limits['ann']", "NaN",
    ),
    "an unknown argument": ({"quotas": None}, "cluster_scheduling", "no argument 'quotas'"),
    "quota of another type": ({"quota": {"a": 1}}, "quota", "a dict"),
    "quota groups of another type": (
        {"quota": cs.Quota([0], {"ann": 1.0})},  # type: ignore[arg-type]
        "quota.groups", "a list",
    ),
    "quota of one number": (
        {"quota": cs.Quota({"ann": 1}, {"ann": 1.0})},  # type: ignore[dict-item]
        "quota.groups['ann']", "is 1",
    ),
    "quota of a fraction of a job": (
        {"quota": cs.Quota({"ann": [0.5]}, {"ann": 1.0})},  # type: ignore[dict-item]
        "quota.groups['ann']", "unknown job '0.5'",
    ),
    "quotas that cross": (
        {"quota": cs.Quota({"ann": [0, 1], "bob": [1, 2]}, {"ann": 1.0, "bob": 1.0})},
        "quota.groups", "'ann' and 'bob' overlap",
    ),
    "quotas that cross inside another": (
        {
            "quota": cs.Quota(
                {"all": [0, 1, 2], "ann": [0, 1], "bob": [2, 1]},
                {"all": 9.0, "ann": 1.0, "bob": 1.0},
            )
        },
        "quota.groups", "'ann' and 'bob' overlap",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_one_clear_error(name: str) -> None:
    changes, where, what = CASES[name]
    given: dict[str, Any] = {"throughput": T, "size": SIZE, "capacity": CAPACITY, **changes}
    with pytest.raises(InputError) as caught:
        cs.max_min(**given)
    error = caught.value
    assert where in error.where
    assert what in error.what
    assert error.allowed
    assert error.remedy


def test_alpha_out_of_range() -> None:
    alphas: tuple[Any, ...] = (-1.0, np.nan, 1e9, "x", None, 1j, [1.0])
    for alpha in alphas:
        with pytest.raises(InputError, match="alpha"):
            cs.alpha_fair(T, SIZE, CAPACITY, alpha=alpha)


@pytest.mark.parametrize(("unit", "alpha"), [(1e7, 40.0), (1e-7, 40.0), (1e3, 100.0)])
def test_throughputs_that_large_alpha_cannot_tell(unit: float, alpha: float) -> None:
    with pytest.raises(InputError, match="max_min or leximin"):
        cs.alpha_fair(unit * np.asarray(T), SIZE, CAPACITY, alpha=alpha)
    assert cs.alpha_fair(unit * np.asarray(T), SIZE, CAPACITY, alpha=20.0).entries


def test_levels_are_a_positive_integer() -> None:
    levels: tuple[Any, ...] = (0, -1, 1.5, "3", True, None)
    for level in levels:
        with pytest.raises(InputError, match=r"levels: is .*a whole number, >= 1"):
            cs.leximin(T, SIZE, CAPACITY, levels=level)
    assert cs.leximin(T, SIZE, CAPACITY, levels=np.int64(2)).levels == 2  # type: ignore[arg-type]


def test_bad_steps_are_called_steps() -> None:
    with pytest.raises(InputError, match=r"steps\[1\]"):
        cs.min_makespan(T, SIZE, CAPACITY, [1, 0, 1])
    with pytest.raises(InputError, match=r"size\[0\]"):
        cs.min_makespan(T, -SIZE, CAPACITY, [1, 1, 1])
    with pytest.raises(InputError, match="steps: is None"):
        cs.min_makespan(T, SIZE, CAPACITY, None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"weight\[2\]"):
        cs.min_makespan(T, SIZE, CAPACITY, [1, 1, 1], weight=[1, 1, -1])


def test_unknown_unit() -> None:
    with pytest.raises(InputError, match="per"):
        cs.normalise(T, SIZE, CAPACITY, per="watt")  # type: ignore[arg-type]


def test_evaluation_of_another_shape() -> None:
    with pytest.raises(InputError, match="x: has shape"):
        cs.evaluate(T, SIZE, CAPACITY, T.T)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_evaluation_of_what_is_not_finite(value: float) -> None:
    with pytest.raises(InputError, match=r"x\[0 \(v100\), 0 \(a\)\]: is -?(NaN|inf)"):
        cs.evaluate(FRAME, SIZE, CAPACITY, np.full((2, 3), value))
    with pytest.raises(InputError, match=r"x\[1 \(1\), 2 \(2\)\]"):
        cs.evaluate(T, SIZE, CAPACITY, spoiled(T * 0, (1, 2), value))


def test_users_that_do_not_fit_the_jobs() -> None:
    with pytest.raises(InputError, match="no user with a limit has jobs; the first is 'Ann'"):
        cs.Quota.of_users(["ann", "bob"], {"Ann": 0.1})
    quota = cs.Quota.of_users(["ann"], {"ann": 0.1})
    with pytest.raises(InputError, match="users are given for 1 jobs"):
        cs.max_min(T, SIZE, CAPACITY, quota=quota)


def test_jobs_labelled_by_numbers_are_meant_by_their_labels() -> None:
    frame = pd.DataFrame(T, columns=[2, 0, 101])
    by_label = cs.max_min(frame, SIZE, CAPACITY, quota=cs.Quota({"u": [2]}, {"u": 0.1}))
    by_place = cs.max_min(T, SIZE, CAPACITY, quota=cs.Quota({"u": [0]}, {"u": 0.1}))
    assert np.array_equal(by_label.rows.matrix.toarray(), by_place.rows.matrix.toarray())
    cs.max_min(frame, SIZE, CAPACITY, quota=cs.Quota({"u": [101]}, {"u": 0.1}))
