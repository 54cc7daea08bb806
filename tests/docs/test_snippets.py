"""Every sample of README and the documentation runs, and prints what the page says it prints.

``docs/samples.py`` runs them and writes the outputs.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from walras.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("[!_]*/*.md"), ROOT / "docs/index.md"])


sys.path.append(str(ROOT / "docs"))  # forked commands import it by its name, too
samples: ModuleType = importlib.import_module("samples")


def _runs(page: Path) -> bool:
    return any(samples.samples(page.read_text(encoding="utf-8")))


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in PAGES if _runs(page)], ids=_name)
def test_samples_run_and_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    for sample, printed in samples.run(page, tmp_path):
        where = f"{_name(page)}, line {sample.line}"
        if sample.shown is not None:
            assert samples.matches(sample.shown, printed), f"{where} prints\n{printed}"
        assert printed or not sample.prints or " > " in sample.source, f"{where} prints nothing"
    assert [name for name in samples.pictures(page) if not (tmp_path / name.name).exists()] == []


@pytest.mark.parametrize("page", [page for page in PAGES if _runs(page)], ids=_name)
def test_every_sample_that_prints_shows_its_output(page: Path) -> None:
    silent = [
        f"line {sample.line}"
        for sample in samples.samples(page.read_text(encoding="utf-8"))
        if sample.prints and sample.shown is None
        if " > " not in sample.source and "--help" not in sample.source
    ]
    assert silent == [], "run docs/samples.py on the page"


@pytest.mark.parametrize(
    ("shown", "printed", "alike"),
    [
        ("a  \nb", "a\nb\n", True),
        ("gap ...", "gap 1e-9", True),
        ("a\n...\nz", "a\nb\nc\nz", True),
        ("a", "a\nb", False),
        ("1.5", "1x5", False),
    ],
)
def test_dots_stand_for_anything(shown: str, printed: str, alike: bool) -> None:
    assert samples.matches(shown, printed) is alike


def test_what_differs_between_computers_is_left_out() -> None:
    assert samples.shortened("gap 1.2e-09 after 3.52 s: 0.537735849\n") == (
        "gap ... after ... s: 0.5377...\n"
    )


def test_there_are_snippets_to_run() -> None:
    assert sum(_runs(page) for page in PAGES) >= 6


def test_every_command_is_documented() -> None:
    page = (ROOT / "docs/reference/command_line.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"`walras {name}" not in page] == []
