"""The service's time: steady, with jumps of the wall clock told; the database's on PostgreSQL."""

from __future__ import annotations

import time

import pytest
from tests.exchange.postgres import Server
from tests.exchange.runtime.worlds import Hands

from walras.exchange.runtime.clock import Clock, monotonic
from walras.exchange.store.database import open_database
from walras.exchange.store.migrate import migrate


def test_time_goes_on_steadily_until_a_jump_is_looked_at() -> None:
    hands = Hands()
    clock = hands.clock()
    hands.on(5.0)
    assert clock.now() == 1e9 + 5.0
    hands.wall += 0.5  # within what two clocks may disagree
    assert clock.read() == (1e9 + 5.0, False)
    hands.wall += 3600.0
    assert clock.now() == 1e9 + 5.0
    assert clock.read() == (1e9 + 3605.5, True)
    assert clock.read() == (1e9 + 3605.5, False)
    hands.wall -= 7200.0
    assert clock.read()[1]
    assert clock.now() == 1e9 - 3594.5


def test_the_machines_clocks_are_the_default() -> None:
    assert abs(Clock().now() - time.time()) < 1.0
    before = monotonic()
    assert monotonic() >= before


@pytest.mark.postgres
def test_processes_on_one_database_share_its_time(postgres: Server) -> None:
    url = postgres.new()
    migrate(url)
    database = open_database(url)
    try:
        hands = Hands()  # a machine whose own wall clock is decades wrong
        clock = hands.clock()
        clock.anchor(database)
        assert abs(clock.now() - time.time()) < 5.0
        hands.wall += 1e6  # and jumps: nobody asks it
        assert not database.read(clock.read)[1]
        hands.steady += 100.0  # the monotonic clock runs away from the database's
        assert database.read(clock.read)[1]
        assert abs(clock.now() - time.time()) < 5.0
    finally:
        database.close()
