"""PostgreSQL stops at once in the middle of rounds, under load, and comes back."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.exchange.postgres import Server
from tests.exchange.processes.rig import Rig, in_mid_round
from tests.exchange.processes.template import Template


@pytest.mark.postgres
def test_no_round_is_half_published_and_nothing_acknowledged_is_lost(
    template: Template, tmp_path: Path
) -> None:
    server = Server(durable=True)
    try:
        with Rig(tmp_path / "rig", template, server.new(), think=0.5) as rig:
            rig.start()
            load = rig.load(runs=5, most=80)
            load.start()
            for _ in range(3):
                in_mid_round(rig.url)
                server.stop()
                time.sleep(0.3)
                server.start()
                began, before = time.monotonic(), len(load.acknowledged)
                while len(load.acknowledged) == before:
                    assert time.monotonic() - began < 5.0
                    time.sleep(0.02)
                assert rig.broken(load) == []
                assert rig.ready(rig.served[0])
            load.stop()
            rig.settle(load, 120.0)
            assert rig.broken(load) == []
            assert load.refused.keys() <= {503}
            assert sum(load.refused.values()) > 0
    finally:
        server.remove()
