"""Files that may not grow any more, wherever the tests run: what a full disk does, by a limit."""

from __future__ import annotations

import time
from pathlib import Path

import httpx2
import pytest
from tests.exchange.processes.load import Load
from tests.exchange.processes.rig import Rig, Service
from tests.exchange.processes.template import Template

ROOM = 2**20  # bytes: some hundred tasks


def _refused(load: Load, times: int) -> None:
    """Wait until the clients were refused so often."""
    end = time.monotonic() + 60.0
    while load.refused.get(503, 0) < times:
        assert time.monotonic() < end, load.refused
        time.sleep(0.05)


def _answers_one_clear_error(service: Service, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    task = {"name": "another", "command": ["x" * 4000] * 20}
    answer = httpx2.post(f"{service.url}/v1/tasks", json=task, headers=headers, timeout=20.0)
    assert answer.status_code == 503, answer.text
    problem = answer.json()
    assert problem["code"] == "WAL-2503"
    assert problem["detail"].endswith("exchange.db: disk I/O error")
    assert "ulimit -f" in problem["remedy"]
    assert "nothing was half written" in problem["remedy"]
    listed = httpx2.get(f"{service.url}/v1/tasks", headers=headers, timeout=20.0)
    assert listed.status_code == 200, "who only reads is answered"


def test_a_service_at_the_limit_refuses_and_goes_on_without_it(
    template: Template, tmp_path: Path
) -> None:
    with Rig(tmp_path, template) as rig:
        (service,) = rig.served
        service.given["most_bytes"] = ROOM
        rig.start()
        load = rig.load(runs=10, pause=0.005)
        load.start()
        _refused(load, 20)
        _answers_one_clear_error(service, load.token)
        assert rig.broken(load) == []

        rig.kill(service)  # its newest writes are cut off at the limit
        rig.start_service(service)  # and it is still there: what was stored is served
        _refused(load, load.refused[503] + 5)
        assert rig.broken(load) == []

        rig.kill(service)
        del service.given["most_bytes"]
        rig.start_service(service)
        before, end = len(load.acknowledged), time.monotonic() + 30.0
        while len(load.acknowledged) < before + 20:
            assert time.monotonic() < end
            time.sleep(0.05)
        load.stop()
        rig.settle(load, 60.0)
        assert rig.broken(load) == []
        assert "another" not in rig.states()
        assert load.refused.keys() == {503}
        assert load.codes == {"WAL-2503"}
        for process in (service.process, *(agent.process for agent in rig.agents)):
            assert process is not None
            assert process.alive, "agents wait for the service"
            assert "Traceback" not in process.errors.read_text()


@pytest.mark.parametrize("room", [2**12, 2**16])
def test_a_first_start_at_the_limit_ends_with_one_error_and_a_later_one_works(
    template: Template, tmp_path: Path, room: int
) -> None:
    with Rig(tmp_path, template, clusters=()) as rig:
        (service,) = rig.served
        errors = tmp_path / "first.log"
        process = template.fork("serve", errors, most_bytes=room, **service.given)
        try:
            assert process.wait(20.0), "it serves without a database"
        finally:
            process.close()
        (said,) = errors.read_text().splitlines()
        assert said.startswith(f"StoreError: {service.home}/exchange.db: disk I/O error")
        assert "free some space" in said
        rig.start_service(service)
        assert rig.token_file.read_text().startswith("wlr_")
