"""The benchmark of the simulator: which cells it runs, and what it says of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.simulate import gavel, makespan, speed
from benchmarks.simulate.__main__ import main
from benchmarks.simulate.released_fifo import released_fifo
from benchmarks.tables import Tables

from walras.rounds import JobsSnapshot, check_shares


@pytest.mark.real_data("gavel", "gavel_traces")
def test_a_cell_is_measured_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pd.DataFrame(
        [("continuous-single JCT h", "cell10", "fifo_perf", 2.8, 15.68)],
        columns=["trace", "cell", "policy", "rate", "value"],
    )
    monkeypatch.setattr(gavel, "published", lambda name: table)
    tables = Tables("simulate", tmp_path)
    (tmp_path / "results").mkdir()
    assert main(["gavel", "--keep"], tables) == 0
    assert "1 of  1, largest" in capsys.readouterr().out
    kept = tables.read("gavel")
    assert kept is not None
    assert kept["ours"].tolist() == [pytest.approx(15.68, rel=0.005)]
    monkeypatch.setattr(gavel, "published", lambda name: table.assign(rate=4.0, value=17.08))
    assert main(["gavel", "--keep"], tables) == 0
    both = tables.read("gavel")
    assert both is not None
    assert both["rate"].tolist() == [2.8, 4.0], "cells of earlier runs stay"
    assert both["ours"].tolist() == [kept["ours"][0], pytest.approx(17.08, rel=0.005)]


def test_cells_are_chosen_by_policy_rate_and_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        (gavel.SHAPES[shape], "cell10", policy, rate, 1.0 if rate < 3 else np.nan)
        for shape in gavel.SHAPES
        for policy in ("fifo", "gandiva", "allox")
        for rate in (1.0, 2.0, 3.0)
    ]
    table = pd.DataFrame(rows, columns=["trace", "cell", "policy", "rate", "value"])
    monkeypatch.setattr(gavel, "published", lambda name: table)
    found = gavel.cells(["single"], list(gavel.POLICIES), [], 2.5, 1)
    names = ("fifo", "allox", "fifo_released_0")
    assert [(cell.policy, cell.rate) for cell in found] == [(n, r) for n in names for r in (1, 2)]


def test_draws_become_one_row_with_their_spread() -> None:
    ours = {"fifo": 10.1, "fifo_released_0": 9.0, "fifo_released_1": 11.0}
    cell: dict[str, object] = {"trace": "single", "rate": 1.0, "published": 10.0}
    rows = [cell | {"policy": n, "ours": h, "deviation %": 10 * h - 100} for n, h in ours.items()]
    frame = gavel.ordered(rows)
    assert frame["policy"].tolist() == ["fifo", "fifo as released, sd 1.41"]
    assert frame["ours"].tolist() == pytest.approx([10.1, 10.0])
    assert "fifo                          1 of  1" in gavel.verdict(frame)


def test_the_released_fifo_overbooks_the_last_type() -> None:
    jobs = JobsSnapshot.of(
        ["a", "b", "c"], speed=np.ones((3, 2)), workers=[2, 1], types=("k80", "v100")
    )
    found = released_fifo(1)(jobs)
    assert check_shares(jobs, found) == []
    assert found.time[0, 1] > 0


@pytest.mark.real_data("gavel")
def test_makespans_are_means_over_three_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pd.DataFrame(
        [(makespan.TABLE, "Gavel", 100.0, 161.16), (makespan.TABLE, "FIFO", 100.0, 182.32)],
        columns=["table", "policy", "x", "value"],
    )
    monkeypatch.setattr(makespan, "published", lambda name: table)
    found = pd.DataFrame(list(makespan.rows([100]))).set_index("policy")
    assert found["deviation %"][["Gavel", "FIFO"]].abs().max() < 0.5
    assert found["ours h"].tolist()[2] > 900


def test_speeds_are_measured() -> None:
    assert speed.events(jobs=50)["events"] > 100  # type: ignore[operator]
    found = speed.overhead(jobs=60, rounds=2)
    assert 0.0 < found["value"] < 1.0  # type: ignore[operator]
