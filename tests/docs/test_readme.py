"""README says what is so: its table is the generated one, its links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def readme_table() -> ModuleType:
    """The script that copies the table, as a module."""
    spec = importlib.util.spec_from_file_location("readme_table", ROOT / "docs/readme_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_the_generated_one(readme_table: ModuleType) -> None:
    table = (ROOT / "benchmarks/results/table.md").read_text(encoding="utf-8")
    assert readme_table.with_table(README, table) == README, "run docs/readme_table.py"


def test_the_table_between_the_markers_is_replaced(readme_table: ModuleType) -> None:
    page = f"above\n{readme_table.BEGIN}\nold\n{readme_table.END}\nbelow\n"
    replaced = readme_table.with_table(page, "| new |\n|---|\n\n### not this\n")
    assert replaced == page.replace("old", "| new |\n|---|")


def test_links_lead_to_files() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_readme_is_written_only_when_the_table_is_new(
    readme_table: ModuleType, tmp_path: Path
) -> None:
    readme, table = tmp_path / "README.md", tmp_path / "table.md"
    old = f"above\n{readme_table.BEGIN}\n| a |\n{readme_table.END}\n"
    readme.write_text(old)
    readme.chmod(0o444)
    untouched = readme.stat().st_mtime_ns
    assert not readme_table.update(readme, table)
    table.write_text("| a |\n\nmore")
    assert not readme_table.update(readme, table)
    assert readme.stat().st_mtime_ns == untouched
    readme.chmod(0o644)
    table.write_text("| b |\n")
    assert readme_table.update(readme, table)
    assert readme.read_text() == old.replace("| a |", "| b |")
