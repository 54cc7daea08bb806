"""Two services of one exchange on PostgreSQL: one is killed or stands still in mid-round."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from tests.exchange.postgres import Server
from tests.exchange.processes import invariants
from tests.exchange.processes.load import Load
from tests.exchange.processes.rig import Rig, Service, in_mid_round
from tests.exchange.processes.template import Template

OWNER = "SELECT owner FROM job WHERE kind = 'round' AND state = 'running'"


def _computing(rig: Rig) -> Service:
    """The service that computes a round now."""
    with invariants.view(rig.url) as rows:
        ((owner,),) = rows(OWNER) or [("",)]
    for service in rig.served:
        if service.process is not None and f"-{service.process.pid}-" in owner:
            return service
    in_mid_round(rig.url)
    return _computing(rig)


def _published(rig: Rig) -> int:
    with invariants.view(rig.url) as rows:
        return int(rows("SELECT count(*) FROM round WHERE state = 'published'")[0][0])


def _wait_for_rounds(rig: Rig, more: int) -> None:
    end, before = time.monotonic() + 30.0, _published(rig)
    while _published(rig) < before + more:
        assert time.monotonic() < end, "no service computes rounds"
        time.sleep(0.05)


def _is_killed(rig: Rig, load: Load, victim: Service) -> None:
    rig.kill(victim)
    _wait_for_rounds(rig, 2)
    assert rig.broken(load) == []
    rig.start_service(victim)


def _stands_still(rig: Rig, load: Load, victim: Service) -> None:
    """For longer than its lease; when it goes on, its round counts for nothing."""
    assert victim.process is not None
    victim.process.signal(signal.SIGSTOP)
    _wait_for_rounds(rig, 2)
    assert rig.broken(load) == []
    victim.process.signal(signal.SIGCONT)
    _wait_for_rounds(rig, 1)
    assert rig.broken(load) == []


@pytest.mark.postgres
@pytest.mark.parametrize("kills", [4, pytest.param(50, marks=pytest.mark.long)])
def test_the_other_one_takes_the_round_over(
    template: Template, tmp_path: Path, postgres: Server, kills: int
) -> None:
    settings = {"job_lease": 1.0}
    made = Rig(tmp_path, template, postgres.new(), services=2, think=0.5, settings=settings)
    with made as rig:
        rig.start()
        load = rig.load(runs=5, most=20 * kills)
        load.start()
        for k in range(kills):
            in_mid_round(rig.url)
            (_stands_still if k % 2 else _is_killed)(rig, load, _computing(rig))
        load.stop()
        rig.settle(load, 120.0)
        assert rig.broken(load) == []
    assert len(load.acknowledged) > 10 * kills
