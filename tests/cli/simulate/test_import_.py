"""``walras simulate import``: counts, span, load and refused rows of a trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from walras.cli.common.errors import exit_code
from walras.cli.simulate.app import app
from walras.errors import WalrasError
from walras.simulate import FORMATS, load_trace

ROWS = "id,when,seconds,gpus,queue\na,0,100,2,x\nb,50,100,1,y\nc,100,100,9,x\nd,soon,1,1,x\n"
MAPS = ("--map", "id=name", "--map", "when=arrival", "--map", "gpus=size", "--map", "queue=kind")


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["import", *arguments])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "jobs.csv"
    made.write_text(ROWS, encoding="utf-8")
    return made


def _measures(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    return {row["measure"]: row["value"] for row in json.loads(result.stdout)}


def test_counts_span_and_load_are_shown_and_bad_rows_said(path: Path, tmp_path: Path) -> None:
    saved = tmp_path / "trace.csv"
    result = _run(str(path), *MAPS, "--cluster", "gpu=4", "--save", str(saved), "-o", "json")
    found = _measures(result)
    assert (found["jobs"], found["rows refused"], found["classes"]) == (2, 2, 2)
    assert found["span of arrivals"] == pytest.approx(50 / 3600)
    assert found["load of gpu"] == pytest.approx(150.0)
    assert "refused: line 4: size is 9, more than the 4 workers of gpu" in result.stderr
    assert "refused: line 5: arrival is 'soon'" in result.stderr
    assert "above 100 %" in result.stderr
    assert load_trace(saved).name == ("a", "b")


def test_columns_that_no_field_takes_are_named(path: Path, tmp_path: Path) -> None:
    two = ("--map", "id=name", "--map", "when=arrival")
    assert "columns not used: gpus, queue; --map" in _run(str(path), *two).stderr
    assert "column not used: queue; --map" in _run(str(path), *MAPS[:-2]).stderr
    saved = str(tmp_path / "trace.csv")
    assert "not used" not in _run(str(path), *MAPS, "--save", saved).stderr
    assert "not used" not in _run(saved).stderr


def test_every_refused_row_can_be_listed(path: Path) -> None:
    rows = json.loads(_run(str(path), *MAPS, "--refused", "-o", "json").stdout)
    assert rows == [{"row": 5, "field": "arrival", "reason": "is 'soon', not a number 0 or more"}]


def test_without_a_cluster_there_is_no_load(path: Path) -> None:
    result = _run(str(path), *MAPS, "-o", "json", "--type", "a100", "--type", "k80=0.5")
    assert not any(name.startswith("load") for name in _measures(result))
    assert "--cluster TYPE=WORKERS" in result.stderr


def test_a_list_of_machines_is_a_cluster(path: Path, tmp_path: Path) -> None:
    nodes = tmp_path / "nodes.csv"
    nodes.write_text("type,workers\nv100,8\nk80,8\n", encoding="utf-8")
    found = _measures(_run(str(path), *MAPS, "--nodes", str(nodes), "-o", "json"))
    assert found["load of v100"] == pytest.approx(300 / 16 / 50 * 100)


def test_what_the_file_says_of_its_machine_is_used(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    line = "{} {} -1 60 {} -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1"
    rows = (line.format(1, 0, 4), line.format(2, 60, 4), line.format(3, 60, 64))
    log.write_text("; MaxProcs: 8\n" + "\n".join(rows), encoding="utf-8")
    result = _run(str(log), "-o", "json")
    assert _measures(result)["load of cpu"] == pytest.approx(100.0)
    assert "1 job needs more than Cluster(8 cpu), first '3'" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--format", "csv"), 2),
        (("--map", "id"), 2),
        (("--map", "id=id"), 2),
        (("--type", "a=0"), 2),
        (("--cluster", "gpu=4", "--nodes", "x"), 2),
        (("--nodes", "nowhere.csv"), 6),
        (("--speeds", "nowhere.json"), 6),
        (("--save", "nowhere/at/all.csv"), 6),
        (("--format", "helios"), 6),
    ],
)
def test_bad_options_end_in_an_error(arguments: tuple[str, ...], code: int, path: Path) -> None:
    result = _run(str(path), *MAPS, *arguments)
    assert isinstance(result.exception, WalrasError)
    assert exit_code(result.exception) == code
    assert not result.stdout


def test_the_formats_are_listed() -> None:
    rows = json.loads(CliRunner().invoke(app, ["formats", "-o", "json"]).stdout)
    assert [row["format"] for row in rows] == list(FORMATS)
