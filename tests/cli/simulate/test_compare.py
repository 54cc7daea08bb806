"""``walras simulate compare``: a study in, one table, one figure, one page out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import walras as wl
from walras.cli.common.errors import exit_code
from walras.cli.simulate.app import app
from walras.simulate.compare.study import EXAMPLE, EXAMPLE_PLACED

CONFIG = """
[trace]
rate = 8.0
jobs = 8
synthetic = true
[cluster]
v100 = 1
p100 = 1
k80 = 1
[[policy]]
name = "fifo"
[[policy]]
name = "las"
label = "max-min"
[run]
seeds = [0, 1]
"""


def _run(command: str, *arguments: str) -> Result:
    return CliRunner().invoke(app, [command, *arguments, "--no-progress"])


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "compare.toml"
    path.write_text(CONFIG, encoding="utf-8")
    return path


def test_one_table_one_page_one_figure(config: Path, tmp_path: Path) -> None:
    report, figure, saved = (tmp_path / name for name in ("r.html", "f.png", "c.npz"))
    result = _run(
        *("compare", str(config), "-o", "json", "--processes", "1"),
        *("--report", str(report), "--figure", str(figure), "--save", str(saved)),
    )
    assert result.exit_code == 0, result.output
    rows: list[dict[str, Any]] = json.loads(result.stdout)
    assert {(row["policy"], row["seed"]) for row in rows} == {
        (policy, seed) for policy in ("fifo", "max-min", "no policy below") for seed in (0, 1)
    }
    assert "no policy below" in report.read_text("utf-8")
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert len(wl.load(saved).table) == len(rows)


def test_it_goes_on_where_it_was_cut(config: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    rules = ("--processes", "1", "--folder", str(folder), "--no-bound", "-o", "csv")
    first = _run("compare", str(config), "--seeds", "1", *rules)
    assert first.exit_code == 0, first.output
    kept = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    second = _run("compare", str(config), *rules)
    assert second.exit_code == 0, second.output
    assert "no policy below" not in second.stdout
    assert len(list(folder.glob("*.npz"))) == 4
    assert all((folder / name).stat().st_mtime_ns == at for name, at in kept.items())


def test_saved_runs_are_compared(tmp_path: Path) -> None:
    drawn = ("--draw", "jobs=8", "--draw", "synthetic=true", "--draw", "rate=6")
    files = []
    for policy in ("fifo", "las"):
        files.append(str(tmp_path / f"{policy}.npz"))
        made = _run("run", *drawn, "--policy", policy, "--save", files[-1])
        assert made.exit_code == 0, made.output
    result = _run("compare", "--runs", files[0], "--runs", files[1], "-o", "json")
    assert result.exit_code == 0, result.output
    means = {
        row["policy"]: row["value"]
        for row in json.loads(result.stdout)
        if row["measure"] == "mean completion"
    }
    assert means["no policy below"] <= min(means["fifo"], means["las"])
    other = str(tmp_path / "other.npz")
    _run("run", *drawn, "--draw", "seed=3", "--policy", "fifo", "--save", other)
    refused = _run("compare", "--runs", files[0], "--runs", other)
    assert exit_code(refused.exception) == 2  # type: ignore[arg-type]
    assert "other jobs" in str(refused.exception)


def test_the_examples_are_configurations() -> None:
    assert _run("compare", "--example").stdout == EXAMPLE
    assert _run("compare", "--example", "--world", "placed").stdout == EXAMPLE_PLACED
    refused = _run("compare", "--example", "--world", "flat")
    assert exit_code(refused.exception) == 2  # type: ignore[arg-type]


PLACED = """
[world]
kind = "placed"
outages = [["east", 600.0, 900.0]]
[trace]
rate = 240.0
tasks = 12
chance = 0.3
[[policy]]
name = "first_fit"
[[policy]]
name = "fastest_cluster"
[run]
seeds = [0, 1]
round_seconds = 30
"""


def test_tasks_are_compared_from_a_configuration(tmp_path: Path) -> None:
    config, report, folder = (tmp_path / name for name in ("c.toml", "r.html", "runs"))
    config.write_text(PLACED, "utf-8")
    rules = ("--processes", "1", "--folder", str(folder), "-o", "json")
    result = _run("compare", str(config), *rules, "--report", str(report))
    assert result.exit_code == 0, result.output
    rows: list[dict[str, Any]] = json.loads(result.stdout)
    assert {row["policy"] for row in rows} == {"first_fit", "fastest_cluster", "no policy below"}
    failed = [row["value"] for row in rows if row["measure"] == "failed for good"]
    assert sum(failed) > 0
    assert "measured jobs have no end" in result.stderr
    assert "stopped by workers" in report.read_text("utf-8")
    assert len(list(folder.glob("*.npz"))) == 4
    config.write_text(PLACED.replace("first_fit", "fist_fit"), "utf-8")
    refused = _run("compare", str(config), *rules)
    assert exit_code(refused.exception) == 2  # type: ignore[arg-type]
    assert "fist_fit" in str(refused.exception)


def test_clusters_with_slots_fail_by_the_seed(tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    stated = PLACED.replace('outages = [["east", 600.0, 900.0]]\n', "")
    config.write_text(f"{stated}[run.failures]\nbetween = 900\nrepair = 60\n", "utf-8")
    result = _run("compare", str(config), "--processes", "1", "--no-bound", "-o", "json")
    assert result.exit_code == 0, result.output
    rows = [row for row in json.loads(result.stdout) if row["measure"] == "outages"]
    assert len({row["value"] for row in rows if row["seed"] == 0}) <= 2
    assert sum(row["value"] for row in rows) > 0
    config.write_text(f"{PLACED}[run.failures]\nbetween = 900\n", "utf-8")
    refused = _run("compare", str(config), "--processes", "1")
    assert exit_code(refused.exception) == 2  # type: ignore[arg-type]


def test_one_of_configuration_and_runs_is_needed(config: Path) -> None:
    for given in (
        (),
        (str(config), "--runs", "a.npz"),
        ("--runs", "a.npz", "--seeds", "2"),
        ("--runs", "a.npz", "--processes", "2"),
        (str(config), "--seeds", "0"),
    ):
        result = _run("compare", *given)
        assert exit_code(result.exception) == 2  # type: ignore[arg-type]
