"""The exchange's reference pages are the generated ones."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("exchange_states.md", "exchange_api.md")


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    """The script that writes the pages, as a module."""
    spec = importlib.util.spec_from_file_location("tables", ROOT / "docs/exchange_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_the_generated_one(tables: ModuleType, name: str) -> None:
    assert set(tables.PAGES) == set(NAMES)
    page = (tables.FOLDER / name).read_text(encoding="utf-8")
    assert tables.PAGES[name]() == page, "run docs/exchange_tables.py"
