"""Room on machines: resources, models, groups and shares of devices."""

from __future__ import annotations

import numpy as np

from walras.kernels.packing.machines import Machines, Types, fitting, largest_first, some


def types(*requests: list[int], need: float = 1.0) -> Types:
    """One type for each list of requests, all of group 0."""
    count = len(requests)
    return Types(
        np.full((count, 1), need),
        np.cumsum([0, *map(len, requests)]),
        np.array([r for one in requests for r in one], dtype=np.int32),
        np.ones((count, 2), dtype=np.bool_),
        np.arange(count + 1),
        np.zeros(count, dtype=np.int32),
        np.ones(count),
    )


def machines(*devices: list[int], left: float = 2.0) -> Machines:
    """One machine for each list of devices."""
    count = len(devices)
    return Machines(
        np.full((count, 1), left),
        np.array(devices, dtype=np.int32),
        np.zeros((count, 1), dtype=np.uint64),
        np.zeros(count, dtype=np.int32),
    )


def test_requests_go_to_the_fullest_device_with_room() -> None:
    held = machines([1000, 400], [500, 500], [1000, 1000])
    asked = types([400], [700], [1000], [600, 400], [1000, 400], [1000, 1000])
    found = np.array([fitting(held, asked, j) for j in range(6)]).T
    assert found.tolist() == [[1, 1, 1, 1, 1, 0], [1, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]]


def test_resources_models_and_groups_refuse() -> None:
    held, asked = machines([1000], [1000], [1000]), types([500])
    held.left[0] = 0.5
    held.held[1] = 1
    held.model[2] = 1
    assert fitting(held, asked, 0).tolist() == [0, 0, 1]
    asked.allowed[0, 1] = False
    assert fitting(held, asked, 0).tolist() == [0, 0, 0]


def test_some_machines_are_copies() -> None:
    held = machines([1000], [500])
    part = some(held, np.array([1]))
    part.device[0, 0] = 0
    assert held.device.tolist() == [[1000], [500]]


def test_the_largest_request_comes_first() -> None:
    assert largest_first(types([400], [], [700, 700], [1000])).tolist() == [3, 2, 0, 1]
