"""``walras shadow``: a log in, a comparison out, one error where the log cannot support it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

import walras as wl
from walras.cli.common.errors import ExitCode, exit_code
from walras.cli.main import COMMANDS
from walras.cli.shadow import app

QUICK = ("--resamples", "20", "--no-progress")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = wl.shadow.synthetic_log(12, 60, slots=4).frame
    path = tmp_path_factory.mktemp("log") / "jobs.csv"
    made.to_csv(path, index=False)
    return path


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments, *QUICK])


def test_the_table_has_the_measures_the_clusters_and_what_is_sure(log: Path) -> None:
    result = _run(str(log), "--slots", "cluster-a=4", "--price", "cluster-b=2")
    assert result.exit_code == 0, result.output
    for name in (*wl.shadow.MEASURES, "cluster-a", "bound"):
        assert name in result.stdout
    assert "ran elsewhere than in the log" in result.stdout.replace("\n", " ")


def test_json_and_yaml_say_the_same_and_a_page_and_a_file_are_written(
    log: Path, tmp_path: Path
) -> None:
    page, saved = tmp_path / "page.html", tmp_path / "shadow.npz"
    result = _run(str(log), "-o", "json", "--report", str(page), "--save", str(saved))
    assert result.exit_code == 0, result.output
    content: dict[str, Any] = json.loads(result.stdout)
    assert [row["measure"] for row in content["measures"]] == list(wl.shadow.MEASURES)
    assert content["days replayed"] == 6
    again = yaml.safe_load(_run(str(log), "-o", "yaml").stdout)
    assert again == content
    text = page.read_text(encoding="utf-8")
    assert "<svg" in text
    assert "What this rests on" in text
    assert not re.search(r"""(?:src|href)\s*=\s*["']https?://""", text)
    assert wl.load(saved).frame()["log"].tolist() == [r["log"] for r in content["measures"]]


def test_rows_left_out_are_said(log: Path, tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    lines = log.read_text().splitlines()
    broken = lines[1].replace("completed", "dreaming").replace("failed", "dreaming")
    path.write_text("\n".join([lines[0], broken, *lines[2:]]))
    result = _run(str(path))
    assert result.exit_code == 0, result.output
    assert "row 1 (1 row): unknown state 'dreaming'" in result.stderr


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        (("--slots", "cluster-a=x"), wl.InputError),
        (("--slots", "cluster-z=4"), wl.InputError),
        (("--price", "cluster-a"), wl.InputError),
        (("--scheduler", "pbs"), wl.InputError),
        (("--scheduler", "slurm"), wl.DataError),
        (("--scheduler", "kueue"), wl.DataError),
        (("--train", "2"), wl.InputError),
        (("--min-success", "2"), wl.InputError),
    ],
)
def test_bad_options_are_one_error(options: tuple[str, ...], kind: type, log: Path) -> None:
    result = _run(str(log), *options)
    error = result.exception
    assert isinstance(error, kind), result.output
    assert isinstance(error, wl.WalrasError)
    assert error.remedy or error.allowed


def test_a_log_that_cannot_support_the_claim_exits_as_data_do(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    wl.shadow.synthetic_log(2, 60).frame.to_csv(path, index=False)
    result = _run(str(path))
    assert isinstance(result.exception, wl.DataError)
    assert exit_code(result.exception) == ExitCode.NO_DATA
    assert "export a longer time" in str(result.exception)


def test_the_command_is_listed() -> None:
    assert COMMANDS["shadow"].load("shadow").name == "shadow"
