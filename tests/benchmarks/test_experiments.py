from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.balancing import BalanceSpec
from benchmarks.cases import load_balancing as balancing
from benchmarks.cell import Cell
from benchmarks.experiments import crossing, fairness, micro, moves, robustness
from benchmarks.experiments.__main__ import STUDIES, main
from benchmarks.experiments.methods import EXACT, SOLVERS
from benchmarks.experiments.page import table, write_page
from benchmarks.experiments.study import Setting
from benchmarks.measure import measure
from benchmarks.store import Store
from benchmarks.tables import Tables
from matplotlib.image import imread

from walras.domains import traffic_engineering as te

B4 = Setting("B4", level=0.5, limit=1.0)


def test_the_studies_are_those_of_the_paper_of_restarts_and_of_moves() -> None:
    names = [study.name for study in STUDIES]
    assert names == [
        "granularity",
        "temporal",
        "spatial",
        "failures",
        "fairness",
        "threads",
        "starts",
        "alternatives",
        "restarts",
        "crossing",
        "moves",
    ]


def test_shortcuts_lower_the_centrality() -> None:
    """An average link serves mean hops / links of the pairs; shortcuts shorten paths, add links."""
    network, paths = B4.parts
    more = robustness.with_shortcuts(network, 12, seed=1)
    assert more.links == network.links + 12
    ends = set(zip(more.source.tolist(), more.target.tolist(), strict=True))
    assert len(ends) == more.links
    found = te.candidate_paths(more, k=4, cache=False)
    assert robustness.centrality(found) < robustness.centrality(paths)
    hops = paths.hops[paths.first[:-1]].mean()
    assert robustness.centrality(paths) == pytest.approx(hops / network.links)


def test_failures_take_links_away_and_traffic_is_still_served(tmp_path: Path) -> None:
    study = next(study for study in STUDIES if study.name == "failures")
    tables = Tables("experiments", tmp_path)
    frame = study.measure(B4, tables)
    assert set(frame["method"]) == set(SOLVERS)
    assert (frame["violation"] <= 1e-9).all()
    assert (frame["normalised"] <= 1 + 1e-6).all()
    exact = frame[frame["method"] == EXACT]
    assert exact["normalised"].to_numpy() == pytest.approx(1.0)
    served = exact["served"].to_numpy()
    assert served[0] > served[-1] > 0
    assert imread(tables.picture("failures")).ndim == 3
    stored = tables.read("failures")
    assert stored is not None
    assert len(stored) == len(frame)
    page = write_page(STUDIES, tables).read_text(encoding="utf-8")
    assert page.count("Not measured yet.") == len(STUDIES) - 1
    assert "![Link failures](../../pictures/experiments/failures.png)" in page


def test_alternatives_are_traced_to_the_optimum(tmp_path: Path) -> None:
    study = next(study for study in STUDIES if study.name == "alternatives")
    frame = study.measure(B4, Tables("experiments", tmp_path))
    ours = frame[frame["method"] == "Walras, first order"]
    assert ours["normalised"].iloc[-1] > 0.98
    assert frame["normalised"].max() <= 1 + 1e-6  # to which the optimum is proved
    reached = micro.table_traces(frame)
    assert set(reached.index) == set(frame["method"])


def test_rounds_are_traced_beside_the_published_scheme_and_its_timing(tmp_path: Path) -> None:
    frame = fairness.fairness(Setting("8x40", limit=5.0), (8, 40))
    assert set(frame["method"]) == {fairness.OURS, fairness.THEIRS, fairness.IDEAL}
    assert list(frame["objective"].unique()) == list(fairness.OBJECTIVES)
    for _, own in frame.groupby("objective"):
        ours, theirs, ideal = (
            own[own["method"] == method]
            for method in (fairness.OURS, fairness.THEIRS, fairness.IDEAL)
        )
        assert ours["gap"].min() <= fairness.TOLERANCE
        assert ideal["gap"].tolist() == theirs["gap"].tolist()
        assert 0 < ideal["seconds"].iloc[-1] < theirs["seconds"].iloc[-1]
    assert len(fairness.table_fairness(frame)) == len(fairness.OBJECTIVES) * 3
    fairness.draw_fairness(frame, tmp_path / "fairness.png")
    assert imread(tmp_path / "fairness.png").ndim == 3


def test_moves_are_drawn_over_seconds_for_every_method_on_the_same_rounds(tmp_path: Path) -> None:
    spec = BalanceSpec(16, 128, rounds=1, first=2)
    methods = ("walras-rebalance-drop", "estore", "rebalance-plain")
    cells = [Cell("test", spec, "moves", method, 1.0, 1, limit=6.0) for method in methods]
    store = Store(tmp_path)
    for cell in cells:
        store.write(cell, measure(cell))
    frame = moves.moves_frame(cells, store)
    assert len(frame) == len(methods)
    ours, greedy, _ = frame["moves"]
    assert frame["bound"][0] <= ours <= greedy
    assert (frame["seconds"] > 0).all()
    table = moves.table_moves(frame)
    assert table["rounds"].tolist() == [1, 1, 1]
    lost = frame.assign(moves=frame["moves"].where(frame["method"] != "HiGHS, plain program"))
    assert moves.table_moves(lost)["infeasible rounds"].tolist() == [0, 0, 1]
    moves.draw_moves(lost, tmp_path / "moves.png")
    assert imread(tmp_path / "moves.png").ndim == 3


def test_every_method_begins_the_shared_rounds_from_the_same_placement() -> None:
    cells = balancing.shared_cells()
    of_method = {
        method: [cell.spec for cell in cells if cell.method == method]
        for method in balancing.BESIDE
    }
    assert all(specs == list(balancing.SHARED) for specs in of_method.values())
    assert {cell.limit for cell in cells} == {balancing.LIMIT}


def test_bytes_between_machines_are_counted_with_proofs_and_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crossing, "ACTORS", (2,))
    monkeypatch.setattr(crossing, "SHARES", (0.25, 0.5))
    study = next(study for study in STUDIES if study.name == "crossing")
    frame = study.measure(Setting("B4", level=0.05, limit=60.0), Tables("experiments", tmp_path))
    assert (frame["proof"] > frame["bytes"]).all()
    assert (frame["bytes"] > 0).all()
    assert list(frame["entries"]) == sorted(frame["entries"])
    assert (frame["gap"] <= 1e-2).all()
    assert imread(Tables("experiments", tmp_path).picture("crossing")).ndim == 3
    assert list(study.summary(frame).index) == ["2 actors, 3 sources", "2 actors, 6 sources"]


def test_the_command_refuses_what_it_does_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["weather"])
    assert "there is no study 'weather'" in capsys.readouterr().err
    assert main(["--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(STUDIES)


def test_a_table_in_markdown() -> None:
    frame = pd.DataFrame({"a": [1.0, np.nan]}, index=["x", "y"])
    assert table(frame) == "|  | a |\n| --- | --: |\n| x | 1 |\n| y |  |\n"
