"""A database with one tenant and one cluster, for the tests of transactions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.exchange.service import east

from walras.exchange.store.database import Database


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    """The tenant ``lab`` and the cluster ``east``; the test runs on both kinds."""
    with east.opened(url) as made:
        yield made
