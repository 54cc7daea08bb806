"""Figures without the extra: refused before the work, whatever the command."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from walras.cli.common import figures
from walras.cli.main import app
from walras.errors import EngineError

COMMANDS = {
    "--save": ["network", "simulate", "--save", "out"],
    "walras learn compare": ["learn", "compare", "--folder", "out"],
}


@pytest.mark.parametrize("where", COMMANDS)
def test_a_command_that_draws_needs_the_extra_before_it_begins(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(figures, "_PACKAGES", ("matplotlib", "no_such_package"))
    found = CliRunner().invoke(app, COMMANDS[where])
    assert isinstance(found.exception, EngineError)
    assert found.exception.where == where
    assert "no_such_package" in str(found.exception)
    assert ".[plot]" in found.exception.remedy
    assert not (tmp_path / "out").exists()
