"""Throughputs of DeDe's cluster: finite, not negative, with the workers of each type."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from walras import data
from walras.errors import DataError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of the test's own, and an empty cache."""
    monkeypatch.setenv("WALRAS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "data"


@pytest.mark.parametrize("entry", [np.nan, -1.0])
def test_dede_throughputs_must_be_finite_and_not_negative(entry: float, folder: Path) -> None:
    place = folder / "dede_cluster"
    place.mkdir(parents=True)
    throughput = data.load("dede_cluster", synthetic=True).throughput.copy()
    throughput[3, 5, 1] = entry
    np.save(place / "simulation_throughputs.npy", throughput)
    (place / "cluster_spec.json").write_text("{}")
    with pytest.raises(DataError, match="negative or not finite"):
        data.load("dede_cluster")
    throughput[3, 5, 1] = 1.0
    np.save(place / "simulation_throughputs.npy", throughput)
    with pytest.raises(DataError, match="worker_0"):
        data.load("dede_cluster")
