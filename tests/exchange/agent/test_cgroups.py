"""Limits of runs: what is written for a run, and nothing where no cgroup can be made."""

from __future__ import annotations

from pathlib import Path

import pytest

from walras.exchange.agent import cgroups
from walras.exchange.agent.cgroups import Limits


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of the kernel's."""
    found = tmp_path / "cgroup"
    found.mkdir()
    monkeypatch.setattr(cgroups, "_ROOT", found)
    return found


def run_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "agent" / "runs" / "p1"
    folder.mkdir(parents=True)
    return folder


def test_a_run_may_use_its_slots_share(root: Path, tmp_path: Path) -> None:
    folder = run_folder(tmp_path)
    assert cgroups.available()
    assert cgroups.make(folder, Limits(memory=1000, cores=0.5), slots=3)
    group = root / "walras" / "run-agent-p1"
    assert (folder / "cgroup").read_text() == str(group)
    assert (group / "memory.max").read_text() == "3000"
    assert (group / "cpu.max").read_text() == "150000 100000"
    cgroups.kill(folder)
    assert (group / "cgroup.kill").read_text() == "1"


def test_without_limits_or_cgroups_nothing_is_made(root: Path, tmp_path: Path) -> None:
    folder = run_folder(tmp_path)
    assert not cgroups.make(folder, Limits(), slots=1)
    root.rmdir()
    root.write_text("no folder")
    assert not cgroups.available()
    assert not cgroups.make(folder, Limits(memory=1), slots=1)
    assert not (folder / "cgroup").exists()
    cgroups.kill(folder)
    cgroups.remove(folder)
