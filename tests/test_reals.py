"""Complex numbers are refused by name wherever numbers are given, not cast with a warning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import walras as wl
from walras.checks import reals
from walras.domains.load_balancing.inputs import make_round

cs, lb, te = (
    wl.domains.cluster_scheduling,
    wl.domains.load_balancing,
    wl.domains.traffic_engineering,
)
ENDS = np.array([0, 1], np.int32)
NET = te.Network(("a", "b"), ENDS, ENDS[::-1].copy(), np.ones(2))
ONE = cs.max_min(np.ones((1, 2)), np.ones(2), [1.0])


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.bool_, object])
def test_numbers_of_every_kind_are_taken(kind: Any) -> None:
    found = reals(np.array([[1, 0]], dtype=kind))
    assert found.dtype == np.float64
    assert found.tolist() == [[1.0, 0.0]]


def test_what_is_float64_already_is_not_copied() -> None:
    x = np.ones(3)
    assert reals(x) is x


@pytest.mark.parametrize(
    "given",
    [
        [1j],
        np.ones(2, complex),
        [[1.0], [1.0, 2.0]],
        ["a"],
        [{}],
        ["1", "2"],
        np.array([1.0, "2"], object),
        pd.to_datetime(["2026-01-01"]),
        np.array([1], "m8[s]"),
    ],
)
def test_what_is_not_real_is_refused(given: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        reals(given)


@pytest.mark.parametrize(
    ("call", "where"),
    [
        (lambda z: te.max_total_flow(NET, z, te.candidate_paths(NET, k=1)), "demand"),
        (lambda z: te.Network(("a", "b"), ENDS, ENDS[::-1], z[0]), "capacity"),
        (lambda z: cs.max_min(z, np.ones(2), [1.0, 1.0]), "throughput"),
        (lambda z: cs.max_min(sp.csr_array(z), np.ones(2), [1.0, 1.0]), "throughput"),
        (lambda z: wl.solve(ONE, start=z), "start"),
        (lambda z: make_round(z[0], placement=[0, 1], servers=2), "loads"),
        (lambda z: make_round([1.0, 1.0], placement=sp.csr_array(z)), "placement"),
        (lambda z: make_round([1.0, 1.0], placement=z), "placement"),
    ],
)
def test_complex_numbers_are_one_clear_error(call: Callable[[Any], object], where: str) -> None:
    with pytest.raises(wl.InputError, match=f"^{where}.*complex numbers have no order"):
        call(np.array([[0, 1 + 1j], [1, 0]]))


def test_dates_and_texts_are_one_clear_error() -> None:
    T = np.ones((1, 3))
    with pytest.raises(wl.InputError, match="capacity: is not numeric: dates"):
        cs.max_min(T, np.ones(3), pd.to_datetime(["2026-01-01"]))
    with pytest.raises(wl.InputError, match="size: is not numeric: text"):
        cs.max_min(T, ["1", "2", "3"], [1.0])
    with pytest.raises(wl.InputError, match="setting verbose: is 'x'"):
        wl.solve(ONE, verbose="x")  # type: ignore[arg-type]


@pytest.mark.parametrize("much", [np.inf, np.nan])
def test_a_capacity_without_end_is_not_told_to_go(much: float) -> None:
    with pytest.raises(wl.InputError, match=r"capacity\[0\]") as caught:
        cs.max_min(np.ones((1, 2)), np.ones(2), [much])
    assert caught.value.remedy.startswith("give a number")
