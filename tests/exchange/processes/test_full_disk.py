"""A disk that fills up: one clear error, nothing half written, and all goes on with room."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.exchange.machine import mount, unmount
from tests.exchange.processes.rig import Rig
from tests.exchange.processes.template import Template

pytestmark = pytest.mark.mount


@pytest.fixture
def rig(template: Template, tmp_path: Path) -> Iterator[Rig]:
    made = Rig(tmp_path, template)
    disk = made.served[0].home
    disk.mkdir()
    mount(disk, "3m")
    try:
        with made:
            yield made
    finally:
        unmount(disk)


def test_a_full_disk_refuses_and_a_larger_one_goes_on(rig: Rig) -> None:
    rig.start()
    (service,) = rig.served
    load = rig.load(runs=10, pause=0.005)
    load.start()
    end = time.monotonic() + 60.0
    while load.refused.get(503, 0) < 20:
        assert time.monotonic() < end
        time.sleep(0.05)
    headers = {"Authorization": f"Bearer {load.token}"}
    task = {"name": "another", "command": ["x" * 4000] * 20}
    answer = httpx2.post(f"{service.url}/v1/tasks", json=task, headers=headers, timeout=20.0)
    assert answer.status_code == 503, answer.text
    assert answer.json()["code"] == "WAL-2503"
    assert "full" in answer.json()["detail"]
    assert "free some space" in answer.json()["remedy"]
    listed = httpx2.get(f"{service.url}/v1/tasks", headers=headers, timeout=20.0)
    assert listed.status_code == 200  # who only reads is answered
    assert rig.broken(load) == []

    rig.kill(service)
    process = rig.template.fork("serve", rig.folder / "full.log", **service.given)
    process.wait(30.0)  # or it serves what there is
    process.close()
    said = (rig.folder / "full.log").read_text()
    assert "Traceback" not in said
    assert "free some space" in said
    mount(service.home, "64m", again=True)
    rig.start_service(service)
    before = len(load.acknowledged)
    end = time.monotonic() + 30.0
    while len(load.acknowledged) < before + 20:
        assert time.monotonic() < end
        time.sleep(0.05)
    load.stop()
    rig.settle(load, 60.0)
    assert rig.broken(load) == []
    assert load.refused.keys() <= {503}


def test_an_agent_on_a_full_disk_ends_with_one_error_and_goes_on_later(
    template: Template, tmp_path: Path
) -> None:
    with Rig(tmp_path, template, clusters=(2,)) as rig:
        (agent,) = rig.agents
        agent.home.mkdir()
        mount(agent.home, "256k")
        try:
            rig.start()
            load = rig.load(runs=100, most=4)
            load.start(1)
            end = time.monotonic() + 60.0
            while not any(state == "succeeded" for state in rig.states().values()):
                assert time.monotonic() < end
                time.sleep(0.05)
            with contextlib.suppress(OSError):
                (agent.home / "filler").write_bytes(b"x" * 2**20)
            assert agent.process is not None
            assert agent.process.wait(30.0)
            said = agent.process.errors.read_text()
            assert "Traceback" not in said
            assert "free some space" in said
            (agent.home / "filler").unlink()
            rig.start_agent(agent)
            load.stop()
            rig.settle(load, 60.0)
            assert rig.broken(load) == []
        finally:
            rig.close()
            unmount(agent.home)
