"""A service for each test, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.exchange.api.serving import Served


@pytest.fixture
def served(tmp_path: Path, url: str) -> Iterator[Served]:
    """A service; the test runs on SQLite and on PostgreSQL."""
    made = Served(tmp_path / "home", url)
    yield made
    made.close()


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[Served]:
    """A service on SQLite, for what does not ask the database."""
    made = Served(tmp_path / "home")
    yield made
    made.close()
