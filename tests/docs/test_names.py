"""Modules that the pages name exist."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("[!_]*/*.md")]
NAMED = re.compile(r"`((?:walras\.)?[a-z_]+(?:\.[a-z_]+)+)`")
PACKAGES = sorted(
    {path.name for path in (ROOT / "src/walras").iterdir() if (path / "__init__.py").exists()}
    | {path.name for path in (ROOT / "src/walras/engines").iterdir() if path.is_dir()}
    - {"__pycache__"}
)


def _exists(name: str) -> bool:
    for prefix in ("walras.", "walras.engines."):
        parts = (prefix + name).split(".")
        for k in range(len(parts), 1, -1):
            try:
                found: object = importlib.import_module(".".join(parts[:k]))
            except ModuleNotFoundError:
                continue
            for attribute in parts[k:]:
                found = getattr(found, attribute, None)
            if found is not None:
                return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_modules_named_in_pages_exist(page: Path) -> None:
    names = {
        name.removeprefix("walras.")
        for name in NAMED.findall(page.read_text(encoding="utf-8"))
        if name.removeprefix("walras.").split(".")[0] in PACKAGES
    }
    assert [name for name in sorted(names) if not _exists(name)] == []
