"""The table of compared methods, against means worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from walras.learn.comparison import METRICS
from walras.reports.learning import _report, shown, summarised, warned


def _frame() -> pd.DataFrame:
    rows = [
        {
            **dict.fromkeys(METRICS, 0.5),
            "method": method,
            "setting": "A",
            "train_tasks": 40,
            "tasks_per_round": 5,
            "seed": seed,
            "elastic_regret": regret * (1.0 + 0.1 * seed),
            "seconds": 1.0 + seed,
            "error": "",
        }
        for method, regret in (("tsm-raw", 0.2), ("tsm-log", 0.1), ("mfcp-ad", 0.05))
        for seed in range(3)
    ]
    return pd.DataFrame(rows)


def test_ratios_are_to_the_better_two_stage_method() -> None:
    frame = _frame()
    judged = summarised(frame)
    assert judged is not None
    table = shown(frame, judged)
    found = {str(row[0]): row for row in table.rows}
    ratio = table.columns.index("ratio")
    assert found["tsm-log"][ratio] == pytest.approx(1.0)
    assert found["mfcp-ad"][ratio] == pytest.approx(0.5)
    assert [found["mfcp-ad"][1], found["mfcp-ad"][-1]] == pytest.approx([0.055, 2.0])
    assert table.title == "means over 3 cells; ratio to the better two-stage, 95 %"


def test_without_a_two_stage_method_there_are_no_ratios() -> None:
    frame = _frame()
    frame = frame[frame["method"] == "mfcp-ad"]
    assert summarised(frame) is None
    table = shown(frame, None, every=True)
    assert table.columns == ("method", *METRICS, "seconds")
    assert table.title == "means over 3 cells"
    assert np.isclose(float(table.rows[0][1 + list(METRICS).index("elastic_regret")] or 0), 0.055)


def test_methods_that_place_nothing_are_reported() -> None:
    frame = _frame().assign(utilisation=0.9)
    assert all("one cluster" in line for line in warned(frame))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("synthetic stand-in", "All numbers are synthetic"),
        ("measured", "Times are measured"),
        ("log", "those of the log that was given"),
    ],
)
def test_screen_and_page_say_whose_numbers_they_are(source: str, said: str, tmp_path: Path) -> None:
    frame = _frame().assign(source=source)
    synthetic = source.startswith("synthetic")
    assert shown(frame, None).title.startswith("synthetic data; ") == synthetic
    _report(tmp_path, frame, summarised(frame))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert said in page
    assert ("on synthetic data" in page) == synthetic
