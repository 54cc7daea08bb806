"""The co-optimisation studies: their list, their page, and what a study measures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.network import spectra
from benchmarks.network.__main__ import STUDIES, main
from benchmarks.network.convergence import digraph, ignored_gap, quantisers
from benchmarks.network.faults import loss
from benchmarks.network.study import Outcome, Study, first_below, net, shares_only, write_page
from benchmarks.tables import Tables

from walras import network as wn
from walras.network.graph.network import Network
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
    tables = Tables("network", tmp_path)
    study.measure(3, tables)
    page = write_page([study, Study("none", "None", "?", study.run, 1.0)], tables).read_text()
    assert "| ours | 1.5e-09 |" in page
    assert "Not measured yet" in page
    assert tables.picture("toy").exists()


def test_the_first_step_below_counts_only_if_it_stays_there() -> None:
    run = wn.simulate(shares_only(0), net(0), steps=4)
    values = np.array([1.0, 1e-9, 1.0, 1e-9])
    assert first_below(run, values)["steps"] == 4.0
    assert np.isnan(first_below(run, np.ones(4))["bits"])


def test_the_gap_of_ignoring_imbalance_is_where_its_iteration_rests() -> None:
    problem, network = shares_only(0), Network.erdos_renyi(20, 0.18, seed=5, directed=True)
    x = np.full(20, problem.budget / 20)
    for _ in range(3000):
        x = x - 0.2 * (network.send @ problem.slope(x))
    best = problem.optimum().cost
    gap = float(problem.cost(x).sum() - best) / best
    assert gap == pytest.approx(ignored_gap(problem, network), rel=1e-6)


@pytest.mark.long
def test_the_digraph_study_finds_the_gap_of_ignoring_imbalance() -> None:
    table = digraph(0).table
    gaps = dict(zip(table["links"], table["cost gap"].astype(float), strict=True))
    assert abs(gaps["stays, ideal"]) < 1e-10
    assert abs(gaps["redrawn, 20 % lost"]) < 1e-5
    assert gaps["imbalance ignored, closed form"] > 0.1
    assert (table["worst audit"].dropna() == 0).all()


@pytest.mark.long
@pytest.mark.timeout(1200)  # two minutes on a host that does nothing else
def test_the_loss_study_reaches_the_survivors_optimum_to_1e_10() -> None:
    """Both, shares and model, with up to 40 % of the messages lost and a crash on top."""
    table = loss(0).table
    assert len(table) == 10
    assert (table["cost gap to the survivors' optimum"] < 1e-10).all()
    assert (table["consensus error"] < 1e-10).all()
    assert (table["error of the model"] < 1e-10).all()
    assert (table["worst audit, quanta"] == 0).all()
    assert (table["most held / budget"] <= 1.0).all()


@pytest.mark.long
@pytest.mark.timeout(1200)  # two minutes on a host that does nothing else
def test_innovations_are_exact_on_every_convex_problem_up_to_rho_1() -> None:
    table = quantisers(0).table
    assert set(table["loss"]) == {"SVM", "logistic", "regression"}
    assert table["rho, or uniform step"].max() == 1.0
    for value in ("gap", "consensus"):
        assert (table[f"innovation: {value}"] < 1e-8).all()
    assert (table["value: consensus"] > 1e-4).all()  # what values stall at


def test_thresholds_are_above_the_bound_and_simulations_agree(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spectra, "_CASES", 8)
    convex, concave = spectra.alpha_threshold(3).table.to_dict("records")
    assert convex["stable for every alpha"] == convex["cases"] == 4
    assert concave["below the bound"] == concave["stable for every alpha"] == 0
    assert concave["simulated"] == 4
    for found in ("V falls at the bound", "V falls at 0.95 of the threshold", "V grows at 1.05"):
        assert concave[found] == 4
