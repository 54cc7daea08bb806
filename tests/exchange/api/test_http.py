"""The server ends open streams before it waits for requests."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading

import uvicorn
from tests.exchange.api.serving import Served

from walras.exchange.api.address import Address
from walras.exchange.api.http import Server, server_of


def test_streams_end_first_whatever_tells_the_server_to_end(quick: Served) -> None:
    order: list[str] = []
    for end in (lambda s: s.handle_exit(signal.SIGTERM, None), lambda s: s.stop()):
        server = Server(
            uvicorn.Config(quick.app),
            lambda: order.append(str(server.should_exit)),  # noqa: B023
        )
        end(server)
        assert server.should_exit
    assert order == ["False", "False"]


def test_an_ending_server_stops_its_exchange(quick: Served) -> None:
    server = server_of(quick.service, Address())
    assert not quick.exchange.stopping.is_set()
    server.stop()
    assert quick.exchange.stopping.is_set()
    assert server.config.server_header is False, "it does not tell what serves"


def test_signals_are_taken_and_given_back(quick: Served) -> None:
    before = signal.getsignal(signal.SIGTERM)
    server = server_of(quick.service, Address())
    with server.capture_signals():
        assert signal.getsignal(signal.SIGTERM) == server.handle_exit
    assert signal.getsignal(signal.SIGTERM) == before
    taken: list[object] = []

    def elsewhere() -> None:
        with server.capture_signals():
            taken.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join(20.0)
    assert taken == [before], "only the main thread takes signals"


def test_a_request_that_the_end_cuts_off_leaves_no_traceback(quick: Served) -> None:
    server_of(quick.service, Address())
    log = logging.getLogger("uvicorn.error")
    for error, logged in ((asyncio.CancelledError(), False), (ValueError(), True)):
        info = (type(error), error, None)
        record = log.makeRecord(log.name, logging.ERROR, "", 0, "failed", (), info)
        assert bool(log.filter(record)) == logged
