"""One template for all tests of a worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.exchange.processes.template import Template


@pytest.fixture(scope="session")
def template() -> Iterator[Template]:
    """The process that forks services and agents."""
    with Template() as made:
        yield made
