"""What a task of the demo runs: alone, by a bare Python, and as its cluster is."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from walras.demo.live import job


def _cluster(folder: Path, chance: float) -> Path:
    inside = folder / "runs" / "1"
    inside.mkdir(parents=True)
    known = {"networks": {"110021": [0.05, chance]}}
    (folder / "cluster.json").write_text(json.dumps(known))
    return inside


def test_it_runs_alone_and_ends_well(tmp_path: Path) -> None:
    made = subprocess.run(
        [sys.executable, "-I", "-S", job.__file__, "110021"],
        cwd=_cluster(tmp_path, 1.0),
        capture_output=True,
        text=True,
        timeout=20.0,
        check=False,
    )
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout.splitlines()[-2:] == ["step 5 of 5", "done"]


def test_it_fails_as_often_as_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(_cluster(tmp_path, 0.7))
    monkeypatch.setattr("walras.demo.live.job.time.sleep", lambda seconds: None)
    random.seed(3)
    failed = sum(job.main("110021") for _ in range(1000))
    assert 250 < failed < 350  # 300, and 3.4 standard deviations
    assert "out of luck" in capsys.readouterr().out


def test_a_network_of_other_data_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(_cluster(tmp_path, 1.0))
    with pytest.raises(SystemExit, match="402334 was not measured here"):
        job.main("402334")


def test_without_a_cluster_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"no cluster\.json"):
        job.cluster_of(tmp_path)
