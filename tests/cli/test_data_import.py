"""``walras data import sacct``: runs counted and written, the others told on standard error."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
from typer.testing import CliRunner, Result

from walras.cli.main import app

JOBS = """JobID|JobName|Partition|State|ElapsedRaw
1|bert|v100|COMPLETED|605
1.batch|batch||COMPLETED|605
2|bert|k80|FAILED|3
3|gpt|k80|COMPLETED|x
4|gpt|k80|RUNNING|10
"""


def _run(tmp_path: Path, content: str, *options: str) -> Result:
    file = tmp_path / "jobs.txt"
    file.write_text(content, encoding="utf-8")
    return CliRunner().invoke(app, ["data", "import", "sacct", str(file), *options])


def test_runs_are_counted_by_cluster(tmp_path: Path) -> None:
    found = _run(tmp_path, JOBS, "-o", "json")
    assert found.exit_code == 0, found.output
    rows = {row["cluster"]: row for row in json.loads(found.stdout)}
    assert rows["v100"] == {"cluster": "v100", "runs": 1, "completed": 1, "tasks": 1}
    assert rows["k80"] == {"cluster": "k80", "runs": 2, "completed": 1, "tasks": 2}
    assert "time left out: " in found.stderr


def test_runs_are_written_as_a_log(tmp_path: Path) -> None:
    to = tmp_path / "runs.csv"
    assert _run(tmp_path, JOBS, "--to", str(to), "--task", "JobName").exit_code == 0
    runs = pd.read_csv(to)
    assert runs["task"].tolist() == ["bert", "bert", "gpt"]
    assert runs["outcome"].tolist() == ["completed", "failed", "completed"]


def test_steps_that_cannot_be_told_from_jobs_are_reported(tmp_path: Path) -> None:
    bare = "JobName|Partition|State|ElapsedRaw\nbert|v100|COMPLETED|605\n0|v100|COMPLETED|605\n"
    found = _run(tmp_path, bare + "batch||COMPLETED|605\n")
    assert found.exit_code == 0, found.output
    assert "numbered steps count as jobs" in found.stderr
