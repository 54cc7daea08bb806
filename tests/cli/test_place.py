"""``walras place``: tables in, nodes out, one error for each bad file."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from walras.cli.main import app
from walras.errors import InputError

NODES = "node,cpu,gpus,model\na,32,2,T4\nb,96,8,G2\n"
TASKS = "task,cpu,gpus,model\nserve,4,0.5,T4|A10\ntune,16,1,A10\nbig,8,4,\nmore,4,4,\nhuge,99,,\n"


@pytest.fixture
def run(tmp_path: Path) -> Any:
    """Runs the command on the two tables."""

    def call(*options: str, nodes: str = NODES, tasks: str = TASKS) -> Result:
        arguments = ["place", "--no-progress"]
        for name, text in (("nodes", nodes), ("tasks", tasks)):
            path = tmp_path / f"{name}.csv"
            path.write_text(text, encoding="utf-8")
            arguments += [f"--{name}", str(path)]
        return CliRunner().invoke(app, [*arguments, *options])

    return call


def test_json_has_value_bound_and_every_task(run: Any) -> None:
    result = run("-o", "json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["placed"], found["status"]) == (3, "optimal")
    assert found["value"] == pytest.approx(found["bound"]) == pytest.approx(8.5)
    on = {row["task"]: row["node"] for row in found["placement"]}
    assert on == {"serve": "a", "tune": "", "big": "b", "more": "b", "huge": ""}


def test_csv_and_table(run: Any) -> None:
    rows = list(csv.DictReader(io.StringIO(run("-o", "csv").stdout)))
    assert [row["task"] for row in rows] == ["serve", "tune", "big", "more", "huge"]
    result = run()
    assert "GPUs in use" in result.stdout
    assert "tune is not placed: of 2 nodes, 0 have room now" in result.stderr
    assert "short of a GPU of the right model: 2" in result.stderr
    many = run(tasks="task,cpu,gpus,model\n" + "".join(f"t{k},1,0,\n" for k in range(25)))
    assert "the first 20 of 25 tasks" in many.stdout
    assert "Every task is placed." in many.stderr


def test_a_node_with_none_of_a_resource_holds_a_task_that_needs_none(run: Any) -> None:
    result = run("-o", "csv", nodes="node,cpu\na,0\n", tasks="task,cpu\nx,1\ny,0\n")
    assert result.exit_code == 0, result.output
    rows = csv.DictReader(io.StringIO(result.stdout))
    assert {row["task"]: row["node"] for row in rows} == {"x": "", "y": "a"}


def test_moves_are_listed(run: Any) -> None:
    tasks = "task,cpu,gpus,model,node\nx,1,1,T4,b\n"
    refused = run(tasks=tasks).exception
    assert isinstance(refused, InputError)
    assert "does not fit node 'b'" in str(refused)
    result = run("--move-price", "0.25", "-o", "csv", tasks=tasks)
    assert [r["moved_from"] for r in csv.DictReader(io.StringIO(result.stdout))] == ["b"]


def test_bad_input_is_an_error_of_its_own(run: Any) -> None:
    bad = run(nodes="node,cpu\na,x\n")
    assert isinstance(bad.exception, InputError)
    assert "'x' is not a number" in str(bad.exception)
    assert isinstance(run("--tolerance", "2").exception, InputError)
