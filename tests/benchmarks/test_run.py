from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.benchmark import Benchmark
from benchmarks.cell import SLOW, Cell
from benchmarks.commands import Options, measure_all, run, write_table
from benchmarks.instances import Spec
from benchmarks.measure import HERE, measure, without_paths
from benchmarks.peers import METHODS
from benchmarks.store import Store, write_lines
from benchmarks.table import render

from benchmarks import registry

TINY = Spec("heterogeneous", 8, 24)


def _cell(method: str, objective: str = "max-min", spec: Spec = TINY, **more: float) -> Cell:
    return Cell("test", spec, objective, method, estimate=5.0, runs=2, **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, list[Cell]]:
    store = Store(tmp_path_factory.mktemp("results"))
    cells = [_cell("highs-ipm"), _cell("clarabel")]
    assert measure_all(cells, store, fresh=False) == 0
    return store, cells


def test_two_peers_run_end_to_end_and_agree(measured: tuple[Store, list[Cell]]) -> None:
    store, cells = measured
    records = [record for cell in cells if (record := store.read(cell)) is not None]
    assert [record["status"] for record in records] == ["ran", "ran"]
    assert records[0]["value"] == pytest.approx(records[1]["value"], rel=1e-7)
    for record in records:
        assert record["runs"] == 2
        assert record["spread"][0] <= record["total"] <= record["spread"][1]
        assert record["violation"] <= 1e-7
        assert record["threads"] == 2
        assert record["cell"]["seed"] == TINY.seed
        assert record["machine"]["cores"] >= 1
        assert record["started"].startswith("20")
        assert len(record["dates"]) == 2
    first, second = (record["dates"] for record in records)
    assert first[0] <= second[0] <= first[1] <= second[1], "runs are made in turns"
    assert [record["in_turns"] for record in records] == [[cells[1].name], [cells[0].name]]
    assert set(records[0]["versions"]) == {"python", "highspy"}


def test_walras_is_measured_like_its_peers(measured: tuple[Store, list[Cell]]) -> None:
    store, cells = measured
    peer = store.read(cells[0])
    ours = measure(_cell("walras"))
    assert peer is not None
    assert ours["status"] == "ran", ours["message"]
    assert ours["value"] == pytest.approx(peer["value"], rel=1e-6)
    assert ours["value"] <= ours["numbers"]["bound"] * (1 + 1e-12)
    assert ours["numbers"]["bound"] == pytest.approx(peer["value"], rel=1e-6)


def test_a_warm_start_solves_the_new_round() -> None:
    spec = Spec("heterogeneous", 8, 60, churn=0.05)
    cold, warm = (measure(_cell(method, spec=spec)) for method in ("walras", "walras-warm"))
    assert warm["status"] == "ran", warm["message"]
    assert warm["value"] == pytest.approx(cold["value"], rel=2e-6)


def test_the_toy_from_arrays_is_solved_exactly() -> None:
    record = measure(_cell("walras-arrays", "dede-toy", Spec("dede-toy", 6, 6, seed=0)))
    assert record["status"] == "ran", record["message"]
    assert record["value"] == pytest.approx(15.0, rel=1e-8)
    assert record["violation"] <= 1e-7


def test_finished_cells_are_not_measured_again(
    measured: tuple[Store, list[Cell]], capsys: pytest.CaptureFixture[str]
) -> None:
    store, cells = measured
    before = store.path("test").read_bytes()
    assert measure_all(cells, store, fresh=False) == 0
    assert "0 of 2 cells to measure" in capsys.readouterr().out
    assert store.path("test").read_bytes() == before


def test_a_missing_cell_alone_is_measured_and_progress_is_json(
    measured: tuple[Store, list[Cell]], capsys: pytest.CaptureFixture[str]
) -> None:
    store, cells = measured
    kept = store.read(cells[0])
    write_lines(store.path("test"), [line for line in store.records(cells[:1]).values()])
    assert measure_all(cells, store, fresh=False) == 0
    head, line = capsys.readouterr().out.strip().splitlines()
    assert head.startswith("1 of 2 cells to measure")
    progress = json.loads(line)
    assert (progress["cell"], progress["done"], progress["of"]) == (cells[1].name, 1, 1)
    assert store.read(cells[0]) == kept


def test_a_failed_cell_is_reported_and_tried_again(tmp_path: Path) -> None:
    store, cell = Store(tmp_path), _cell("highs-ipm", objective="proportional-fairness")
    assert measure_all([cell], store, fresh=False) == 1
    record = store.read(cell)
    assert record is not None
    assert record["status"] == "failed"
    assert "KeyError" in record["message"]
    assert not store.finished(cell)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("ImportError: /opt/env/lib/libx.so.9: undefined", "ImportError: libx.so.9: undefined"),
        ("FileNotFoundError: '/home/a/b.npy'", "FileNotFoundError: 'b.npy'"),
        (r"OSError: C:\Users\a\x.dll: bad", "OSError: x.dll: bad"),
        (
            "ValueError: 3/4 of a/b, see https://a.org/b",
            "ValueError: 3/4 of a/b, see https://a.org/b",
        ),
    ],
)
def test_a_failure_tells_no_path_of_this_machine(message: str, expected: str) -> None:
    assert without_paths(message) == expected


def test_the_worker_itself_loads_nothing_that_a_peer_might_bring() -> None:
    """OR-tools and highspy each bring a libhighs, and one process can load but one of them."""
    code = "import benchmarks.worker, json, sys; print(json.dumps(list(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(HERE.parent)},
    )
    assert not {"walras", "highspy", "ortools", "scipy", "cvxpy"} & set(json.loads(run.stdout))


def test_an_allocation_that_is_not_finite_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    load = np.load
    monkeypatch.setattr(np, "load", lambda path: load(path) * np.nan)
    record = measure(_cell("highs-ipm"))
    assert record["status"] == "failed"
    assert "not finite" in record["message"]
    assert "violation" not in record


def test_a_method_that_ignores_its_limit_is_stopped() -> None:
    spec = Spec("heterogeneous", 200, 1500)
    record = measure(_cell("cvxpy", "proportional-fairness", spec, limit=0.3))
    assert record["status"] == "stopped"
    assert "value" not in record


def test_a_method_that_stops_itself_is_shown_as_stopped_with_what_it_had() -> None:
    spec = Spec("heterogeneous", 50, 300)
    record = measure(_cell("scs", "proportional-fairness", spec, limit=1.0))
    assert record["status"] == "stopped"
    assert "value" in record


def test_the_page_shows_every_record(measured: tuple[Store, list[Cell]]) -> None:
    store, cells = measured
    benchmark = Benchmark("test", "Tiny cells", tuple(cells), lambda records: ())
    page = render([benchmark], store.records(cells))
    assert "### Tiny cells" in page
    for cell in cells:
        assert page.count(f"| {METHODS[cell.method].label} |") == 1
    assert page.count(f"{min(r['started'][:10] for r in store.records(cells).values())} * |") >= 1
    assert "2 cells of 2 runs" in page
    write_table(store)
    assert (store.folder / "table.md").read_text(encoding="utf-8").startswith("| case | target")


def test_the_registry_is_sound() -> None:
    cells = registry.all_cells()
    assert len({cell.name for cell in cells}) == len(cells)
    assert {cell.method for cell in cells} == set(METHODS)
    assert all(cell.limit <= 600.0 and cell.estimate > 0 for cell in cells)
    quick = registry.select(quick=True)
    assert sum(cell.estimate for cell in quick) <= 360.0
    assert {cell.benchmark for cell in quick} == {cell.benchmark for cell in cells}
    assert not [cell.name for cell in quick if cell.runs == 1 and cell.estimate > 2 * SLOW]
    assert [c.name for c in registry.select(quick=False, only="gavel*--highs")]


def test_listing_measures_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path / "results")
    assert run(Options(only="gavel", list_only=True), store) == 0
    assert "minutes in all" in capsys.readouterr().out
    assert not store.folder.exists()
    assert run(Options(only="no such cell"), store) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error[input]: no cell's name contains 'no such cell'")
