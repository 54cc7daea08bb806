"""``walras network deploy`` and ``replay`` from end to end."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

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
    assert facts["alive at the end"] == facts["centres"] == 3
    assert facts["quanta held and in flight over the budget"] == 0
    assert facts["shares held"] == facts["budget"]
    assert 0.0 < facts["slowest epoch, s"] < facts["slowest epoch at equal shares, s"]
    again = _walras("replay", str(folder), "-o", "json", "--no-progress")
    assert again.returncode == 0, again.stderr
    assert [row["same state"] for row in json.loads(again.stdout)] == [True] * 3
    (folder / "final.json").write_text(json.dumps(["another"] * 3))
    assert _walras("replay", str(folder)).returncode == 1


def test_the_steps_are_reported_and_the_run_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("walras.cli.common.progress._AFTER", 0.0)
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO)
    saved = tmp_path / "saved"
    arguments = ["deploy", str(file), "--folder", str(tmp_path / "run"), "--save", str(saved)]
    run = CliRunner().invoke(app, arguments)
    assert run.exit_code == 0, run.output
    figures = ("cost_gap", "cost_gap_bits", "cost_gap_seconds", "epochs", "graph", "held", "shares")
    expected = {"run.json", "steps.csv", "shares.csv", *(f"{name}.png" for name in figures)}
    assert {path.name for path in saved.iterdir()} == expected
    assert '"stage": "deploying"' in run.stderr


def test_mistakes_have_their_exit_codes(tmp_path: Path) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO + "surprise = 1\n")
    run = _walras("deploy", str(file))
    assert run.returncode == 2
    assert "surprise" in run.stderr
    assert "Traceback" not in run.stderr
    assert _walras("replay", str(tmp_path)).returncode == 6


def test_ctrl_c_says_how_far_it_came_and_a_resume_adds_its_steps(tmp_path: Path) -> None:
    file, folder = tmp_path / "scenario.toml", tmp_path / "run"
    file.write_text(SCENARIO.replace("steps = 60", "steps = 1000000"))
    command = [sys.executable, "-m", "walras", "network", "deploy", str(file)]
    run = subprocess.Popen(
        [*command, "--folder", str(folder), "-o", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60.0
    # A few hundred steps of each centre: what a resume and a replay play again.
    while _least_bytes(folder) < 20_000 and time.monotonic() < deadline:
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    printed, said = run.communicate(timeout=60)
    assert run.returncode == 130, said
    (facts,) = json.loads(printed)
    assert facts["quanta held and in flight over the budget"] == 0
    stopped = re.search(r"stopped at (\d+) of 1000000; --resume --folder \S+ goes on", said)
    assert stopped, said
    again = _walras(
        "deploy", str(file), "--folder", str(folder), "--resume", "--steps", "20", "-o", "json"
    )
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)[0]["alive at the end"] == 3
    ticks = [row["ticks"] for row in _rows("replay", str(folder))]
    assert int(stopped[1]) + 20 <= min(ticks) < 1_000_000


def _least_bytes(folder: Path) -> int:
    """Bytes of the shortest of three traces."""
    sizes = [path.stat().st_size for path in folder.glob("*.trace")]
    return min(sizes) if len(sizes) == 3 else 0


def _rows(*arguments: str) -> list[dict[str, Any]]:
    run = _walras(*arguments, "-o", "json", "--no-progress")
    assert run.returncode == 0, run.stderr
    rows: list[dict[str, Any]] = json.loads(run.stdout)
    return rows
