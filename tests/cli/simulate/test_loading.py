"""Traces and clusters from options, and what is said before a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from walras.cli.common.errors import exit_code
from walras.cli.simulate.app import app
from walras.cli.simulate.loading import cluster_table, trace_options
from walras.errors import InputError, WalrasError

ROWS = "arrival,seconds,size\n" + "".join(f"{k},{600 + k},1\n" for k in range(20))


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["run", *arguments, "--no-progress"])


def _compare(config: Path, text: str) -> Result:
    config.write_text(text, encoding="utf-8")
    alone = ("--processes", "1", "--no-bound", "--no-progress", "-o", "json")
    return CliRunner().invoke(app, ["compare", str(config), *alone])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "jobs.csv"
    made.write_text(ROWS + "".join(f"x,{k},1\n" for k in range(1, 13)), encoding="utf-8")
    return made


def test_a_run_names_bad_rows_and_says_that_the_load_is_above_all_there_is(path: Path) -> None:
    result = _run("--trace", str(path), "--cluster", "a=2", "--cluster", "b=1", "-o", "json")
    assert result.exit_code == 0, result.output
    assert result.stderr.count("refused: line") == 10
    assert "2 more rows are refused" in result.stderr
    assert "above 100 %" in result.stderr


def test_a_trace_of_a_file_needs_a_cluster_unless_it_has_gavels_types(path: Path) -> None:
    result = _run("--trace", str(path))
    assert isinstance(result.exception, WalrasError)
    assert exit_code(result.exception) == 2
    assert "--cluster cpu=128" in str(result.exception)


def test_a_trace_that_says_its_machine_needs_no_cluster(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    rows = [f"{k} {60 * k} 0 50 {size} " + "-1 " * 13 for k, size in enumerate((4, 8, 16))]
    log.write_text("\n".join(["; MaxProcs: 8", *rows]), encoding="utf-8")
    result = _run("--trace", str(log), "-o", "json")
    assert result.exit_code == 0, result.output
    assert "Cluster(8 cpu)" in result.stderr
    assert "refused: line 4: size is 16, more than the 8 workers of cpu" in result.stderr
    assert "use of cpu" in result.stdout
    other = _run("--trace", str(log), "--cluster", "cpu=32", "-o", "json")
    assert "refused" not in other.stderr


def test_a_comparison_reads_a_file_as_a_run_does(path: Path, tmp_path: Path) -> None:
    stated = f'[trace]\nfile = "{path.name}"\n'
    result = _compare(tmp_path / "c.toml", f"{stated}[cluster]\na = 2\nb = 1\n")
    assert result.exit_code == 0, result.output
    assert result.stderr.count("refused: line") == 10
    assert "2 more rows are refused" in result.stderr
    assert "above 100 %" in result.stderr
    (ended,) = [row["value"] for row in json.loads(result.stdout) if row["measure"] == "ended"]
    assert ended == 20


def test_a_comparison_takes_the_machine_of_its_trace(tmp_path: Path) -> None:
    rows = [f"{k} {60 * k} 0 50 {size} " + "-1 " * 13 for k, size in enumerate((4, 8, 16))]
    log = "\n".join(["; MaxProcs: 8", *rows])
    (tmp_path / "log.swf").write_text(log, encoding="utf-8")
    result = _compare(tmp_path / "c.toml", '[trace]\nfile = "log.swf"\n')
    assert result.exit_code == 0, result.output
    assert "Cluster(8 cpu)" in result.stderr
    assert "refused: line 4: size is 16, more than the 8 workers of cpu" in result.stderr
    work = {"nb_res": 2, "jobs": [], "profiles": {"p": {"type": "delay", "delay": 60}}}
    job = {"id": "a", "subtime": 0, "res": 2, "profile": "p"}
    (tmp_path / "w.json").write_text(json.dumps(work | {"jobs": [job]}), encoding="utf-8")
    result = _compare(tmp_path / "c.toml", '[trace]\nfile = "w.json"\nformat = "batsim"\n')
    assert result.exit_code == 0, result.output
    assert "Cluster(2 host)" in result.stderr
    (tmp_path / "log.swf").write_text("\n".join(rows), encoding="utf-8")
    refused = _compare(tmp_path / "c.toml", '[trace]\nfile = "log.swf"\n')
    assert exit_code(refused.exception) == 2  # type: ignore[arg-type]
    assert "[cluster]" in str(refused.exception)


@pytest.mark.parametrize("command", ["run", "compare"])
def test_rows_are_named_where_jobs_are_placed_as_tasks(
    path: Path, tmp_path: Path, command: str
) -> None:
    config = tmp_path / "c.toml"
    text = f'[world]\nkind = "placed"\n[trace]\nfile = "{path.name}"\n[cluster]\na = 2\n'
    found = _compare(config, text) if command == "compare" else None
    result = found or _run(str(config.write_text(text, "utf-8") and config), "-o", "json")
    assert result.exit_code == 0, result.output
    assert result.stderr.count("refused: line") == 10


def test_a_run_is_exported(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = _run("--trace", str(path), "--cluster", "a=1000", "--export", str(out))
    assert result.exit_code == 0, result.output
    assert {file.name for file in out.iterdir()} == {
        "jobs.csv",
        "rounds.csv",
        "batsim_jobs.csv",
        "run.json",
    }
    assert "above 100 %" not in result.stderr


def test_a_kind_of_table_is_checked_before_the_run(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = _run("--trace", str(path), "--cluster", "a=9", "--export", str(out), "--tables", "xls")
    assert isinstance(result.exception, InputError)
    assert "refused" not in result.stderr  # the trace was not even read
    assert not out.exists()


def test_options_become_arguments() -> None:
    made = trace_options("swf", ["queue=kind"], ["v100", "k80=0.5"], Path("speeds.json"))
    assert made == {
        "format": "swf",
        "columns": {"queue": "kind"},
        "types": {"v100": 1.0, "k80": 0.5},
        "speeds": "speeds.json",
    }
    assert trace_options(None, None, None, None) == {}
    assert cluster_table(None, Path("n.csv"), "swf") == {"file": "n.csv", "format": "table"}
    with pytest.raises(InputError, match="--nodes"):
        cluster_table(["a=1"], Path("n.csv"), None)
