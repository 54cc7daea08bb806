"""Every notebook runs, without warnings, and gives the outputs that it holds.

``docs/notebook_pages.py`` runs them and writes the outputs.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.test_sentences import MOST, sentences, words

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))


def _run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    script = str(ROOT / "docs/notebook_pages.py")
    command = [sys.executable, script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


def test_there_are_three() -> None:
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_gives_the_outputs_that_it_holds(path: Path) -> None:
    done = _run("--check", path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_of_format_4_and_its_sentences_are_short(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    prose = [c["source"] for c in notebook["cells"] if c["cell_type"] == "markdown"]
    assert [one for cell in prose for one in sentences("".join(cell)) if words(one) > MOST] == []


def test_another_output_is_an_error(tmp_path: Path) -> None:
    outputs = [{"output_type": "stream", "name": "stdout", "text": ["2\n"]}]
    cell = {"cell_type": "code", "source": ["print(1)"], "outputs": outputs}
    path = tmp_path / "wrong.ipynb"
    path.write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    done = _run("--check", path)
    assert done.returncode == 1
    assert "cell 1 holds" in done.stderr
    assert _run(path).returncode == 0
    assert _run("--check", path).returncode == 0


def test_a_warning_is_an_error(tmp_path: Path) -> None:
    source = ["import warnings\n", "warnings.warn('old')"]
    path = tmp_path / "warns.ipynb"
    cell = {"cell_type": "code", "source": source, "outputs": []}
    path.write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    assert "UserWarning: old" in _run(path).stderr
