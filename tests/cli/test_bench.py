from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from walras.cli import bench
from walras.errors import DataError


def _walras(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = "import sys; from walras.cli.main import main; sys.argv[0] = 'walras'; main()"
    command = [sys.executable, "-c", program, "bench", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_the_command_forwards_to_the_registry() -> None:
    listed = _walras("--list", "--cells", "full", "--only", "pdlp-1e-4")
    assert listed.returncode == 0, listed.stderr
    *cells, total = listed.stdout.strip().splitlines()
    assert cells
    assert all(line.endswith("--pdlp-1e-4") for line in cells)
    assert "minutes in all" in total


def test_a_pattern_that_matches_nothing_is_bad_input() -> None:
    assert _walras("--only", "no such cell").returncode == 2


def test_outside_a_source_tree_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "lib" / "site-packages" / "walras" / "cli" / "bench.py"
    monkeypatch.setattr(bench, "__file__", str(installed))
    with pytest.raises(DataError, match="clone the repository"):
        bench.source_tree()
