"""Snapshots and decisions in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.rounds.drawn import random_snapshot

from walras.errors import DataError
from walras.rounds import Decision, load


def test_files(tmp_path: Path) -> None:
    snapshot = random_snapshot(np.random.default_rng(1), 4, 3)
    decision = Decision.empty(snapshot.tasks.uid, snapshot.clusters.uid)
    snapshot.save(tmp_path / "one")
    decision.save(tmp_path / "two")
    assert load(tmp_path / "one") == snapshot
    assert load(tmp_path / "two") == decision
    (tmp_path / "three").write_bytes(b"something else")
    with pytest.raises(DataError, match="holds no snapshot"):
        load(tmp_path / "three")
    with pytest.raises(DataError, match="cannot be read"):
        load(tmp_path / "four")
    with pytest.raises(DataError, match="cannot be written"):
        snapshot.save(tmp_path / "none" / "one")
