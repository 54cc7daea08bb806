"""Two minutes under load and faults: memory stays flat, and every invariant holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.exchange.soak import soak
from tests.exchange.processes.template import Template


@pytest.mark.long
def test_two_minutes_keep_memory_flat_and_lose_nothing(template: Template, tmp_path: Path) -> None:
    row = soak(tmp_path / "rig", template, 120.0)
    assert row["broken"] == ""
    assert row["faults"] > 10
    assert row["acknowledged"] > 200
    assert row["memory_last_mib"] - row["memory_middle_mib"] < 8.0
