"""``walras cluster import``: what is added, changed, refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.exchange.runs import Run
from typer.testing import CliRunner

from walras.cli.main import app
from walras.errors import WalrasError

CATALOG = """InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,SpotPrice
gpu_1x_a10,A10,1.0,30.0,200.0,0.75,us-east-1,0.5
gpu_1x_a10,A10,1.0,30.0,200.0,0.75,us-west-1,
cpu_4x_general,,,4.0,16.0,0.2,us-east-1,
"""


@pytest.fixture
def catalog(tmp_path: Path) -> str:
    file = tmp_path / "lambda/vms.csv"
    file.parent.mkdir()
    file.write_text(CATALOG, encoding="utf-8")
    return str(file)


def _refused(*words: str) -> str:
    raised = CliRunner().invoke(app, ["cluster", "import", *words]).exception
    assert isinstance(raised, WalrasError)
    return str(raised)


def test_machines_of_skypilot_become_clusters(walras: Run, catalog: str) -> None:
    words = ("cluster", "import", "--from", "skypilot", catalog, "--accelerator", "A10")
    shown = walras(*words, "--dry-run")
    assert "lambda-gpu-1x-a10-us-east-1" in shown.replace("\n", "")
    assert json.loads(walras("cluster", "list", "-o", "json")) == []
    added = json.loads(walras(*words, "--provider", "lambda", "-o", "json"))
    assert [(one["cluster"], one["change"]) for one in added] == [
        ("lambda-gpu-1x-a10-us-east-1", "added"),
        ("lambda-gpu-1x-a10-us-west-1", "added"),
    ]
    again = json.loads(walras(*words, "--slots", "4", "--region", "us-east-1", "-o", "json"))
    assert [(one["change"], one["changes"]) for one in again] == [("changed", ["slots 1 -> 4"])]
    (first, second) = json.loads(walras("cluster", "list", "-o", "json"))
    assert (first["slots"], first["price"], first["provider"]) == (4, 0.75, "lambda")
    assert (second["slots"], second["labels"]["gpu"]) == (1, "A10")


def test_spot_machines_and_a_prefix_make_other_clusters(walras: Run, catalog: str) -> None:
    words = ("cluster", "import", "--from", "skypilot", catalog, "--spot", "--prefix", "lab")
    (found,) = json.loads(walras(*words, "-o", "json"))
    assert found["cluster"] == "lab-lambda-gpu-1x-a10-us-east-1-spot"
    assert found["price"] == 0.5


def test_what_is_left_out_is_said_on_standard_error(walras: Run, catalog: str) -> None:
    words = ["cluster", "import", "--from", "skypilot", catalog, "--spot", "--dry-run"]
    said = CliRunner().invoke(app, words).stderr
    assert said.splitlines() == [
        "left out: 2 rows without a spot price",
        "would be: 1 added, 0 changed, 0 unchanged",
    ]
    assert walras(*words)


def test_what_cannot_be_imported_is_refused(walras: Run, catalog: str) -> None:
    at = ("--from", "skypilot")
    assert "FILE_OR_FOLDER: is missing" in _refused(*at)
    assert "describes no cluster that is asked for" in _refused(*at, catalog, "--region", "mars")
    assert "describes 3 clusters that are asked for" in _refused(*at, catalog, "--most", "2")
    assert "there is no such file or folder" in _refused(*at, catalog + "x")
    assert json.loads(walras("cluster", "list", "-o", "json")) == []
