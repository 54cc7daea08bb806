"""The page of public instances says what is kept, and marks what misses its aim."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from benchmarks.placement.__main__ import TABLES
from benchmarks.tables import Tables
from benchmarks.traffic_sequence import NETWORKS

from benchmarks import few_types, public


def test_jobs_stand_beside_the_published_value_and_the_passes() -> None:
    row = {
        "objective": "proportional-fairness",
        "types": 4,
        "jobs": 1_000_000,
        "version": "walras 1",
        "value": -0.8098409,
        "gap": 5e-7,
        "solve_cpu_s": 9.0,
        "clock_s": 4.75,
        "reads_cpu_s": 0.5,
        "evaluations_cpu_s": 2.0,
        "memory_arrays": 2.9,
    }
    slow, quick = public.jobs(pd.DataFrame([row, row | {"types": 2, "solve_cpu_s": 4.0}])).split(
        "\n"
    )[2:4]
    assert "-0.809841 (theirs -0.810638)" in slow
    assert "| 9.0 | 4.8 | 4.5 (over 3) | 18.0 (over 3) | 2.9 |" in slow
    assert "theirs" not in quick
    assert "2.0 (within 3)" in quick


def test_what_is_not_kept_is_said() -> None:
    assert public.jobs(None) == public.shares(None) == public.arrivals(None)
    assert public.jobs(None) == "Not measured yet.\n"


def test_every_kept_row_is_on_the_page() -> None:
    page = public.page()
    for network in NETWORKS:
        assert network.replace("_", " ") in page
    batch = TABLES.read("batch")
    assert batch is not None
    assert page.count("all pods known: ") == len(batch)
    assert "fill is above FGD, both measured here" in page


def test_rows_of_few_types_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = Tables("few-types", tmp_path)
    asked = ["--jobs", "2000", "--types", "2", "--objective", "total-throughput", "--keep"]
    few_types.main(asked, tables)
    kept = tables.read(few_types.STUDY)
    assert kept is not None
    assert kept["types"].tolist() == [2]
    assert str(kept["version"][0]).startswith("walras ")
    assert kept["gap"][0] <= 1e-6
    assert "total-throughput" in capsys.readouterr().out
    assert "| total-throughput | 2 x 2,000 |" in public.jobs(kept)
