"""Entries of a scheduling problem: their costs against the definition of churn, and bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from tests.domains.cluster_scheduling.small import CAPACITY, FRAME, SIZE, T, spoiled
from tests.domains.instances import draw

from walras.domains.cluster_scheduling.cluster import read
from walras.domains.cluster_scheduling.entries import of_cluster, with_churn
from walras.errors import InputError


def test_without_churn_each_pair_is_an_entry_that_costs_nothing() -> None:
    cluster = read(T, SIZE, CAPACITY)
    found = of_cluster(cluster)
    np.testing.assert_array_equal(found.throughput, cluster.throughput)
    assert found.cost.tolist() == [0.0] * 6
    assert np.all(np.isposinf(found.upper))
    assert found.constant == 0.0


def churned(before: np.ndarray, after: np.ndarray, size: np.ndarray) -> float:
    return float((np.abs(after - before) @ size).sum())


@pytest.mark.parametrize("seed", range(3))
def test_the_cheapest_split_of_shares_costs_their_churn(seed: int) -> None:
    data, rng = draw(seed), np.random.default_rng(seed)
    cluster = read(data.throughput, data.size, data.capacity)
    found = with_churn(cluster, data.previous, 0.3)
    after = rng.random(data.throughput.shape) * (data.throughput > 0)
    left, cost = after.copy(), found.constant
    for k in np.argsort(found.cost, kind="stable"):  # the kept parts, which save, come first
        at = found.resource[k], found.demand[k]
        part = min(left[at], found.upper[k])
        left[at] -= part
        cost += found.cost[k] * part
    assert not left.any()
    assert cost == pytest.approx(0.3 * churned(data.previous, after, data.size))


def test_whole_shares_need_one_entry_each() -> None:
    before = np.array([[1.0, 0.25, 0.0], [0.0, 0.5, 0.0]])
    found = with_churn(read(T, SIZE, CAPACITY), before, 0.3, whole=True)
    assert len(found.cost) == 6
    for bits in range(2**6):
        x = np.array([bits >> k & 1 for k in range(6)], dtype=float)
        after = np.zeros((2, 3))
        after[found.resource, found.demand] = x
        assert found.constant + found.cost @ x == pytest.approx(0.3 * churned(before, after, SIZE))


def test_a_pair_that_no_longer_runs_is_given_up_at_its_price() -> None:
    before = np.array([[0.0, 0.0], [0.5, 0.0]])
    found = with_churn(read([[1.0, 1.0], [0.0, 1.0]], [2.0, 1.0], [4.0, 1.0]), before, 0.1)
    assert len(found.cost) == 3  # nothing is left to keep
    assert found.constant == pytest.approx(0.1 * 2.0 * 0.5)


CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "negative churn": ({"previous": T * 0, "churn": -1.0}, "churn", "-1"),
    "churn of text": ({"previous": T * 0, "churn": "x"}, "churn", "is 'x'"),
    "negative previous": (
        {"previous": spoiled(T * 0, (0, 1), -0.5), "churn": 1.0}, "previous[0, 1]", "-0.5",
    ),
    "NaN previous, labelled": (
        {"previous": FRAME.replace(2.0, np.nan), "churn": 1.0},
        "previous[v100, b]", "NaN",
    ),
    "previous of another shape": ({"previous": T.T}, "previous", "shape (3, 2)"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_one_clear_error(name: str) -> None:
    changes, where, what = CASES[name]
    cluster = read(FRAME if "labelled" in name else T, SIZE, CAPACITY)
    with pytest.raises(InputError) as caught:
        with_churn(cluster, **{"churn": 1.0, **changes})
    assert where in caught.value.where
    assert what in caught.value.what
    assert caught.value.allowed
    assert caught.value.remedy


def test_a_previous_allocation_of_other_jobs() -> None:
    other = pd.DataFrame(np.full((2, 3), 0.1), index=["v100", "k80"], columns=["x", "y", "z"])
    with pytest.raises(InputError, match="none is a job of throughput; the first is 'x'"):
        with_churn(read(FRAME, SIZE, CAPACITY), other, 0.1)


def test_previous_shares_above_one_are_refused() -> None:
    with pytest.raises(InputError, match=r"previous\[0, 1\]: is 2.*not GPUs"):
        with_churn(read(T, SIZE, CAPACITY), [[0, 2, 0], [0, 0, 0]], 0.1)


def test_previous_frame_of_another_round_is_matched_by_label() -> None:
    T = pd.DataFrame(np.ones((2, 3)), index=["v100", "k80"], columns=list("abc"))
    before = pd.DataFrame(
        [[0.5, 0.2], [0.1, 0.3], [0.0, 0.4]], index=["k80", "p100", "v100"], columns=["b", "gone"]
    )
    want = np.zeros((2, 3))
    want[1, 1] = 0.5
    cluster = read(T, [1, 1, 1], [1, 1])
    a = with_churn(cluster, before, 0.1)
    b = with_churn(cluster, want, 0.1)
    c = with_churn(cluster, sp.coo_array(want), 0.1)
    for other in (b, c):
        np.testing.assert_array_equal(a.upper, other.upper)
        np.testing.assert_array_equal(a.cost, other.cost)
    assert a.constant == pytest.approx(0.05)
    assert len(a.upper) == 7
