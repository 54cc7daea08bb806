"""FGD's measure against its definition, written out for single machines."""

from __future__ import annotations

import numpy as np
import pytest

from walras.kernels.packing.measures import Mix, unusable_each

MIX = Mix(
    np.array([[4.0], [4.0], [8.0], [1.0]]),
    np.array([500, 1000, 1000, 0], dtype=np.int32),
    np.array([1, 1, 2, 0], dtype=np.int32),
    np.array([[True, True], [True, True], [False, True], [True, True]]),
    np.array([0.4, 0.3, 0.2, 0.1]),
)


@pytest.mark.parametrize(
    ("left", "device", "model", "expected"),
    [
        (8.0, [1000, 300], 1, 0.4 * 300 + 0.3 * 300 + 0.2 * 1300 + 0.1 * 1300),
        (8.0, [1000, 1000], 1, 0.1 * 2000),
        (8.0, [1000, 1000], 0, (0.2 + 0.1) * 2000),
        (2.0, [1000, 1000], 1, 2000),
        (8.0, [0, 0], 1, 0.0),
    ],
)
def test_unusable(left: float, device: list[int], model: int, expected: float) -> None:
    found = unusable_each(
        np.array([[left]]), np.array([device], dtype=np.int32), np.array([model]), MIX
    )
    assert found[0] == pytest.approx(expected)
