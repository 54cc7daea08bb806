"""Places that cannot be written are refused before the work, by every command."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from walras.cli.common.errors import exit_code
from walras.cli.simulate.app import app

REASONS = {
    "file": ("Not a directory", "File exists"),
    "loop": ("Too many levels of symbolic links", "File exists"),
    "n" * 300: ("File name too long",) * 2,
}


@pytest.mark.parametrize("place", REASONS)
@pytest.mark.parametrize(
    ("command", "option", "name"),
    [
        ("run", "--save", "run.npz"),
        ("run", "--ledger", "ledger.csv"),
        ("run", "--export", ""),
        ("compare", "--folder", ""),
        ("compare", "--save", "c.npz"),
        ("compare", "--report", "r.html"),
        ("compare", "--figure", "f.png"),
        ("import", "--save", "trace.csv"),
        ("exchange", "--save", "placements.csv"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_first(
    tmp_path: Path, place: str, command: str, option: str, name: str
) -> None:
    """What the command is to read is missing, too, and would be refused next."""
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    where = tmp_path / place / name
    source = ("--trace", "none") if command == "run" else ("none",)
    found = CliRunner().invoke(app, [command, *source, option, str(where)])
    assert exit_code(found.exception) == 6, found.output  # type: ignore[arg-type]
    said = str(found.exception)
    assert str(where)[:100] in said
    assert any(reason in said for reason in REASONS[place])
