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


SINFO = """gpu|up|g1|mixed|24/40/0/64|512000|gpu:a100:4|ib
old|drain|c3|idle|0/32/0/32|128000|(null)|ib
"""
SQUEUE = "gpu|RUNNING|16|walras-t1-3\ngpu|RUNNING|8|other\ngpu|PENDING|64|big\n"


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand-ins for sinfo and squeue that print what a file holds."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in (("sinfo", SINFO), ("squeue", SQUEUE)):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
        script = folder / name
        script.write_text(f"#!/bin/sh\nexec cat {tmp_path}/{name}.txt\n", encoding="utf-8")
        script.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return tmp_path


def test_partitions_of_slurm_become_clusters(walras: Run, slurm: Path) -> None:
    words = ("cluster", "import", "--from", "slurm")
    added = json.loads(walras(*words, "-o", "json"))
    assert [(one["cluster"], one["slots"], one["state"]) for one in added] == [
        ("gpu", 64, "up"),
        ("old", 32, "draining"),
    ]
    again = json.loads(walras(*words, "-o", "json"))
    assert [one["change"] for one in again] == ["unchanged", "unchanged"]
    freed = json.loads(walras(*words, "--free", "--partition", "gpu", "-o", "json"))
    assert [(one["change"], one["changes"]) for one in freed] == [("changed", ["slots 64 -> 56"])]
    (slurm / "sinfo.txt").write_text(SINFO.replace("drain|", "up|"), encoding="utf-8")
    assert "state draining -> up" in walras(*words, "--partition", "old")
    gpu, old = json.loads(walras("cluster", "list", "-o", "json"))
    assert (gpu["labels"]["gpu"], gpu["slots"], old["state"]) == ("a100", 56, "up")


def test_files_and_standard_input_take_the_place_of_the_commands(walras: Run, slurm: Path) -> None:
    (slurm / "bin/sinfo").unlink()
    words = ["cluster", "import", "--from", "slurm", "--dry-run"]
    found = CliRunner().invoke(app, [*words, "-", "-o", "json"], input=SINFO)
    assert [one["slots"] for one in json.loads(found.stdout)] == [64, 32]
    at = [str(slurm / "sinfo.txt"), "--queue", str(slurm / "squeue.txt"), "--free"]
    found = CliRunner().invoke(app, [*words, *at, "-o", "json"])
    assert [one["slots"] for one in json.loads(found.stdout)] == [56, 32]
    assert found.stderr.splitlines() == [
        "gpu: 64 CPUs of nodes that start jobs, 40 idle; jobs of the exchange hold 16, others 8, "
        "waiting jobs ask for 64",
        "old: 32 CPUs of nodes that start jobs, 32 idle; jobs of the exchange hold 0, others 0, "
        "waiting jobs ask for 0",
        "would be: 2 added, 0 changed, 0 unchanged",
    ]
    assert walras(*words, *at)


def test_what_slurm_does_not_give_is_refused(walras: Run, slurm: Path) -> None:
    at = ("--from", "slurm")
    assert "there is no partition 'tpu'" in _refused(*at, "--partition", "tpu")
    assert "--free: needs the queue" in _refused(*at, str(slurm / "sinfo.txt"), "--free")
    assert "cannot be read" in _refused(*at, str(slurm / "nothing"))
    (slurm / "sinfo.txt").write_text("", encoding="utf-8")
    assert "describes no cluster" in _refused(*at)
    (slurm / "bin/sinfo").write_text("#!/bin/sh\necho down >&2; exit 1\n", encoding="utf-8")
    assert "sinfo: failed: down" in _refused(*at)
    assert json.loads(walras("cluster", "list", "-o", "json")) == []


def test_options_of_another_origin_are_refused(walras: Run, catalog: str) -> None:
    assert "--spot: is no option of --from slurm" in _refused("--from", "slurm", "--spot")
    said = _refused("--from", "skypilot", catalog, "--partition", "gpu")
    assert "--partition: is no option of --from skypilot; allowed: options of slurm" in said
    assert json.loads(walras("cluster", "list", "-o", "json")) == []
