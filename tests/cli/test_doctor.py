"""``walras doctor``: it sees what is there and what is not."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from walras import kernels
from walras.cli import doctor
from walras.cli.main import app


def _rows() -> list[dict[str, Any]]:
    result = CliRunner().invoke(app, ["doctor", "-o", "json"])
    assert result.exit_code == 0, result.output
    return list(json.loads(result.output))


def test_versions_threads_kernels_and_data_are_shown() -> None:
    rows = _rows()
    found = {(row["section"], row["item"]): row["found"] for row in rows}
    assert found["package", "numpy"] == version("numpy")
    assert int(found["threads", "numba"]) >= 1
    assert int(found["threads", "processors"]) >= 1
    assert " compiled and cached" in found["kernels", "cpu"]
    assert ("data", "gavel") in found
    assert any(row["section"] == "threads" and "blas" in row["item"] for row in rows)


def test_a_missing_requirement_is_named_and_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_highs(name: str) -> str:
        if name == "highspy":
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(doctor, "version", without_highs)
    result = CliRunner().invoke(app, ["doctor", "-o", "json"])
    assert result.exit_code == 1
    missing = [row for row in json.loads(result.output) if row["item"] == "highspy"]
    assert missing == [
        {"section": "package", "item": "highspy", "found": "not installed", "ok": False}
    ]


def test_the_verdict_says_what_a_user_may_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_ray_and_highs(name: str) -> str:
        if name in gone:
            raise PackageNotFoundError(name)
        return version(name)

    gone = {"ray"}
    monkeypatch.setattr(doctor, "version", without_ray_and_highs)
    rows = _rows()
    assert not {"extra test", "extra lint"} & {row["section"] for row in rows}
    assert rows[-1]["section"] == "verdict"
    assert rows[-1]["ok"]
    assert rows[-1]["found"].startswith("ready; without scale (")
    gone.add("highspy")
    result = CliRunner().invoke(app, ["doctor", "-o", "json"])
    verdict = json.loads(result.output)[-1]
    assert verdict["found"].startswith("not ready: highspy not installed")
    assert not verdict["ok"]


def test_data_that_are_not_there_are_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WALRAS_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    rows = [row for row in _rows() if row["section"] == "data"]
    assert not any(row["ok"] for row in rows)
    assert all("synthetic stand-in" in row["found"] for row in rows)


def test_every_module_that_compiles_is_looked_at() -> None:
    folder = Path(str(kernels.__file__)).parent
    compiled = {file.stem for file in folder.rglob("*.py") if "\n@jit" in file.read_text("utf-8")}
    assert {"cpu", "newton", "consensus_copies"} <= compiled
    assert compiled <= {module.__name__.rpartition(".")[2] for module in doctor.kernel_modules()}
