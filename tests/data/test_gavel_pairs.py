"""Slowdowns of pairs of jobs that share a GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from walras.data import gavel_pairs
from walras.errors import DataError


def test_pairs_stand_in_is_labelled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WALRAS_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    drawn = gavel_pairs.load()
    assert drawn.source == "synthetic stand-in"
    assert np.all((drawn.median() > 0.5) & (drawn.median() < 1.0))
    with pytest.raises(DataError, match="was not found"):
        gavel_pairs.load(synthetic=False)
