"""Figures of the exchange: a study runs, clients count right, and the page shows what is kept."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pandas as pd
import pytest
import sqlalchemy as sa
from benchmarks.exchange.__main__ import main
from benchmarks.exchange.clients import Connection, Played, Tally, batches, repeat, request
from benchmarks.exchange.looking import past
from benchmarks.exchange.page import write_page
from benchmarks.exchange.stand import Size, fill, filled, reset
from benchmarks.tables import Tables

from walras.exchange.runtime.exchange import Exchange
from walras.exchange.service import queries, tasks
from walras.exchange.service.queries import Filter
from walras.exchange.service.snapshots import snapshot
from walras.exchange.service.timing import Timing
from walras.exchange.store.statements import Statement
from walras.policies.placements import Policy


def test_a_quick_study_prints_figures_and_keeps_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulation", "--quick"], Tables("exchange", tmp_path)) == 0
    assert "schedules_per_second" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())
    with pytest.raises(SystemExit):
        main(["simulations"])


def test_the_page_shows_what_was_measured(tmp_path: Path) -> None:
    kept = Tables("exchange", tmp_path)
    rows = [
        {"database": kind, "pending": n, "snapshot_s": n / 1e5, "whole_s": n / 1e4}
        for kind in ("sqlite", "postgresql")
        for n in (1000, 10000)
    ]
    kept.write("rounds", pd.DataFrame(rows))
    write_page(kept)
    page = (tmp_path / "results/exchange/page.md").read_text()
    assert "| sqlite | 10,000 | 0.1 | 1 |" in page
    assert page.count("Not measured yet.") == 8
    assert kept.picture("rounds").stat().st_size > 10_000


def test_a_filled_database_is_one_that_rounds_read(tmp_path: Path) -> None:
    counted = Statement(sa.text("SELECT state, count(*) FROM task GROUP BY state ORDER BY state"))
    with Exchange.open(tmp_path) as exchange:
        made = [tasks.NewTask("first", "first", ("true",), {f"f{k:02d}": 0.5 for k in range(30)})]
        exchange.write(lambda tx, now: tasks.submit(tx, now, "default", made))
        exchange.write(lambda tx, now: fill(tx, 1, 999, "pending"))
        exchange.write(lambda tx, now: fill(tx, 1000, 1499, "succeeded"))
        exchange.write(reset)
        assert exchange.read(lambda tx: tx.rows(counted)) == [("pending", 1000), ("succeeded", 500)]
        found = exchange.read(lambda tx: snapshot(tx, exchange.now(), Policy(), Timing(), seed=1))
    assert found.waiting == 1000


def test_every_task_that_has_ended_has_a_run_of_the_past(tmp_path: Path) -> None:
    size = Size(10, 2500, 3, 2)
    with filled(tmp_path, None, size) as exchange:
        exchange.write(lambda tx, now: past(tx, now, size))
        page, _ = exchange.read(lambda tx: queries.page(tx, Filter(round=2), 1001, None))
        rare, _ = exchange.read(lambda tx: queries.page(tx, Filter(cluster="rare"), 1001, None))
    assert len(page) == 1000
    assert {one["cluster"] for one in page} == {"c0", "c1", "c2"}
    assert {one["state"] for one in page} == {"succeeded", "failed"}
    assert len(rare) == 97


def test_clients_count_each_answer_and_keep_the_wrong_ones() -> None:
    async def play() -> Tally:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            for k in range(3):
                head = await reader.readuntil(b"\r\n\r\n")
                assert b"Authorization: Bearer t\r\n" in head
                size = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                await reader.readexactly(size)
                status = b"503 Busy" if k == 1 else b"201 Created"
                writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: 2\r\n\r\n{}")
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        tally, turns = Tally(), iter((False, False, False, True))
        way = Connection(f"http://127.0.0.1:{port}")
        await repeat(way, batches("t", 2), lambda: next(turns), tally)
        server.close()
        return tally

    tally = asyncio.run(play())
    assert len(tally.seconds) == 3
    assert tally.wrong == [b"{}"]
    assert 0.0 < tally.at(0.5) <= tally.at(0.99)
    assert request("GET", "/x", "t").startswith(b"GET /x HTTP/1.1\r\nHost: localhost\r\n")


def test_an_agent_that_is_played_ends_what_it_was_granted() -> None:
    agent = Played("a", 2)
    agent.heard(b'{"run":[{"placement":7,"token":1}]}')
    message = agent.message()
    assert message["finished"] == [{"placement": 7, "token": 1, "outcome": "completed"}]
    assert (message["seq"], message["free"]) == (1, 2)
