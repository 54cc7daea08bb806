"""``walras network deploy`` and ``replay`` from end to end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from walras.cli.network import app

SCENARIO = """
steps = 60
[network]
kind = "ring"
centres = 3
[cpu]
kind = "throughput"
[deploy]
time_limit = 60
"""


def _walras(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "walras", "network", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_a_scenario_is_deployed_and_replayed(tmp_path: Path) -> None:
    file, folder = tmp_path / "scenario.toml", tmp_path / "run"
    file.write_text(SCENARIO)
    run = _walras("deploy", str(file), "--folder", str(folder), "-o", "json")
    assert run.returncode == 0, run.stderr
    (facts,) = json.loads(run.stdout)
    assert facts["ran to the end"] == facts["centres"] == 3
    assert facts["quanta held and in flight over the budget"] == 0
    assert facts["shares held"] == facts["budget"]
    assert 0.0 < facts["slowest epoch, s"] < facts["slowest epoch at equal shares, s"]
    again = _walras("replay", str(folder), "-o", "json", "--no-progress")
    assert again.returncode == 0, again.stderr
    assert [row["same state"] for row in json.loads(again.stdout)] == [True] * 3
    (folder / "final.json").write_text(json.dumps(["another"] * 3))
    assert _walras("replay", str(folder)).returncode == 1


def test_the_steps_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("walras.cli.common.progress._AFTER", 0.0)
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO)
    run = CliRunner().invoke(app, ["deploy", str(file), "--folder", str(tmp_path / "run")])
    assert run.exit_code == 0, run.output
    assert '"stage": "deploying"' in run.stderr


def test_mistakes_have_their_exit_codes(tmp_path: Path) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO + "surprise = 1\n")
    run = _walras("deploy", str(file))
    assert run.returncode == 2
    assert "surprise" in run.stderr
    assert "Traceback" not in run.stderr
    assert _walras("replay", str(tmp_path)).returncode == 6
