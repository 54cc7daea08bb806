"""Commands that several groups share: what is refused, and small groups."""

from __future__ import annotations

import pytest
from tests.cli.exchange.runs import Run
from typer.testing import CliRunner

from walras.cli.main import app


def test_predictors_and_tenants(walras: Run) -> None:
    assert "version" in walras("predictor", "list")
    assert "train" in walras("predictor", "train")
    assert "lab" in walras("tenant", "add", "lab", "--weight", "2", "--quota", "40")
    assert "3" in walras("tenant", "change", "lab", "--weight", "3")
    assert "lab" in walras("tenant", "list")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["round", "show", "7"], "there is no round"),
        (["round", "diff", "7", "8"], "there is no round"),
        (["predictor", "promote", "3"], "there is no predictor"),
        (["predictor", "rollback"], "predictor"),
        (["task", "show", "nothing"], "there is no task"),
        (["task", "receipt", "nothing"], "there is no task"),
        (["task", "release", "nothing"], "there is no task"),
        (["task", "submit", "--name", "NO", "--", "true"], "name"),
    ],
)
def test_what_is_refused_is_an_error_of_walras(walras: Run, words: list[str], what: str) -> None:
    found = CliRunner().invoke(app, words)
    assert found.exit_code != 0
    assert what in str(found.exception)
