"""Runs as tables and in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.simulate.small import ONE, equal_shares, on_one, random_trace

import walras as wl
from walras.simulate import Cluster, run


def test_tables_have_a_row_a_job_and_a_row_a_round() -> None:
    done = run(on_one([500, 100]), ONE, equal_shares)
    frame = done.frame()
    assert frame.index.tolist() == ["j0", "j1"]
    assert frame["slowdown"].tolist() == pytest.approx(frame["completion"] / frame["fastest"])
    assert done.rounds["busy gpu"].sum() == pytest.approx(600.0)
    assert done.utilisation["gpu"] == pytest.approx(600.0 / (done.end - 0.0))
    assert repr(done).startswith("Run(equal: 2 of 2 measured jobs ended")


def test_the_same_run_is_the_same_file(tmp_path: Path) -> None:
    trace, cluster = random_trace(5), Cluster({"a": 4, "b": 5, "c": 3})
    for name in ("one", "two"):
        run(trace, cluster, equal_shares).save(tmp_path / f"{name}.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    again = wl.load(tmp_path / "one.npz")
    assert again.hash == run(trace, cluster, equal_shares).hash
    assert again.completion.tolist() == again.frame()["completion"].tolist()
    assert not np.any(again.policy_seconds)
