"""The parts of a running service, put together and taken apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.exchange.greedy import Greedy

from walras.exchange.runtime.accounting import Accounting
from walras.exchange.runtime.compute import Compute
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.runtime.service import Service
from walras.exchange.service import jobs


def test_each_kind_of_job_has_who_does_it_and_a_round_recurs(tmp_path: Path) -> None:
    with Exchange.open(tmp_path / "home") as exchange:
        mine = Accounting()
        service = Service.of(exchange, handlers={"regret": mine})
        handlers = service.background.handlers
        assert set(handlers) == {"round", "train", "regret", "audit"}
        assert handlers["regret"] is mine
        later = exchange.now() + exchange.settings.interval
        assert exchange.read(lambda tx: len(jobs.due(tx, later, "round"))) == 1
        service.stop()


def test_a_process_that_was_begun_before_is_taken_and_ends_with_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warmed: list[bytes] = []
    compute = Compute()
    monkeypatch.setattr(compute, "warm", warmed.append)
    with Exchange.open(tmp_path / "home") as exchange:
        planner = Greedy(exchange.settings.timing)
        with Service.of(exchange, planner, compute=compute) as service:
            assert service.compute is compute
            assert service.planner is planner
            healthy = [service.background.healthy]
            assert not compute.stopping()
        assert [*healthy, service.background.healthy] == [True, False]
        assert warmed == [b""], "there is no predictor to load"
        exchange.stopping.set()
        assert compute.stopping()
