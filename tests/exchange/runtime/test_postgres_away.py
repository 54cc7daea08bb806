"""A server of PostgreSQL that stops at once and comes back: nothing acknowledged is lost."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.exchange.greedy import Greedy
from tests.exchange.postgres import Server

from walras.exchange.errors import StoreError
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.runtime.service import Service
from walras.exchange.service import tasks
from walras.exchange.service.check import findings
from walras.exchange.service.timing import Timing
from walras.exchange.store.statements import Statement, Transaction

UIDS = Statement(sa.text("SELECT uid FROM task"))


@pytest.mark.postgres
def test_the_service_goes_on_when_its_database_comes_back(tmp_path: Path) -> None:
    server = Server(durable=True)
    acknowledged: list[str] = []
    refused = 0
    try:
        exchange = Exchange.open(tmp_path / "home", server.new())
        service = Service.of(exchange, Greedy(Timing()))
        stop = threading.Event()

        def submit(k: int) -> None:
            nonlocal refused
            n = 0
            while not stop.is_set():
                n += 1
                made = tasks.NewTask(f"t{k}-{n}", f"n{k}-{n}", ("true",))
                try:
                    exchange.write(
                        lambda tx, now, made=made: tasks.submit(tx, now, "default", [made])  # type: ignore[misc]
                    )
                except StoreError:
                    refused += 1
                    time.sleep(0.02)
                else:
                    acknowledged.append(made.uid)

        with exchange, service:
            threads = [threading.Thread(target=submit, args=(k,)) for k in range(3)]
            for thread in threads:
                thread.start()
            while len(acknowledged) < 50:
                time.sleep(0.01)
            server.stop()
            with pytest.raises(StoreError):
                exchange.read(lambda tx: tx.rows(UIDS))
            time.sleep(0.5)
            server.start()
            before, began = len(acknowledged), time.monotonic()
            while len(acknowledged) < before + 20:
                assert time.monotonic() - began < 10.0
                time.sleep(0.01)
            service.background.tidy()
            stop.set()
            for thread in threads:
                thread.join(20.0)
            assert service.background.healthy

            def look(tx: Transaction) -> tuple[set[str], list[object]]:
                return {row[0] for row in tx.rows(UIDS)}, list(findings(tx))

            kept, wrong = exchange.read(look)
        assert set(acknowledged) <= kept
        assert refused > 0
        assert wrong == []
    finally:
        server.remove()
