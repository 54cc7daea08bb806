"""The rounds of very many shards: the law of the draws, and rows within the bound's reach."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.tables import Tables

from benchmarks import balancing_at_scale as scale
from walras.domains import load_balancing as lb


def test_the_draws_follow_the_stated_law() -> None:
    cold, drift = scale.drawn("zoned", 2_000, 40, "bytes", 3)
    u = lb.round_loads(2_000, 0.5)
    assert cold.load.max() == u.max() == 100.0
    assert np.array_equal(np.argsort(cold.load), np.argsort(drift.load))
    assert np.array_equal(cold.cost, cold.footprint)
    zones = cold.zone[cold.server].reshape(2_000, 2)
    assert np.all(zones[:, 0] != zones[:, 1])
    assert len(np.unique(cold.zone)) == scale.ZONES
    assert cold.memory[0] == pytest.approx(1.25 * 2.0 * cold.footprint.sum() / 40)
    again, _ = scale.drawn("zoned", 2_000, 40, "bytes", 3)
    assert np.array_equal(again.load, cold.load)
    assert np.array_equal(again.server, cold.server)


def test_the_table_is_printed_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = Tables("balancing_at_scale", tmp_path)
    size = ["--shards", "2000", "--servers", "20", "--kinds", "zoned", "--keep"]
    assert scale.main(size, tables) == 0
    printed = capsys.readouterr().out
    assert "2,000 shards on 20 servers" in printed
    kept = tables.read("rounds")
    assert kept is not None
    assert kept["round"].tolist() == ["cold", "drift", "drain"]
    assert np.all(kept["value"] >= kept["bound"])
    assert np.all(kept["violation"] < 1e-9)
    assert (tmp_path / "results/balancing_at_scale/rounds.md").read_text() in printed
