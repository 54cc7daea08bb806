"""``walras data``: what it prints and returns with real, missing and damaged sets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from walras import data
from walras.cli.main import app
from walras.data.registry import REGISTRY
from walras.errors import DataError, InputError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the sets are looked for: empty."""
    monkeypatch.setenv("WALRAS_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["data", *arguments])


@pytest.mark.usefixtures("folder")
def test_list_names_every_set_and_where_it_is() -> None:
    rows = json.loads(_run("list", "-o", "json").output)
    assert [row["name"] for row in rows] == list(data.REGISTRY)
    assert {row["found in"] for row in rows} == {None}
    assert [row["licence"] for row in rows] == [s.origin.licence for s in data.REGISTRY.values()]
    table = _run("list", "-o", "csv").output
    assert all(name in table for name in data.REGISTRY)


def test_a_narrow_terminal_never_cuts_a_name_in_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = _run("list").output.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 2 * len(data.REGISTRY) + 5  # no description takes more than two lines
    assert {line.split()[0] for line in lines if line.startswith("  ") and line[2:3].strip()} == {
        "name",
        *data.REGISTRY,
    }


@pytest.mark.usefixtures("folder")
def test_show_explains_the_columns() -> None:
    rows = json.loads(_run("show", "gavel_traces", "-o", "json").output)
    assert {"column": "arrival_time", "meaning": "seconds since the trace began"} in rows


def test_path_prints_the_folder_alone(folder: Path) -> None:
    (folder / "gavel").mkdir()
    (folder / "gavel" / "simulation_throughputs.json").write_text("{}")
    assert _run("path", "gavel").output == f"{folder / 'gavel'}\n"


@pytest.mark.usefixtures("folder")
def test_path_fails_without_the_set() -> None:
    result = _run("path", "gavel")
    assert isinstance(result.exception, DataError)
    assert result.output == ""


def test_verify_reports_each_file_and_fails_unless_all_are_ok(folder: Path) -> None:
    (folder / "gavel").mkdir()
    (folder / "gavel" / "simulation_throughputs.json").write_text("{}")
    result = _run("verify", "-o", "json")
    assert result.exit_code == 6
    states = {row["file"]: row["state"] for row in json.loads(result.output)}
    files = {file.name for data_set in data.REGISTRY.values() for file in data_set.files}
    assert states == dict.fromkeys(files, "missing") | {"simulation_throughputs.json": "changed"}


@pytest.mark.real_data("gavel", "gavel_traces", "dede_cluster")
def test_verify_accepts_the_real_sets() -> None:
    result = _run("verify", "-o", "csv")
    assert result.exit_code == 0
    _, *files = result.output.strip().splitlines()
    assert len(files) == sum(len(known.files) for known in REGISTRY.values())
    assert all(",ok," in line for line in files)


@pytest.mark.real_data("gavel")
def test_fit_prints_the_parameters() -> None:
    fitted = json.loads(_run("fit", "gavel").output)
    assert len(fitted["coefficients"]["A3C"]) == len(fitted["noise_sd"]) == 3


def test_fetch_from_a_mirror_that_lacks_the_file(folder: Path) -> None:
    result = _run("fetch", "gavel", "--mirror", folder.as_uri())
    assert isinstance(result.exception, DataError)
    assert "c4fa400" in result.exception.where


@pytest.mark.parametrize("command", ["show", "path", "fetch", "verify", "fit"])
def test_an_unknown_set_is_bad_input(command: str) -> None:
    result = _run(command, "gravel")
    assert isinstance(result.exception, InputError)


@pytest.mark.real_data("gavel")
def test_fetch_prints_where_the_set_now_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    origin = data.REGISTRY["gavel"].origin
    place = tmp_path / "mirror" / origin.repository / origin.commit / "scheduler"
    place.mkdir(parents=True)
    file = "simulation_throughputs.json"
    found = data.find("gavel")
    if found is not None:
        (place / file).write_bytes((found / file).read_bytes())
    monkeypatch.delenv("WALRAS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    result = _run("fetch", "gavel", "--mirror", (tmp_path / "mirror").as_uri())
    assert result.output == f"gavel: {data.find('gavel')}\n"
    assert data.load("gavel").source == "measured"
