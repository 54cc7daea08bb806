"""Checked instances of cluster scheduling: runnable pairs in every form, and bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from tests.domains.cluster_scheduling.small import CAPACITY, FRAME, SIZE, T, spoiled
from tests.domains.instances import draw

from walras.domains.cluster_scheduling.cluster import read
from walras.errors import InputError


def test_pairs_are_listed_job_by_job() -> None:
    speeds = np.array([[0.0, 2.0, 3.0], [4.0, 5.0, 0.0]])
    found = read(speeds, SIZE, CAPACITY)
    assert (found.resources, found.jobs, found.pairs) == (2, 3, 4)
    assert found.throughput.tolist() == [4.0, 2.0, 5.0, 3.0]
    assert found.resource.tolist() == [1, 0, 1, 0]
    assert found.demand.tolist() == [0, 1, 1, 2]
    assert found.pointer.tolist() == [0, 1, 3, 4]
    assert found.best().tolist() == [4.0, 5.0, 3.0]
    np.testing.assert_array_equal(found.dense(), speeds)
    assert found.weight.tolist() == [1.0] * 3
    assert (found.resource_names, found.demand_names) == (("0", "1"), ("0", "1", "2"))


def test_labels_come_from_the_first_source_that_has_them() -> None:
    size, capacity = pd.Series(SIZE, index=list("xyz")), pd.Series(CAPACITY, index=["g", "h"])
    of_series = read(T, size, capacity)
    assert (of_series.resource_names, of_series.demand_names) == (("g", "h"), ("x", "y", "z"))
    assert read(FRAME, SIZE, CAPACITY).demand_names == ("a", "b", "c")
    named = read(FRAME, SIZE, CAPACITY, resource_names=["p", "q"], demand_names=list("uvw"))
    assert (named.resource_names, named.demand_names) == (("p", "q"), ("u", "v", "w"))


CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "NaN throughput": ({"throughput": spoiled(T, (1, 2), np.nan)}, "throughput[1, 2]", "NaN"),
    "infinite throughput": ({"throughput": spoiled(T, (0, 1), np.inf)}, "throughput[0, 1]", "inf"),
    "negative throughput": ({"throughput": spoiled(T, (1, 0), -2)}, "throughput[1, 0]", "-2"),
    "negative, labelled": (
        {"throughput": FRAME.replace(5.0, -5.0)}, "throughput[1 (k80), 1 (b)]", "-5",
    ),
    "NaN, sparse": (
        {"throughput": sp.csr_array(spoiled(T, (1, 2), np.nan))}, "throughput[1, 2]", "NaN",
    ),
    "text": ({"throughput": [["fast", 1, 1], [1, 1, 1]]}, "throughput", "not numeric"),
    "ragged": ({"throughput": [[1, 2, 3], [4, 5]]}, "throughput", "not numeric"),
    "one dimension": ({"throughput": np.ones(3)}, "throughput", "1 dimensions"),
    "complex": ({"throughput": T + 1j}, "throughput", "complex"),
    "complex, sparse": ({"throughput": sp.csc_array(T + 1j)}, "throughput", "complex"),
    "complex objects": (
        {"throughput": [[1 + 1j, 1, 1], [1, 1, 1]]}, "throughput", "complex",
    ),
    "no jobs": ({"throughput": np.ones((2, 0)), "size": []}, "throughput", "empty"),
    "no resources": ({"throughput": np.ones((0, 3)), "capacity": []}, "throughput", "empty"),
    "a job that cannot run": (
        {"throughput": T * [1, 0, 1]}, "throughput[:, 1]", "no resource type can run this job",
    ),
    "a job that may not run": (
        {"throughput": FRAME, "allowed": T < 3},
        "throughput[:, 2 (c)]", "no resource type",
    ),
    "NaN size": ({"size": spoiled(SIZE, 1, np.nan)}, "size[1]", "NaN"),
    "zero size": ({"size": spoiled(SIZE, 2, 0)}, "size[2]", "is 0"),
    "negative size": ({"throughput": FRAME, "size": -SIZE}, "size[0] (a)", "-1"),
    "short size": ({"size": SIZE[:2]}, "size", "shape (2,)"),
    "scalar size": ({"size": 1.0}, "size", "shape ()"),
    "zero capacity": ({"throughput": FRAME, "capacity": [8, 0]}, "capacity[1] (k80)", "is 0"),
    "negative capacity": ({"capacity": [-8, 1]}, "capacity[0]", "-8"),
    "infinite capacity": ({"capacity": [8, np.inf]}, "capacity[1]", "inf"),
    "long capacity": ({"capacity": [1, 2, 3]}, "capacity", "shape (3,)"),
    "zero weight": ({"weight": [1, 0, 1]}, "weight[1]", "is 0"),
    "mask of another shape": ({"allowed": np.ones((3, 2), bool)}, "allowed", "shape (3, 2)"),
    "mask of speeds": ({"allowed": T}, "allowed", "other than 0 and 1"),
    "size of an unknown job": (
        {"throughput": FRAME, "size": pd.Series(SIZE, index=["a", "b", "x"])},
        "labels of size", "no demand 'c'",
    ),
    "capacity of one more type": (
        {"throughput": FRAME, "capacity": pd.Series([1, 2, 3], index=["v100", "k80", "p100"])},
        "labels of capacity", "unknown resource 'p100'",
    ),
    "labels that come twice": (
        {"throughput": FRAME.set_axis(["a", "b", "a"], axis=1)},
        "demand names", "'a' appears twice",
    ),
    "labels of another type": ({"resource_names": 5}, "resource names", "is 5"),
    "labels of text": ({"demand_names": "abc"}, "demand names", "is 'abc'"),
    "too few labels": ({"demand_names": ["a"]}, "demand_names", "1 labels"),
    "mask without a type": (
        {"throughput": FRAME, "allowed": FRAME.iloc[:1] > 0}, "allowed", "no resource 'k80'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_one_clear_error(name: str) -> None:
    changes, where, what = CASES[name]
    given: dict[str, Any] = {"throughput": T, "size": SIZE, "capacity": CAPACITY, **changes}
    with pytest.raises(InputError) as caught:
        read(**given)
    assert where in caught.value.where
    assert what in caught.value.what
    assert caught.value.allowed
    assert caught.value.remedy


def test_a_ragged_mask() -> None:
    ragged: Any = [[True, True], [True]]
    with pytest.raises(InputError, match="rows of different lengths"):
        read([[1.0, 2.0], [1.0, 1.0]], [1, 1], [1, 1], allowed=ragged)


@pytest.mark.parametrize("form", ["frame", "csc", "coo", "csr with zeros", "fortran", "float32"])
def test_all_forms_of_throughput_state_the_same_problem(form: str) -> None:
    data = draw(7)
    T = data.throughput
    stored = sp.csr_array(T)
    if form == "csr with zeros":
        stored.data[0] = 0.0
        T = stored.toarray()
    forms: dict[str, Any] = {
        "frame": pd.DataFrame(T),
        "csc": sp.csc_matrix(T),
        "coo": sp.coo_array(T),
        "csr with zeros": stored,
        "fortran": np.asfortranarray(T),
        "float32": T.astype(np.float32),
    }
    if form == "float32":
        T = T.astype(np.float32).astype(float)
    a = read(T, data.size, data.capacity)
    b = read(forms[form], data.size, data.capacity)
    for name in ("throughput", "resource", "demand", "pointer"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert np.all(np.diff(a.demand) >= 0)


def test_masks_dense_labelled_and_sparse_agree() -> None:
    data = draw(8)
    allowed = data.throughput > np.median(data.throughput)
    allowed[0] |= ~allowed.any(axis=0)
    T = np.where(data.throughput > 0, data.throughput, 0.5)
    size, capacity = data.size, data.capacity
    want = read(T, size, capacity, allowed=allowed)
    frame = pd.DataFrame(allowed, index=[f"r{i}" for i in range(len(T))])
    frame = frame.set_axis([f"j{j}" for j in range(T.shape[1])], axis=1)
    labelled = pd.DataFrame(T, index=frame.index, columns=frame.columns)
    pairs: list[tuple[Any, Any]] = [
        (T, sp.coo_array(allowed)),
        (sp.csc_array(T), allowed),
        (sp.csc_array(T), sp.csr_array(allowed)),
        (labelled, frame.iloc[::-1, ::-1]),
    ]
    for throughput, mask in pairs:
        got = read(throughput, size, capacity, allowed=mask)
        np.testing.assert_array_equal(got.dense(), want.dense())
        np.testing.assert_array_equal(got.resource, want.resource)
