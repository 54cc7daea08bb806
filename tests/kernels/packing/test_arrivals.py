"""Scores of single choices, by hand."""

from __future__ import annotations

import numpy as np
from tests.kernels.packing.test_machines import machines, types
from tests.kernels.packing.test_measures import MIX

from walras.kernels.local_search.random_numbers import seeded
from walras.kernels.packing.arrivals import DOT_PRODUCT, PACKING, RANDOM, arrive
from walras.types import Ints


def _chosen(policy: int, *requests: list[int]) -> Ints:
    held = machines([1000, 1000], [1000, 400], [0, 900], left=8.0)
    asked = types(*requests)._replace(group_ptr=np.zeros(len(requests) + 1, dtype=np.int64))
    order, devices = np.arange(3, dtype=np.int32), np.array([2, 2, 2], dtype=np.int32)
    arriving = np.arange(len(requests), dtype=np.int32)
    return arrive(policy, arriving, order, held, devices, asked, MIX, MIX, seeded(1))


def test_packing_prefers_devices_in_use_then_machines_in_use() -> None:
    assert _chosen(PACKING, [300]).tolist() == [1]  # the fullest device in use
    assert _chosen(PACKING, [700]).tolist() == [2]
    assert _chosen(PACKING, [1000]).tolist() == [1]  # rather than the empty machine
    assert _chosen(PACKING, [1000, 1000]).tolist() == [0]
    assert _chosen(PACKING, []).tolist() == [0]  # ties go by the order


def test_dot_product_goes_where_least_is_left() -> None:
    assert _chosen(DOT_PRODUCT, [300]).tolist() == [2]


def test_what_fits_nowhere_is_left_out() -> None:
    assert _chosen(RANDOM, [1000, 1000], [1000, 1000], [1000]).tolist()[:2] == [0, -1]
