"""The study of placement: arrivals as FGD's, drawn workloads, and what it says of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.placement import batch, online, openb
from benchmarks.placement.__main__ import main
from benchmarks.tables import Tables

from walras.domains import placement as pl


def test_the_verdict_counts_where_ours_is_above() -> None:
    rows = [
        ("a", "given", "fgd", 95.0, 95.2),
        ("a", "given", "fill", 95.5, np.nan),
        ("b", "drawn here", "fgd", 90.0, 89.0),
        ("b", "drawn here", "fill", 89.5, np.nan),
    ]
    columns = ["workload", "pods", "policy", "allocated %", "published %"]
    said = online.verdict(pd.DataFrame(rows, columns=columns)).splitlines()
    assert said[0] == "pods given: at most 0.20 points from a published mean (fgd on a)"
    assert "on 1 of 2 workloads, by 0.00 points" in said[2]
    assert said[3] == "above FGD's published mean on 2 of 2"


@pytest.mark.real_data("openb")
def test_published_means_of_the_default_pods_are_reproduced() -> None:
    found = pd.DataFrame(online.rows(["default"], ["best_fit", "fgd", "fill"], [42, 43]))
    found = found.set_index("policy")
    for policy in ("best_fit", "fgd"):
        ours, theirs = found.loc[policy, ["allocated %", "published %"]].astype(float)
        assert ours == pytest.approx(theirs, abs=0.5)
    assert found["allocated %"]["fill"] > found["allocated %"]["fgd"]


@pytest.mark.real_data("openb")
def test_arrivals_ask_for_130_percent_and_drawn_workloads_keep_their_shares() -> None:
    nodes = openb.nodes()
    assert (len(nodes), nodes["gpus"].sum()) == (1213, 6212)
    for workload, share in (("gpushare60", 0.6), ("multigpu40", 0.4)):
        pods = openb.pods(workload)
        part = pods["gpus"].where(pods["gpus"] < 1 if share == 0.6 else pods["gpus"] > 1, 0.0)
        assert part.sum() / pods["gpus"].sum() == pytest.approx(share, abs=0.02)
    pods = openb.pods("cpu050")
    assert (pods["gpus"] == 0).mean() == pytest.approx(0.05, abs=1e-3)
    pods = openb.pods("gpuspec10")
    assert (pods["model"] != "").sum() / (pods["gpus"] > 0).sum() == pytest.approx(0.1, abs=1e-3)
    for workload in ("default", "multigpu50"):
        instance = pl.make_instance(nodes, openb.pods(workload))
        arriving = openb.arrivals(instance, 1)
        asked = instance.devices[instance.kind[arriving]].sum()
        assert asked == pytest.approx(1.3 * 6212, abs=1.0)


@pytest.mark.real_data("openb")
def test_a_batch_and_a_scaled_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = batch.scale(200, 2000)
    assert small["violation"] == 0.0
    assert float(str(small["gap %"])) < 3.0
    tables = Tables("placement", tmp_path)
    asked = ["scale", "--machines", "50", "--tasks", "300", "--keep"]
    assert main(asked, tables) == 0
    kept = tables.read("scale")
    assert kept is not None
    assert kept["nodes"].tolist() == [50]
    assert "gap %" in capsys.readouterr().out
