"""Service, agents and clients on hosts of their own: lost packets, a partition, a slow link."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from tests.exchange.processes.hosts import Network
from tests.exchange.processes.rig import Rig
from tests.exchange.processes.template import Template

pytestmark = pytest.mark.networks

SHORT = {"lease": 4.0, "grace": 3.0, "kill": 2.5}


def _go_on(rig: Rig, load: Any, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert rig.broken(load) == []
        time.sleep(0.5)


@pytest.mark.parametrize(
    ("timing", "cut", "calm"),
    [(SHORT, 9.0, 4.0), pytest.param({}, 90.0, 30.0, marks=pytest.mark.long)],
)
def test_hosts_that_hear_each_other_badly_keep_what_was_promised(
    template: Template, tmp_path: Path, timing: dict[str, float], cut: float, calm: float
) -> None:
    settings = {"timing": timing, "interval": 0.5}
    with Network(4) as wire, Rig(tmp_path, template, settings=settings, network=wire) as rig:
        rig.start()
        load = rig.load(cut / 3, runs=4, pause=cut / 40)
        load.start()
        wire.loss = 0.2
        _go_on(rig, load, calm)
        assert wire.lost > 0.1 * wire.passed > 0
        wire.loss = 0.0
        cut_off = rig.agents[0]
        _wait(lambda: bool(cut_off.shims()), 60.0, "a run on the host that is cut off")
        before = len(load.acknowledged)
        wire.cut = {1}
        _go_on(rig, load, cut)
        assert cut_off.shims() == []  # they ended by themselves: nobody could tell them to
        assert len(load.acknowledged) > before  # the others go on
        wire.cut = set()
        wire.delay, wire.rate = 0.1, 20_000.0
        _go_on(rig, load, calm)
        wire.delay, wire.rate = 0.0, float("inf")
        load.stop()
        rig.settle(load, 20.0 * cut)
        assert rig.broken(load) == []
        assert load.refused == {}


def _wait(holds: Any, seconds: float, what: str) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not seen: {what}"
        time.sleep(0.05)
