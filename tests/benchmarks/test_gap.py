"""Generalised assignment on files: rows of all methods, bounds that hold, the page."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.assigning import AssignSpec, build_assign
from benchmarks.tables import Tables

import walras as wl
from benchmarks import gap
from walras.engines.exact.engine import linear_program
from walras.programs.highs import solve_program
from walras.separable import assignment
from walras.settings import Settings


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Files of the three recipes in the literature's form, and their optima by HiGHS."""
    monkeypatch.setenv("WALRAS_DATA", str(tmp_path))
    (tmp_path / "gap").mkdir()
    optima = {}
    for kind in "CDE":
        made = build_assign(AssignSpec(kind, 3, 9, 3))
        name = f"{kind.lower()}0309"
        parts = [np.array(made.shape), made.cost.ravel(), made.weight.ravel(), made.capacity]
        text = "\n".join(" ".join(f"{v:.0f}" for v in part) for part in parts)
        (tmp_path / "gap" / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
        program = linear_program(assignment(made.cost, made.weight, made.capacity))
        x = solve_program(program, Settings(1e-9)).x
        assert x is not None
        optima[name] = float(np.round(program.cost @ x))
    lines = [f"here/{name},x,x,9,3,{v:.0f},{v:.0f},{v:.0f}" for name, v in optima.items()]
    head = "Path,Format,Dataset,Item number,Agent number,Best known bound,Optimum,"
    known = "\n".join([head + "Best known solution value", *lines])
    (tmp_path / "gap" / "best_known.csv").write_text(known, encoding="utf-8")
    return optima


@pytest.mark.parametrize(
    "methods",
    [("walras", "highs"), pytest.param(tuple(gap.METHODS), marks=pytest.mark.peer("ortools"))],
)
def test_all_methods_find_the_optimum_between_cost_and_bound(
    methods: tuple[str, ...],
    files: dict[str, float],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(gap, "_WARM_UP", ("c0309", 20.0))
    tables = Tables("gap", tmp_path)
    asked = ["--seconds", "20", "--threads", "1", "--keep", "--methods", *methods]
    assert gap.main(asked, tables) == 0
    rows = tables.read("files")
    assert rows is not None
    assert len(rows) == 3 * len(methods)
    for row in rows.to_dict("records"):
        known = files[row["file"]]
        assert row["bound"] <= known + 1e-6
        assert row["cost"] >= known
        if row["method"] == "walras":
            assert row["cost"] == known
    shown = (tmp_path / "results/gap/page.md").read_text(encoding="utf-8")
    listed = [name for name in gap.METHODS if name in methods]
    assert f"{listed[-1]} {gap.version(listed[-1])}" in shown
    assert f"| type | limit | {' | '.join(listed)} | our bound |" in shown
    assert "Costs after 20 s" in shown
    assert f"included: {listed[0]} " in shown
    assert capsys.readouterr().out.count("\n") == len(rows)


def test_a_page_without_rows_says_so(tmp_path: Path) -> None:
    tables = Tables("gap", tmp_path)
    assert gap.main(["--page"], tables) == 0
    shown = tables.root / "results" / "gap" / "page.md"
    assert shown.read_text(encoding="utf-8") == "Not measured yet.\n"


def test_a_method_without_an_assignment_has_no_mean() -> None:
    row = {"method": "highs", "limit": 1.0, "bound": 90.0, "best_known": 100.0}
    rows = pd.DataFrame(
        [
            {**row, "file": "c1", "percent_above": 1.0},
            {**row, "file": "c2", "percent_above": None},
            {**row, "file": "d1", "percent_above": 2.0},
            {**row, "file": "c1", "percent_above": 0.5, "method": "walras"},
        ]
    )
    found = gap.means(rows).set_index("type")
    assert found["highs"].isna().to_dict() == {"C": True, "D": False}
    assert found["highs"].to_dict()["D"] == 2.0
    assert found["walras"].to_dict()["C"] == 0.5
    assert found["our bound"].to_dict()["C"] == pytest.approx(-10.0)


def test_a_file_of_the_wrong_length_is_refused(files: dict[str, float]) -> None:
    (gap.folder() / "c0309.gz").write_bytes(gzip.compress(b"2 2 1 1 1"))
    with pytest.raises(wl.DataError, match="2 agents and 2 tasks need 10 values"):
        gap.read("c0309")


def test_an_unknown_file_is_one_line(
    files: dict[str, float], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        gap.main(["z0"])
    assert "has no z0; set WALRAS_DATA" in capsys.readouterr().err
