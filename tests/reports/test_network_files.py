"""What a run on a network leaves in a folder, read back."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
import pytest

from walras import network as wn
from walras.errors import DataError
from walras.network.scenario.scenario import scenario
from walras.reports.network_files import save_run, write_record

STATED = scenario({"steps": 20, "network": {"kind": "ring", "centres": 4}})


def test_a_run_is_read_back_from_its_tables(tmp_path: Path) -> None:
    run = wn.simulate(STATED.problem, STATED.network, steps=20)
    save_run(tmp_path / "out", STATED, run, 3, {"cost gap": math.inf, "seconds": 1.0})
    record = json.loads((tmp_path / "out/run.json").read_text(encoding="utf-8"))
    assert record["seed"] == 3
    assert record["result"] == {"cost gap": "inf"}  # seconds differ from run to run
    assert record["chosen"]["share_step"] > 0.0
    shares = pd.read_csv(tmp_path / "out/shares.csv")
    assert shares.shape == run.share_frame().shape
    steps = pd.read_csv(tmp_path / "out/steps.csv")
    assert steps["step"].tolist() == run.frame()["step"].tolist()
    assert "seconds" not in steps
    drawn = {path.stem for path in (tmp_path / "out").glob("*.png")}
    assert {"cost_gap", "shares", "audit", "graph"} <= drawn
    assert "test_accuracy" not in drawn


def test_a_record_holds_the_defaults_that_were_used(tmp_path: Path) -> None:
    write_record(tmp_path, STATED, 5, {"found": (1.0, math.nan)})
    record = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert record["scenario"]["steps"] == 5
    assert record["scenario"]["every"] == min(STATED.every, 5)
    assert record["found"] == [1.0, "nan"]


def test_a_folder_that_cannot_be_made_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError):
        write_record(tmp_path / "file", STATED, 5, {})
