"""``walras simulate exchange``: a history in, one table out."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.exchange.history.recorded import record
from typer.testing import CliRunner, Result

from walras.cli.common.errors import exit_code
from walras.cli.simulate.app import app
from walras.errors import WalrasError


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    record(f"sqlite:///{folder}/exchange.db")
    return folder


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["exchange", *arguments, "--no-progress"])


def test_the_table_compares_and_says_what_was_observed(home: Path) -> None:
    result = _run(str(home), "--min-success", "0.6", "--set", "explore=0")
    assert result.exit_code == 0, result.output
    for name in ("placed as recorded", "observed completion", "deadlines missed"):
        assert name in result.stdout
    assert "3 observed" in result.stderr
    assert "counterfactual, as predicted" in result.stderr


def test_what_was_recorded_and_not_measured_yet_is_not_counterfactual(home: Path) -> None:
    result = _run(str(home), "--policy", "exchange", "-o", "json")
    rows = {row["measure"]: row["replayed"] for row in json.loads(result.stdout)}
    assert rows["placed as recorded"] == 1.0
    placed, known = int(rows["tasks placed"]), int(rows["observed outcomes"])
    assert placed > known
    words = f"{known} observed, {placed - known} recorded but not measured yet, 0 counterfactual"
    assert words in result.stderr


def test_json_has_one_row_a_measure(home: Path, tmp_path: Path) -> None:
    saved = tmp_path / "placements.csv"
    result = _run(str(home), "--policy", "first_fit", "-o", "json", "--save", str(saved))
    rows = {row["measure"]: row for row in json.loads(result.stdout)}
    assert rows["rounds"]["recorded"] == rows["rounds"]["replayed"] == 2
    assert rows["predicted makespan"]["unit"] == "s"
    assert saved.exists()


def test_changes_carry_on(home: Path, tmp_path: Path) -> None:
    saved = tmp_path / "runs.csv"
    result = _run(str(home), "--carry", "--policy", "best_fit", "-o", "json", "--save", str(saved))
    assert result.exit_code == 0, result.output
    rows = {row["measure"]: row for row in json.loads(result.stdout)}
    assert rows["measured jobs"]["recorded"] == rows["measured jobs"]["replayed"] == 5
    assert "take what was measured" in result.stderr
    assert "recorded tasks that completed took" in result.stderr
    assert saved.read_text("utf-8").startswith("task,cluster,")
    shown = _run(str(home), "--carry", "--policy", "best_fit").stdout
    line = next(line for line in shown.splitlines() if "mean completion" in line).split()
    assert line[-1] in ("s", "min")
    assert max(map(float, line[-3:-1])) >= 1.0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("none",), 6, "holds no exchange"),
        (("HOME", "--policy", "fist_fit"), 2, "fist_fit"),
        (("HOME", "--set", "colour=3"), 2, "colour"),
        (("HOME", "--min-success", "3"), 2, "min_success"),
        (("HOME", "--carry", "--policy", "best_fit", "--set", "explore=0"), 2, "explore"),
    ],
)
def test_errors_have_their_codes(
    home: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    result = _run(*(str(home) if word == "HOME" else word for word in arguments))
    assert isinstance(result.exception, WalrasError)
    assert exit_code(result.exception) == code
    assert words in str(result.exception)


def test_a_predictor_that_is_not_kept_is_said(home: Path, tmp_path: Path) -> None:
    with (
        closing(sqlite3.connect(home / "exchange.db")) as whole,
        closing(sqlite3.connect(tmp_path / "exchange.db")) as copy,
    ):
        whole.backup(copy)
        copy.execute("UPDATE round SET predictor='predictor 9' WHERE id=2")
        copy.commit()
    result = _run(str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "not kept: predictor 9; its rounds are replayed without predictions" in result.stderr
    assert "not kept: predictor 9" in _run(str(tmp_path), "--carry").stderr
    assert "not kept" not in _run(str(home)).stderr
