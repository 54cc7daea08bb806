"""The co-optimisation studies: their list, their page, and what a study measures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.network.__main__ import STUDIES, main
from benchmarks.network.convergence import digraph
from benchmarks.network.study import Outcome, Study, first_below, net, shares_only, write_page

from walras import network as wn
from walras.plot.style import blank


def test_each_study_has_a_name_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert len({study.name for study in STUDIES}) == len(STUDIES)
    assert main(["--list"]) == 0
    assert "figure3" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["figure9"])


def test_a_study_keeps_its_table_and_figure(tmp_path: Path) -> None:
    table = pd.DataFrame({"method": ["ours"], "gap": [1.5e-9]})
    study = Study("toy", "A toy", "What?", lambda seed: Outcome(table, blank()[0]), 1.0)
    study.measure(3, tmp_path)
    page = write_page([study, Study("none", "None", "?", study.run, 1.0)], tmp_path).read_text()
    assert "| ours | 1.5e-09 |" in page
    assert "Not measured yet" in page
    assert (tmp_path / "toy.png").exists()


def test_the_first_step_below_counts_only_if_it_stays_there() -> None:
    run = wn.simulate(shares_only(0), net(0), steps=4)
    values = np.array([1.0, 1e-9, 1.0, 1e-9])
    assert first_below(run, values)["steps"] == 4.0
    assert np.isnan(first_below(run, np.ones(4))["bits"])


@pytest.mark.long
def test_the_digraph_study_finds_the_gap_of_ignoring_imbalance() -> None:
    table = digraph(0).table
    gaps = dict(zip(table["links"], table["cost gap"].astype(float), strict=True))
    assert gaps["push-sum weights, ideal"] < 1e-10
    assert gaps["ignored"] > 0.1
    assert (table["worst audit"] == 0).all()
