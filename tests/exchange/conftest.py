"""Databases for the tests of the exchange: SQLite, and PostgreSQL where it is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.exchange.crowd import Crowd
from tests.exchange.postgres import Server

from walras.exchange.store.database import Database, open_database
from walras.exchange.store.migrate import migrate


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A server of PostgreSQL; mark its tests with ``postgres``."""
    server = Server()
    yield server
    server.remove()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Makes addresses of new, empty databases; the test runs on both kinds."""
    if request.param == "postgresql":
        server: Server = request.getfixturevalue("postgres")
        return server.new
    made = iter(range(100))
    return lambda: f"sqlite:///{tmp_path}/exchange-{next(made)}.db"


@pytest.fixture
def url(new_url: Callable[[], str]) -> str:
    """The address of a new, empty database; the test runs on both kinds."""
    return new_url()


@pytest.fixture
def empty(url: str) -> Iterator[Database]:
    """A database without rows; the test runs on both kinds."""
    migrate(url)
    database = open_database(url)
    yield database
    database.close()


@pytest.fixture
def crowd(empty: Database) -> Database:
    """A database in which much has happened; the test runs on both kinds."""
    Crowd(empty, 5)
    return empty
