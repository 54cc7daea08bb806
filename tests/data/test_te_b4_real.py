"""Traffic matrices of B4: stacked from pickled arrays, finite and not negative."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import numpy as np
import pytest

from walras.data import te_b4_real
from walras.errors import DataError


def test_matrices_are_stacked_from_pickled_arrays() -> None:
    matrices = [np.full((12, 12), float(k), dtype=np.float64) for k in range(3)]
    raw = te_b4_real.derive([pickle.dumps(matrix) for matrix in matrices])

    found = np.load(io.BytesIO(raw))
    assert found.dtype == np.float64
    assert np.array_equal(found, np.stack(matrices))


@pytest.mark.parametrize("entry", [-1.0, np.nan, np.inf])
def test_traffic_is_finite_and_not_negative_and_cannot_be_changed(
    entry: float, tmp_path: Path
) -> None:
    demand = np.ones(te_b4_real.SHAPE)
    np.save(tmp_path / te_b4_real.FILE, demand)
    with pytest.raises(ValueError, match="read-only"):
        te_b4_real.read(tmp_path).demand[0, 0, 0] = 2.0
    demand[3, 2, 1] = entry
    np.save(tmp_path / te_b4_real.FILE, demand)
    with pytest.raises(DataError, match="negative or not finite"):
        te_b4_real.read(tmp_path)
    np.save(tmp_path / te_b4_real.FILE, demand[:2])
    with pytest.raises(DataError, match=r"shape \(2, 12, 12\) is not"):
        te_b4_real.read(tmp_path)
