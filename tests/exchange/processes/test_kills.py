"""``kill -9`` of services and agents at random moments: nothing acknowledged is lost."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from tests.exchange.processes.rig import Rig
from tests.exchange.processes.template import Template


@pytest.mark.parametrize("kills", [50, pytest.param(500, marks=pytest.mark.long)])
def test_nothing_acknowledged_is_lost_and_no_task_runs_twice(
    template: Template, tmp_path: Path, kills: int
) -> None:
    draw = random.Random(kills)
    recovered: list[float] = []
    with Rig(tmp_path, template, think=0.1) as rig:
        rig.start()
        load = rig.load(3.0, most=3 * kills, runs=3)
        load.start()
        for _ in range(kills):
            time.sleep(draw.random() * draw.choice((0.02, 0.1, 0.3, 1.0)))  # a start takes 0.2 s
            victim = draw.choices(("service", "agent", "host", "all"), (60, 20, 10, 10))[0]
            agent = draw.choice(rig.agents)
            if victim == "agent":
                rig.kill(agent)
            elif victim in ("host", "all"):
                rig.kill_host(agent)
            if victim in ("service", "all"):
                rig.kill(rig.served[0])
                recovered.append(rig.start_service(rig.served[0]))
            if victim != "service":
                rig.start_agent(agent)
            assert rig.broken(load) == []
        load.stop()
        rig.settle(load, 120.0)
        assert rig.broken(load) == []
    assert len(recovered) > kills / 3
    assert max(recovered) < 5.0
    assert len(load.acknowledged) > kills
    assert len(load.runnable) > kills / 10
